/* The small things everything is built on: strings, index, buffer, cursor, JSON, arena, parallel loops, errors. */
#include "cmocka_all.h"
#include "random_stream.h"

#include "base/arena.h"
#include "base/buffer.h"
#include "base/cursor.h"
#include "base/error.h"
#include "base/json.h"
#include "base/notes.h"
#include "base/parallel.h"
#include "base/safe_text.h"
#include "base/strings.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void equal_texts_get_one_id_and_different_texts_different_ones(void **state)
{
	struct lode_strings strings;
	char(*texts)[24] = calloc(5000, sizeof(*texts));
	size_t known = 1;
	uint64_t seed = 1;

	(void)state;
	assert_int_equal(lode_strings_init(&strings), 0);
	strcpy(texts[0], "");
	for (int i = 0; i < 20000; i++) {
		char text[24];
		size_t expected;
		uint32_t id;

		snprintf(text, sizeof(text), "text%u", (unsigned)random_below(&seed, 3000));
		id = lode_strings_add(&strings, text, strlen(text));
		for (expected = 0; expected < known && strcmp(texts[expected], text) != 0; expected++)
			;
		if (expected == known)
			strcpy(texts[known++], text);
		assert_int_equal(id, expected);
		assert_string_equal(lode_strings_get(&strings, id), text);
		assert_int_equal(lode_strings_find(&strings, text, strlen(text)), id);
	}
	assert_int_equal(lode_strings_find(&strings, "never", 5), LODE_NONE);
	lode_strings_release(&strings);
	free(texts);
}

static void a_nul_inside_ends_a_text(void **state)
{
	struct lode_strings strings;

	(void)state;
	assert_int_equal(lode_strings_init(&strings), 0);
	assert_int_equal(lode_strings_add(&strings, "ab\0cd", 5), lode_strings_add(&strings, "ab", 2));
	lode_strings_release(&strings);
}

static void an_index_finds_every_id_under_its_hash(void **state)
{
	struct lode_index index = { 0 };

	(void)state;
	for (uint32_t id = 0; id < 50000; id++) /* few hashes, so that chains are long */
		assert_int_equal(lode_index_insert(&index, (uint64_t)(id % 5000) * 0x9e3779b97f4a7c15u, id), 0);
	for (uint32_t id = 0; id < 50000; id++) {
		size_t probe = 0;
		uint32_t found;

		do {
			found = lode_index_next(&index, (uint64_t)(id % 5000) * 0x9e3779b97f4a7c15u, &probe);
		} while (found != id && found != LODE_NONE);
		assert_int_equal(found, id);
	}
	lode_index_release(&index);
}

/* The odd number that undoes a multiplication by `odd`. */
static uint64_t inverse(uint64_t odd)
{
	uint64_t result = odd;

	for (int i = 0; i < 6; i++)
		result *= 2 - odd * result;
	return result;
}

/* Numbers that a hash with known factors puts in one place: the author of a file could choose them. */
static void numbers_made_to_collide_do_not(void **state)
{
	enum { COUNT = 20000 };
	struct lode_index index = { 0 };
	uint64_t steps = 0, candidates = 0;

	(void)state;
	for (uint32_t id = 0; id < COUNT; id++) {
		uint64_t x = (0x12345678ull << 32 | id) * inverse(0xd6e8feb86659fd93u);
		size_t probe = 0;

		x = (x ^ x >> 32) * inverse(0x9e3779b97f4a7c15u);
		while (lode_index_next(&index, lode_hash_u64(x), &probe) != LODE_NONE)
			candidates++;
		steps += probe;
		assert_int_equal(lode_index_insert(&index, lode_hash_u64(x), id), 0);
	}
	assert_true(steps < 20ull * COUNT);
	/* Of 2e8 pairs one in 2^32 agrees in the half that the index compares. */
	assert_true(candidates < 8);
	lode_index_release(&index);
}

static void hashes_of_a_process_are_its_own_and_digests_are_not(void **state)
{
	(void)state;
	assert_true(lode_hash_bytes("a text", 6) == lode_hash_bytes("a text", 6));
	assert_true(lode_hash_bytes("a text", 6) != lode_digest_bytes("a text", 6));
	assert_true(lode_digest_bytes("a text", 6) == 0x5228d4395b2618bfu);
}

static void numbers_are_read_back_from_a_buffer(void **state)
{
	struct lode_buffer buffer = { 0 };
	struct lode_cursor cursor;
	uint64_t numbers[500], seed = 9;

	(void)state;
	for (size_t i = 0; i < 500; i++) {
		numbers[i] = random_number(&seed);
		lode_buffer_varint(&buffer, numbers[i]);
		lode_buffer_u32(&buffer, (uint32_t)numbers[i]);
		lode_buffer_u64(&buffer, numbers[i]);
	}
	cursor = lode_cursor(buffer.bytes, buffer.size);
	for (size_t i = 0; i < 500; i++) {
		assert_true(lode_cursor_varint(&cursor) == numbers[i]);
		assert_true(lode_cursor_u32(&cursor) == (uint32_t)numbers[i]);
		assert_true(lode_cursor_u64(&cursor) == numbers[i]);
	}
	assert_false(cursor.failed);
	assert_int_equal(lode_cursor_u8(&cursor), 0);
	assert_true(cursor.failed);
	lode_buffer_release(&buffer);
}

static void a_varint_of_more_than_64_bits_is_refused(void **state)
{
	const unsigned char largest[] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01 };
	const unsigned char larger[] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02 };
	struct lode_cursor cursor = lode_cursor(largest, sizeof(largest));

	(void)state;
	assert_true(lode_cursor_varint(&cursor) == UINT64_MAX);
	assert_false(cursor.failed);
	cursor = lode_cursor(larger, sizeof(larger));
	lode_cursor_varint(&cursor);
	assert_true(cursor.failed);
}

static void json_comes_out_valid_whatever_the_text(void **state)
{
	struct lode_buffer buffer = { 0 };
	struct lode_json json;

	(void)state;
	json = (struct lode_json){ .buffer = &buffer };
	lode_json_object(&json);
	lode_json_key_text(&json, "quote\"", "back\\slash\n\t\x01");
	lode_json_key(&json, "list");
	lode_json_array(&json);
	lode_json_u64(&json, UINT64_MAX);
	lode_json_i64(&json, INT64_MIN);
	lode_json_double(&json, 0.1);
	lode_json_double(&json, NAN);
	lode_json_bool(&json, 1);
	lode_json_object(&json);
	lode_json_object_end(&json);
	lode_json_text(&json, "\xc3\xa4 ok, \xff\xc3 not");
	lode_json_array_end(&json);
	lode_json_key_u64(&json, "last", 7);
	lode_json_object_end(&json);
	lode_buffer_byte(&buffer, '\0');
	assert_string_equal(buffer.bytes, "{\"quote\\\"\":\"back\\\\slash\\n\\t\\u0001\",\"list\":"
					  "[18446744073709551615,-9223372036854775808,0.1,null,true,{},"
					  "\"\xc3\xa4 ok, \xef\xbf\xbd\xef\xbf\xbd not\"],\"last\":7}");
	lode_buffer_release(&buffer);
}

static void arena_memory_is_aligned_and_keeps_what_is_written(void **state)
{
	struct lode_arena arena = { 0 };
	char *pieces[400];
	uint64_t seed = 4;

	(void)state;
	for (int i = 0; i < 400; i++) {
		size_t size = random_below(&seed, i % 40 ? 300 : 3000000) + 1;

		pieces[i] = i % 3 ? lode_arena_alloc(&arena, size) : lode_arena_bytes(&arena, size);
		assert_non_null(pieces[i]);
		if (i % 3)
			assert_int_equal((uintptr_t)pieces[i] % _Alignof(max_align_t), 0);
		memset(pieces[i], i & 0xff, size);
	}
	for (int i = 0; i < 400; i++)
		assert_int_equal((unsigned char)pieces[i][0], i & 0xff);
	lode_arena_release(&arena);
}

static void count_piece(void *context, size_t i)
{
	atomic_fetch_add(&((atomic_int *)context)[i], 1);
}

static void every_piece_of_a_parallel_loop_is_done_once(void **state)
{
	static atomic_int done[1000];

	(void)state;
	for (unsigned jobs = 0; jobs < 6; jobs++) {
		memset(done, 0, sizeof(done));
		lode_parallel(jobs, 1000, count_piece, done);
		for (size_t i = 0; i < 1000; i++)
			assert_int_equal(done[i], 1);
	}
}

static void notes_of_one_kind_are_added_up_and_keep_the_first_example(void **state)
{
	struct lode_notes notes;

	(void)state;
	lode_notes_init(&notes);
	lode_notes_add(&notes, 3, "lost samples", "file:1");
	lode_notes_add(&notes, 0, "nothing", NULL);
	lode_notes_add(&notes, 4, "lost samples", "file:2");
	lode_notes_add(&notes, 1, "other", NULL);
	assert_int_equal(notes.count, 2);
	assert_int_equal(notes.items[0].count, 7);
	assert_string_equal(notes.items[0].example, "file:1");
	lode_notes_release(&notes);
}

static void notes_on_what_is_read_again_count_once(void **state)
{
	struct lode_notes notes, again;

	(void)state;
	lode_notes_init(&notes);
	lode_notes_init(&again);
	lode_notes_add(&notes, 3, "lost samples", "file:1");
	lode_notes_add(&again, 2, "lost samples", "file:2");
	lode_notes_add(&again, 5, "other", "file:2");
	lode_notes_merge_repeated(&notes, &again);
	lode_notes_merge_repeated(&notes, &again);
	assert_int_equal(notes.count, 2);
	assert_int_equal(notes.items[0].count, 3);
	assert_string_equal(notes.items[0].example, "file:1");
	assert_int_equal(notes.items[1].count, 5);
	assert_string_equal(notes.items[1].example, "file:2");
	lode_notes_release(&notes);
	lode_notes_release(&again);
}

static void control_characters_in_an_error_are_shown_escaped(void **state)
{
	struct lode_error error;

	(void)state;
	assert_int_equal(lode_fail(&error, LODE_BAD_INPUT, "%s: is bad", "a\033[2Jb\n"), LODE_BAD_INPUT);
	assert_string_equal(error.text, "a\\x1b[2Jb\\x0a: is bad");
	lode_fail(&error, LODE_BAD_INPUT, "%s: is bad",
		  "red\xc2\x9b"
		  "31m\xe2\x80\xae");
	assert_string_equal(error.text, "red\\u009b31m\\u202e: is bad");
}

static void text_from_outside_cannot_drive_a_terminal(void **state)
{
	static const char *const pairs[][2] = {
		{ "plain", "plain" },
		{ "", "" },
		{ "a\033[2Jb", "a\\x1b[2Jb" },
		{ "\x7f", "\\x7f" },
		{ "Z\xc3\xbcrich", "Z\xc3\xbcrich" },
		{ "c1\xc2\x9b", "c1\\u009b" },
		{ "\xe2\x80\xae"
		  "evil",
		  "\\u202e"
		  "evil" },
		{ "\xe2\x81\xa6x\xe2\x81\xa9", "\\u2066x\\u2069" },
		{ "\xe2\x80\x8b\xe2\x80\x8f\xe2\x80\xa8", "\\u200b\\u200f\\u2028" },
		{ "\xf3\xa0\x80\x81", "\\udb40\\udc01" },
		{ "not \x9b utf-8 \xe2\x80", "not \\x9b utf-8 \\xe2\\x80" },
		{ "\xe2\x80\xa6 \xf0\x9f\x98\x80", "\xe2\x80\xa6 \xf0\x9f\x98\x80" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		struct lode_buffer appended = { 0 }, escaped = { 0 };

		lode_text_safe(&appended, pairs[i][0]);
		lode_buffer_text(&escaped, "\n");
		lode_buffer_text(&escaped, pairs[i][0]);
		lode_text_escape(&escaped, 1);
		lode_buffer_byte(&appended, '\0');
		lode_buffer_byte(&escaped, '\0');
		assert_string_equal(appended.bytes, pairs[i][1]);
		assert_string_equal(escaped.bytes + 1, pairs[i][1]);
		lode_buffer_release(&appended);
		lode_buffer_release(&escaped);
	}
}

static void the_last_barrier_keeps_lines_colours_and_json(void **state)
{
	struct lode_buffer raw = { 0 }, safe = { 0 };

	(void)state;
	lode_buffer_text(&raw, "{\"a\":\"\xc3\xbc\"}\n\033[1mx\033[0m\t");
	assert_int_equal(lode_text_for_terminal(&raw, 1, &safe), 0);
	assert_int_equal(safe.size, 0);
	assert_int_equal(lode_text_for_terminal(&raw, 0, &safe), 1);
	lode_buffer_byte(&safe, '\0');
	assert_string_equal(safe.bytes, "{\"a\":\"\xc3\xbc\"}\n\\x1b[1mx\\x1b[0m\t");
	lode_buffer_clear(&safe);
	lode_buffer_text(&raw, "\xc2\x9b\xc2\x9b end\n");
	assert_int_equal(lode_text_for_terminal(&raw, 1, &safe), 1);
	lode_buffer_byte(&safe, '\0');
	assert_string_equal(safe.bytes, "{\"a\":\"\xc3\xbc\"}\n\033[1mx\033[0m\t\\u009b\\u009b end\n");
	lode_buffer_release(&raw);
	lode_buffer_release(&safe);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_texts_get_one_id_and_different_texts_different_ones),
		cmocka_unit_test(a_nul_inside_ends_a_text),
		cmocka_unit_test(an_index_finds_every_id_under_its_hash),
		cmocka_unit_test(numbers_made_to_collide_do_not),
		cmocka_unit_test(hashes_of_a_process_are_its_own_and_digests_are_not),
		cmocka_unit_test(numbers_are_read_back_from_a_buffer),
		cmocka_unit_test(a_varint_of_more_than_64_bits_is_refused),
		cmocka_unit_test(json_comes_out_valid_whatever_the_text),
		cmocka_unit_test(arena_memory_is_aligned_and_keeps_what_is_written),
		cmocka_unit_test(every_piece_of_a_parallel_loop_is_done_once),
		cmocka_unit_test(notes_of_one_kind_are_added_up_and_keep_the_first_example),
		cmocka_unit_test(notes_on_what_is_read_again_count_once),
		cmocka_unit_test(control_characters_in_an_error_are_shown_escaped),
		cmocka_unit_test(text_from_outside_cannot_drive_a_terminal),
		cmocka_unit_test(the_last_barrier_keeps_lines_colours_and_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
