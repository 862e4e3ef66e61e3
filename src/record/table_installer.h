/*
 * Table installer: puts maps into the map of maps that holds unwind tables. The kernel
 * makes such a table usable at once, but lets the caller wait some ten milliseconds until
 * no program can use what was there before; a thread of its own does that waiting.
 */
#ifndef LODE_RECORD_TABLE_INSTALLER_H
#define LODE_RECORD_TABLE_INSTALLER_H

#include <stdint.h>

struct lode_table_installer;

/* `tables`: the map of maps, which must stay open. NULL when memory has run out. */
struct lode_table_installer *lode_table_installer_create(int tables);
/* Puts the map `fd`, which it closes, at `place` soon; where there is no thread for it, before this returns. */
void lode_table_installer_add(struct lode_table_installer *installer, uint32_t place, int fd);
/* Returns when all are in place. */
void lode_table_installer_destroy(struct lode_table_installer *installer);

#endif
