/* Symbol maps: see symbol_maps.h. */
#include "import/symbol_maps.h"

#include "base/bisect.h"
#include "base/buffer.h"
#include "base/input.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define LINE_LIMIT (1u << 20)

struct symbol {
	uint64_t address;
	size_t name; /* offset in the names */
};

struct map {
	char *module;
	struct symbol *symbols; /* by address */
	size_t count;
	size_t capacity;
	struct lode_buffer names;
};

struct lode_symbol_maps {
	struct map *maps;
	size_t count;
	size_t capacity;
};

void lode_symbol_maps_destroy(struct lode_symbol_maps *maps)
{
	if (!maps)
		return;
	for (size_t i = 0; i < maps->count; i++) {
		lode_free(maps->maps[i].module);
		lode_free(maps->maps[i].symbols);
		lode_buffer_release(&maps->maps[i].names);
	}
	lode_free(maps->maps);
	lode_free(maps);
}

static const char *skip_blanks(const char *at, const char *end)
{
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	return at;
}

/* A hexadecimal number with a blank behind it, with or without 0x. NULL when there is none. */
static const char *read_address(const char *at, const char *end, uint64_t *address)
{
	const char *first;

	if (end - at > 2 && at[0] == '0' && (at[1] | 32) == 'x')
		at += 2;
	*address = 0;
	for (first = at; at < end && at - first < 16; at++) {
		unsigned c = (unsigned char)*at, letter = (c | 32) - 'a';

		if (c - '0' >= 10 && letter >= 6)
			break;
		*address = *address << 4 | (c - '0' < 10 ? c - '0' : letter + 10);
	}
	return at > first && at < end && (*at == ' ' || *at == '\t') ? skip_blanks(at, end) : NULL;
}

/* Returns 1, 0 when the line is something else, or LODE_SYSTEM. */
static int add_line(struct map *map, const char *at, const char *end)
{
	struct symbol symbol = { .name = map->names.size };

	while (end > at && (end[-1] == '\r' || end[-1] == ' ' || end[-1] == '\t'))
		end--;
	at = read_address(skip_blanks(at, end), end, &symbol.address);
	if (!at || at == end)
		return 0;
	if (end - at > 2 && (at[1] == ' ' || at[1] == '\t')) /* the type that nm prints */
		at = skip_blanks(at + 1, end);
	lode_buffer_add(&map->names, at, (size_t)(end - at));
	lode_buffer_byte(&map->names, '\0');
	if (map->names.failed || LODE_APPEND(map->symbols, map->count, map->capacity, symbol) < 0)
		return LODE_SYSTEM;
	return 1;
}

/* Of two names at one address the one that comes first in the file is first. */
static int compare(const void *left, const void *right)
{
	const struct symbol *a = left, *b = right;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return (a->name > b->name) - (a->name < b->name);
}

static int read_lines(struct map *map, struct lode_input *input, struct lode_error *error)
{
	const char *line;
	size_t length, number = 0;
	int got;

	while ((got = lode_input_line(input, LINE_LIMIT, &line, &length, error)) > 0) {
		int code = add_line(map, line, line + length);

		number++;
		if (code < 0)
			return lode_fail_memory(error);
		if (code == 0 && length && *line != '#')
			return lode_fail(error, LODE_BAD_INPUT,
					 "%s:%zu: not a symbol; a line is a hexadecimal address and a name",
					 lode_input_name(input), number);
	}
	if (got < 0)
		return got;
	if (map->count)
		qsort(map->symbols, map->count, sizeof(*map->symbols), compare);
	return 0;
}

static int load(struct lode_symbol_maps *maps, const char *setting, struct lode_error *error)
{
	const char *equals = strchr(setting, '=');
	struct lode_input *input = NULL;
	struct map *map;
	int code;

	if (!equals || equals == setting || !equals[1])
		return lode_fail(error, LODE_USAGE,
				 "import: '--symbol-map' needs MODULE=FILE (such as ntoskrnl.exe=names.txt), not "
				 "'%s'. See 'lode help import'.",
				 setting);
	if (lode_grow(&maps->maps, &maps->capacity, maps->count + 1, sizeof(*maps->maps)) < 0)
		return lode_fail_memory(error);
	map = &maps->maps[maps->count++];
	*map = (struct map){ .module = lode_strndup(setting, (size_t)(equals - setting)) };
	if (!map->module)
		return lode_fail_memory(error);
	code = lode_input_open(&input, equals + 1, error);
	if (code == 0)
		code = read_lines(map, input, error);
	lode_input_close(input);
	return code;
}

int lode_symbol_maps_load(struct lode_symbol_maps **maps, const char *const *settings, struct lode_error *error)
{
	int code = 0;

	*maps = NULL;
	if (!settings)
		return 0;
	*maps = lode_calloc(1, sizeof(**maps));
	if (!*maps)
		return lode_fail_memory(error);
	for (; *settings && code == 0; settings++)
		code = load(*maps, *settings, error);
	return code;
}

static const char *find_in(const struct map *map, uint64_t offset)
{
	size_t low = LODE_BISECT(i, 0, map->count, map->symbols[i].address <= offset);
	if (!low)
		return NULL;
	while (low > 1 && map->symbols[low - 2].address == map->symbols[low - 1].address)
		low--;
	return map->names.bytes + map->symbols[low - 1].name;
}

const char *lode_symbol_maps_find(const struct lode_symbol_maps *maps, const char *module, uint64_t offset)
{
	for (size_t i = 0; maps && i < maps->count; i++)
		if (strcasecmp(maps->maps[i].module, module) == 0)
			return find_in(&maps->maps[i], offset);
	return NULL;
}
