/*
 * Thread ids as a process itself knows them: in a PID namespace of a container a thread has another id than outside.
 * Locks of the C library keep the inner one.
 */
#ifndef LODE_PROCESS_INNER_TIDS_H
#define LODE_PROCESS_INNER_TIDS_H

#include "base/hash_index.h"

/* What was found for an inner id. */
struct lode_inner_tid {
	uint32_t pid;
	uint32_t inner;
	uint32_t outer; /* 0: no such thread */
	uint64_t t;     /* when that was looked up */
};

/* A zeroed struct knows none. */
struct lode_inner_tids {
	struct lode_inner_tid *items;
	size_t count;
	size_t capacity;
	struct lode_index index;
	uint64_t second;
	uint32_t looked_up;
};

void lode_inner_tids_release(struct lode_inner_tids *tids);
/*
 * The thread of process `pid` that has this id inside, at about the time `t` (CLOCK_MONOTONIC); 0: there is none, or it is not known. What was
 * found is looked up again after a second.
 */
uint32_t lode_inner_tid(struct lode_inner_tids *tids, uint32_t pid, uint32_t inner, uint64_t t);

#endif
