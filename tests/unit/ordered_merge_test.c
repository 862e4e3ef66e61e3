/*
 * Ordered merges, and the order of keys that are made of runs. The oracle inserts one item after another behind all
 * that are not greater.
 */
#include "cmocka_all.h"
#include "random_stream.h"

#include "base/memory.h"
#include "base/ordered_merge.h"
#include "base/sort_order.h"

#include <string.h>

#define SOURCES 70
#define KEYS    400

struct expected {
	uint64_t key;
	uint32_t source;
	uint32_t place; /* in the source, or in the sequence */
};

static int comes_before(const struct expected *a, const struct expected *b)
{
	if (a->key != b->key)
		return a->key < b->key;
	return a->source != b->source ? a->source < b->source : a->place < b->place;
}

static void insert(struct expected *all, size_t count, struct expected one)
{
	size_t at = count;

	for (; at && comes_before(&one, &all[at - 1]); at--)
		all[at] = all[at - 1];
	all[at] = one;
}

/* Small steps make ties within and between sources; the largest key must be possible. */
static uint64_t random_step(uint64_t *seed, int round)
{
	static const uint64_t steps[] = { 1, 3, 1000, UINT64_MAX / KEYS };

	return random_below(seed, steps[round % 4]);
}

static void merging_gives_the_order_of_an_insertion_sort(void **state)
{
	static uint64_t keys[SOURCES][KEYS];
	static struct expected all[KEYS];
	uint64_t seed = 3;

	(void)state;
	for (int round = 0; round < 2000; round++) {
		uint32_t sources = (uint32_t)random_below(&seed, SOURCES + 1), nexts[SOURCES] = { 0 };
		uint32_t counts[SOURCES] = { 0 };
		size_t count = sources ? random_below(&seed, KEYS) : 0;
		struct lode_ordered_merge merge = { 0 };

		for (size_t i = 0; i < count; i++) {
			uint32_t source = (uint32_t)random_below(&seed, sources), place = counts[source]++;

			keys[source][place] = (place ? keys[source][place - 1] : 0) + random_step(&seed, round);
			insert(all, i, (struct expected){ keys[source][place], source, place });
		}
		for (uint32_t i = sources; i; i--) /* from the last: the numbers decide, not the order of adding */
			if (counts[i - 1])
				assert_int_equal(lode_ordered_merge_add(&merge, i - 1, keys[i - 1][0]), 0);
		for (size_t i = 0; i < count; i++) {
			uint32_t source = merge.sources[0].number;

			assert_true(merge.count > 0);
			assert_int_equal(source, all[i].source);
			assert_int_equal(merge.sources[0].key, all[i].key);
			if (++nexts[source] < counts[source])
				lode_ordered_merge_advance(&merge, keys[source][nexts[source]]);
			else
				lode_ordered_merge_remove(&merge);
		}
		assert_int_equal(merge.count, 0);
		lode_ordered_merge_release(&merge);
	}
}

static void below_its_limit_a_source_stays_the_first(void **state)
{
	uint64_t seed = 4;

	(void)state;
	for (int round = 0; round < 3000; round++) {
		uint32_t sources = 1 + (uint32_t)random_below(&seed, 9);
		struct lode_ordered_merge merge = { 0 };
		uint64_t keys[9], limit, least = UINT64_MAX;
		uint32_t first;

		for (uint32_t i = 0; i < sources; i++) {
			keys[i] = random_below(&seed, 12);
			assert_int_equal(lode_ordered_merge_add(&merge, i, keys[i]), 0);
		}
		first = merge.sources[0].number;
		limit = lode_ordered_merge_limit(&merge);
		for (uint32_t i = 0; i < sources; i++)
			if (i != first && keys[i] < least)
				least = keys[i];
		assert_int_equal(limit, least);
		if (keys[first] < limit) {
			lode_ordered_merge_advance(&merge, limit - 1);
			assert_int_equal(merge.sources[0].number, first);
		}
		lode_ordered_merge_release(&merge);
	}
}

/* From no key over one run to more runs than are merged. */
static void runs_of_keys_are_ordered_as_by_an_insertion_sort(void **state)
{
	static uint64_t keys[KEYS];
	static uint32_t order[KEYS];
	static struct expected all[KEYS];
	uint64_t seed = 5;

	(void)state;
	for (int round = 0; round < 3000; round++) {
		size_t count = random_below(&seed, KEYS), run = 1 + random_below(&seed, 2 * KEYS);

		for (size_t i = 0; i < count; i++) {
			keys[i] = i % run ? keys[i - 1] + random_step(&seed, round) : random_step(&seed, round);
			keys[i] = i % run && keys[i] < keys[i - 1] ? UINT64_MAX : keys[i];
			insert(all, i, (struct expected){ keys[i], 0, (uint32_t)i });
		}
		assert_int_equal(lode_sort_order(keys, count, order), 0);
		for (size_t i = 0; i < count; i++)
			assert_int_equal(order[i], all[i].place);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(merging_gives_the_order_of_an_insertion_sort),
		cmocka_unit_test(below_its_limit_a_source_stays_the_first),
		cmocka_unit_test(runs_of_keys_are_ordered_as_by_an_insertion_sort),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
