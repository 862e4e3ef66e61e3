/* The part of a function that the compiler moved elsewhere because it rarely runs, in a binary without symbols for it. */
#ifndef LODE_SYMBOLS_COLD_PART_H
#define LODE_SYMBOLS_COLD_PART_H

#include "symbols/cfi.h"

/* Whether a function of .eh_frame begins in the middle of the frame of another one: it is a cold part. */
int lode_cfi_is_cold(const struct lode_cfi_function *function);
/*
 * The cold part of the function from `start` to `end`: the one that it jumps to most. Sets *cold_start and *cold_end and returns 1; 0: it
 * has none. LODE_SYSTEM when memory ran out.
 */
int lode_elf_cold_part(const struct lode_elf *elf, uint64_t start, uint64_t end, uint64_t *cold_start,
		       uint64_t *cold_end);

#endif
