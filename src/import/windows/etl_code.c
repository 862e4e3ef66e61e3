/*
 * Code of a trace of Windows: see etl_code.h.
 *
 * Traces list each image several times (at the beginning, at the end, when it is loaded and unloaded) and not in
 * order of time. Ranges are sorted by process, address and order in the trace; equal ones are dropped. Where different
 * images were mapped over one another the last one in the trace is taken.
 */
#include "import/windows/etl_code.h"

#include "base/bisect.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "import/symbol_maps.h"
#include "symbols/mapping_kind.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct lode_etl_range {
	uint64_t base;
	uint64_t end;
	uint32_t pid;
	uint32_t order;
	uint32_t module;   /* of an image */
	uint32_t function; /* string, of a method; 0: an image */
};

struct lode_etl_place {
	uint64_t address;
	uint32_t pid;
	uint32_t frame;
};

/* Ranges that begin before an address are looked through for one that holds it, so far back. */
#define NESTING 64

void lode_etl_code_release(struct lode_etl_code *code)
{
	lode_free(code->images.items);
	lode_free(code->methods.items);
	lode_free(code->places.items);
	lode_index_release(&code->index);
	lode_buffer_release(&code->text);
}

/* ---- text ---- */

void lode_etl_utf8(struct lode_buffer *buffer, struct lode_cursor *text)
{
	while (lode_cursor_left(text) >= 2) {
		uint32_t c = lode_cursor_u16(text);

		if (!c)
			return;
		if (c >= 0xd800 && c < 0xdc00 && lode_cursor_left(text) >= 2) {
			struct lode_cursor ahead = *text;
			uint32_t low = lode_cursor_u16(&ahead);

			if (low >= 0xdc00 && low < 0xe000) {
				c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
				*text = ahead;
			}
		}
		lode_utf8_append(buffer, c >= 0xd800 && c < 0xe000 ? 0xfffd : c);
	}
}

/* ---- images and methods ---- */

static int add(struct lode_etl_ranges *ranges, struct lode_etl_range range)
{
	range.order = (uint32_t)ranges->count;
	if (range.order == UINT32_MAX || LODE_PUSH(ranges, range) < 0)
		return LODE_SYSTEM;
	return 0;
}

/* The end of a range; 0 when there can be none. */
static uint64_t end_of(uint64_t base, uint64_t size)
{
	uint64_t end;

	return !size || __builtin_add_overflow(base, size, &end) ? 0 : end;
}

/* The module of a file: its base name. The path is kept, as Windows writes it. */
static uint32_t module_of(struct lode_etl_code *code, uint32_t pid)
{
	struct lode_frames *frames = &code->dictionary->frames;
	const char *path = code->text.bytes, *slash = memrchr(path, '\\', code->text.size);
	const char *name = slash ? slash + 1 : path;
	size_t length = code->text.size - (size_t)(name - path);
	uint32_t module = lode_frames_module(frames, name, length);

	if (module == LODE_NONE || !module || frames->modules[module].path)
		return module;
	if (pid == 0)
		frames->modules[module].kind = LODE_KIND_KERNEL;
	else if (length > 4 && strncasecmp(name + length - 4, ".dll", 4) == 0)
		frames->modules[module].kind = LODE_KIND_LIBRARY;
	return lode_frames_set_path(frames, module, path, code->text.size) < 0 ? LODE_NONE : module;
}

int lode_etl_code_add_image(struct lode_etl_code *code, uint32_t pid, uint64_t base, uint64_t size,
			    struct lode_cursor path)
{
	struct lode_etl_range range = { .base = base, .end = end_of(base, size), .pid = pid };

	code->text.size = 0;
	lode_etl_utf8(&code->text, &path);
	if (code->text.failed)
		return LODE_SYSTEM;
	if (!range.end || !code->text.size)
		return 0;
	range.module = module_of(code, pid);
	return range.module == LODE_NONE ? LODE_SYSTEM : add(&code->images, range);
}

int lode_etl_code_add_method(struct lode_etl_code *code, uint32_t pid, uint64_t base, uint64_t size,
			     struct lode_cursor names)
{
	struct lode_etl_range range = { .base = base, .end = end_of(base, size), .pid = pid };

	code->text.size = 0;
	lode_etl_utf8(&code->text, &names);
	if (code->text.size)
		lode_buffer_byte(&code->text, '.');
	lode_etl_utf8(&code->text, &names);
	if (code->text.failed)
		return LODE_SYSTEM;
	if (!range.end || !code->text.size)
		return 0;
	range.function = lode_strings_add(&code->dictionary->frames.strings, code->text.bytes, code->text.size);
	return range.function == LODE_NONE ? LODE_SYSTEM : add(&code->methods, range);
}

static int compare_ranges(const void *left, const void *right)
{
	const struct lode_etl_range *a = left, *b = right;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if (a->base != b->base)
		return a->base < b->base ? -1 : 1;
	return (a->order > b->order) - (a->order < b->order);
}

static int is_same(const struct lode_etl_range *a, const struct lode_etl_range *b)
{
	return a->pid == b->pid && a->base == b->base && a->end == b->end && a->module == b->module &&
	       a->function == b->function;
}

static void sort(struct lode_etl_ranges *ranges)
{
	size_t kept = 0;

	if (ranges->sorted == ranges->count)
		return;
	qsort(ranges->items, ranges->count, sizeof(*ranges->items), compare_ranges);
	for (size_t i = 0; i < ranges->count; i++)
		if (!kept || !is_same(&ranges->items[kept - 1], &ranges->items[i]))
			ranges->items[kept++] = ranges->items[i];
	ranges->sorted = ranges->count = kept;
}

/* The range of a process that holds the address, or NULL. */
static const struct lode_etl_range *find(struct lode_etl_ranges *ranges, uint32_t pid, uint64_t address)
{
	const struct lode_etl_range *items = ranges->items;
	size_t low;

	sort(ranges);
	low = LODE_BISECT(i, 0, ranges->count,
			  items[i].pid < pid || (items[i].pid == pid && items[i].base <= address));
	for (unsigned looked = 0; looked < NESTING && low-- && ranges->items[low].pid == pid; looked++)
		if (address < ranges->items[low].end)
			return &ranges->items[low];
	return NULL;
}

/* ---- frames ---- */

static uint32_t frame_in_image(struct lode_etl_code *code, const struct lode_etl_range *image, uint64_t address)
{
	struct lode_frames *frames = &code->dictionary->frames;
	const char *module = lode_strings_get(&frames->strings, frames->modules[image->module].name);
	const char *name = lode_symbol_maps_find(code->options->symbol_maps, module, address - image->base);
	char text[24];

	if (!name) {
		snprintf(text, sizeof(text), "0x%llx", (unsigned long long)(address - image->base));
		name = text;
		code->unnamed++;
	}
	return lode_frames_add(frames, image->module, name, strlen(name));
}

static uint32_t make_frame(struct lode_etl_code *code, uint32_t pid, uint64_t address)
{
	struct lode_frames *frames = &code->dictionary->frames;
	const struct lode_etl_range *image, *method;
	char text[24];

	method = find(&code->methods, pid, address);
	image = find(&code->images, pid, address);
	if (!image && pid)
		image = find(&code->images, 0, address);
	if (method) {
		uint32_t module = image ? image->module
					: lode_frames_module(frames, LODE_JIT_MODULE, strlen(LODE_JIT_MODULE));

		return lode_frames_pair(frames, module, method->function);
	}
	if (image)
		return frame_in_image(code, image, address);
	code->unmapped++;
	snprintf(text, sizeof(text), "0x%llx", (unsigned long long)address);
	return lode_frames_add(frames, 0, text, strlen(text));
}

uint32_t lode_etl_code_frame(struct lode_etl_code *code, uint32_t pid, uint64_t address, int is_caller)
{
	struct lode_etl_place place = { .address = address - (is_caller && address), .pid = pid };
	uint64_t hash = lode_hash_u64(place.address ^ lode_hash_u64(pid));
	uint32_t id = LODE_INDEX_FIND(i, &code->index, hash,
				      code->places.items[i].address == place.address &&
					      code->places.items[i].pid == pid);

	if (id != LODE_NONE)
		return code->places.items[id].frame;
	place.frame = make_frame(code, pid, place.address);
	if (place.frame == LODE_NONE || LODE_INDEX_PUSH(&code->index, hash, &code->places, place) < 0)
		return LODE_NONE;
	return place.frame;
}

void lode_etl_code_report(const struct lode_etl_code *code)
{
	struct lode_notes *notes = code->options->notes;

	if (!code->options->no_symbols)
		lode_notes_add(notes, code->unnamed,
			       "addresses without a symbol; --symbol-map MODULE=FILE gives names", NULL);
	lode_notes_add(notes, code->unmapped, "addresses outside of all images of the trace", NULL);
}
