/* The stack tree: see stack_tree.h. */
#include "trace/stack_tree.h"

#include "base/error.h"

#include <string.h>

int lode_stack_tree_init(struct lode_stack_tree *tree)
{
	memset(tree, 0, sizeof(*tree));
	if (lode_grow(&tree->nodes, &tree->capacity, 1, sizeof(*tree->nodes)) < 0)
		return LODE_SYSTEM;
	tree->nodes[0] = (struct lode_stack_node){ 0, LODE_NONE };
	tree->count = 1;
	return 0;
}

void lode_stack_tree_release(struct lode_stack_tree *tree)
{
	lode_free(tree->nodes);
	lode_index_release(&tree->index);
	memset(tree, 0, sizeof(*tree));
}

int lode_stack_tree_reserve(struct lode_stack_tree *tree, size_t count)
{
	if (lode_grow(&tree->nodes, &tree->capacity, count, sizeof(*tree->nodes)) < 0)
		return LODE_SYSTEM;
	return lode_index_reserve(&tree->index, count);
}

uint32_t lode_stack_tree_child(struct lode_stack_tree *tree, uint32_t parent, uint32_t frame)
{
	uint64_t hash = lode_hash_pair(parent, frame);
	size_t probe = 0;
	uint32_t id;

	if (parent == LODE_NONE || frame == LODE_NONE)
		return LODE_NONE;
	while ((id = lode_index_next(&tree->index, hash, &probe)) != LODE_NONE)
		if (tree->nodes[id].parent == parent && tree->nodes[id].frame == frame)
			return id;
	if (tree->count >= LODE_NONE ||
	    lode_grow(&tree->nodes, &tree->capacity, tree->count + 1, sizeof(*tree->nodes)) < 0 ||
	    lode_index_insert(&tree->index, hash, (uint32_t)tree->count) < 0)
		return LODE_NONE;
	tree->nodes[tree->count] = (struct lode_stack_node){ parent, frame };
	return (uint32_t)tree->count++;
}

uint32_t lode_stack_tree_depth(const struct lode_stack_tree *tree, uint32_t node)
{
	uint32_t depth = 0;

	for (; node; node = tree->nodes[node].parent)
		depth++;
	return depth;
}

void lode_stack_tree_frames(const struct lode_stack_tree *tree, uint32_t node, uint32_t *frames, uint32_t depth)
{
	for (; node && depth; node = tree->nodes[node].parent)
		frames[--depth] = tree->nodes[node].frame;
}
