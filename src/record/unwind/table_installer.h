/*
 * Table installer: puts unwind tables into the kernel, as maps in a map of maps. Filling
 * the map of a large table takes a while; and although the kernel makes a map usable
 * immediately, the caller has to wait some ten milliseconds until no program can use the
 * previous one. A separate thread does both.
 */
#ifndef LODE_RECORD_UNWIND_TABLE_INSTALLER_H
#define LODE_RECORD_UNWIND_TABLE_INSTALLER_H

#include "symbols/unwind_table.h"

struct lode_table_installer;

/* `tables`: the map of maps, which must stay open. NULL when memory has run out. */
struct lode_table_installer *lode_table_installer_create(int tables);
/*
 * Puts a table at `place` soon; where there is no thread for it, before this returns. What
 * the table points to must be there until the installer is destroyed, or the table removed. `numbers`, which it frees, are those of the
 * table's rules in the kernel.
 */
void lode_table_installer_add(struct lode_table_installer *installer, uint32_t place,
			      const struct lode_unwind_table *table, uint16_t *numbers);
/*
 * Removes the table at `place`, to which nothing in the kernel refers any more, and releases it: takes it over. Then the place is free. Returns
 * 0, or LODE_SYSTEM when memory has run out, and the table stays.
 */
int lode_table_installer_remove(struct lode_table_installer *installer, uint32_t place,
				const struct lode_unwind_table *table);
/* A place that was freed, which is the caller's now; 0: none. */
uint32_t lode_table_installer_free_place(struct lode_table_installer *installer);
/* Tables that the kernel did not take, so far: stacks that need them stay copies. */
uint64_t lode_table_installer_refused(struct lode_table_installer *installer);
/* Returns when all are in place. */
void lode_table_installer_destroy(struct lode_table_installer *installer);

#endif
