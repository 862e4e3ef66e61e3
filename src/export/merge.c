/*
 * Merge: see merge.h.
 *
 * Blocks of a type may overlap in time: a recording writes a wait when it is
 * over. A block is opened when the time comes to its first event.
 */
#include "export/merge.h"

#include <stdlib.h>
#include <string.h>

/* ---- blocks ---- */

static void close_block(struct lode_merge *merge, size_t block)
{
	if (merge->cursors[block])
		lode_events_release(&merge->cursors[block]->events);
	lode_free(merge->cursors[block]);
	merge->cursors[block] = NULL;
}

static int open_block(struct lode_merge *merge, struct lode_merge_type *type, uint32_t block,
		      struct lode_error *error)
{
	struct lode_merge_cursor *cursor = merge->cursors[block] = lode_calloc(1, sizeof(*cursor));
	int code = cursor ? lode_export_read_block(merge->source, block, LODE_ALL_COLUMNS, &cursor->events, error)
			  : lode_fail_memory(error);

	if (!code)
		code = lode_export_progress(merge->export, cursor->events.count, error);
	if (!code && cursor->events.count && lode_ordered_merge_add(&type->open, block, cursor->events.t[0]) < 0)
		code = lode_fail_memory(error);
	if (code || !cursor->events.count)
		close_block(merge, block);
	return code;
}

/* Opens all blocks that may hold the next event. */
static int fill(struct lode_merge *merge, struct lode_merge_type *type, struct lode_error *error)
{
	int code = 0;

	while (!code && type->next < type->block_count) {
		uint32_t block = type->blocks[type->next];

		if (type->open.count &&
		    lode_store_block(merge->source->store, block)->first_t > type->open.sources[0].key)
			break;
		code = open_block(merge, type, block, error);
		type->next++;
	}
	return code;
}

struct first {
	uint64_t t;
	uint32_t block;
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
	size_t all = merge->block_count;
	struct first *firsts = lode_calloc(all + 1, sizeof(*firsts));

	type->blocks = lode_calloc(all + 1, sizeof(*type->blocks));
	if (!firsts || !type->blocks) {
		lode_free(firsts);
		return LODE_SYSTEM;
	}
	for (size_t i = 0; i < all; i++) {
		const struct lode_store_block *block = lode_store_block(merge->source->store, i);

		if (block->type == wanted)
			firsts[type->block_count++] = (struct first){ block->first_t, (uint32_t)i };
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
	*merge = (struct lode_merge){ .export = export,
				      .source = source,
				      .block_count = lode_store_blocks(source->store) };
	merge->cursors = lode_calloc(merge->block_count + 1, sizeof(*merge->cursors));
	if (!merge->cursors || merge->block_count >= LODE_NONE)
		return lode_fail_memory(error);
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
	for (size_t block = 0; merge->cursors && block < merge->block_count; block++)
		close_block(merge, block);
	lode_free(merge->cursors);
	for (int i = 0; i < LODE_EVENT_TYPES; i++) {
		lode_ordered_merge_release(&merge->types[i].open);
		lode_free(merge->types[i].blocks);
	}
	memset(merge, 0, sizeof(*merge));
}

/* The type whose next event is the earliest; LODE_EVENT_TYPES when there is none. */
static enum lode_event_type earliest(const struct lode_merge *merge)
{
	enum lode_event_type best = LODE_EVENT_TYPES;
	uint64_t t = 0;

	for (int type = 0; type < LODE_EVENT_TYPES; type++) {
		const struct lode_ordered_merge *open = &merge->types[type].open;

		if (open->count && (best == LODE_EVENT_TYPES || open->sources[0].key < t)) {
			best = (enum lode_event_type)type;
			t = open->sources[0].key;
		}
	}
	return best;
}

int lode_merge_next(struct lode_merge *merge, enum lode_event_type *type, struct lode_event *event,
		    struct lode_error *error)
{
	struct lode_merge_type *from;
	struct lode_merge_cursor *cursor;
	uint32_t block;
	int code;

	*type = earliest(merge);
	if (*type == LODE_EVENT_TYPES)
		return 0;
	from = &merge->types[*type];
	block = from->open.sources[0].number;
	cursor = merge->cursors[block];
	*event = lode_events_get(&cursor->events, cursor->at);
	if (++cursor->at < cursor->events.count) {
		lode_ordered_merge_advance(&from->open, cursor->events.t[cursor->at]);
	} else {
		lode_ordered_merge_remove(&from->open);
		close_block(merge, block);
	}
	code = fill(merge, from, error);
	return code < 0 ? code : 1;
}
