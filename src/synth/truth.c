/*
 * The truth about a generated corpus, as JSON: the bugs with their key frames, the
 * ways to them and what they cost where; the streams with their delays.
 */
#include "base/json.h"
#include "synth/model.h"
#include "synth/synth.h"

#include <stdio.h>

/* The stack of the first leaf of each way to the bug, as a host without emulation and scanner has it. */
static void put_variants(struct lode_json *json, const struct lode_synth_model *model,
			 const struct lode_synth_bug *bug)
{
	const struct lode_dictionary *dictionary = &model->code.dictionary;
	uint32_t frames[1024];

	lode_json_key_array(json, "variants");
	for (uint32_t i = 0; i < bug->variants; i++) {
		uint32_t node = model->leaves[bug->variant[i].site.first];
		uint32_t depth = lode_stack_tree_depth(&dictionary->tree, node);

		if (depth > 1024)
			continue;
		lode_stack_tree_frames(&dictionary->tree, node, frames, depth);
		lode_json_array(json);
		for (uint32_t level = 0; level < depth; level++)
			lode_frames_json(&dictionary->frames, frames[level], json);
		lode_json_array_end(json);
	}
	lode_json_array_end(json);
}

static void put_name(struct lode_json *json, size_t stream)
{
	char name[32];

	snprintf(name, sizeof(name), LODE_SYNTH_STREAM_NAME, stream);
	lode_json_key_text(json, "name", name);
}

static void put_cost(struct lode_json *json, const struct lode_synth_cost *cost)
{
	lode_json_key_u64(json, "cost_ns", cost->cost);
	lode_json_key_u64(json, "events", cost->events);
	lode_json_key_u64(json, "whole_ns", cost->whole);
}

static void put_streams_of_bug(struct lode_json *json, const struct lode_synth_truth *truth, size_t bug)
{
	const struct lode_synth_options *options = &truth->model->options;

	lode_json_key_array(json, "streams");
	for (size_t stream = 0; stream < options->streams; stream++) {
		if (!lode_synth_is_planted(truth->model, bug, stream))
			continue;
		lode_json_object(json);
		put_name(json, stream);
		put_cost(json, &truth->costs[stream * options->bugs + bug]);
		lode_json_object_end(json);
	}
	lode_json_array_end(json);
}

static struct lode_synth_cost sum(const struct lode_synth_truth *truth, size_t bug)
{
	const struct lode_synth_options *options = &truth->model->options;
	struct lode_synth_cost all = { 0 };

	for (size_t stream = 0; stream < options->streams; stream++) {
		const struct lode_synth_cost *cost = &truth->costs[stream * options->bugs + bug];

		all.cost += cost->cost;
		all.events += cost->events;
		all.whole += cost->whole;
	}
	return all;
}

static void put_bug(struct lode_json *json, const struct lode_synth_truth *truth, size_t number)
{
	const struct lode_synth_bug *bug = &truth->model->bugs[number];
	struct lode_synth_cost cost = sum(truth, number);

	lode_json_object(json);
	lode_json_key_text(json, "name", bug->name);
	lode_json_key_text(json, "type", lode_synth_bug_type_name(bug->type));
	lode_json_key_text(json, "kind", lode_event_type_name(lode_synth_bug_kind(bug)));
	lode_json_key_array(json, "key");
	for (size_t i = 0; i < LODE_SYNTH_KEY; i++)
		lode_frames_json(&truth->model->code.dictionary.frames, bug->key[i], json);
	lode_json_array_end(json);
	put_variants(json, truth->model, bug);
	put_cost(json, &cost);
	put_streams_of_bug(json, truth, number);
	lode_json_object_end(json);
}

static void put_stream(struct lode_json *json, const struct lode_synth_truth *truth, size_t number)
{
	const struct lode_synth_made *made = &truth->made[number];

	lode_json_object(json);
	put_name(json, number);
	lode_json_key_u64(json, "events", made->events);
	lode_json_key_u64(json, "symptoms", made->symptoms);
	lode_json_key_u64(json, "delay_ns", made->delay);
	lode_json_key_u64(json, "longest_ns", made->longest);
	lode_json_object_end(json);
}

void lode_synth_truth_json(const struct lode_synth_truth *truth, struct lode_buffer *buffer)
{
	const struct lode_synth_options *options = &truth->model->options;
	struct lode_json json = { .buffer = buffer };

	lode_json_object(&json);
	lode_json_key_u64(&json, "seed", options->seed);
	lode_json_key_array(&json, "bugs");
	for (size_t i = 0; i < options->bugs; i++)
		put_bug(&json, truth, i);
	lode_json_array_end(&json);
	lode_json_key_array(&json, "streams");
	for (size_t i = 0; i < options->streams; i++)
		put_stream(&json, truth, i);
	lode_json_array_end(&json);
	lode_json_object_end(&json);
	lode_json_line(&json);
}
