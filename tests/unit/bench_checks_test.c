/* What `lode bench` reports to programs that run gates: of which input the cause is, and names of functions in Markdown. */
#include "cmocka_all.h"

#include "export/checks_forms.h"
#include "result/bench_result.h"

#include <string.h>

#define FRAME "app!std::vector<int>::operator|"

/* Three inputs, of which the second differs most. */
static void make_checks(struct lode_checks *checks)
{
	char frame[] = FRAME;
	struct lode_bench_input inputs[] = {
		{ .input = "one", .verdict = LODE_BENCH_SAME, .known = 1, .low = -0.01, .high = 0.01 },
		{ .input = "two", .verdict = LODE_BENCH_SLOWER, .known = 1, .change = 0.5, .low = 0.4, .high = 0.6 },
		{ .input = "three", .verdict = LODE_BENCH_SLOWER, .known = 1, .change = 0.2, .low = 0.1, .high = 0.3 },
	};
	const struct lode_bench_result result = {
		.level = 0.05,
		.limit = 0.02,
		.measure = "time",
		.items = inputs,
		.count = 3,
		.has_cause = 1,
		.cause = { .frame = frame, .delta_ns = 5000000 },
		.cause_of = 1,
	};

	lode_bench_checks(&result, checks);
	assert_false(checks->failed);
}

static void a_cause_is_reported_of_the_input_whose_runs_were_recorded(void **state)
{
	struct lode_checks checks = { 0 };

	(void)state;
	make_checks(&checks);
	assert_int_equal(checks.count, 3);
	assert_string_equal(checks.items[0].reason, "");
	assert_string_equal(checks.items[1].reason, FRAME " takes +5ms per run");
	assert_string_equal(checks.items[2].reason, "");
	lode_checks_release(&checks);
}

static void names_of_functions_are_code_in_markdown(void **state)
{
	struct lode_checks checks = { 0 };
	struct lode_buffer buffer = { 0 };

	(void)state;
	make_checks(&checks);
	lode_checks_markdown(&checks, &buffer);
	lode_buffer_byte(&buffer, '\0');
	assert_false(buffer.failed);
	assert_non_null(strstr(buffer.bytes, "; `app!std::vector<int>::operator\\|` takes +5ms per run |\n"));
	lode_buffer_release(&buffer);
	lode_checks_release(&checks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_cause_is_reported_of_the_input_whose_runs_were_recorded),
		cmocka_unit_test(names_of_functions_are_code_in_markdown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
