/*
 * Sketch: how the latencies of each node are spread, for quantiles. A histogram per
 * node on a logarithmic scale, eight steps for each doubling, so that a quantile is
 * right within 6.25 % for all latencies; small numbers are exact. Memory grows with
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
	struct lode_arena arena; /* of counts and steps */
};

/* A zeroed struct is an empty sketch. */
/* Makes room for `nodes` nodes, so that adding does not move them. Returns 0 or LODE_SYSTEM. */
int lode_sketch_reserve(struct lode_sketch *sketch, size_t nodes);
void lode_sketch_release(struct lode_sketch *sketch);
/* Adds a row of another sketch to `node`. Returns 0 or LODE_SYSTEM. */
int lode_sketch_merge_row(struct lode_sketch *sketch, uint32_t node, const struct lode_sketch_row *from);
/* Latencies of a node that fall into one step. */
struct lode_sketch_step {
	uint32_t step;
	uint32_t count;
};

/* The steps of a node, in order, into `steps` (NULL: only counted). Returns how many there are. */
uint32_t lode_sketch_steps(const struct lode_sketch *sketch, uint32_t node, struct lode_sketch_step *steps);
/* Adds steps to a node. Returns 0, LODE_BAD_INPUT where they are not steps in order, or LODE_SYSTEM. */
int lode_sketch_put(struct lode_sketch *sketch, uint32_t node, const struct lode_sketch_step *steps,
		    uint32_t count);
/*
 * The latency that `share` (0 to 1) of the node's instances do not exceed: the middle of
 * the step that holds it. 0 for a node without instances.
 */
uint64_t lode_sketch_quantile(const struct lode_sketch *sketch, uint32_t node, double share);

#define LODE_SKETCH_FINE 3 /* bits of a number below its highest one that choose the step */

/* The step of a number, and the smallest number of a step. */
static inline uint32_t lode_sketch_step(uint64_t latency)
{
	unsigned high;

	if (latency < 2u << LODE_SKETCH_FINE)
		return (uint32_t)latency;
	high = 63u - (unsigned)__builtin_clzll(latency);
	return ((high - LODE_SKETCH_FINE) << LODE_SKETCH_FINE) + (uint32_t)(latency >> (high - LODE_SKETCH_FINE));
}
uint64_t lode_sketch_floor(uint32_t step);

/*
 * Latencies on their way to a sketch of `nodes` nodes. They are sorted by node before they
 * are added, so that each row is touched once a batch, not once a latency.
 */
struct lode_sketch_batch {
	struct {
		uint32_t node;
		uint16_t step;
	} * items;
	size_t count;
	size_t room;
	size_t nodes;
	uint32_t *ends;   /* by node: how many there are; while sorting, where they end */
	uint16_t *sorted; /* steps */
};

/* For up to `room` latencies at a time. Returns 0 or LODE_SYSTEM; release in either case. */
int lode_sketch_batch_init(struct lode_sketch_batch *batch, size_t nodes, size_t room);
void lode_sketch_batch_release(struct lode_sketch_batch *batch);
/* Adds all to the sketch; the batch is empty then. Returns 0 or LODE_SYSTEM. */
int lode_sketch_batch_flush(struct lode_sketch_batch *batch, struct lode_sketch *sketch);

static inline int lode_sketch_batch_add(struct lode_sketch_batch *batch, struct lode_sketch *sketch, uint32_t node,
					uint64_t latency)
{
	batch->items[batch->count].node = node;
	batch->items[batch->count++].step = (uint16_t)lode_sketch_step(latency);
	batch->ends[node]++;
	return batch->count == batch->room ? lode_sketch_batch_flush(batch, sketch) : 0;
}

#endif
