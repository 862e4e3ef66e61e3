/*
 * A program's own ways to wait: functions that many of its functions call to wait, such as WaitLatch of PostgreSQL. That
 * a thread waits in one says little; who called them says what it waits for.
 */
#ifndef LODE_MINE_WAIT_WRAPPERS_H
#define LODE_MINE_WAIT_WRAPPERS_H

#include "trace/dictionary.h"

/* As many functions as must call it; what waits in the end, and is called by such ways, needs only two. */
#define LODE_WRAPPER_CALLERS 3

struct lode_wait_wrappers {
	uint32_t (*callers)[LODE_WRAPPER_CALLERS]; /* by frame: distinct frames plus one, in order; 0: no more */
};

/*
 * `own`: by node the innermost node of the program itself above it, or it. Returns 0 or LODE_SYSTEM; the caller releases it in
 * either case.
 */
int lode_wait_wrappers_make(struct lode_wait_wrappers *wrappers, const struct lode_dictionary *dictionary,
			    const uint32_t *own);
void lode_wait_wrappers_release(struct lode_wait_wrappers *wrappers);
/*
 * Who calls the function at `node`, in which a thread waits: where both it and its caller are such ways, the first function above that
 * is none. 0: nobody.
 */
uint32_t lode_wait_caller(const struct lode_wait_wrappers *wrappers, const struct lode_dictionary *dictionary,
			  const uint32_t *own, uint32_t node);

#endif
