#include "cmocka_all.h"

#include "random_stream.h"
#include "trace/query_text.h"

#include <string.h>

static void assert_text(const char *query, const char *expected)
{
	char text[LODE_QUERY_TEXT];

	lode_query_text(query, strlen(query) + 1, text);
	assert_string_equal(text, expected);
}

static void values_become_marks_and_names_stay(void **state)
{
	(void)state;
	assert_text("", "");
	assert_text("  SELECT 1 ; ", "SELECT ?");
	assert_text("SELECT a1, $2 FROM t WHERE x = 'it''s' AND y=-1.5e3",
		    "SELECT a1, $2 FROM t WHERE x = ? AND y=?");
	assert_text("select \"Name 1\", `b 2`\n\tfrom t", "select \"Name 1\", `b 2` from t");
	assert_text("a - 1", "a - ?");
	assert_text("select 'open", "select ?");
	assert_text("select '\\'' , x", "select ? , x");
	assert_text("\x01\x7f"
		    "a",
		    "a");
}

static void comments_are_left_out(void **state)
{
	(void)state;
	assert_text("/* request 17 */ SELECT a -- 5\n, b", "SELECT a , b");
	assert_text("SELECT /* open", "SELECT");
	assert_text("-- all of it", "");
}

static void lists_of_values_are_one(void **state)
{
	(void)state;
	assert_text("x IN (1,2, 3)", "x IN (?)");
	assert_text("VALUES ('a', -1, now())", "VALUES (?, now())");
	assert_text("f(1, b, 2)", "f(?, b, ?)");
}

static void what_is_long_is_cut_at_a_word(void **state)
{
	char text[LODE_QUERY_TEXT], query[400] = "SELECT a FROM t WHERE";

	(void)state;
	while (strlen(query) < 300)
		strcat(query, " longer");
	lode_query_text(query, sizeof(query), text);
	assert_true(strlen(text) < LODE_QUERY_TEXT && strlen(text) > 100);
	assert_string_equal(text + strlen(text) - strlen("longer…"), "longer…");
	lode_query_text("SELECT abcd", 10, text); /* cut in a word */
	assert_string_equal(text, "SELECT…");
	lode_query_text("SELECT a, 'bcd", 13, text);
	assert_string_equal(text, "SELECT a, ?…");
}

/* Whatever comes: it ends, fits, has and has no control characters. */
static void any_bytes_give_a_text(void **state)
{
	static const char bytes[] = "ab1'\"`-/*()=,; \n\t\\?\x80\xe2$";
	uint64_t seed = 5;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		char query[200], text[LODE_QUERY_TEXT], again[LODE_QUERY_TEXT];
		size_t length = random_below(&seed, sizeof(query));

		for (size_t i = 0; i < length; i++)
			query[i] = bytes[random_below(&seed, sizeof(bytes))];
		memset(text, 'x', sizeof(text));
		lode_query_text(query, length, text);
		assert_non_null(memchr(text, '\0', sizeof(text)));
		for (size_t i = 0; text[i]; i++)
			assert_true((unsigned char)text[i] >= ' ');
		lode_query_text(query, length, again);
		assert_string_equal(text, again);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_become_marks_and_names_stay),
		cmocka_unit_test(comments_are_left_out),
		cmocka_unit_test(lists_of_values_are_one),
		cmocka_unit_test(what_is_long_is_cut_at_a_word),
		cmocka_unit_test(any_bytes_give_a_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
