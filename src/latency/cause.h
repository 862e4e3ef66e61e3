/*
 * The function to look at first, out of the first path of a comparison that may have it. Private to latency.
 */
#ifndef LODE_LATENCY_CAUSE_H
#define LODE_LATENCY_CAUSE_H

#include "latency/diff.h"

/*
 * Fills in diff->cause; all else is there, paths in their order. `slow_nodes`: the slow
 * side's nodes in the common tree. Of the options `guess` and `match` count: without `guess` there
 * is no cause where no path surely takes more. Returns 0 or LODE_SYSTEM.
 */
int lode_cause_find(struct lode_diff *diff, const struct lode_latency *base, const struct lode_latency *slow,
		    const uint32_t *slow_nodes, const struct lode_diff_options *options);

#endif
