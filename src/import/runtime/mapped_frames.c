/* Mapped frames: see mapped_frames.h. */
#include "import/runtime/mapped_frames.h"

#include "base/bisect.h"
#include "import/import_common.h"
#include "import/module_name.h"
#include "import/symbol_maps.h"
#include "symbols/mapping_kind.h"
#include "symbols/unnamed_note.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INLINES 64 /* functions inlined into one another that are shown */

struct lode_mapped_range {
	uint64_t start;
	uint64_t end;
	uint64_t offset;
	uint32_t module;
	struct lode_image *image; /* NULL: no symbols */
};

struct lode_mapped_location {
	uint64_t address;
	uint32_t first; /* of its frames */
	uint32_t count;
};

int lode_mapped_frames_init(struct lode_mapped_frames *mapped, const struct lode_import_options *options,
			    struct lode_dictionary *dictionary, struct lode_error *error)
{
	struct lode_symbols_options symbols = {
		.paths = options->symbol_paths,
		.cache = options->cache,
		.debuginfod = options->debuginfod,
		.notes = options->notes,
	};

	*mapped = (struct lode_mapped_frames){ .options = options, .dictionary = dictionary };
	return options->no_symbols ? 0 : lode_symbolizer_create(&mapped->symbolizer, &symbols, error);
}

void lode_mapped_frames_release(struct lode_mapped_frames *mapped)
{
	lode_symbolizer_destroy(mapped->symbolizer);
	lode_free(mapped->ranges);
	lode_free(mapped->locations);
	lode_free(mapped->frames);
	lode_index_release(&mapped->index);
	*mapped = (struct lode_mapped_frames){ 0 };
}

/* ---- the map ---- */

/* A piece of text that is being parsed. */
struct text {
	const char *at;
	const char *end;
};

static int read_hexadecimal(struct text *text, uint64_t *number)
{
	const char *start = text->at;

	if (text->end - text->at > 2 && text->at[0] == '0' && text->at[1] == 'x')
		start = text->at += 2;
	for (*number = 0; text->at < text->end && text->at - start < 16; text->at++) {
		char c = *text->at;
		int digit = c >= '0' && c <= '9'                 ? c - '0'
			    : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
								 : -1;

		if (digit < 0)
			break;
		*number = *number << 4 | (uint64_t)digit;
	}
	return text->at > start;
}

/* The next word, behind spaces. */
static struct text next_word(struct text *text)
{
	struct text word;

	while (text->at < text->end && (*text->at == ' ' || *text->at == '\t'))
		text->at++;
	word.at = text->at;
	while (text->at < text->end && *text->at != ' ' && *text->at != '\t')
		text->at++;
	word.end = text->at;
	return word;
}

/* The rest of the line, without spaces around it. */
static struct text rest(struct text text)
{
	while (text.at < text.end && (*text.at == ' ' || *text.at == '\t'))
		text.at++;
	while (text.at < text.end && (text.end[-1] == ' ' || text.end[-1] == '\r'))
		text.end--;
	return text;
}

static struct lode_image *image_of(struct lode_mapped_frames *mapped, const char *path)
{
	if (!mapped->symbolizer || lode_mapped_kind(path) != LODE_MAPPED_FILE)
		return NULL;
	return lode_symbolizer_binary(mapped->symbolizer, path, "");
}

static int add_range(struct lode_mapped_frames *mapped, struct lode_mapped_range range, struct text path)
{
	size_t length = (size_t)(path.end - path.at);
	char *name = lode_strndup(path.at, length);

	if (!name)
		return LODE_SYSTEM;
	range.module = lode_module_from_file(&mapped->dictionary->frames, path.at, length);
	range.image = image_of(mapped, name);
	lode_free(name);
	if (range.module == LODE_NONE ||
	    LODE_APPEND(mapped->ranges, mapped->range_count, mapped->range_capacity, range) < 0)
		return LODE_SYSTEM;
	return 1;
}

int lode_mapped_frames_line(struct lode_mapped_frames *mapped, const char *line, size_t length)
{
	struct text text = { line, line + length }, permissions, offset;
	struct lode_mapped_range range = { 0 };

	while (text.at < text.end && *text.at == ' ')
		text.at++;
	if (!read_hexadecimal(&text, &range.start) || text.at == text.end || *text.at++ != '-' ||
	    !read_hexadecimal(&text, &range.end) || range.end <= range.start)
		return 0;
	permissions = next_word(&text);
	offset = next_word(&text);
	if (permissions.end - permissions.at < 3 || !read_hexadecimal(&offset, &range.offset) ||
	    offset.at != offset.end)
		return 0;
	next_word(&text); /* device */
	next_word(&text); /* inode */
	return permissions.at[2] == 'x' ? add_range(mapped, range, rest(text)) : 1;
}

static int compare_ranges(const void *left, const void *right)
{
	const struct lode_mapped_range *a = left, *b = right;

	return (a->start > b->start) - (a->start < b->start);
}

static const struct lode_mapped_range *find_range(struct lode_mapped_frames *mapped, uint64_t address)
{
	size_t next;

	if (!mapped->sorted && mapped->range_count)
		qsort(mapped->ranges, mapped->range_count, sizeof(*mapped->ranges), compare_ranges);
	mapped->sorted = 1;
	next = LODE_BISECT(i, 0, mapped->range_count, mapped->ranges[i].start <= address);
	return next && address < mapped->ranges[next - 1].end ? &mapped->ranges[next - 1] : NULL;
}

/* ---- locations ---- */

static int add_frame(struct lode_mapped_frames *mapped, uint32_t module, const char *function)
{
	uint32_t frame = lode_frames_add(&mapped->dictionary->frames, module, function, strlen(function));

	if (frame == LODE_NONE || mapped->frame_count >= LODE_NONE - 1 ||
	    LODE_APPEND(mapped->frames, mapped->frame_count, mapped->frame_capacity, frame) < 0)
		return LODE_SYSTEM;
	return 0;
}

static int add_symbol(struct lode_mapped_frames *mapped, const struct lode_mapped_range *range, uint64_t address,
		      const char *name)
{
	const char *names[INLINES];
	size_t count = 0;
	int code = add_frame(mapped, range->module, name);

	if (mapped->options->inlines)
		count = lode_image_inlines(range->image, address, names, INLINES);
	for (size_t i = 0; code == 0 && i < count; i++)
		code = add_frame(mapped, range->module, names[i]);
	return code;
}

/* Adds the frames of an address. Without a name, that is the function's start where its bounds are known. */
static int add_frames(struct lode_mapped_frames *mapped, uint64_t address)
{
	const struct lode_mapped_range *range = find_range(mapped, address);
	uint64_t offset = range ? address - range->start + range->offset : address;
	const struct lode_frames *frames = &mapped->dictionary->frames;
	struct lode_symbol symbol;
	const char *name;
	char text[24];

	if (range && range->image) {
		uint64_t in_image = lode_image_address(range->image, offset);

		if (lode_image_find(range->image, in_image, &symbol) && symbol.name)
			return add_symbol(mapped, range, in_image, symbol.name);
	}
	name = range ? lode_symbol_maps_find(mapped->options->symbol_maps,
					     lode_strings_get(&frames->strings, frames->modules[range->module].name),
					     offset)
		     : NULL;
	if (name)
		return add_frame(mapped, range->module, name);
	mapped->unnamed++;
	mapped->unmapped += !range;
	snprintf(text, sizeof(text), "0x%llx", (unsigned long long)offset);
	return add_frame(mapped, range ? range->module : 0, text);
}

static uint32_t add_location(struct lode_mapped_frames *mapped, uint64_t hash, uint64_t address)
{
	struct lode_mapped_location location = { .address = address, .first = (uint32_t)mapped->frame_count };

	if (add_frames(mapped, address) < 0)
		return LODE_NONE;
	location.count = (uint32_t)mapped->frame_count - location.first;
	if (LODE_INDEX_APPEND(&mapped->index, hash, mapped->locations, mapped->location_count,
			      mapped->location_capacity, location) < 0)
		return LODE_NONE;
	return (uint32_t)mapped->location_count - 1;
}

static uint32_t location_of(struct lode_mapped_frames *mapped, uint64_t address)
{
	uint64_t hash = lode_hash_u64(address);
	uint32_t id = LODE_INDEX_FIND(i, &mapped->index, hash, mapped->locations[i].address == address);

	return id == LODE_NONE ? add_location(mapped, hash, address) : id;
}

uint32_t lode_mapped_frames_push(struct lode_mapped_frames *mapped, uint32_t parent, uint64_t address,
				 uint32_t *depth)
{
	uint32_t location = location_of(mapped, address), count, i;

	if (location == LODE_NONE)
		return LODE_NONE;
	count = mapped->locations[location].count;
	for (i = 0; i < count && *depth < LODE_STACK_DEPTH_LIMIT && parent != LODE_NONE; i++, ++*depth)
		parent = lode_stack_tree_child(&mapped->dictionary->tree, parent,
					       mapped->frames[mapped->locations[location].first + i]);
	mapped->cut += i < count && parent != LODE_NONE;
	return parent;
}

void lode_mapped_frames_report(const struct lode_mapped_frames *mapped)
{
	struct lode_notes *notes = mapped->options->notes;

	lode_notes_add(notes, mapped->cut, LODE_CUT_AT_LEAF, NULL);
	if (mapped->options->no_symbols)
		return;
	lode_note_unnamed(notes, mapped->unnamed - mapped->unmapped, &mapped->dictionary->frames);
	lode_notes_add(notes, mapped->unmapped, "addresses outside of the memory map that the profile has", NULL);
}
