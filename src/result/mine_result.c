/*
 * Fills the result of lode mine, and writes it as JSON: whole, unless a top was requested, and then it says how much
 * there is. See mine_result.h.
 */
#include "result/mine_result.h"

#include "result/written_frames.h"
#include "result/written_shares.h"

/* ---- sums ---- */

static struct lode_mine_input input_of(const struct lode_area *area, enum lode_event_type kind)
{
	return (struct lode_mine_input){
		.streams = area->stream_count,
		.events = area->input_events[kind],
		.thinned = area->recorded_events[kind] != area->input_events[kind],
		.recorded_events = area->recorded_events[kind],
		.cost_ns = area->input_cost[kind],
	};
}

static uint64_t distinct_stacks(const struct lode_area_rows *rows)
{
	uint64_t count = 0;

	for (size_t i = 0; i < rows->count; i++)
		count += !i || rows->items[i].stack != rows->items[i - 1].stack;
	return count;
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

static struct lode_mine_events events_of(const struct lode_area_rows *rows)
{
	return (struct lode_mine_events){ rows->events, distinct_stacks(rows), rows->cost };
}

/* Everything that was counted separately. */
static struct lode_mine_events idle_of(const struct lode_area *area, enum lode_event_type kind)
{
	const struct lode_area_rows none = { 0 }, *work = kind == LODE_WAIT ? &area->work : &none;

	return (struct lode_mine_events){
		area->idle[kind].events + work->events,
		distinct_stacks_of_both(&area->idle[kind], work),
		lode_add_saturating(area->idle[kind].cost, work->cost),
	};
}

static struct lode_mine_sampling sampling_of(const struct lode_metrics *metrics)
{
	struct lode_interval interval = lode_sampling_interval(metrics->cost, metrics->variance);

	if (metrics->variance <= 0)
		return (struct lode_mine_sampling){ 0 };
	return (struct lode_mine_sampling){ 1, (uint64_t)interval.low, (uint64_t)interval.high };
}

static struct lode_mine_times times_of(const struct lode_mine_report *report)
{
	const struct lode_mine_timing *timing = &report->mined->timing;

	return (struct lode_mine_times){ report->read_time, timing->mining, timing->clustering, timing->ranking,
					 report->mined->patterns.prefixes };
}

/* ---- lists ---- */

static int make_place(const struct lode_list *list, size_t i, void *item)
{
	const struct lode_mine_result *result = list->from;
	const struct lode_mine_place *place = &result->places.items[i];

	*(struct lode_mine_work_place *)item = (struct lode_mine_work_place){
		.frames = lode_written_stack(&result->report->area->dictionary, place->place),
		.events = place->events,
		.cost_ns = place->cost,
	};
	return 1;
}

static int make_stream_id(const struct lode_list *list, size_t i, void *item)
{
	const struct lode_area *area = list->from;

	*(const char **)item = area->streams[i].id;
	return 1;
}

static int make_pattern(const struct lode_list *list, size_t i, void *item)
{
	const struct lode_mine_result *result = list->from;
	const struct lode_mined *mined = result->report->mined;
	const struct lode_mined_group *group = &mined->pattern_groups[i];

	if (result->shown_patterns && !result->shown_patterns[i])
		return 0;
	*(struct lode_mine_pattern *)item = (struct lode_mine_pattern){
		.id = group->id,
		.frames = lode_written_frames(&result->report->area->dictionary.frames,
					      lode_pattern_frames(&mined->patterns, i),
					      mined->patterns.items[i].length),
		.metrics = group->metrics,
		.sampling = sampling_of(&group->metrics),
	};
	return 1;
}

/* ---- a cluster ---- */

static int make_member(const struct lode_list *list, size_t i, void *item)
{
	const struct lode_mined *mined = list->from;

	*(const char **)item = mined->pattern_groups[mined->clusters.members[list->first + i]].id;
	return 1;
}

static struct lode_list examples_of(const struct lode_mine_report *report, size_t cluster,
				    struct lode_mine_cluster_example *items)
{
	const struct lode_strings *strings = &report->area->dictionary.frames.strings;
	struct lode_mine_example examples[LODE_MINE_EXAMPLES];
	size_t count = lode_mine_examples(report, cluster, LODE_MINE_EXAMPLES, examples);

	for (size_t i = 0; i < count; i++)
		items[i] = (struct lode_mine_cluster_example){
			.stream = lode_strings_get(strings, examples[i].stream->name),
			.stream_id = examples[i].stream->id,
			.host = lode_strings_get(strings, examples[i].stream->host),
			.cost_ns = examples[i].cost,
			.events = examples[i].events,
			.t = examples[i].row->longest_t,
			.tid = examples[i].row->longest_thread,
			.longest_ns = examples[i].row->longest,
		};
	return lode_list_of(items, count);
}

static int make_cluster(const struct lode_list *list, size_t i, void *item)
{
	const struct lode_mine_report *report = list->from;
	const struct lode_mined *mined = report->mined;
	const struct lode_pattern_cluster *members = &mined->clusters.items[i];
	const struct lode_mined_group *group = &mined->cluster_groups[i];
	uint64_t whole = report->area->rows[report->options->kind].cost;
	size_t most = report->for_page ? SIZE_MAX : LODE_LISTED_STREAMS, streams = group->shares.count;
	struct lode_mine_cluster *cluster = item;

	cluster->id = group->id;
	cluster->patterns = (struct lode_list){ members->count, mined, members->first, make_member };
	cluster->metrics = group->metrics;
	cluster->share = whole ? (double)group->metrics.cost / (double)whole : 0;
	cluster->sampling = sampling_of(&group->metrics);
	cluster->common =
		lode_written_frames(&report->area->dictionary.frames, mined->common[i], mined->common_length[i]);
	cluster->examples = examples_of(report, i, cluster->example);
	cluster->by_stream = lode_written_shares(&group->shares, most);
	cluster->by_stream_left_out = streams > most ? streams - most : 0;
	cluster->has_gain = report->gains && group->gain_target;
	if (cluster->has_gain)
		cluster->gain =
			(struct lode_gain_all_and_half){ *lode_gain_of(report->gains, group->gain_target - 1, 0),
							 *lode_gain_of(report->gains, group->gain_target - 1, 1) };
	return 1;
}

/* ---- the whole ---- */

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

/* Marks the frames of the patterns that are shown; NULL when memory has run out. */
static uint8_t *shown_frames(const struct lode_mine_report *report, const uint8_t *shown)
{
	const struct lode_patterns *patterns = &report->mined->patterns;
	uint8_t *marks = lode_calloc(report->area->dictionary.frames.count + 1, 1);

	for (size_t i = 0; marks && i < patterns->count; i++)
		for (uint32_t k = 0; (!shown || shown[i]) && k < patterns->items[i].length; k++)
			marks[lode_pattern_frames(patterns, i)[k]] = 1;
	return marks;
}

static int make_lists(struct lode_mine_result *result)
{
	const struct lode_mine_report *report = result->report;
	size_t clusters = lode_mine_shown(report);

	result->patterns = (struct lode_list){ report->mined->patterns.count, result, 0, make_pattern };
	result->clusters = (struct lode_list){ clusters, report, 0, make_cluster };
	result->shown_patterns = shown_patterns(report);
	if (!result->shown_patterns && clusters < report->mined->clusters.count)
		return LODE_SYSTEM;
	result->shown_frames = shown_frames(report, result->shown_patterns);
	if (!result->shown_frames)
		return LODE_SYSTEM;
	return lode_frame_facts_make(&result->facts, &report->area->dictionary.frames, result->shown_frames,
				     report->idle);
}

int lode_mine_result_make(struct lode_mine_result *result, const struct lode_mine_report *report)
{
	const struct lode_mine_options *options = report->options;
	const struct lode_area *area = report->area;

	*result = (struct lode_mine_result){
		.kind = lode_mine_kind_name(options),
		.scope = lode_scope_name(area->scope),
		.threshold_ns = options->threshold,
		.similarity = options->similarity,
		.rank = lode_rank_name(options->rank),
		.fold_recursion = options->fold_recursion,
		.end = lode_miner_end_name(report->mined->patterns.end),
		.clustered = !report->mined->unclustered,
		.input = input_of(area, options->kind),
		.unread = lode_unread_part(&area->unread),
		.area = events_of(&area->rows[options->kind]),
		.idle = idle_of(area, options->kind),
		.has_work = options->kind == LODE_WAIT,
		.symptoms = lode_mine_sum_symptoms(area),
		.only_new = report->only_new,
		.covered_ns = report->covered,
		.stream_ids = { area->stream_count, area, 0, make_stream_id },
		.patterns_total = report->mined->patterns.count,
		.clusters_total = report->mined->clusters.count,
		.has_replay = report->gains != NULL,
		.has_timing = report->timing,
		.timing = times_of(report),
		.report = report,
	};
	if (report->gains)
		result->replay = lode_gain_replay_of(report->gains, report->cpus);
	if (result->has_work && lode_mine_find_places(report, &result->places) < 0)
		return LODE_SYSTEM;
	result->waiting_for_work = (struct lode_mine_work){
		events_of(&area->work),
		{ result->places.count, result, 0, make_place },
	};
	if (lode_findings_result_make(&result->findings, area, report->findings, report->top,
				      report->for_page ? SIZE_MAX : LODE_LISTED_STREAMS) < 0)
		return LODE_SYSTEM;
	result->findings.has_hint = report->findings && report->hint;
	result->findings.hint = report->hint;
	return make_lists(result);
}

void lode_mine_result_release(struct lode_mine_result *result)
{
	lode_findings_result_release(&result->findings);
	lode_frame_facts_release(&result->facts);
	lode_free(result->places.items);
	lode_free(result->shown_patterns);
	lode_free(result->shown_frames);
}

void lode_mine_json(const struct lode_mine_report *report, struct lode_buffer *buffer)
{
	struct lode_mine_result result;

	if (lode_mine_result_make(&result, report) < 0)
		buffer->failed = 1;
	else
		lode_fields_line(&lode_mine_fields, &result, buffer);
	lode_mine_result_release(&result);
}
