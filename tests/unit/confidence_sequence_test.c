/*
 * Confidence sequences: against an oracle that plays all bets value by value and tries centres one after another, and
 * in simulated experiments that are looked at after every value. That intervals hold from the first look to the last is
 * measured here.
 */
#include "cmocka_all.h"

#include "base/error.h"
#include "base/random.h"
#include "latency/confidence_sequence.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEVEL 0.05
#define MAX   400

static double normal(struct lode_random *random)
{
	double u = lode_random_unit(random) + 0x1p-60, v = lode_random_unit(random);

	return sqrt(-2 * log(u)) * cos(2 * 3.14159265358979 * v);
}

/* ---- the oracle ---- */

static int rising(const void *a, const void *b)
{
	return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

static double median(const double *values, size_t count)
{
	double sorted[MAX];

	memcpy(sorted, values, count * sizeof(*sorted));
	qsort(sorted, count, sizeof(*sorted), rising);
	return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
}

/* Whether five players, of whom each begins with a fifth of 1, own 40 together after betting on one side of `centre`. */
static int is_ruled_out(const double *values, size_t count, double centre, int above)
{
	double money[5] = { 0.2, 0.2, 0.2, 0.2, 0.2 }, sum = 0;

	for (size_t i = 2; i < count; i++) {
		double off[MAX], middle = median(values, i), distance;

		for (size_t k = 0; k < i; k++)
			off[k] = fabs(values[k] - middle);
		distance = fabs(values[i] - centre) / (1.4826 * median(off, i));
		distance = distance > 1.5 ? 1.5 : distance;
		for (int player = 0; player < 5; player++) {
			double share = 1 - 2 / (exp(2 * 0.1 * (1 << player) * distance) + 1);

			money[player] *= (values[i] > centre) == above ? 1 + share : 1 - share;
		}
	}
	for (int player = 0; player < 5; player++)
		sum += money[player];
	return sum >= 2 / LEVEL;
}

static void intervals_are_what_no_bet_rules_out(void **state)
{
	struct lode_random random = { 7 };

	(void)state;
	for (int round = 0; round < 6; round++) {
		struct lode_confidence_sequence sequence = { 0 };
		struct lode_confidence_interval interval;
		size_t count = 11 + (size_t)round * 9;
		double step;

		for (size_t i = 0; i < count; i++)
			assert_int_equal(lode_confidence_sequence_add(&sequence, 3 + normal(&random)), 0);
		assert_int_equal(lode_confidence_sequence_look(&sequence, LEVEL, &interval), 0);
		step = (interval.high - interval.low) / 50;
		assert_true(step > 0 && isfinite(step));
		for (int i = -10; i <= 60; i++) {
			double centre = interval.low + (i + 0.5) * step;

			assert_int_equal(is_ruled_out(sequence.values, count, centre, 1), i < 0);
			assert_int_equal(is_ruled_out(sequence.values, count, centre, 0), i >= 50);
		}
		lode_confidence_sequence_release(&sequence);
	}
}

/* ---- what is promised ---- */

enum noise { NORMAL, HEAVY, DISTURBED, SKEWED_RUNS, NOISES };

/* The difference of two runs, which is symmetric even where runs are not. */
static double draw(struct lode_random *random, enum noise noise)
{
	double z = normal(random);

	switch (noise) {
	case HEAVY: /* Cauchy's: it has no mean */
		return z / normal(random);
	case DISTURBED:
		return z + (lode_random_below(random, 10) ? 0 : lode_random_below(random, 2) ? 15 : -15);
	case SKEWED_RUNS:
		return exp(z) - exp(normal(random));
	default:
		return z;
	}
}

/* Of `rounds` experiments, those whose interval misses the truth at some look. */
static void intervals_hold_at_every_look(void **state)
{
	int rounds = getenv("LODE_TEST_ROUNDS") ? atoi(getenv("LODE_TEST_ROUNDS")) : 80;
	size_t values = 60;

	(void)state;
	for (enum noise noise = NORMAL; noise < NOISES; noise++) {
		struct lode_random random = { 11 + noise };
		int missed = 0;

		for (int round = 0; round < rounds; round++) {
			struct lode_confidence_sequence sequence = { 0 };
			int misses = 0;

			for (size_t i = 0; i < values; i++) {
				struct lode_confidence_interval interval;

				assert_int_equal(lode_confidence_sequence_add(&sequence, 2 + draw(&random, noise)),
						 0);
				if (i % 4 != 3)
					continue;
				assert_int_equal(lode_confidence_sequence_look(&sequence, LEVEL, &interval), 0);
				misses |= interval.low > 2 || interval.high < 2;
			}
			missed += misses;
			lode_confidence_sequence_release(&sequence);
		}
		print_message("noise %u: %.1f %% of %d experiments miss the truth at one of %zu looks\n", noise,
			      100.0 * missed / rounds, rounds, values / 4);
		assert_true(missed <= LEVEL * rounds);
	}
}

static void intervals_become_narrow(void **state)
{
	struct lode_confidence_sequence sequence = { 0 };
	struct lode_confidence_interval interval;
	struct lode_random random = { 5 };

	(void)state;
	assert_int_equal(lode_confidence_sequence_look(&sequence, LEVEL, &interval), 0);
	assert_true(isinf(interval.low) && isinf(interval.high) && interval.estimate == 0);
	for (int i = 0; i < 8; i++)
		lode_confidence_sequence_add(&sequence, normal(&random));
	lode_confidence_sequence_look(&sequence, LEVEL, &interval);
	assert_true(isinf(interval.low) && isinf(interval.high));
	while (sequence.count < 300)
		lode_confidence_sequence_add(&sequence, normal(&random));
	lode_confidence_sequence_look(&sequence, LEVEL, &interval);
	/* Of a mean of 300 the usual interval, for one look, reaches 0.113. */
	assert_true(interval.high - interval.low < 0.5 && fabs(interval.estimate) < 0.15);
	lode_confidence_sequence_release(&sequence);
}

static void ends_alone_are_those_of_a_look(void **state)
{
	struct lode_confidence_sequence sequence = { 0 };
	struct lode_random random = { 11 };

	(void)state;
	for (int i = 0; i < 60; i++) {
		struct lode_confidence_interval look, ends = { .estimate = 77 };

		assert_int_equal(lode_confidence_sequence_look(&sequence, LEVEL, &look), 0);
		assert_int_equal(lode_confidence_sequence_ends(&sequence, LEVEL, &ends), 0);
		assert_true(look.low == ends.low && look.high == ends.high);
		lode_confidence_sequence_add(&sequence, normal(&random));
	}
	lode_confidence_sequence_release(&sequence);
}

static void equal_values_are_no_trouble(void **state)
{
	struct lode_confidence_sequence sequence = { 0 };
	struct lode_confidence_interval interval;

	(void)state;
	for (int i = 0; i < 20; i++)
		lode_confidence_sequence_add(&sequence, 1);
	lode_confidence_sequence_look(&sequence, LEVEL, &interval);
	assert_true(fabs(interval.low - 1) < 1e-9 && fabs(interval.high - 1) < 1e-9 && interval.estimate == 1);
	lode_confidence_sequence_release(&sequence);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(intervals_are_what_no_bet_rules_out),
		cmocka_unit_test(intervals_hold_at_every_look),
		cmocka_unit_test(intervals_become_narrow),
		cmocka_unit_test(ends_alone_are_those_of_a_look),
		cmocka_unit_test(equal_values_are_no_trouble),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
