/* The call tree of V8's CPU profiles: see v8_nodes.h. */
#include "import/json/v8_nodes.h"

#include "base/memory.h"

void lode_v8_nodes_release(struct lode_v8_nodes *nodes)
{
	lode_index_release(&nodes->index);
	lode_free(nodes->items);
	lode_free(nodes->leaves);
	lode_free(nodes->calls);
	lode_stack_memo_release(&nodes->call_memo);
	lode_free(nodes->chain);
}

static uint32_t find_node(const struct lode_v8_nodes *nodes, uint64_t id)
{
	if (id - 1 < nodes->counted)
		return (uint32_t)(id - 1);
	return LODE_INDEX_FIND(i, &nodes->index, lode_hash_u64(id), nodes->items[i].id == id);
}

static int add_call(struct lode_v8_nodes *nodes, struct lode_json_value text, size_t size, uint64_t hash)
{
	struct lode_json_value name = lode_json_get(text, "functionName");
	struct lode_stack_memo_item item = { .bytes = (const unsigned char *)text.at, .size = (uint32_t)size };
	size_t count = nodes->call_memo.count;

	if (lode_json_kind(name) != LODE_JSON_TEXT)
		return lode_json_reject(nodes->import, "a node has no `id` or no `functionName`");
	item.node = (uint32_t)count;
	if (lode_grow(&nodes->calls, &nodes->call_capacity, count + 1, sizeof(*nodes->calls)) < 0 ||
	    lode_stack_memo_add(&nodes->call_memo, &item, hash) < 0)
		return lode_fail_memory(nodes->import->error);
	nodes->calls[count] = (struct lode_v8_call){ .text = text,
						     .frame = LODE_NONE,
						     .is_idle = lode_json_is_text(name, "(idle)"),
						     .is_root = lode_json_is_text(name, "(root)") };
	return 0;
}

/* The number of a call; a node has the same one wherever its function was called from. */
static int find_call(struct lode_v8_nodes *nodes, struct lode_json_value text, uint32_t *call)
{
	size_t size = lode_json_length(text);
	uint64_t hash = lode_hash_bytes(text.at ? text.at : "", size);
	const struct lode_stack_memo_item *known =
		lode_stack_memo_find(&nodes->call_memo, (const unsigned char *)text.at, size, hash);

	*call = known ? known->node : (uint32_t)nodes->call_memo.count;
	if (!known && size > UINT32_MAX)
		return lode_json_reject(nodes->import, "a `callFrame` is too long");
	return known ? 0 : add_call(nodes, text, size, hash);
}

/* Adds the node that `list` is at, and passes it. */
static int add_node(struct lode_v8_nodes *nodes, struct lode_json_walk *list)
{
	static const char *const keys[] = { "id", "callFrame", "children", "parent" };
	struct lode_json_value object, values[4];
	struct lode_v8_node node = { .parent = LODE_NONE };
	struct lode_json_walk walk;
	int code;

	lode_json_peek(list, &object);
	walk = lode_json_get_all(object, keys, values, 4);
	lode_json_pass(list, &walk);
	node.id = lode_json_u64_or(values[0], UINT64_MAX);
	node.children = values[2];
	node.parent_id = lode_json_u64_or(values[3], UINT64_MAX);
	code = find_call(nodes, values[1], &node.call);
	if (code < 0)
		return code;
	if (node.id == UINT64_MAX)
		return lode_json_reject(nodes->import, "a node has no `id` or no `functionName`");
	if (find_node(nodes, node.id) != LODE_NONE)
		return lode_json_reject(nodes->import, "two nodes have the same `id`");
	if (nodes->count >= LODE_NONE - 1 || LODE_RESERVE(nodes, 1) < 0 ||
	    lode_grow(&nodes->leaves, &nodes->leaf_capacity, nodes->count + 1, sizeof(*nodes->leaves)) < 0)
		return lode_fail_memory(nodes->import->error);
	if (nodes->counted == nodes->count && node.id == nodes->count + 1)
		nodes->counted++;
	else if (lode_index_insert(&nodes->index, lode_hash_u64(node.id), (uint32_t)nodes->count) < 0)
		return lode_fail_memory(nodes->import->error);
	nodes->leaves[nodes->count] = (struct lode_v8_leaf){ LODE_NONE, nodes->calls[node.call].is_idle };
	nodes->items[nodes->count++] = node;
	return 0;
}

/* `children` of a node are ids. */
static int join_children(struct lode_v8_nodes *nodes, size_t parent)
{
	struct lode_json_walk walk = lode_json_walk(nodes->items[parent].children);
	struct lode_json_value child;
	uint64_t id;

	while (lode_json_item_u64(&walk, &child, UINT64_MAX, &id)) {
		uint32_t node = find_node(nodes, id);

		if (node == LODE_NONE)
			return lode_json_reject(nodes->import, "a node has a child that is not in `nodes`");
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

	while (code == 0 && lode_json_peek(&walk, &object))
		code = add_node(nodes, &walk);
	for (size_t i = first; code == 0 && i < nodes->count; i++)
		if (nodes->items[i].parent_id != UINT64_MAX)
			nodes->items[i].parent = find_node(nodes, nodes->items[i].parent_id);
	for (size_t i = first; code == 0 && i < nodes->count; i++)
		code = join_children(nodes, i);
	return code;
}

/* One without a name has its line, counted from 1, as in recordings (process/languages/v8_names.h). */
static const char *name_function(struct lode_v8_call *call, struct lode_buffer *buffer)
{
	uint64_t line = lode_json_u64_or(lode_json_get(call->text, "lineNumber"), UINT32_MAX);
	const char *name = lode_json_string(lode_json_get(call->text, "functionName"), buffer);

	if (!name || *name || line >= UINT32_MAX)
		return name;
	lode_buffer_clear(buffer);
	lode_buffer_print(buffer, "(anonymous):%u", (unsigned)line + 1);
	lode_buffer_byte(buffer, '\0');
	return buffer->failed ? NULL : buffer->bytes;
}

static uint32_t make_frame(struct lode_v8_nodes *nodes, struct lode_v8_call *call)
{
	struct lode_json_import *import = nodes->import;
	const char *function, *url;

	if (call->frame != LODE_NONE)
		return call->frame;
	function = name_function(call, &import->text);
	url = lode_json_string(lode_json_get(call->text, "url"), &import->file);
	if (function && url)
		call->frame = lode_json_frame(&import->dictionary.frames, function, url);
	return call->frame;
}

static int make_stack(struct lode_v8_nodes *nodes, uint32_t number)
{
	struct lode_json_import *import = nodes->import;
	struct lode_v8_node *node = &nodes->items[number];
	const struct lode_v8_node *parent = node->parent == LODE_NONE ? NULL : &nodes->items[node->parent];
	uint32_t callers = parent ? nodes->leaves[node->parent].stack : 0, *stack = &nodes->leaves[number].stack;
	struct lode_v8_call *call = &nodes->calls[node->call];
	uint32_t frame;

	node->depth = parent ? parent->depth + 1 : 0;
	if (node->depth > LODE_STACK_DEPTH_LIMIT) {
		nodes->cut++;
		*stack = callers;
		return 0;
	}
	if (!parent && call->is_root) {
		*stack = 0;
		return 0;
	}
	frame = make_frame(nodes, call);
	if (frame != LODE_NONE)
		*stack = lode_stack_tree_child(&import->dictionary.tree, callers, frame);
	return *stack == LODE_NONE ? lode_fail_memory(import->error) : 0;
}

/* Makes the stacks of a node and of all above it that have none yet. */
static int make_stacks(struct lode_v8_nodes *nodes, uint32_t node)
{
	size_t length = 0;
	int code = 0;

	for (; node != LODE_NONE && nodes->leaves[node].stack == LODE_NONE; node = nodes->items[node].parent) {
		if (length >= nodes->count)
			return lode_json_reject(nodes->import, "its nodes are parents of each other in a circle");
		if (LODE_APPEND(nodes->chain, length, nodes->chain_capacity, node) < 0)
			return lode_fail_memory(nodes->import->error);
	}
	while (code == 0 && length)
		code = make_stack(nodes, nodes->chain[--length]);
	return code;
}

uint32_t lode_v8_nodes_number(const struct lode_v8_nodes *nodes, uint64_t id)
{
	uint32_t number = find_node(nodes, id);

	if (number != LODE_NONE)
		__builtin_prefetch(&nodes->leaves[number]);
	return number;
}

int lode_v8_nodes_leaf(struct lode_v8_nodes *nodes, uint32_t number, struct lode_v8_leaf *leaf)
{
	int code = 0;

	if (number == LODE_NONE)
		return lode_json_reject(nodes->import, "a sample names a node that is not in `nodes`");
	if (nodes->leaves[number].stack == LODE_NONE)
		code = make_stacks(nodes, number);
	*leaf = nodes->leaves[number];
	return code;
}

int lode_v8_nodes_find(struct lode_v8_nodes *nodes, struct lode_json_value id, struct lode_v8_leaf *leaf)
{
	return lode_v8_nodes_leaf(nodes, lode_v8_nodes_number(nodes, lode_json_u64_or(id, UINT64_MAX)), leaf);
}
