/*
 * A confidence sequence: where the centre of values is that come one by one, as an interval that may be looked at after
 * each of them. In 1 - level of all experiments the interval holds the centre after every value, from the first to the
 * last, so an experiment may end whenever its interval is narrow enough, and for whatever reason.
 *
 * All that is asked of the values: they are independent, and each is as likely above the centre by some amount as below
 * it by the same. The difference of two runs in random order is, whatever the distribution of runs, if the versions
 * differ by a constant; neither a normal distribution nor a known or even finite variance is needed.
 */
#ifndef LODE_LATENCY_CONFIDENCE_SEQUENCE_H
#define LODE_LATENCY_CONFIDENCE_SEQUENCE_H

#include <stddef.h>

/* Zeroed, it has no values. */
struct lode_confidence_sequence {
	double *values;
	double *scales; /* by value: how much those before it vary; 0: not known */
	size_t count;
	size_t value_capacity;
	size_t scale_capacity;
};

struct lode_confidence_interval {
	double estimate; /* Hodges and Lehmann's: the median of the means of all pairs */
	double low;      /* -INFINITY and INFINITY as long as values are too few */
	double high;
};

/* Returns 0 or LODE_SYSTEM. */
int lode_confidence_sequence_add(struct lode_confidence_sequence *sequence, double value);
/* The ends alone, without the estimate (which stays as it is): in linear time. Returns 0 or LODE_SYSTEM. */
int lode_confidence_sequence_ends(const struct lode_confidence_sequence *sequence, double level,
				  struct lode_confidence_interval *interval);
/* Of the values so far, all; the estimate sorts as many numbers as there are pairs of values. Returns 0 or LODE_SYSTEM. */
int lode_confidence_sequence_look(const struct lode_confidence_sequence *sequence, double level,
				  struct lode_confidence_interval *interval);
void lode_confidence_sequence_release(struct lode_confidence_sequence *sequence);

#endif
