/* Contexts of events in an area: see area_contexts.h. */
#include "scope/area_contexts.h"

#include "scope/area_objects.h"
#include "scope/where.h"

#include <string.h>

void lode_area_contexts_release(struct lode_area_contexts *contexts)
{
	lode_free(contexts->fits);
	lode_free(contexts->nodes);
	memset(contexts, 0, sizeof(*contexts));
}

static int find_fitting(struct lode_area_contexts *contexts, const struct lode_strings *strings,
			const char *const *where)
{
	contexts->fits = lode_calloc(strings->count + 1, 1);
	if (!contexts->fits)
		return LODE_SYSTEM;
	for (size_t i = 1; i < strings->count; i++)
		contexts->fits[i] = lode_where_context_fits(where, lode_strings_get(strings, (uint32_t)i)) != 0;
	return 0;
}

static int make_nodes(struct lode_area_contexts *contexts, const struct lode_events *events,
		      struct lode_dictionary *dictionary)
{
	for (size_t i = 0; i < events->count; i++) {
		uint32_t *node = &contexts->nodes[events->context[i]];

		if (*node)
			continue;
		*node = lode_area_named_stack(dictionary, events->context[i]
								  ? lode_strings_get(&dictionary->frames.strings,
										     events->context[i])
								  : LODE_CONTEXT_NONE_FRAME);
		if (*node == LODE_NONE)
			return LODE_SYSTEM;
	}
	return 0;
}

static int group(struct lode_area_contexts *contexts, const struct lode_store *store, struct lode_stream *stream,
		 struct lode_error *error)
{
	struct lode_events events = { 0 };
	int code = 0;

	contexts->nodes = lode_calloc(stream->dictionary->frames.strings.count + 1, sizeof(*contexts->nodes));
	if (!contexts->nodes)
		return lode_fail_memory(error);
	for (size_t i = 0; !code && i < lode_store_blocks(store); i++) {
		code = lode_store_events(store, i, LODE_CONTEXT, &events, error);
		if (!code && make_nodes(contexts, &events, stream->dictionary) < 0)
			code = lode_fail_memory(error);
	}
	lode_events_release(&events);
	return code;
}

int lode_area_contexts_make(struct lode_area_contexts *contexts, const struct lode_store *store,
			    struct lode_stream *stream, const struct lode_area_options *options,
			    struct lode_error *error)
{
	memset(contexts, 0, sizeof(*contexts));
	if (lode_where_has_contexts(options->where) &&
	    find_fitting(contexts, &stream->dictionary->frames.strings, options->where) < 0)
		return lode_fail_memory(error);
	return options->by == LODE_BY_CONTEXT ? group(contexts, store, stream, error) : 0;
}
