/*
 * Scopes for people: a critical path as a time line, thread and graph as a table
 * of threads and the longest waits.
 *
 * Of a stack the frames are named that a reader looks for: the last function of
 * the program itself, the last one outside the kernel, and where the kernel was,
 * without the machinery that all waits and all wakings end in.
 */
#include "cmd/scope.h"

#include "base/units.h"
#include "scope/frame_filter.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST_WAITS 5

struct page {
	const struct lode_scope_report *report;
	const struct lode_scope_found *found;
	const struct lode_terminal *terminal;
	struct lode_buffer *buffer;
	size_t most;
};

/* ---- words ---- */

static const char *style(const struct page *page, enum lode_style which)
{
	return lode_style(page->terminal, which);
}

static void put(struct page *page, const char *text)
{
	lode_buffer_text(page->buffer, text);
}

static void put_string(struct page *page, uint32_t string)
{
	lode_text_safe(page->buffer, lode_strings_get(&page->report->dictionary.frames.strings, string));
}

static const char *plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

static void put_thread(struct page *page, uint32_t thread)
{
	const struct lode_thread *item = &page->report->stream.threads[thread];

	if (item->name) {
		put_string(page, item->name);
		lode_buffer_print(page->buffer, " (%" PRIu32 ")", item->tid);
	} else {
		lode_buffer_print(page->buffer, "thread %" PRIu32, item->tid);
	}
}

static void put_frame(struct page *page, uint32_t frame)
{
	struct lode_buffer text = { 0 };

	lode_frames_text(&page->report->dictionary.frames, frame, &text);
	lode_buffer_byte(&text, '\0');
	page->buffer->failed |= text.failed;
	if (!text.failed)
		lode_text_safe(page->buffer, text.bytes);
	lode_buffer_release(&text);
}

/* ---- frames that matter ---- */

/* Functions of the kernel in which every wait and every waking ends. */
static const char *const machinery[] = {
	"*schedule*",         "__switch_to*",     "perf_*",           "__perf_*",
	"__traceiter_*",      "trace_event_*",    "bpf_*",            "try_to_wake_up*",
	"*wake_up*",          "default_wake_*",   "autoremove_wake_*", "ttwu_*",
	"finish_task_switch*", "context_switch",  "_raw_spin_*",      NULL,
};

/* What a reader looks for in a stack; LODE_NONE: there is no such frame. */
struct gist {
	uint32_t own;     /* last frame of the program itself */
	uint32_t library; /* last frame outside the kernel, if that is another */
	uint32_t kernel;  /* last frame of the kernel that tells something */
};

static enum lode_kind kind_of(const struct page *page, uint32_t frame)
{
	const struct lode_frames *frames = &page->report->dictionary.frames;

	return (enum lode_kind)frames->modules[frames->items[frame].module].kind;
}

static int is_machinery(const struct page *page, uint32_t frame)
{
	const char *function = lode_frames_function(&page->report->dictionary.frames, frame);

	for (size_t i = 0; machinery[i]; i++)
		if (lode_glob_match(machinery[i], function))
			return 1;
	return 0;
}

static struct gist gist_of(const struct page *page, uint32_t node)
{
	const struct lode_stack_node *nodes = page->report->dictionary.tree.nodes;
	struct gist gist = { LODE_NONE, LODE_NONE, LODE_NONE };

	for (; node && gist.own == LODE_NONE; node = nodes[node].parent) {
		uint32_t frame = nodes[node].frame;

		switch (kind_of(page, frame)) {
		case LODE_KIND_KERNEL:
			if (gist.kernel == LODE_NONE && gist.library == LODE_NONE && !is_machinery(page, frame))
				gist.kernel = frame;
			break;
		case LODE_KIND_LIBRARY:
			if (gist.library == LODE_NONE)
				gist.library = frame;
			break;
		default:
			gist.own = frame;
		}
	}
	return gist;
}

static void put_gist(struct page *page, struct gist gist)
{
	const uint32_t frames[] = { gist.own, gist.library, gist.kernel };
	const char *lead = "";

	for (size_t i = 0; i < sizeof(frames) / sizeof(frames[0]); i++) {
		if (frames[i] == LODE_NONE)
			continue;
		put(page, lead);
		put_frame(page, frames[i]);
		lead = " > ";
	}
	if (!*lead)
		put(page, "(no stack)");
}

/* ---- wakers ---- */

static int is_timer(const struct page *page, uint32_t node)
{
	const struct lode_stack_node *nodes = page->report->dictionary.tree.nodes;

	for (; node; node = nodes[node].parent)
		if (lode_glob_match("*timer*", lode_frames_function(&page->report->dictionary.frames,
								    nodes[node].frame)))
			return 1;
	return 0;
}

static void put_place(struct page *page, const char *lead, uint32_t stack)
{
	if (!stack)
		return;
	put(page, lead);
	put_gist(page, gist_of(page, stack));
}

static void put_waker(struct page *page, uint32_t wait)
{
	const struct lode_events *waits = &page->report->stream.events[LODE_WAIT];
	uint32_t stack = waits->waker_stack[wait];

	if (lode_wake_ends_chain(page->report->index, wait)) {
		struct gist gist = gist_of(page, stack);

		put(page, is_timer(page, stack) ? ", woken by a timer" : ", woken by an interrupt");
		if (gist.kernel != LODE_NONE) {
			put(page, ": ");
			put_frame(page, gist.kernel);
		}
	} else if (waits->waker[wait] != LODE_NONE) {
		put(page, ", woken by ");
		put_thread(page, waits->waker[wait]);
		put_place(page, " in ", stack);
	} else {
		put(page, ", woken by nobody that was seen");
		put_place(page, ", in ", stack);
	}
}

static void put_wait(struct page *page, uint32_t wait)
{
	const struct lode_events *waits = &page->report->stream.events[LODE_WAIT];

	put_thread(page, waits->thread[wait]);
	put(page, " waits in ");
	put_gist(page, gist_of(page, waits->stack[wait]));
	put_waker(page, wait);
}

/* ---- samples in a row ---- */

/* What the samples of a line were in, costliest together. */
struct share {
	struct gist gist;
	uint64_t cost;
};

static int compare_gists(const void *left, const void *right)
{
	return memcmp(&((const struct share *)left)->gist, &((const struct share *)right)->gist,
		      sizeof(struct gist));
}

/* Joins equal ones and returns the costliest of them. */
static struct share costliest(struct share *shares, size_t count)
{
	struct share best = { .cost = 0 }, sum = { .cost = 0 };

	qsort(shares, count, sizeof(*shares), compare_gists);
	for (size_t i = 0; i < count; i++) {
		if (i && !compare_gists(&shares[i - 1], &shares[i]))
			sum.cost += shares[i].cost;
		else
			sum = shares[i];
		if (!i || sum.cost > best.cost)
			best = sum;
	}
	return best;
}

static void put_samples(struct page *page, const struct lode_scope_line *line)
{
	const struct lode_events *runs = &page->report->stream.events[LODE_RUN];
	struct share *shares = lode_calloc(line->last - line->first + 1, sizeof(*shares));
	char number[LODE_UNITS_TEXT], share[LODE_UNITS_TEXT];
	struct share best;
	size_t count = 0;

	if (!shares) {
		page->buffer->failed = 1;
		return;
	}
	for (size_t i = line->first; i <= line->last; i++) {
		const struct lode_part *part = &page->found->parts.items[i];

		if (part->type == LODE_RUN)
			shares[count++] = (struct share){ gist_of(page, runs->stack[part->event]), part->cost };
	}
	best = costliest(shares, count);
	put_thread(page, line->thread);
	put(page, " runs ");
	put_gist(page, best.gist);
	if (best.cost < line->length - line->unseen)
		lode_buffer_print(page->buffer, " (%s of %s samples)",
				  lode_share_text(best.cost, line->length - line->unseen, share),
				  lode_count_text(count, number));
	lode_free(shares);
}

/* ---- lines ---- */

static uint64_t length_of(const struct lode_symptom *symptom)
{
	return symptom->t1 > symptom->t0 ? symptom->t1 - symptom->t0 : 0;
}

static void put_indent(struct page *page, uint32_t depth)
{
	/* Queues for a lock can be deep; the depth is told where it cannot be drawn. */
	if (depth > 20) {
		lode_buffer_print(page->buffer, "[%" PRIu32 "] ", depth);
		depth = 20;
	}
	lode_buffer_print(page->buffer, "%*s", (int)depth * 2, "");
}

static void put_columns(struct page *page, uint64_t t, uint64_t length)
{
	const struct lode_symptom *symptom = &page->found->symptom;
	char at[LODE_UNITS_TEXT], time[LODE_UNITS_TEXT], share[LODE_UNITS_TEXT];

	lode_buffer_print(page->buffer, "  %8s %8s %6s  ", lode_duration_text(t - symptom->t0, at),
			  lode_duration_text(length, time),
			  lode_share_text(length, length_of(symptom), share));
}

/* A thread woke another while it waited itself, by what was recorded, or they waited for one another. */
static int waker_waited(const struct page *page, uint32_t wait)
{
	return page->report->stream.events[LODE_WAIT].waker[wait] != LODE_NONE &&
	       !lode_wake_ends_chain(page->report->index, wait);
}

static void put_line(struct page *page, const struct lode_scope_line *line)
{
	const struct lode_events *waits = &page->report->stream.events[LODE_WAIT];

	put_columns(page, line->t, line->length);
	put_indent(page, line->depth);
	switch (line->type) {
	case LODE_LINE_RUN:
		put_samples(page, line);
		break;
	case LODE_LINE_STEP:
		put_wait(page, line->event);
		break;
	case LODE_LINE_WAIT:
		put_wait(page, line->event);
		put(page, waker_waited(page, line->event) ? ", which waited itself" : "");
		break;
	case LODE_LINE_QUEUED:
		put_thread(page, line->thread);
		put(page, " is ready and waits for a processor");
		break;
	case LODE_LINE_UNSEEN:
		put(page, "nothing is known of ");
		put_thread(page, waits->waker[line->event]);
		break;
	default:
		put(page, "nothing is known of ");
		put_thread(page, line->thread);
	}
	put(page, "\n");
}

/* Lines from `i` on that are not shown, as one; returns the first behind them. */
static size_t put_hidden(struct page *page, const struct lode_scope_lines *lines, size_t i)
{
	uint32_t depth = lines->items[i].depth;
	uint64_t count = 0, length = 0, t = lines->items[i].t;
	char number[LODE_UNITS_TEXT];

	for (; i < lines->count && !lines->items[i].shown; i++) {
		depth = lines->items[i].depth < depth ? lines->items[i].depth : depth;
		if (lines->items[i].type == LODE_LINE_STEP)
			continue; /* what it holds is hidden too, and counts */
		count++;
		length += lines->items[i].length;
	}
	put_columns(page, t, length);
	put_indent(page, depth);
	lode_buffer_print(page->buffer, "%s... %s shorter%s\n", style(page, LODE_DIM),
			  lode_count_text(count, number), style(page, LODE_PLAIN));
	return i;
}

static size_t count_shown(const struct lode_scope_lines *lines)
{
	size_t shown = 0;

	for (size_t i = 0; i < lines->count; i++)
		shown += (size_t)lines->items[i].shown;
	return shown;
}

static void put_path(struct page *page)
{
	struct lode_scope_lines lines = { 0 };
	size_t i = 0, shown;

	if (lode_scope_lines_make(&lines, page->report, page->found, page->most) < 0)
		page->buffer->failed = 1;
	shown = count_shown(&lines);
	if (shown < lines.count)
		lode_buffer_print(page->buffer, "  the %zu longest of %zu parts; --all shows all\n", shown,
				  lines.count);
	if (lines.count)
		put(page, "        AT     TIME  SHARE\n");
	while (i < lines.count && !page->buffer->failed) {
		if (lines.items[i].shown)
			put_line(page, &lines.items[i++]);
		else
			i = put_hidden(page, &lines, i);
	}
	lode_free(lines.items);
}

/* ---- the scopes that are no path ---- */

struct sum {
	uint32_t thread;
	uint64_t events;
	uint64_t cost[2]; /* by LODE_RUN, LODE_WAIT */
};

static int compare_sums(const void *left, const void *right)
{
	const struct sum *a = left, *b = right;
	uint64_t x = lode_add_saturating(a->cost[0], a->cost[1]);
	uint64_t y = lode_add_saturating(b->cost[0], b->cost[1]);

	if (x != y)
		return x > y ? -1 : 1;
	if (a->events != b->events)
		return a->events > b->events ? -1 : 1;
	return a->thread < b->thread ? -1 : a->thread > b->thread;
}

static void put_sum(struct page *page, const struct sum *sum)
{
	char run[LODE_UNITS_TEXT], wait[LODE_UNITS_TEXT], events[LODE_UNITS_TEXT];

	lode_buffer_print(page->buffer, "  %8s %8s %8s  ", lode_duration_text(sum->cost[LODE_RUN], run),
			  lode_duration_text(sum->cost[LODE_WAIT], wait), lode_count_text(sum->events, events));
	put_thread(page, sum->thread);
	put(page, "\n");
}

static struct sum *sum_threads(const struct page *page, size_t *count)
{
	const struct lode_stream *stream = &page->report->stream;
	struct sum *sums = lode_calloc(stream->thread_count + 1, sizeof(*sums));

	*count = 0;
	if (!sums)
		return NULL;
	for (size_t i = 0; i < stream->thread_count; i++)
		sums[i].thread = (uint32_t)i;
	for (size_t i = 0; i < page->found->parts.count; i++) {
		const struct lode_part *part = &page->found->parts.items[i];
		struct sum *sum = &sums[stream->events[part->type].thread[part->event]];

		sum->events++;
		sum->cost[part->type] = lode_add_saturating(sum->cost[part->type], part->cost);
	}
	qsort(sums, stream->thread_count, sizeof(*sums), compare_sums);
	while (*count < stream->thread_count && sums[*count].events)
		++*count;
	return sums;
}

static void put_threads(struct page *page)
{
	size_t count, shown;
	struct sum *sums = sum_threads(page, &count);

	if (!sums) {
		page->buffer->failed = 1;
		return;
	}
	shown = page->most && page->most < count ? page->most : count;
	if (shown < count)
		lode_buffer_print(page->buffer, "  the %zu busiest of %zu threads; --all shows all\n", shown,
				  count);
	if (count)
		put(page, "       RUN     WAIT   EVENTS\n");
	for (size_t i = 0; i < shown; i++)
		put_sum(page, &sums[i]);
	lode_free(sums);
}

/* Longest first, in a row that is filled up to LONGEST_WAITS. */
static size_t find_longest(const struct page *page, const struct lode_part **longest)
{
	size_t count = 0;

	for (size_t i = 0; i < page->found->parts.count; i++) {
		const struct lode_part *part = &page->found->parts.items[i];
		size_t at = count;

		if (part->type != LODE_WAIT)
			continue;
		while (at && longest[at - 1]->cost < part->cost)
			at--;
		if (at == LONGEST_WAITS)
			continue;
		count += count < LONGEST_WAITS;
		memmove(&longest[at + 1], &longest[at], (count - at - 1) * sizeof(*longest));
		longest[at] = part;
	}
	return count;
}

static void put_longest(struct page *page)
{
	const struct lode_part *longest[LONGEST_WAITS];
	size_t count = find_longest(page, longest);

	if (count)
		put(page, "  longest waits\n");
	for (size_t i = 0; i < count; i++) {
		char at[LODE_UNITS_TEXT], time[LODE_UNITS_TEXT];
		uint64_t t0 = page->found->symptom.t0;

		/* In the graph a wait may have begun before the symptom. */
		lode_buffer_print(page->buffer, "  %s%8s %8s  ", longest[i]->t < t0 ? "-" : " ",
				  lode_duration_text(longest[i]->t < t0 ? t0 - longest[i]->t
									: longest[i]->t - t0,
						     at),
				  lode_duration_text(longest[i]->cost, time));
		put_wait(page, longest[i]->event);
		put(page, "\n");
	}
}

/* ---- a symptom ---- */

static void put_head(struct page *page)
{
	const struct lode_symptom *symptom = &page->found->symptom;
	uint64_t first = page->report->entry->first_t;
	char length[LODE_UNITS_TEXT], at[LODE_UNITS_TEXT];

	put(page, style(page, LODE_BOLD));
	put_string(page, page->report->stream.name);
	put(page, ": ");
	put_thread(page, symptom->thread);
	lode_buffer_print(page->buffer, ", %s", lode_duration_text(length_of(symptom), length));
	if (symptom->name) {
		put(page, ": ");
		put_string(page, symptom->name);
	}
	lode_buffer_print(page->buffer, "%s, %s after the start of the stream\n", style(page, LODE_PLAIN),
			  lode_duration_text(symptom->t0 > first ? symptom->t0 - first : 0, at));
}

static void put_counts(struct page *page)
{
	const struct lode_scope_found *found = page->found;
	enum lode_scope scope = page->report->options->scope;
	char events[LODE_UNITS_TEXT], number[LODE_UNITS_TEXT], share[LODE_UNITS_TEXT];

	lode_buffer_print(page->buffer, "  %s: %s event%s", lode_scope_name(scope),
			  lode_count_text(found->events, events), plural(found->events));
	if (scope == LODE_SCOPE_GRAPH)
		lode_buffer_print(page->buffer, ", %s edge%s", lode_count_text(found->result.edges, number),
				  plural(found->result.edges));
	if (scope == LODE_SCOPE_CRITICAL_PATH && found->result.unknown)
		lode_buffer_print(page->buffer, ", %s (%s) unknown",
				  lode_duration_text(found->result.unknown, number),
				  lode_share_text(found->result.unknown, length_of(&found->symptom), share));
	put(page, "\n");
}

void lode_scope_text(const struct lode_scope_report *report, const struct lode_scope_found *found,
		     const struct lode_terminal *terminal, size_t most, struct lode_buffer *buffer)
{
	struct page page = { report, found, terminal, buffer, most };

	put_head(&page);
	put_counts(&page);
	if (report->options->scope == LODE_SCOPE_CRITICAL_PATH) {
		put_path(&page);
	} else {
		put_threads(&page);
		put_longest(&page);
	}
}
