/*
 * Sim of all pairs of many patterns: what lode_alignment_similarity gives, to the
 * last digit, hundreds of times faster.
 */
#ifndef LODE_MINE_SIMILARITIES_H
#define LODE_MINE_SIMILARITIES_H

#include "base/job_rank.h"
#include "mine/clusters.h"
#include "mine/linkage.h"

/* Sim as a whole number, so that sums of it are exact in any order: 0 to this. */
#define LODE_SIM_UNITS 0x80000000u

static inline uint32_t lode_sim_units(double similarity)
{
	return (uint32_t)(similarity * LODE_SIM_UNITS + 0.5);
}

/* Patterns prepared for comparing: names, weights. Threads share it. */
struct lode_similarities;

/* NULL when memory has run out. What is handed in must outlive it. */
struct lode_similarities *lode_similarities_make(const struct lode_patterns *patterns,
						 const struct lode_words *words,
						 const struct lode_call_counts *counts);
void lode_similarities_free(struct lode_similarities *similarities);

/* The numbers of all patterns in the order that compares fastest. */
const uint32_t *lode_similarities_order(const struct lode_similarities *similarities);

/* Where the results go, row by row, in no particular order; called by one thread at a time. */
struct lode_similarities_sink {
	/* Those whose Sim with the pattern order[row] is at least what was requested: `other` is a place in `order` above row. */
	void (*row)(void *context, size_t row, const struct lode_similar *similar, size_t count);
	void *context;
};

/*
 * Compares each pattern with each other; in an alignment the pattern with the lower
 * number is the left one. Pairs of at least `least` units are reported. Returns 0,
 * or LODE_SYSTEM when memory has run out or `progress` asked to stop.
 *
 * `rank` NULL: by this process alone. Several, all over the same patterns, which have met before, report some of the
 * rows each. When the first stops, the others end soon.
 */
int lode_similarities_compare(const struct lode_similarities *similarities, uint32_t least, unsigned jobs,
			      const struct lode_job_rank *rank, const struct lode_progress *progress,
			      const struct lode_similarities_sink *sink, struct lode_error *error);

/* Sim of two patterns in units, by one alignment, whose room is reused. 0 or LODE_SYSTEM. */
int lode_similarities_of_pair(const struct lode_similarities *similarities, uint32_t a, uint32_t b,
			      struct lode_alignment *alignment, uint32_t *units);

#endif
