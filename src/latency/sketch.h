/*
 * Sketch: how the latencies of each node are spread, for quantiles. A histogram a node
 * on a scale of logarithms, eight steps for each doubling, so that a quantile is right
 * within 6.25 % whatever the latencies are; small numbers are exact. Memory grows with
 * the number of nodes and the spread of their latencies, not with the number of
 * instances. The order of adding and merging does not matter.
 */
#ifndef LODE_LATENCY_SKETCH_H
#define LODE_LATENCY_SKETCH_H

#include "base/arena.h"
#include "base/memory.h"

/*
 * How many latencies of a node fall into each step, at most UINT32_MAX of them: `capacity`
 * counts, and behind them as many steps, in their order.
 */
struct lode_sketch_row {
	uint32_t *counts;
	uint32_t count;
	uint32_t capacity;
};

struct lode_sketch {
	struct lode_sketch_row *rows; /* by node */
	size_t count;
	size_t capacity;
	struct lode_arena arena;      /* of counts and steps */
};

/* A zeroed struct is an empty sketch. */
/* Room for so many nodes, so that adding does not move them. Returns 0 or LODE_SYSTEM. */
int lode_sketch_reserve(struct lode_sketch *sketch, size_t nodes);
void lode_sketch_release(struct lode_sketch *sketch);
/* Adds a latency of `node`. Returns 0 or LODE_SYSTEM. */
int lode_sketch_add(struct lode_sketch *sketch, uint32_t node, uint64_t latency);
/* Adds many; quicker than one by one, since memory is asked for in time. Returns 0 or LODE_SYSTEM. */
struct lode_sketch_item {
	uint64_t latency;
	uint32_t node;
};
int lode_sketch_add_all(struct lode_sketch *sketch, const struct lode_sketch_item *items, size_t count);
/* Adds all of `from`, whose nodes are called `nodes[node]` here. Returns 0 or LODE_SYSTEM. */
int lode_sketch_merge(struct lode_sketch *sketch, const struct lode_sketch *from, const uint32_t *nodes);
/* Latencies of a node that fall into one step. */
struct lode_sketch_step {
	uint32_t step;
	uint32_t count;
};

/* The steps of a node, in order, into `steps` (NULL: only counted). Returns how many there are. */
uint32_t lode_sketch_steps(const struct lode_sketch *sketch, uint32_t node, struct lode_sketch_step *steps);
/* Gives an empty node its steps. Returns 0, LODE_BAD_INPUT where they are not steps in order, or LODE_SYSTEM. */
int lode_sketch_put(struct lode_sketch *sketch, uint32_t node, const struct lode_sketch_step *steps, uint32_t count);
/*
 * The latency that `share` (0 to 1) of the node's instances do not exceed: the middle of
 * the step that holds it. 0 for a node without instances.
 */
uint64_t lode_sketch_quantile(const struct lode_sketch *sketch, uint32_t node, double share);

/* The step of a number, and the smallest number of a step. */
uint32_t lode_sketch_step(uint64_t latency);
uint64_t lode_sketch_floor(uint32_t step);

#endif
