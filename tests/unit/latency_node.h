/* The sums of one node of a partial, for tests that compare them with their own. */
#ifndef LODE_TESTS_LATENCY_NODE_H
#define LODE_TESTS_LATENCY_NODE_H

#include "latency/partial.h"

static inline struct lode_latency_node node_of(const struct lode_latency_partial *partial, uint32_t node)
{
	struct lode_latency_node sums = partial->nodes[partial->chains.of[node]];

	sums.unsure = partial->unsure ? partial->unsure[node] : 0;
	return sums;
}

#endif
