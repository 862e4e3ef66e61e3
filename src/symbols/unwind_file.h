/*
 * Unwind tables as a file. Private to unwind_table.c, which lays them out so in memory, and
 * unwind_cache.c.
 *
 * The cache file is what the table is in memory:
 *
 *	offset  size  what
 *	0       8     "LODEUNWD", read as a number: another byte order is another magic
 *	8       4     version
 *	12      4     machine (e_machine)
 *	16      8     checksum: XXH3 of all bytes from 24 on
 *	24      8     size of the file
 *	32      8     image address of row 0's count
 *	40      8     number of rows    N
 *	48      8     number of rules   R
 *	56      8     number of loads   L
 *	64      8     rules that were dropped
 *	72      16*R  rules (unwind_rule.h)
 *	        32*L  loads: offset, size, address, executable
 *	        4*N   starts
 *	        2*N   rule numbers
 *
 * Only files with a build-id are cached, under that: it names their content. A hostile
 * cache file can have a correct checksum, so every number is checked where it is used.
 */
#ifndef LODE_SYMBOLS_UNWIND_FILE_H
#define LODE_SYMBOLS_UNWIND_FILE_H

#include "symbols/unwind_rule.h"

#include <stdint.h>

#define LODE_UNWIND_VERSION      5u
#define LODE_UNWIND_MAGIC        0x444e575545444f4cull /* "LODEUNWD" where the low byte comes first */
#define LODE_UNWIND_CHECKED_FROM 24

/* Rows a table may have; more means a corrupt file. */
#define LODE_UNWIND_ROWS_LIMIT  (64u << 20)
#define LODE_UNWIND_LOADS_LIMIT 64

struct lode_unwind_file_header {
	uint64_t magic;
	uint32_t version;
	uint32_t machine;
	uint64_t checksum;
	uint64_t size;
	uint64_t base;
	uint64_t rows;
	uint64_t rules;
	uint64_t loads;
	uint64_t dropped;
};

_Static_assert(sizeof(struct lode_unwind_file_header) == 72, "the header has no holes");
_Static_assert(sizeof(struct lode_unwind_rule) == 16, "a rule has no holes");

#endif
