/*
 * Is a difference between two sides more than chance? Private to latency.
 *
 * Each stream has a value for each of many *columns* (a path, the whole run). Under chance alone any split of
 * the streams into two sides of these sizes is as likely as the real one (permutation test, two-sided:
 * whichever side is called slow). A column's q is corrected for all columns together: chance makes one or more
 * q of 0.05 or less in at most 5 of 100 comparisons of equal sides, however many columns there are (Westfall
 * and Young's step-down maxT). Correlated columns do not weaken the test, as they would with a correction by
 * their number.
 */
#ifndef LODE_LATENCY_CHANCE_H
#define LODE_LATENCY_CHANCE_H

#include <stddef.h>
#include <stdint.h>

/* How often of 100 an effect of the size that is reported as detectable would be called sure. */
#define LODE_CHANCE_POWER 80

struct lode_chance_column {
	double p;          /* chance makes the slow side take as much more in this column */
	double q;          /* the same for all columns together */
	double within;     /* standard deviation of streams of the same side */
	double detectable; /* a difference that would be called sure LODE_CHANCE_POWER times of 100;
			      INFINITY: none */
};

struct lode_chance_input {
	const double *values; /* of a column: `base` streams, then `slow` ones; column after column */
	size_t columns;
	size_t base;
	size_t slow;
	double deviation_floor; /* added to standard deviations, so that differences far below it are never significant */
	double level;
	unsigned jobs;
};

/* Whether this many streams can show anything at this level: a single split must be rare enough. */
int lode_chance_can_detect(size_t base, size_t slow, double level);

/*
 * Fills `columns`, one for each of the input. The same input gives the same result for any
 * `jobs`. Where lode_chance_can_detect says no, p and q are 1 and nothing is detectable. `z`:
 * by how many standard errors a column must differ to be significant among the others; among a thousand
 * if nothing was tested. Returns 0 or LODE_SYSTEM.
 */
int lode_chance_test(const struct lode_chance_input *input, struct lode_chance_column *columns, double *z);

/*
 * About how many streams a side it takes to show a difference of `size` in a column that varies
 * by `within`, LODE_CHANCE_POWER times of 100; `z` as above.
 */
double lode_chance_streams(double within, double size, double z, double level);

#endif
