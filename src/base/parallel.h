/*
 * Parallel loops: `count` independent pieces of work over `jobs` threads.
 */
#ifndef LODE_BASE_PARALLEL_H
#define LODE_BASE_PARALLEL_H

#include "base/error.h"

#include <stddef.h>

/* Number of processors this process may use, at least 1. */
unsigned lode_processors(void);

/*
 * Calls `piece(context, i)` once for each i below `count`, on up to `jobs`
 * threads (0: one per processor), the calling one included; pieces are taken in
 * order by any free thread. Returns when all are done. Where no thread can be
 * started the caller does all of it. `piece` must not fail: it keeps its own result.
 */
void lode_parallel(unsigned jobs, size_t count, void (*piece)(void *context, size_t i), void *context);

/*
 * Work whose pieces are made in parallel and put together in order, so that the
 * result does not depend on threads. A partial is `size` zeroed bytes.
 */
struct lode_in_order {
	size_t size;
	/* Fills the partial of piece `i`; several at a time. */
	int (*map)(void *context, size_t i, void *partial, struct lode_error *error);
	/* Adds it to the whole; one at a time, in the order of `i`. */
	int (*merge)(void *context, size_t i, void *partial, struct lode_error *error);
	/* Releases what it holds, also after a failure. */
	void (*release)(void *partial);
	void *context;
};

/*
 * Does it. After the first piece that fails, in order, nothing more is merged, and
 * pieces that have not begun are left out; its code and sentence are the result.
 */
int lode_parallel_in_order(unsigned jobs, size_t count, const struct lode_in_order *work, struct lode_error *error);

#endif
