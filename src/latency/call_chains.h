/*
 * Call chains: functions that only ever run together. Where a node of the stack tree has
 * one child and no event has it as its whole stack, the thread is in the node exactly when
 * it is in the child: their instances begin and end at the same moments, and all sums over
 * them are equal. So latencies are inferred, kept and merged by chain. Real stacks are deep
 * and part in few places: there are 5 to 10 nodes to a chain. Private to latency.
 */
#ifndef LODE_LATENCY_CALL_CHAINS_H
#define LODE_LATENCY_CALL_CHAINS_H

#include "trace/stream.h"

/* Chains are numbered in the order of their first nodes, so callers have smaller numbers than callees. */
struct lode_call_chains {
	uint32_t *of;   /* by node: its chain; node 0 is chain 0 */
	uint32_t *ends; /* by chain: its last node */
	size_t count;
};

/* For a stream that has the stacks of its events. Returns 0 or LODE_SYSTEM; release in either case. */
int lode_call_chains_find(struct lode_call_chains *chains, const struct lode_stream *stream);
/*
 * The same from the last nodes of all chains. Returns LODE_BAD_INPUT where they are not such
 * nodes in the order of chains.
 */
int lode_call_chains_restore(struct lode_call_chains *chains, const struct lode_stack_tree *tree,
			     const uint32_t *ends, size_t count);
void lode_call_chains_release(struct lode_call_chains *chains);

#endif
