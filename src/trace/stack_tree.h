/*
 * The stack tree: the one prefix tree that holds all stacks. A stack is a node
 * number; its frames are read from the leaf up to node 0, the empty stack. A
 * parent's number is always smaller than its children's, so one pass in order
 * of numbers goes down the tree and one in reverse goes up.
 */
#ifndef LODE_TRACE_STACK_TREE_H
#define LODE_TRACE_STACK_TREE_H

#include "base/hash_index.h"

/* Frames a stack may have. The tree takes more, but such a stream cannot be read again: importers cut longer stacks and say so. */
#define LODE_STACK_DEPTH_LIMIT 16384

struct lode_stack_node {
	uint32_t parent;
	uint32_t frame; /* LODE_NONE for node 0 */
};

struct lode_stack_tree {
	struct lode_stack_node *nodes;
	size_t count;
	size_t capacity;
	struct lode_index index; /* of the nodes below `indexed` that do not follow their parents at once; others are added on the first look-up */
	size_t indexed;
};

/* Returns 0 or LODE_SYSTEM. Afterwards node 0 is there. */
int lode_stack_tree_init(struct lode_stack_tree *tree);
void lode_stack_tree_release(struct lode_stack_tree *tree);
/* Makes room for `count` nodes in total, so that appending them moves nothing. Returns 0 or LODE_SYSTEM. */
int lode_stack_tree_reserve(struct lode_stack_tree *tree, size_t count);
/* The stack `parent` with `frame` called from it, added if new; LODE_NONE when memory has run out. */
uint32_t lode_stack_tree_child(struct lode_stack_tree *tree, uint32_t parent, uint32_t frame);
/*
 * The same where the caller knows that the stack is new, as those of a stream file are:
 * much quicker, since nothing is looked for.
 */
uint32_t lode_stack_tree_append(struct lode_stack_tree *tree, uint32_t parent, uint32_t frame);
/* Number of frames of a stack. */
uint32_t lode_stack_tree_depth(const struct lode_stack_tree *tree, uint32_t node);
/* Writes the frames of `node`, root first, into `frames`, which has room for lode_stack_tree_depth of them. */
void lode_stack_tree_frames(const struct lode_stack_tree *tree, uint32_t node, uint32_t *frames, uint32_t depth);

/* Whether `frame` called from `parent` has the number after it. */
static inline int lode_stack_tree_is_first_child(const struct lode_stack_tree *tree, uint32_t parent,
						 uint32_t frame)
{
	const struct lode_stack_node *node = tree->nodes + parent + 1;

	return (size_t)parent + 1 < tree->count && node->parent == parent && node->frame == frame;
}

/*
 * Asks for the memory that lode_stack_tree_child will need: first for the place in the index, and when that has come, for the
 * nodes to compare with.
 */
static inline void lode_stack_tree_prefetch(const struct lode_stack_tree *tree, uint32_t parent, uint32_t frame)
{
	lode_index_prefetch(&tree->index, lode_hash_pair(parent, frame));
	__builtin_prefetch(&tree->nodes[parent] + 1);
}

static inline void lode_stack_tree_prefetch_node(const struct lode_stack_tree *tree, uint32_t parent,
						 uint32_t frame)
{
	size_t probe = 0;
	uint32_t id = lode_index_next(&tree->index, lode_hash_pair(parent, frame), &probe);

	if (id != LODE_NONE)
		__builtin_prefetch(&tree->nodes[id]);
}

#endif
