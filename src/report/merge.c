/* Merge: see merge.h. */
#include "report/merge.h"

#include <stdlib.h>
#include <string.h>

/* Reads blocks until the cursor stands on an event or its type has no more. */
static int fill(struct lode_merge *merge, enum lode_event_type type, struct lode_error *error)
{
	struct lode_merge_cursor *cursor = &merge->cursors[type];
	struct lode_store *store = merge->source->store;

	while (cursor->at >= cursor->events.count && cursor->block < lode_store_blocks(store)) {
		size_t i = cursor->block++;
		int code;

		if (lode_store_block(store, i)->type != type)
			continue;
		cursor->at = 0;
		code = lode_store_events(store, i, LODE_ALL_COLUMNS, &cursor->events, error);
		if (code == 0)
			code = lode_export_tell(merge->export, cursor->events.count, error);
		if (code < 0)
			return code;
	}
	return 0;
}

int lode_merge_init(struct lode_merge *merge, struct lode_export *export, struct lode_export_stream *source,
		    int (*compare)(const void *a, const void *b, void *context), void *context,
		    struct lode_error *error)
{
	*merge = (struct lode_merge){
		.export = export,
		.source = source,
		.compare = compare,
		.context = context,
	};
	for (int type = 0; type < LODE_EVENT_TYPES; type++) {
		int code = 0;

		if (lode_export_wants(export, (enum lode_event_type)type))
			code = fill(merge, (enum lode_event_type)type, error);
		if (code < 0)
			return code;
	}
	return 0;
}

void lode_merge_release(struct lode_merge *merge)
{
	for (int type = 0; type < LODE_EVENT_TYPES; type++)
		lode_events_release(&merge->cursors[type].events);
	lode_free(merge->group);
	memset(merge, 0, sizeof(*merge));
}

/* The type whose next event is the earliest; LODE_EVENT_TYPES when there is none. */
static enum lode_event_type earliest(const struct lode_merge *merge)
{
	enum lode_event_type best = LODE_EVENT_TYPES;
	uint64_t best_t = 0;

	for (int type = 0; type < LODE_EVENT_TYPES; type++) {
		const struct lode_merge_cursor *cursor = &merge->cursors[type];

		if (cursor->at >= cursor->events.count)
			continue;
		if (best == LODE_EVENT_TYPES || cursor->events.t[cursor->at] < best_t) {
			best = (enum lode_event_type)type;
			best_t = cursor->events.t[cursor->at];
		}
	}
	return best;
}

static int gather_group(struct lode_merge *merge, enum lode_event_type type, struct lode_error *error)
{
	struct lode_merge_cursor *cursor = &merge->cursors[type];
	uint64_t t = cursor->events.t[cursor->at];

	merge->group_type = type;
	merge->group_count = 0;
	merge->group_at = 0;
	while (cursor->at < cursor->events.count && cursor->events.t[cursor->at] == t) {
		int code;

		if (lode_grow(&merge->group, &merge->group_capacity, merge->group_count + 1,
			      sizeof(*merge->group)) < 0)
			return lode_fail_memory(error);
		merge->group[merge->group_count++] = lode_events_get(&cursor->events, cursor->at++);
		code = fill(merge, type, error);
		if (code < 0)
			return code;
	}
	qsort_r(merge->group, merge->group_count, sizeof(*merge->group), merge->compare, merge->context);
	return 0;
}

int lode_merge_next(struct lode_merge *merge, enum lode_event_type *type, struct lode_event *event,
		    struct lode_error *error)
{
	struct lode_merge_cursor *cursor;
	int code;

	if (merge->group_at < merge->group_count)
		goto from_group;
	*type = earliest(merge);
	if (*type == LODE_EVENT_TYPES)
		return 0;
	cursor = &merge->cursors[*type];
	/* Nearly every event is alone in its time: no group is made for it. */
	if (cursor->at + 1 < cursor->events.count &&
	    cursor->events.t[cursor->at] != cursor->events.t[cursor->at + 1]) {
		*event = lode_events_get(&cursor->events, cursor->at++);
		return 1;
	}
	code = gather_group(merge, *type, error);
	if (code < 0)
		return code;
from_group:
	*type = merge->group_type;
	*event = merge->group[merge->group_at++];
	return 1;
}
