/* The four metrics, shares of streams and intervals, against loops over all rows, definitions and a simulation. */
#include "mine_fixture.h"

#include "base/permutation.h"
#include "failing_memory.h"
#include "mine/pattern_costs.h"

#include <math.h>

#define FRAMES 5

/* ---- areas made by hand ---- */

static void add_row(struct lode_area *area, const struct lode_area_row *row)
{
	struct lode_area_rows *rows = &area->rows[LODE_WAIT];

	assert_int_equal(lode_grow(&rows->items, &rows->capacity, rows->count + 1, sizeof(*rows->items)), 0);
	rows->items[rows->count++] = *row;
}

static uint64_t random_cost(uint64_t *seed, int huge)
{
	return huge && !random_below(seed, 4) ? UINT64_MAX - random_below(seed, 3) : random_below(seed, 100);
}

/* Rows by stack, then by stream, as lode_area_collect makes them. */
static void random_area(struct lode_area *area, uint64_t *seed, size_t nodes, size_t streams, int huge)
{
	struct world world;

	memset(area, 0, sizeof(*area));
	random_world(&world, seed, FRAMES, nodes);
	free(world.occurrences);
	area->dictionary = world.dictionary;
	area->stream_count = streams;
	for (uint32_t stack = 0; stack < area->dictionary.tree.count; stack++)
		for (uint32_t stream = 0; stream < streams; stream++) {
			struct lode_area_row row = {
				.stack = stack,
				.stream = stream,
				.cost = random_cost(seed, huge),
				.events = 1 + random_cost(seed, 0),
				.longest = random_below(seed, 5),
			};

			if (!random_below(seed, 3))
				add_row(area, &row);
		}
}

static void release_area(struct lode_area *area)
{
	lode_free(area->rows[LODE_WAIT].items);
	lode_dictionary_release(&area->dictionary);
}

/* ---- the oracle ---- */

static int row_matches(const struct lode_area *area, const struct lode_area_row *row,
		       const struct lode_sequence *patterns, size_t count)
{
	const struct lode_stack_tree *tree = &area->dictionary.tree;
	uint32_t depth = lode_stack_tree_depth(tree, row->stack);
	uint32_t *frames = calloc(depth + 1, sizeof(*frames));
	int found = 0;

	lode_stack_tree_frames(tree, row->stack, frames, depth);
	for (size_t i = 0; i < count; i++) {
		uint32_t matched = 0;

		for (uint32_t k = 0; k < depth && matched < patterns[i].length; k++)
			matched += frames[k] == patterns[i].frames[matched];
		found |= matched == patterns[i].length;
	}
	free(frames);
	return found;
}

static uint64_t add(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static void check_stream(const struct lode_area *area, uint32_t stream, const struct lode_sequence *patterns,
			 size_t count, const struct lode_shares *shares, size_t *at)
{
	const struct lode_area_rows *rows = &area->rows[LODE_WAIT];
	struct lode_share expected = { .stream = stream, .row = LODE_NONE };

	for (uint32_t i = 0; i < rows->count; i++) {
		const struct lode_area_row *row = &rows->items[i];

		if (row->stream != stream || !row_matches(area, row, patterns, count))
			continue;
		expected.cost = add(expected.cost, row->cost);
		expected.events = add(expected.events, row->events);
		if (expected.row == LODE_NONE || row->longest > rows->items[expected.row].longest)
			expected.row = i;
	}
	if (expected.row == LODE_NONE)
		return;
	assert_true(*at < shares->count);
	assert_memory_equal(&shares->items[*at], &expected, sizeof(expected));
	(*at)++;
}

static void check_group(const struct lode_area *area, const struct lode_pattern_costs *ranking,
			const struct lode_sequence *patterns, size_t count, struct lode_shares *shares)
{
	struct lode_metrics metrics, alone;
	uint64_t cost = 0, events = 0;
	size_t streams = 0;

	assert_int_equal(lode_pattern_costs_measure(ranking, patterns, count, 0, &metrics, shares), 0);
	for (size_t i = 0; i < area->rows[LODE_WAIT].count; i++) {
		const struct lode_area_row *row = &area->rows[LODE_WAIT].items[i];

		if (row_matches(area, row, patterns, count)) {
			cost = add(cost, row->cost);
			events = add(events, row->events);
		}
	}
	for (uint32_t stream = 0; stream < area->stream_count; stream++)
		check_stream(area, stream, patterns, count, shares, &streams);
	assert_int_equal(shares->count, streams);
	assert_int_equal(metrics.cost, cost);
	assert_int_equal(metrics.events, events);
	assert_int_equal(metrics.streams, streams);
	assert_int_equal(metrics.average, events ? (uint64_t)roundl((long double)cost / events) : 0);
	assert_int_equal(metrics.low, cost);
	assert_int_equal(metrics.high, cost);
	assert_int_equal(lode_pattern_costs_measure(ranking, patterns, count, 0, &alone, NULL), 0);
	assert_memory_equal(&alone, &metrics, sizeof(metrics));
}

static void metrics_are_those_of_all_rows_that_contain_a_pattern(void **state)
{
	struct lode_shares shares = { 0 };
	uint64_t seed = 31;

	(void)state;
	for (int round = 0; round < 600; round++) {
		uint32_t frames[4][4];
		struct lode_sequence patterns[4];
		struct lode_matcher matcher;
		struct lode_pattern_costs *ranking;
		struct lode_area area;

		random_area(&area, &seed, random_below(&seed, 25), random_below(&seed, 5), round % 4 == 0);
		assert_int_equal(lode_matcher_init(&matcher, &area.dictionary.tree, area.dictionary.frames.count),
				 0);
		ranking = lode_pattern_costs_make(&area, LODE_WAIT, &matcher);
		assert_non_null(ranking);
		for (int i = 0; i < 4; i++) {
			patterns[i] = (struct lode_sequence){ frames[i], (uint32_t)random_below(&seed, 4) };
			for (uint32_t k = 0; k < patterns[i].length; k++)
				frames[i][k] = (uint32_t)random_below(&seed, FRAMES);
		}
		for (size_t count = 0; count <= 4; count++)
			check_group(&area, ranking, patterns, count, &shares);
		lode_pattern_costs_free(ranking);
		lode_matcher_release(&matcher);
		release_area(&area);
	}
	lode_shares_release(&shares);
}

static void an_event_that_two_patterns_match_counts_once(void **state)
{
	struct lode_area area = { .stream_count = 2 };
	struct lode_matcher matcher;
	struct lode_pattern_costs *ranking;
	struct lode_metrics metrics;
	struct world world;
	uint32_t a, b, both;

	(void)state;
	world_start(&world);
	both = world_stack(&world, "a b", 1);
	a = world_frame(&world, "a");
	b = world_frame(&world, "b");
	area.dictionary = world.dictionary;
	add_row(&area, &(struct lode_area_row){ .stack = both, .stream = 1, .cost = 10, .events = 4 });
	assert_int_equal(lode_matcher_init(&matcher, &area.dictionary.tree, 2), 0);
	ranking = lode_pattern_costs_make(&area, LODE_WAIT, &matcher);
	assert_non_null(ranking);
	assert_int_equal(lode_pattern_costs_measure(ranking, (struct lode_sequence[]){ { &a, 1 }, { &b, 1 } }, 2,
						    0, &metrics, NULL),
			 0);
	assert_int_equal(metrics.cost, 10);
	assert_int_equal(metrics.events, 4);
	assert_int_equal(metrics.streams, 1);
	assert_int_equal(metrics.average, 3);
	lode_pattern_costs_free(ranking);
	lode_matcher_release(&matcher);
	lode_free(area.rows[LODE_WAIT].items);
	world_stop(&world);
}

static void ranks_have_names(void **state)
{
	(void)state;
	assert_string_equal(lode_rank_name(LODE_RANK_TOTAL), "total");
	assert_string_equal(lode_rank_name(LODE_RANK_STREAMS), "streams");
	assert_string_equal(lode_rank_name(LODE_RANK_EVENTS), "events");
	assert_string_equal(lode_rank_name(LODE_RANK_AVERAGE), "average");
}

/* ---- intervals ---- */

/* The definition of total_interval.c, in wider numbers and with the library's functions. */
static struct lode_interval plain_interval(const uint64_t *costs, size_t nonzero, size_t streams, long double t)
{
	long double n = (long double)streams, total = 0, second = 0, third = 0, reach, skewness;

	for (size_t i = 0; i < nonzero; i++)
		total += (long double)costs[i];
	for (size_t i = 0; i < streams; i++) {
		long double off = (i < nonzero ? (long double)costs[i] : 0) - total / n;

		second += off * off / n;
		third += off * off * off / n;
	}
	reach = t * sqrtl(second * n / (n - 1)) * sqrtl(n) / total;
	skewness = second > 0 ? third / powl(second, 1.5L) : 0;
	if (skewness < 0)
		skewness = 0;
	return (struct lode_interval){ (double)(total * expl(-reach)),
				       (double)(total * expl(reach * (1 + 0.3L * skewness / sqrtl(n)))) };
}

static void intervals_are_those_of_their_definition(void **state)
{
	/* Student's points as printed in tables. */
	static const struct {
		size_t streams;
		long double t;
	} cases[] = { { 3, 4.303L },  { 4, 3.182L },  { 5, 2.776L },  { 10, 2.262L },  { 20, 2.093L },
		      { 30, 2.045L }, { 31, 2.042L }, { 41, 2.021L }, { 121, 1.980L }, { 1001, 1.962L } };
	uint64_t seed = 17, costs[1001];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		for (int round = 0; round < 20; round++) {
			size_t streams = cases[i].streams, nonzero = 1 + random_below(&seed, streams);
			struct lode_interval plain, interval;

			for (size_t k = 0; k < nonzero; k++)
				costs[k] = 1 + random_below(&seed, round % 2 ? 1000 : 1000000000000);
			plain = plain_interval(costs, nonzero, streams, cases[i].t);
			assert_true(lode_total_interval(costs, nonzero, streams, &interval));
			assert_true(fabs(plain.low - interval.low) < 0.002 * plain.low);
			assert_true(fabs(plain.high - interval.high) < 0.002 * plain.high);
		}
}

static double uniform(uint64_t *seed)
{
	return (double)(random_next(seed) >> 11) * 0x1p-53;
}

static double normal(uint64_t *seed)
{
	return sqrt(-2 * log(1 - uniform(seed))) * cos(6.283185307179586 * uniform(seed));
}

/* What a stream costs, in units of a million; the mean of each is known. */
enum population {
	NORMAL,
	UNIFORM,
	EXPONENTIAL,
	LOG_NORMAL,
	HEAVY,
	HALF_EXPONENTIAL,
	FIFTH_EXPONENTIAL,
	POPULATIONS
};

static double draw_cost(enum population population, uint64_t *seed)
{
	switch (population) {
	case NORMAL:
		return fmax(0, 1 + 0.3 * normal(seed));
	case UNIFORM:
		return uniform(seed);
	case EXPONENTIAL:
		return -log(1 - uniform(seed));
	case LOG_NORMAL:
		return exp(0.5 * normal(seed));
	case HEAVY:
		return exp(normal(seed));
	case HALF_EXPONENTIAL:
		return uniform(seed) < 0.5 ? -log(1 - uniform(seed)) : 0;
	default:
		return uniform(seed) < 0.2 ? -log(1 - uniform(seed)) : 0;
	}
}

/* In how many of 100 simulated corpora that have the cluster at all the interval holds the expected total. */
static double simulate_coverage(enum population population, size_t streams, uint64_t *seed)
{
	static const double means[POPULATIONS] = { 1, 0.5, 1, 1.1331485, 1.6487213, 0.5, 0.2 };
	enum { CORPORA = 6000 };
	size_t held = 0, all = 0;

	while (all < CORPORA) {
		struct lode_interval interval;
		uint64_t costs[100];
		size_t nonzero = 0;

		for (size_t i = 0; i < streams; i++) {
			costs[nonzero] = (uint64_t)(1e6 * draw_cost(population, seed));
			nonzero += costs[nonzero] > 0;
		}
		if (!nonzero)
			continue; /* no cluster */
		assert_true(lode_total_interval(costs, nonzero, streams, &interval));
		held += interval.low <= 1e6 * means[population] * (double)streams &&
			interval.high >= 1e6 * means[population] * (double)streams;
		all++;
	}
	return 100.0 * (double)held / (double)all;
}

/*
 * 6000 corpora each: two standard errors are 0.6. A bootstrap holds 68 to 83 with 4
 * streams here, 77 to 91 with 10.
 */
static void intervals_hold_what_they_promise(void **state)
{
	static const size_t sizes[] = { 4, 10, 30, 100 };
	uint64_t seed = 1234567;

	(void)state;
	for (int population = 0; population < POPULATIONS; population++)
		for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
			double held = simulate_coverage((enum population)population, sizes[i], &seed);
			double least = population == HEAVY ? 89 : 92.4;

			print_message("population %d, %zu streams: %.1f of 100\n", population, sizes[i], held);
			assert_true(held >= least && held <= 98);
		}
}

static void the_interval_of_nothing_is_nothing_and_few_streams_have_none(void **state)
{
	const uint64_t costs[] = { 7, 7, 7 };
	struct lode_interval interval;

	(void)state;
	assert_true(lode_total_interval(costs, 0, 10, &interval));
	assert_true(interval.low == 0 && interval.high == 0);
	assert_true(lode_total_interval(costs, 3, 3, &interval));
	assert_true(interval.low == 21 && interval.high == 21);
	assert_false(lode_total_interval(costs, 1, 1, &interval));
	assert_true(interval.low == 7 && interval.high == 7);
	assert_false(lode_total_interval(costs, 2, 2, &interval));
	assert_true(interval.low == 14 && interval.high == 14);
}

static void the_interval_of_a_group_spans_its_cost_and_is_always_the_same(void **state)
{
	struct lode_metrics metrics, again;
	struct lode_matcher matcher;
	struct lode_pattern_costs *ranking;
	struct lode_area area;
	uint64_t seed = 4;
	const uint32_t frame = 0;

	(void)state;
	random_area(&area, &seed, 30, 50, 0);
	assert_int_equal(lode_matcher_init(&matcher, &area.dictionary.tree, FRAMES), 0);
	ranking = lode_pattern_costs_make(&area, LODE_WAIT, &matcher);
	assert_non_null(ranking);
	assert_int_equal(lode_pattern_costs_measure(ranking, &(struct lode_sequence){ &frame, 1 }, 1, 1, &metrics,
						    NULL),
			 0);
	assert_true(metrics.low < metrics.cost && metrics.cost < metrics.high);
	assert_int_equal(lode_pattern_costs_measure(ranking, &(struct lode_sequence){ &frame, 1 }, 1, 1, &again,
						    NULL),
			 0);
	assert_memory_equal(&metrics, &again, sizeof(metrics));
	lode_pattern_costs_free(ranking);
	lode_matcher_release(&matcher);
	release_area(&area);
}

static void huge_costs_stop_at_the_largest_number(void **state)
{
	struct lode_area area = { .stream_count = 2 };
	struct lode_matcher matcher;
	struct lode_pattern_costs *ranking;
	struct lode_metrics metrics;
	struct world world;

	(void)state;
	world_start(&world);
	area.dictionary = world.dictionary;
	for (uint32_t stream = 0; stream < 2; stream++)
		add_row(&area, &(struct lode_area_row){ .stream = stream, .cost = UINT64_MAX, .events = 1 });
	assert_int_equal(lode_matcher_init(&matcher, &area.dictionary.tree, 0), 0);
	ranking = lode_pattern_costs_make(&area, LODE_WAIT, &matcher);
	assert_non_null(ranking);
	assert_int_equal(lode_pattern_costs_measure(ranking, &(struct lode_sequence){ NULL, 0 }, 1, 1, &metrics,
						    NULL),
			 0);
	assert_int_equal(metrics.cost, UINT64_MAX);
	assert_int_equal(metrics.low, UINT64_MAX);
	assert_int_equal(metrics.high, UINT64_MAX);
	lode_pattern_costs_free(ranking);
	lode_matcher_release(&matcher);
	lode_free(area.rows[LODE_WAIT].items);
	world_stop(&world);
}

/* ---- permutation test ---- */

/* All splits of a + b streams, as sets of bits; means in whole numbers by crossing out the divisors. */
static double exact_p(const uint64_t *all, size_t a, size_t b)
{
	uint64_t splits = 0, far = 0, real = 0;

	for (int measure = 1; measure >= 0; measure--)
		for (uint32_t set = 0; set < 1u << (a + b); set++) {
			uint64_t left = 0, right = 0, distance;

			if ((size_t)__builtin_popcount(set) != a || (measure && set != (1u << a) - 1))
				continue;
			for (size_t i = 0; i < a + b; i++)
				*(set >> i & 1 ? &left : &right) += all[i];
			distance = left * b > right * a ? left * b - right * a : right * a - left * b;
			if (measure)
				real = distance;
			splits += !measure;
			far += !measure && distance >= real;
		}
	return (double)far / (double)splits;
}

static void few_streams_are_tested_exactly(void **state)
{
	uint64_t seed = 8, all[10];

	(void)state;
	for (int round = 0; round < 400; round++) {
		size_t a = 1 + random_below(&seed, 5), b = 1 + random_below(&seed, 5);

		for (size_t i = 0; i < a + b; i++)
			all[i] = random_below(&seed, 6);
		assert_true(fabs(lode_permutation_p(all, a, all + a, b, 300) - exact_p(all, a, b)) < 1e-12);
	}
}

static void many_streams_are_tested_by_chance(void **state)
{
	uint64_t seed = 12, all[14];

	(void)state;
	for (int round = 0; round < 40; round++) {
		double p, exact;

		for (size_t i = 0; i < 14; i++)
			all[i] = random_below(&seed, 50) + (i < 7 ? random_below(&seed, 3) * 10 : 0);
		p = lode_permutation_p(all, 7, all + 7, 7, 3000);
		exact = exact_p(all, 7, 7);
		assert_true(fabs(p - exact) < 0.05);
		assert_true(p >= 1 / 3001.0);
		assert_true(p == lode_permutation_p(all, 7, all + 7, 7, 3000));
	}
}

static void groups_that_differ_clearly_have_a_small_p(void **state)
{
	uint64_t left[50], right[80];

	(void)state;
	for (size_t i = 0; i < 50; i++)
		left[i] = 100 + i % 7;
	for (size_t i = 0; i < 80; i++)
		right[i] = 200 + i % 5;
	assert_true(lode_permutation_p(left, 50, right, 80, 999) == 0.001);
	assert_true(lode_permutation_p(left, 50, left, 50, 999) == 1);
	assert_true(lode_permutation_p(left, 0, right, 80, 999) == 1);
	assert_true(lode_permutation_p(left, 50, right, 0, 999) == 1);
	for (size_t i = 0; i < 50; i++)
		left[i] = i % 2 ? UINT64_MAX : UINT64_MAX - 1;
	assert_true(lode_permutation_p(left, 50, right, 80, 999) == 0.001);
}

/* ---- memory ---- */

static int rank_once(const struct lode_area *area)
{
	const uint32_t frames[] = { 0, 1 };
	const struct lode_sequence patterns[] = { { frames, 1 }, { frames + 1, 1 } };
	struct lode_matcher matcher;
	struct lode_pattern_costs *ranking = NULL;
	struct lode_shares shares = { 0 };
	struct lode_metrics metrics;
	int code = lode_matcher_init(&matcher, &area->dictionary.tree, FRAMES);

	if (!code && !(ranking = lode_pattern_costs_make(area, LODE_WAIT, &matcher)))
		code = LODE_SYSTEM;
	if (!code)
		code = lode_pattern_costs_measure(ranking, patterns, 2, 100, &metrics, &shares);
	if (!code && lode_permutation_p((const uint64_t[]){ 1, 2 }, 2, (const uint64_t[]){ 3 }, 1, 10) < 0)
		code = LODE_SYSTEM;
	lode_shares_release(&shares);
	lode_pattern_costs_free(ranking);
	lode_matcher_release(&matcher);
	return code;
}

static void memory_that_runs_out_is_a_clean_error(void **state)
{
	uint64_t seed = 6;
	struct lode_area area;

	(void)state;
	random_area(&area, &seed, 60, 20, 0);
	FAIL_EACH_ALLOCATION(14, rank_once(&area));
	release_area(&area);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(metrics_are_those_of_all_rows_that_contain_a_pattern),
		cmocka_unit_test(an_event_that_two_patterns_match_counts_once),
		cmocka_unit_test(ranks_have_names),
		cmocka_unit_test(intervals_are_those_of_their_definition),
		cmocka_unit_test(intervals_hold_what_they_promise),
		cmocka_unit_test(the_interval_of_nothing_is_nothing_and_few_streams_have_none),
		cmocka_unit_test(the_interval_of_a_group_spans_its_cost_and_is_always_the_same),
		cmocka_unit_test(huge_costs_stop_at_the_largest_number),
		cmocka_unit_test(few_streams_are_tested_exactly),
		cmocka_unit_test(many_streams_are_tested_by_chance),
		cmocka_unit_test(groups_that_differ_clearly_have_a_small_p),
		cmocka_unit_test(memory_that_runs_out_is_a_clean_error),
	};

	return cmocka_run_group_tests_name("mine_ranking", tests, NULL, NULL);
}
