/*
 * The result of lode mine for people: what was looked at, what was found, and for
 * each cluster what it costs, where, and what its patterns have in common; what
 * differs is indented between the common frames (StackMine, Figures 3 and 5).
 */
#include "base/json.h"
#include "base/memory.h"
#include "base/safe_text.h"
#include "base/units.h"
#include "result/mine_result.h"
#include "text/findings_text.h"
#include "text/frame_text.h"
#include "text/mine_text.h"

#include <stdlib.h>
#include <string.h>

#define EXAMPLES    3
#define VARIANTS    4 /* of one gap */
#define VALUES      4 /* of one attribute */
#define ATTRIBUTES  4
#define VALUE_WIDTH 40
#define IDLE_KINDS  4

struct page {
	const struct lode_mine_report *report;
	struct lode_mine_result result;
	const struct lode_look *look;
	struct lode_buffer *buffer;
	int left_out; /* frames that say nothing were */
};

static const char *style(const struct page *page, enum lode_style which)
{
	return lode_style(page->look, which);
}

static void put(struct page *page, const char *text)
{
	lode_buffer_text(page->buffer, text);
}

static void put_frame(struct page *page, uint32_t frame)
{
	lode_text_frame(page->buffer, &page->report->area->dictionary.frames, frame);
}

static const char *kind_word(const struct page *page)
{
	if (page->report->options->ready)
		return "run-queue delay";
	if (page->report->options->both)
		return "event";
	return page->report->options->kind == LODE_RUN ? "sample" : "wait";
}

/* ---- the head ---- */

static void put_events(struct page *page, const char *title, uint64_t count, uint64_t time)
{
	char events[LODE_UNITS_TEXT], cost[LODE_UNITS_TEXT];

	lode_buffer_print(page->buffer, "%-10s%s %s%s, %s", title, lode_count_text(count, events), kind_word(page),
			  lode_plural(count), lode_duration_text(time, cost));
}

static void put_input(struct page *page)
{
	const struct lode_mine_input *input = &page->result.input;
	char text[LODE_UNITS_TEXT];

	put_events(page, "input", input->events, input->cost_ns);
	lode_buffer_print(page->buffer, " in %s stream%s\n", lode_count_text(input->streams, text),
			  lode_plural(input->streams));
	if (input->thinned)
		lode_buffer_print(page->buffer, "sampled   %s %s%s recorded represent all; totals are estimates\n",
				  lode_count_text(input->recorded_events, text), kind_word(page),
				  lode_plural(input->recorded_events));
}

static void put_area(struct page *page)
{
	const struct lode_mine_events *area = &page->result.area;
	char text[LODE_UNITS_TEXT];

	put_events(page, "area", area->events, area->cost_ns);
	lode_buffer_print(page->buffer, " in %s distinct stack%s\n", lode_count_text(area->distinct_stacks, text),
			  lode_plural(area->distinct_stacks));
}

/* Where the time of critical paths went. */
static void put_account(struct page *page, const struct lode_mine_symptoms *sum)
{
	const struct {
		const char *word;
		uint64_t time;
	} parts[] = {
		{ "waiting", sum->waiting },
		{ "running", sum->running },
		{ "ready without a processor", sum->ready },
		{ "asleep on the path", sum->idling },
		{ "unknown", sum->unknown },
	};
	char time[LODE_UNITS_TEXT], share[LODE_UNITS_TEXT];
	const char *lead = ": ";

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (!parts[i].time)
			continue;
		lode_buffer_print(page->buffer, "%s%s %s (%s)", lead, lode_duration_text(parts[i].time, time),
				  parts[i].word, lode_share_text(parts[i].time, sum->delay, share));
		lead = ", ";
	}
}

/*
 * All of the symptoms' time: on a critical path each moment of it is one of these. A sleep there
 * delays a user, so it counts like any wait; the rules' word for it would read as if it did not.
 */
static void put_symptoms(struct page *page)
{
	const struct lode_mine_symptoms *sum = &page->result.symptoms;
	char count[LODE_UNITS_TEXT], delay[LODE_UNITS_TEXT];

	if (!sum->count)
		return;
	lode_buffer_print(page->buffer, "symptoms  %s, %s in all", lode_count_text(sum->count, count),
			  lode_duration_text(sum->delay, delay));
	if (sum->on_critical_paths && sum->delay)
		put_account(page, sum);
	put(page, "\n");
}

struct idle_sum {
	uint32_t frame;
	uint64_t cost;
};

/* The frame that made a stack idle; where no rule did, the one that chose to wait. LODE_NONE: there is no frame. */
static uint32_t idle_frame(const struct lode_mine_report *report, uint32_t stack)
{
	const struct lode_dictionary *dictionary = &report->area->dictionary;
	uint32_t frame = lode_idle_frame(report->idle, stack);

	for (; stack && frame == LODE_NONE; stack = dictionary->tree.nodes[stack].parent) {
		uint32_t own = dictionary->tree.nodes[stack].frame;

		if (!lode_idle_is_way_of_waiting(report->idle, own) &&
		    strcmp(lode_frames_module_name(&dictionary->frames, own), "kernel"))
			frame = own;
	}
	return frame;
}

/* By frame: what waits cost that it made idle. NULL when memory has run out. */
static uint64_t *idle_costs(const struct lode_mine_report *report, const struct lode_area_rows *rows)
{
	const struct lode_dictionary *dictionary = &report->area->dictionary;
	uint64_t *costs = lode_calloc(dictionary->frames.count + 1, sizeof(*costs));

	for (size_t i = 0; costs && i < rows->count; i++) {
		uint32_t frame = idle_frame(report, rows->items[i].stack);

		if (frame != LODE_NONE)
			costs[frame] = lode_add_saturating(costs[frame], rows->items[i].cost);
	}
	return costs;
}

/* The frames that made most idle, so that readers know what was set apart. */
static size_t idle_reasons(struct page *page, const struct lode_area_rows *rows, struct idle_sum *top)
{
	uint64_t *costs = idle_costs(page->report, rows);
	size_t count = 0;

	page->buffer->failed |= !costs;
	for (uint32_t frame = 0; costs && frame < page->report->area->dictionary.frames.count; frame++) {
		size_t at = count;

		if (!costs[frame])
			continue;
		count += count < IDLE_KINDS;
		for (; at && top[at - 1].cost < costs[frame]; at--)
			if (at < IDLE_KINDS)
				top[at] = top[at - 1];
		if (at < IDLE_KINDS)
			top[at] = (struct idle_sum){ frame, costs[frame] };
	}
	lode_free(costs);
	return count;
}

static void put_idle(struct page *page)
{
	const struct lode_area_rows *rows = &page->report->area->idle[page->report->options->kind];
	struct idle_sum top[IDLE_KINDS];
	char cost[LODE_UNITS_TEXT];
	size_t count;

	if (!rows->events)
		return;
	put_events(page, "idle", rows->events, rows->cost);
	put(page, " counted separately (--include-idle includes them)");
	count = idle_reasons(page, rows, top);
	put(page, count ? ":" : "");
	for (size_t i = 0; i < count; i++) {
		lode_buffer_print(page->buffer, "%s %s in ", i ? "," : "", lode_duration_text(top[i].cost, cost));
		put_frame(page, top[i].frame);
	}
	put(page, "\n");
}

static void put_work(struct page *page)
{
	const struct lode_mine_events *work = &page->result.waiting_for_work.sums;
	const struct lode_mine_places *places = &page->result.places;
	char cost[LODE_UNITS_TEXT];

	if (!page->result.has_work || !work->events)
		return;
	put_events(page, "for work", work->events, work->cost_ns);
	put(page, " at outer loops, ended from outside, counted separately (--include-work-waits includes them):");
	for (size_t i = 0; i < places->count && i < IDLE_KINDS; i++) {
		lode_buffer_print(page->buffer, "%s %s in ", i ? "," : "",
				  lode_duration_text(places->items[i].cost, cost));
		put_frame(page, page->report->area->dictionary.tree.nodes[places->items[i].place].frame);
	}
	if (places->count > IDLE_KINDS)
		lode_buffer_print(page->buffer, " and %zu more places", places->count - IDLE_KINDS);
	put(page, "\n");
}

static void put_found(struct page *page)
{
	const struct lode_mine_report *report = page->report;
	const struct lode_mined *mined = report->mined;
	uint64_t whole = report->area->rows[report->options->kind].cost;
	char text[LODE_UNITS_TEXT], other[LODE_UNITS_TEXT];

	lode_buffer_print(page->buffer, "threshold %s", lode_duration_text(report->options->threshold, text));
	if (report->options->threshold <= whole)
		lode_buffer_print(page->buffer, " (%s of the area)",
				  lode_share_text(report->options->threshold, whole, text));
	if (report->options->fold_recursion)
		put(page, "; only the first call of a recursive function counts");
	put(page, "\n");
	if (report->only_new)
		lode_buffer_print(page->buffer, "known     %s are covered by signatures and left out\n",
				  lode_duration_text(report->covered, text));
	lode_buffer_print(page->buffer, "found     %s pattern%s in %s cluster%s",
			  lode_count_text(mined->patterns.count, text), lode_plural(mined->patterns.count),
			  lode_count_text(mined->clusters.count, other), lode_plural(mined->clusters.count));
	if (mined->unclustered)
		put(page, ", stopped before similar ones were joined");
	if (mined->patterns.end == LODE_MINER_MAX_PATTERNS)
		put(page, "; stopped at --max-patterns: there are more, and some may be part of longer ones");
	if (mined->patterns.end == LODE_MINER_INTERRUPTED)
		put(page, "; interrupted: there are more, and some may be part of longer ones");
	put(page, "\n");
}

/* ---- a cluster ---- */

/* How far the estimate of these very streams may be off, where not all was recorded. */
static void put_sampling(struct page *page, const struct lode_metrics *metrics)
{
	struct lode_interval interval = lode_sampling_interval(metrics->cost, metrics->variance);

	if (metrics->variance > 0 && metrics->cost)
		lode_buffer_print(page->buffer, " (sampled: +-%.*f%%)",
				  interval.high - interval.low < (double)metrics->cost / 5,
				  100 * (interval.high - interval.low) / 2 / (double)metrics->cost);
}

static void put_metrics(struct page *page, size_t i)
{
	const struct lode_mine_report *report = page->report;
	const struct lode_mined_group *group = &report->mined->cluster_groups[i];
	const struct lode_metrics *metrics = &group->metrics;
	char a[LODE_UNITS_TEXT], b[LODE_UNITS_TEXT], c[LODE_UNITS_TEXT];

	lode_buffer_print(page->buffer, "\n%s#%zu  %s  %s%s", style(page, LODE_BOLD), i + 1,
			  lode_duration_text(metrics->cost, a),
			  lode_share_text(metrics->cost, report->area->rows[report->options->kind].cost, b),
			  style(page, LODE_PLAIN));
	if (metrics->sure)
		lode_buffer_print(page->buffer, " (95%%: %s to %s)", lode_duration_text(metrics->low, a),
				  lode_duration_text(metrics->high, b));
	put_sampling(page, metrics);
	lode_buffer_print(page->buffer, "  %s stream%s  %s %s%s of %s  %sid %s%s\n",
			  lode_count_text(metrics->streams, a), lode_plural(metrics->streams),
			  lode_count_text(metrics->events, b), kind_word(page), lode_plural(metrics->events),
			  lode_duration_text(metrics->average, c), style(page, LODE_DIM), group->id,
			  style(page, LODE_PLAIN));
}

/* Frames of the ignore list, the scheduler and the way into the kernel, are left out unless requested. */
static int says_something(struct page *page, uint32_t frame)
{
	if (page->report->all_frames || !lode_idle_ignores(page->report->idle, frame))
		return 1;
	page->left_out = 1;
	return 0;
}

static void put_variant(struct page *page, const struct lode_mine_variant *variant, size_t patterns)
{
	uint32_t shown = 0;

	lode_buffer_print(page->buffer, "      %s%s %u of %zu: ", style(page, LODE_DIM),
			  page->look->utf8 ? "┊" : "|", variant->patterns, patterns);
	if (!variant->length)
		put(page, "nothing");
	for (uint32_t i = 0; i < variant->length; i++) {
		if (!says_something(page, variant->frames[i]))
			continue;
		if (shown++)
			put(page, page->look->utf8 ? " → " : " -> ");
		put_frame(page, variant->frames[i]);
	}
	if (variant->length && !shown)
		put(page, "only frames without information");
	lode_buffer_print(page->buffer, "%s\n", style(page, LODE_PLAIN));
}

/* The variants of one gap, the costliest first; `*at` moves behind them. */
static void put_gap(struct page *page, const struct lode_mine_variants *variants, size_t gap, size_t *at,
		    size_t patterns)
{
	size_t shown = 0, left = 0;

	for (; *at < variants->count && variants->items[*at].gap == gap; ++*at) {
		if (shown < VARIANTS)
			put_variant(page, &variants->items[*at], patterns);
		else
			left++;
		shown++;
	}
	if (left)
		lode_buffer_print(page->buffer, "      %s%s and %zu other ways%s\n", style(page, LODE_DIM),
				  page->look->utf8 ? "┊" : "|", left, style(page, LODE_PLAIN));
}

static void put_frames(struct page *page, size_t i)
{
	const struct lode_mined *mined = page->report->mined;
	struct lode_mine_variants variants = { 0 };
	size_t at = 0, patterns = mined->clusters.items[i].count;

	if (lode_mine_find_variants(page->report, i, &variants) < 0)
		page->buffer->failed = 1;
	for (size_t gap = 0; gap <= mined->common_length[i]; gap++) {
		put_gap(page, &variants, gap, &at, patterns);
		if (gap == mined->common_length[i])
			break;
		if (!says_something(page, mined->common[i][gap]))
			continue;
		put(page, "    ");
		put_frame(page, mined->common[i][gap]);
		put(page, "\n");
	}
	lode_mine_variants_release(&variants);
}

/* ---- where it occurs ---- */

struct value_count {
	uint32_t value;
	uint32_t streams;
};

static int compare_values(const void *a, const void *b)
{
	const struct value_count *left = a, *right = b;

	if (left->streams != right->streams)
		return left->streams < right->streams ? 1 : -1;
	return left->value < right->value ? -1 : left->value > right->value;
}

/* The value of an attribute in a stream; 0 where it has none. Key 0 is the host. */
static uint32_t value_in(const struct lode_area_stream *stream, uint32_t key)
{
	if (!key)
		return stream->host;
	for (size_t i = 0; i < stream->attribute_count; i++)
		if (stream->attributes[i].key == key)
			return stream->attributes[i].value;
	return 0;
}

static void count_value(struct value_count *counts, size_t *count, uint32_t value)
{
	for (size_t i = 0; i < *count; i++) {
		if (counts[i].value != value)
			continue;
		counts[i].streams++;
		return;
	}
	counts[(*count)++] = (struct value_count){ value, 1 };
}

/* `1200 to 48000`: numbers with many values are shown by their range. Returns whether it was done. */
static int put_range(struct page *page, const struct value_count *counts, size_t count)
{
	const struct lode_strings *strings = &page->report->area->dictionary.frames.strings;
	size_t least = 0, most = 0;

	if (count <= VALUES)
		return 0;
	for (size_t i = 0; i < count; i++) {
		double value = strtod(lode_strings_get(strings, counts[i].value), NULL);

		if (!lode_json_is_number(lode_strings_get(strings, counts[i].value)))
			return 0;
		if (value < strtod(lode_strings_get(strings, counts[least].value), NULL))
			least = i;
		if (value > strtod(lode_strings_get(strings, counts[most].value), NULL))
			most = i;
	}
	lode_buffer_print(page->buffer, " %s to %s\n", lode_strings_get(strings, counts[least].value),
			  lode_strings_get(strings, counts[most].value));
	return 1;
}

static void put_value(struct page *page, const char *value)
{
	size_t width = lode_text_width(value);

	lode_text_column(page->buffer, value, width < VALUE_WIDTH ? width : VALUE_WIDTH);
}

/* `version 4.2 (20), 4.1 (4)`: the values a cluster occurs with, most frequent first. */
static void put_values(struct page *page, size_t i, uint32_t key, struct value_count *counts)
{
	const struct lode_shares *shares = &page->report->mined->cluster_groups[i].shares;
	const struct lode_strings *strings = &page->report->area->dictionary.frames.strings;
	size_t count = 0;

	for (size_t k = 0; k < shares->count; k++) {
		uint32_t value = value_in(&page->report->area->streams[shares->items[k].stream], key);

		if (value)
			count_value(counts, &count, value);
	}
	if (!count)
		return;
	qsort(counts, count, sizeof(*counts), compare_values);
	put(page, "    ");
	lode_text_column(page->buffer, key ? lode_strings_get(strings, key) : "host", 9);
	if (put_range(page, counts, count))
		return;
	for (size_t k = 0; k < count && k < VALUES; k++) {
		put(page, k ? ", " : " ");
		put_value(page, lode_strings_get(strings, counts[k].value));
		if (counts[k].streams > 1)
			lode_buffer_print(page->buffer, " (%u)", counts[k].streams);
	}
	if (count > VALUES)
		lode_buffer_print(page->buffer, " and %zu more", count - VALUES);
	put(page, "\n");
}

/* What all streams have in common says nothing about a cluster. */
static int varies(const struct lode_area *area, uint32_t key)
{
	for (size_t i = 1; i < area->stream_count; i++)
		if (value_in(&area->streams[i], key) != value_in(&area->streams[0], key))
			return 1;
	return 0;
}

static void put_places(struct page *page, size_t i)
{
	const struct lode_area *area = page->report->area;
	const struct lode_shares *shares = &page->report->mined->cluster_groups[i].shares;
	struct value_count *counts = lode_calloc(shares->count + 1, sizeof(*counts));
	const struct lode_area_stream *first = shares->count ? &area->streams[shares->items[0].stream] : NULL;
	size_t shown = 0;

	if (!counts) {
		page->buffer->failed = 1;
		return;
	}
	put_values(page, i, 0, counts);
	for (size_t k = 0; first && k < first->attribute_count && shown < ATTRIBUTES; k++) {
		if (!varies(area, first->attributes[k].key))
			continue;
		put_values(page, i, first->attributes[k].key, counts);
		shown++;
	}
	lode_free(counts);
}

static void put_examples(struct page *page, size_t i)
{
	const struct lode_strings *strings = &page->report->area->dictionary.frames.strings;
	struct lode_mine_example examples[EXAMPLES];
	size_t count = lode_mine_examples(page->report, i, EXAMPLES, examples);
	char text[LODE_UNITS_TEXT];

	for (size_t k = 0; k < count; k++) {
		const struct lode_area_row *row = examples[k].row;
		uint64_t first = examples[k].stream->first_t;

		put(page, k ? "              " : "    look at   ");
		lode_text_safe(page->buffer, lode_strings_get(strings, examples[k].stream->name));
		lode_buffer_print(page->buffer, " +%s,",
				  lode_duration_text(row->longest_t > first ? row->longest_t - first : 0, text));
		lode_buffer_print(page->buffer, " thread %u: %s\n", row->longest_thread,
				  lode_duration_text(row->longest, text));
	}
}

/* ---- the whole ---- */

static void put_clusters(struct page *page)
{
	const struct lode_mine_report *report = page->report;
	size_t shown = lode_mine_shown(report);

	for (size_t i = 0; i < shown; i++) {
		put_metrics(page, i);
		lode_mine_gain_text(report, i, page->buffer);
		put_frames(page, i);
		put_places(page, i);
		put_examples(page, i);
	}
	if (page->left_out)
		put(page,
		    "\nFrames of the scheduler and of kernel entry are left out; '--all-frames' shows them.\n");
	if (shown < report->mined->clusters.count)
		lode_buffer_print(page->buffer, "\n%zu more cluster%s; '--top N' or '--all' shows them\n",
				  report->mined->clusters.count - shown,
				  lode_plural(report->mined->clusters.count - shown));
}

/* Why there is nothing, and what to do. */
static void put_nothing(struct page *page)
{
	const struct lode_mine_report *report = page->report;
	const struct lode_area_rows *rows = &report->area->rows[report->options->kind];
	char text[LODE_UNITS_TEXT];

	if (!rows->events && report->options->kind == LODE_WAIT && report->area->work.events)
		put(page, "\nNothing is left to mine: waits for work from other processes count with "
			  "'--include-work-waits'.\n");
	else if (!rows->events && report->options->both)
		put(page, "\nThere is nothing to mine here; try another '--scope', or 'lode info' to see what "
			  "there is.\n");
	else if (!rows->events)
		lode_buffer_print(page->buffer,
				  "\nThere is no %s to mine here; try '--kind %s', another '--scope', or "
				  "'lode info' to see what there is.\n",
				  kind_word(page), report->options->kind == LODE_RUN ? "wait" : "run");
	else
		lode_buffer_print(page->buffer, "\nNo pattern costs %s; lower '--threshold'.\n",
				  lode_duration_text(report->options->threshold, text));
}

void lode_mine_text(const struct lode_mine_report *report, const struct lode_look *look, struct lode_buffer *buffer)
{
	struct page page = { .report = report, .look = look, .buffer = buffer };

	lode_mine_gain_list(report, look, buffer);
	if (report->findings && report->findings->count) {
		lode_findings_text(&(struct lode_finding_source){ report->area, report->findings }, report->top,
				   look, buffer);
		lode_findings_hint_text(report->hint, look, buffer);
	} else if (report->only_findings) {
		put(&page, "Nothing that threads did takes a hundredth of the time: there are no findings.\n");
	}
	if (report->only_findings)
		return;
	if (report->findings && report->findings->count)
		put(&page, "\n");
	buffer->failed |= lode_mine_result_make(&page.result, report) < 0;
	lode_buffer_print(buffer, "%s%ss of ", style(&page, LODE_BOLD), kind_word(&page));
	lode_text_safe(buffer, report->corpus);
	lode_buffer_print(buffer, ", scope %s, ranked by %s%s\n", page.result.scope, page.result.rank,
			  style(&page, LODE_PLAIN));
	put_input(&page);
	put_area(&page);
	put_symptoms(&page);
	put_idle(&page);
	put_work(&page);
	put_found(&page);
	if (report->mined->clusters.count)
		put_clusters(&page);
	else
		put_nothing(&page);
	lode_mine_result_release(&page.result);
}
