/*
 * Merging sources of events, each in order of time, into one row: a heap of the times of their next events. Of events at
 * the same time that of the source with the smaller number comes first.
 */
#ifndef LODE_IMPORT_TIME_MERGE_H
#define LODE_IMPORT_TIME_MERGE_H

#include <stddef.h>
#include <stdint.h>

struct lode_time_merge_item {
	uint64_t t;
	uint32_t source;
};

struct lode_time_merge {
	struct lode_time_merge_item *items; /* the earliest first */
	size_t count;
	size_t capacity;
};

/* A zeroed struct has no sources. */
void lode_time_merge_release(struct lode_time_merge *merge);
/* Adds a source whose next event is at `t`. Returns 0 or LODE_SYSTEM. */
int lode_time_merge_add(struct lode_time_merge *merge, uint32_t source, uint64_t t);
/* The next event of the first source is at `t` now. */
void lode_time_merge_advance(struct lode_time_merge *merge, uint64_t t);
/* The first source has no more events. */
void lode_time_merge_remove(struct lode_time_merge *merge);

#endif
