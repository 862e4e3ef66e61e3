/*
 * Confidence sequences by betting: see confidence_sequence.h.
 *
 * Suppose the centre is m. Then each value is above m or below it with equal chance, given how far it is away. Whoever
 * bets a share w of his money on `above` has 1 + w times as much afterwards, or 1 - w times as much, and on average
 * neither wins nor loses, if w depends on the distance and on earlier values alone. By Ville's inequality his money
 * grows 2 / level times over in at most level / 2 of all games, however long they last. So values of m that make
 * someone so rich can be ruled out: those too low by bets on `above`, those too high by bets on `below`.
 *
 * The share is tanh(k d), with d the distance in units of how much the values before this one vary (their median
 * absolute deviation), cut at CUT, so that a run that something disturbed costs or wins little more than any other. Which k
 * is best depends on how far off m is and how soon that is to be known: the money is divided among several. It falls as
 * m grows, for bets on `above`, so the ends of the interval are found by bisection.
 */
#include "latency/confidence_sequence.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/sort_numbers.h"

#include <math.h>
#include <string.h>

#define CUT        1.5
#define NORMAL_MAD 1.4826 /* standard deviation of a normal distribution whose median absolute deviation is 1 */
#define MIN_SCALE  1e-12

static const double shares[] = { 0.1, 0.2, 0.4, 0.8, 1.6 };
#define SHARES (sizeof(shares) / sizeof(*shares))

/* Pairs whose means are looked at; longer sequences are thinned out. */
#define MAX_PAIRED 1500

static double middle_of(double *values, size_t count)
{
	lode_sort_double(values, count);
	return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

/* How much values vary; 0: too few to say. */
static int find_scale(const double *values, size_t count, double *scale)
{
	double *copy = lode_calloc(count + 1, sizeof(*copy)), middle;

	*scale = 0;
	if (!copy)
		return LODE_SYSTEM;
	if (count >= 2) {
		memcpy(copy, values, count * sizeof(*copy));
		middle = middle_of(copy, count);
		for (size_t i = 0; i < count; i++)
			copy[i] = fabs(values[i] - middle);
		*scale = fmax(NORMAL_MAD * middle_of(copy, count), MIN_SCALE);
	}
	lode_free(copy);
	return 0;
}

int lode_confidence_sequence_add(struct lode_confidence_sequence *sequence, double value)
{
	double scale;

	if (find_scale(sequence->values, sequence->count, &scale) < 0 ||
	    LODE_GROW(sequence->values, sequence->value_capacity, sequence->count + 1) < 0 ||
	    LODE_GROW(sequence->scales, sequence->scale_capacity, sequence->count + 1) < 0)
		return LODE_SYSTEM;
	sequence->values[sequence->count] = value;
	sequence->scales[sequence->count++] = scale;
	return 0;
}

void lode_confidence_sequence_release(struct lode_confidence_sequence *sequence)
{
	lode_free(sequence->values);
	lode_free(sequence->scales);
	memset(sequence, 0, sizeof(*sequence));
}

/* The logarithm of the money that bets have made if the centre is `centre`; `sign`: 1 on above, -1 on below. */
static double fortune(const struct lode_confidence_sequence *sequence, double centre, double sign)
{
	double logarithms[SHARES] = { 0 }, most = -INFINITY, sum = 0;

	for (size_t i = 0; i < sequence->count; i++) {
		double distance =
			sequence->scales[i] > 0 ? sign * (sequence->values[i] - centre) / sequence->scales[i] : 0;

		distance = fmin(fmax(distance, -CUT), CUT);
		for (size_t k = 0; k < SHARES; k++)
			logarithms[k] += log1p(tanh(shares[k] * distance));
	}
	for (size_t k = 0; k < SHARES; k++)
		most = fmax(most, logarithms[k]);
	for (size_t k = 0; k < SHARES; k++)
		sum += exp(logarithms[k] - most) / (double)SHARES;
	return most + log(sum);
}

/* The end of the interval on one side: the last centre that `sign` rules out. */
static double find_end(const struct lode_confidence_sequence *sequence, double level, double sign)
{
	double rich = log(2 / level), least = INFINITY, most = -INFINITY, widest = 0, out, in;

	for (size_t i = 0; i < sequence->count; i++) {
		least = fmin(least, sequence->values[i]);
		most = fmax(most, sequence->values[i]);
		widest = fmax(widest, sequence->scales[i]);
	}
	/* Beyond CUT scales from all values nothing changes any more. */
	out = sign > 0 ? least - 2 * CUT * widest : most + 2 * CUT * widest;
	in = sign > 0 ? most + 2 * CUT * widest : least - 2 * CUT * widest;
	if (!sequence->count || fortune(sequence, out, sign) < rich)
		return sign > 0 ? -INFINITY : INFINITY;
	for (int i = 0; i < 60; i++) {
		double centre = (out + in) / 2;

		if (fortune(sequence, centre, sign) >= rich)
			out = centre;
		else
			in = centre;
	}
	return out;
}

static int find_estimate(const struct lode_confidence_sequence *sequence, double *estimate)
{
	size_t step = sequence->count / MAX_PAIRED + 1, count = 0;
	size_t most = (sequence->count + step - 1) / step;
	double *means = lode_calloc(most * (most + 1) / 2 + 1, sizeof(*means));

	if (!means)
		return LODE_SYSTEM;
	for (size_t i = 0; i < sequence->count; i += step)
		for (size_t k = 0; k <= i; k += step)
			means[count++] = (sequence->values[i] + sequence->values[k]) / 2;
	*estimate = count ? middle_of(means, count) : 0;
	lode_free(means);
	return 0;
}

int lode_confidence_sequence_ends(const struct lode_confidence_sequence *sequence, double level,
				  struct lode_confidence_interval *interval)
{
	interval->low = find_end(sequence, level, 1);
	interval->high = find_end(sequence, level, -1);
	if (interval->low <= interval->high)
		return 0;
	/* Two games may rule out everything, in no more than `level` of all experiments. */
	if (find_estimate(sequence, &interval->estimate) < 0)
		return LODE_SYSTEM;
	interval->low = interval->high = interval->estimate;
	return 0;
}

int lode_confidence_sequence_look(const struct lode_confidence_sequence *sequence, double level,
				  struct lode_confidence_interval *interval)
{
	return find_estimate(sequence, &interval->estimate) < 0
		       ? LODE_SYSTEM
		       : lode_confidence_sequence_ends(sequence, level, interval);
}
