/* Mapped frames: see mapped_frames.h. */
#include "import/runtime/mapped_frames.h"

#include "base/proc_files.h"
#include "import/import_common.h"
#include "import/module_name.h"
#include "import/symbol_maps.h"
#include "symbols/unnamed_note.h"

#include <stdio.h>
#include <string.h>

#define INLINES 64 /* functions inlined into one another that are shown */

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
	if (lode_process_images_init(&mapped->images) < 0 || lode_spaces_init(&mapped->spaces) < 0)
		return lode_fail_memory(error);
	mapped->space = lode_space_empty(&mapped->spaces);
	return options->no_symbols ? 0 : lode_symbolizer_create(&mapped->symbolizer, &symbols, error);
}

void lode_mapped_frames_release(struct lode_mapped_frames *mapped)
{
	lode_symbolizer_destroy(mapped->symbolizer);
	lode_process_images_release(&mapped->images);
	lode_spaces_release(&mapped->spaces);
	lode_free(mapped->locations.items);
	lode_free(mapped->frames.items);
	lode_index_release(&mapped->index);
	*mapped = (struct lode_mapped_frames){ 0 };
}

/* ---- the map ---- */

/* The image of a path, with its module and symbols; LODE_NONE when memory has run out. */
static uint32_t image_of(struct lode_mapped_frames *mapped, const char *path)
{
	struct lode_process_image wanted = { .kind = lode_mapped_kind(path), .path = path, .build_id = "" };
	uint32_t id = lode_process_images_add(&mapped->images, &wanted);
	struct lode_process_image *image = id == LODE_NONE ? NULL : &mapped->images.items[id];

	if (!image || image->module != LODE_NONE)
		return id;
	image->module = lode_module_from_file(&mapped->dictionary->frames, path, strlen(path));
	if (mapped->symbolizer && image->kind == LODE_MAPPED_FILE)
		image->symbols = lode_symbolizer_binary(mapped->symbolizer, path, "");
	return image->module == LODE_NONE ? LODE_NONE : id;
}

/* Takes a line that ends with a NUL. */
static int add_line(struct lode_mapped_frames *mapped, char *line)
{
	struct lode_proc_mapping found = { 0 };
	struct lode_mapping mapping;

	if (!lode_proc_mapping_parse(line, &found) || found.end <= found.start)
		return 0;
	if (found.rights[2] != 'x')
		return 1;
	mapping = (struct lode_mapping){ found.start, found.end, found.offset, image_of(mapped, found.path) };
	if (mapping.image == LODE_NONE || lode_space_map(&mapped->spaces, &mapped->space, &mapping) < 0)
		return LODE_SYSTEM;
	return 1;
}

int lode_mapped_frames_line(struct lode_mapped_frames *mapped, const char *line, size_t length)
{
	char *copy;
	int code;

	while (length && (line[length - 1] == ' ' || line[length - 1] == '\r'))
		length--;
	copy = lode_strndup(line, length);
	code = copy ? add_line(mapped, copy) : LODE_SYSTEM;
	lode_free(copy);
	return code;
}

/* ---- locations ---- */

static int add_frame(struct lode_mapped_frames *mapped, uint32_t module, const char *function)
{
	uint32_t frame = lode_frames_add(&mapped->dictionary->frames, module, function, strlen(function));

	if (frame == LODE_NONE || mapped->frames.count >= LODE_NONE - 1 || LODE_PUSH(&mapped->frames, frame) < 0)
		return LODE_SYSTEM;
	return 0;
}

static int add_symbol(struct lode_mapped_frames *mapped, const struct lode_process_image *image, uint64_t address,
		      const char *name)
{
	const char *names[INLINES];
	size_t count = 0;
	int code = add_frame(mapped, image->module, name);

	if (mapped->options->inlines)
		count = lode_image_inlines(image->symbols, address, names, INLINES);
	for (size_t i = 0; code == 0 && i < count; i++)
		code = add_frame(mapped, image->module, names[i]);
	return code;
}

/* Adds the frames of an address. Without a name, that is the function's start where its bounds are known. */
static int add_frames(struct lode_mapped_frames *mapped, uint64_t address)
{
	const struct lode_mapping *mapping = lode_space_find(&mapped->spaces, &mapped->space, address);
	const struct lode_process_image *image =
		&mapped->images.items[mapping ? mapping->image : LODE_PROCESS_IMAGE_UNKNOWN];
	uint64_t offset = mapping ? address - mapping->start + mapping->offset : address;
	const struct lode_frames *frames = &mapped->dictionary->frames;
	struct lode_symbol symbol;
	const char *name = NULL;
	char text[24];

	if (image->symbols) {
		uint64_t in_image = lode_process_image_address(image, offset);

		if (lode_image_find(image->symbols, in_image, &symbol) && symbol.name)
			return add_symbol(mapped, image, in_image, symbol.name);
	}
	if (mapping)
		name = lode_symbol_maps_find(mapped->options->symbol_maps,
					     lode_strings_get(&frames->strings, frames->modules[image->module].name),
					     offset);
	if (name)
		return add_frame(mapped, image->module, name);
	mapped->unnamed++;
	mapped->unmapped += !mapping;
	snprintf(text, sizeof(text), "0x%llx", (unsigned long long)offset);
	return add_frame(mapped, mapping ? image->module : 0, text);
}

static uint32_t add_location(struct lode_mapped_frames *mapped, uint64_t hash, uint64_t address)
{
	struct lode_mapped_location location = { .address = address, .first = (uint32_t)mapped->frames.count };

	if (add_frames(mapped, address) < 0)
		return LODE_NONE;
	location.count = (uint32_t)mapped->frames.count - location.first;
	if (LODE_INDEX_PUSH(&mapped->index, hash, &mapped->locations, location) < 0)
		return LODE_NONE;
	return (uint32_t)mapped->locations.count - 1;
}

static uint32_t location_of(struct lode_mapped_frames *mapped, uint64_t address)
{
	uint64_t hash = lode_hash_u64(address);
	uint32_t id = LODE_INDEX_FIND(i, &mapped->index, hash, mapped->locations.items[i].address == address);

	return id == LODE_NONE ? add_location(mapped, hash, address) : id;
}

uint32_t lode_mapped_frames_push(struct lode_mapped_frames *mapped, uint32_t parent, uint64_t address,
				 uint32_t *depth)
{
	uint32_t location = location_of(mapped, address), count, i;

	if (location == LODE_NONE)
		return LODE_NONE;
	count = mapped->locations.items[location].count;
	for (i = 0; i < count && *depth < LODE_STACK_DEPTH_LIMIT && parent != LODE_NONE; i++, ++*depth)
		parent = lode_stack_tree_child(&mapped->dictionary->tree, parent,
					       mapped->frames.items[mapped->locations.items[location].first + i]);
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
