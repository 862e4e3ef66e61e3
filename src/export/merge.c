/*
 * Merge: see merge.h.
 *
 * Blocks of a type may overlap in time: a recording writes a wait when it is
 * over. A block is opened when the time comes to its first event, and the open
 * ones are a heap.
 */
#include "export/merge.h"

#include <stdlib.h>
#include <string.h>

/* ---- the heap of open blocks ---- */

static uint64_t time_of(const struct lode_merge_cursor *cursor)
{
	return cursor->events.t[cursor->at];
}

static int is_before(const struct lode_merge_cursor *a, const struct lode_merge_cursor *b)
{
	return time_of(a) != time_of(b) ? time_of(a) < time_of(b) : a->block < b->block;
}

static void swap(struct lode_merge_cursor *a, struct lode_merge_cursor *b)
{
	struct lode_merge_cursor kept = *a;

	*a = *b;
	*b = kept;
}

static void rise(struct lode_merge_cursor *open, size_t i)
{
	for (; i && is_before(&open[i], &open[(i - 1) / 2]); i = (i - 1) / 2)
		swap(&open[i], &open[(i - 1) / 2]);
}

static void sink(struct lode_merge_cursor *open, size_t count)
{
	size_t i = 0;

	for (;;) {
		size_t least = i;

		for (size_t child = 2 * i + 1; child <= 2 * i + 2 && child < count; child++)
			if (is_before(&open[child], &open[least]))
				least = child;
		if (least == i)
			return;
		swap(&open[i], &open[least]);
		i = least;
	}
}

/* ---- blocks ---- */

static int open_block(struct lode_merge *merge, struct lode_merge_type *type, size_t block,
		      struct lode_error *error)
{
	struct lode_merge_cursor cursor = { .block = block };
	int code = lode_store_events(merge->source->store, block, LODE_ALL_COLUMNS, &cursor.events, error);

	if (!code)
		code = lode_export_progress(merge->export, cursor.events.count, error);
	if (!code && cursor.events.count &&
	    lode_grow(&type->open, &type->open_capacity, type->open_count + 1, sizeof(cursor)) < 0)
		code = lode_fail_memory(error);
	if (code || !cursor.events.count) {
		lode_events_release(&cursor.events);
		return code;
	}
	type->open[type->open_count] = cursor;
	rise(type->open, type->open_count++);
	return 0;
}

/* Opens all blocks that may hold the next event. */
static int fill(struct lode_merge *merge, struct lode_merge_type *type, struct lode_error *error)
{
	int code = 0;

	while (!code && type->next < type->block_count) {
		size_t block = type->blocks[type->next];

		if (type->open_count && lode_store_block(merge->source->store, block)->first_t > time_of(type->open))
			break;
		code = open_block(merge, type, block, error);
		type->next++;
	}
	return code;
}

struct first {
	uint64_t t;
	size_t block;
};

static int compare_firsts(const void *left, const void *right)
{
	const struct first *a = left, *b = right;

	if (a->t != b->t)
		return a->t < b->t ? -1 : 1;
	return a->block < b->block ? -1 : a->block > b->block;
}

/* Lists the blocks of a type by their first time. */
static int list_blocks(struct lode_merge *merge, enum lode_event_type wanted)
{
	struct lode_merge_type *type = &merge->types[wanted];
	size_t all = lode_store_blocks(merge->source->store);
	struct first *firsts = lode_calloc(all + 1, sizeof(*firsts));

	type->blocks = lode_calloc(all + 1, sizeof(*type->blocks));
	if (!firsts || !type->blocks) {
		lode_free(firsts);
		return LODE_SYSTEM;
	}
	for (size_t i = 0; i < all; i++) {
		const struct lode_store_block *block = lode_store_block(merge->source->store, i);

		if (block->type == wanted)
			firsts[type->block_count++] = (struct first){ block->first_t, i };
	}
	qsort(firsts, type->block_count, sizeof(*firsts), compare_firsts);
	for (size_t i = 0; i < type->block_count; i++)
		type->blocks[i] = firsts[i].block;
	lode_free(firsts);
	return 0;
}

/* ---- the interface ---- */

int lode_merge_init(struct lode_merge *merge, struct lode_export *export, struct lode_export_stream *source,
		    struct lode_error *error)
{
	*merge = (struct lode_merge){ .export = export, .source = source };
	for (int type = 0; type < LODE_EVENT_TYPES; type++) {
		int code;

		if (!lode_export_wants(export, (enum lode_event_type)type))
			continue;
		if (list_blocks(merge, (enum lode_event_type)type) < 0)
			return lode_fail_memory(error);
		code = fill(merge, &merge->types[type], error);
		if (code < 0)
			return code;
	}
	return 0;
}

void lode_merge_release(struct lode_merge *merge)
{
	for (int i = 0; i < LODE_EVENT_TYPES; i++) {
		struct lode_merge_type *type = &merge->types[i];

		for (size_t j = 0; j < type->open_count; j++)
			lode_events_release(&type->open[j].events);
		lode_free(type->open);
		lode_free(type->blocks);
	}
	memset(merge, 0, sizeof(*merge));
}

/* The type whose next event is the earliest; LODE_EVENT_TYPES when there is none. */
static enum lode_event_type earliest(const struct lode_merge *merge)
{
	enum lode_event_type best = LODE_EVENT_TYPES;

	for (int type = 0; type < LODE_EVENT_TYPES; type++) {
		if (!merge->types[type].open_count)
			continue;
		if (best == LODE_EVENT_TYPES || time_of(merge->types[type].open) < time_of(merge->types[best].open))
			best = (enum lode_event_type)type;
	}
	return best;
}

/* Steps over the event that the heap's first cursor is at. */
static void step(struct lode_merge_type *type)
{
	struct lode_merge_cursor *first = type->open;

	if (++first->at >= first->events.count) {
		lode_events_release(&first->events);
		*first = type->open[--type->open_count];
	}
	sink(type->open, type->open_count);
}

int lode_merge_next(struct lode_merge *merge, enum lode_event_type *type, struct lode_event *event,
		    struct lode_error *error)
{
	struct lode_merge_type *from;
	int code;

	*type = earliest(merge);
	if (*type == LODE_EVENT_TYPES)
		return 0;
	from = &merge->types[*type];
	*event = lode_events_get(&from->open->events, from->open->at);
	step(from);
	code = fill(merge, from, error);
	return code < 0 ? code : 1;
}
