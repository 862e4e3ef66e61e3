/* Objects of waits in an area: see area_objects.h. */
#include "scope/area_objects.h"

#include "scope/where.h"

#include <string.h>

void lode_area_objects_release(struct lode_area_objects *objects)
{
	lode_free(objects->fits);
	lode_free(objects->nodes);
	memset(objects, 0, sizeof(*objects));
}

static int find_fitting(struct lode_area_objects *objects, const struct lode_stream *stream,
			const char *const *where)
{
	const struct lode_strings *strings = &stream->dictionary->frames.strings;

	objects->fits = lode_calloc(strings->count + 1, 1);
	if (!objects->fits)
		return LODE_SYSTEM;
	for (size_t i = 1; i < strings->count; i++)
		objects->fits[i] = lode_where_object_fits(where, lode_strings_get(strings, (uint32_t)i)) != 0;
	return 0;
}

uint32_t lode_area_named_stack(struct lode_dictionary *dictionary, const char *text)
{
	uint32_t frame = lode_frames_add(&dictionary->frames, 0, text, strlen(text));

	return frame == LODE_NONE ? LODE_NONE : lode_stack_tree_child(&dictionary->tree, 0, frame);
}

static int make_nodes(struct lode_area_objects *objects, const struct lode_events *waits,
		      struct lode_dictionary *dictionary)
{
	for (size_t i = 0; i < waits->count; i++) {
		uint32_t *node = &objects->nodes[waits->object[i]];
		const char *text = lode_strings_get(&dictionary->frames.strings, waits->object[i]);

		if (*node)
			continue;
		*node = lode_area_named_stack(dictionary, *text ? text : LODE_OBJECT_UNKNOWN_FRAME);
		if (*node == LODE_NONE)
			return LODE_SYSTEM;
	}
	return 0;
}

static int group(struct lode_area_objects *objects, const struct lode_store *store, struct lode_stream *stream,
		 struct lode_error *error)
{
	struct lode_events waits = { 0 };
	int code = 0;

	objects->nodes = lode_calloc(stream->dictionary->frames.strings.count + 1, sizeof(*objects->nodes));
	if (!objects->nodes)
		return lode_fail_memory(error);
	for (size_t i = 0; !code && i < lode_store_blocks(store); i++) {
		if (lode_store_block(store, i)->type != LODE_WAIT)
			continue;
		code = lode_store_events(store, i, LODE_OBJECT, &waits, error);
		if (!code && make_nodes(objects, &waits, stream->dictionary) < 0)
			code = lode_fail_memory(error);
	}
	lode_events_release(&waits);
	return code;
}

int lode_area_objects_make(struct lode_area_objects *objects, const struct lode_store *store,
			   struct lode_stream *stream, const struct lode_area_options *options,
			   struct lode_error *error)
{
	memset(objects, 0, sizeof(*objects));
	if (lode_where_has_objects(options->where) && find_fitting(objects, stream, options->where) < 0)
		return lode_fail_memory(error);
	return options->by == LODE_BY_OBJECT ? group(objects, store, stream, error) : 0;
}
