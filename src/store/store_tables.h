/*
 * Which columns each kind of block has: the one table that both the writer and
 * the reader follow. Private to the store. The numbers are part of the format.
 */
#ifndef LODE_STORE_STORE_TABLES_H
#define LODE_STORE_STORE_TABLES_H

#include "store/store_format.h"

#define LODE_TABLE_COLUMNS 13

struct lode_table_column {
	unsigned width;    /* bytes of a value in memory; 0: no such column */
	unsigned plus_one; /* see store_codec.h */
};

/* Columns of a kind of block, by number; unused ones have width 0. */
const struct lode_table_column *lode_table_columns(enum lode_block_kind kind);
/* How many there are. */
unsigned lode_table_column_count(enum lode_block_kind kind);
/*
 * A bit for each that may be missing: all its values are what they usually are then, weights 1, totals of threads 0,
 * objects, holders and contexts unknown, languages what the names of modules suggest.
 */
unsigned lode_table_optional(enum lode_block_kind kind);

/* Column numbers. */
enum { LODE_STRINGS_LENGTH, LODE_STRINGS_BYTES };
enum { LODE_MODULES_NAME, LODE_MODULES_PATH, LODE_MODULES_BUILD_ID, LODE_MODULES_KIND, LODE_MODULES_LANGUAGE };
enum { LODE_FRAMES_MODULE, LODE_FRAMES_FUNCTION };
enum { LODE_NODES_PARENT, LODE_NODES_FRAME };
enum {
	LODE_THREADS_PID,
	LODE_THREADS_TID,
	LODE_THREADS_NAME,
	LODE_THREADS_WAITS, /* these only where some are known, then all of them */
	LODE_THREADS_PREEMPTIONS,
	LODE_THREADS_WAITED,
	LODE_THREADS_RUN,
	LODE_THREADS_QUEUED,
};
enum { LODE_HEAD_NAME, LODE_HEAD_HOST };
enum { LODE_ATTRIBUTES_KEY, LODE_ATTRIBUTES_VALUE, LODE_ATTRIBUTES_TYPE };
enum { LODE_SYMPTOMS_THREAD, LODE_SYMPTOMS_NAME, LODE_SYMPTOMS_T0, LODE_SYMPTOMS_T1 };
enum {
	LODE_EVENTS_T,
	LODE_EVENTS_COST,
	LODE_EVENTS_DELAY,
	LODE_EVENTS_THREAD,
	LODE_EVENTS_STACK,
	LODE_EVENTS_WAKER,
	LODE_EVENTS_WAKER_STACK,
	LODE_EVENTS_NAME,
	LODE_EVENTS_CPU,
	LODE_EVENTS_WEIGHT, /* only where one is not 1 */
	LODE_EVENTS_OBJECT, /* these only where one is known */
	LODE_EVENTS_HOLDER,
	LODE_EVENTS_CONTEXT,
};
enum {
	LODE_FOOTER_OFFSET,
	LODE_FOOTER_KIND,
	LODE_FOOTER_TYPE,
	LODE_FOOTER_ROWS,
	LODE_FOOTER_FIRST,
	LODE_FOOTER_LAST
};

#endif
