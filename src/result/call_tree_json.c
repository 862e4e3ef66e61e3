/*
 * A call tree as JSON: see call_tree.h. Items follow their callers; an item's depth says
 * whose it is. With two sides each number is there twice.
 */
#include "result/call_tree.h"
#include "result/frame_facts.h"

static void put_sides(const struct lode_call_tree *tree, const char *slow_key, const char *base_key,
		      const uint64_t value[LODE_SIDES], struct lode_json *json)
{
	lode_json_key_u64(json, slow_key, value[LODE_SIDE_SLOW]);
	if (tree->input.own[LODE_SIDE_BASE])
		lode_json_key_u64(json, base_key, value[LODE_SIDE_BASE]);
}

static void put_frames(const struct lode_call_tree *tree, const struct lode_call_tree_item *item,
		       struct lode_json *json)
{
	const struct lode_dictionary *dictionary = tree->input.dictionary;

	lode_json_key_array(json, "frames");
	for (uint32_t i = item->length; i-- > 0;) {
		uint32_t node = item->last;

		for (uint32_t k = 0; k < i; k++)
			node = dictionary->tree.nodes[node].parent;
		lode_frames_json(&dictionary->frames, dictionary->tree.nodes[node].frame, json);
	}
	lode_json_array_end(json);
}

static void put_item(const struct lode_call_tree *tree, const struct lode_call_tree_item *item,
		     struct lode_json *json)
{
	const uint8_t *known = tree->input.known;

	lode_json_object(json);
	lode_json_key_u64(json, "depth", item->depth);
	put_frames(tree, item, json);
	put_sides(tree, "whole_ns", "base_whole_ns", item->whole, json);
	put_sides(tree, "own_ns", "base_own_ns", item->own, json);
	if (known && !known[item->last])
		lode_json_key_bool(json, "new", 1);
	if (item->hidden) {
		lode_json_key_u64(json, "hidden", item->hidden);
		put_sides(tree, "hidden_ns", "base_hidden_ns", item->rest, json);
	}
	lode_json_object_end(json);
}

static void put_tree(const struct lode_call_tree *tree, struct lode_json *json)
{
	lode_json_key_object(json, "tree");
	lode_json_key_u64(json, "least_ns", tree->input.least);
	lode_json_key_u64(json, "contexts", tree->contexts);
	lode_json_key_u64(json, "shown", tree->shown);
	put_sides(tree, "whole_ns", "base_whole_ns", tree->whole, json);
	put_sides(tree, "hidden_ns", "base_hidden_ns", tree->rest, json);
	lode_json_key_array(json, "items");
	for (size_t i = 0; i < tree->count; i++)
		put_item(tree, &tree->items[i], json);
	lode_json_array_end(json);
	lode_json_object_end(json);
}

static void put_facts(const struct lode_call_tree *tree, const struct lode_idle_rules *rules, uint8_t *marks,
		      struct lode_json *json)
{
	const struct lode_dictionary *dictionary = tree->input.dictionary;
	struct lode_idle_stacks *idle = NULL;

	if (!marks || lode_idle_stacks_make(&idle, rules, dictionary, NULL) < 0) {
		json->buffer->failed = 1;
		return;
	}
	for (size_t i = 0; i < tree->count; i++)
		lode_frame_facts_mark(&dictionary->tree, tree->items[i].last, marks);
	lode_frame_facts_json(json, &dictionary->frames, marks, idle);
	lode_idle_stacks_free(idle);
}

void lode_call_tree_result_json(const struct lode_call_tree *tree, const struct lode_idle_rules *rules,
				uint8_t *marks, struct lode_json *json)
{
	if (!rules) {
		put_tree(tree, json);
		return;
	}
	lode_json_key_object(json, "page");
	put_tree(tree, json);
	put_facts(tree, rules, marks, json);
	lode_json_object_end(json);
}
