/*
 * What lode diff calls sure: against an oracle that knows nothing of whole numbers, orders and
 * blocks, and in simulations of hundreds of comparisons whose truth is known. The shares that
 * the manual promises are measured here.
 */
#include "cmocka_all.h"

#include "base/memory.h"
#include "latency/chance.h"
#include "latency/diff.h"
#include "random_stream.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the oracle ---- */

#define MAX_COLUMNS 6
#define MAX_STREAMS 20

struct table {
	double values[MAX_COLUMNS * MAX_STREAMS]; /* column after column */
	size_t columns;
	size_t base;
	size_t slow;
};

static double normal(uint64_t *seed)
{
	double u = ((double)random_below(seed, 1u << 30) + 1) / ((1u << 30) + 1);
	double v = (double)random_below(seed, 1u << 30) / (1u << 30);

	return sqrt(-2 * log(u)) * cos(2 * 3.14159265358979 * v);
}

/*
 * A tenth of the values at either end, and no more than a third of a side, counts as much as the
 * next one: a value with fewer than so many beyond it stays.
 */
static void clip(struct table *table)
{
	size_t streams = table->base + table->slow, side = table->base < table->slow ? table->base : table->slow;
	size_t most = streams / 10 < side / 3 ? streams / 10 : side / 3;

	for (size_t column = 0; column < table->columns; column++) {
		double *values = table->values + column * streams, low = -1e300, high = 1e300;

		for (size_t i = 0; i < streams; i++) {
			size_t below = 0, above = 0;

			for (size_t k = 0; k < streams; k++) {
				below += values[k] < values[i];
				above += values[k] > values[i];
			}
			if (below == most)
				low = values[i];
			if (above == most)
				high = values[i];
		}
		for (size_t i = 0; i < streams; i++)
			values[i] = values[i] < low ? low : values[i] > high ? high : values[i];
	}
}

/* Student's t with equal variances, the slow side chosen by the bits of `slow`. */
static double student(const struct table *table, size_t column, unsigned slow)
{
	size_t streams = table->base + table->slow;
	const double *values = table->values + column * streams;
	double sum[2] = { 0, 0 }, squares = 0, count[2] = { (double)table->base, (double)table->slow };

	for (size_t i = 0; i < streams; i++)
		sum[slow >> i & 1] += values[i];
	for (size_t i = 0; i < streams; i++) {
		double mean = sum[slow >> i & 1] / count[slow >> i & 1];

		squares += (values[i] - mean) * (values[i] - mean);
	}
	return (sum[1] / count[1] - sum[0] / count[0]) /
	       sqrt(squares / (count[0] + count[1] - 2) * (1 / count[0] + 1 / count[1]));
}

/*
 * The step-down rule in its own words: a column's q is the share of splits in which some column
 * that is no clearer than it is as clear as it, or that of a clearer column if that is more.
 */
static void oracle(const struct table *table, double *p, double *q)
{
	size_t streams = table->base + table->slow;
	unsigned real = (1u << streams) - (1u << table->base);
	double splits = 0;

	memset(p, 0, table->columns * sizeof(*p));
	memset(q, 0, table->columns * sizeof(*q));
	for (unsigned slow = 0; slow < 1u << streams; slow++) {
		if ((size_t)__builtin_popcount(slow) != table->slow)
			continue;
		splits++;
		for (size_t i = 0; i < table->columns; i++) {
			double own = student(table, i, real) - 1e-9;
			int any = 0;

			p[i] += student(table, i, slow) >= own;
			for (size_t j = 0; j < table->columns; j++)
				any |= student(table, j, real) <= own + 1e-9 && student(table, j, slow) >= own;
			q[i] += any;
		}
	}
	for (size_t i = 0; i < table->columns; i++) {
		/* Either side might have been the slower one. */
		p[i] = fmin(1, 2 * p[i] / splits);
		q[i] = fmin(1, 2 * q[i] / splits);
	}
	for (size_t i = 0; i < table->columns; i++)
		for (size_t j = 0; j < table->columns; j++)
			if (student(table, j, real) > student(table, i, real))
				q[i] = fmax(q[i], q[j]);
}

static void p_and_q_are_those_of_the_oracle(void **state)
{
	static const size_t sizes[][2] = { { 4, 4 }, { 3, 5 }, { 6, 3 }, { 5, 5 }, { 2, 8 } };
	uint64_t seed = 5;

	(void)state;
	for (size_t round = 0; round < 40; round++) {
		struct table table = { .columns = 1 + random_below(&seed, MAX_COLUMNS),
				       .base = sizes[round % 5][0],
				       .slow = sizes[round % 5][1] };
		size_t streams = table.base + table.slow;
		struct lode_chance_input input = {
			table.values, table.columns, table.base, table.slow, 0, LODE_DIFF_LEVEL, 1
		};
		struct lode_chance_column found[MAX_COLUMNS];
		double p[MAX_COLUMNS], q[MAX_COLUMNS], z;

		for (size_t i = 0; i < table.columns * streams; i++)
			table.values[i] = 100 + 10 * normal(&seed) +
					  (i % streams >= table.base && i / streams == 0 ? 25 : 0);
		assert_int_equal(lode_chance_test(&input, found, &z), 0);
		clip(&table);
		oracle(&table, p, q);
		for (size_t i = 0; i < table.columns; i++) {
			assert_true(fabs(found[i].p - p[i]) < 1e-9);
			assert_true(fabs(found[i].q - q[i]) < 1e-9);
			assert_true(found[i].p <= found[i].q);
		}
	}
}

static void drawn_splits_come_near_all_of_them_whatever_the_threads(void **state)
{
	struct table table = { .columns = 3, .base = 10, .slow = 10 };
	struct lode_chance_input input = { table.values, 3, 10, 10, 0, LODE_DIFF_LEVEL, 1 };
	struct lode_chance_column found[3], again[3];
	double p[3], q[3], z;
	uint64_t seed = 9;

	(void)state;
	for (size_t i = 0; i < 60; i++)
		table.values[i] = 100 + 10 * normal(&seed) + (i % 20 >= 10 ? 8.0 * (double)(i / 20) : 0);
	assert_int_equal(lode_chance_test(&input, found, &z), 0);
	input.jobs = 3;
	assert_int_equal(lode_chance_test(&input, again, &z), 0);
	clip(&table);
	oracle(&table, p, q); /* of all 184,756 splits */
	for (size_t i = 0; i < 3; i++) {
		assert_true(found[i].p == again[i].p && found[i].q == again[i].q);
		/* 9,999 draws, each counting twice: four standard errors, and one that is always added. */
		assert_true(fabs(found[i].p - p[i]) < 8 * sqrt(p[i] / 2 / 9999) + 0.0003);
		assert_true(fabs(found[i].q - q[i]) < 8 * sqrt(q[i] / 2 / 9999) + 0.0003);
	}
	assert_true(q[2] < LODE_DIFF_LEVEL);
}

static void so_few_streams_that_nothing_can_be_sure_are_reported(void **state)
{
	(void)state;
	assert_false(lode_chance_can_detect(0, 9, 0.05));
	assert_false(lode_chance_can_detect(1, 1, 0.05));
	assert_false(lode_chance_can_detect(3, 3, 0.05)); /* one split of 20 is no rare one */
	assert_true(lode_chance_can_detect(4, 4, 0.05));
	assert_false(lode_chance_can_detect(3, 4, 0.05));
	assert_true(lode_chance_can_detect(3, 5, 0.05));
	assert_false(lode_chance_can_detect(1, 39, 0.05));
	assert_true(lode_chance_can_detect(1, 40, 0.05));
	assert_true(lode_chance_can_detect(1000000, 1000000, 0.05));
	assert_true(lode_chance_streams(0, 1, 4, 0.05) == 4);
	assert_true(isinf(lode_chance_streams(1, 0, 4, 0.05)));
}

/* ---- simulated runs ---- */

/* Sanitizers look at memory, not at shares, and take ten times as long. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define COMPARISONS(number) ((number) / 10)
#else
#define COMPARISONS(number) (number)
#endif

#define CONTEXTS 60
#define PERIOD   1e6 /* ns between two samples */
#define SAMPLES  600 /* a run */

/* Latencies of a side as inference leaves them: `main` with CONTEXTS functions, each calling one more. */
struct side {
	struct lode_latency latency;
	double shares[CONTEXTS];
};

static void side_make(struct side *side, size_t streams)
{
	struct lode_latency *latency = &side->latency;
	struct lode_dictionary *dictionary = &latency->dictionary;
	uint32_t main_node;
	double sum = 0;

	memset(side, 0, sizeof(*side));
	assert_int_equal(lode_dictionary_init(dictionary), 0);
	main_node =
		lode_stack_tree_child(&dictionary->tree, 0, lode_frames_parse(&dictionary->frames, "app!main", 8));
	for (unsigned i = 0; i < CONTEXTS; i++) {
		char name[32];
		uint32_t node;

		snprintf(name, sizeof(name), "app!f%u", i);
		node = lode_stack_tree_child(&dictionary->tree, main_node,
					     lode_frames_parse(&dictionary->frames, name, strlen(name)));
		assert_int_equal(node, i + 2);
		sum += side->shares[i] = 1.0 / (i + 1);
	}
	for (unsigned i = 0; i < CONTEXTS; i++)
		side->shares[i] /= sum;
	latency->stream_count = streams;
	latency->node_count = dictionary->tree.count;
	latency->nodes = lode_calloc(latency->node_count, sizeof(*latency->nodes));
	latency->own = lode_calloc(latency->node_count, sizeof(*latency->own));
	latency->rows = lode_calloc(latency->node_count * streams, sizeof(*latency->rows));
	for (uint32_t node = 1; node < latency->node_count; node++) {
		latency->nodes[node].count = 1;
		for (size_t i = 0; i < streams; i++)
			latency->rows[latency->row_count++] =
				(struct lode_latency_row){ .node = node, .stream = (uint32_t)i };
	}
}

static void side_release(struct side *side)
{
	lode_free(side->latency.nodes);
	lode_free(side->latency.own);
	lode_free(side->latency.rows);
	lode_dictionary_release(&side->latency.dictionary);
}

/* A Poisson number; by its normal neighbour where that is near. */
static double poisson(double mean, uint64_t *seed)
{
	double limit = exp(-mean), product = 1;
	int count = -1;

	if (mean > 40)
		return fmax(0, floor(mean + sqrt(mean) * normal(seed) + 0.5));
	do {
		product *= (double)random_below(seed, 1u << 30) / (1u << 30);
		count++;
	} while (product > limit);
	return count;
}

struct noise {
	double run;     /* all of a run varies by this share, from run to run */
	double context; /* and each context by itself */
	int samples;    /* and is seen by samples */
};

#define EVERYWHERE UINT32_MAX /* all functions are slower, by the same share */

/* Streams whose function `slower` takes `more` of a whole run more. */
static void side_draw(struct side *side, const struct noise *noise, unsigned slower, double more, uint64_t *seed)
{
	double run[64];

	for (size_t i = 0; i < side->latency.stream_count; i++)
		run[i] = 1 + noise->run * normal(seed);
	for (size_t i = 0; i < side->latency.row_count; i++) {
		struct lode_latency_row *row = &side->latency.rows[i];
		double time;

		if (row->node < 2)
			continue;
		time = side->shares[row->node - 2] * (1 + noise->context * normal(seed)) * run[row->stream];
		time = fmax(0, time + (slower == EVERYWHERE      ? more * side->shares[row->node - 2]
				       : row->node - 2 == slower ? more
								 : 0)) *
		       SAMPLES;
		if (noise->samples)
			time = poisson(time, seed);
		row->own = (uint64_t)(time * PERIOD);
	}
}

struct outcome {
	int compared;
	int claimed;            /* something is sure */
	int named;              /* a cause is */
	int right;              /* and it is the slower function */
	double detectable;      /* share of a run, on average */
	double detectable_path; /* the same in a single path */
};

/* Compares `rounds` times; one of the five costliest functions of the slow side takes `more` of a run more. */
static struct outcome compare_with(unsigned where, size_t streams, const struct noise *noise, double more,
				   int rounds, uint64_t seed)
{
	static const struct lode_diff_options options = { .jobs = 1 };
	struct outcome outcome = { .compared = rounds };

	for (int round = 0; round < rounds; round++) {
		unsigned slower = where == EVERYWHERE ? where : (unsigned)random_below(&seed, 5);
		struct side base, slow;
		struct lode_diff diff;

		side_make(&base, streams);
		side_make(&slow, streams);
		side_draw(&base, noise, slower, 0, &seed);
		side_draw(&slow, noise, slower, more, &seed);
		assert_int_equal(lode_diff(&base.latency, &slow.latency, &options, &diff), 0);
		outcome.claimed += lode_diff_is_sure(&diff);
		outcome.named += diff.cause.node != 0;
		outcome.right += diff.cause.node == slower + 2;
		assert_true(diff.chance.detectable_path <= diff.chance.detectable);
		outcome.detectable += (double)diff.chance.detectable / (double)diff.base_whole / rounds;
		outcome.detectable_path += (double)diff.chance.detectable_path / (double)diff.base_whole / rounds;
		/* A cause is named where a function is sure and the whole run takes more, and nowhere else. */
		assert_true(diff.chance.sure_functions || !diff.chance.sure_paths);
		assert_true(!diff.cause.node || (diff.cause.q < LODE_DIFF_LEVEL && diff.difference > 0 &&
						 diff.chance.p < LODE_DIFF_CONFIRMED));
		lode_diff_release(&diff);
		side_release(&base);
		side_release(&slow);
	}
	return outcome;
}

static struct outcome compare(size_t streams, const struct noise *noise, double more, int rounds, uint64_t seed)
{
	return compare_with(0, streams, noise, more, rounds, seed);
}

static const struct noise usual = { 0.03, 0.05, 1 };

/* As many comparisons claim something where there is nothing as the level says, all kinds of noise together. */
static void equal_runs_are_claimed_to_differ_in_at_most_5_of_100_comparisons(void **state)
{
	static const struct noise noises[] = { { 0.03, 0.05, 1 }, { 0.1, 0, 1 }, { 0, 0, 1 }, { 0.05, 0.3, 0 } };
	static const size_t sizes[] = { 4, 5, 10, 20 };
	int compared = 0, claimed = 0;

	(void)state;
	for (size_t i = 0; i < 4; i++)
		for (size_t j = 0; j < 4; j++) {
			struct outcome outcome = compare(sizes[j], &noises[i], 0,
							 COMPARISONS(sizes[j] > 10 ? 40 : 100), 1 + 1000 * i + j);

			assert_true(outcome.claimed <= 2 + outcome.compared / 10);
			assert_true(outcome.named <= outcome.claimed);
			compared += outcome.compared;
			claimed += outcome.claimed;
		}
	print_message("%d of %d comparisons of equal runs claim a difference\n", claimed, compared);
	assert_true(claimed <= compared / 20);
}

static void ten_runs_a_side_show_10_percent_and_twenty_show_5(void **state)
{
	struct outcome ten = compare(10, &usual, 0.1, COMPARISONS(50), 1);
	struct outcome twenty = compare(20, &usual, 0.05, COMPARISONS(50), 2);

	(void)state;
	print_message("10 a side, +10 %%: %d of %d sure, %d with the cause; 20 a side, +5 %%: %d, %d\n",
		      ten.claimed, ten.compared, ten.right, twenty.claimed, twenty.right);
	assert_true(ten.claimed * 10 >= ten.compared * 9 && ten.right * 100 >= ten.compared * 85);
	assert_true(twenty.claimed * 10 >= twenty.compared * 9 && twenty.right * 100 >= twenty.compared * 85);
}

/* 80 of 100 are promised; fifty comparisons of that rate stay below 33 once in a hundred times. */
static void a_difference_as_large_as_is_reported_would_have_been_shown(void **state)
{
	static const size_t sizes[] = { 5, 10, 20 };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct outcome reported = compare(sizes[i], &usual, 0, COMPARISONS(30), 1 + i), in_path, spread;

		in_path = compare(sizes[i], &usual, reported.detectable_path, COMPARISONS(50), 100 + i);
		spread = compare_with(EVERYWHERE, sizes[i], &usual, reported.detectable, COMPARISONS(50), 300 + i);
		print_message("%zu a side: %.1f %% in a path, %.1f %% anywhere would be shown; of so large ones "
			      "%d and %d "
			      "of %d are\n",
			      sizes[i], 100 * reported.detectable_path, 100 * reported.detectable, in_path.claimed,
			      spread.claimed, spread.compared);
		assert_true(reported.detectable_path > 0.001);
		if (spread.compared < 50)
			continue; /* too few for a share */
		assert_true(in_path.claimed * 3 >= in_path.compared * 2 &&
			    spread.claimed * 3 >= spread.compared * 2);
		/* It is no empty promise: a third of it is mostly not shown. */
		in_path = compare(sizes[i], &usual, reported.detectable_path / 3, COMPARISONS(50), 200 + i);
		assert_true(in_path.claimed * 5 <= in_path.compared * 3);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(p_and_q_are_those_of_the_oracle),
		cmocka_unit_test(drawn_splits_come_near_all_of_them_whatever_the_threads),
		cmocka_unit_test(so_few_streams_that_nothing_can_be_sure_are_reported),
		cmocka_unit_test(equal_runs_are_claimed_to_differ_in_at_most_5_of_100_comparisons),
		cmocka_unit_test(ten_runs_a_side_show_10_percent_and_twenty_show_5),
		cmocka_unit_test(a_difference_as_large_as_is_reported_would_have_been_shown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
