/*
 * Sketch: how the latencies of each node are spread, for quantiles. A histogram a node
 * on a scale of logarithms, eight steps for each doubling, so that a quantile is right
 * within 6.25 % whatever the latencies are; small numbers are exact. Memory grows with
 * the number of nodes and the spread of their latencies, not with the number of
 * instances. Adding is exact, so that the order of adding and merging does not matter.
 */
#ifndef LODE_LATENCY_SKETCH_H
#define LODE_LATENCY_SKETCH_H

#include "base/memory.h"

struct lode_sketch_cell {
	uint32_t node; /* LODE_NONE: the cell is free */
	uint32_t step;
	uint64_t count;
};

struct lode_sketch {
	struct lode_sketch_cell *cells; /* a hash table until it is sorted, then in order of node and step */
	size_t capacity;		/* a power of two, or 0 */
	size_t count;
	int sorted;
};

/* A zeroed struct is an empty sketch. */
void lode_sketch_release(struct lode_sketch *sketch);
/* Adds `count` latencies of `node`, all as long as `latency`. Not after sorting. Returns 0 or LODE_SYSTEM. */
int lode_sketch_add(struct lode_sketch *sketch, uint32_t node, uint64_t latency, uint64_t count);
/* Adds all of `from`, whose nodes are called `nodes[node]` here. Returns 0 or LODE_SYSTEM. */
int lode_sketch_merge(struct lode_sketch *sketch, const struct lode_sketch *from, const uint32_t *nodes);
/* Puts the cells in order; from then on it can be asked. */
void lode_sketch_sort(struct lode_sketch *sketch);
/*
 * The latency that `share` (0 to 1) of the node's instances do not exceed: the middle of
 * the step that holds it. 0 for a node without instances. Sorted sketches only.
 */
uint64_t lode_sketch_quantile(const struct lode_sketch *sketch, uint32_t node, double share);

/* The step of a number, and the smallest number of a step. */
uint32_t lode_sketch_step(uint64_t latency);
uint64_t lode_sketch_floor(uint32_t step);

#endif
