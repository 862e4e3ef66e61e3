/*
 * Merge: the events of a stream, of all types, one by one in order of time. At the
 * same time runs come before waits and waits before calls; events of one type
 * and time keep their order. Memory: the blocks that hold the time it has come
 * to; in a stream that was imported that is one of each type, in one that was
 * recorded two.
 */
#ifndef LODE_EXPORT_MERGE_H
#define LODE_EXPORT_MERGE_H

#include "base/ordered_merge.h"
#include "export/export.h"

/* An open block: the next event is `at`. */
struct lode_merge_cursor {
	struct lode_events events;
	size_t at;
};

/* One type of event. */
struct lode_merge_type {
	uint32_t *blocks; /* by their first time */
	size_t block_count;
	size_t next;                    /* the next one to open */
	struct lode_ordered_merge open; /* blocks, by the times of their next events */
};

struct lode_merge {
	struct lode_export *export;
	struct lode_export_stream *source;
	struct lode_merge_type types[LODE_EVENT_TYPES];
	struct lode_merge_cursor **cursors; /* by block; NULL where it is not open */
	size_t block_count;
};

/* Afterwards the caller releases it, also when this fails. */
int lode_merge_init(struct lode_merge *merge, struct lode_export *export, struct lode_export_stream *source,
		    struct lode_error *error);
void lode_merge_release(struct lode_merge *merge);
/* The next event; 1, 0 at the end, or a negative code. */
int lode_merge_next(struct lode_merge *merge, enum lode_event_type *type, struct lode_event *event,
		    struct lode_error *error);

#endif
