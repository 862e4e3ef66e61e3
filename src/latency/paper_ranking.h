/*
 * Ranking of paths exactly as in the paper (IntroPerf, section 3.4.2, Algorithm 3), for
 * comparisons, and how far a ranking is from a known truth (section 5.1).
 */
#ifndef LODE_LATENCY_PAPER_RANKING_H
#define LODE_LATENCY_PAPER_RANKING_H

#include "latency/diff.h"

/*
 * Gives the paths of a comparison that is done other costs and hottest functions, as the options
 * `mean` and `whole_new_paths` ask, and orders them by cost alone. `slow_nodes`: the slow side's
 * nodes in the common tree. Returns 0 or LODE_SYSTEM.
 */
int lode_paper_rank(struct lode_diff *diff, const struct lode_latency *base, const struct lode_latency *slow,
		    const uint32_t *slow_nodes, const struct lode_diff_options *options);

/* How far the result is from the truth: functions that are known to be at fault. */
struct lode_diff_distance {
	size_t path;     /* p_min: rank, from 1, of the first path that has such a function; 0: none has */
	size_t function; /* f_min: calls between the hottest function of that path and the nearest such one */
};

/* `at_fault`: by frame of the dictionary. */
struct lode_diff_distance lode_diff_distance_of(const struct lode_diff *diff, const uint8_t *at_fault);

#endif
