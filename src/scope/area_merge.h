/*
 * Streams of a corpus put together, in order: how an area grows (area.h). Private to scope.
 *
 * Joining what consecutive streams came to gives the same numbers of strings, frames and stacks as
 * merging the streams one by one: what is new is appended in the order in which it first occurs.
 */
#ifndef LODE_SCOPE_AREA_MERGE_H
#define LODE_SCOPE_AREA_MERGE_H

#include "scope/area_stream.h"

/* An area in the making. Its rows are in the order of streams, not sorted. Zeroed before lode_area_merge_init. */
struct lode_area_merge {
	struct lode_area area;
	size_t stream_capacity;
	size_t node_capacity; /* of area.occurrences */
	size_t node_count;
	uint64_t wanted;   /* streams that --where leaves */
	uint64_t without;  /* of them those without a symptom */
	uint64_t repeated; /* symptoms that were there before */
};

/* All return 0 or LODE_SYSTEM. */
int lode_area_merge_init(struct lode_area_merge *merge);
void lode_area_merge_release(struct lode_area_merge *merge);
/* Appends one stream. */
int lode_area_merge_stream(struct lode_area_merge *merge, const struct lode_area_partial *partial,
			   const struct lode_corpus_entry *entry, int by_symptom);
/* Appends the streams of `other`, which stays as it is. */
int lode_area_merge_join(struct lode_area_merge *merge, const struct lode_area_merge *other);

#endif
