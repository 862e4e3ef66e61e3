/*
 * Naming: see name_frames.h.
 *
 * Every frame is looked up once; several addresses of a function become one frame,
 * so the stack tree is built again, and events go from its old nodes to the new
 * ones. Threads and their numbers stay.
 *
 * Whether the link register held the caller of a leaf is decided here as in a
 * recording with symbols: by the tables for unwinding, and without them by whether
 * it pointed into the leaf itself.
 */
#include "symbols/name_frames.h"

#include "base/starts_with.h"
#include "symbols/mapping_kind.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

/* What a frame of the old stream is. */
struct place {
	struct lode_image *image; /* NULL: it has a name, or nothing is known about it */
	uint64_t address;         /* of the image */
	int link;
	uint32_t frame; /* of the new stream */
};

struct work {
	const struct lode_stream *stream;
	struct lode_stream *named;
	struct lode_symbolizer *symbolizer;
	struct lode_naming *naming;
	int by_offset;
	int keeps_offsets; /* of what has no name: a file was not found, and without it they are not to be turned into addresses */
	struct lode_image **images; /* by module; NULL: not requested, or none */
	struct place *places;       /* by frame */
	uint32_t *nodes;            /* by node */
};

/* ---- addresses ---- */

/* Reads `0xHEX`, with `?` for the link register; returns 0 for all else. */
static int read_address(const char *text, uint64_t *address, int *link)
{
	char *end;

	if (!lode_starts_with(text, "0x") || !strchr("0123456789abcdef", text[2]) || !text[2])
		return 0;
	*address = strtoull(text + 2, &end, 16);
	*link = *end == '?';
	end += *link;
	return *end == '\0' ? 1 : *end == '@' ? -1 : 0;
}

static const char *attribute_of(const struct lode_stream *stream, const char *key)
{
	const struct lode_strings *strings = &stream->dictionary->frames.strings;

	for (size_t i = 0; i < stream->attribute_count; i++)
		if (!strcmp(lode_strings_get(strings, stream->attributes[i].key), key))
			return lode_strings_get(strings, stream->attributes[i].value);
	return "";
}

/* This machine's vDSO serves for recordings of the same kernel. */
static int is_own_kernel(const struct lode_stream *stream)
{
	struct utsname system;

	return !uname(&system) && !strcmp(attribute_of(stream, "kernel"), system.release);
}

/* The image of a module, *image NULL where there is none. Returns 0 or LODE_SYSTEM. */
static int module_image(struct work *work, uint32_t number, struct lode_image **image)
{
	const struct lode_frames *frames = &work->stream->dictionary->frames;
	const struct lode_module *module = &frames->modules[number];
	const char *name = lode_strings_get(&frames->strings, module->name);
	const char *path = lode_strings_get(&frames->strings, module->path);
	const char *build_id = lode_strings_get(&frames->strings, module->build_id);
	int is_file = *path && (module->kind == LODE_KIND_USER || module->kind == LODE_KIND_LIBRARY);
	char *clean;

	*image = work->images[number];
	if (*image)
		return 0;
	if (is_file) {
		clean = lode_strndup(path, lode_mapped_length(path));
		if (!clean)
			return LODE_SYSTEM;
		*image = lode_symbolizer_binary(work->symbolizer, clean, build_id);
		lode_free(clean);
	} else if (strstr(name, "vdso") && is_own_kernel(work->stream)) {
		*image = lode_symbolizer_vdso(work->symbolizer, build_id);
	} else {
		return 0;
	}
	work->images[number] = *image;
	return *image ? 0 : LODE_SYSTEM;
}

/* ---- frames ---- */

static uint32_t copy_string(struct work *work, uint32_t string)
{
	struct lode_string text = work->stream->dictionary->frames.strings.items[string];

	return lode_strings_add(&work->named->dictionary->frames.strings, text.text, text.length);
}

static uint32_t copy_module(struct work *work, uint32_t number)
{
	const struct lode_frames *from = &work->stream->dictionary->frames;
	struct lode_frames *to = &work->named->dictionary->frames;
	struct lode_string name = from->strings.items[from->modules[number].name];
	uint32_t copy, path, build_id;

	if (!number)
		return 0;
	copy = lode_frames_module(to, name.text, name.length);
	path = copy_string(work, from->modules[number].path);
	build_id = copy_string(work, from->modules[number].build_id);
	if (copy == LODE_NONE || path == LODE_NONE || build_id == LODE_NONE)
		return LODE_NONE;
	to->modules[copy].kind = from->modules[number].kind;
	to->modules[copy].language = from->modules[number].language;
	to->modules[copy].path = path;
	to->modules[copy].build_id = build_id;
	return copy;
}

/* The name at a place, which the stream has as `known`; `text` has room for one without a symbol. */
static const char *name_at(struct work *work, const struct place *place, uint64_t known, char text[24])
{
	struct lode_symbol symbol = { 0 };
	uint64_t address = place->address;

	if (lode_image_find(place->image, address, &symbol)) {
		address = symbol.start;
		if (symbol.name) {
			work->naming->named++;
			return symbol.name;
		}
	}
	work->naming->unnamed++;
	snprintf(text, 24, "0x%llx", (unsigned long long)(work->keeps_offsets ? known : address));
	return text;
}

/* Finds what frame `i` is, and its name: its own, or one in `text`, or the image's. NULL: memory has run out. */
static const char *find_place(struct work *work, uint32_t i, struct place *place, char text[24])
{
	const struct lode_frames *frames = &work->stream->dictionary->frames;
	const char *name = lode_frames_function(frames, i);
	uint32_t module = frames->items[i].module;
	uint64_t address = 0;
	int link = 0, is_address = read_address(name, &address, &link);

	if (is_address > 0 && module && module_image(work, module, &place->image) < 0)
		return NULL;
	if (place->image) {
		place->address = work->by_offset ? lode_image_address(place->image, address) : address;
		place->link = link;
		return name_at(work, place, address, text);
	}
	work->naming->left += is_address != 0;
	return name;
}

/* Finds what frame `i` is and enters it in the new stream. */
static int place_frame(struct work *work, uint32_t i)
{
	uint32_t module = copy_module(work, work->stream->dictionary->frames.items[i].module);
	struct place *place = &work->places[i];
	const char *name;
	char text[24];

	name = module == LODE_NONE ? NULL : find_place(work, i, place, text);
	if (!name)
		return LODE_SYSTEM;
	place->frame = lode_frames_add(&work->named->dictionary->frames, module, name, strlen(name));
	return place->frame == LODE_NONE ? LODE_SYSTEM : 0;
}

/* Whether a file that has unnamed functions is not there. Returns 1, 0 or LODE_SYSTEM. */
static int lacks_file(struct work *work)
{
	const struct lode_frames *frames = &work->stream->dictionary->frames;

	for (size_t i = 0; i < frames->count; i++) {
		uint32_t module = frames->items[i].module;
		struct lode_image *image = NULL;
		uint64_t address;
		int link;

		if (!module || read_address(lode_frames_function(frames, (uint32_t)i), &address, &link) <= 0)
			continue;
		if (module_image(work, module, &image) < 0)
			return LODE_SYSTEM;
		if (image && !lode_image_has_layout(image))
			return 1;
	}
	return 0;
}

/* ---- stacks ---- */

static int link_holds_caller(const struct place *leaf, const struct place *link)
{
	int answer = leaf->image ? lode_image_link_register(leaf->image, leaf->address) : 0;

	return answer >= 0 ? answer : link->frame != leaf->frame;
}

/* What the link register held adds nothing by itself; the leaf below it decides. */
static uint32_t place_node(struct work *work, const struct lode_stack_node *node)
{
	const struct lode_stack_node *nodes = work->stream->dictionary->tree.nodes;
	struct lode_stack_tree *tree = &work->named->dictionary->tree;
	const struct place *place = &work->places[node->frame], *above = NULL;
	uint32_t parent = work->nodes[node->parent];

	if (place->link)
		return parent;
	if (node->parent)
		above = &work->places[nodes[node->parent].frame];
	if (above && above->link && link_holds_caller(place, above))
		parent = lode_stack_tree_child(tree, parent, above->frame);
	return parent == LODE_NONE ? LODE_NONE : lode_stack_tree_child(tree, parent, place->frame);
}

static int place_all(struct work *work)
{
	const struct lode_dictionary *from = work->stream->dictionary;

	work->places = lode_calloc(from->frames.count + 1, sizeof(*work->places));
	work->nodes = lode_calloc(from->tree.count, sizeof(*work->nodes));
	if (!work->places || !work->nodes)
		return LODE_SYSTEM;
	for (size_t i = 0; i < from->frames.count; i++)
		if (place_frame(work, (uint32_t)i) < 0)
			return LODE_SYSTEM;
	for (size_t i = 1; i < from->tree.count; i++) {
		work->nodes[i] = place_node(work, &from->tree.nodes[i]);
		if (work->nodes[i] == LODE_NONE)
			return LODE_SYSTEM;
	}
	return 0;
}

/* ---- events ---- */

/* `strings`: a column, NULL where there is none. */
static int copy_strings(struct work *work, uint32_t *strings, size_t count)
{
	for (size_t i = 0; strings && i < count; i++) {
		strings[i] = copy_string(work, strings[i]);
		if (strings[i] == LODE_NONE)
			return LODE_SYSTEM;
	}
	return 0;
}

static int move_events(struct work *work, struct lode_events *from, struct lode_events *to)
{
	*to = *from;
	memset(from, 0, sizeof(*from));
	for (size_t i = 0; i < to->count; i++) {
		to->stack[i] = work->nodes[to->stack[i]];
		to->waker_stack[i] = work->nodes[to->waker_stack[i]];
		to->name[i] = copy_string(work, to->name[i]);
		if (to->name[i] == LODE_NONE)
			return LODE_SYSTEM;
	}
	return copy_strings(work, to->object, to->count) | copy_strings(work, to->context, to->count);
}

static int names_are_offsets(const struct lode_stream *stream)
{
	return !strcmp(attribute_of(stream, LODE_ADDRESSES), LODE_ADDRESSES_VALUE);
}

int lode_naming_count(const struct lode_stream *stream, struct lode_symbolizer *symbolizer,
		      struct lode_naming *naming)
{
	const struct lode_frames *frames = &stream->dictionary->frames;
	struct work work = {
		.stream = stream,
		.symbolizer = symbolizer,
		.naming = naming,
		.by_offset = names_are_offsets(stream),
		.images = lode_calloc(frames->module_count, sizeof(*work.images)),
	};
	int code = work.images ? 0 : LODE_SYSTEM;

	memset(naming, 0, sizeof(*naming));
	for (size_t i = 0; !code && i < frames->count; i++) {
		struct place place = { .image = NULL };
		char text[24];

		if (!find_place(&work, (uint32_t)i, &place, text))
			code = LODE_SYSTEM;
	}
	lode_free(work.images);
	return code;
}

int lode_naming_apply(struct lode_stream *stream, struct lode_symbolizer *symbolizer, struct lode_stream *named,
		      struct lode_naming *naming)
{
	struct work work = {
		.stream = stream,
		.named = named,
		.symbolizer = symbolizer,
		.naming = naming,
		.by_offset = names_are_offsets(stream),
	};
	int code;

	memset(naming, 0, sizeof(*naming));
	work.images = lode_calloc(stream->dictionary->frames.module_count, sizeof(*work.images));
	code = !work.images ? LODE_SYSTEM : work.by_offset ? lacks_file(&work) : 0;
	work.keeps_offsets = code > 0;
	if (code >= 0)
		code = lode_stream_copy_head(named, stream,
					     work.by_offset && !work.keeps_offsets ? LODE_ADDRESSES : NULL);
	if (!code)
		code = place_all(&work);
	for (int type = 0; !code && type < LODE_EVENT_TYPES; type++)
		code = move_events(&work, &stream->events[type], &named->events[type]);
	lode_free(work.images);
	lode_free(work.places);
	lode_free(work.nodes);
	return code;
}
