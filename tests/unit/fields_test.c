/* Results are written as their tables say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "result/field_rows.h"
#include "result/results.h"

#include <math.h>

struct inner {
	uint64_t a_ns;
	int known;
	uint64_t b;
};

struct outer {
	const char *text;
	const char *maybe_text;
	uint32_t small;
	uint64_t zero_is_none;
	int64_t below;
	double half;
	int yes;
	struct inner part;
	struct inner object;
	const struct inner *pointer;
	struct lode_list objects;
	struct lode_list numbers;
	struct lode_list texts;
	struct lode_written written;
};

#define TABLE_OF struct inner
static const struct lode_field inner_rows[] = {
	FIELD_U64(a_ns, "A."),
	FIELD_U64(b, "B.", FIELD_OPTIONAL_IF(known)),
	FIELD_U64_AS("c", b, "The same, or null.", FIELD_NULLABLE_UNLESS(known)),
};
static const struct lode_fields inner = FIELD_TABLE("Inner", inner_rows);
#undef TABLE_OF

#define TABLE_OF struct outer
static const struct lode_field outer_rows[] = {
	FIELD_TEXT(text, "A text."),
	FIELD_TEXT(maybe_text, "None where it is NULL.", FIELD_OPTIONAL),
	FIELD_TEXT_AS("or_null", maybe_text, "Null where it is NULL.", FIELD_NULLABLE),
	FIELD_U32(small, "A number."),
	FIELD_U64(zero_is_none, "None where it is 0.", FIELD_OPTIONAL),
	FIELD_I64(below, "Below 0."),
	FIELD_DOUBLE(half, "A half."),
	FIELD_BOOL(yes, "Yes or no."),
	FIELD_PART(part, inner),
	FIELD_OBJECT(object, inner, "An object."),
	FIELD_POINTER(pointer, inner, "None where it is NULL.", FIELD_OPTIONAL),
	FIELD_OBJECTS(objects, inner, "Objects."),
	FIELD_NUMBERS(numbers, "Numbers."),
	FIELD_TEXTS(texts, "Texts."),
	FIELD_WRITTEN_NUMBERS(written, "Numbers, too."),
};
static const struct lode_fields outer = FIELD_TABLE("Outer", outer_rows);
#undef TABLE_OF

/* Odd items are left out. */
static int make_text(const struct lode_list *list, size_t i, void *item)
{
	const char *const *names = list->from;

	*(const char **)item = names[list->first + i];
	return i % 2 == 0;
}

static int write_numbers(const struct lode_written *self, struct lode_json *json)
{
	lode_json_array(json);
	for (size_t i = 0; i < self->count; i++)
		lode_json_u64(json, self->first + i);
	lode_json_array_end(json);
	return 0;
}

static const char *const names[] = { "before", "one", "two", "\"three\"" };
static const uint64_t numbers[] = { 7, UINT64_MAX };
static const struct inner objects[] = { { 1, 1, 2 }, { 3, 0, 4 } };

static struct outer filled(void)
{
	return (struct outer){
		.text = "a \"b\"",
		.maybe_text = "there",
		.small = 4000000000u,
		.zero_is_none = 5,
		.below = INT64_MIN,
		.half = 0.5,
		.yes = 1,
		.part = { 10, 1, 11 },
		.object = { 20, 0, 21 },
		.pointer = &objects[0],
		.objects = lode_list_of(objects, 2),
		.numbers = lode_list_of(numbers, 2),
		.texts = { 3, names, 1, make_text },
		.written = { .write = write_numbers, .first = 5, .count = 2 },
	};
}

static void assert_written(const struct outer *value, const char *wanted)
{
	struct lode_buffer buffer = { 0 };

	lode_fields_line(&outer, value, &buffer);
	lode_buffer_byte(&buffer, '\0');
	assert_false(buffer.failed);
	assert_string_equal(buffer.bytes, wanted);
	lode_buffer_release(&buffer);
}

static void all_kinds_are_written_in_the_order_of_the_table(void **state)
{
	struct outer value = filled();

	(void)state;
	assert_written(
		&value,
		"{\"text\":\"a \\\"b\\\"\",\"maybe_text\":\"there\",\"or_null\":\"there\",\"small\":4000000000,"
		"\"zero_is_none\":5,\"below\":-9223372036854775808,\"half\":0.5,\"yes\":true,"
		"\"a_ns\":10,\"b\":11,\"c\":11,\"object\":{\"a_ns\":20,\"c\":null},"
		"\"pointer\":{\"a_ns\":1,\"b\":2,\"c\":2},"
		"\"objects\":[{\"a_ns\":1,\"b\":2,\"c\":2},{\"a_ns\":3,\"c\":null}],"
		"\"numbers\":[7,18446744073709551615],\"texts\":[\"one\",\"\\\"three\\\"\"],\"written\":[5,6]}\n");
}

static void what_is_not_there_has_no_key_or_is_null(void **state)
{
	struct outer value = { .text = "", .half = NAN, .written = { .write = write_numbers } };

	(void)state;
	assert_written(&value,
		       "{\"text\":\"\",\"or_null\":null,\"small\":0,\"below\":0,\"half\":null,\"yes\":false,"
		       "\"a_ns\":0,\"c\":null,\"object\":{\"a_ns\":0,\"c\":null},\"objects\":[],\"numbers\":[],"
		       "\"texts\":[],\"written\":[]}\n");
}

struct odd {
	char id[8];
	const char *text; /* NULL is written as null */
	int is_there;
};

#define TABLE_OF struct odd
static const struct lode_field odd_rows[] = {
	FIELD_TRUE("odd", "Always true."),
	FIELD_CHARS(id, "A text inside the struct."),
	FIELD_TEXT(text, "There, but maybe null.", FIELD_OPTIONAL_IF(is_there), FIELD_MAYBE_NULL),
	FIELD_ADDED("later", inner, "Added by others."),
};
static const struct lode_fields odd = FIELD_TABLE("Odd", odd_rows);
#undef TABLE_OF

static void assert_odd(const struct odd *value, const char *wanted)
{
	struct lode_buffer buffer = { 0 };

	lode_fields_line(&odd, value, &buffer);
	lode_buffer_byte(&buffer, '\0');
	assert_string_equal(buffer.bytes, wanted);
	lode_buffer_release(&buffer);
}

static void odd_kinds_are_written(void **state)
{
	(void)state;
	assert_odd(&(struct odd){ "abc", NULL, 1 }, "{\"odd\":true,\"id\":\"abc\",\"text\":null}\n");
	assert_odd(&(struct odd){ "", "x", 0 }, "{\"odd\":true,\"id\":\"\"}\n");
}

#define MANY 100000

static int make_many(const struct lode_list *list, size_t i, void *item)
{
	const struct lode_output *output = list->from;

	assert_true(output->buffer.size < 2 * LODE_OUTPUT_PIECE);
	*(struct inner *)item = (struct inner){ .a_ns = i };
	return 1;
}

static void long_lists_leave_the_buffer_as_they_are_written(void **state)
{
	struct lode_output output;
	struct lode_error error;
	struct outer value = filled();

	(void)state;
	assert_int_equal(lode_output_open(&output, "/dev/null", &error), 0);
	value.objects = (struct lode_list){ MANY, &output, 0, make_many };
	assert_int_equal(lode_fields_flow(&outer, &value, &output, &error), 0);
	assert_true(output.written > MANY * strlen("{\"a_ns\":1,\"c\":null}"));
	assert_int_equal(lode_output_finish(&output, &error), 0);
}

static int fail_to_make(const struct lode_list *list, size_t i, void *item)
{
	(void)list;
	(void)i;
	(void)item;
	return LODE_SYSTEM;
}

static void memory_that_runs_out_in_a_list_marks_the_buffer(void **state)
{
	struct outer value = filled();
	struct lode_buffer buffer = { 0 };

	(void)state;
	value.objects.make = fail_to_make;
	lode_fields_line(&outer, &value, &buffer);
	assert_true(buffer.failed);
	lode_buffer_release(&buffer);
}

static int fail_to_write(const struct lode_written *self, struct lode_json *json)
{
	(void)self;
	lode_json_null(json);
	return LODE_SYSTEM;
}

static void a_value_that_cannot_write_itself_says_that_memory_ran_out(void **state)
{
	struct lode_buffer buffer = { 0 };
	struct lode_output output;
	struct lode_error error = { "something else" }, memory;
	struct outer value = filled();

	(void)state;
	value.written.write = fail_to_write;
	lode_fields_line(&outer, &value, &buffer);
	assert_true(buffer.failed);
	lode_buffer_release(&buffer);
	assert_int_equal(lode_output_open(&output, "/dev/null", &error), 0);
	assert_true(lode_fields_flow(&outer, &value, &output, &error) < 0);
	lode_fail_memory(&memory);
	assert_string_equal(error.text, memory.text);
	lode_output_abandon(&output);
}

/* The writer copies keys as they are and has a fixed room for items. */
static void check_table(const struct lode_fields *fields, unsigned depth)
{
	assert_true(fields->size <= LODE_FIELDS_ITEM || !depth);
	for (size_t i = 0; i < 2 && fields->either[i] && depth < 8; i++)
		check_table(fields->either[i], depth + 1);
	for (size_t i = 0; i < fields->count && depth < 8; i++) {
		const struct lode_field *field = &fields->rows[i];

		assert_int_equal(strlen(field->name), field->length);
		assert_int_equal(strcspn(field->name, "\"\\\n"), field->length);
		assert_true(field->kind == LODE_FIELD_PART || *field->what);
		assert_true(field->offset < fields->size || (!fields->size && field->written) ||
			    field->kind == LODE_FIELD_PART);
		if (field->fields)
			check_table(field->fields, depth + 1);
	}
}

static void tables_of_all_results_are_sound(void **state)
{
	(void)state;
	assert_true(lode_described_result_count > 0);
	for (size_t i = 0; i < lode_described_result_count; i++)
		for (size_t k = 0; k < LODE_RESULT_LINES && lode_described_results[i].lines[k]; k++)
			check_table(lode_described_results[i].lines[k], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_kinds_are_written_in_the_order_of_the_table),
		cmocka_unit_test(what_is_not_there_has_no_key_or_is_null),
		cmocka_unit_test(odd_kinds_are_written),
		cmocka_unit_test(long_lists_leave_the_buffer_as_they_are_written),
		cmocka_unit_test(memory_that_runs_out_in_a_list_marks_the_buffer),
		cmocka_unit_test(a_value_that_cannot_write_itself_says_that_memory_ran_out),
		cmocka_unit_test(tables_of_all_results_are_sound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
