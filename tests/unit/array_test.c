/* Arrays: what is pushed is there, and where memory runs out the mark stays. */
#include "cmocka_all.h"
#include "base/array.h"
#include "base/hash_index.h"

struct row {
	uint32_t id;
	uint64_t square;
};

/* An array that is a member, and one that is the struct. */
struct table {
	LODE_ARRAY(struct row) rows;
	LODE_ARRAY(uint32_t);
	struct lode_index index;
};

static void release(struct table *table)
{
	lode_free(table->rows.items);
	lode_free(table->items);
	lode_index_release(&table->index);
}

static void what_is_pushed_is_there(void **state)
{
	struct table table = { 0 };

	(void)state;
	for (uint32_t i = 0; i < 1000; i++) {
		assert_int_equal(LODE_PUSH(&table.rows, (struct row){ i, (uint64_t)i * i }), 0);
		assert_int_equal(LODE_PUSH(&table, 7 * i), 0);
	}
	assert_int_equal(table.rows.count, 1000);
	assert_int_equal(table.count, 1000);
	for (uint32_t i = 0; i < 1000; i++) {
		assert_int_equal(table.rows.items[i].id, i);
		assert_int_equal(table.rows.items[i].square, i * i);
		assert_int_equal(table.items[i], 7 * i);
	}
	release(&table);
}

static void a_value_may_be_an_item_of_the_array(void **state)
{
	struct table table = { 0 };

	(void)state;
	LODE_PUSH(&table, 42);
	for (int i = 0; i < 100; i++)
		LODE_PUSH(&table, table.items[table.count - 1] + 1);
	assert_int_equal(table.failed, 0);
	assert_int_equal(table.items[100], 142);
	release(&table);
}

static void reserved_room_is_behind_the_last_item(void **state)
{
	struct table table = { 0 };

	(void)state;
	LODE_PUSH(&table, 1);
	assert_int_equal(LODE_RESERVE(&table, 500), 0);
	assert_true(table.capacity >= 501);
	assert_int_equal(table.count, 1);
	lode_memory_fail_at(1, 0);
	assert_int_equal(LODE_RESERVE(&table, 5000), LODE_SYSTEM);
	lode_memory_fail_at(0, 0);
	assert_int_equal(table.failed, 1);
	while (LODE_PUSH(&table, 2) == 0)
		continue;
	assert_int_equal(table.count, table.capacity);
	assert_int_equal(table.items[0], 1);
	release(&table);
}

static void places_up_to_a_number_get_the_value(void **state)
{
	struct table table = { 0 };
	uint32_t *place = LODE_PLACE(&table, 20, 7);

	(void)state;
	assert_ptr_equal(place, &table.items[20]);
	assert_int_equal(table.count, 21);
	*place = 8;
	assert_int_equal(*LODE_PLACE(&table, 20, 9), 8);
	assert_int_equal(*LODE_PLACE(&table, 3, 9), 7);
	assert_int_equal(table.count, 21);
	lode_memory_fail_at(1, 0);
	assert_null(LODE_PLACE(&table, 1000, 9));
	lode_memory_fail_at(0, 0);
	assert_int_equal(table.count, 21);
	assert_int_equal(table.failed, 1);
	release(&table);
}

static void numbers_in_the_index_are_places_in_the_array(void **state)
{
	struct table table = { 0 };

	(void)state;
	for (uint32_t i = 0; i < 100; i++)
		assert_int_equal(LODE_INDEX_PUSH(&table.index, lode_hash_u64(3 * i), &table, 3 * i), 0);
	for (uint32_t i = 0; i < 300; i++)
		assert_int_equal(LODE_INDEX_FIND(k, &table.index, lode_hash_u64(i), table.items[k] == i),
				 i % 3 ? LODE_NONE : i / 3);
	release(&table);
}

/* One allocation fails, the ones after it would not: all the same nothing is added, so no item is missing in between. */
static void once_memory_ran_out_nothing_is_added(void **state)
{
	struct table table = { 0 };
	uint32_t kept = 0;

	(void)state;
	lode_memory_fail_at(3, 0);
	for (uint32_t i = 0; i < 1000; i++)
		kept += LODE_PUSH(&table, i) == 0;
	lode_memory_fail_at(0, 0);
	assert_int_equal(table.failed, 1);
	assert_true(kept > 0 && kept < 1000);
	assert_int_equal(table.count, kept);
	for (uint32_t i = 0; i < kept; i++)
		assert_int_equal(table.items[i], i);
	release(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_pushed_is_there),
		cmocka_unit_test(a_value_may_be_an_item_of_the_array),
		cmocka_unit_test(reserved_room_is_behind_the_last_item),
		cmocka_unit_test(places_up_to_a_number_get_the_value),
		cmocka_unit_test(numbers_in_the_index_are_places_in_the_array),
		cmocka_unit_test(once_memory_ran_out_nothing_is_added),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
