/*
 * Fills the result of lode diff, and writes it as JSON. Paths may be many and deep: what is written leaves at once.
 * See diff_result.h.
 */
#include "result/diff_result.h"

#include "result/activity_result.h"

#include "latency/chance.h"
#include "result/written_frames.h"

#include <math.h>

static struct lode_diff_result_side side_of(const struct lode_diff_side *side)
{
	return (struct lode_diff_result_side){
		.corpus = side->corpus,
		.chosen = side->streams,
		.streams = side->latency->stream_count,
		.unread = lode_unread_part(&side->latency->unread),
		.events = side->latency->input.events,
		.instances = side->latency->instances,
		.states = lode_written_states(side->states),
	};
}

static struct lode_written frame_of(const struct lode_diff *diff, uint32_t node)
{
	return lode_written_frame(&diff->dictionary->frames, diff->dictionary->tree.nodes[node].frame);
}

/* ---- what differs as a whole ---- */

static int write_layers(const struct lode_written *self, struct lode_json *json)
{
	const struct lode_diff_layer *sums = self->from;

	lode_json_object(json);
	for (int i = 0; i < LODE_LAYERS; i++) {
		if (!sums[i].base_ns && !sums[i].slow_ns)
			continue;
		lode_json_key(json, lode_layer_name((enum lode_layer)i));
		lode_fields_write(&lode_diff_layer_fields, &sums[i], json);
	}
	lode_json_object_end(json);
	return 0;
}

/* What each layer takes on either side. */
static int sum_layers(const struct lode_diff *diff, struct lode_diff_layer sums[LODE_LAYERS])
{
	size_t nodes = diff->dictionary->tree.count;
	uint64_t base[LODE_LAYERS], slow[LODE_LAYERS];

	if (lode_layer_sums(diff->dictionary, diff->base, nodes, base) < 0 ||
	    lode_layer_sums(diff->dictionary, diff->slow, nodes, slow) < 0)
		return LODE_SYSTEM;
	for (int i = 0; i < LODE_LAYERS; i++)
		sums[i] = (struct lode_diff_layer){ base[i], slow[i] };
	return 0;
}

static struct lode_diff_probability probability_of(const struct lode_diff *diff, double p, double q)
{
	return (struct lode_diff_probability){ diff->chance.tested, p, q };
}

static struct lode_diff_result_cause cause_of(const struct lode_diff *diff)
{
	const struct lode_root_cause *cause = &diff->cause;
	const struct lode_frames *frames = &diff->dictionary->frames;
	uint32_t frame = diff->dictionary->tree.nodes[cause->node].frame;

	if (!cause->node)
		return (struct lode_diff_result_cause){ 0 };
	return (struct lode_diff_result_cause){
		.frame = frame_of(diff, cause->node),
		.module = lode_frames_module_name(frames, frame),
		.function = lode_frames_function(frames, frame),
		.layer = lode_layer_name(cause->layer),
		.internal = lode_layer_is_internal(cause->layer),
		.new = cause->is_new,
		.caller = cause->caller ? frame_of(diff, cause->caller) : (struct lode_written){ 0 },
		.delta_ns = cause->more,
		.sure = cause->sure,
		.probability = probability_of(diff, cause->p, cause->q),
	};
}

static double share_of(int64_t size, uint64_t whole)
{
	return size >= 0 && whole ? (double)size / (double)whole : NAN;
}

/* What the streams can show; null: not known. */
static struct lode_diff_evidence evidence_of(const struct lode_diff *diff)
{
	const struct lode_diff_chance *chance = &diff->chance;
	int streams_known = chance->streams_for_5 > 0 && chance->streams_for_5 < 1e15;

	return (struct lode_diff_evidence){
		.sure = lode_diff_is_sure(diff),
		.sure_paths = chance->sure_paths,
		.sure_functions = chance->sure_functions,
		.probability = probability_of(diff, chance->p, chance->q),
		.level = LODE_DIFF_LEVEL,
		.level_is_of = "all functions together",
		.power = LODE_CHANCE_POWER / 100.0,
		.has_detectable = chance->detectable >= 0,
		.detectable_ns = (uint64_t)chance->detectable,
		.detectable_share = share_of(chance->detectable, diff->base_whole),
		.has_detectable_path = chance->detectable_path >= 0,
		.detectable_path_ns = (uint64_t)chance->detectable_path,
		.detectable_path_share = share_of(chance->detectable_path, diff->base_whole),
		.has_streams = streams_known,
		.streams_for_5_percent = streams_known ? (uint64_t)chance->streams_for_5 : 0,
	};
}

static struct lode_diff_truth truth_of(const struct lode_diff_distance *distance)
{
	if (!distance)
		return (struct lode_diff_truth){ 0 };
	return (struct lode_diff_truth){ distance->path, distance->function, distance->path != 0 };
}

/* The first paths, of those with the same hottest function one each, as in the text. */
static int make_heat(const struct lode_diff_report *report, struct lode_heat *heat)
{
	size_t most = report->top && !report->for_page ? report->top : LODE_HEAT_JSON_ROWS;
	struct lode_diff_report all = *report;
	struct lode_diff_chosen chosen = { 0 };
	int code;

	all.top = 0;
	code = lode_diff_choose(&all, 0, &chosen);
	if (!code)
		code = lode_heat_of_diff(heat, &all, &chosen, most);
	lode_diff_chosen_release(&chosen);
	return code;
}

/* ---- paths ---- */

static int make_function(const struct lode_list *list, size_t i, void *item)
{
	const struct lode_diff_result *result = list->from;
	const struct lode_diff *diff = result->report->diff;
	const struct lode_diff_function *function = &result->functions->items[i];
	uint32_t node = function->node;

	*(struct lode_diff_result_function *)item = (struct lode_diff_result_function){
		.frame = frame_of(diff, node),
		.base_ns = diff->base[node],
		.slow_ns = diff->slow[node],
		.delta_ns = lode_diff_delta(diff, node),
		.whole_delta_ns = diff->more[node],
		.has_means = diff->base_means != NULL,
		.base_mean_ns = diff->base_means ? diff->base_means[node] : 0,
		.slow_mean_ns = diff->base_means ? diff->slow_means[node] : 0,
		.rank = function->rank,
		.distance = (int64_t)i - (int64_t)list->first,
		.layer = lode_layer_name(lode_layer_of_node(diff->dictionary, node)),
	};
	return 1;
}

static int make_path(const struct lode_list *list, size_t i, void *item)
{
	const struct lode_diff_result *result = list->from;
	const struct lode_diff_report *report = result->report;
	const struct lode_diff_path *path = &report->diff->paths[i];
	struct lode_diff_functions *functions = result->functions;
	size_t hottest = 0;

	if (report->fits && !report->fits[path->leaf])
		return 0;
	if (lode_diff_functions_of(report->diff, path, functions) < 0)
		return LODE_SYSTEM;
	while (hottest + 1 < functions->count && functions->items[hottest].node != path->hottest)
		hottest++;
	*(struct lode_diff_result_path *)item = (struct lode_diff_result_path){
		.rank = i + 1,
		.cost_ns = path->cost,
		.function_delta_ns = lode_diff_function_of(report->diff, path->hottest)->more,
		.new = path->is_new,
		.probability = probability_of(report->diff, path->p, path->q),
		.frames = { functions->count, result, hottest, make_function },
	};
	return 1;
}

/* ---- the whole ---- */

static int make_result(struct lode_diff_result *result, const struct lode_diff_report *report,
		       struct lode_diff_functions *functions)
{
	const struct lode_diff *diff = report->diff;

	*result = (struct lode_diff_result){
		.base = side_of(&report->base),
		.slow = side_of(&report->slow),
		.delta_ns = diff->difference,
		.tested = diff->chance.tested,
		.chance = evidence_of(diff),
		.layers = { .write = write_layers, .from = result->layer_sums },
		.has_cause = diff->cause.node != 0,
		.root_cause = cause_of(diff),
		.no_cause = lode_no_cause_name((unsigned)diff->no_cause),
		.has_truth = report->distance != NULL,
		.truth = truth_of(report->distance),
		.has_gate = report->gate != NULL,
		.paths_total = diff->path_count,
		.paths = { lode_diff_paths_end(report), result, 0, make_path },
		.report = report,
		.functions = functions,
	};
	if (report->gate)
		lode_gate_values_fill(&result->gate, diff, report->gate);
	if (sum_layers(diff, result->layer_sums) < 0 || make_heat(report, &result->heat_map) < 0)
		return LODE_SYSTEM;
	result->heat = lode_heat_values_of(&result->heat_map);
	return lode_diff_calls(report, &result->calls);
}

int lode_diff_json(const struct lode_diff_report *report, struct lode_output *output, struct lode_error *error)
{
	struct lode_diff_functions functions = { 0 };
	struct lode_diff_result result;
	int code = make_result(&result, report, &functions) < 0 ? lode_fail_memory(error) : 0;

	if (!code)
		code = lode_fields_flow(&lode_diff_fields, &result, output, error);
	lode_call_tree_part_release(&result.calls);
	lode_heat_release(&result.heat_map);
	lode_diff_functions_release(&functions);
	return code;
}
