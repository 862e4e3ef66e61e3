/* Merge: see merge.h. */
#include "report/merge.h"

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
		    struct lode_error *error)
{
	*merge = (struct lode_merge){ .export = export, .source = source };
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

int lode_merge_next(struct lode_merge *merge, enum lode_event_type *type, struct lode_event *event,
		    struct lode_error *error)
{
	struct lode_merge_cursor *cursor;
	int code;

	*type = earliest(merge);
	if (*type == LODE_EVENT_TYPES)
		return 0;
	cursor = &merge->cursors[*type];
	*event = lode_events_get(&cursor->events, cursor->at++);
	code = fill(merge, *type, error);
	return code < 0 ? code : 1;
}
