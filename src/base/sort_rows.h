/*
 * Sorting of rows by a number that each begins with. Rows with equal numbers keep their order.
 */
#ifndef LODE_BASE_SORT_ROWS_H
#define LODE_BASE_SORT_ROWS_H

#include <stddef.h>

/*
 * Replaces `*rows`, a block of `count` rows of `size` bytes, by a sorted one with room for as many. A row begins with
 * a uint32_t below `keys`. At most `run` rows are touched in random order at a time, which is for rows that may
 * be outside of memory; 0: all. Returns 0, or LODE_SYSTEM with everything as it was.
 */
int lode_sort_rows(void *rows, size_t count, size_t size, size_t keys, size_t run);
/* Rows of `size` bytes that fit into memory, under a limit (spill.h), while they are sorted; 0: there is no limit. */
size_t lode_sort_rows_run(size_t size);

#endif
