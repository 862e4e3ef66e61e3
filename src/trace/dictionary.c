/*
 * Dictionary: see dictionary.h.
 *
 * Merging walks strings, modules, frames and nodes once, in order of their ids;
 * since parents come before children, each node's parent is translated already.
 */
#include "trace/dictionary.h"

#include "base/error.h"

#include <string.h>

#define AHEAD 8 /* runs of nodes whose places in the index are requested before they are needed */

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

/*
 * Nodes come in *runs*: the first of a run is looked up below its parent, each other one is what the node before it
 * calls. Where both trees have the same run, the rest of it is only compared.
 */
struct node_merge {
	struct lode_stack_tree *to;
	const struct lode_stack_tree *from;
	const uint32_t *frames;
	uint32_t *map;
};

/* The end of the run that begins at `first`. */
static size_t run_end(const struct lode_stack_tree *from, size_t first)
{
	size_t i = first + 1;

	while (i < from->count && (size_t)from->nodes[i].parent + 1 == i)
		i++;
	return i;
}

static int merge_node(const struct node_merge *merge, size_t i)
{
	const struct lode_stack_node *node = &merge->from->nodes[i];

	merge->map[i] = lode_stack_tree_child(merge->to, merge->map[node->parent], merge->frames[node->frame]);
	return merge->map[i] == LODE_NONE ? LODE_SYSTEM : 0;
}

static int merge_run(const struct node_merge *merge, size_t first, size_t end)
{
	const struct lode_stack_node *from = merge->from->nodes, *to;
	size_t i = first + 1, at;

	if (merge_node(merge, first) < 0)
		return LODE_SYSTEM;
	to = merge->to->nodes;
	for (at = merge->map[first] + 1; i < end && at < merge->to->count && to[at].parent + 1 == at &&
					 to[at].frame == merge->frames[from[i].frame];
	     i++, at++)
		merge->map[i] = (uint32_t)at;
	for (; i < end; i++)
		if (merge_node(merge, i) < 0)
			return LODE_SYSTEM;
	return 0;
}

/* A node that will be looked up, if its parent has a number by now: before `done` all have. */
static void prefetch(const struct node_merge *merge, size_t i, size_t done, int index)
{
	const struct lode_stack_node *node = &merge->from->nodes[i];

	if (i >= merge->from->count || node->parent >= done)
		return;
	if (index)
		lode_stack_tree_prefetch(merge->to, merge->map[node->parent], merge->frames[node->frame]);
	else
		lode_stack_tree_prefetch_node(merge->to, merge->map[node->parent], merge->frames[node->frame]);
}

static int merge_nodes(struct lode_stack_tree *to, const struct lode_stack_tree *from, const uint32_t *frames,
		       uint32_t *map)
{
	struct node_merge merge = { to, from, frames, map };
	size_t starts[AHEAD + 1], next = 0; /* of the runs to come */

	map[0] = 0;
	for (size_t k = 0; k <= AHEAD; k++) {
		starts[k] = k ? next : 1;
		next = starts[k] < from->count ? run_end(from, starts[k]) : from->count;
	}
	for (size_t turn = 0; starts[turn] < from->count; turn = (turn + 1) % (AHEAD + 1)) {
		size_t first = starts[turn], end = starts[(turn + 1) % (AHEAD + 1)];

		starts[turn] = next;
		next = next < from->count ? run_end(from, next) : from->count;
		prefetch(&merge, starts[turn], first, 1);
		prefetch(&merge, starts[(turn + 1 + AHEAD / 2) % (AHEAD + 1)], first, 0);
		if (merge_run(&merge, first, end) < 0)
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
