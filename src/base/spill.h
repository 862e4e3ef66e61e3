/*
 * A limit on the memory of this process (--memory), and where large blocks go when it is reached: to
 * a scratch file (scratch.h), mapped into memory, that the kernel writes and reads as blocks are used.
 * Results do not depend on it. What is smaller than a 256th of the limit (at most 1 MiB) stays in memory.
 */
#ifndef LODE_BASE_SPILL_H
#define LODE_BASE_SPILL_H

#include "base/error.h"

#include <stdint.h>

/* The program and the least that analyses need at once. */
#define LODE_SPILL_MIN_LIMIT 64000000

/*
 * Limits the memory of the whole process, all threads, to `bytes`, at least LODE_SPILL_MIN_LIMIT; 0: no limit any
 * more. Blocks that are outside of memory by then stay there. Returns 0 or LODE_SYSTEM.
 */
int lode_spill_limit(uint64_t bytes, struct lode_error *error);

struct lode_spill_counts {
	uint64_t limit;
	uint64_t spilled; /* bytes outside of memory now */
	uint64_t most;    /* of these, ever */
	uint64_t resident; /* the most that was in use without pages of files, where that is above the limit; else 0 */
	uint64_t piece; /* the most that one piece of work needed at once (memory.h) */
	uint64_t whole; /* the most that was needed at once by all */
};

struct lode_spill_counts lode_spill_counts(void);
/* The limit under which `bytes` stay in memory. */
uint64_t lode_spill_limit_for(uint64_t bytes);

#endif
