/*
 * Intervals of differences within blocks: against an oracle that goes through all splits by their bits, and in
 * simulations of comparisons whose truth is known. How often intervals hold, which the manual promises, is measured here.
 */
#include "cmocka_all.h"

#include "base/memory.h"
#include "base/random.h"
#include "base/student.h"
#include "latency/blocked_intervals.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEVEL       0.05
#define MAX_COLUMNS 40
#define MAX_STREAMS 80

struct table {
	double values[MAX_COLUMNS * MAX_STREAMS]; /* column after column */
	double floors[MAX_COLUMNS];
	uint32_t blocks[MAX_STREAMS];
	size_t columns;
	size_t base;
	size_t slow;
};

static double normal(struct lode_random *random)
{
	double u = lode_random_unit(random) + 0x1p-60, v = lode_random_unit(random);

	return sqrt(-2 * log(u)) * cos(2 * 3.14159265358979 * v);
}

static struct lode_blocked_use judge(const struct table *table, struct lode_blocked_interval *intervals)
{
	struct lode_blocked_input input = {
		.values = table->values,
		.floors = table->floors,
		.blocks = table->blocks,
		.columns = table->columns,
		.base = table->base,
		.slow = table->slow,
		.level = LEVEL,
		.jobs = 1,
	};
	struct lode_blocked_use use;

	assert_int_equal(lode_blocked_intervals(&input, intervals, &use), 0);
	return use;
}

/* ---- the oracle ---- */

/*
 * The difference of one column, its standard error and the degrees of freedom; `slow` says which streams are slow. Of fewer
 * than ten a side none is clipped.
 */
static double welch(const struct table *table, const double *values, unsigned slow, double floor, double *error,
		    double *free)
{
	size_t streams = table->base + table->slow;
	double weights = 0, more = 0, squares[2] = { 0, 0 }, freedom[2] = { 0, 0 }, spread[2] = { 0, 0 };

	for (int pass = 0; pass < 2; pass++)
		for (uint32_t block = 0; block < streams; block++) {
			double count[2] = { 0, 0 }, mean[2] = { 0, 0 }, weight;

			for (size_t i = 0; i < streams; i++)
				if (table->blocks[i] == block) {
					count[slow >> i & 1]++;
					mean[slow >> i & 1] += values[i];
				}
			if (!count[0] || !count[1])
				continue;
			weight = 1 / (1 / count[0] + 1 / count[1]);
			if (!pass) {
				weights += weight;
				continue;
			}
			weight /= weights;
			mean[0] /= count[0];
			mean[1] /= count[1];
			more += weight * (mean[1] - mean[0]);
			for (size_t i = 0; i < streams; i++)
				if (table->blocks[i] == block)
					squares[slow >> i & 1] += pow(values[i] - mean[slow >> i & 1], 2);
			for (int side = 0; side < 2; side++) {
				freedom[side] += count[side] - 1;
				spread[side] += weight * weight / count[side];
			}
		}
	if (freedom[0] < 4 || freedom[1] < 4)
		squares[0] = squares[1] = (squares[0] + squares[1]) / (freedom[0] + freedom[1]);
	else
		for (int side = 0; side < 2; side++)
			squares[side] /= freedom[side];
	for (int side = 0; side < 2; side++)
		spread[side] *= squares[side] + floor * floor;
	*error = sqrt(spread[0] + spread[1]);
	*free = freedom[0] < 4 || freedom[1] < 4
			? freedom[0] + freedom[1]
			: pow(*error, 4) / (pow(spread[0], 2) / freedom[0] + pow(spread[1], 2) / freedom[1]);
	return more;
}

static void take_residuals(const struct table *table, const double *values, double *residuals)
{
	size_t streams = table->base + table->slow;

	for (size_t i = 0; i < streams; i++) {
		double sum = 0, count = 0;

		for (size_t k = 0; k < streams; k++)
			if (table->blocks[k] == table->blocks[i] && (k < table->base) == (i < table->base)) {
				sum += values[k];
				count++;
			}
		residuals[i] = values[i] - sum / count;
	}
}

/* Whether a split has as many slow streams in each block as the real one. */
static int is_split(const struct table *table, unsigned slow)
{
	size_t streams = table->base + table->slow;

	for (uint32_t block = 0; block < streams; block++) {
		int more = 0;

		for (size_t i = 0; i < streams; i++)
			if (table->blocks[i] == block)
				more += (int)(slow >> i & 1) - (i >= table->base);
		if (more)
			return 0;
	}
	return 1;
}

static int rising(const void *a, const void *b)
{
	return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

static double critical_value(const struct table *table, size_t *splits)
{
	static double largest[1 << 16], residuals[MAX_COLUMNS][MAX_STREAMS];
	size_t streams = table->base + table->slow;

	*splits = 0;
	for (size_t at = 0; at < table->columns; at++)
		take_residuals(table, table->values + at * streams, residuals[at]);
	for (unsigned slow = 0; slow < 1u << streams; slow++) {
		double most = 0;

		if (!is_split(table, slow))
			continue;
		for (size_t at = 0; at < table->columns; at++) {
			double error, free,
				more = welch(table, residuals[at], slow, table->floors[at], &error, &free);

			most = fmax(most, fabs(more) / error);
		}
		largest[(*splits)++] = most;
	}
	qsort(largest, *splits, sizeof(*largest), rising);
	return largest[(size_t)((1 - LEVEL) * (double)*splits)];
}

/* One block or two, some columns; what is drawn at random differs a little from what all splits give. */
static void intervals_are_those_of_all_splits(void **state)
{
	struct lode_random random = { 1 };

	(void)state;
	for (int round = 0; round < 12; round++) {
		struct table table = { .columns = 1 + (size_t)round % 4 * 3,
				       .base = 6,
				       .slow = 5 + (size_t)round % 2 };
		struct lode_blocked_interval intervals[MAX_COLUMNS];
		size_t streams = table.base + table.slow, splits;
		double critical, own;

		for (size_t i = 0; i < streams; i++)
			table.blocks[i] = round % 3 ? i % 2 : 7;
		for (size_t i = 0; i < table.columns * streams; i++)
			table.values[i] = 100 * table.blocks[i % streams] + normal(&random);
		for (size_t i = 0; i < table.columns; i++)
			table.floors[i] = 0.01;
		assert_true(judge(&table, intervals).enough);
		critical = critical_value(&table, &splits);
		own = fmin(2 * lode_student_below(-critical, (double)streams - (round % 3 ? 4 : 2)), LEVEL);
		for (size_t i = 0; i < table.columns; i++) {
			double error, free, reach = (intervals[i].high - intervals[i].low) / 2;
			double more = welch(&table, table.values + i * streams,
					    (1u << streams) - (1u << table.base), table.floors[i], &error, &free);

			assert_true(fabs(more - intervals[i].more) < 1e-9);
			assert_true(fabs(intervals[i].low + reach - more) < 1e-9);
			assert_true(fabs(reach / error / lode_student_point(1 - own / 2, free) - 1) < 0.06);
		}
	}
}

/* ---- what is promised ---- */

enum noise { NORMAL, SKEWED, HEAVY, DISTURBED, NOISES };

static double draw(struct lode_random *random, enum noise noise)
{
	double z = normal(random);

	switch (noise) {
	case SKEWED:
		return exp(0.8 * z);
	case HEAVY: /* Student's, 3 degrees of freedom */
		return z / sqrt((pow(normal(random), 2) + pow(normal(random), 2) + pow(normal(random), 2)) / 3);
	case DISTURBED: /* one run of 20 takes much longer */
		return z + (lode_random_below(random, 20) ? 0 : 15);
	default:
		return z;
	}
}

struct setting {
	size_t base;
	size_t slow;
	size_t columns;
	uint32_t hosts;
	double slow_scale; /* the slow side varies so much more */
	enum noise noise;
};

/* A comparison whose columns share some of their noise; the slow side takes `more` more. */
static void simulate(const struct setting *setting, double more, struct lode_random *random, struct table *table)
{
	size_t streams = setting->base + setting->slow;

	*table = (struct table){ .columns = setting->columns, .base = setting->base, .slow = setting->slow };
	for (size_t i = 0; i < streams; i++) {
		double common = draw(random, setting->noise);

		table->blocks[i] = (uint32_t)i % setting->hosts;
		for (size_t at = 0; at < setting->columns; at++) {
			double noise = setting->columns == 1 ? common
							     : 0.6 * common + 0.8 * draw(random, setting->noise);

			table->values[at * streams + i] = 30 * table->blocks[i] +
							  noise * (i < setting->base ? 1 : setting->slow_scale) +
							  (i < setting->base ? 0 : more);
		}
	}
	for (size_t at = 0; at < setting->columns; at++)
		table->floors[at] = 0.001;
}

/* How often of `rounds` comparisons some column's interval does not hold the truth, or is wholly above it. */
static void count_failures(const struct setting *setting, int rounds, int *failed, int *above)
{
	struct lode_blocked_interval intervals[MAX_COLUMNS];
	struct lode_random random = { 42 };
	struct table table;

	*failed = *above = 0;
	for (int i = 0; i < rounds; i++) {
		int out = 0, over = 0;

		simulate(setting, 2, &random, &table);
		judge(&table, intervals);
		for (size_t at = 0; at < setting->columns; at++) {
			over |= intervals[at].low > 2;
			out |= intervals[at].low > 2 || intervals[at].high < 2;
		}
		*failed += out;
		*above += over;
	}
}

static void intervals_hold_as_often_as_promised(void **state)
{
	static const struct setting settings[] = {
		{ 4, 4, 1, 1, 1, NORMAL },      { 5, 5, 12, 1, 1, NORMAL },   { 10, 10, 1, 1, 1, NORMAL },
		{ 10, 10, 20, 1, 1, NORMAL },   { 20, 20, 20, 4, 1, NORMAL }, { 10, 10, 1, 1, 1, SKEWED },
		{ 20, 20, 10, 1, 1, SKEWED },   { 10, 10, 10, 1, 1, HEAVY },  { 20, 20, 10, 4, 1, HEAVY },
		{ 20, 20, 5, 1, 1, DISTURBED }, { 40, 10, 1, 1, 3, NORMAL },  { 10, 30, 1, 1, 3, NORMAL },
		{ 30, 10, 10, 2, 2, NORMAL },   { 40, 40, 10, 4, 1, HEAVY },  { 12, 12, 10, 6, 1, NORMAL },
	};
	int rounds = getenv("LODE_TEST_ROUNDS") ? atoi(getenv("LODE_TEST_ROUNDS")) : 100;

	(void)state;
	for (size_t i = 0; i < sizeof(settings) / sizeof(*settings); i++) {
		const struct setting *s = &settings[i];
		double limit = LEVEL * rounds;
		int failed, above;

		count_failures(s, rounds, &failed, &above);
		print_message("%zu and %zu streams, %zu columns, %u hosts, scale %g, noise %d: %.1f %% fail, %.1f "
			      "%% above\n",
			      s->base, s->slow, s->columns, s->hosts, s->slow_scale, s->noise,
			      100.0 * failed / rounds, 100.0 * above / rounds);
		/* The promise and three standard errors of counting. */
		assert_true(failed <= limit + 3 * sqrt(limit));
		assert_true(above <= limit);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(intervals_are_those_of_all_splits),
		cmocka_unit_test(intervals_hold_as_often_as_promised),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
