/*
 * Scopes for people: a critical path by where its time went and as a timeline,
 * thread and graph as a table of threads and their longest waits.
 */
#include "text/scope_words.h"

#include "base/hash.h"
#include "base/memory.h"
#include "base/units.h"
#include "text/grid.h"
#include "text/tree_lines.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST_WAITS 5
#define TITLE         96 /* bytes of a title that says what is left out */

/* Places of a path that are shown, where its timeline is longer than LINES_ENOUGH. */
#define PLACES       10
#define LINES_ENOUGH 12

static void put(struct lode_scope_page *page, const char *text)
{
	lode_buffer_text(page->buffer, text);
}

static const char *style(const struct lode_scope_page *page, enum lode_style which)
{
	return lode_style(page->look, which);
}

static uint64_t length_of(const struct lode_symptom *symptom)
{
	return symptom->t1 > symptom->t0 ? symptom->t1 - symptom->t0 : 0;
}

/* ---- places: where the time of a path went, whenever it was ---- */

struct place {
	enum lode_scope_line_type type;
	uint32_t thread;
	uint32_t behind; /* of the run queue: the thread that had the processor; LODE_NONE: not known */
	struct lode_gist gist;
	struct lode_scope_object object; /* of a wait */
	uint64_t cost;
	uint64_t times;
};

struct places {
	struct place *items;
	size_t count;
	size_t capacity;
};

/* Equal places together. Threads are numbers of the stream here: one a tid is enough for a table. */
static int compare_places(const void *left, const void *right)
{
	const struct place *a = left, *b = right;

	if (a->type != b->type)
		return a->type < b->type ? -1 : 1;
	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	if (a->object.text != b->object.text)
		return a->object.text < b->object.text ? -1 : 1;
	if (a->object.holder != b->object.holder)
		return a->object.holder < b->object.holder ? -1 : 1;
	if (a->behind != b->behind)
		return a->behind < b->behind ? -1 : 1;
	return lode_gist_compare(&a->gist, &b->gist);
}

/* Costliest first. */
static int compare_costs(const void *left, const void *right)
{
	const struct place *a = left, *b = right;

	if (a->cost != b->cost)
		return a->cost > b->cost ? -1 : 1;
	return compare_places(a, b);
}

static void add_place(struct lode_scope_page *page, struct places *places, struct place place)
{
	place.times = 1;
	if (LODE_APPEND(places->items, places->count, places->capacity, place) < 0)
		page->buffer->failed = 1;
}

/* Equal places become one; then the costliest come first. */
static void join_places(struct places *places)
{
	size_t kept = 0;

	if (!places->count)
		return;
	qsort(places->items, places->count, sizeof(*places->items), compare_places);
	for (size_t i = 0; i < places->count; i++) {
		struct place *place = &places->items[i];

		if (kept && !compare_places(&places->items[kept - 1], place)) {
			places->items[kept - 1].cost += place->cost;
			places->items[kept - 1].times += place->times;
		} else {
			places->items[kept++] = *place;
		}
	}
	places->count = kept;
	qsort(places->items, places->count, sizeof(*places->items), compare_costs);
}

/* What the samples of a line were in. */
static void add_samples(struct lode_scope_page *page, const struct lode_scope_line *line, struct places *places)
{
	const struct lode_events *runs = &page->report->stream.events[LODE_RUN];

	for (size_t i = line->first; i <= line->last; i++) {
		const struct lode_part *part = &page->found->parts.items[i];

		if (part->type == LODE_RUN)
			add_place(page, places,
				  (struct place){ .type = LODE_LINE_RUN,
						  .thread = line->thread,
						  .gist = lode_gist_of(page, runs->stack[part->event]),
						  .cost = part->cost });
	}
}

static uint32_t behind(const struct lode_scope_page *page, const struct lode_scope_line *line)
{
	return lode_scope_behind(page->report, &page->found->parts.items[line->first]);
}

/* A line that holds no others; of the time between samples the thread is known, but not what it did. */
static void add_line(struct lode_scope_page *page, const struct lode_scope_line *line, struct places *places)
{
	const struct lode_events *waits = &page->report->stream.events[LODE_WAIT];
	struct place place = { .type = line->type, .thread = line->thread, .cost = line->length };

	if (line->type == LODE_LINE_RUN) {
		add_samples(page, line, places);
		place.type = LODE_LINE_UNKNOWN;
		place.cost = line->unseen;
	} else if (line->type == LODE_LINE_WAIT) {
		place.gist = lode_gist_of(page, waits->stack[line->event]);
		place.object = lode_scope_object_of(page, line->event);
	} else if (line->type == LODE_LINE_QUEUED) {
		place.behind = behind(page, line);
	} else if (line->type == LODE_LINE_UNSEEN) {
		place.type = LODE_LINE_UNKNOWN;
		place.thread = lode_walked_thread(page->report->index, line->event, line->t);
	}
	if (place.cost)
		add_place(page, places, place);
}

static void put_place(struct lode_scope_page *page, struct lode_grid *grid, const struct place *place)
{
	lode_grid_duration(grid, place->cost);
	lode_grid_share(grid, place->cost, length_of(&page->found->symptom));
	lode_grid_count(grid, place->times);
	lode_grid_open(grid);
	switch (place->type) {
	case LODE_LINE_RUN:
		lode_put_thread(page, place->thread);
		put(page, " runs ");
		lode_put_gist(page, place->gist);
		break;
	case LODE_LINE_WAIT:
		lode_put_wait(page, place->thread, place->gist, place->object);
		break;
	case LODE_LINE_QUEUED:
		lode_put_ready(page, place->thread, place->behind);
		break;
	default:
		put(page, "nothing recorded for ");
		lode_put_thread(page, place->thread);
	}
	lode_grid_end(grid);
}

static void find_places(struct lode_scope_page *page, const struct lode_scope_lines *lines, struct places *places)
{
	for (size_t i = 0; i < lines->count; i++)
		if (lines->items[i].type != LODE_LINE_STEP)
			add_line(page, &lines->items[i], places);
	join_places(places);
}

static void put_places(struct lode_scope_page *page, const struct lode_scope_lines *lines)
{
	char where[TITLE] = "WHERE";
	const struct lode_grid_column columns[] = {
		{ "TIME", 2, 8 }, { "SHARE", 1, 6 }, { "TIMES", 1, 8 }, { where, 2, 0 }, { NULL, 0, 0 },
	};
	struct lode_grid grid = { .buffer = page->buffer, .columns = columns };
	struct places places = { 0 };
	size_t shown;

	find_places(page, lines, &places);
	shown = page->most && places.count > PLACES ? PLACES : places.count;
	if (shown < places.count)
		snprintf(where, sizeof(where), "WHERE (%zu of %zu; --all shows all)", shown, places.count);
	lode_grid_titles(&grid);
	for (size_t i = 0; i < shown && !page->buffer->failed; i++)
		put_place(page, &grid, &places.items[i]);
	put(page, "\n");
	lode_free(places.items);
}

/* ---- what a path is like ---- */

/* Not by number: the worker that did it this time is another next time. */
static void put_role(struct lode_scope_page *page, uint32_t thread)
{
	const struct lode_thread *threads = page->report->stream.threads;

	if (thread == LODE_NONE)
		put(page, "unknown");
	else if (threads[thread].tid == threads[page->found->symptom.thread].tid)
		put(page, "itself");
	else if (threads[thread].name)
		lode_put_string(page, threads[thread].name);
	else
		put(page, "another");
}

static int compare_shares(const void *left, const void *right)
{
	const struct lode_scope_share *a = left, *b = right;

	return (a->place > b->place) - (a->place < b->place);
}

static void fill_profile(struct lode_scope_page *page, const struct places *places,
			 struct lode_scope_profile *profile)
{
	for (size_t i = 0; i < places->count; i++) {
		const struct place *place = &places->items[i];

		lode_buffer_clear(page->buffer);
		lode_buffer_print(page->buffer, "%d ", (int)place->type);
		put_role(page, place->thread);
		if (place->type == LODE_LINE_RUN || place->type == LODE_LINE_WAIT)
			lode_put_gist(page, place->gist);
		profile->items[i] =
			(struct lode_scope_share){ lode_hash_bytes(page->buffer->bytes, page->buffer->size),
						   place->cost };
	}
	if (places->count)
		qsort(profile->items, places->count, sizeof(*profile->items), compare_shares);
	for (size_t i = 0; i < places->count; i++) {
		if (profile->count && profile->items[profile->count - 1].place == profile->items[i].place)
			profile->items[profile->count - 1].cost += profile->items[i].cost;
		else
			profile->items[profile->count++] = profile->items[i];
	}
}

int lode_scope_profile_make(struct lode_scope_profile *profile, const struct lode_scope_report *report,
			    const struct lode_scope_found *found)
{
	struct lode_buffer text = { 0 };
	struct lode_scope_page page = { .report = report, .found = found, .buffer = &text };
	struct lode_scope_lines lines = { 0 };
	struct places places = { 0 };
	int code = lode_scope_lines_make(&lines, report, found, 0);

	memset(profile, 0, sizeof(*profile));
	profile->length = length_of(&found->symptom);
	if (!code)
		find_places(&page, &lines, &places);
	profile->items = lode_calloc(places.count + 1, sizeof(*profile->items));
	if (!code && profile->items && !text.failed)
		fill_profile(&page, &places, profile);
	if (!profile->items || text.failed)
		code = LODE_SYSTEM;
	if (code)
		lode_scope_profile_release(profile);
	lode_buffer_release(&text);
	lode_free(places.items);
	lode_free(lines.items);
	return code;
}

/* ---- the timeline ---- */

static void put_samples(struct lode_scope_page *page, const struct lode_scope_line *line)
{
	char number[LODE_UNITS_TEXT], share[LODE_UNITS_TEXT];
	uint64_t seen = line->length - line->unseen;
	struct places places = { 0 };
	uint64_t count;

	add_samples(page, line, &places);
	count = places.count;
	join_places(&places);
	lode_put_thread(page, line->thread);
	put(page, " runs ");
	if (places.count)
		lode_put_gist(page, places.items[0].gist);
	if (places.count > 1)
		lode_buffer_print(page->buffer, " (%s of %s samples)",
				  lode_share_text(places.items[0].cost, seen, share),
				  lode_count_text(count, number));
	lode_free(places.items);
}

static void put_columns(struct lode_scope_page *page, struct lode_grid *grid, uint64_t t, uint64_t length)
{
	const struct lode_symptom *symptom = &page->found->symptom;

	lode_grid_duration(grid, t - symptom->t0);
	lode_grid_duration(grid, length);
	lode_grid_share(grid, length, length_of(symptom));
	lode_grid_open(grid);
}

/* A thread woke another while it waited itself, by what was recorded, or they waited for one another. */
static int waker_waited(const struct lode_scope_page *page, uint32_t wait)
{
	return page->report->stream.events[LODE_WAIT].waker[wait] != LODE_NONE &&
	       !lode_wake_ends_chain(page->report->index, wait);
}

/* A wait for a thread of another host: what that did not do was on its way. */
static int is_of_hosts(const struct lode_scope_page *page, uint32_t wait)
{
	const struct lode_joined_hosts *hosts = &page->report->hosts;

	return hosts->count && hosts->connections[page->report->stream.events[LODE_WAIT].name[wait]];
}

static void put_wait(struct lode_scope_page *page, uint32_t wait)
{
	const struct lode_events *waits = &page->report->stream.events[LODE_WAIT];

	lode_put_wait(page, waits->thread[wait], lode_gist_of(page, waits->stack[wait]),
		      lode_scope_object_of(page, wait));
	lode_put_waker(page, wait);
}

static void put_line(struct lode_scope_page *page, struct lode_grid *grid, const struct lode_scope_line *line)
{
	put_columns(page, grid, line->t, line->length);
	lode_tree_line(page->buffer, line->depth);
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
		lode_put_ready(page, line->thread, behind(page, line));
		break;
	case LODE_LINE_UNSEEN:
		put(page, is_of_hosts(page, line->event) ? "the network, or nothing recorded for "
							 : "nothing recorded for ");
		lode_put_thread(page, lode_walked_thread(page->report->index, line->event, line->t));
		break;
	default:
		put(page, "nothing recorded for ");
		lode_put_thread(page, line->thread);
	}
	lode_grid_end(grid);
}

/* Lines from `i` on that are not shown, as one; returns the first behind them. */
static size_t put_hidden(struct lode_scope_page *page, struct lode_grid *grid,
			 const struct lode_scope_lines *lines, size_t i)
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
	put_columns(page, grid, t, length);
	lode_tree_line(page->buffer, depth);
	lode_buffer_print(page->buffer, "%s... %s shorter%s", style(page, LODE_DIM),
			  lode_count_text(count, number), style(page, LODE_PLAIN));
	lode_grid_end(grid);
	return i;
}

static size_t count_shown(const struct lode_scope_lines *lines)
{
	size_t shown = 0;

	for (size_t i = 0; i < lines->count; i++)
		shown += (size_t)lines->items[i].shown;
	return shown;
}

static void put_timeline(struct lode_scope_page *page, const struct lode_scope_lines *lines)
{
	char what[TITLE] = "WHAT";
	const struct lode_grid_column columns[] = {
		{ "AT", 2, 8 }, { "TIME", 1, 8 }, { "SHARE", 1, 6 }, { what, 2, 0 }, { NULL, 0, 0 },
	};
	struct lode_grid grid = { .buffer = page->buffer, .columns = columns };
	size_t shown = count_shown(lines);

	if (shown < lines->count)
		snprintf(what, sizeof(what), "WHAT (the %zu longest of %zu; --all shows all)", shown, lines->count);
	lode_grid_titles(&grid);
	for (size_t i = 0; i < lines->count && !page->buffer->failed;) {
		if (lines->items[i].shown)
			put_line(page, &grid, &lines->items[i++]);
		else
			i = put_hidden(page, &grid, lines, i);
	}
}

static void put_path(struct lode_scope_page *page)
{
	struct lode_scope_lines lines = { 0 };

	if (lode_scope_lines_make(&lines, page->report, page->found, page->most) < 0)
		page->buffer->failed = 1;
	lode_put_contexts(page, &lines);
	if (lines.count > LINES_ENOUGH)
		put_places(page, &lines);
	if (lines.count)
		put_timeline(page, &lines);
	lode_free(lines.items);
}

/* ---- the scopes that are no path ---- */

/* Longest first, in a row that is filled up to LONGEST_WAITS. */
static size_t find_longest(const struct lode_scope_page *page, const struct lode_part **longest)
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

static void put_longest(struct lode_scope_page *page)
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
				  lode_duration_text(longest[i]->t < t0 ? t0 - longest[i]->t : longest[i]->t - t0,
						     at),
				  lode_duration_text(longest[i]->cost, time));
		put_wait(page, longest[i]->event);
		put(page, "\n");
	}
}

/* ---- a symptom ---- */

static void put_head(struct lode_scope_page *page)
{
	const struct lode_symptom *symptom = &page->found->symptom;
	const struct lode_thread *thread = &page->report->stream.threads[symptom->thread];
	uint64_t first = page->report->entry->first_t;
	char length[LODE_UNITS_TEXT], at[LODE_UNITS_TEXT];

	put(page, style(page, LODE_BOLD));
	lode_put_string(page, page->report->stream.name);
	put(page, thread->name ? ": " : ": thread ");
	lode_put_string(page, thread->name);
	lode_buffer_print(page->buffer, thread->name ? " (%" PRIu32 "), %s" : "%" PRIu32 ", %s", thread->tid,
			  lode_duration_text(length_of(symptom), length));
	if (symptom->name) {
		put(page, ": ");
		lode_put_string(page, symptom->name);
	}
	put(page, style(page, LODE_PLAIN));
	if (symptom->t0 > first)
		lode_buffer_print(page->buffer, ", %s after the start of the stream\n",
				  lode_duration_text(symptom->t0 - first, at));
	else
		put(page, ", at the start of the stream\n");
}

static void put_counts(struct lode_scope_page *page)
{
	const struct lode_scope_found *found = page->found;
	enum lode_scope scope = page->report->options->scope;
	char events[LODE_UNITS_TEXT], number[LODE_UNITS_TEXT], share[LODE_UNITS_TEXT];

	lode_buffer_print(page->buffer, "  %s: %s event%s", lode_scope_name(scope),
			  lode_count_text(found->events, events), lode_plural(found->events));
	if (scope == LODE_SCOPE_GRAPH)
		lode_buffer_print(page->buffer, ", %s edge%s", lode_count_text(found->result.edges, number),
				  lode_plural(found->result.edges));
	if (scope == LODE_SCOPE_CRITICAL_PATH && found->result.unknown)
		lode_buffer_print(page->buffer, ", %s (%s) unknown",
				  lode_duration_text(found->result.unknown, number),
				  lode_share_text(found->result.unknown, length_of(&found->symptom), share));
	put(page, "\n");
	if (lode_events_thinned(&page->report->stream.events[LODE_WAIT]))
		put(page, "  not every wait of this stream was recorded; what is unknown may be such waits\n");
}

void lode_scope_text(const struct lode_scope_report *report, const struct lode_scope_found *found,
		     const struct lode_look *look, size_t most, struct lode_buffer *buffer)
{
	struct lode_scope_page page = {
		.report = report,
		.found = found,
		.look = look,
		.buffer = buffer,
		.most = most,
	};

	if (lode_scope_page_init(&page) < 0) {
		buffer->failed = 1;
		return;
	}
	put_head(&page);
	put_counts(&page);
	if (report->options->scope == LODE_SCOPE_CRITICAL_PATH) {
		lode_put_states(&page);
		put_path(&page);
	} else {
		lode_put_scope_threads(&page);
		put_longest(&page);
	}
	lode_scope_page_release(&page);
}
