/* Mining as a whole: thresholds, ids, order, and two corpora side by side. */
#include "cmocka_all.h"
#include "small_stream.h"

#include "mine/compare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An area made by hand: rows of waits, as many streams as are named. */
static void area_begin(struct lode_area *area, size_t streams)
{
	memset(area, 0, sizeof(*area));
	assert_int_equal(lode_dictionary_init(&area->dictionary), 0);
	area->scope = LODE_SCOPE_ALL;
	area->streams = lode_calloc(streams + 1, sizeof(*area->streams));
	area->stream_count = streams;
}

static void area_wait(struct lode_area *area, uint32_t stream, uint64_t cost, const char *stack)
{
	struct lode_area_rows *rows = &area->rows[LODE_WAIT];

	assert_int_equal(lode_grow(&rows->items, &rows->capacity, rows->count + 1, sizeof(*rows->items)), 0);
	rows->items[rows->count++] = (struct lode_area_row){ .stack = stack_of(&area->dictionary, stack),
							     .stream = stream,
							     .cost = cost,
							     .events = 1,
							     .longest = cost };
	rows->cost += cost;
	rows->events++;
}

static int compare_rows(const void *a, const void *b)
{
	const struct lode_area_row *left = a, *right = b;

	if (left->stack != right->stack)
		return left->stack < right->stack ? -1 : 1;
	return left->stream < right->stream ? -1 : left->stream > right->stream;
}

/* Sorts and joins the rows, and counts the stacks. */
static void area_end(struct lode_area *area)
{
	struct lode_area_rows *rows = &area->rows[LODE_WAIT];
	size_t left = 0;

	qsort(rows->items, rows->count, sizeof(*rows->items), compare_rows);
	area->occurrences = lode_calloc(area->dictionary.tree.count, sizeof(*area->occurrences));
	for (size_t i = 0; i < rows->count; i++) {
		area->occurrences[rows->items[i].stack]++;
		if (left && !compare_rows(&rows->items[left - 1], &rows->items[i])) {
			rows->items[left - 1].cost += rows->items[i].cost;
			rows->items[left - 1].events++;
		} else {
			rows->items[left++] = rows->items[i];
		}
	}
	rows->count = left;
}

static const struct lode_mine_options defaults = { .kind = LODE_WAIT, .threshold = 1, .similarity = 0.5, .jobs = 1 };

static void the_papers_threshold_is_thirty_seconds(void **state)
{
	struct lode_error error;
	uint64_t threshold;

	(void)state;
	assert_int_equal(lode_mine_impact("10%,300ms", 1000, &threshold, &error), 0);
	assert_int_equal(threshold, 30000000000u);
	assert_int_equal(lode_mine_impact("10%,0.3s", 1000, &threshold, &error), 0);
	assert_int_equal(threshold, 30000000000u);
}

static void thresholds_are_times_or_shares(void **state)
{
	static const char *const wrong[] = { "0", "0%", "-1%", "101%", "nan%", "%", "1%%", "1% ", "x" };
	struct lode_error error;
	uint64_t threshold;

	(void)state;
	assert_int_equal(lode_mine_threshold("30s", 1, &threshold, &error), 0);
	assert_int_equal(threshold, 30000000000u);
	assert_int_equal(lode_mine_threshold("1%", 5000, &threshold, &error), 0);
	assert_int_equal(threshold, 50);
	assert_int_equal(lode_mine_threshold("100%", 5000, &threshold, &error), 0);
	assert_int_equal(threshold, 5000);
	assert_int_equal(lode_mine_threshold("1%", 3, &threshold, &error), 0);
	assert_int_equal(threshold, 1);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_int_equal(lode_mine_threshold(wrong[i], 100, &threshold, &error), LODE_USAGE);
}

/* The same events in another order, so that frames get other numbers. */
static void fill(struct lode_area *area, int backwards)
{
	static const char *const stacks[] = { "a;b;c", "a;b;d", "x;y", "a;c", "b;a;c", "x;y;z" };

	area_begin(area, 3);
	for (uint32_t i = 0; i < 6; i++) {
		uint32_t k = backwards ? 5 - i : i;

		area_wait(area, k % 3, 10 * (k + 1), stacks[k]);
	}
	area_end(area);
}

static void numbers_of_frames_do_not_show(void **state)
{
	struct lode_mined one = { 0 }, other = { 0 };
	struct lode_area forwards, backwards;
	struct lode_error error;

	(void)state;
	fill(&forwards, 0);
	fill(&backwards, 1);
	assert_int_equal(lode_mine(&forwards, &defaults, &one, &error), 0);
	assert_int_equal(lode_mine(&backwards, &defaults, &other, &error), 0);
	assert_int_equal(one.patterns.count, other.patterns.count);
	assert_true(one.patterns.count > 2);
	for (size_t i = 0; i < one.patterns.count; i++)
		assert_string_equal(one.pattern_groups[i].id, other.pattern_groups[i].id);
	assert_int_equal(one.clusters.count, other.clusters.count);
	for (size_t i = 0; i < one.clusters.count; i++)
		assert_string_equal(one.cluster_groups[i].id, other.cluster_groups[i].id);
	lode_mined_release(&one);
	lode_mined_release(&other);
	lode_area_release(&forwards);
	lode_area_release(&backwards);
}

static void clusters_stand_in_the_order_asked_for(void **state)
{
	struct lode_mine_options options = defaults;
	struct lode_area area;
	struct lode_error error;

	(void)state;
	fill(&area, 0);
	options.similarity = 1;
	for (int rank = 0; rank < LODE_RANKS; rank++) {
		struct lode_mined mined = { 0 };

		options.rank = (enum lode_rank)rank;
		assert_int_equal(lode_mine(&area, &options, &mined, &error), 0);
		for (size_t i = 1; i < mined.clusters.count; i++) {
			const struct lode_metrics *a = &mined.cluster_groups[i - 1].metrics;
			const struct lode_metrics *b = &mined.cluster_groups[i].metrics;

			assert_true(rank != LODE_RANK_TOTAL || a->cost >= b->cost);
			assert_true(rank != LODE_RANK_STREAMS || a->streams >= b->streams);
			assert_true(rank != LODE_RANK_EVENTS || a->events >= b->events);
			assert_true(rank != LODE_RANK_AVERAGE || a->average >= b->average);
		}
		lode_mined_release(&mined);
	}
	lode_area_release(&area);
}

/* ---- two corpora ---- */

/* `n` streams: a hash that costs `hash` and a connection that costs `connect` each, with some noise. */
static void release_of(struct lode_area *area, uint32_t n, uint64_t hash, uint64_t connect, uint64_t *seed)
{
	area_begin(area, n);
	for (uint32_t i = 0; i < n; i++) {
		if (hash)
			area_wait(area, i, hash + random_below(seed, 10), "main;init;hash;read");
		if (connect)
			area_wait(area, i, connect + random_below(seed, 10), "main;connect;resolve");
		area_wait(area, i, 100 + random_below(seed, 50), "main;draw");
	}
	area_end(area);
}

static const struct lode_compared *find_leaf(const struct lode_comparison *comparison, struct lode_area *here,
					     const struct lode_mined *mined_here, struct lode_area *other,
					     const struct lode_mined *mined_other, const char *function)
{
	for (size_t i = 0; i < comparison->count; i++) {
		const struct lode_compared *compared = &comparison->items[i];
		const struct lode_mined *mined = compared->from_other ? mined_other : mined_here;
		struct lode_area *area = compared->from_other ? other : here;
		uint32_t length = mined->common_length[compared->cluster];

		if (length && !strcmp(lode_frames_function(&area->dictionary.frames,
							   mined->common[compared->cluster][length - 1]),
				      function))
			return compared;
	}
	return NULL;
}

static void a_release_is_distinguished_from_the_one_before(void **state)
{
	struct lode_mined mined_before = { 0 }, mined_after = { 0 };
	struct lode_comparison comparison = { 0 };
	const struct lode_compared *compared;
	struct lode_area before, after;
	struct lode_error error;
	uint64_t seed = 3;

	(void)state;
	release_of(&before, 12, 500, 0, &seed);
	release_of(&after, 8, 0, 900, &seed);
	assert_int_equal(lode_mine(&before, &defaults, &mined_before, &error), 0);
	assert_int_equal(lode_mine(&after, &defaults, &mined_after, &error), 0);
	assert_int_equal(lode_compare(&(struct lode_compare_side){ &after, &mined_after },
				      &(struct lode_compare_side){ &before, &mined_before }, LODE_WAIT,
				      &comparison, &error),
			 0);
	compared = find_leaf(&comparison, &after, &mined_after, &before, &mined_before, "resolve");
	assert_non_null(compared);
	assert_int_equal(compared->change, LODE_CHANGE_NEW);
	assert_true(compared->q < LODE_COMPARE_LEVEL);
	assert_true(compared->here_mean >= 900 && compared->here_mean < 910);
	compared = find_leaf(&comparison, &after, &mined_after, &before, &mined_before, "read");
	assert_non_null(compared);
	assert_int_equal(compared->change, LODE_CHANGE_GONE);
	assert_true(compared->q < LODE_COMPARE_LEVEL);
	compared = find_leaf(&comparison, &after, &mined_after, &before, &mined_before, "draw");
	assert_non_null(compared);
	assert_true(compared->q >= LODE_COMPARE_LEVEL);
	lode_comparison_release(&comparison);
	lode_mined_release(&mined_before);
	lode_mined_release(&mined_after);
	lode_area_release(&before);
	lode_area_release(&after);
}

/* The same program twice: how often chance is taken for a change. */
static void noise_is_rarely_called_a_change(void **state)
{
	uint64_t seed = 17;
	size_t alarms = 0, rounds = 60;

	(void)state;
	for (size_t i = 0; i < rounds; i++) {
		struct lode_mined mined_one = { 0 }, mined_two = { 0 };
		struct lode_comparison comparison = { 0 };
		struct lode_area one, two;
		struct lode_error error;
		int alarm = 0;

		release_of(&one, 7, 500, 300, &seed);
		release_of(&two, 9, 500, 300, &seed);
		assert_int_equal(lode_mine(&one, &defaults, &mined_one, &error), 0);
		assert_int_equal(lode_mine(&two, &defaults, &mined_two, &error), 0);
		assert_int_equal(lode_compare(&(struct lode_compare_side){ &one, &mined_one },
					      &(struct lode_compare_side){ &two, &mined_two }, LODE_WAIT,
					      &comparison, &error),
				 0);
		for (size_t k = 0; k < comparison.count; k++)
			alarm |= comparison.items[k].q < LODE_COMPARE_LEVEL;
		alarms += (size_t)alarm;
		lode_comparison_release(&comparison);
		lode_mined_release(&mined_one);
		lode_mined_release(&mined_two);
		lode_area_release(&one);
		lode_area_release(&two);
	}
	assert_true(alarms <= rounds / 6); /* 3 are to be expected */
}

static void memory_that_runs_out_is_an_error_and_nothing_leaks(void **state)
{
	struct lode_area area, other;
	struct lode_error error;
	int code = LODE_SYSTEM;

	(void)state;
	fill(&area, 0);
	fill(&other, 1);
	for (uint64_t nth = 1; code; nth++) {
		struct lode_mined mined = { 0 }, mined_other = { 0 };
		struct lode_comparison comparison = { 0 };

		lode_memory_fail_at(nth, 0);
		code = lode_mine(&area, &defaults, &mined, &error);
		if (!code)
			code = lode_mine(&other, &defaults, &mined_other, &error);
		if (!code)
			code = lode_compare(&(struct lode_compare_side){ &area, &mined },
					    &(struct lode_compare_side){ &other, &mined_other }, LODE_WAIT,
					    &comparison, &error);
		lode_memory_fail_at(0, 0);
		assert_true(code == 0 || code == LODE_SYSTEM);
		lode_comparison_release(&comparison);
		lode_mined_release(&mined);
		lode_mined_release(&mined_other);
	}
	lode_area_release(&area);
	lode_area_release(&other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_papers_threshold_is_thirty_seconds),
		cmocka_unit_test(thresholds_are_times_or_shares),
		cmocka_unit_test(numbers_of_frames_do_not_show),
		cmocka_unit_test(clusters_stand_in_the_order_asked_for),
		cmocka_unit_test(a_release_is_distinguished_from_the_one_before),
		cmocka_unit_test(noise_is_rarely_called_a_change),
		cmocka_unit_test(memory_that_runs_out_is_an_error_and_nothing_leaks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
