/* The importer that docs/architecture.md starts new ones from works. */
#include "import_fixture.h"

#include "../../docs/example_importer.c"

static void samples_have_their_thread_time_and_stack(void **state)
{
	(void)state;
	assert_import(&lode_importer_toy, "toy 1\n1000 42 app!main;app!load;libc.so.6!read\n2000 7 main\n", NULL,
		      "stream x \n"
		      "run 1000000+1000000 42 app!main|app!load|libc.so.6!read\n"
		      "run 2000000+1000000 7 main\n");
}

static void a_wrong_line_is_named(void **state)
{
	(void)state;
	assert_bad(&lode_importer_toy, "toy 1\n1000 42 main\nwhat\n", ":3: a line is");
	assert_bad(&lode_importer_toy, "toy 1\n9999999999999999999 42 main\n", ":2: a line is");
}

static void a_line_that_is_cut_off_is_reported(void **state)
{
	(void)state;
	assert_note(&lode_importer_toy, "toy 1\n1000 42 main\n20", "cut off", 1);
}

static void a_stack_that_is_too_deep_is_cut_and_reported(void **state)
{
	static char text[16 + 2 * (LODE_STACK_DEPTH_LIMIT + 4)];
	size_t length = (size_t)snprintf(text, sizeof(text), "toy 1\n1000 42 ");

	(void)state;
	for (int i = 0; i < LODE_STACK_DEPTH_LIMIT; i++, length += 2)
		memcpy(text + length, "f;", 2);
	memcpy(text + length, "\n", 2);
	assert_note(&lode_importer_toy, text, "deeper", 0);
	memcpy(text + length, "f;f\n", 5);
	assert_note(&lode_importer_toy, text, "deeper", 1);
}

static void it_survives_damage_and_failing_allocations(void **state)
{
	static const char text[] = "toy 1\n1000 42 app!main;app!load;libc.so.6!read\n\n2000 7 main;;x\n3000 8 \n";

	(void)state;
	try_damaged(&lode_importer_toy, text, strlen(text), 5000);
	try_without_memory(&lode_importer_toy, text, strlen(text));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_have_their_thread_time_and_stack),
		cmocka_unit_test(a_wrong_line_is_named),
		cmocka_unit_test(a_line_that_is_cut_off_is_reported),
		cmocka_unit_test(a_stack_that_is_too_deep_is_cut_and_reported),
		cmocka_unit_test(it_survives_damage_and_failing_allocations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
