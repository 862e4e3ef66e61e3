/* Replaces a stream's events by their sums: what is kept of a recording when its events have become too old to be kept. */
#ifndef LODE_TRACE_STREAM_SUMS_H
#define LODE_TRACE_STREAM_SUMS_H

#include "trace/stream.h"

/* The attribute of streams whose events are sums; its value is the number of events that there were. */
#define LODE_SUMS_ATTRIBUTE "summed_events"

/*
 * Fills `sums`, an empty stream over the dictionary of `stream` or another one, with what `stream` has but events and
 * symptoms, and with one event for each thread, type, stack, name and object, whose cost and delay are the sums of all
 * (saturating). Those of a thread follow one another in time without overlapping, from the beginning of the stream; wakers,
 * holders and contexts are lost. Returns 0 or LODE_SYSTEM.
 */
int lode_stream_sum(const struct lode_stream *stream, struct lode_stream *sums);

#endif
