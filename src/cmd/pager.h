/*
 * Pager: results that do not fit on the screen.
 */
#ifndef LODE_CMD_PAGER_H
#define LODE_CMD_PAGER_H

#include <stddef.h>

/*
 * Shows `size` bytes in $LODE_PAGER, $PAGER or less, and returns when the person
 * has left it: 1. 0 when there is no pager to be had, and nothing was shown.
 */
int lode_pager_show(const char *bytes, size_t size);

#endif
