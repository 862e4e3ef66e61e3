/*
 * Parallel loops: `count` independent pieces of work over `jobs` threads.
 */
#ifndef LODE_BASE_PARALLEL_H
#define LODE_BASE_PARALLEL_H

#include <stddef.h>

/* Number of processors this process may use, at least 1. */
unsigned lode_processors(void);

/*
 * Calls `piece(context, i)` once for each i below `count`, on up to `jobs`
 * threads (0: one a processor), the calling one included; pieces are taken in
 * order by whoever is free. Returns when all are done. Where no thread can be
 * started the caller does all of it. `piece` must not fail: it keeps its own result.
 */
void lode_parallel(unsigned jobs, size_t count, void (*piece)(void *context, size_t i), void *context);

#endif
