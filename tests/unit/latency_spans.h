/* Whether run events are spans, for oracles: each is compared with each. */
#ifndef LODE_TESTS_LATENCY_SPANS_H
#define LODE_TESTS_LATENCY_SPANS_H

#include "trace/stream.h"

/* The shortest span of running that is not 0; 0 where run events are samples. */
static inline uint64_t slow_shortest_span(const struct lode_stream *stream)
{
	const struct lode_events *runs = &stream->events[LODE_RUN];
	uint64_t shortest = UINT64_MAX, longest = 0;
	int touch = 0;

	for (size_t i = 0; i < runs->count; i++) {
		uint64_t end = lode_add_saturating(runs->t[i], runs->cost[i]);

		if (runs->cost[i] && runs->cost[i] < shortest)
			shortest = runs->cost[i];
		if (runs->cost[i] > longest)
			longest = runs->cost[i];
		for (size_t k = i + 1; k < runs->count; k++) {
			if (runs->thread[k] != runs->thread[i])
				continue;
			if (runs->t[k] < end)
				return 0;
			touch |= runs->t[k] == end && end;
		}
	}
	return touch && shortest < longest ? shortest : 0;
}

#endif
