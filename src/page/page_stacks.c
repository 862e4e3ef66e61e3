/* The stacks of a page: see page_stacks.h. */
#include "page/page_stacks.h"

#include "base/memory.h"
#include "result/frame_facts.h"

#include <string.h>

/* Frames that nodes have, numbered in the order of the nodes; LODE_NONE: none has it. */
static void write_names(const struct lode_dictionary *dictionary, const uint32_t *numbers, uint32_t *frames,
			struct lode_json *head)
{
	uint32_t count = 0;

	memset(frames, 0xff, dictionary->frames.count * sizeof(*frames));
	lode_json_key_array(head, "names");
	for (size_t i = 1; i < dictionary->tree.count; i++) {
		uint32_t frame = dictionary->tree.nodes[i].frame;

		if ((numbers && numbers[i] == LODE_NONE) || frames[frame] != LODE_NONE)
			continue;
		frames[frame] = count++;
		lode_frames_json(&dictionary->frames, frame, head);
	}
	lode_json_array_end(head);
}

static void put_nodes(const struct lode_stack_tree *tree, const uint32_t *numbers, size_t count,
		      const uint32_t *frames, struct lode_page_columns *columns)
{
	/* A column's place may move when the next one is made: each is filled before that. */
	uint32_t *column = lode_page_columns_u32(columns, "node_parent", count);

	for (size_t i = 0; column && i < tree->count; i++)
		if (!numbers || numbers[i] != LODE_NONE)
			column[numbers ? numbers[i] : i] = !i        ? 0
							   : numbers ? numbers[tree->nodes[i].parent]
								     : tree->nodes[i].parent;
	column = lode_page_columns_u32(columns, "node_frame", count);
	for (size_t i = 0; column && i < tree->count; i++)
		if (!numbers || numbers[i] != LODE_NONE)
			column[numbers ? numbers[i] : i] = i ? frames[tree->nodes[i].frame] : 0;
}

void lode_page_stacks_write(const struct lode_dictionary *dictionary, const uint32_t *numbers, size_t count,
			    const struct lode_idle_stacks *idle, struct lode_page_columns *columns,
			    struct lode_json *head)
{
	const struct lode_frames *frames = &dictionary->frames;
	uint32_t *places = lode_calloc(frames->count + 1, sizeof(*places));
	uint8_t *used = lode_calloc(frames->count + 1, 1);

	if (places && used) {
		write_names(dictionary, numbers, places, head);
		for (size_t i = 0; i < frames->count; i++)
			used[i] = places[i] != LODE_NONE;
		lode_frame_facts_json(head, frames, used, idle);
		put_nodes(&dictionary->tree, numbers, numbers ? count : dictionary->tree.count, places, columns);
	}
	head->buffer->failed |= !places || !used;
	lode_free(places);
	lode_free(used);
}

int lode_page_stacks_share(struct lode_page_stacks *stacks, const struct lode_dictionary *from,
			   struct lode_dictionary_map *map, struct lode_error *error)
{
	if (!stacks->begun && lode_dictionary_init(&stacks->dictionary) < 0)
		return lode_fail_memory(error);
	stacks->begun = 1;
	return lode_dictionary_merge(&stacks->dictionary, from, map) < 0 ? lode_fail_memory(error) : 0;
}

int lode_page_stacks_block(const struct lode_page_stacks *stacks, const struct lode_idle_rules *rules,
			   struct lode_buffer *out, struct lode_error *error)
{
	struct lode_page_columns columns = { 0 };
	struct lode_idle_stacks *idle = NULL;
	struct lode_buffer head = { 0 };
	struct lode_json json = { .buffer = &head };
	int code = lode_idle_stacks_make(&idle, rules, &stacks->dictionary, error);

	if (code)
		return code;
	lode_json_object(&json);
	lode_page_stacks_write(&stacks->dictionary, NULL, 0, idle, &columns, &json);
	lode_page_columns_code(&columns);
	lode_page_columns_json(&columns, &json);
	lode_json_object_end(&json);
	lode_page_columns_pack(&columns, &head, out);
	lode_page_columns_release(&columns);
	lode_buffer_release(&head);
	lode_idle_stacks_free(idle);
	return out->failed ? lode_fail_memory(error) : 0;
}

void lode_page_stacks_release(struct lode_page_stacks *stacks)
{
	if (stacks->begun)
		lode_dictionary_release(&stacks->dictionary);
	stacks->begun = 0;
}
