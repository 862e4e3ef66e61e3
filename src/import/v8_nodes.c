/* The call tree of V8's CPU profiles: see v8_nodes.h. */
#include "import/v8_nodes.h"

#include "base/memory.h"

#include <string.h>

void lode_v8_nodes_release(struct lode_v8_nodes *nodes)
{
	lode_index_release(&nodes->index);
	lode_free(nodes->items);
	lode_free(nodes->chain);
}

static int fail(struct lode_v8_nodes *nodes, const char *what)
{
	return lode_fail(nodes->import->error, LODE_BAD_INPUT, "%s: %s", lode_input_name(nodes->import->input),
			 what);
}

static uint32_t find_node(const struct lode_v8_nodes *nodes, uint64_t id)
{
	size_t probe = 0;
	uint32_t node;

	while ((node = lode_index_next(&nodes->index, lode_hash_u64(id), &probe)) != LODE_NONE)
		if (nodes->items[node].id == id)
			return node;
	return LODE_NONE;
}

static int add_node(struct lode_v8_nodes *nodes, struct lode_json_value object)
{
	static const char *const keys[] = { "id", "callFrame", "children", "parent" };
	struct lode_json_value values[4], name;
	struct lode_v8_node node = { .parent = LODE_NONE, .stack = LODE_NONE };

	lode_json_get_all(object, keys, values, 4);
	node.id = lode_json_u64_or(values[0], UINT64_MAX);
	node.call = values[1];
	node.children = values[2];
	node.parent_id = lode_json_u64_or(values[3], UINT64_MAX);
	name = lode_json_get(node.call, "functionName");
	if (node.id == UINT64_MAX || lode_json_kind(name) != LODE_JSON_TEXT)
		return fail(nodes, "a node has no `id` or no `functionName`");
	if (find_node(nodes, node.id) != LODE_NONE)
		return fail(nodes, "two nodes have the same `id`");
	if (nodes->count >= LODE_NONE - 1 ||
	    lode_grow(&nodes->items, &nodes->capacity, nodes->count + 1, sizeof(*nodes->items)) < 0 ||
	    lode_index_insert(&nodes->index, lode_hash_u64(node.id), (uint32_t)nodes->count) < 0)
		return lode_fail_memory(nodes->import->error);
	node.is_idle = lode_json_is_text(name, "(idle)");
	nodes->items[nodes->count++] = node;
	return 0;
}

/* `children` of a node are ids. */
static int join_children(struct lode_v8_nodes *nodes, size_t parent)
{
	struct lode_json_walk walk = lode_json_walk(nodes->items[parent].children);
	struct lode_json_value child;

	while (lode_json_item(&walk, &child)) {
		uint32_t node = find_node(nodes, lode_json_u64_or(child, UINT64_MAX));

		if (node == LODE_NONE)
			return fail(nodes, "a node has a child that is not in `nodes`");
		nodes->items[node].parent = (uint32_t)parent;
	}
	return 0;
}

int lode_v8_nodes_add(struct lode_v8_nodes *nodes, struct lode_json_value list)
{
	struct lode_json_walk walk = lode_json_walk(list);
	struct lode_json_value object;
	size_t first = nodes->count;
	int code = 0;

	while (code == 0 && lode_json_item(&walk, &object))
		code = add_node(nodes, object);
	for (size_t i = first; code == 0 && i < nodes->count; i++)
		if (nodes->items[i].parent_id != UINT64_MAX)
			nodes->items[i].parent = find_node(nodes, nodes->items[i].parent_id);
	for (size_t i = first; code == 0 && i < nodes->count; i++)
		code = join_children(nodes, i);
	return code;
}

static int make_stack(struct lode_v8_nodes *nodes, struct lode_v8_node *node)
{
	struct lode_json_import *import = nodes->import;
	const struct lode_v8_node *parent = node->parent == LODE_NONE ? NULL : &nodes->items[node->parent];
	const char *function = lode_json_string(lode_json_get(node->call, "functionName"), &import->text);
	const char *url = lode_json_string(lode_json_get(node->call, "url"), &import->file);
	uint32_t frame;

	if (!function || !url)
		return lode_fail_memory(import->error);
	node->depth = parent ? parent->depth + 1 : 0;
	if (node->depth > LODE_STACK_DEPTH_LIMIT) {
		nodes->cut++;
		node->stack = parent->stack;
		return 0;
	}
	if (!parent && strcmp(function, "(root)") == 0) {
		node->stack = 0;
		return 0;
	}
	frame = lode_json_frame(&import->dictionary.frames, function, url);
	if (frame != LODE_NONE)
		node->stack = lode_stack_tree_child(&import->dictionary.tree, parent ? parent->stack : 0, frame);
	return node->stack == LODE_NONE ? lode_fail_memory(import->error) : 0;
}

/* Makes the stacks of a node and of all above it that have none yet. */
static int make_stacks(struct lode_v8_nodes *nodes, uint32_t node)
{
	size_t length = 0;
	int code = 0;

	for (; node != LODE_NONE && nodes->items[node].stack == LODE_NONE; node = nodes->items[node].parent) {
		if (length >= nodes->count)
			return fail(nodes, "its nodes are parents of each other in a circle");
		if (lode_grow(&nodes->chain, &nodes->chain_capacity, length + 1, sizeof(*nodes->chain)) < 0)
			return lode_fail_memory(nodes->import->error);
		nodes->chain[length++] = node;
	}
	while (code == 0 && length)
		code = make_stack(nodes, &nodes->items[nodes->chain[--length]]);
	return code;
}

int lode_v8_nodes_find(struct lode_v8_nodes *nodes, struct lode_json_value id, const struct lode_v8_node **node)
{
	uint32_t number = find_node(nodes, lode_json_u64_or(id, UINT64_MAX));
	int code;

	if (number == LODE_NONE)
		return fail(nodes, "a sample names a node that is not in `nodes`");
	code = make_stacks(nodes, number);
	*node = &nodes->items[number];
	return code;
}
