/* Unwind tables that another thread makes. */
#include "cmocka_all.h"
#include "temporary.h"

#include "record/unwind/table_maker.h"

#include <stdio.h>
#include <string.h>

#define SELF     "/proc/self/exe"
#define BUILD_ID "0123456789abcdef0123456789abcdef01234567"

static void count_call(void *context)
{
	++*(unsigned *)context;
}

static void assert_same(const struct lode_unwind_table *a, const struct lode_unwind_table *b)
{
	assert_true(a->count > 100);
	assert_int_equal(a->count, b->count);
	assert_int_equal(a->rule_count, b->rule_count);
	assert_memory_equal(a->starts, b->starts, a->count * sizeof(*a->starts));
	assert_memory_equal(a->rules, b->rules, a->count * sizeof(*a->rules));
	assert_memory_equal(a->dictionary, b->dictionary, a->rule_count * sizeof(*a->dictionary));
}

static void tables_are_those_that_would_be_made_at_once(void **state)
{
	unsigned calls = 0;
	struct lode_table_maker *maker = lode_table_maker_create(count_call, &calls);
	struct lode_unwind_table made, expected;

	(void)state;
	assert_int_equal(lode_unwind_table_open(&expected, SELF, NULL, "", ""), 0);
	for (int i = 0; i < 20; i++) {
		assert_int_equal(lode_table_maker_open(maker, &made, SELF, "", ""), 0);
		assert_same(&made, &expected);
		lode_unwind_table_release(&made);
	}
	assert_int_equal(lode_table_maker_open(maker, &made, "/nowhere/at/all", "", ""), 0);
	assert_int_equal(made.count, 0);
	lode_unwind_table_release(&made);
	lode_unwind_table_release(&expected);
	lode_table_maker_destroy(maker);
}

/* A moment is a millisecond; on a busy machine any table takes one now and then. */
static void who_waits_gets_other_things_done_meanwhile(void **state)
{
	unsigned calls = 0, rounds = 0;
	struct lode_table_maker *maker = lode_table_maker_create(count_call, &calls);
	struct lode_unwind_table made;

	(void)state;
	while (!calls && rounds++ < 20000) {
		assert_int_equal(lode_table_maker_open(maker, &made, SELF, "", ""), 0);
		lode_unwind_table_release(&made);
	}
	assert_true(calls > 0);
	lode_table_maker_destroy(maker);
}

static void what_was_made_is_in_the_cache_in_the_end(void **state)
{
	unsigned calls = 0;
	struct lode_table_maker *maker = lode_table_maker_create(count_call, &calls);
	struct lode_unwind_table made, cached;
	char folder[64];

	(void)state;
	assert_int_equal(temporary_folder(folder, sizeof(folder)), 0);
	assert_int_equal(lode_table_maker_open(maker, &made, SELF, BUILD_ID, folder), 0);
	lode_table_maker_destroy(maker);
	/* By a path where there is nothing, so that it can only be from the cache. */
	assert_int_equal(lode_unwind_table_open(&cached, "/nowhere/at/all", NULL, BUILD_ID, folder), 0);
	assert_same(&made, &cached);
	lode_unwind_table_release(&cached);
	lode_unwind_table_release(&made);
	assert_int_equal(temporary_remove(folder), 0);
}

static void a_maker_that_was_never_asked_ends(void **state)
{
	(void)state;
	lode_table_maker_destroy(lode_table_maker_create(count_call, NULL));
	lode_table_maker_destroy(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_are_those_that_would_be_made_at_once),
		cmocka_unit_test(who_waits_gets_other_things_done_meanwhile),
		cmocka_unit_test(what_was_made_is_in_the_cache_in_the_end),
		cmocka_unit_test(a_maker_that_was_never_asked_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
