/*
 * The result of lode mine as JSON: whole, unless a top was requested, and then it
 * says how much there is.
 */
#include "base/json.h"
#include "result/frame_facts.h"
#include "result/mine_report.h"
#include "result/unread_json.h"

#include <stdlib.h>

#define EXAMPLES 5
/* Streams of a cluster, unless it is for a page. */
#define STREAMS 100

static void input_json(struct lode_json *json, const struct lode_mine_report *report)
{
	const struct lode_area *area = report->area;
	enum lode_event_type kind = report->options->kind;

	lode_json_key_object(json, "input");
	lode_json_key_u64(json, "streams", area->stream_count);
	lode_json_key_u64(json, "events", area->input_events[kind]);
	if (area->recorded_events[kind] != area->input_events[kind])
		lode_json_key_u64(json, "recorded_events", area->recorded_events[kind]);
	lode_json_key_u64(json, "cost_ns", area->input_cost[kind]);
	lode_json_object_end(json);
}

static uint64_t distinct_stacks(const struct lode_area_rows *rows)
{
	uint64_t count = 0;

	for (size_t i = 0; i < rows->count; i++)
		count += !i || rows->items[i].stack != rows->items[i - 1].stack;
	return count;
}

static void rows_json(struct lode_json *json, const struct lode_area_rows *rows)
{
	lode_json_key_u64(json, "events", rows->events);
	lode_json_key_u64(json, "distinct_stacks", distinct_stacks(rows));
	lode_json_key_u64(json, "cost_ns", rows->cost);
}

/* Rows of two lists with equal stacks count once. */
static uint64_t distinct_stacks_of_both(const struct lode_area_rows *a, const struct lode_area_rows *b)
{
	uint64_t count = distinct_stacks(a) + distinct_stacks(b);
	size_t i = 0, k = 0;

	while (i < a->count && k < b->count) {
		uint32_t left = a->items[i].stack, right = b->items[k].stack;

		count -= left == right;
		while (left <= right && i < a->count && a->items[i].stack == left)
			i++;
		while (right <= left && k < b->count && b->items[k].stack == right)
			k++;
	}
	return count;
}

/* Everything that was counted separately, */
static void idle_json(struct lode_json *json, const struct lode_area *area, enum lode_event_type kind)
{
	const struct lode_area_rows none = { 0 }, *work = kind == LODE_WAIT ? &area->work : &none;

	lode_json_key_object(json, "idle");
	lode_json_key_u64(json, "events", area->idle[kind].events + work->events);
	lode_json_key_u64(json, "distinct_stacks", distinct_stacks_of_both(&area->idle[kind], work));
	lode_json_key_u64(json, "cost_ns", lode_add_saturating(area->idle[kind].cost, work->cost));
	lode_json_object_end(json);
}

/* and of that what was waiting for work. */
static void work_json(struct lode_json *json, const struct lode_mine_report *report)
{
	const struct lode_area *area = report->area;
	struct lode_mine_places places;

	lode_json_key_object(json, "waiting_for_work");
	rows_json(json, &area->work);
	lode_json_key_array(json, "places");
	json->buffer->failed |= lode_mine_find_places(report, &places) < 0;
	for (size_t i = 0; i < places.count; i++) {
		lode_json_object(json);
		lode_json_key(json, "frames");
		lode_stack_json(&area->dictionary, places.items[i].place, json);
		lode_json_key_u64(json, "events", places.items[i].events);
		lode_json_key_u64(json, "cost_ns", places.items[i].cost);
		lode_json_object_end(json);
	}
	lode_json_array_end(json);
	lode_json_object_end(json);
	lode_free(places.items);
}

static void symptoms_json(struct lode_json *json, const struct lode_area *area)
{
	struct lode_mine_symptoms symptoms = lode_mine_sum_symptoms(area);

	lode_json_key_object(json, "symptoms");
	lode_json_key_u64(json, "count", symptoms.count);
	lode_json_key_u64(json, "delay_ns", symptoms.delay);
	lode_json_key_u64(json, "unknown_ns", symptoms.unknown);
	if (area->scope == LODE_SCOPE_CRITICAL_PATH) {
		lode_json_key_u64(json, "waiting_ns", symptoms.waiting);
		lode_json_key_u64(json, "running_ns", symptoms.running);
		lode_json_key_u64(json, "ready_ns", symptoms.ready);
		lode_json_key_u64(json, "idle_ns", symptoms.idling);
	}
	lode_json_object_end(json);
}

/* What the recorded streams would have come to with all their events; only where some were left out. */
static void sampling_json(struct lode_json *json, const struct lode_metrics *metrics)
{
	struct lode_interval interval = lode_sampling_interval(metrics->cost, metrics->variance);

	if (metrics->variance <= 0)
		return;
	lode_json_key_u64(json, "sampling_low_ns", (uint64_t)interval.low);
	lode_json_key_u64(json, "sampling_high_ns", (uint64_t)interval.high);
}

static void metrics_json(struct lode_json *json, const struct lode_metrics *metrics)
{
	lode_json_key_u64(json, "cost_ns", metrics->cost);
	lode_json_key_u64(json, "events", metrics->events);
	lode_json_key_u64(json, "streams", metrics->streams);
	lode_json_key_u64(json, "average_ns", metrics->average);
}

static void pattern_json(struct lode_json *json, const struct lode_mine_report *report, size_t i)
{
	const struct lode_mined *mined = report->mined;

	lode_json_object(json);
	lode_json_key_text(json, "id", mined->pattern_groups[i].id);
	lode_json_key(json, "frames");
	lode_frames_list_json(&report->area->dictionary.frames, lode_pattern_frames(&mined->patterns, i),
			      mined->patterns.items[i].length, json);
	metrics_json(json, &mined->pattern_groups[i].metrics);
	sampling_json(json, &mined->pattern_groups[i].metrics);
	lode_json_object_end(json);
}

static void examples_json(struct lode_json *json, const struct lode_mine_report *report, size_t cluster)
{
	struct lode_mine_example examples[EXAMPLES];
	size_t count = lode_mine_examples(report, cluster, EXAMPLES, examples);

	lode_json_key_array(json, "examples");
	for (size_t i = 0; i < count; i++) {
		const struct lode_strings *strings = &report->area->dictionary.frames.strings;

		lode_json_object(json);
		lode_json_key_text(json, "stream", lode_strings_get(strings, examples[i].stream->name));
		lode_json_key_text(json, "stream_id", examples[i].stream->id);
		lode_json_key_text(json, "host", lode_strings_get(strings, examples[i].stream->host));
		lode_json_key_u64(json, "cost_ns", examples[i].cost);
		lode_json_key_u64(json, "events", examples[i].events);
		lode_json_key_u64(json, "t", examples[i].row->longest_t);
		lode_json_key_u64(json, "tid", examples[i].row->longest_thread);
		lode_json_key_u64(json, "longest_ns", examples[i].row->longest);
		lode_json_object_end(json);
	}
	lode_json_array_end(json);
}

static int by_cost(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return (a < b) - (a > b);
}

/* Marks the `most` costliest shares; among equal ones the first. NULL: all; also when memory has run out. */
static uint8_t *costliest_shares(const struct lode_shares *shares, size_t most)
{
	uint64_t *costs = shares->count > most ? lode_alloc(shares->count * sizeof(*costs)) : NULL;
	uint8_t *marks = costs ? lode_calloc(shares->count, 1) : NULL;
	size_t above = 0;

	for (size_t i = 0; marks && i < shares->count; i++)
		costs[i] = shares->items[i].cost;
	if (marks)
		qsort(costs, shares->count, sizeof(*costs), by_cost);
	while (marks && above < most && costs[above] > costs[most - 1])
		above++;
	for (size_t i = 0, equal = most - above; marks && i < shares->count; i++)
		marks[i] = shares->items[i].cost > costs[most - 1] ||
			   (shares->items[i].cost == costs[most - 1] && equal && equal--);
	lode_free(costs);
	return marks;
}

/* What it costs in streams, by place in `stream_ids`: place, ns, and so on. A page compares all of them. */
static void by_stream_json(struct lode_json *json, const struct lode_shares *shares, size_t most)
{
	uint8_t *marks = costliest_shares(shares, most);

	json->buffer->failed |= shares->count > most && !marks;
	lode_json_key_array(json, "by_stream");
	for (size_t i = 0; i < shares->count; i++) {
		if (marks && !marks[i])
			continue;
		lode_json_u64(json, shares->items[i].stream);
		lode_json_u64(json, shares->items[i].cost);
	}
	lode_json_array_end(json);
	lode_json_key_u64(json, "by_stream_left_out", shares->count > most ? shares->count - most : 0);
	lode_free(marks);
}

static void stream_ids_json(struct lode_json *json, const struct lode_area *area)
{
	lode_json_key_array(json, "stream_ids");
	for (size_t i = 0; i < area->stream_count; i++)
		lode_json_text(json, area->streams[i].id);
	lode_json_array_end(json);
}

static void cluster_json(struct lode_json *json, const struct lode_mine_report *report, size_t i)
{
	const struct lode_mined *mined = report->mined;
	const struct lode_pattern_cluster *cluster = &mined->clusters.items[i];
	const struct lode_mined_group *group = &mined->cluster_groups[i];
	uint64_t whole = report->area->rows[report->options->kind].cost;

	lode_json_object(json);
	lode_json_key_text(json, "id", group->id);
	lode_json_key_array(json, "patterns");
	for (size_t k = 0; k < cluster->count; k++)
		lode_json_text(json, mined->pattern_groups[mined->clusters.members[cluster->first + k]].id);
	lode_json_array_end(json);
	metrics_json(json, &group->metrics);
	lode_json_key_double(json, "share", whole ? (double)group->metrics.cost / (double)whole : 0);
	lode_json_key_u64_or_null(json, "low_ns", group->metrics.sure, group->metrics.low);
	lode_json_key_u64_or_null(json, "high_ns", group->metrics.sure, group->metrics.high);
	sampling_json(json, &group->metrics);
	lode_json_key(json, "common");
	lode_frames_list_json(&report->area->dictionary.frames, mined->common[i], mined->common_length[i], json);
	examples_json(json, report, i);
	by_stream_json(json, &group->shares, report->page ? SIZE_MAX : STREAMS);
	lode_json_object_end(json);
}

/* With a top only the patterns of the clusters that are shown. NULL: all; also when memory has run out. */
static uint8_t *shown_patterns(const struct lode_mine_report *report)
{
	const struct lode_mined *mined = report->mined;
	size_t shown = lode_mine_shown(report);
	uint8_t *marks = shown < mined->clusters.count ? lode_calloc(mined->patterns.count + 1, 1) : NULL;

	for (size_t i = 0; marks && i < shown; i++)
		for (size_t k = 0; k < mined->clusters.items[i].count; k++)
			marks[mined->clusters.members[mined->clusters.items[i].first + k]] = 1;
	return marks;
}

/* What is known of the frames in the patterns that are written; `shown` as above. */
static void frames_known_json(struct lode_json *json, const struct lode_mine_report *report, const uint8_t *shown)
{
	const struct lode_patterns *patterns = &report->mined->patterns;
	const struct lode_frames *frames = &report->area->dictionary.frames;
	uint8_t *marks = lode_calloc(frames->count + 1, 1);

	if (!marks) {
		json->buffer->failed = 1;
		return;
	}
	for (size_t i = 0; i < patterns->count; i++)
		for (uint32_t k = 0; (!shown || shown[i]) && k < patterns->items[i].length; k++)
			marks[lode_pattern_frames(patterns, i)[k]] = 1;
	lode_frame_facts_json(json, frames, marks, report->idle);
	lode_free(marks);
}

static void lists_json(struct lode_json *json, const struct lode_mine_report *report)
{
	const struct lode_mined *mined = report->mined;
	uint8_t *marks = shown_patterns(report);

	lode_json_key_u64(json, "patterns_total", mined->patterns.count);
	lode_json_key_u64(json, "clusters_total", mined->clusters.count);
	lode_json_key_array(json, "patterns");
	for (size_t i = 0; i < mined->patterns.count; i++)
		if (!marks || marks[i])
			pattern_json(json, report, i);
	lode_json_array_end(json);
	lode_json_key_array(json, "clusters");
	for (size_t i = 0; i < lode_mine_shown(report); i++)
		cluster_json(json, report, i);
	lode_json_array_end(json);
	frames_known_json(json, report, marks);
	lode_free(marks);
}

static void timing_json(struct lode_json *json, const struct lode_mine_report *report)
{
	const struct lode_mine_timing *timing = &report->mined->timing;

	lode_json_key_object(json, "timing");
	lode_json_key_u64(json, "reading_ns", report->read_time);
	lode_json_key_u64(json, "mining_ns", timing->mining);
	lode_json_key_u64(json, "clustering_ns", timing->clustering);
	lode_json_key_u64(json, "ranking_ns", timing->ranking);
	lode_json_key_u64(json, "prefixes", report->mined->patterns.prefixes);
	lode_json_object_end(json);
}

static const char *end_name(enum lode_miner_end end)
{
	static const char *const names[] = { "complete", "max-patterns", "interrupted" };

	return names[end];
}

void lode_mine_json(const struct lode_mine_report *report, struct lode_buffer *buffer)
{
	const struct lode_mine_options *options = report->options;
	const struct lode_area *area = report->area;
	struct lode_json json = { .buffer = buffer };

	lode_json_object(&json);
	lode_json_key_text(&json, "kind", options->both ? "both" : lode_event_type_name(options->kind));
	lode_json_key_text(&json, "scope", lode_scope_name(area->scope));
	lode_json_key_u64(&json, "threshold_ns", options->threshold);
	lode_json_key_double(&json, "similarity", options->similarity);
	lode_json_key_text(&json, "rank", lode_rank_name(options->rank));
	lode_json_key_bool(&json, "fold_recursion", options->fold_recursion);
	lode_json_key_text(&json, "end", end_name(report->mined->patterns.end));
	lode_json_key_bool(&json, "clustered", !report->mined->unclustered);
	input_json(&json, report);
	lode_unread_streams_json(&area->unread, &json);
	lode_json_key_object(&json, "area");
	rows_json(&json, &area->rows[options->kind]);
	lode_json_object_end(&json);
	idle_json(&json, area, options->kind);
	if (options->kind == LODE_WAIT)
		work_json(&json, report);
	symptoms_json(&json, area);
	if (report->only_new)
		lode_json_key_u64(&json, "covered_ns", report->covered);
	stream_ids_json(&json, area);
	lists_json(&json, report);
	if (report->timing)
		timing_json(&json, report);
	lode_json_object_end(&json);
	lode_json_line(&json);
}
