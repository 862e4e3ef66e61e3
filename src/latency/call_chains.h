/*
 * Call chains: functions that only ever run together. Where a node of the stack tree has
 * one child and no event has it as its whole stack, the thread is in the node exactly when
 * it is in the child: their instances begin and end at the same moments. Of such a chain
 * only the last node needs to be followed, and the others get its numbers afterwards. Real
 * stacks are deep and part in few places, so this is most of the work. Private to latency.
 */
#ifndef LODE_LATENCY_CALL_CHAINS_H
#define LODE_LATENCY_CALL_CHAINS_H

#include "trace/stream.h"

/*
 * By node: the last of its chain, which is the node itself where none follows. The stream
 * has the stacks of its events. The caller frees it; NULL when memory has run out.
 */
uint32_t *lode_call_chains(const struct lode_stream *stream);

#endif
