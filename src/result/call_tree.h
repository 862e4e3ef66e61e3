/*
 * Call tree: the annotated stack tree of one side, or of both overlaid, reduced to what is
 * worth showing (the paper's Figures 5 and 6).
 *
 * It has only costly functions: those that take a minimum time, including everything they
 * call, on one side or the other; an item says how much was left out below it. Callers that
 * have one costly callee and little own time are folded into one item, since real stacks
 * are deep, and most frames only lead to the point where something happens.
 */
#ifndef LODE_RESULT_CALL_TREE_H
#define LODE_RESULT_CALL_TREE_H

#include "scope/idle.h"
#include "trace/dictionary.h"

/* The sides; one side alone is LODE_SIDE_SLOW. */
enum lode_side { LODE_SIDE_BASE, LODE_SIDE_SLOW, LODE_SIDES };

struct lode_call_tree_input {
	const struct lode_dictionary *dictionary;
	const uint64_t *own[LODE_SIDES]; /* by node, ns (per stream when there are two); base NULL: one side */
	size_t node_count;
	const uint8_t *fits;  /* by node: counts; NULL: all do */
	const uint8_t *known; /* by node: the base has it; NULL: one side */
	uint32_t cause;       /* node that is never folded; 0: none */
	uint64_t least;       /* ns: what takes less is left out */
	int unfolded;         /* each function is an item */
};

/* A function, or a row of functions that call one another. */
struct lode_call_tree_item {
	uint32_t first; /* nodes */
	uint32_t last;
	uint32_t length;            /* functions */
	uint32_t depth;             /* of items */
	uint64_t whole[LODE_SIDES]; /* of the first function, ns */
	uint64_t own[LODE_SIDES];   /* of all its functions */
	uint32_t hidden;            /* functions called by the last one that are left out */
	uint64_t rest[LODE_SIDES];  /* what these take */
};

struct lode_call_tree {
	struct lode_call_tree_input input;
	uint8_t *fits;                     /* freed with it; NULL: none of its own */
	struct lode_call_tree_item *items; /* callers first; of siblings the costliest first */
	size_t count;
	size_t capacity;
	uint64_t whole[LODE_SIDES]; /* of all roots, also those left out */
	uint64_t rest[LODE_SIDES];  /* of roots that are left out */
	size_t contexts;            /* nodes that take any time on either side */
	size_t shown;               /* of all nodes, those that are in an item */
};

/* Returns 0 or LODE_SYSTEM; release in either case. What the input points to must stay as long as the tree. */
int lode_call_tree_make(struct lode_call_tree *tree, const struct lode_call_tree_input *input);
void lode_call_tree_release(struct lode_call_tree *tree);

/* What all roots take on the side where they take more. */
static inline uint64_t lode_call_tree_most(const struct lode_call_tree *tree)
{
	return tree->whole[LODE_SIDE_BASE] > tree->whole[LODE_SIDE_SLOW] ? tree->whole[LODE_SIDE_BASE]
									 : tree->whole[LODE_SIDE_SLOW];
}

#endif
