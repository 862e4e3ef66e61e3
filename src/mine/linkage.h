/*
 * Average linkage: of all pairs of clusters the one with the highest average
 * similarity is joined, over and over, until the highest is below the cut. The
 * average is over all pairs of a member of one and a member of the other.
 *
 * Of equal averages the pair whose first members have the lowest numbers goes
 * first. Similarities are whole numbers and averages are compared as fractions, so
 * equal means equal.
 */
#ifndef LODE_MINE_LINKAGE_H
#define LODE_MINE_LINKAGE_H

#include "base/error.h"
#include "base/progress.h"

#include <stddef.h>
#include <stdint.h>

/* The position of the pair (i, j), i < j, in an array of all pairs of `count`. */
static inline size_t lode_pair_place(size_t count, size_t i, size_t j)
{
	return i * (2 * count - i - 1) / 2 + (j - i - 1);
}

/*
 * Joins `count` members. `sums` has the similarity of each pair by lode_pair_place,
 * below 2^32 (the matrix is used up); `cut` is in the same units. Sets leaders[i]
 * to the first member of the cluster of i. `count` is at most 65536, for sums to
 * fit. Returns 0 or LODE_SYSTEM.
 */
int lode_linkage(uint64_t *sums, size_t count, uint64_t cut, uint32_t *leaders,
		 const struct lode_progress *progress, struct lode_error *error);

#endif
