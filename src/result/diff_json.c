/*
 * The result of lode diff as JSON. Paths may be many and deep: what is written leaves at
 * once.
 */
#include "result/diff_report.h"

#include "base/json.h"
#include "latency/chance.h"
#include "result/heat.h"
#include "result/unread_fields.h"

#include <math.h>

struct writer {
	const struct lode_diff_report *report;
	struct lode_json json;
	struct lode_diff_functions functions;
};

static void put_frame(struct writer *writer, const char *key, uint32_t node)
{
	const struct lode_dictionary *dictionary = writer->report->diff->dictionary;

	lode_json_key(&writer->json, key);
	lode_frames_json(&dictionary->frames, dictionary->tree.nodes[node].frame, &writer->json);
}

static void put_side(struct writer *writer, const char *key, const struct lode_diff_side *side)
{
	lode_json_key_object(&writer->json, key);
	lode_json_key_text(&writer->json, "corpus", side->corpus);
	if (side->streams)
		lode_json_key_text(&writer->json, "chosen", side->streams);
	lode_json_key_u64(&writer->json, "streams", side->latency->stream_count);
	lode_unread_streams_json(&side->latency->unread, &writer->json);
	lode_json_key_u64(&writer->json, "events", side->latency->input.events);
	lode_json_key_u64(&writer->json, "instances", side->latency->instances);
	lode_json_object_end(&writer->json);
}

/* What each layer takes on either side. */
static int put_layers(struct writer *writer)
{
	const struct lode_diff *diff = writer->report->diff;
	size_t nodes = diff->dictionary->tree.count;
	uint64_t base[LODE_LAYERS], slow[LODE_LAYERS];

	if (lode_layer_sums(diff->dictionary, diff->base, nodes, base) < 0 ||
	    lode_layer_sums(diff->dictionary, diff->slow, nodes, slow) < 0)
		return LODE_SYSTEM;
	lode_json_key_object(&writer->json, "layers");
	for (int i = 0; i < LODE_LAYERS; i++) {
		if (!base[i] && !slow[i])
			continue;
		lode_json_key_object(&writer->json, lode_layer_name((enum lode_layer)i));
		lode_json_key_u64(&writer->json, "base_ns", base[i]);
		lode_json_key_u64(&writer->json, "slow_ns", slow[i]);
		lode_json_object_end(&writer->json);
	}
	lode_json_object_end(&writer->json);
	return 0;
}

static void put_chance(struct writer *writer, double p, double q)
{
	if (!writer->report->diff->chance.tested)
		return;
	lode_json_key_double(&writer->json, "p", p);
	lode_json_key_double(&writer->json, "q", q);
}

static void put_cause(struct writer *writer)
{
	const struct lode_root_cause *cause = &writer->report->diff->cause;
	const struct lode_dictionary *dictionary = writer->report->diff->dictionary;
	uint32_t frame;

	lode_json_key(&writer->json, "root_cause");
	if (!cause->node) {
		lode_json_null(&writer->json);
		return;
	}
	frame = dictionary->tree.nodes[cause->node].frame;
	lode_json_object(&writer->json);
	put_frame(writer, "frame", cause->node);
	lode_json_key_text(&writer->json, "module", lode_frames_module_name(&dictionary->frames, frame));
	lode_json_key_text(&writer->json, "function", lode_frames_function(&dictionary->frames, frame));
	lode_json_key_text(&writer->json, "layer", lode_layer_name(cause->layer));
	lode_json_key_bool(&writer->json, "internal", lode_layer_is_internal(cause->layer));
	lode_json_key_bool(&writer->json, "new", cause->is_new);
	if (cause->caller)
		put_frame(writer, "caller", cause->caller);
	lode_json_key_i64(&writer->json, "delta_ns", cause->more);
	lode_json_key_bool(&writer->json, "sure", cause->sure);
	put_chance(writer, cause->p, cause->q);
	lode_json_object_end(&writer->json);
}

static void put_detectable(struct writer *writer, const char *key, const char *share_key, int64_t size)
{
	uint64_t whole = writer->report->diff->base_whole;

	lode_json_key_u64_or_null(&writer->json, key, size >= 0, (uint64_t)size);
	lode_json_key_double(&writer->json, share_key, size >= 0 && whole ? (double)size / (double)whole : NAN);
}

/* What the streams can show; null: not known. */
static void put_evidence(struct writer *writer)
{
	const struct lode_diff *diff = writer->report->diff;
	const struct lode_diff_chance *chance = &diff->chance;
	int streams_known = chance->streams_for_5 > 0 && chance->streams_for_5 < 1e15;

	lode_json_key_object(&writer->json, "chance");
	lode_json_key_bool(&writer->json, "sure", lode_diff_is_sure(diff));
	lode_json_key_u64(&writer->json, "sure_paths", chance->sure_paths);
	put_chance(writer, chance->p, chance->q);
	lode_json_key_double(&writer->json, "level", LODE_DIFF_LEVEL);
	lode_json_key_text(&writer->json, "level_is_of", "all paths together");
	lode_json_key_double(&writer->json, "power", LODE_CHANCE_POWER / 100.0);
	put_detectable(writer, "detectable_ns", "detectable_share", chance->detectable);
	put_detectable(writer, "detectable_path_ns", "detectable_path_share", chance->detectable_path);
	lode_json_key_u64_or_null(&writer->json, "streams_for_5_percent", streams_known,
				  streams_known ? (uint64_t)chance->streams_for_5 : 0);
	lode_json_object_end(&writer->json);
}

static void put_distance(struct writer *writer)
{
	const struct lode_diff_distance *distance = writer->report->distance;

	if (!distance)
		return;
	lode_json_key_object(&writer->json, "truth");
	lode_json_key_u64_or_null(&writer->json, "p_min", distance->path != 0, distance->path);
	lode_json_key_u64_or_null(&writer->json, "f_min", distance->path != 0, distance->function);
	lode_json_object_end(&writer->json);
}

/* The first paths, of those with the same hottest function one each, as in the text. */
static int put_heat(struct writer *writer)
{
	size_t most = writer->report->top && !writer->report->page ? writer->report->top : LODE_HEAT_JSON_ROWS;
	struct lode_diff_report all = *writer->report;
	struct lode_diff_chosen chosen = { 0 };
	struct lode_heat heat = { 0 };
	int code;

	all.top = 0;
	code = lode_diff_choose(&all, 0, &chosen);
	if (!code)
		code = lode_heat_of_diff(&heat, &all, &chosen, most);
	lode_json_key(&writer->json, "heat");
	lode_heat_json(&heat, "delta_ns", &writer->json);
	lode_heat_release(&heat);
	lode_diff_chosen_release(&chosen);
	return code;
}

/* `distance` is from the hottest function, below 0 for callers. */
static void put_function(struct writer *writer, const struct lode_diff_function *function, int64_t distance)
{
	const struct lode_diff *diff = writer->report->diff;

	lode_json_object(&writer->json);
	put_frame(writer, "frame", function->node);
	lode_json_key_u64(&writer->json, "base_ns", diff->base[function->node]);
	lode_json_key_u64(&writer->json, "slow_ns", diff->slow[function->node]);
	lode_json_key_i64(&writer->json, "delta_ns", lode_diff_delta(diff, function->node));
	lode_json_key_i64(&writer->json, "whole_delta_ns", diff->more[function->node]);
	if (diff->base_means) {
		lode_json_key_double(&writer->json, "base_mean_ns", diff->base_means[function->node]);
		lode_json_key_double(&writer->json, "slow_mean_ns", diff->slow_means[function->node]);
	}
	lode_json_key_u64(&writer->json, "rank", function->rank);
	lode_json_key_i64(&writer->json, "distance", distance);
	lode_json_key_text(&writer->json, "layer",
			   lode_layer_name(lode_layer_of_node(diff->dictionary, function->node)));
	lode_json_object_end(&writer->json);
}

static int put_path(struct writer *writer, const struct lode_diff_path *path, size_t rank)
{
	size_t hottest = 0;

	if (lode_diff_functions_of(writer->report->diff, path, &writer->functions) < 0)
		return LODE_SYSTEM;
	while (hottest + 1 < writer->functions.count && writer->functions.items[hottest].node != path->hottest)
		hottest++;
	lode_json_object(&writer->json);
	lode_json_key_u64(&writer->json, "rank", rank);
	lode_json_key_i64(&writer->json, "cost_ns", path->cost);
	lode_json_key_bool(&writer->json, "new", path->is_new);
	put_chance(writer, path->p, path->q);
	lode_json_key_array(&writer->json, "frames");
	for (size_t i = 0; i < writer->functions.count; i++)
		put_function(writer, &writer->functions.items[i], (int64_t)i - (int64_t)hottest);
	lode_json_array_end(&writer->json);
	lode_json_object_end(&writer->json);
	return 0;
}

static int put_paths(struct writer *writer, struct lode_output *output, struct lode_error *error)
{
	const struct lode_diff_report *report = writer->report;
	const struct lode_diff *diff = report->diff;
	size_t shown = 0;
	int code = 0;

	lode_json_key_array(&writer->json, "paths");
	for (size_t i = 0; !code && i < diff->path_count && (!report->top || shown < report->top); i++) {
		if (report->fits && !report->fits[diff->paths[i].leaf])
			continue;
		shown++;
		code = put_path(writer, &diff->paths[i], i + 1) < 0 ? lode_fail_memory(error)
								    : lode_output_flow(output, error);
	}
	lode_json_array_end(&writer->json);
	return code;
}

int lode_diff_json(const struct lode_diff_report *report, struct lode_output *output, struct lode_error *error)
{
	struct writer writer = { .report = report, .json = { .buffer = &output->buffer } };
	int code;

	lode_json_object(&writer.json);
	put_side(&writer, "base", &report->base);
	put_side(&writer, "slow", &report->slow);
	lode_json_key_i64(&writer.json, "delta_ns", report->diff->difference);
	lode_json_key_bool(&writer.json, "tested", report->diff->chance.tested);
	put_evidence(&writer);
	code = put_layers(&writer) < 0 ? lode_fail_memory(error) : 0;
	put_cause(&writer);
	put_distance(&writer);
	lode_json_key_u64(&writer.json, "paths_total", report->diff->path_count);
	if (!code && put_heat(&writer) < 0)
		code = lode_fail_memory(error);
	if (!code)
		code = put_paths(&writer, output, error);
	if (!code)
		lode_diff_tree_json(report, &writer.json);
	lode_json_object_end(&writer.json);
	lode_json_line(&writer.json);
	lode_diff_functions_release(&writer.functions);
	return code;
}
