/*
 * Weighted trees of the miner: the stacks that support a prefix, cut behind it.
 * Private to the miner; miner_tree.c tells how they are made.
 */
#ifndef LODE_MINE_MINER_TREE_H
#define LODE_MINE_MINER_TREE_H

#include "base/memory.h"

/*
 * Functions that occur in a tree have small numbers of its own, labels. A node is
 * topmost when no node above it has the same label; the stacks that contain a
 * function are those below its topmost nodes.
 */
struct miner_tree {
	uint32_t nodes;
	uint32_t labels;
	uint32_t height;  /* nodes on the longest path */
	uint32_t *label;  /* by node, in preorder; there is no node for the empty stack */
	uint32_t *end;    /* by node: one past its subtree */
	uint64_t *cost;   /* by node: of all stacks through it */
	uint32_t *next;   /* by topmost node: the next topmost node of its label, or LODE_NONE */
	uint32_t *names;  /* by label: its number in the tree of all stacks */
	uint64_t *total;  /* by label: the cost of its topmost nodes */
	uint32_t *first;  /* by label: its first topmost node */
	uint8_t *covered; /* by label: some other label stands above each of its topmost nodes */
	size_t node_capacity;
	size_t label_capacity;
};

/* What one thread needs to make trees out of trees no larger than `nodes`, `labels` and `height`. */
struct miner_room {
	uint32_t *last_end;    /* by label of the source: where the subtree of its last topmost node ends */
	uint32_t *map;         /* by label of the source: label in the new tree, or LODE_NONE */
	uint64_t *sum;         /* by label of the source: cost of the topmost nodes */
	uint64_t *weight;      /* by label of the source: cost of all nodes */
	uint32_t *last;        /* by label of the new tree: its last topmost node so far */
	uint32_t *top;         /* by label of the new tree: its node right below the root */
	uint8_t *on_path;      /* by label of the new tree: stands on the path to the node looked at */
	uint32_t *above;       /* by label of the new tree: labels that stood above all its topmost nodes so far */
	uint8_t *above_count;  /* by label of the new tree: how many those are */
	double *high;          /* by label of the new tree: cost of its topmost nodes, less the deeper they stand */
	uint32_t *label;       /* by node of the new tree before it is put into preorder, as all that follow */
	uint32_t *parent;
	uint32_t *child;
	uint32_t *sibling;
	uint64_t *cost;
	uint32_t *stack_end;   /* by depth */
	uint32_t *stack_node;
	uint64_t all_weight;   /* of the last tree that was counted: cost of all nodes of labels that stay */
};

int miner_room_init(struct miner_room *room, size_t nodes, size_t labels, size_t height);
void miner_room_release(struct miner_room *room);
void miner_tree_release(struct miner_tree *tree);
/* Makes room for a tree; what it held is lost. Returns 0 or LODE_SYSTEM. */
int miner_tree_reserve(struct miner_tree *tree, size_t nodes, size_t labels);

/*
 * Counts what stands below the topmost nodes of `label` in `from` (LODE_NONE: the
 * whole tree) and decides which labels stay: those that cost the threshold.
 * Returns how many.
 */
uint32_t miner_tree_count(const struct miner_tree *from, uint32_t label, uint64_t threshold,
			  struct miner_room *room);
/* Makes `to` of what miner_tree_count has counted last. Returns 0 or LODE_SYSTEM. */
int miner_tree_make(struct miner_tree *to, const struct miner_tree *from, uint32_t label, int fold,
		    struct miner_room *room);
/* Cuts off the first `count` nodes, each of which is the only child of the one before. */
void miner_tree_cut(struct miner_tree *tree, uint32_t count);
/* Takes the costs of all labels from what was counted last, of this tree and with no label to drop. */
void miner_tree_recount(struct miner_tree *tree, const struct miner_room *room);
/* Makes `to` a tree like a surveyed one, with memory of its own. Returns 0 or LODE_SYSTEM. */
int miner_tree_copy(struct miner_tree *to, const struct miner_tree *from);
/* Fills next, first and covered of the tree, and high of the room. */
void miner_tree_survey(struct miner_tree *tree, struct miner_room *room);

/* Sums of costs stop at UINT64_MAX. */
static inline uint64_t miner_add(uint64_t a, uint64_t b)
{
	uint64_t sum = a + b;

	return sum < a ? UINT64_MAX : sum;
}

#endif
