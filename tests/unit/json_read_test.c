/* The JSON reader: what it accepts, against yajl, and what walking a document gives. */
#include "cmocka_all.h"
#include "random_stream.h"

#include "base/json.h"
#include "base/json_read.h"
#include "base/json_skip.h"
#include "base/json_special.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <yajl/yajl_parse.h>

/* An exact copy in fresh memory, so that a read behind its end is seen. */
static int check(const char *text, size_t size, struct lode_json_value *root, char **copy, struct lode_error *error)
{
	*copy = malloc(size ? size : 1);
	memcpy(*copy, text, size);
	return lode_json_check("x", *copy, size, root, error);
}

static void assert_bad_at(const char *text, const char *part)
{
	struct lode_error error = { "" };
	struct lode_json_value root;
	char *copy;

	if (check(text, strlen(text), &root, &copy, &error) != LODE_BAD_INPUT || !strstr(error.text, part))
		fail_msg("`%s` gave `%s`, which has no `%s`", text, error.text, part);
	free(copy);
}

static void mistakes_are_named_with_their_line(void **state)
{
	(void)state;
	assert_bad_at("", "x:1: the file ends too early");
	assert_bad_at("{\"a\":1,\n\"b\":[1,2\n", "x:3: the file ends too early");
	assert_bad_at("[1,\n2 3]", "x:2: this is not JSON, at byte 6: a comma or a closing bracket");
	assert_bad_at("[1,]", "a value was expected");
	assert_bad_at("{\"a\" 1}", "a colon was expected");
	assert_bad_at("{a:1}", "a key in quotes");
	assert_bad_at("[01]", "no number");
	assert_bad_at("[1.]", "ends in a point");
	assert_bad_at("[\"\\x\"]", "nothing to escape");
	assert_bad_at("[\"\\u12g4\"]", "four hexadecimal digits");
	assert_bad_at("[\"a\nb\"]", "control character");
	assert_bad_at("[1] 2", "something follows");
	assert_bad_at("7", "an object or an array");
	assert_bad_at("[nul]", "a value was expected");
}

static void nesting_is_bounded(void **state)
{
	size_t size = 100000;
	char *deep = malloc(size + 1);

	(void)state;
	memset(deep, '[', size);
	deep[size] = '\0';
	assert_bad_at(deep, "nested too deep");
	free(deep);
}

static void walking_gives_what_is_there(void **state)
{
	static const char text[] =
		"\xef\xbb\xbf {\"a\" : [1, -2.5e1 ,\"x\\u00e9\\ud83d\\ude00\\n\\ud800\",{ } ,[ ]],"
		"\"\\u0062\":null,\"c\":true,\"c\":false}";
	struct lode_json_value root, item, array, several[3];
	struct lode_json_walk walk;
	struct lode_buffer buffer = { 0 };
	struct lode_error error;
	char *copy;
	size_t length;

	(void)state;
	assert_int_equal(check(text, sizeof(text) - 1, &root, &copy, &error), 0);
	array = lode_json_get(root, "a");
	assert_int_equal(lode_json_count(array), 5);
	assert_int_equal(lode_json_count(root), 0);
	walk = lode_json_walk(array);
	assert_true(lode_json_item(&walk, &item));
	assert_int_equal(lode_json_u64_or(item, 9), 1);
	assert_true(lode_json_item(&walk, &item));
	assert_true(lode_json_double_or(item, 9) == -25.0);
	assert_int_equal(lode_json_u64_or(item, 9), 9);
	assert_true(lode_json_item(&walk, &item));
	assert_null(lode_json_plain_text(item, &length));
	lode_json_text_to(item, &buffer);
	lode_buffer_byte(&buffer, '\0');
	assert_string_equal(buffer.bytes, "x\xc3\xa9\xf0\x9f\x98\x80\n\xef\xbf\xbd");
	assert_true(lode_json_item(&walk, &item));
	assert_int_equal(lode_json_kind(item), LODE_JSON_OBJECT);
	assert_null(lode_json_walk(item).at);
	assert_true(lode_json_item(&walk, &item));
	assert_false(lode_json_item(&walk, &item));
	assert_int_equal(lode_json_kind(lode_json_get(root, "b")), LODE_JSON_NULL);
	assert_int_equal(lode_json_kind(lode_json_get(root, "c")), LODE_JSON_TRUE);
	assert_int_equal(lode_json_kind(lode_json_get(root, "d")), LODE_JSON_ABSENT);
	lode_json_get_all(root, (const char *const[]){ "c", "d", "a" }, several, 3);
	assert_int_equal(lode_json_kind(several[0]), LODE_JSON_TRUE);
	assert_null(several[1].at);
	assert_ptr_equal(several[2].at, array.at);
	lode_buffer_release(&buffer);
	free(copy);
}

static void whole_numbers_must_fit(void **state)
{
	static const char text[] = "[18446744073709551615,18446744073709551616,1e3,1.0,-1,\"1\"]";
	static const uint64_t expected[] = { UINT64_MAX, 7, 7, 7, 7, 7 };
	struct lode_json_value root, item;
	struct lode_json_walk walk;
	struct lode_error error;
	char *copy;

	(void)state;
	assert_int_equal(check(text, sizeof(text) - 1, &root, &copy, &error), 0);
	walk = lode_json_walk(root);
	for (size_t i = 0; lode_json_item(&walk, &item); i++)
		assert_true(lode_json_u64_or(item, 7) == expected[i]);
	free(copy);
}

static void numbers_are_rounded_as_strtod_does(void **state)
{
	uint64_t seed = 14;

	(void)state;
	for (int round = 0; round < 200000; round++) {
		static const char *const formats[] = { "%s%llu.%0*llu", "%s%llu.%0*llue-5", "%s%llu" };
		uint64_t whole = random_next(&seed) >> random_below(&seed, 64);
		uint64_t fraction = random_next(&seed) >> (14 + random_below(&seed, 50));
		char text[80];
		double number;

		snprintf(text, sizeof(text), formats[random_below(&seed, 3)], random_below(&seed, 2) ? "-" : "",
			 (unsigned long long)whole, (int)random_below(&seed, 16), (unsigned long long)fraction);
		strcat(text, "]");
		number = lode_json_double_or((struct lode_json_value){ text }, 0.5);
		if (number != strtod(text, NULL) || signbit(number) != (text[0] == '-'))
			fail_msg("%s gave %.17g", text, number);
	}
}

/* ---- random documents ---- */

static void put_random_text(struct lode_json *json, uint64_t *seed)
{
	static const char *const texts[] = {
		"", "a", "\"", "\\", "\x01", "\xc3\xa9", "\xf0\x9f\x98\x80", "a longer text"
	};

	lode_json_text(json, texts[random_below(seed, 8)]);
}

static void put_random(struct lode_json *json, uint64_t *seed, unsigned depth)
{
	uint64_t count = random_below(seed, 5);

	switch (random_below(seed, depth ? 7 : 5)) {
	case 0:
		lode_json_null(json);
		break;
	case 1:
		lode_json_bool(json, (int)random_below(seed, 2));
		break;
	case 2:
		lode_json_u64(json, random_next(seed) >> random_below(seed, 64));
		break;
	case 3:
		lode_json_double(json, ((double)random_below(seed, 2000) - 1000) / 7);
		break;
	case 4:
		put_random_text(json, seed);
		break;
	case 5:
		lode_json_array(json);
		while (count--)
			put_random(json, seed, depth - 1);
		lode_json_array_end(json);
		break;
	default:
		lode_json_object(json);
		while (count--) {
			lode_json_key(json, count & 1 ? "k\n" : "key");
			put_random(json, seed, depth - 1);
		}
		lode_json_object_end(json);
	}
}

/* Writes a document again from what walking it gives. */
static void put_again(struct lode_json *json, struct lode_json_value value)
{
	struct lode_json_walk walk = lode_json_walk(value);
	struct lode_json_value key, item;
	struct lode_buffer text = { 0 };

	switch (lode_json_kind(value)) {
	case LODE_JSON_OBJECT:
		lode_json_object(json);
		while (lode_json_member(&walk, &key, &item)) {
			lode_json_text_to(key, &text);
			lode_buffer_byte(&text, '\0');
			lode_json_key(json, text.bytes);
			lode_buffer_clear(&text);
			put_again(json, item);
		}
		lode_json_object_end(json);
		break;
	case LODE_JSON_ARRAY:
		lode_json_array(json);
		while (lode_json_item(&walk, &item))
			put_again(json, item);
		lode_json_array_end(json);
		break;
	case LODE_JSON_TEXT:
		lode_json_text_to(value, &text);
		lode_json_text_n(json, text.size ? text.bytes : "", text.size);
		break;
	case LODE_JSON_NUMBER:
		lode_json_raw(json, value.at, lode_json_length(value));
		break;
	case LODE_JSON_NULL:
		lode_json_null(json);
		break;
	default:
		lode_json_bool(json, lode_json_kind(value) == LODE_JSON_TRUE);
	}
	lode_buffer_release(&text);
}

static void put_document(struct lode_buffer *buffer, uint64_t *seed)
{
	struct lode_json json = { .buffer = buffer };

	lode_json_array(&json);
	for (uint64_t count = random_below(seed, 4); count; count--)
		put_random(&json, seed, 6);
	lode_json_array_end(&json);
}

static void documents_survive_walking(void **state)
{
	uint64_t seed = 11;

	(void)state;
	for (int round = 0; round < 5000; round++) {
		struct lode_buffer written = { 0 }, again = { 0 };
		struct lode_json_value root;
		struct lode_error error = { "" };
		struct lode_json json;
		char *copy;

		put_document(&written, &seed);
		if (check(written.bytes, written.size, &root, &copy, &error) < 0)
			fail_msg("%.*s: %s", (int)written.size, written.bytes, error.text);
		json = (struct lode_json){ .buffer = &again };
		put_again(&json, root);
		assert_int_equal(again.size, written.size);
		assert_memory_equal(again.bytes, written.bytes, again.size);
		free(copy);
		lode_buffer_release(&written);
		lode_buffer_release(&again);
	}
}

/* The end of a value by its definition, one byte after the other. */
static const char *end_by_bytes(const char *at)
{
	int depth = 0, in_text = 0;

	for (;; at++) {
		if (in_text && *at == '\\')
			at++;
		else if (*at == '"')
			in_text = !in_text;
		else if (!in_text && strchr("[{", *at))
			depth++;
		else if (!in_text && strchr("]}", *at) && --depth == 0)
			return at + 1;
	}
}

/* The same for a string. */
static const char *text_end_by_bytes(const char *at)
{
	for (at++; *at != '"'; at++)
		at += *at == '\\';
	return at + 1;
}

/* Compares the ends of all strings, arrays and objects inside a value; returns how many there are. */
static uint64_t compare_ends(struct lode_json_value value)
{
	struct lode_json_walk walk = lode_json_walk(value);
	struct lode_json_value key, item;
	uint64_t count = 1;

	if (lode_json_kind(value) == LODE_JSON_TEXT) {
		assert_int_equal(lode_json_length(value), text_end_by_bytes(value.at) - value.at);
		return 1;
	}
	if (lode_json_kind(value) != LODE_JSON_ARRAY && lode_json_kind(value) != LODE_JSON_OBJECT)
		return 0;
	assert_ptr_equal(lode_json_skip_brackets(value.at), end_by_bytes(value.at));
	while (lode_json_kind(value) == LODE_JSON_ARRAY ? lode_json_item(&walk, &item)
							: lode_json_member(&walk, &key, &item))
		count += compare_ends(item);
	return count;
}

/* At any place in a block of 64 bytes, with quotes, backslashes and brackets before it and in its strings. */
static void brackets_are_skipped_as_by_bytes(void **state)
{
	static const char bytes[] = "\"\\[]{}a|";
	uint64_t seed = 13, values = 0;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		struct lode_buffer text = { 0 };
		size_t before = random_below(&seed, 130);
		struct lode_json json;
		char *copy;

		for (size_t i = 0; i < before; i++)
			lode_buffer_byte(&text, bytes[random_below(&seed, sizeof(bytes) - 1)]);
		json = (struct lode_json){ .buffer = &text };
		lode_json_array(&json);
		for (uint64_t count = random_below(&seed, 6); count; count--) {
			char inside[140];
			size_t length = random_below(&seed, sizeof(inside));

			for (size_t i = 0; i < length; i++)
				inside[i] = bytes[random_below(&seed, sizeof(bytes) - 1)];
			lode_json_text_n(&json, inside, length);
			put_random(&json, &seed, 5);
		}
		lode_json_array_end(&json);
		copy = malloc(text.size);
		memcpy(copy, text.bytes, text.size);
		values += compare_ends((struct lode_json_value){ copy + before });
		free(copy);
		lode_buffer_release(&text);
	}
	assert_true(values > 40000);
}

/* The first of these bytes from `at` on, by definition. */
static const char *special_by_bytes(const char *at, const char *end, int controls)
{
	while (at < end && *at != '"' && *at != '\\' && !(controls && (unsigned char)*at < ' '))
		at++;
	return at;
}

/* With pages before and behind the text that must not be touched. */
static void ends_of_strings_are_found_up_to_the_last_byte_of_a_page(void **state)
{
	static const char bytes[] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaa |\x7f\x80\xff\"\\\n\x1f\x01";
	const size_t page = 65536, room = 300;
	char *memory = mmap(NULL, 3 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *text = memory + page, *end = text + page;
	uint64_t seed = 14;

	(void)state;
	assert_true(memory != MAP_FAILED);
	assert_int_equal(mprotect(text, page, PROT_READ | PROT_WRITE), 0);
	for (int round = 0; round < 2000; round++) {
		char *start = round % 2 ? end - room : text;

		for (size_t i = 0; i < room; i++)
			start[i] = bytes[random_below(&seed, sizeof(bytes) - 1)];
		start[room - 1] = '"';
		for (size_t i = 0; i < room; i++) {
			const char *stop = start + i + random_below(&seed, room - i + 1);

			assert_ptr_equal(lode_json_find_special(start + i),
					 special_by_bytes(start + i, start + room, 0));
			assert_ptr_equal(lode_json_pass_plain(start + i, stop),
					 special_by_bytes(start + i, stop, 1));
		}
	}
	munmap(memory, 3 * page);
}

static int yajl_takes(const char *text, size_t size)
{
	static const yajl_callbacks none;
	yajl_handle handle = yajl_alloc(&none, NULL, NULL);
	int fine;

	yajl_config(handle, yajl_dont_validate_strings, 1);
	fine = yajl_parse(handle, (const unsigned char *)text, size) == yajl_status_ok &&
	       yajl_complete_parse(handle) == yajl_status_ok;
	yajl_free(handle);
	return fine;
}

/* Where the two may differ: yajl takes a document that is one scalar, and spaces of C. */
static int is_odd(const char *text, size_t size)
{
	return memchr(text, '\v', size) || memchr(text, '\f', size) || (size && text[0] != '[');
}

static void damaged_documents_are_judged_as_yajl_does(void **state)
{
	static const char bytes[] = "[]{}\",:\\0123456789-+.eEtruefalsn \n\tx";
	uint64_t seed = 12, taken = 0, refused = 0;

	(void)state;
	for (int round = 0; round < 30000; round++) {
		struct lode_buffer text = { 0 };
		struct lode_json_value root;
		struct lode_error error = { "" };
		char *copy;
		int fine;

		put_document(&text, &seed);
		for (uint64_t changes = 1 + random_below(&seed, 2); changes; changes--)
			text.bytes[random_below(&seed, text.size)] = bytes[random_below(&seed, sizeof(bytes) - 1)];
		if (!is_odd(text.bytes, text.size)) {
			fine = check(text.bytes, text.size, &root, &copy, &error) == 0;
			/* yajl takes half a value behind the end. */
			if (fine != yajl_takes(text.bytes, text.size) && !strstr(error.text, "something follows"))
				fail_msg("`%.*s`: %s", (int)text.size, text.bytes, fine ? "taken" : error.text);
			taken += (uint64_t)fine;
			refused += !fine;
			free(copy);
		}
		lode_buffer_release(&text);
	}
	assert_true(taken > 1000 && refused > 1000);
}

/* An item of an array: most are numbers, of all kinds, some are not right. */
static void put_item(struct lode_buffer *text, uint64_t *seed)
{
	static const char *const items[] = { "0",    "-0",   "-1",    "0.5",   "-0.25",     "12.000", "null",
					     "1e5",  "2E-3", "\"1\"", "[1,2]", "{\"a\":1}", "true",   "01",
					     "-",    "1.",   ".5",    "1.2.3", "--1",       "1-2",    "-01",
					     "00.5", "+1",   "",      " 7",    "8 " };

	switch (random_below(seed, 60)) {
	case 0:
		lode_buffer_text(text, items[random_below(seed, sizeof(items) / sizeof(*items))]);
		break;
	case 1:
		lode_buffer_text(text, items[random_below(seed, 13)]);
		break;
	default:
		lode_buffer_print(text, random_below(seed, 2) ? "%llu" : "-%llu.0125",
				  (unsigned long long)(random_below(seed, 1 << 30) >> random_below(seed, 30)));
	}
}

/* Long ones are checked many bytes at a time, and read in one pass. */
static void arrays_of_numbers_are_judged_as_yajl_does(void **state)
{
	uint64_t seed = 15, taken = 0, refused = 0;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		struct lode_buffer text = { 0 };
		struct lode_json_value root, value, again;
		struct lode_json_walk walk, doubles, wholes;
		struct lode_error error = { "" };
		uint64_t whole;
		double number;
		char *copy;
		int fine;

		lode_buffer_byte(&text, '[');
		for (uint64_t count = 1 + random_below(&seed, 80); count; count--) {
			put_item(&text, &seed);
			lode_buffer_byte(&text, count > 1 ? ',' : ']');
		}
		fine = check(text.bytes, text.size, &root, &copy, &error) == 0;
		if (fine != yajl_takes(text.bytes, text.size))
			fail_msg("`%.*s`: %s", (int)text.size, text.bytes, fine ? "taken" : error.text);
		taken += (uint64_t)fine;
		refused += !fine;
		if (fine)
			walk = doubles = wholes = lode_json_walk(root);
		while (fine && lode_json_item(&walk, &value)) {
			assert_true(lode_json_item_double(&doubles, &again, -7, &number));
			assert_ptr_equal(again.at, value.at);
			assert_true(number == lode_json_double_or(value, -7));
			assert_true(lode_json_item_u64(&wholes, &again, 77, &whole));
			assert_ptr_equal(again.at, value.at);
			assert_int_equal(whole, lode_json_u64_or(value, 77));
		}
		assert_true(!fine ||
			    (doubles.end == walk.end && wholes.end == walk.end && !doubles.at && !wholes.at));
		free(copy);
		lode_buffer_release(&text);
	}
	assert_true(taken > 1000 && refused > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mistakes_are_named_with_their_line),
		cmocka_unit_test(nesting_is_bounded),
		cmocka_unit_test(walking_gives_what_is_there),
		cmocka_unit_test(whole_numbers_must_fit),
		cmocka_unit_test(numbers_are_rounded_as_strtod_does),
		cmocka_unit_test(documents_survive_walking),
		cmocka_unit_test(brackets_are_skipped_as_by_bytes),
		cmocka_unit_test(ends_of_strings_are_found_up_to_the_last_byte_of_a_page),
		cmocka_unit_test(damaged_documents_are_judged_as_yajl_does),
		cmocka_unit_test(arrays_of_numbers_are_judged_as_yajl_does),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
