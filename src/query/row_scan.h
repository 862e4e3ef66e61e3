/*
 * The rows of `events` or `sums` that a filter lets through, a block at a time, and of these only the
 * columns that are needed. Private to src/query/.
 */
#ifndef LODE_QUERY_ROW_SCAN_H
#define LODE_QUERY_ROW_SCAN_H

#include "query/row_filter.h"

/* Columns of some rows; those that are not needed are NULL. */
struct lode_rows {
	size_t count;
	struct lode_events events; /* its arrays; of sums: thread, stack, cost */
	uint64_t *n;               /* of sums */
	uint32_t stream;           /* of all rows, unless there is an array */
	uint32_t *streams;
	uint8_t type; /* the same */
	uint8_t *types;
};

static inline uint32_t lode_rows_stream(const struct lode_rows *rows, size_t i)
{
	return rows->streams ? rows->streams[i] : rows->stream;
}

static inline uint8_t lode_rows_type(const struct lode_rows *rows, size_t i)
{
	return rows->types ? rows->types[i] : rows->type;
}

/* Blocks that a join may come back to are kept unpacked. */
#define LODE_SCAN_BLOCKS 16

/* Rows of a stream are numbered in so many bits. */
#define LODE_SCAN_ID_BITS 40

struct lode_scan_block {
	size_t stream;
	size_t block;
	uint64_t used; /* when it was used last; 0: never */
	unsigned columns;
	struct lode_events events;
};

struct lode_row_scan {
	struct lode_query_data *data;
	const struct lode_row_filter *filter;
	int of_sums;
	unsigned columns;            /* of events */
	enum lode_query_level level; /* that they need */
	size_t stream;               /* the current one */
	size_t block;                /* the next one of it */
	uint64_t before;             /* rows of the stream before the current block, */
	uint64_t behind;             /* and up to its end */
	int in_stream;
	int keep_blocks; /* set by the caller: it will be started again, and come by the same blocks */
	uint64_t uses;
	struct lode_scan_block blocks[LODE_SCAN_BLOCKS];
	uint8_t *thread_fits; /* by thread of the stream; NULL: all do */
	uint8_t *stack_fits;  /* by node; NULL: all do */
	/* The block that was found: its rows from `first` to before `end`, or, where there are picks, these of them. */
	struct lode_rows rows;
	size_t first, end;
	const uint32_t *picks;
	size_t pick_count;
	uint32_t *pick_room;
	size_t pick_capacity;
};

/* A zeroed scan is released. */
void lode_row_scan_release(struct lode_row_scan *scan);
/*
 * Begins from the first row. `fields` has a bit for each enum lode_row_field that will be read; streams are loaded as far as
 * `later` needs, too, the fields that another scan of the same rows will read. Then both leave out the same streams.
 */
int lode_row_scan_start(struct lode_row_scan *scan, struct lode_query_data *data,
			const struct lode_row_filter *filter, int of_sums, unsigned fields, unsigned later);
/* Finds the next block that has rows. Returns 1, 0 behind the last, or a negative code with the sentence in the data. */
int lode_row_scan_next(struct lode_row_scan *scan);
/* How many rows it has found, and which the i-th of them is. */
static inline size_t lode_row_scan_count(const struct lode_row_scan *scan)
{
	return scan->picks ? scan->pick_count : scan->end - scan->first;
}

static inline size_t lode_row_scan_at(const struct lode_row_scan *scan, size_t i)
{
	return scan->picks ? scan->picks[i] : scan->first + i;
}

/* The same row has the same number in every scan, and no two have one. */
static inline int64_t lode_row_scan_id(const struct lode_row_scan *scan, size_t row)
{
	return (int64_t)((uint64_t)scan->rows.stream << LODE_SCAN_ID_BITS | (scan->before + row));
}

#endif
