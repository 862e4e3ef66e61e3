/* Lines of Python frames, from tables that are made here from the lines that each instruction has. */
#include "cmocka_all.h"
#include "random_stream.h"

#include "process/languages/python_lines.h"

#include <stdlib.h>
#include <string.h>

#define CODE         0x7f0000001000ull
#define TABLE        0x7f0000100000ull
#define TYPE         0x7f0000200000ull
#define ROOM         (1u << 16)
#define INSTRUCTIONS 4096

/* The memory of a process: a code object, and the bytes of its table. */
struct forged {
	unsigned char code[256];
	unsigned char table[ROOM];
	size_t size; /* of the table, with its head */
	size_t reads;
	struct lode_python_image image;
	struct lode_python_process process;
	int32_t lines[INSTRUCTIONS]; /* what it was made of; 0: none */
	size_t count;
};

static size_t read_forged(void *context, uint32_t pid, uint64_t address, void *bytes, size_t size)
{
	struct forged *forged = context;
	const unsigned char *from = address - CODE < sizeof(forged->code) ? forged->code + (address - CODE) : NULL;
	size_t room = from ? sizeof(forged->code) - (address - CODE) : 0;

	(void)pid;
	forged->reads++;
	if (!from && address - TABLE < forged->size) {
		from = forged->table + (address - TABLE);
		room = forged->size - (address - TABLE);
	}
	if (size > room)
		size = room;
	if (size)
		memcpy(bytes, from, size);
	return size;
}

static void put_word(unsigned char *bytes, size_t offset, uint64_t word)
{
	memcpy(bytes + offset, &word, sizeof(word));
}

static void put_byte(struct forged *forged, unsigned byte)
{
	assert_true(forged->size < ROOM);
	forged->table[forged->size++] = (unsigned char)byte;
}

static void put_number(struct forged *forged, int64_t number)
{
	uint64_t rest = number < 0 ? (uint64_t)-number << 1 | 1 : (uint64_t)number << 1;

	for (; rest >= 64; rest >>= 6)
		put_byte(forged, (rest & 63) | 64);
	put_byte(forged, (unsigned)rest);
}

/* An entry of `length` instructions that are `delta` lines later. */
static void put_entry(struct forged *forged, int32_t *line, int32_t delta, unsigned length, uint64_t *random)
{
	unsigned kind = 13 + (unsigned)random_below(random, 2);

	if (delta >= 0 && delta <= 2 && random_below(random, 2))
		kind = 10 + (unsigned)delta;
	if (!delta && random_below(random, 2))
		kind = (unsigned)random_below(random, 10);
	if (!random_below(random, 8))
		kind = 15;
	put_byte(forged, 0x80 | kind << 3 | (length - 1));
	if (kind >= 13 && kind <= 14)
		put_number(forged, delta);
	if (kind < 15)
		*line += delta;
	for (unsigned i = 0; i < (kind == 14 ? 3 : kind >= 13 ? 0 : kind >= 10 ? 2 : 1); i++)
		put_byte(forged, (unsigned)random_below(random, 64));
	for (unsigned i = 0; i < length && forged->count < INSTRUCTIONS; i++)
		forged->lines[forged->count++] = kind == 15 ? 0 : *line;
}

static const struct lode_python_objects objects = {
	.object_type = 8, .code_filename = 112, .code_name = 128, .code_line = 72
};
static const struct lode_python_lines lines = { .frame_position = 56, .code_table = 136, .code_instructions = 184 };

static void forge(struct forged *forged, size_t entries, int32_t first, uint64_t *random)
{
	int32_t line = first;

	memset(forged, 0, sizeof(*forged));
	forged->image = (struct lode_python_image){ .code_type = TYPE, .objects = objects, .lines = lines };
	forged->process = (struct lode_python_process){ &forged->image, 0, 1 };
	put_word(forged->code, objects.object_type, TYPE);
	put_word(forged->code, objects.code_filename, 0x1111);
	put_word(forged->code, objects.code_name, 0x2222);
	put_word(forged->code, objects.code_line, (uint32_t)first);
	put_word(forged->code, lines.code_table, TABLE);
	forged->size = 32;
	for (size_t i = 0; i < entries; i++) {
		int32_t delta = (int32_t)random_below(random, 6) - 2;

		if (!random_below(random, 20))
			delta = (int32_t)random_below(random, 100000);
		if (line + delta < 1)
			delta = 0;
		put_entry(forged, &line, delta, 1 + (unsigned)random_below(random, 8), random);
	}
	put_word(forged->table, 16, forged->size - 32);
}

static uint64_t word_of(const struct forged *forged, int32_t first)
{
	(void)forged;
	return lode_language_word(LODE_LANGUAGE_PYTHON, lode_python_check(0x1111, 0x2222, (uint32_t)first), CODE);
}

static uint32_t line_at(struct forged *forged, int32_t first, int64_t instruction)
{
	struct lode_process_memory memory = { forged, read_forged };
	uint64_t position = CODE + lines.code_instructions + (uint64_t)(instruction * 2);

	return lode_python_line(&memory, &forged->process, word_of(forged, first),
				lode_language_word(LODE_LANGUAGE_POSITION, 0, position));
}

static void each_instruction_has_the_line_that_the_table_was_made_of(void **unused)
{
	struct forged *forged = malloc(sizeof(*forged));
	uint64_t random = 7;

	(void)unused;
	assert_non_null(forged);
	for (size_t n = 0; n < 60; n++) {
		int32_t first = 1 + (int32_t)random_below(&random, 5000);

		forge(forged, 1 + random_below(&random, 400), first, &random);
		for (size_t i = 0; i < forged->count; i++)
			assert_int_equal(line_at(forged, first, (int64_t)i), forged->lines[i]);
		assert_int_equal(line_at(forged, first, (int64_t)forged->count), 0);
	}
	free(forged);
}

static void a_frame_that_has_not_begun_is_at_the_first_line(void **unused)
{
	struct forged *forged = malloc(sizeof(*forged));
	uint64_t random = 8;

	(void)unused;
	assert_non_null(forged);
	forge(forged, 5, 12, &random);
	assert_int_equal(line_at(forged, 12, -1), 12);
	/* Another code object is at the address. */
	assert_int_equal(line_at(forged, 13, 0), 0);
	free(forged);
}

static void damaged_tables_cost_little(void **unused)
{
	struct forged *forged = malloc(sizeof(*forged));
	uint64_t random = 9;

	(void)unused;
	assert_non_null(forged);
	for (size_t n = 0; n < 2000; n++) {
		forge(forged, 200, 3, &random);
		for (size_t i = 0; i < 40; i++)
			forged->table[32 + random_below(&random, forged->size - 32)] =
				(unsigned char)random_next(&random);
		if (n % 3 == 0)
			put_word(forged->table, 16, n % 2 ? 1ull << 60 : random_below(&random, 1u << 20));
		forged->reads = 0;
		line_at(forged, 3, (int64_t)random_below(&random, 1u << 20));
		assert_true(forged->reads < 20);
	}
	/* All bytes continue a number. */
	forge(forged, 1, 3, &random);
	memset(forged->table + 32, 0x7f, ROOM - 32);
	forged->table[32] = 0x80 | 13 << 3;
	forged->size = ROOM;
	put_word(forged->table, 16, ROOM - 32);
	line_at(forged, 3, 100);
	free(forged);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_instruction_has_the_line_that_the_table_was_made_of),
		cmocka_unit_test(a_frame_that_has_not_begun_is_at_the_first_line),
		cmocka_unit_test(damaged_tables_cost_little),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
