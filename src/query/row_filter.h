/*
 * Which rows of `events` and `sums` a statement wants, as far as SQLite says so beforehand: by
 * stream, type, thread, time, cost and stack. Private to src/query/.
 */
#ifndef LODE_QUERY_ROW_FILTER_H
#define LODE_QUERY_ROW_FILTER_H

#include "query/query_data.h"

/* What a column of these tables holds. */
enum lode_row_field {
	LODE_ROW_STREAM,
	LODE_ROW_TYPE,
	LODE_ROW_T,
	LODE_ROW_COST,
	LODE_ROW_THREAD,
	LODE_ROW_STACK,
	LODE_ROW_DELAY,
	LODE_ROW_WAKER,
	LODE_ROW_WAKER_STACK,
	LODE_ROW_NAME,
	LODE_ROW_CPU,
	LODE_ROW_WEIGHT,
	LODE_ROW_OBJECT,
	LODE_ROW_HOLDER,
	LODE_ROW_CONTEXT,
	LODE_ROW_N,
	LODE_ROW_UNTIL,
	LODE_ROW_TID,
	LODE_ROW_PID,
};

/* Numbers from `low` to `high`; empty where low > high. */
struct lode_row_range {
	int64_t low;
	int64_t high;
};

/* Numbers that a column must be one of. */
struct lode_row_set {
	int is_given;
	LODE_ARRAY(int64_t) numbers; /* ascending */
};

#define LODE_ROW_GLOBS 8

struct lode_row_filter {
	unsigned types; /* 1 << enum lode_event_type */
	struct lode_row_range t, cost;
	struct lode_row_set stream_set, thread_set, stack_set;
	char *globs[LODE_ROW_GLOBS]; /* a stack must have a frame of each */
	size_t glob_count;
};

/* Lets all rows through. */
void lode_row_filter_init(struct lode_row_filter *filter);
void lode_row_filter_release(struct lode_row_filter *filter);

/*
 * Adds a constraint of SQLite: `op` is one of SQLITE_INDEX_CONSTRAINT_EQ, GT, GE, LT, LE, or FUNCTION for a glob;
 * with `list` the value is the right side of an IN. Returns 0 or LODE_SYSTEM.
 */
int lode_row_filter_add(struct lode_row_filter *filter, enum lode_row_field field, int op, int list,
			sqlite3_value *value);

/* Whether rows of this stream may be wanted. */
int lode_row_filter_has_stream(const struct lode_row_filter *filter, const struct lode_query_data *data,
			       size_t stream);
int lode_row_set_has(const struct lode_row_set *set, int64_t number);

static inline int lode_row_in_range(const struct lode_row_range *range, uint64_t number)
{
	int64_t shown = lode_query_number(number);

	return shown >= range->low && shown <= range->high;
}

#endif
