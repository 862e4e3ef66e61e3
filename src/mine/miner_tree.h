/*
 * Weighted trees of the miner: the stacks that support a prefix, cut behind it.
 * Private to the miner; miner_tree.c says how they are made.
 */
#ifndef LODE_MINE_MINER_TREE_H
#define LODE_MINE_MINER_TREE_H

#include "base/memory.h"

/* A node of a tree in preorder; there is none for the empty stack. */
struct miner_node {
	uint64_t cost; /* of all stacks through it */
	uint32_t label;
	uint32_t end; /* one past its subtree */
};

/*
 * Functions that occur in a tree have small numbers of its own, labels. A node is
 * topmost when no node above it has the same label; the stacks that contain a
 * function are those below its topmost nodes.
 */
struct miner_label {
	uint64_t total;   /* the cost of its topmost nodes */
	uint32_t name;    /* its number in the tree of all stacks */
	uint32_t first;   /* its first topmost node */
	uint16_t covered; /* whether some other label is above each of its topmost nodes */
	uint16_t inner;   /* whether anything is below its topmost nodes */
	uint32_t unused;  /* 0 */
};

struct miner_tree {
	uint32_t count;  /* of nodes */
	uint32_t labels; /* their number */
	uint32_t height; /* nodes on the longest path */
	struct miner_node *nodes;
	uint32_t *next; /* by topmost node: the next topmost node of its label, or LODE_NONE */
	struct miner_label *label;
	size_t node_capacity;
	size_t label_capacity;
};

/* What is counted of a label on the way from one tree to the next. */
struct miner_tally {
	uint64_t sum;  /* cost of the topmost nodes */
	uint64_t rest; /* cost of the other nodes */
};

/* A node of the new tree before it is put into preorder. */
struct miner_loose_node {
	uint64_t cost;
	uint32_t label;
	uint32_t parent;  /* LODE_NONE: it is directly below the root */
	uint32_t child;   /* the first one, or LODE_NONE */
	uint32_t sibling; /* the next one, or LODE_NONE */
};

/* What a survey finds out about a label. */
struct miner_sight {
	double high;      /* cost of its topmost nodes, less the deeper they are */
	uint32_t last;    /* its last topmost node so far */
	uint16_t on_path; /* whether it is on the path to the current node */
	uint16_t above_count;
};

/* A place on the path to the node that is looked at. */
struct miner_step {
	uint32_t node;
	uint32_t end;
};

/* What one thread needs to make trees out of trees up to a size. */
struct miner_room {
	struct miner_tally *tally; /* by label of the source */
	uint32_t *last_end;        /* by the same: where the subtree of the last topmost node ends */
	uint32_t *map;             /* by the same: label in the new tree, or LODE_NONE */
	uint32_t *top;             /* by label of the new tree: its node right below the root */
	struct miner_sight *sight; /* by label of the tree that is surveyed */
	uint32_t *above;           /* by the same: labels above all its topmost nodes so far */
	struct miner_loose_node *loose;
	struct miner_step *path; /* by depth */
	uint64_t all_weight;     /* as counted last: cost of all nodes of labels that stay */
	uint32_t kept;           /* as counted last: labels that stay */
};

/* Returns 0 or LODE_SYSTEM; release in either case. */
int miner_room_init(struct miner_room *room, size_t nodes, size_t labels, size_t height);
void miner_room_release(struct miner_room *room);
void miner_tree_release(struct miner_tree *tree);
/* Makes room for a tree; what it held is lost. Returns 0 or LODE_SYSTEM. */
int miner_tree_reserve(struct miner_tree *tree, size_t nodes, size_t labels);

/*
 * Counts what is below the topmost nodes of `label` in `from` (LODE_NONE: the
 * whole tree) and decides which labels stay: those that cost at least the threshold.
 * Returns how many.
 */
uint32_t miner_tree_count(const struct miner_tree *from, uint32_t label, uint64_t threshold,
			  struct miner_room *room);
/* Makes `to` of what miner_tree_count has counted last. Returns 0 or LODE_SYSTEM. */
int miner_tree_make(struct miner_tree *to, const struct miner_tree *from, uint32_t label, struct miner_room *room);
/* Cuts off the first `count` nodes, each of which is the only child of the one before. */
void miner_tree_cut(struct miner_tree *tree, uint32_t count);
/* Takes the costs of all labels from what was counted last, of this tree and with no label to drop. */
void miner_tree_recount(struct miner_tree *tree, const struct miner_room *room);
/* Makes `to` a tree like a surveyed one, with memory of its own. Returns 0 or LODE_SYSTEM. */
int miner_tree_copy(struct miner_tree *to, const struct miner_tree *from);
/* Fills next, and first, covered and inner of the labels. The room's sights stay until the next call. */
void miner_tree_survey(struct miner_tree *tree, struct miner_room *room);

/* Sums of costs stop at UINT64_MAX. */
static inline uint64_t miner_add(uint64_t a, uint64_t b)
{
	uint64_t sum = a + b;

	return sum < a ? UINT64_MAX : sum;
}

#endif
