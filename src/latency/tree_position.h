/*
 * Places: parent and depth of each node of a stack tree, or of each call chain, side by
 * side, and the one at which two stacks part. Private to latency.
 */
#ifndef LODE_LATENCY_TREE_POSITION_H
#define LODE_LATENCY_TREE_POSITION_H

#include "base/memory.h"
#include "latency/call_chains.h"
#include "trace/stack_tree.h"

struct lode_tree_position {
	uint32_t parent;
	uint32_t depth;
};

/* By node; the caller frees it. NULL when memory has run out. */
static inline struct lode_tree_position *lode_tree_positions_make(const struct lode_stack_tree *tree)
{
	struct lode_tree_position *places = lode_calloc(tree->count, sizeof(*places));

	for (size_t i = 1; places && i < tree->count; i++) {
		uint32_t parent = tree->nodes[i].parent;

		places[i] = (struct lode_tree_position){ parent, places[parent].depth + 1 };
	}
	return places;
}

/* The same of call chains, by chain. */
static inline struct lode_tree_position *lode_tree_positions_make_chains(const struct lode_stack_tree *tree,
									 const struct lode_call_chains *chains)
{
	struct lode_tree_position *places = lode_calloc(chains->count, sizeof(*places));

	for (size_t i = 1; places && i < tree->count; i++) {
		uint32_t chain = chains->of[i], above = chains->of[tree->nodes[i].parent];

		if (chain != above)
			places[chain] = (struct lode_tree_position){ above, places[above].depth + 1 };
	}
	return places;
}

/* The deepest node that is on the way to both; 0 where they have nothing in common. */
static inline uint32_t lode_places_common(const struct lode_tree_position *places, uint32_t a, uint32_t b)
{
	while (places[a].depth > places[b].depth)
		a = places[a].parent;
	while (places[b].depth > places[a].depth)
		b = places[b].parent;
	while (a != b) {
		a = places[a].parent;
		b = places[b].parent;
	}
	return a;
}

#endif
