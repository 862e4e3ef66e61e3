/*
 * Latencies of streams put together, in order: how the latencies of a corpus grow (latency.h). Private to latency.
 *
 * Joining what consecutive streams came to gives the same as merging the streams one by one: strings, frames and stacks that are new are
 * appended in the order in which they first occur, and sums are of whole numbers.
 */
#ifndef LODE_LATENCY_LATENCY_MERGE_H
#define LODE_LATENCY_LATENCY_MERGE_H

#include "base/job_rank.h"
#include "latency/merged_sums.h"
#include "latency/partial.h"

/* Zeroed before lode_latency_merge_init. */
struct lode_latency_merge {
	struct lode_latency latency; /* its rows are in the order of streams, not sorted; without nodes and sketch */
	struct lode_merged_sums sums;
	size_t stream_capacity;
	size_t own_capacity;
	size_t row_capacity;
	int sums_only; /* set after lode_latency_merge_init: no rows */
};

/* All return 0 or LODE_SYSTEM. */
int lode_latency_merge_init(struct lode_latency_merge *merge);
void lode_latency_merge_release(struct lode_latency_merge *merge);
/* Appends one stream, also one that options or its file leave out. */
int lode_latency_merge_stream(struct lode_latency_merge *merge, const struct lode_latency_partial *partial,
			      const struct lode_corpus_entry *entry);
/* Appends the streams of `other`, which stays as it is. */
int lode_latency_merge_join(struct lode_latency_merge *merge, const struct lode_latency_merge *other);
/* Makes the latencies of all streams; they are the caller's then, who releases what is left in either case. */
int lode_latency_merge_finish(struct lode_latency_merge *merge, struct lode_latency *latency);

#endif
