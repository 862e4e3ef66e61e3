/* The four metrics, shares of streams and resampling, against loops over all rows and plain definitions. */
#include "mine_fixture.h"

#include "base/error.h"
#include "base/permutation.h"
#include "mine/ranking.h"

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
	struct lode_share expected = { stream, LODE_NONE, 0, 0 };

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

static void check_group(const struct lode_area *area, const struct lode_ranking *ranking,
			const struct lode_sequence *patterns, size_t count, struct lode_shares *shares)
{
	struct lode_metrics metrics, alone;
	uint64_t cost = 0, events = 0;
	size_t streams = 0;

	assert_int_equal(lode_ranking_measure(ranking, patterns, count, 0, &metrics, shares), 0);
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
	assert_int_equal(lode_ranking_measure(ranking, patterns, count, 0, &alone, NULL), 0);
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
		struct lode_ranking *ranking;
		struct lode_area area;

		random_area(&area, &seed, random_below(&seed, 25), random_below(&seed, 5), round % 4 == 0);
		assert_int_equal(lode_matcher_init(&matcher, &area.dictionary.tree,
						   area.dictionary.frames.count),
				 0);
		ranking = lode_ranking_make(&area, LODE_WAIT, &matcher);
		assert_non_null(ranking);
		for (int i = 0; i < 4; i++) {
			patterns[i] = (struct lode_sequence){ frames[i], (uint32_t)random_below(&seed, 4) };
			for (uint32_t k = 0; k < patterns[i].length; k++)
				frames[i][k] = (uint32_t)random_below(&seed, FRAMES);
		}
		for (size_t count = 0; count <= 4; count++)
			check_group(&area, ranking, patterns, count, &shares);
		lode_ranking_free(ranking);
		lode_matcher_release(&matcher);
		release_area(&area);
	}
	lode_shares_release(&shares);
}

static void an_event_that_two_patterns_match_counts_once(void **state)
{
	struct lode_area area = { .stream_count = 2 };
	struct lode_matcher matcher;
	struct lode_ranking *ranking;
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
	ranking = lode_ranking_make(&area, LODE_WAIT, &matcher);
	assert_non_null(ranking);
	assert_int_equal(lode_ranking_measure(ranking, (struct lode_sequence[]){ { &a, 1 }, { &b, 1 } }, 2, 0,
					      &metrics, NULL), 0);
	assert_int_equal(metrics.cost, 10);
	assert_int_equal(metrics.events, 4);
	assert_int_equal(metrics.streams, 1);
	assert_int_equal(metrics.average, 3);
	lode_ranking_free(ranking);
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

/* ---- bootstrap ---- */

/* Where the binomial distribution of n draws at k / n passes `share`, by adding draw after draw. */
static size_t binomial_point(size_t n, size_t k, double share)
{
	double *chance = calloc(n + 1, sizeof(*chance)), p = (double)k / (double)n, sum = 0;
	size_t at = 0;

	chance[0] = 1;
	for (size_t draw = 0; draw < n; draw++)
		for (size_t i = draw + 2; i-- > 0;)
			chance[i] = chance[i] * (1 - p) + (i ? chance[i - 1] * p : 0);
	for (; at <= n && (sum += chance[at]) < share; at++)
		;
	free(chance);
	return at;
}

/* With k streams of cost 1, the total of a resample is the number of draws that fall on them. */
static void equal_costs_give_the_points_of_the_binomial_distribution(void **state)
{
	static const size_t cases[][2] = { { 10, 3 }, { 50, 1 }, { 200, 40 }, { 200, 199 }, { 921, 300 } };
	uint64_t costs[1000];

	(void)state;
	for (size_t i = 0; i < 1000; i++)
		costs[i] = 1;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		size_t n = cases[i][0], k = cases[i][1];
		struct lode_interval interval = lode_bootstrap_total(costs, k, n, 200000);

		assert_true(fabs(interval.low - (double)binomial_point(n, k, 0.025)) <= 1);
		assert_true(fabs(interval.high - (double)binomial_point(n, k, 0.975)) <= 1);
	}
}

static int compare_doubles(const void *a, const void *b)
{
	return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

/* Draws all streams, zeros too, one by one. */
static struct lode_interval plain_bootstrap(const uint64_t *costs, size_t nonzero, size_t streams,
					    uint64_t *seed)
{
	enum { RESAMPLES = 20000 };
	double *totals = calloc(RESAMPLES, sizeof(*totals));
	struct lode_interval interval;

	for (size_t i = 0; i < RESAMPLES; i++)
		for (size_t k = 0; k < streams; k++) {
			size_t stream = random_below(seed, streams);

			totals[i] += stream < nonzero ? (double)costs[stream] : 0;
		}
	qsort(totals, RESAMPLES, sizeof(*totals), compare_doubles);
	interval = (struct lode_interval){ totals[RESAMPLES / 40], totals[RESAMPLES - RESAMPLES / 40] };
	free(totals);
	return interval;
}

static void intervals_are_those_of_a_plain_bootstrap(void **state)
{
	uint64_t seed = 17, costs[60];

	(void)state;
	for (int round = 0; round < 12; round++) {
		size_t streams = 20 + random_below(&seed, 40), nonzero = 1 + random_below(&seed, streams);
		struct lode_interval plain, fast;
		double total = 0;

		for (size_t i = 0; i < nonzero; i++)
			total += (double)(costs[i] = 1 + random_below(&seed, 1000000));
		plain = plain_bootstrap(costs, nonzero, streams, &seed);
		fast = lode_bootstrap_total(costs, nonzero, streams, 20000);
		assert_true(fabs(plain.low - fast.low) < 0.05 * total);
		assert_true(fabs(plain.high - fast.high) < 0.05 * total);
	}
}

static void the_interval_of_nothing_is_nothing(void **state)
{
	const uint64_t costs[] = { 7, 7, 7 };
	struct lode_interval interval = lode_bootstrap_total(costs, 0, 10, 1000);

	(void)state;
	assert_true(interval.low == 0 && interval.high == 0);
	interval = lode_bootstrap_total(costs, 3, 3, 1000);
	assert_true(interval.low == 21 && interval.high == 21);
	interval = lode_bootstrap_total(costs, 1, 1, 1);
	assert_true(interval.low == 7 && interval.high == 7);
}

static void the_interval_of_a_group_spans_its_cost_and_is_always_the_same(void **state)
{
	struct lode_metrics metrics, again;
	struct lode_matcher matcher;
	struct lode_ranking *ranking;
	struct lode_area area;
	uint64_t seed = 4;
	const uint32_t frame = 0;

	(void)state;
	random_area(&area, &seed, 30, 50, 0);
	assert_int_equal(lode_matcher_init(&matcher, &area.dictionary.tree, FRAMES), 0);
	ranking = lode_ranking_make(&area, LODE_WAIT, &matcher);
	assert_non_null(ranking);
	assert_int_equal(lode_ranking_measure(ranking, &(struct lode_sequence){ &frame, 1 }, 1, 1000,
					      &metrics, NULL),
			 0);
	assert_true(metrics.low < metrics.cost && metrics.cost < metrics.high);
	assert_int_equal(lode_ranking_measure(ranking, &(struct lode_sequence){ &frame, 1 }, 1, 1000, &again,
					      NULL), 0);
	assert_memory_equal(&metrics, &again, sizeof(metrics));
	lode_ranking_free(ranking);
	lode_matcher_release(&matcher);
	release_area(&area);
}

static void huge_costs_stop_at_the_largest_number(void **state)
{
	struct lode_area area = { .stream_count = 2 };
	struct lode_matcher matcher;
	struct lode_ranking *ranking;
	struct lode_metrics metrics;
	struct world world;

	(void)state;
	world_start(&world);
	area.dictionary = world.dictionary;
	for (uint32_t stream = 0; stream < 2; stream++)
		add_row(&area, &(struct lode_area_row){ .stream = stream, .cost = UINT64_MAX, .events = 1 });
	assert_int_equal(lode_matcher_init(&matcher, &area.dictionary.tree, 0), 0);
	ranking = lode_ranking_make(&area, LODE_WAIT, &matcher);
	assert_non_null(ranking);
	assert_int_equal(lode_ranking_measure(ranking, &(struct lode_sequence){ NULL, 0 }, 1, 100, &metrics,
					      NULL),
			 0);
	assert_int_equal(metrics.cost, UINT64_MAX);
	assert_int_equal(metrics.low, UINT64_MAX);
	assert_int_equal(metrics.high, UINT64_MAX);
	lode_ranking_free(ranking);
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
	struct lode_ranking *ranking = NULL;
	struct lode_shares shares = { 0 };
	struct lode_metrics metrics;
	int code = lode_matcher_init(&matcher, &area->dictionary.tree, FRAMES);

	if (!code && !(ranking = lode_ranking_make(area, LODE_WAIT, &matcher)))
		code = LODE_SYSTEM;
	if (!code)
		code = lode_ranking_measure(ranking, patterns, 2, 100, &metrics, &shares);
	if (!code && lode_permutation_p((const uint64_t[]){ 1, 2 }, 2, (const uint64_t[]){ 3 }, 1, 10) < 0)
		code = LODE_SYSTEM;
	lode_shares_release(&shares);
	lode_ranking_free(ranking);
	lode_matcher_release(&matcher);
	return code;
}

static void memory_that_runs_out_is_a_clean_error(void **state)
{
	uint64_t seed = 6, failures = 0;
	struct lode_area area;

	(void)state;
	random_area(&area, &seed, 60, 20, 0);
	for (uint64_t nth = 1;; nth++) {
		int code;

		lode_memory_fail_at(nth, 0);
		code = rank_once(&area);
		lode_memory_fail_at(0, 0);
		if (!code)
			break;
		assert_int_equal(code, LODE_SYSTEM);
		failures++;
	}
	assert_true(failures > 14);
	release_area(&area);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(metrics_are_those_of_all_rows_that_contain_a_pattern),
		cmocka_unit_test(an_event_that_two_patterns_match_counts_once),
		cmocka_unit_test(ranks_have_names),
		cmocka_unit_test(equal_costs_give_the_points_of_the_binomial_distribution),
		cmocka_unit_test(intervals_are_those_of_a_plain_bootstrap),
		cmocka_unit_test(the_interval_of_nothing_is_nothing),
		cmocka_unit_test(the_interval_of_a_group_spans_its_cost_and_is_always_the_same),
		cmocka_unit_test(huge_costs_stop_at_the_largest_number),
		cmocka_unit_test(few_streams_are_tested_exactly),
		cmocka_unit_test(many_streams_are_tested_by_chance),
		cmocka_unit_test(groups_that_differ_clearly_have_a_small_p),
		cmocka_unit_test(memory_that_runs_out_is_a_clean_error),
	};

	return cmocka_run_group_tests_name("mine_ranking", tests, NULL, NULL);
}
