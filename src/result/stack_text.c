/* Stack text: see stack_text.h. */
#include "result/stack_text.h"

#include "base/json.h"

#include <string.h>

static int quote_frames(struct lode_stack_text *text, const struct lode_frames *frames)
{
	struct lode_buffer plain = { 0 };
	struct lode_json json = { .buffer = &text->quoted };
	int failed;

	for (size_t i = 0; i < frames->count; i++) {
		lode_buffer_clear(&plain);
		lode_frames_text(frames, (uint32_t)i, &plain);
		if (plain.failed)
			break;
		text->starts[i] = text->quoted.size;
		lode_json_text_n(&json, plain.bytes ? plain.bytes : "", plain.size);
		lode_buffer_byte(&text->quoted, ',');
	}
	text->starts[frames->count] = text->quoted.size;
	failed = plain.failed || text->quoted.failed;
	lode_buffer_release(&plain);
	return failed ? LODE_SYSTEM : 0;
}

static size_t frame_length(const struct lode_stack_text *text, uint32_t frame)
{
	return text->starts[frame + 1] - text->starts[frame];
}

int lode_stack_text_init(struct lode_stack_text *text, const struct lode_dictionary *dictionary,
			 struct lode_error *error)
{
	const struct lode_stack_tree *tree = &dictionary->tree;

	memset(text, 0, sizeof(*text));
	text->starts = lode_calloc(dictionary->frames.count + 1, sizeof(*text->starts));
	text->lengths = lode_calloc(tree->count, sizeof(*text->lengths));
	if (!text->starts || !text->lengths || quote_frames(text, &dictionary->frames) < 0) {
		lode_stack_text_release(text);
		return lode_fail_memory(error);
	}
	for (size_t i = 1; i < tree->count; i++)
		text->lengths[i] = text->lengths[tree->nodes[i].parent] + frame_length(text, tree->nodes[i].frame);
	return 0;
}

void lode_stack_text_release(struct lode_stack_text *text)
{
	lode_buffer_release(&text->quoted);
	lode_free(text->starts);
	lode_free(text->lengths);
	memset(text, 0, sizeof(*text));
}

char *lode_stack_text_put(const struct lode_stack_text *text, const struct lode_stack_tree *tree, uint32_t node,
			  char *at)
{
	char *place = at + text->lengths[node];
	char *end = node ? place - 1 : at; /* without the last comma */

	while (node) {
		uint32_t frame = tree->nodes[node].frame;
		size_t length = frame_length(text, frame);

		place -= length;
		memcpy(place, text->quoted.bytes + text->starts[frame], length);
		node = tree->nodes[node].parent;
	}
	return end;
}
