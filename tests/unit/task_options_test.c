/* The command line's small parts: reading options by tables, and the nearest right word. */
#include "cmocka_all.h"

#include "base/memory.h"
#include "tasks/nearest.h"
#include "tasks/options.h"

#include <string.h>

struct settings {
	int flag;
	int other;
	const char *text;
	uint64_t number;
	uint64_t duration;
	uint64_t length;
	int old;
	const char *choice;
	struct lode_option_list list;
};

static const char *fruit(size_t i)
{
	static const char *const fruits[] = { "apple", "pear" };

	return i < 2 ? fruits[i] : NULL;
}

#define FIELD(field) offsetof(struct settings, field)

static const struct lode_option table[] = {
	LODE_FLAG("flag", 'f', FIELD(flag), "a flag"),
	LODE_FLAG("other", 'o', FIELD(other), "another"),
	LODE_TEXT("text", 't', FIELD(text), "TEXT", "a text"),
	LODE_NUMBER("number", 'n', FIELD(number), "N", "a number", 2, 10),
	LODE_DURATION("duration", 'd', FIELD(duration), "TIME", "a duration"),
	LODE_SOME_DURATION("length", 0, FIELD(length), "TIME", "a duration above 0"),
	{ LODE_ROW("old", 0, LODE_OPTION_FLAG, FIELD(old), NULL, "once had a letter"), .old_letter = 'O' },
	LODE_CHOICE("choice", 'c', FIELD(choice), "FRUIT", "a fruit", fruit),
	LODE_LIST("list", 'l', FIELD(list), "ITEM", "many"),
	LODE_NO_MORE_OPTIONS,
};

struct reading {
	struct settings settings;
	struct lode_arguments arguments;
	struct lode_error error;
	int code;
};

static void read_words(struct reading *reading, int leading, size_t count, const char *const *words)
{
	struct lode_options_tables tables = {
		.command = "try",
		.own = table,
		.settings = &reading->settings,
		.leading = leading,
	};
	char *copies[16] = { NULL };

	memset(reading, 0, sizeof(*reading));
	for (size_t i = 0; i < count; i++)
		copies[i] = (char *)(uintptr_t)words[i];
	reading->code = lode_options_read(&tables, count, copies, &reading->arguments, &reading->error);
}

static void forget(struct reading *reading)
{
	lode_arguments_release(&reading->arguments);
	lode_options_release(table, &reading->settings);
}

#define READ(reading, ...)                                                                                        \
	read_words(reading, 0, sizeof((const char *[]){ __VA_ARGS__ }) / sizeof(char *),                          \
		   (const char *[]){ __VA_ARGS__ })

static void every_spelling_of_a_value_is_read(void **state)
{
	struct reading reading;
	const char *const spellings[][2] = {
		{ "--text=v", NULL }, { "--text", "v" }, { "-tv", NULL },
		{ "-t", "v" },        { "-ftv", NULL },  { "-ft", "v" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(spellings) / sizeof(*spellings); i++) {
		read_words(&reading, 0, spellings[i][1] ? 2 : 1, spellings[i]);
		assert_int_equal(reading.code, 0);
		assert_string_equal(reading.settings.text, "v");
		assert_int_equal(reading.arguments.operand_count, 0);
		forget(&reading);
	}
}

static void operands_and_options_may_be_mixed_until_two_dashes(void **state)
{
	struct reading reading;

	(void)state;
	READ(&reading, "one", "-f", "-", "--", "-o", "--text");
	assert_int_equal(reading.code, 0);
	assert_true(reading.settings.flag);
	assert_false(reading.settings.other);
	assert_int_equal(reading.arguments.operand_count, 4);
	assert_string_equal(reading.arguments.operands[1], "-");
	assert_string_equal(reading.arguments.operands[2], "-o");
	assert_null(reading.arguments.operands[4]);
	forget(&reading);
}

static void leading_options_end_at_the_first_operand(void **state)
{
	const char *words[] = { "-f", "command", "-o", "--unknown" };
	struct reading reading;

	(void)state;
	read_words(&reading, 1, 4, words);
	assert_int_equal(reading.code, 0);
	assert_true(reading.settings.flag);
	assert_false(reading.settings.other);
	assert_int_equal(reading.arguments.operand_count, 3);
	forget(&reading);
}

static void values_get_their_types(void **state)
{
	struct reading reading;

	(void)state;
	READ(&reading, "--number=10", "--duration", "1.5ms", "-cpear", "-l", "a", "-l=b", "--list=");
	assert_int_equal(reading.code, 0);
	assert_int_equal(reading.settings.number, 10);
	assert_int_equal(reading.settings.duration, 1500000);
	assert_string_equal(reading.settings.choice, "pear");
	assert_int_equal(reading.settings.list.count, 3);
	assert_string_equal(reading.settings.list.items[1], "=b");
	assert_string_equal(reading.settings.list.items[2], "");
	assert_null(reading.settings.list.items[3]);
	forget(&reading);
}

static void an_old_letter_is_understood_and_listed_nowhere(void **state)
{
	struct lode_buffer help = { 0 };
	struct reading reading;

	(void)state;
	READ(&reading, "-fO", "--duration=0");
	assert_int_equal(reading.code, 0);
	assert_true(reading.settings.old && reading.settings.flag);
	assert_true(reading.settings.duration == 0);
	forget(&reading);
	lode_options_help(table, &help);
	lode_options_list(table, &help);
	lode_buffer_byte(&help, '\0');
	assert_false(help.failed);
	assert_non_null(strstr(help.bytes, "--old"));
	assert_null(strstr(help.bytes, "-O"));
	lode_buffer_release(&help);
}

static void each_wrong_word_is_refused_with_its_name(void **state)
{
	static const char *const wrong[][3] = {
		{ "--flg", NULL, "unknown option '--flg'; did you mean '--flag'?" },
		{ "-x", NULL, "unknown option '-x'." },
		{ "-fx", NULL, "unknown option '-x'." },
		{ "--flag=1", NULL, "'--flag' takes no value." },
		{ "--text", NULL, "'--text' needs a value: TEXT." },
		{ "-t", NULL, "'-t' needs a value: TEXT." },
		{ "--text=", NULL, "'--text' needs a value that is not empty." },
		{ "--number", "1", "'--number' needs a number from 2 to 10, not 1." },
		{ "--number", "11", "'--number' needs a number from 2 to 10, not 11." },
		{ "--number", "+3", "'--number' needs a whole number, not '+3'." },
		{ "--number", "3x", "'--number' needs a whole number, not '3x'." },
		{ "--duration", "soon", "'--duration' needs a duration" },
		{ "--duration", "5", "'--duration': 5 has no unit; write 5s for seconds or 5ns for nanoseconds" },
		{ "--length", "0", "'--length' needs a duration above 0, not '0'" },
		{ "--choice", "aple", "did you mean 'apple'? It takes one of apple, pear." },
		{ "--choice", "iron", "'iron' is not a value of '--choice'; it takes one of apple, pear." },
	};
	struct reading reading;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		read_words(&reading, 0, wrong[i][1] ? 2 : 1, wrong[i]);
		assert_int_equal(reading.code, LODE_USAGE);
		if (!strstr(reading.error.text, wrong[i][2]))
			fail_msg("expected '%s' in '%s'", wrong[i][2], reading.error.text);
		assert_non_null(strstr(reading.error.text, "See 'lode help try'."));
		forget(&reading);
	}
}

static void failing_memory_is_an_error(void **state)
{
	struct reading reading;
	uint64_t nth = 0;

	(void)state;
	do {
		lode_memory_fail_at(++nth, 0);
		READ(&reading, "a", "-l", "b", "--list=c", "-l", "d", "-l", "e");
		forget(&reading);
	} while (reading.code == LODE_SYSTEM && nth < 100);
	lode_memory_fail_at(0, 0);
	assert_int_equal(reading.code, 0);
	assert_true(nth > 2);
}

static void the_listing_has_a_line_for_every_spelling(void **state)
{
	struct lode_buffer buffer = { 0 };

	(void)state;
	lode_options_list(table, &buffer);
	lode_buffer_byte(&buffer, '\0');
	assert_non_null(strstr(buffer.bytes, "--flag\t\ta flag\n-f\t\ta flag\n"));
	assert_non_null(strstr(buffer.bytes, "--choice\tapple|pear\ta fruit\n-c\tapple|pear\ta fruit\n"));
	lode_buffer_release(&buffer);
}

static const char *nearest_of(const char *wrong)
{
	static const char *const words[] = { "import", "export", "info", "fsck", "help", "version" };
	struct lode_nearest nearest = lode_nearest(wrong);

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		lode_nearest_try(&nearest, words[i]);
	return nearest.best ? nearest.best : "";
}

static void slips_find_their_word_and_nonsense_finds_none(void **state)
{
	char longest[200];

	(void)state;
	assert_string_equal(nearest_of("improt"), "import");
	assert_string_equal(nearest_of("exprt"), "export");
	assert_string_equal(nearest_of("ver"), "version");
	assert_string_equal(nearest_of("FSCK"), "fsck");
	assert_string_equal(nearest_of("hepl"), "help");
	assert_string_equal(nearest_of("mine"), "");
	assert_string_equal(nearest_of(""), "");
	memset(longest, 'i', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	assert_string_equal(nearest_of(longest), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_spelling_of_a_value_is_read),
		cmocka_unit_test(operands_and_options_may_be_mixed_until_two_dashes),
		cmocka_unit_test(leading_options_end_at_the_first_operand),
		cmocka_unit_test(values_get_their_types),
		cmocka_unit_test(an_old_letter_is_understood_and_listed_nowhere),
		cmocka_unit_test(each_wrong_word_is_refused_with_its_name),
		cmocka_unit_test(failing_memory_is_an_error),
		cmocka_unit_test(the_listing_has_a_line_for_every_spelling),
		cmocka_unit_test(slips_find_their_word_and_nonsense_finds_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
