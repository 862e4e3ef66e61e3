/* Which functions the live meter measures: recursion, tail calls, longjmp, exceptions, stripped programs, plugins. */
#include "meter_fixture.h"

/* ---- tests ---- */

static void a_function_in_progress_from_before_is_measured_at_once(void **state)
{
	(void)state;
	hunt_shares("prey", "loop", 1, LODE_CPU_BOUND);
}

static void recursion_counts_once(void **state)
{
	(void)state;
	hunt_shares("prey", "recursion", 1, LODE_CPU_BOUND);
}

static void a_function_ends_with_its_tail_call(void **state)
{
	(void)state;
	hunt_shares("prey", "tail", 2, LODE_CPU_BOUND);
}

static void functions_left_by_longjmp_are_over(void **state)
{
	struct hunt hunt;
	struct lode_focus focus;

	(void)state;
	begin_hunt(&hunt, "prey", "jumps");
	begin_meter(&hunt, ANY_COST);
	check_share(&hunt, 1, LODE_CPU_BOUND, 2);
	/* What follows the jump has probes too, so the other is known to be over. */
	focus = focus_on(function_at(&hunt, hunt.page->truths[1].address));
	start_one(&hunt, 1, LODE_CPU_BOUND, &focus);
	check_share(&hunt, 0, LODE_CPU_BOUND, 2);
	end_hunt(&hunt);
}

static void exceptions_pass_through_functions_with_probes(void **state)
{
	char path[4096];

	(void)state;
	snprintf(path, sizeof(path), "%s/prey_throw", folder);
	if (access(path, X_OK) < 0)
		skip(); /* there was no C++ compiler */
	hunt_shares("prey_throw", "-", 2, LODE_CPU_BOUND);
}

static void a_stripped_program_is_measured(void **state)
{
	(void)state;
	hunt_shares("prey_stripped", "shares", 2, LODE_CPU_BOUND);
}

static void a_plugin_that_comes_late_is_measured(void **state)
{
	struct hunt hunt;

	(void)state;
	begin_hunt(&hunt, "prey", "plugin");
	begin_meter(&hunt, ANY_COST);
	for (int i = 0; i < 100 && (!hunt.page->truths[0].address ||
				    function_at(&hunt, hunt.page->truths[0].address) == LODE_NONE);
	     i++)
		wait_for(&hunt, 100 * MS);
	check_share(&hunt, 0, LODE_CPU_BOUND, 2);
	end_hunt(&hunt);
}

/* Copies a file; the copy can be run. */
static void copy_program(const char *from, const char *to)
{
	char command[16384];

	snprintf(command, sizeof(command), "rm -f '%s' && cp '%s' '%s'", to, from, to);
	assert_int_equal(system(command), 0);
}

static void a_program_whose_file_was_replaced_is_measured(void **state)
{
	char original[4096], other[4096], copy[4096];
	struct hunt hunt;

	(void)state;
	snprintf(original, sizeof(original), "%s/prey", folder);
	snprintf(other, sizeof(other), "%s/meter_test", folder);
	snprintf(copy, sizeof(copy), "%s/prey_replaced", folder);
	copy_program(original, copy);
	begin_hunt(&hunt, "prey_replaced", "loop");
	copy_program(other, copy);
	begin_meter(&hunt, ANY_COST);
	unlink(copy);
	check_share(&hunt, 0, LODE_CPU_BOUND, 2);
	end_hunt(&hunt);
}

/* ---- messages ---- */

/* A probe takes up to 5 us, and the function that is called seldom some 6,000 calls a second: 3 % by itself. */
#define MAX_COST 0.15

static void a_function_that_is_called_too_often_is_let_go(void **state)
{
	struct hunt hunt;
	struct lode_focus often, seldom;
	struct lode_reading reading = { 0 };

	(void)state;
	begin_hunt(&hunt, "prey", "hot");
	begin_meter(&hunt, MAX_COST);
	often = focus_on(function_at(&hunt, hunt.page->truths[0].address));
	seldom = focus_on(function_at(&hunt, hunt.page->truths[1].address));
	start_one(&hunt, 2, LODE_CPU_BOUND, &seldom);
	assert_true(hunt.meter->operations->predict(hunt.meter, LODE_CPU_BOUND, &often) >= 0);
	start_one(&hunt, 1, LODE_CPU_BOUND, &often);
	for (int i = 0; i < 100 && reading.state != LODE_READING_COSTLY; i++) {
		wait_for(&hunt, 20 * MS);
		reading = read_one(&hunt, 1);
	}
	assert_int_equal(reading.state, LODE_READING_COSTLY);
	assert_non_null(reading.why);
	/* Once known, it is predicted to cost more than is allowed; the other one is still measured. */
	assert_true(hunt.meter->operations->predict(hunt.meter, LODE_CPU_BOUND, &often) > MAX_COST);
	assert_int_equal(read_one(&hunt, 2).state, LODE_READING_ON);
	wait_for(&hunt, 900 * MS);
	reading = read_one(&hunt, 2);
	assert_true(reading.calls > 0);
	assert_true((double)(read_one(&hunt, 1).cost + reading.cost) < MAX_COST * (double)reading.usable);
	end_hunt(&hunt);
}

/* Nanoseconds of CPU time of a call, by the program's own account, over a while. */
static double own_cost(struct hunt *hunt, int truth)
{
	struct prey_truth before = hunt->page->truths[truth];

	nap(400 * MS);
	return (double)(hunt->page->truths[truth].cpu - before.cpu) /
	       (double)(hunt->page->truths[truth].calls - before.calls);
}

/* What a call is said to cost with probes, and what it costs. */
static int agrees_on_cost(struct hunt *hunt, int truth)
{
	static uint32_t number = 2000;
	struct lode_focus focus = focus_on(function_at(hunt, hunt->page->truths[truth].address));
	double without = own_cost(hunt, truth), with, reported;
	struct lode_reading first, second;
	struct lode_error error;

	assert_int_not_equal(focus.function, LODE_NONE);
	start_one(hunt, ++number, LODE_CPU_BOUND, &focus);
	wait_for(hunt, 50 * MS);
	first = read_one(hunt, number);
	with = own_cost(hunt, truth);
	second = read_one(hunt, number);
	assert_int_equal(hunt->meter->operations->stop(hunt->meter, &number, 1, &error), 0);
	assert_true(second.calls > first.calls);
	reported = (double)(second.cost - first.cost) / (double)(second.calls - first.calls);
	print_message("  %s: reported %.0f ns a call, %.0f by its own clock\n",
		      lode_program_function(hunt->meter->program, focus.function)->name, reported, with - without);
	return reported > 0.75 * (with - without) && reported < 1.35 * (with - without);
}

static void the_cost_of_probes_depends_on_the_kind_of_instruction(void **state)
{
	struct hunt hunt;

	(void)state;
	begin_hunt(&hunt, "prey", "kinds");
	begin_meter(&hunt, ANY_COST);
	for (int kind = 0; kind < LODE_PROBED_KINDS; kind++)
		print_message("  kind %d: %llu ns\n", kind,
			      (unsigned long long)lode_live_meter_hit_cost(hunt.meter, (enum lode_probed_kind)kind));
	/* An emulated machine takes whatever time it likes for a trap, and never twice the same. */
	for (int truth = 0; lode_live_meter_hit_cost(hunt.meter, LODE_PROBED_PUSH) < 15000 && truth < 3; truth++) {
		int agrees = 0;

		for (int try = 0; !agrees && try < TRIES; try++)
			agrees = agrees_on_cost(&hunt, truth);
		assert_true(agrees);
	}
	end_hunt(&hunt);
}

static int note_root(void *context, uint32_t function)
{
	struct found *found = context;

	return find_one(found, function, 0);
}

static void main_is_a_root(void **state)
{
	struct hunt hunt;
	struct found found = { .count = 0 };
	struct lode_focus all = focus_on(LODE_NONE);

	(void)state;
	begin_hunt(&hunt, "prey", "shares");
	begin_meter(&hunt, 0);
	assert_int_equal(hunt.meter->operations->roots(hunt.meter, &all, note_root, &found), 0);
	assert_true(found.count >= 1);
	assert_string_equal(lode_program_function(hunt.meter->program, found.numbers[0])->name, "prey!main");
	end_hunt(&hunt);
}

int main(int count, char **words)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_function_in_progress_from_before_is_measured_at_once),
		cmocka_unit_test(recursion_counts_once),
		cmocka_unit_test(a_function_ends_with_its_tail_call),
		cmocka_unit_test(functions_left_by_longjmp_are_over),
		cmocka_unit_test(exceptions_pass_through_functions_with_probes),
		cmocka_unit_test(a_stripped_program_is_measured),
		cmocka_unit_test(a_plugin_that_comes_late_is_measured),
		cmocka_unit_test(a_program_whose_file_was_replaced_is_measured),
		cmocka_unit_test(a_function_that_is_called_too_often_is_let_go),
		cmocka_unit_test(the_cost_of_probes_depends_on_the_kind_of_instruction),
		cmocka_unit_test(main_is_a_root),
	};
	int status = cannot_begin(count, words);

	return status ? status : cmocka_run_group_tests(tests, NULL, NULL);
}
