/*
 * Average linkage: of all pairs of clusters the one with the highest average
 * similarity is joined, over and over, until the highest is below the cut. The
 * average is over all pairs of a member of one and a member of the other.
 *
 * Of equal averages the pair whose first members have the lowest numbers goes
 * first. Similarities are whole numbers and averages are compared as fractions, so
 * equal means equal.
 *
 * Only the pairs at or above a floor, which is at most the cut, are given; of the others
 * it is enough to know that they are below. Where that does not decide, they are requested.
 */
#ifndef LODE_MINE_LINKAGE_H
#define LODE_MINE_LINKAGE_H

#include "base/error.h"
#include "base/progress.h"

#include <stddef.h>
#include <stdint.h>

/* With at most this many members sums fit into 64 bits. */
#define LODE_LINKAGE_MEMBERS 131072

/* A similar member. */
struct lode_similar {
	uint32_t other;
	uint32_t units; /* their similarity, at most 2^31 */
};

struct lode_linkage_input {
	size_t count;                       /* of members, at most LODE_LINKAGE_MEMBERS */
	const size_t *starts;               /* by member, one more: those similar to it in `similar` */
	const struct lode_similar *similar; /* each pair twice, and all pairs at or above `floor` */
	uint32_t floor;                     /* 1 to `cut` */
	uint32_t cut;                       /* at least 1 */
	/* Similarity of a pair that may be below the floor. Returns 0 or LODE_SYSTEM. */
	int (*compare)(void *context, uint32_t a, uint32_t b, uint32_t *units);
	void *context;
	const struct lode_progress *progress;
};

/*
 * Sets leaders[i] to the first member of the cluster of i. Returns 0 or LODE_SYSTEM.
 * `asked` (or NULL): for how many pairs `compare` was asked.
 */
int lode_linkage(const struct lode_linkage_input *input, uint32_t *leaders, uint64_t *asked,
		 struct lode_error *error);

#endif
