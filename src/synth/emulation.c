/* From the model's stacks to a stream's: see emulation.h. */
#include "synth/emulation.h"

#include "base/error.h"

#include <string.h>

/* No stack of the model is near so deep. */
#define DEEPEST 1024

int lode_synth_translator_init(struct lode_synth_translator *translator, const struct lode_synth_model *model,
			       struct lode_dictionary *dictionary)
{
	const struct lode_dictionary *from = &model->code.dictionary;

	memset(translator, 0, sizeof(*translator));
	translator->model = model;
	translator->dictionary = dictionary;
	translator->nodes = lode_realloc(NULL, from->tree.count, sizeof(*translator->nodes));
	translator->frames = lode_realloc(NULL, from->frames.count, sizeof(*translator->frames));
	if (!translator->nodes || !translator->frames)
		return LODE_SYSTEM;
	memset(translator->nodes, 0xff, from->tree.count * sizeof(*translator->nodes));
	memset(translator->frames, 0xff, from->frames.count * sizeof(*translator->frames));
	translator->nodes[0] = 0;
	return 0;
}

void lode_synth_translator_release(struct lode_synth_translator *translator)
{
	lode_free(translator->nodes);
	lode_free(translator->frames);
	translator->nodes = NULL;
	translator->frames = NULL;
}

static uint32_t translate_frame(struct lode_synth_translator *translator, uint32_t frame)
{
	const struct lode_frames *from = &translator->model->code.dictionary.frames;
	struct lode_frames *to = &translator->dictionary->frames;
	const char *module, *function;
	uint32_t id;

	if (translator->frames[frame] != LODE_NONE)
		return translator->frames[frame];
	module = lode_frames_module_name(from, frame);
	function = lode_frames_function(from, frame);
	id = lode_frames_module(to, module, strlen(module));
	if (id != LODE_NONE)
		translator->frames[frame] = lode_frames_add(to, id, function, strlen(function));
	return translator->frames[frame];
}

static uint32_t push(struct lode_synth_translator *translator, uint32_t node, uint32_t frame)
{
	uint32_t translated = translate_frame(translator, frame);

	if (node == LODE_NONE || translated == LODE_NONE)
		return LODE_NONE;
	return lode_stack_tree_child(&translator->dictionary->tree, node, translated);
}

/* `frame` of the model called from `node` of the stream, and the host's blocks before it. */
static uint32_t step(struct lode_synth_translator *translator, uint32_t node, uint32_t frame, int emulated)
{
	const struct lode_synth_model *model = translator->model;

	if (frame == model->system_call && emulated && translator->emulates)
		for (uint32_t i = 0; i < model->thunk_count; i++)
			node = push(translator, node, model->thunk[i]);
	if (frame == model->file_look_up && translator->scans)
		for (uint32_t i = 0; i < model->scanner_count; i++)
			node = push(translator, node, model->scanner[i]);
	return push(translator, node, frame);
}

/* From the leaf up to the nearest node that is known, and down again. */
uint32_t lode_synth_translate_new(struct lode_synth_translator *translator, uint32_t leaf)
{
	const struct lode_stack_node *from = translator->model->code.dictionary.tree.nodes;
	uint32_t path[DEEPEST], node = leaf, length = 0, result;

	while (translator->nodes[node] == LODE_NONE && length < DEEPEST) {
		path[length++] = node;
		node = from[node].parent;
	}
	result = translator->nodes[node];
	while (length-- && result != LODE_NONE) {
		result = step(translator, result, from[path[length]].frame,
			      translator->model->code.emulated[path[length]]);
		translator->nodes[path[length]] = result;
	}
	return result;
}
