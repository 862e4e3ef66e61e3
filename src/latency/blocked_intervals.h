/*
 * How much more one side takes than the other, as intervals that hold for many columns together. Private to latency.
 *
 * Each stream has a value for each of many *columns* (a function, the whole run) and belongs to a *block*: a host with
 * its kernel. Machines differ more than versions do, so streams are only compared within their block, and what blocks
 * show is averaged, those with more streams counting more. Streams of blocks that only one side has say nothing, and
 * are left out.
 *
 * All intervals together hold their true values in at least 1 - level of all comparisons. Correlated columns do not
 * make them wider, as a correction by the number of columns would.
 */
#ifndef LODE_LATENCY_BLOCKED_INTERVALS_H
#define LODE_LATENCY_BLOCKED_INTERVALS_H

#include <stddef.h>
#include <stdint.h>

struct lode_blocked_input {
	const double *values;   /* of a column: `base` streams, then `slow` ones; column after column */
	const double *floors;   /* by column: deviations of streams are taken to be at least about this */
	const uint32_t *blocks; /* by stream, numbers below the number of streams; NULL: all are of one block */
	size_t columns;
	size_t base;
	size_t slow;
	double level; /* all intervals together may fail so often */
	unsigned jobs;
};

struct lode_blocked_interval {
	double base; /* mean of the base, over blocks as the difference is */
	double more; /* what the slow side takes more */
	double low;  /* -INFINITY and INFINITY where streams are too few */
	double high;
};

/* What was compared. */
struct lode_blocked_use {
	size_t blocks; /* that both sides have */
	size_t base;   /* streams in these */
	size_t slow;
	int enough; /* that many can show something at this level */
};

/*
 * Fills `intervals`, one a column. The same input gives the same result for any `jobs`. Returns 0 or LODE_SYSTEM.
 */
int lode_blocked_intervals(const struct lode_blocked_input *input, struct lode_blocked_interval *intervals,
			   struct lode_blocked_use *use);

#endif
