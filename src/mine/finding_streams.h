/*
 * Where a finding is seen: what it costs in each stream, and the slowest example there.
 */
#ifndef LODE_MINE_FINDING_STREAMS_H
#define LODE_MINE_FINDING_STREAMS_H

#include "mine/findings.h"
#include "mine/pattern_costs.h"

struct lode_finding_stream {
	uint32_t stream;
	uint32_t tid;     /* of the event that shows the longest part of the slowest example, */
	uint64_t t;       /* and its start */
	uint64_t slowest; /* ns in the symptom that has most of it; without symptoms in one event */
};

/* Both lists have one item a stream, in the order of streams. A zeroed struct holds none. */
struct lode_finding_streams {
	struct lode_shares shares;
	struct lode_finding_stream *slowest;
	size_t count;
	size_t capacity;
};

/* Release it in either case. Returns 0 or LODE_SYSTEM. */
int lode_finding_streams_make(struct lode_finding_streams *streams, const struct lode_findings *findings,
			      const struct lode_finding *finding);
void lode_finding_streams_release(struct lode_finding_streams *streams);
/* The numbers of up to `most` items of `slowest`, the slowest first, into `places`; returns how many. */
size_t lode_finding_streams_slowest(const struct lode_finding_streams *streams, size_t most, size_t *places);

#endif
