/*
 * Deferred user stacks: a kernel may take the user's part of a sample's stack only when
 * the thread returns to user mode, as a separate record that has the same cookie. Until
 * then the sample's stack is a number for the kernel's part.
 */
#ifndef LODE_IMPORT_PERF_DATA_DEFERRED_STACKS_H
#define LODE_IMPORT_PERF_DATA_DEFERRED_STACKS_H

#include <stddef.h>
#include <stdint.h>
#include "base/array.h"

/* A stack that waits for its user's part. */
struct lode_perf_waiting_stack {
	uint64_t cookie;
	uint32_t stack; /* its number */
	uint32_t chain; /* the kernel's part; LODE_NONE: none */
	uint32_t next;  /* of the same thread: number plus one, or 0 */
};

struct lode_perf_deferred {
	LODE_ARRAY(struct lode_perf_waiting_stack);
	uint32_t free;              /* chain of free places, as `next` */
	LODE_ARRAY(uint32_t) heads; /* by thread, as `next` */
	uint64_t missed;            /* stacks whose user's part never came */
};

/* A zeroed struct is empty. */
void lode_perf_deferred_release(struct lode_perf_deferred *deferred);
/* Returns 0 or LODE_SYSTEM. */
int lode_perf_deferred_add(struct lode_perf_deferred *deferred, uint32_t thread,
			   const struct lode_perf_waiting_stack *waiting);
/*
 * Takes one stack of the thread with this cookie; 1, or 0 when there is none left. Those of other cookies are
 * older: what they wait for does not come any more, and they are counted.
 */
int lode_perf_deferred_take(struct lode_perf_deferred *deferred, uint32_t thread, uint64_t cookie,
			    struct lode_perf_waiting_stack *waiting);
/* How many stacks still wait, or were given up. */
uint64_t lode_perf_deferred_missed(const struct lode_perf_deferred *deferred);

#endif
