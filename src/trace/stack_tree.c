/* The stack tree: see stack_tree.h. */
#include "trace/stack_tree.h"

#include "base/error.h"

#include <string.h>

int lode_stack_tree_init(struct lode_stack_tree *tree)
{
	memset(tree, 0, sizeof(*tree));
	if (LODE_GROW(tree->nodes, tree->capacity, 1) < 0)
		return LODE_SYSTEM;
	tree->nodes[0] = (struct lode_stack_node){ 0, LODE_NONE };
	tree->count = tree->indexed = 1;
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
	return LODE_GROW(tree->nodes, tree->capacity, count);
}

static int is_child(const struct lode_stack_tree *tree, uint32_t id, uint32_t parent, uint32_t frame)
{
	return tree->nodes[id].parent == parent && tree->nodes[id].frame == frame;
}

/*
 * Makes the index cover all nodes. Children that follow their parents at once, which most
 * do, are found without it and are not in it: so it is small, and mostly in the cache.
 */
static int complete_index(struct lode_stack_tree *tree)
{
	for (; tree->indexed < tree->count; tree->indexed++) {
		const struct lode_stack_node *node = &tree->nodes[tree->indexed];

		if ((size_t)node->parent + 1 == tree->indexed)
			continue;
		if (lode_index_insert(&tree->index, lode_hash_pair(node->parent, node->frame),
				      (uint32_t)tree->indexed) < 0)
			return LODE_SYSTEM;
	}
	return 0;
}

uint32_t lode_stack_tree_append(struct lode_stack_tree *tree, uint32_t parent, uint32_t frame)
{
	if (tree->count >= LODE_NONE || LODE_GROW(tree->nodes, tree->capacity, tree->count + 1) < 0)
		return LODE_NONE;
	tree->nodes[tree->count] = (struct lode_stack_node){ parent, frame };
	return (uint32_t)tree->count++;
}

uint32_t lode_stack_tree_child(struct lode_stack_tree *tree, uint32_t parent, uint32_t frame)
{
	uint64_t hash;
	size_t probe = 0;
	uint32_t id;

	if (parent == LODE_NONE || frame == LODE_NONE)
		return LODE_NONE;
	/* Stacks come frame by frame, so the first child of a node mostly follows it at once. */
	if (lode_stack_tree_is_first_child(tree, parent, frame))
		return parent + 1;
	if (tree->indexed < tree->count && complete_index(tree) < 0)
		return LODE_NONE;
	hash = lode_hash_pair(parent, frame);
	while ((id = lode_index_next(&tree->index, hash, &probe)) != LODE_NONE)
		if (is_child(tree, id, parent, frame))
			return id;
	id = lode_stack_tree_append(tree, parent, frame);
	if (id == LODE_NONE)
		return LODE_NONE;
	if (id != parent + 1 && lode_index_insert(&tree->index, hash, id) < 0) {
		tree->count--;
		return LODE_NONE;
	}
	tree->indexed++;
	return id;
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
