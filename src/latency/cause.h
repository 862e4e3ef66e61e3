/*
 * The function to look at first in a comparison. Private to latency.
 */
#ifndef LODE_LATENCY_CAUSE_H
#define LODE_LATENCY_CAUSE_H

#include "latency/diff.h"
#include "latency/diff_rows.h"

/*
 * Fills in diff->cause, or why there is none; all else is there. Of the options `guess` and `match`
 * count: without `guess` there is no cause where no function surely takes more, or where the whole run
 * may take more by chance. Returns 0 or LODE_SYSTEM.
 */
int lode_cause_find(struct lode_diff *diff, const struct lode_diff_rows *rows,
		    const struct lode_diff_options *options);

#endif
