/*
 * Loops and the lengths of their requests (requests.h) over many streams. Lengths are kept, so quantiles are exact: 8 bytes
 * a request.
 */
#ifndef LODE_SCOPE_REQUEST_TABLE_H
#define LODE_SCOPE_REQUEST_TABLE_H

#include "base/strings.h"
#include "scope/requests.h"

/* The requests of one loop; names are strings of the table. */
struct lode_loop {
	uint32_t process; /* 0: unknown */
	uint32_t thread;
	uint32_t frame; /* where it waits, `module!function` */
	uint64_t *lengths;
	size_t count;
	size_t capacity;
	uint64_t time;    /* sum of lengths */
	uint64_t longest; /* of equal ones the first: */
	uint64_t longest_t;
	uint32_t longest_tid;
	uint32_t longest_stream; /* number that the caller gave it */
};

struct lode_loop_table {
	struct lode_strings names;
	struct lode_loop *items;
	size_t count;
	size_t capacity;
	struct lode_index index;
};

/* Release it even if this fails. */
int lode_loop_table_init(struct lode_loop_table *table);
void lode_loop_table_release(struct lode_loop_table *table);
/* Adds the requests of a stream, called `number` from now on. Returns 0 or LODE_SYSTEM. */
int lode_loop_table_add(struct lode_loop_table *table, const struct lode_stream *stream, uint32_t number,
			const struct lode_requests *requests);
/* Adds all of `more`. */
int lode_loop_table_merge(struct lode_loop_table *table, const struct lode_loop_table *more);
/* Loops with the most time first, and lengths sorted; nothing may be added afterwards. */
void lode_loop_table_sort(struct lode_loop_table *table);
/* The length that `percent` (1 to 100) of the requests do not exceed; of a sorted table. */
uint64_t lode_loop_quantile(const struct lode_loop *loop, unsigned percent);

#endif
