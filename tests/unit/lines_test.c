/* Lines of addresses, of this very program: places that are known, and random ones against the scopes that libdw finds. */
#include "cmocka_all.h"

#include "random_stream.h"

#include "symbols/symbols.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct fixture {
	struct lode_symbolizer *symbolizer;
	struct lode_image *image;
	uint64_t base;
	Dwarf *dwarf; /* NULL: the program has no DWARF */
	int fd;
};

static int find_base(struct dl_phdr_info *info, size_t size, void *context)
{
	(void)size;
	*(uint64_t *)context = info->dlpi_addr;
	return 1; /* the program itself is the first */
}

static int start(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	struct lode_symbols_options options = { .cache = "" };
	char path[4096] = "";

	if (readlink("/proc/self/exe", path, sizeof(path) - 1) < 0 ||
	    lode_symbolizer_create(&fixture->symbolizer, &options, NULL) < 0)
		return -1;
	fixture->image = lode_symbolizer_binary(fixture->symbolizer, path, "");
	dl_iterate_phdr(find_base, &fixture->base);
	fixture->fd = open(path, O_RDONLY);
	fixture->dwarf = dwarf_begin(fixture->fd, DWARF_C_READ);
	*state = fixture;
	return 0;
}

static int stop(void **state)
{
	struct fixture *fixture = *state;

	lode_symbolizer_destroy(fixture->symbolizer);
	dwarf_end(fixture->dwarf);
	close(fixture->fd);
	free(fixture);
	return 0;
}

/* The address of the call of this function. */
static __attribute__((noinline)) uint64_t call_address(void)
{
	return (uint64_t)(uintptr_t)__builtin_extract_return_addr(__builtin_return_address(0)) - 1;
}

static inline __attribute__((always_inline)) uint64_t inner(uint32_t *line)
{
	*line = __LINE__ + 1;
	volatile uint64_t address = call_address();

	return address;
}

static inline __attribute__((always_inline)) uint64_t outer(uint32_t lines[2])
{
	lines[0] = __LINE__ + 1;
	return inner(&lines[1]);
}

static void each_call_that_is_inlined_has_its_line(void **state)
{
	struct fixture *fixture = *state;
	uint32_t expected[3], lines[4] = { 7, 7, 7, 7 };
	uint64_t address;

	if (!fixture->dwarf)
		skip();
	expected[0] = __LINE__ + 1;
	address = outer(expected + 1) - fixture->base;
	assert_int_equal(lode_image_lines(fixture->image, address, lines, 4), 3);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(lines[i], expected[i]);
	assert_int_equal(lines[3], 7);
	lines[1] = 7;
	assert_int_equal(lode_image_lines(fixture->image, address, lines, 1), 1);
	assert_int_equal(lines[0], expected[0]);
	assert_int_equal(lines[1], 7);
	assert_int_equal(lode_image_lines(fixture->image, address, lines, 0), 0);
	assert_int_equal(lode_image_lines(fixture->image, 1, lines, 4), 0);
}

/* What libdw says, one address at a time. */
static size_t slow_lines(Dwarf *dwarf, uint64_t address, uint32_t lines[64])
{
	Dwarf_Die unit, *inner = NULL, *scopes = NULL;
	Dwarf_Line *row;
	size_t known = 0;
	int count, number;

	if (!dwarf_addrdie(dwarf, address, &unit))
		return 0;
	/* The first ones go over from an inlined function to where it is written, the others to where it is called. */
	count = dwarf_getscopes(&unit, address, &inner) > 0 ? dwarf_getscopes_die(&inner[0], &scopes) : 0;
	free(inner); /* from libdw */
	for (int i = count; i-- > 0 && known < 63;) {
		Dwarf_Attribute attribute;
		Dwarf_Word line = 0;

		if (dwarf_tag(&scopes[i]) != DW_TAG_inlined_subroutine)
			continue;
		if (dwarf_attr(&scopes[i], DW_AT_call_line, &attribute))
			dwarf_formudata(&attribute, &line);
		lines[known++] = (uint32_t)line;
	}
	free(scopes); /* from libdw */
	row = dwarf_getsrc_die(&unit, address);
	lines[known++] = row && dwarf_lineno(row, &number) == 0 && number > 0 ? (uint32_t)number : 0;
	return row || known > 1 ? known : 0;
}

static void lines_are_those_that_libdw_gives(void **state)
{
	struct fixture *fixture = *state;
	uint64_t seed = 3, from = (uint64_t)(uintptr_t)call_address - fixture->base;
	size_t known = 0, inlined = 0;

	if (!fixture->dwarf)
		skip();
	for (int i = 0; i < 3000 / ONE_IN; i++) {
		/* This file's functions, and those of the library that is linked with it. */
		uint64_t address = from + random_below(&seed, i % 2 ? 2000 : 400000);
		uint32_t expected[64], lines[64];
		size_t count = slow_lines(fixture->dwarf, address, expected);

		assert_int_equal(lode_image_lines(fixture->image, address, lines, 64), count);
		for (size_t k = 0; k < count; k++)
			assert_int_equal(lines[k], expected[k]);
		known += count > 0;
		inlined += count > 1;
	}
	assert_true(known > 1000 / ONE_IN && inlined > 0);
}

struct rows {
	size_t count;
	uint64_t last;
	uint32_t first_line, last_line;
	int others; /* of other files */
};

static int see_row(void *context, const struct lode_source_row *row)
{
	struct rows *rows = context;

	assert_true(row->address >= rows->last);
	rows->last = row->address;
	if (!row->file || !strstr(row->file, "lines_test.c")) {
		rows->others++;
		return 0;
	}
	if (!rows->count++)
		rows->first_line = row->line;
	rows->last_line = row->line > rows->last_line ? row->line : rows->last_line;
	return 0;
}

static int stop_at_once(void *context, const struct lode_source_row *row)
{
	(void)row;
	++*(int *)context;
	return 5;
}

static void a_function_is_found_by_its_name_with_its_rows(void **state)
{
	struct fixture *fixture = *state;
	struct lode_symbol symbol;
	struct rows rows = { 0 };
	int seen = 0;

	if (!fixture->dwarf)
		skip();
	assert_int_equal(lode_image_named(fixture->image, "see_row", &symbol), 1);
	assert_int_equal(symbol.start, (uint64_t)(uintptr_t)see_row - fixture->base);
	assert_true(symbol.size > 0);
	assert_int_equal(lode_image_named(fixture->image, "there_is_no_such_function", &symbol), 0);
	assert_int_equal(lode_image_named(fixture->image, "see_row", &symbol), 1);
	assert_int_equal(lode_image_source_rows(fixture->image, symbol.start, symbol.start + symbol.size, see_row,
						&rows),
			 0);
	assert_true(rows.count > 3);
	assert_true(rows.last_line > rows.first_line && rows.last_line - rows.first_line < 40);
	assert_int_equal(lode_image_source_rows(fixture->image, symbol.start, symbol.start + symbol.size,
						stop_at_once, &seen),
			 5);
	assert_int_equal(seen, 1);
	assert_non_null(lode_image_file(fixture->image));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_call_that_is_inlined_has_its_line),
		cmocka_unit_test(lines_are_those_that_libdw_gives),
		cmocka_unit_test(a_function_is_found_by_its_name_with_its_rows),
	};

	return cmocka_run_group_tests(tests, start, stop);
}
