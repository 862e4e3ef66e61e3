/* Run events that are spans of time, in place of samples. */
#ifndef LODE_LATENCY_RUN_SPANS_H
#define LODE_LATENCY_RUN_SPANS_H

#include "trace/stream.h"

/*
 * Whether the run events of a stream, which are sorted, say how long a thread ran in a stack, from `t` for `cost`:
 * sums of samples (folded stacks, profiles without times), or calls that were timed. Sets *shortest to the smallest cost
 * that is not 0, or to 0 where they are no spans. Returns 0 or LODE_SYSTEM.
 */
int lode_run_spans_find(const struct lode_stream *stream, uint64_t *shortest);

#endif
