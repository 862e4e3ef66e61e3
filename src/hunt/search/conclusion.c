/*
 * Conclusions: see conclusion.h. The spread of a fraction of sums is that of its
 * residuals: amount - value * base of each sub-interval, which add up to nothing.
 */
#include "hunt/search/conclusion.h"

#include "base/student.h"

#include <math.h>
#include <string.h>

/* Fewer say nothing about how much they differ. */
#define MIN_INTERVALS 4

/* ---- what was measured ---- */

void lode_observation_add(struct lode_observation *observation, enum lode_hypothesis hypothesis,
			  const struct lode_reading *reading)
{
	uint64_t amount, base;

	lode_hypothesis_fraction(hypothesis, reading, &amount, &base);
	if (base <= observation->last_base || amount < observation->last_amount)
		return; /* nothing came to an end in between: what did pass counts next time */
	observation->amount[observation->next] = (double)(amount - observation->last_amount);
	observation->base[observation->next] = (double)(base - observation->last_base);
	observation->next = (observation->next + 1) % LODE_INTERVALS;
	if (observation->filled < LODE_INTERVALS)
		observation->filled++;
	observation->last_amount = amount;
	observation->last_base = base;
}

double lode_observation_mean(const struct lode_observation *observation)
{
	return observation->last_base ? (double)observation->last_amount / (double)observation->last_base : 0;
}

/* The least variance of an amount that is counted in samples: that of a Poisson distribution. */
static double chance_of_samples(const struct lode_observation *observation, double amount)
{
	return observation->grain * fmax(amount, observation->grain);
}

/* The value of the kept sub-intervals and how sure it is which side of the threshold it is on. */
static struct lode_verdict weigh(const struct lode_observation *observation, enum lode_hypothesis hypothesis,
				 double threshold)
{
	double amount = 0, base = 0, squares = 0, spread;
	unsigned n = observation->filled;
	struct lode_verdict verdict = { .confidence = 0.5 };

	for (unsigned i = 0; i < n; i++) {
		amount += observation->amount[i];
		base += observation->base[i];
	}
	if (base <= 0)
		return verdict;
	verdict.value = amount / base;
	verdict.truth = lode_hypothesis_holds(hypothesis, verdict.value, threshold);
	if (n < MIN_INTERVALS)
		return verdict;
	for (unsigned i = 0; i < n; i++) {
		double residual = observation->amount[i] - verdict.value * observation->base[i];

		squares += residual * residual;
	}
	spread = sqrt(fmax(squares * n / (n - 1), chance_of_samples(observation, amount))) / base;
	if (spread <= 1e-12 * fabs(threshold)) /* what is left is rounding */
		verdict.confidence = verdict.value == threshold ? 0.5 : 1;
	else
		verdict.confidence = lode_student_below(fabs(verdict.value - threshold) / spread, n - 1.0);
	return verdict;
}

struct lode_verdict lode_observation_close(const struct lode_observation *observation,
					   enum lode_hypothesis hypothesis, double threshold)
{
	struct lode_verdict verdict = weigh(observation, hypothesis, threshold);

	verdict.concluded = 1;
	return verdict;
}

/* Paradyn's test: the mean of all must have been clear of the threshold, on one side, for some time. */
static void look_held(struct lode_observation *observation, enum lode_hypothesis hypothesis, double threshold,
		      const struct lode_test_options *options, uint64_t observed, struct lode_verdict *verdict)
{
	double value = lode_observation_mean(observation);
	int above = value > threshold * (1 + options->hysteresis);
	int below = value < threshold * (1 - options->hysteresis);
	int side = observation->last_base ? above - below : 0, guess;

	verdict->value = value;
	guess = hypothesis == LODE_SMALL_IO ? -side : side;
	if (guess && guess != observation->guess) {
		observation->guess = guess;
		observation->guess_since = observed;
	}
	verdict->truth = observation->guess ? observation->guess > 0
					    : lode_hypothesis_holds(hypothesis, value, threshold);
	verdict->concluded = observation->guess && observed >= options->minimum &&
			     observed - observation->guess_since >= options->hold;
}

void lode_observation_settle(struct lode_observation *observation)
{
	observation->looks = 0;
	observation->next_look = 0;
}

/* The chance of error that this look may take; sets when the next one is. */
static double spend_error(struct lode_observation *observation, const struct lode_test_options *options,
			  uint64_t observed)
{
	double k = (double)++observation->looks;

	if (options->maximum == UINT64_MAX) {
		observation->next_look = observed + 10 * options->interval;
		return options->error / 10;
	}
	observation->next_look = observed + observed / 4;
	return options->error / (k * (k + 1));
}

struct lode_verdict lode_observation_look(struct lode_observation *observation, enum lode_hypothesis hypothesis,
					  double threshold, const struct lode_test_options *options,
					  uint64_t observed)
{
	struct lode_verdict verdict = weigh(observation, hypothesis, threshold);

	if (options->held)
		look_held(observation, hypothesis, threshold, options, observed, &verdict);
	else if (observed >= options->minimum && observed >= observation->next_look &&
		 observation->filled >= MIN_INTERVALS)
		verdict.concluded = 1 - verdict.confidence <= spend_error(observation, options, observed);
	if (observed >= options->maximum)
		verdict.concluded = 1;
	return verdict;
}
