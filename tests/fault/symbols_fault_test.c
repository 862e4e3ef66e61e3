/*
 * Symbols on a failing machine. A table that cannot be loaded costs names, never
 * the work, so a run with a failure may find less; what it finds must be right,
 * and what it leaves in the cache must not mislead the next run.
 */
#include "fault.h"

#include "symbols/symbols.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What was found when nothing failed. */
struct answers {
	char name[64];
	char inlined[64];
	size_t symbols;
	int link_register;
};

static struct answers right;
static uint64_t address; /* of the function `shown` in the seed */

static void copy_text(char to[64], const char *from)
{
	snprintf(to, 64, "%s", from ? from : "");
}

/* With a cache folder in the place, and with the seed's functions. */
static int ask(struct place *place, struct answers *answers, struct lode_error *error)
{
	struct lode_symbols_options options = { .cache = place->other };
	struct lode_symbolizer *symbolizer;
	struct lode_notes notes;
	struct lode_symbol symbol;
	struct lode_image *image;
	const char *names[4] = { NULL };
	int code;

	memset(answers, 0, sizeof(*answers));
	lode_notes_init(&notes);
	options.notes = &notes;
	code = lode_symbolizer_create(&symbolizer, &options, error);
	if (code == 0) {
		image = lode_symbolizer_binary(symbolizer, seed_path("elf/whole"), "");
		if (image) {
			answers->symbols = lode_image_symbols(image);
			if (lode_image_find(image, address, &symbol))
				copy_text(answers->name, symbol.name);
			if (lode_image_inlines(image, address, names, 4))
				copy_text(answers->inlined, names[0]);
			answers->link_register = lode_image_link_register(image, address);
		} else {
			code = lode_fail_memory(error);
		}
		lode_symbolizer_destroy(symbolizer);
	}
	lode_notes_release(&notes);
	return code;
}

static int run_symbols(struct place *place, struct lode_error *error)
{
	struct answers answers;
	int code = ask(place, &answers, error);

	if (code < 0)
		return code;
	assert_true(!answers.name[0] || strcmp(answers.name, right.name) == 0);
	assert_true(!answers.inlined[0] || strcmp(answers.inlined, "?") == 0 ||
		    strcmp(answers.inlined, right.inlined) == 0);
	assert_true(answers.link_register == -1 || answers.link_register == right.link_register);
	return 0;
}

static void require_right_answers(struct place *place, int code)
{
	struct lode_error error = { "" };
	struct answers answers;

	(void)code;
	for (int again = 0; again < 2; again++) { /* the second time from the cache */
		assert_int_equal(ask(place, &answers, &error), 0);
		assert_string_equal(answers.name, right.name);
		assert_string_equal(answers.inlined, right.inlined);
		assert_int_equal(answers.symbols, right.symbols);
		assert_int_equal(answers.link_register, right.link_register);
	}
}

static const struct fault_job symbolising = { .run = run_symbols, .check = require_right_answers, .most = 100 };

/* Finds the function `shown` by asking everywhere. */
static int learn_what_is_right(void **state)
{
	struct lode_symbols_options options = { .cache = "" };
	struct lode_symbolizer *symbolizer;
	struct lode_error error = { "" };
	struct lode_image *image;
	struct place place;

	(void)state;
	assert_int_equal(lode_symbolizer_create(&symbolizer, &options, &error), 0);
	image = lode_symbolizer_binary(symbolizer, seed_path("elf/whole"), "");
	for (uint64_t at = 0; at < 0x10000 && !address; at += 4) {
		struct lode_symbol symbol;
		const char *name;

		if (lode_image_find(image, at, &symbol) && symbol.name && strcmp(symbol.name, "shown") == 0 &&
		    lode_image_inlines(image, at, &name, 1))
			address = at;
	}
	lode_symbolizer_destroy(symbolizer);
	assert_int_not_equal(address, 0);
	place_make(&place);
	assert_int_equal(ask(&place, &right, &error), 0);
	assert_string_equal(right.name, "shown");
	assert_string_equal(right.inlined, "outer");
	place_remove(&place);
	return 0;
}

static void names_are_right_or_missing_when_memory_fails(void **state)
{
	(void)state;
	fail_every_allocation(&symbolising);
}

static void names_are_right_or_missing_when_files_fail(void **state)
{
	(void)state;
	fail_every_file_operation(&symbolising);
}

/* The cache is there already, and reading it is what fails. */
static void fill_cache(struct place *place)
{
	struct lode_error error = { "" };
	struct answers answers;

	assert_int_equal(ask(place, &answers, &error), 0);
}

static const struct fault_job reading_the_cache = {
	.prepare = fill_cache, .run = run_symbols, .check = require_right_answers, .most = 100
};

static void a_cache_that_cannot_be_read_does_no_harm(void **state)
{
	(void)state;
	fail_every_allocation(&reading_the_cache);
	fail_every_file_operation(&reading_the_cache);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_right_or_missing_when_memory_fails),
		cmocka_unit_test(names_are_right_or_missing_when_files_fail),
		cmocka_unit_test(a_cache_that_cannot_be_read_does_no_harm),
	};

	return cmocka_run_group_tests(tests, learn_what_is_right, NULL);
}
