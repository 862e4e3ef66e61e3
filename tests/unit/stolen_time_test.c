/* Time that the hypervisor took: what /proc/stat says, what a stream says of it, and that it is no wait. */
#include "small_stream.h"

#include "record/stream/thread_totals.h"
#include "tasks/live/processor_times.h"
#include "trace/stolen_time.h"

static void the_kernel_tells_what_was_stolen(void **state)
{
	static const struct {
		const char *text;
		uint64_t all, stolen;
	} cases[] = {
		{ "cpu  10 20 30 40 5 6 7 8 9 9\ncpu0 1 1 1 1 1 1 1 1 0 0\n", 126, 8 },
		{ "cpu  10 20 30 40\n", 100, 0 }, /* of a kernel that does not count it */
		{ "cpu0 1 1 1 1 1 1 1 1 0 0\n", 0, 0 },
		{ "", 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lode_processor_times times = lode_processor_times_parse(cases[i].text);

		assert_int_equal(times.all, cases[i].all);
		assert_int_equal(times.stolen, cases[i].stolen);
	}
}

static double stored(uint64_t all, uint64_t stolen)
{
	const struct lode_processor_times before = { 1000, 50 }, after = { 1000 + all, 50 + stolen };
	struct small_stream small;
	double percent;

	small_begin(&small);
	assert_int_equal(lode_processor_times_store(&before, &after, &small.stream), 0);
	percent = lode_stream_stolen(&small.stream);
	assert_int_equal(small.stream.attribute_count, stolen != 0);
	small_end(&small);
	return percent;
}

static void a_stream_keeps_the_share(void **state)
{
	(void)state;
	assert_true(stored(1000, 125) == 12.5);
	assert_true(stored(1000, 0) == 0);
	assert_true(stored(0, 0) == 0);
}

static void shares_of_strangers_are_doubted(void **state)
{
	static const char *const values[] = { "-1", "101", "x", "nan", "1e999" };

	(void)state;
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		struct small_stream small;

		small_begin(&small);
		assert_int_equal(lode_stream_set_text(&small.stream, LODE_STOLEN, values[i]), 0);
		assert_true(lode_stream_stolen(&small.stream) == 0);
		small_end(&small);
	}
}

/* What a thread waited that was recorded for `end` ns, ran for 200 and was queued for 1500, and blocked that often. */
static uint64_t waited(uint64_t end, uint64_t waits)
{
	const struct lode_record first = { .type = LODE_RECORD_TOTALS_FIRST, .t = 5000, .pid = 7, .tid = 7 };
	const struct lode_record last = {
		.type = LODE_RECORD_TOTALS_LAST,
		.cost = 5000 + end,
		.user = 200,
		.kernel = 1500,
		.waker_user = waits,
		.waker_kernel = 20,
		.pid = 7,
		.tid = 7,
	};
	struct lode_record_totals totals = { 0 };
	struct small_stream small;
	uint64_t sum;

	small_begin(&small);
	assert_int_equal(lode_record_totals_take(&totals, &first, &small.stream), 0);
	assert_int_equal(lode_record_totals_take(&totals, &last, &small.stream), 0);
	assert_int_equal(small.stream.thread_count, 1);
	assert_int_equal(small.stream.threads[0].totals.queued_ns, 1500);
	sum = small.stream.threads[0].totals.waited_ns;
	lode_record_totals_release(&totals);
	small_end(&small);
	return sum;
}

static void who_never_blocked_did_not_wait(void **state)
{
	(void)state;
	assert_int_equal(waited(2000, 3), 300);
	assert_int_equal(waited(2000, 0), 0);
	assert_int_equal(waited(1600, 3), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_kernel_tells_what_was_stolen),
		cmocka_unit_test(a_stream_keeps_the_share),
		cmocka_unit_test(shares_of_strangers_are_doubted),
		cmocka_unit_test(who_never_blocked_did_not_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
