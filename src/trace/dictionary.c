/*
 * Dictionary: see dictionary.h.
 *
 * Merging walks strings, modules, frames and nodes once, in order of their ids;
 * since parents come before children, each node's parent is translated already.
 */
#include "trace/dictionary.h"

#include "base/error.h"

#include <string.h>

#define AHEAD 12 /* nodes whose places in the index are requested before they are needed */

int lode_dictionary_init(struct lode_dictionary *dictionary)
{
	memset(dictionary, 0, sizeof(*dictionary));
	if (lode_frames_init(&dictionary->frames) < 0)
		return LODE_SYSTEM;
	if (lode_stack_tree_init(&dictionary->tree) < 0) {
		lode_frames_release(&dictionary->frames);
		return LODE_SYSTEM;
	}
	return 0;
}

void lode_dictionary_release(struct lode_dictionary *dictionary)
{
	lode_frames_release(&dictionary->frames);
	lode_stack_tree_release(&dictionary->tree);
}

void lode_dictionary_map_release(struct lode_dictionary_map *map)
{
	lode_free(map->strings);
	lode_free(map->frames);
	lode_free(map->nodes);
	memset(map, 0, sizeof(*map));
}

static int merge_strings(struct lode_strings *to, const struct lode_strings *from, uint32_t *map)
{
	for (size_t i = 0; i < from->count; i++) {
		map[i] = lode_strings_add(to, from->items[i].text, from->items[i].length);
		if (map[i] == LODE_NONE)
			return LODE_SYSTEM;
	}
	return 0;
}

/* A module known to both keeps what `to` says of it; what `to` does not know is filled in. */
static uint32_t merge_module(struct lode_frames *to, const struct lode_frames *from, size_t i,
			     const uint32_t *strings)
{
	const struct lode_module *module = &from->modules[i];
	const struct lode_string *name = &from->strings.items[module->name];
	size_t known = to->module_count;
	uint32_t id = lode_frames_module(to, name->text, name->length);

	if (id == LODE_NONE)
		return LODE_NONE;
	if (id >= known)
		to->modules[id].kind = module->kind;
	lode_frames_set_language(to, id, module->language);
	if (!to->modules[id].path)
		to->modules[id].path = strings[module->path];
	if (!to->modules[id].build_id)
		to->modules[id].build_id = strings[module->build_id];
	return id;
}

static int merge_frames(struct lode_frames *to, const struct lode_frames *from, const uint32_t *strings,
			uint32_t *map)
{
	uint32_t *modules = lode_calloc(from->module_count, sizeof(*modules));
	int code = modules ? 0 : LODE_SYSTEM;

	for (size_t i = 0; !code && i < from->module_count; i++)
		if ((modules[i] = merge_module(to, from, i, strings)) == LODE_NONE)
			code = LODE_SYSTEM;
	for (size_t i = 0; !code && i < from->count; i++) {
		map[i] = lode_frames_pair(to, modules[from->items[i].module], strings[from->items[i].function]);
		if (map[i] == LODE_NONE)
			code = LODE_SYSTEM;
	}
	lode_free(modules);
	return code;
}

static int merge_nodes(struct lode_stack_tree *to, const struct lode_stack_tree *from, const uint32_t *frames,
		       uint32_t *map)
{
	map[0] = 0;
	for (size_t i = 1; i < from->count; i++) {
		const struct lode_stack_node *ahead = &from->nodes[i + AHEAD < from->count ? i + AHEAD : 0];

		/* First children mostly follow their parents at once and need no looking up. */
		if (ahead->parent && ahead->parent < i && ahead != &from->nodes[ahead->parent + 1])
			lode_stack_tree_prefetch(to, map[ahead->parent], frames[ahead->frame]);
		map[i] = lode_stack_tree_child(to, map[from->nodes[i].parent], frames[from->nodes[i].frame]);
		if (map[i] == LODE_NONE)
			return LODE_SYSTEM;
	}
	return 0;
}

int lode_dictionary_merge(struct lode_dictionary *to, const struct lode_dictionary *from,
			  struct lode_dictionary_map *map)
{
	map->strings = lode_calloc(from->frames.strings.count, sizeof(*map->strings));
	map->frames = lode_calloc(from->frames.count, sizeof(*map->frames));
	map->nodes = lode_calloc(from->tree.count, sizeof(*map->nodes));
	if (map->strings && map->frames && map->nodes &&
	    merge_strings(&to->frames.strings, &from->frames.strings, map->strings) == 0 &&
	    merge_frames(&to->frames, &from->frames, map->strings, map->frames) == 0 &&
	    merge_nodes(&to->tree, &from->tree, map->frames, map->nodes) == 0)
		return 0;
	lode_dictionary_map_release(map);
	return LODE_SYSTEM;
}

void lode_stack_json(const struct lode_dictionary *dictionary, uint32_t node, struct lode_json *json)
{
	uint32_t depth = lode_stack_tree_depth(&dictionary->tree, node);
	uint32_t *frames = lode_calloc(depth + 1, sizeof(*frames));

	if (frames)
		lode_stack_tree_frames(&dictionary->tree, node, frames, depth);
	lode_frames_list_json(&dictionary->frames, frames, frames ? depth : 0, json);
	json->buffer->failed |= !frames;
	lode_free(frames);
}
