/*
 * Lines of source, from the line tables of DWARF: see symbols.h.
 *
 * Which unit an address is of is looked up among the ranges of all units, which are read once. The line table of a unit is
 * read when the first address of it is asked for, by libdw, which keeps it: the tables of a large program take much more than the
 * program, and few of its units are ever seen in a stack.
 */
#include "symbols/image.h"

#include "symbols/elf.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>

/* Ranges of units that are read: of real programs none has a tenth of them. */
#define RANGE_LIMIT (16u << 20)

/* A range of addresses, and the unit whose code is there. */
struct unit_range {
	uint64_t start;
	uint64_t end;
	Dwarf_Die unit;
};

struct lode_image_lines {
	struct lode_elf elf;
	Dwarf *dwarf;
	LODE_ARRAY(struct unit_range) ranges; /* by start */
};

void lode_image_lines_release(struct lode_image_lines *lines)
{
	if (!lines)
		return;
	dwarf_end(lines->dwarf);
	lode_elf_close(&lines->elf);
	lode_free(lines->ranges.items);
	lode_free(lines);
}

static int compare_ranges(const void *a, const void *b)
{
	const struct unit_range *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/* What the linker threw away begins at 0. */
static void add_unit(struct lode_image_lines *lines, Dwarf_Die *unit)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t offset = 0;

	while (lines->ranges.count < RANGE_LIMIT && !lines->ranges.failed &&
	       (offset = dwarf_ranges(unit, offset, &base, &start, &end)) > 0)
		if (start && start < end)
			(void)LODE_PUSH(&lines->ranges, (struct unit_range){ start, end, *unit });
}

static int read_units(struct lode_image_lines *lines)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;
	uint8_t type;

	while (!lines->ranges.failed && dwarf_get_units(lines->dwarf, unit, &unit, NULL, &type, &die, NULL) == 0)
		if (type == DW_UT_compile || type == DW_UT_skeleton)
			add_unit(lines, &die);
	if (lines->ranges.failed)
		return LODE_SYSTEM;
	if (lines->ranges.count)
		qsort(lines->ranges.items, lines->ranges.count, sizeof(*lines->ranges.items), compare_ranges);
	return 0;
}

int lode_image_load_lines(struct lode_image *image)
{
	const char *file = image->kind == LODE_IMAGE_BINARY ? lode_image_file_with_dwarf(image) : NULL;
	struct lode_image_lines *lines;

	if (!file || !*file)
		return 0;
	lines = lode_calloc(1, sizeof(*lines));
	if (!lines)
		return LODE_SYSTEM;
	if (lode_elf_open(&lines->elf, file) < 0) {
		lode_free(lines);
		return 0;
	}
	lines->dwarf = dwarf_begin_elf(lines->elf.elf, DWARF_C_READ, NULL);
	if (!lines->dwarf || read_units(lines) < 0 || !lines->ranges.count) {
		int code = lines->ranges.failed ? LODE_SYSTEM : 0;

		lode_image_lines_release(lines);
		return code;
	}
	image->lines = lines;
	return 0;
}

/* The first range that begins behind an address. */
static size_t range_behind(const struct lode_image_lines *lines, uint64_t address)
{
	size_t low = 0, high = lines->ranges.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (lines->ranges.items[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int read_row(Dwarf_Line *line, Dwarf_Die *unit, struct lode_source_row *row)
{
	Dwarf_Attribute attribute;
	Dwarf_Addr address;
	int number;

	if (!line || dwarf_lineaddr(line, &address) < 0 || dwarf_lineno(line, &number) < 0)
		return 0;
	row->address = address;
	row->folder = dwarf_attr(unit, DW_AT_comp_dir, &attribute) ? dwarf_formstring(&attribute) : NULL;
	row->line = number > 0 ? (uint32_t)number : 0;
	row->file = dwarf_linesrc(line, NULL, NULL);
	return 1;
}

int lode_image_lines_find(const struct lode_image_lines *lines, uint64_t address, struct lode_source_row *row)
{
	size_t behind = range_behind(lines, address);
	struct unit_range *range = behind ? &lines->ranges.items[behind - 1] : NULL;

	return range && address < range->end &&
	       read_row(dwarf_getsrc_die(&range->unit, address), &range->unit, row);
}

int lode_image_lines_each(const struct lode_image_lines *lines, uint64_t start, uint64_t end,
			  int (*visit)(void *context, const struct lode_source_row *row), void *context)
{
	size_t behind = range_behind(lines, start), count = 0;
	struct unit_range *range = behind ? &lines->ranges.items[behind - 1] : NULL;
	struct lode_source_row row;
	Dwarf_Lines *table;
	int result = 0;

	if (!range || start >= range->end || dwarf_getsrclines(&range->unit, &table, &count) < 0)
		return 0;
	for (size_t i = 0; !result && i < count; i++)
		if (read_row(dwarf_onesrcline(table, i), &range->unit, &row) && row.address >= start &&
		    row.address < end)
			result = visit(context, &row);
	return result;
}
