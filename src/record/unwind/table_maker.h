/*
 * Table maker: makes the unwind tables of binaries on a separate thread. That takes
 * tenths of a second for a large binary, and the reader of the kernel's rings must
 * continue meanwhile.
 */
#ifndef LODE_RECORD_UNWIND_TABLE_MAKER_H
#define LODE_RECORD_UNWIND_TABLE_MAKER_H

#include "symbols/unwind_table.h"

struct lode_table_maker;

/*
 * `meanwhile` is called again and again, by the thread that waits for a table. NULL when
 * memory has run out.
 */
struct lode_table_maker *lode_table_maker_create(void (*meanwhile)(void *context), void *context);
void lode_table_maker_destroy(struct lode_table_maker *maker);
/*
 * As lode_unwind_table_open without debug files, for a lode_table_maker as `maker`. One
 * thread at a time may call it. Where there is no thread to make it, the caller does.
 */
int lode_table_maker_open(void *maker, struct lode_unwind_table *table, const char *path, const char *build_id,
			  const char *cache);

#endif
