/*
 * Sums of many streams on the nodes of one stack tree. Private to latency.
 *
 * Nodes that every stream so far had in one call chain (call_chains.h) have the same sums,
 * which are kept once for all of them, as a *class*. A stream that parts them splits the
 * class. So merging a stream costs its chains, and little more for its nodes.
 */
#ifndef LODE_LATENCY_MERGED_SUMS_H
#define LODE_LATENCY_MERGED_SUMS_H

#include "latency/partial.h"

/*
 * The sum of variances of streams, rounded to whole ns squared: unlike a sum of fractions it does not depend on the order, so
 * that several processes can add up theirs. 64 bits are too few for it.
 */
__extension__ typedef unsigned __int128 lode_variance;

/* Zeroed, it is of no stream. */
struct lode_sums_class {
	struct lode_latency_node sums; /* but `variance` */
	lode_variance variance;
	uint32_t size;   /* nodes */
	uint32_t taken;  /* of them in the group of `turn` */
	uint32_t target; /* the class that takes the sums of this group; 0: not settled */
	uint64_t turn;
};

struct lode_merged_sums {
	uint32_t *class_of; /* by node; 0: no instances so far */
	size_t node_count;
	size_t node_capacity;
	struct lode_sums_class *classes;
	size_t class_count;
	size_t class_capacity;
	struct lode_sketch sketch; /* by class */
	uint64_t *unsure;          /* by node; NULL: 0 for all */
	size_t unsure_capacity;
	size_t unsure_count;
	uint64_t turn;     /* of the last group of nodes that was added */
	uint32_t *members; /* of that group */
	size_t member_capacity;
};

/* A zeroed struct has no sums. */
void lode_merged_sums_release(struct lode_merged_sums *sums);
/*
 * Adds the sums of a stream. `nodes`: what its nodes are called in the tree of all, which
 * has `count` nodes; no two of them the same. Returns 0 or LODE_SYSTEM.
 */
int lode_merged_sums_add(struct lode_merged_sums *sums, const struct lode_latency_partial *partial,
			 const uint32_t *nodes, size_t count);
/* Adds all sums of `from`, whose nodes are called `nodes` here, as above. Returns 0 or LODE_SYSTEM. */
int lode_merged_sums_join(struct lode_merged_sums *sums, const struct lode_merged_sums *from,
			  const uint32_t *nodes, size_t count);
/*
 * Gives each of `count` nodes its sums, in fresh memory, and moves the sketch, which is by
 * node then, to `sketch`. Returns 0 or LODE_SYSTEM. Release what is left in either case.
 */
int lode_merged_sums_finish(struct lode_merged_sums *sums, size_t count, struct lode_latency_node **nodes,
			    struct lode_sketch *sketch);

#endif
