/*
 * Facts about frames: see frame_facts.h.
 */
#include "result/frame_facts.h"

#include "base/memory.h"
#include "latency/code_layer.h"

static void modules_json(struct lode_json *json, const struct lode_frames *frames, const uint8_t *marks)
{
	uint8_t *used = lode_calloc(frames->module_count + 1, 1);

	if (!used) {
		json->buffer->failed = 1;
		return;
	}
	for (size_t i = 0; i < frames->count; i++)
		used[frames->items[i].module] |= marks[i];
	lode_json_key_array(json, "modules");
	for (uint32_t i = 0; i < frames->module_count; i++) {
		const char *name = lode_strings_get(&frames->strings, frames->modules[i].name);

		if (!used[i] || !*name)
			continue;
		lode_json_object(json);
		lode_json_key_text(json, "name", name);
		lode_json_key_text(json, "layer", lode_layer_name(lode_layer_of(frames, i)));
		lode_json_object_end(json);
	}
	lode_json_array_end(json);
	lode_free(used);
}

static void plumbing_json(struct lode_json *json, const struct lode_frames *frames, const uint8_t *marks,
			  const struct lode_idle_stacks *idle)
{
	lode_json_key_array(json, "plumbing");
	for (uint32_t i = 0; i < frames->count; i++)
		if (marks[i] && lode_idle_ignores(idle, i))
			lode_frames_json(frames, i, json);
	lode_json_array_end(json);
}

void lode_frame_facts_json(struct lode_json *json, const struct lode_frames *frames, const uint8_t *marks,
			   const struct lode_idle_stacks *idle)
{
	modules_json(json, frames, marks);
	plumbing_json(json, frames, marks, idle);
}

void lode_frame_facts_mark(const struct lode_stack_tree *tree, uint32_t node, uint8_t *marks)
{
	for (; node; node = tree->nodes[node].parent)
		marks[tree->nodes[node].frame] = 1;
}
