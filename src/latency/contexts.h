/*
 * Hot contexts: the nodes of an annotated stack tree in the order in which a person
 * should look at them.
 */
#ifndef LODE_LATENCY_CONTEXTS_H
#define LODE_LATENCY_CONTEXTS_H

#include "latency/latency.h"

struct lode_contexts {
	uint32_t *nodes; /* with instances, hottest first */
	size_t count;
	double *means; /* by node: own latency by the arithmetic of means; NULL where it was not requested */
	uint64_t own;  /* sums over the whole tree, regardless of what is matched */
	uint64_t idle;
};

/*
 * Ranks contexts by own latency, with `mean` by own latency of means, of that rule (NULL: not);
 * equal ones by the names of their functions. With `match` (globs, NULL-terminated) only contexts that have
 * a frame that fits. Returns 0 or LODE_SYSTEM; release in either case.
 */
int lode_contexts_rank(const struct lode_latency *latency, const char *const *match,
		       const enum lode_latency_rule *mean, struct lode_contexts *contexts);
void lode_contexts_release(struct lode_contexts *contexts);

#endif
