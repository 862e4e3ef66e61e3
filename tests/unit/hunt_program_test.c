/*
 * Programs of several binaries: three small shared libraries that call one another
 * (hunt_parts/), in whatever order they are added.
 *
 *	hunt_program_test APP ONE TWO
 */
#include "cmocka_all.h"
#include "random_stream.h"
#include "temporary.h"

#include "base/memory.h"
#include "hunt/meter/program.h"
#include "symbols/elf.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum part { APP, ONE, TWO, PARTS };

static char paths[PARTS][PATH_MAX];
static const char *const modules[PARTS] = { "app", "libone.so", "libtwo.so" };

static int set_up(void **state)
{
	struct lode_program *program;

	if (lode_program_create(&program, NULL) < 0)
		return -1;
	*state = program;
	return 0;
}

static int tear_down(void **state)
{
	lode_program_destroy(*state);
	return 0;
}

static uint32_t add(struct lode_program *program, enum part part)
{
	struct lode_error error = { "" };
	char name[64];
	uint32_t binary;

	snprintf(name, sizeof(name), "/usr/lib/%s (deleted)", modules[part]);
	if (lode_program_add_binary(program, paths[part], name, &binary, &error) < 0)
		fail_msg("%s", error.text);
	return binary;
}

/* The number of a function that must be there. */
static uint32_t number_of(struct lode_program *program, const char *name)
{
	size_t count = lode_program_count(program);
	uint32_t number = lode_program_named(program, name);

	if (lode_program_count(program) != count)
		fail_msg("there is no %s", name);
	return number;
}

/* The callees of a function, in alphabetical order. */
static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void assert_calls(struct lode_program *program, const char *name, const char *expected)
{
	const char *names[16];
	char text[512] = "";
	size_t count;
	const uint32_t *callees = lode_program_callees(program, number_of(program, name), &count);

	assert_true(count <= 16);
	for (size_t i = 0; i < count; i++)
		names[i] = lode_program_function(program, callees[i])->name;
	qsort(names, count, sizeof(*names), compare_texts);
	for (size_t i = 0; i < count; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", i ? " " : "", names[i]);
	assert_string_equal(text, expected);
}

/* Whether instructions of this machine are understood. */
static int is_understood(struct lode_program *program, uint32_t binary)
{
	const struct lode_code *code = lode_program_code(program, binary);
	uint32_t back = lode_code_named(code, "back");

	return back != LODE_NONE && !code->functions[back].unknown_ends;
}

static void calls_across_binaries_are_found_by_name(void **state)
{
	struct lode_program *program = *state;

	if (!is_understood(program, add(program, APP)))
		skip();
	assert_calls(program, "app!start", "app!middle");
	assert_calls(program, "app!middle", "");
	add(program, ONE);
	assert_calls(program, "app!middle", "libone.so!both");
	assert_calls(program, "libone.so!both", "app!back");
	add(program, TWO);
	assert_calls(program, "app!middle", "libone.so!both libtwo.so!late");
	assert_calls(program, "libone.so!both", "app!back libtwo.so!late");
	assert_calls(program, "libtwo.so!late", "app!back");
	assert_calls(program, "libtwo.so!both", "");
}

static void the_first_binary_that_has_a_name_gets_the_call(void **state)
{
	struct lode_program *program = *state;

	add(program, TWO);
	add(program, ONE);
	if (!is_understood(program, add(program, APP)))
		skip();
	assert_calls(program, "app!middle", "libtwo.so!both libtwo.so!late");
}

static void the_same_file_is_the_same_binary(void **state)
{
	struct lode_program *program = *state;
	uint32_t app = add(program, APP), one = add(program, ONE), binary;
	size_t count = lode_program_count(program);
	char folder[64], link[128];

	assert_true(app != one);
	assert_int_equal(add(program, APP), app);
	assert_int_equal(temporary_folder(folder, sizeof(folder)), 0);
	snprintf(link, sizeof(link), "%s/link", folder);
	assert_int_equal(symlink(paths[ONE], link), 0);
	assert_int_equal(lode_program_add_binary(program, link, "/other/name", &binary, NULL), 0);
	assert_int_equal(binary, one);
	assert_int_equal(lode_program_count(program), count);
	unlink(link);
	rmdir(folder);
}

static void functions_are_found_by_their_offset(void **state)
{
	struct lode_program *program = *state;
	uint32_t binaries[PARTS] = { add(program, APP), add(program, ONE), add(program, TWO) };

	for (enum part part = APP; part < PARTS; part++) {
		const struct lode_code *code = lode_program_code(program, binaries[part]);

		assert_non_null(code);
		for (size_t i = 0; i < code->piece_count; i++) {
			uint32_t number = lode_program_at(program, binaries[part], code->pieces[i].start);
			const struct lode_program_function *function = lode_program_function(program, number);

			assert_int_equal(function->binary, binaries[part]);
			assert_int_equal(function->code, code->pieces[i].function);
			assert_string_equal(function->module, modules[part]);
			assert_int_equal(strncmp(function->name, modules[part], strlen(modules[part])), 0);
			assert_string_equal(function->name + strlen(modules[part]) + 1,
					    code->functions[code->pieces[i].function].name);
		}
	}
	assert_int_equal(lode_program_at(program, binaries[APP], UINT64_MAX), LODE_NONE);
	assert_int_equal(lode_program_at(program, 99, 0), LODE_NONE);
	assert_null(lode_program_code(program, 99));
}

static void functions_without_a_binary_have_a_name_and_callees(void **state)
{
	struct lode_program *program = *state;
	uint32_t kernel = lode_program_named(program, "kernel!futex_wait");
	uint32_t bare = lode_program_named(program, "interpret");
	const struct lode_program_function *function = lode_program_function(program, kernel);
	size_t count;

	assert_int_equal(lode_program_named(program, "kernel!futex_wait"), kernel);
	assert_string_equal(function->module, "kernel");
	assert_int_equal(function->binary, LODE_NONE);
	assert_string_equal(lode_program_function(program, bare)->module, "");
	assert_int_equal(lode_program_add_call(program, bare, kernel), 1);
	assert_int_equal(lode_program_add_call(program, bare, kernel), 0);
	assert_int_equal(lode_program_callees(program, bare, &count)[0], kernel);
	assert_int_equal(count, 1);
	lode_program_callees(program, kernel, &count);
	assert_int_equal(count, 0);
	add(program, APP);
	assert_ptr_equal(lode_program_function(program, kernel), function);
}

/* A module has its own number, also where a function without a module is called like it. */
static void modules_have_numbers_beside_functions(void **state)
{
	struct lode_program *program = *state;
	uint32_t bare = lode_program_named(program, "libz"), other = lode_program_named(program, "app!main");
	uint32_t deflate = lode_program_named(program, "libz!deflate"),
		 crc = lode_program_named(program, "libz!crc");
	uint32_t libz, again, app, none;
	size_t count;

	assert_int_equal(lode_program_module(program, deflate, &libz), 0);
	assert_int_equal(lode_program_module(program, crc, &again), 0);
	assert_int_equal(lode_program_module(program, other, &app), 0);
	assert_int_equal(lode_program_module(program, bare, &none), 0);
	assert_int_equal(libz, again);
	assert_int_not_equal(libz, app);
	assert_int_not_equal(libz, bare);
	assert_int_equal(none, LODE_NONE);
	assert_true(lode_program_is_module(program, libz) && lode_program_is_module(program, app));
	assert_false(lode_program_is_module(program, bare) || lode_program_is_module(program, deflate));
	assert_false(lode_program_is_module(program, LODE_NONE));
	assert_string_equal(lode_program_function(program, libz)->name, "libz");
	assert_int_equal(lode_program_named(program, "libz"), bare);
	lode_program_callees(program, libz, &count);
	assert_int_equal(count, 0);
}

#define MANY 40

/* Each call once, in the order of first appearance, as a plain list says. */
static void calls_are_kept_in_the_order_they_became_known(void **state)
{
	struct lode_program *program = *state;
	uint32_t expected[MANY][MANY];
	size_t counts[MANY] = { 0 }, count;
	uint64_t seed = 7;

	for (uint32_t i = 0; i < MANY; i++) {
		char name[16];

		snprintf(name, sizeof(name), "m!f%u", i);
		assert_int_equal(lode_program_named(program, name), i);
	}
	for (int round = 0; round < 5000; round++) {
		uint32_t caller = (uint32_t)random_below(&seed, MANY), callee = (uint32_t)random_below(&seed, MANY);
		int known = 0;

		for (size_t i = 0; i < counts[caller]; i++)
			known |= expected[caller][i] == callee;
		assert_int_equal(lode_program_add_call(program, caller, callee), !known);
		if (!known)
			expected[caller][counts[caller]++] = callee;
	}
	for (uint32_t i = 0; i < MANY; i++) {
		const uint32_t *callees = lode_program_callees(program, i, &count);

		assert_int_equal(count, counts[i]);
		assert_memory_equal(callees, expected[i], count * sizeof(*callees));
	}
}

static int exports(enum part part, const char *name)
{
	struct lode_elf elf;
	int found;

	assert_int_equal(lode_elf_open(&elf, paths[part]), 0);
	found = lode_elf_exports(&elf, name);
	lode_elf_close(&elf);
	return found;
}

static void exports_of_a_binary_are_distinguished_from_imports(void **state)
{
	(void)state;
	assert_true(exports(ONE, "both"));
	assert_false(exports(ONE, "late")); /* which it calls */
	assert_false(exports(ONE, "oth"));
	assert_true(exports(TWO, "late"));
	assert_false(exports(TWO, "start"));
}

static void a_file_that_cannot_be_read_is_an_error_and_no_binary(void **state)
{
	struct lode_program *program = *state;
	struct lode_error error = { "" };
	uint32_t binary = 7;

	assert_int_equal(lode_program_add_binary(program, "/no/such/file", "x", &binary, &error), LODE_SYSTEM);
	assert_non_null(strstr(error.text, "/no/such/file"));
	assert_int_equal(binary, LODE_NONE);
	assert_int_equal(lode_program_add_binary(program, "/proc/self/status", "x", &binary, &error),
			 LODE_BAD_INPUT);
	assert_int_equal(lode_program_count(program), 0);
	assert_int_equal(add(program, APP), 0);
}

/* The whole of it, with allocation `nth` failing. */
static int use_program(uint64_t nth)
{
	struct lode_error error = { "" };
	struct lode_program *program = NULL;
	uint32_t binary, function = 0;
	int code;

	lode_memory_fail_at(nth, 0);
	code = lode_program_create(&program, &error);
	for (enum part part = APP; part < PARTS && code == 0; part++)
		code = lode_program_add_binary(program, paths[part], modules[part], &binary, &error);
	assert_true(code == 0 || (code == LODE_SYSTEM && error.text[0]));
	if (code == 0)
		function = lode_program_named(program, "kernel!schedule");
	if (code == 0 && function == LODE_NONE)
		code = LODE_SYSTEM;
	if (code == 0)
		code = lode_program_add_call(program, 0, function);
	if (code == 0)
		code = lode_program_module(program, function, &binary);
	lode_memory_fail_at(0, 0);
	lode_program_destroy(program);
	return code;
}

static void memory_that_runs_out_anywhere_is_an_error(void **state)
{
	uint64_t nth = 1;

	(void)state;
	while (use_program(nth) < 0)
		nth++;
	assert_true(nth > 50);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
		TEST(calls_across_binaries_are_found_by_name),
		TEST(the_first_binary_that_has_a_name_gets_the_call),
		TEST(the_same_file_is_the_same_binary),
		TEST(functions_are_found_by_their_offset),
		TEST(functions_without_a_binary_have_a_name_and_callees),
		TEST(modules_have_numbers_beside_functions),
		TEST(calls_are_kept_in_the_order_they_became_known),
		TEST(exports_of_a_binary_are_distinguished_from_imports),
		TEST(a_file_that_cannot_be_read_is_an_error_and_no_binary),
		cmocka_unit_test(memory_that_runs_out_anywhere_is_an_error),
	};

	if (argc != PARTS + 1)
		return 2;
	for (int i = 0; i < PARTS; i++)
		if (!realpath(argv[i + 1], paths[i]))
			return 2;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
