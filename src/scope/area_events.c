/*
 * From stacks back to events: see area.h. The streams are mapped again, one after
 * the other, with their events kept; so memory holds the area of one stream.
 */
#include "scope/area_stream.h"

#include <stdlib.h>
#include <string.h>

struct search {
	struct lode_area *area;
	enum lode_event_type kind;
	const uint8_t *wanted;
	int (*take)(void *context, const struct lode_area_event *event);
	void *context;
};

static int compare_kept(const void *a, const void *b)
{
	const struct lode_area_kept *left = a, *right = b;

	if (left->t != right->t)
		return left->t < right->t ? -1 : 1;
	return left->stack < right->stack ? -1 : left->stack > right->stack;
}

static int give(const struct search *search, const struct lode_area_partial *partial, uint32_t stream,
		const uint32_t *nodes)
{
	const struct lode_area_kept_list *kept = &partial->kept[search->kind];

	if (kept->count)
		qsort(kept->items, kept->count, sizeof(*kept->items), compare_kept);
	for (size_t i = 0; i < kept->count; i++) {
		const struct lode_area_kept *event = &kept->items[i];
		const struct lode_thread *thread = &partial->stream.threads[event->thread];
		int code;

		if (!search->wanted[nodes[event->stack]])
			continue;
		code = search->take(search->context,
				    &(struct lode_area_event){
					    .stream = stream,
					    .stack = nodes[event->stack],
					    .pid = thread->pid,
					    .tid = thread->tid,
					    .t = event->t,
					    .cost = event->cost,
					    .thread = lode_strings_get(&partial->dictionary.frames.strings,
								       thread->name),
				    });
		if (code)
			return code;
	}
	return 0;
}

static int search_stream(const struct search *search, const struct lode_area_plan *plan,
			 const struct lode_corpus_entry *entry, uint32_t stream, struct lode_error *error)
{
	struct lode_area_partial partial;
	struct lode_dictionary_map map = { 0 };
	int code = lode_area_stream_if_readable(plan, entry, &partial, error);

	if (!code && partial.unread) { /* what was kept of it is in the area */
		lode_notes_add(plan->options->notes, 1,
			       "streams whose events are not shown, because their files are damaged or missing",
			       partial.reason);
		lode_area_partial_release(&partial);
		return 0;
	}
	/* All of it is in the area's dictionary already, so merging adds nothing and only translates. */
	if (!code && lode_dictionary_merge(&search->area->dictionary, &partial.dictionary, &map) < 0)
		code = lode_fail_memory(error);
	if (!code)
		code = give(search, &partial, stream, map.nodes);
	lode_dictionary_map_release(&map);
	lode_area_partial_release(&partial);
	return code;
}

/* Which streams have a marked stack at all. NULL when memory has run out. */
static uint8_t *streams_with(const struct search *search)
{
	const struct lode_area_rows *rows = &search->area->rows[search->kind];
	uint8_t *with = lode_calloc(search->area->stream_count + 1, 1);

	for (size_t i = 0; with && i < rows->count; i++)
		with[rows->items[i].stream] |= search->wanted[rows->items[i].stack];
	return with;
}

static int search_all(const struct search *search, const struct lode_area_plan *plan,
		      const struct lode_corpus_list *list, struct lode_error *error)
{
	uint8_t *with = streams_with(search);
	uint32_t stream = 0;
	int code = with ? 0 : lode_fail_memory(error);

	for (size_t i = 0; !code && i < list->count && stream < search->area->stream_count; i++) {
		if (strcmp(list->items[i].id, search->area->streams[stream].id))
			continue; /* --where left it out */
		if (with[stream])
			code = search_stream(search, plan, &list->items[i], stream, error);
		stream++;
	}
	lode_free(with);
	return code;
}

int lode_area_events(struct lode_corpus *corpus, const struct lode_area_options *options, struct lode_area *area,
		     enum lode_event_type kind, const uint8_t *wanted,
		     int (*take)(void *context, const struct lode_area_event *event), void *context,
		     struct lode_error *error)
{
	struct search search = { area, kind, wanted, take, context };
	struct lode_area_plan plan = { 0 };
	struct lode_corpus_list list = { 0 };
	int code = lode_corpus_streams(corpus, &list, error);

	if (!code)
		code = lode_area_plan_make(&plan, options, &list, error);
	plan.keep = 1;
	if (!code)
		code = search_all(&search, &plan, &list, error);
	lode_area_plan_release(&plan);
	lode_corpus_list_release(&list);
	return code;
}
