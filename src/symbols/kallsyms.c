/*
 * kallsyms: the kernel's own list of its symbols, one per line,
 *
 *	ffff800080010000 T _stext
 *	ffffffffc0401000 t ext4_read_page	[ext4]
 *
 * without sizes. A function reaches to the next symbol of any kind that perf
 * counts (text, weak, data), or, where a module ends, to the end of the next page.
 * Of several names at one address the last one counts, as in perf, because it is
 * the one that perf gives a size to. The kernel itself is listed in order of
 * addresses, modules and BPF programs are not.
 *
 * Users without the privilege see zeros in place of all addresses.
 */
#include "base/array.h"
#include "symbols/image.h"

#include "base/error.h"
#include "base/sort_order.h"

#include <string.h>

/* The kernel cuts names at 512 bytes. */
#define KALLSYMS_NAME_LIMIT 1024

struct line {
	uint64_t address;
	uint32_t name; /* LODE_NONE: data, which only ends the function before it */
	uint32_t module;
};

struct lines {
	LODE_ARRAY(struct line);
	const char *module; /* of the line before, in the text */
	size_t module_length;
	uint32_t module_name;
};

/* Values of hexadecimal digits; 255 for other bytes. */
static unsigned digit_value(unsigned char byte)
{
	if ((unsigned)byte - '0' < 10)
		return byte - '0';
	if ((unsigned)(byte | 32) - 'a' < 6)
		return (unsigned)(byte | 32) - 'a' + 10;
	return 255;
}

static const char *read_address(const char *at, const char *end, uint64_t *address)
{
	const char *first = at;
	unsigned digit;

	for (*address = 0; at < end && (digit = digit_value((unsigned char)*at)) < 16; at++)
		*address = *address << 4 | digit;
	return at - first >= 1 && at - first <= 16 ? at : NULL;
}

/* The module's name in `[…]` behind the symbol's name; cuts it off `*length`. */
static uint32_t read_module(struct lode_table_builder *builder, struct lines *lines, const char *name,
			    size_t *length)
{
	const char *open;
	size_t size;

	if (!*length || name[*length - 1] != ']' || !(open = memrchr(name, '[', *length)) || open == name)
		return LODE_NONE;
	size = (size_t)(name + *length - 1 - ++open);
	*length = (size_t)(open - 1 - name);
	while (*length && (name[*length - 1] == '\t' || name[*length - 1] == ' '))
		--*length;
	if (size != lines->module_length || !lines->module || memcmp(open, lines->module, size) != 0) {
		lines->module = open;
		lines->module_length = size;
		lines->module_name = lode_table_name(builder, open, size);
	}
	return lines->module_name;
}

static int is_mapping_symbol(const char *name)
{
	return name[0] == '$';
}

static void note_reference(struct lode_kallsyms *kallsyms, const char *name, size_t length, uint64_t address)
{
	if (length == 5 && memcmp(name, "_text", 5) == 0)
		kallsyms->text = address;
	else if (length == 6 && memcmp(name, "_stext", 6) == 0)
		kallsyms->stext = address;
}

/* Appends one line. Returns 0 when it is none. */
static int parse_line(struct lode_table_builder *builder, struct lines *lines, const char *at, const char *end,
		      struct lode_kallsyms *kallsyms)
{
	struct line line = { .name = LODE_NONE, .module = LODE_NONE };
	size_t length;
	char type;

	at = read_address(at, end, &line.address);
	if (!at || end - at < 4 || at[0] != ' ' || at[2] != ' ')
		return 0;
	type = at[1] | 32;
	at += 3;
	length = (size_t)(end - at);
	if (length > KALLSYMS_NAME_LIMIT)
		return 0;
	if ((type != 't' && type != 'w' && type != 'd' && type != 'b') || is_mapping_symbol(at))
		return 1;
	if (!line.address) {
		kallsyms->hidden++;
		return 1;
	}
	kallsyms->shown++;
	line.module = read_module(builder, lines, at, &length);
	if (type == 't' || type == 'w') {
		line.name = lode_table_name(builder, at, length);
		if (line.module == LODE_NONE)
			note_reference(kallsyms, at, length, line.address);
	}
	if (lines->count >= LODE_TABLE_LIMIT || LODE_PUSH(lines, line) < 0)
		builder->failed = 1;
	return 1;
}

static uint64_t end_of_module(uint64_t start)
{
	uint64_t end = (start | 4095) + 1;

	return end > UINT64_MAX - 4096 || !end ? UINT64_MAX : end + 4096;
}

/* Of the lines `first` … `stop` - 1, all at one address, the last function gets it. */
static void add_address(struct lode_table_builder *builder, const struct lines *lines, const uint32_t *order,
			size_t first, size_t stop)
{
	const struct line *next = stop < lines->count ? &lines->items[order[stop]] : NULL;
	const struct line *line;
	uint64_t end;

	do {
		line = &lines->items[order[--stop]];
	} while (line->name == LODE_NONE && stop > first);
	if (line->name == LODE_NONE)
		return;
	end = end_of_module(line->address);
	if (next && (next->address < end || next->module == line->module))
		end = next->address;
	lode_table_add(builder, line->address, end, line->name, line->module);
}

static void add_functions(struct lode_table_builder *builder, const struct lines *lines, const uint32_t *order)
{
	for (size_t first = 0, stop; first < lines->count; first = stop) {
		uint64_t address = lines->items[order[first]].address;

		for (stop = first + 1; stop < lines->count; stop++)
			if (lines->items[order[stop]].address != address)
				break;
		add_address(builder, lines, order, first, stop);
	}
}

static int sort_and_add(struct lode_table_builder *builder, const struct lines *lines)
{
	uint64_t *keys = lode_realloc(NULL, lines->count, sizeof(*keys));
	uint32_t *order = lode_realloc(NULL, lines->count, sizeof(*order));
	int code = LODE_SYSTEM;

	if (keys && order) {
		for (size_t i = 0; i < lines->count; i++)
			keys[i] = lines->items[i].address;
		code = lode_sort_order(keys, lines->count, order);
	}
	if (code == 0)
		add_functions(builder, lines, order);
	lode_free(keys);
	lode_free(order);
	return builder->failed ? LODE_SYSTEM : code;
}

int lode_image_parse_kallsyms(struct lode_table_builder *builder, const char *bytes, size_t size,
			      struct lode_kallsyms *kallsyms)
{
	const char *end = bytes + size;
	struct lines lines = { 0 };
	int code;

	memset(kallsyms, 0, sizeof(*kallsyms));
	while (size && bytes < end && !builder->failed) {
		const char *stop = memchr(bytes, '\n', (size_t)(end - bytes));

		if (!stop)
			break;
		if (!parse_line(builder, &lines, bytes, stop, kallsyms))
			kallsyms->skipped++;
		bytes = stop + 1;
	}
	code = builder->failed || builder->strings.failed ? LODE_SYSTEM : sort_and_add(builder, &lines);
	lode_free(lines.items);
	return code;
}
