/* What a thread in the system call futex() waits for, by the functions on its stack. */
#ifndef LODE_RECORD_STREAM_WAIT_FUNCTIONS_H
#define LODE_RECORD_STREAM_WAIT_FUNCTIONS_H

#include "trace/dictionary.h"

enum lode_wait_function {
	LODE_WAITS_UNKNOWN,
	LODE_WAITS_MUTEX,  /* of the C library, which keeps the owner */
	LODE_WAITS_RWLOCK, /* the same, for its writer */
	LODE_WAITS_LOCK,   /* a lock of another kind: its holder is not known */
	LODE_WAITS_MONITOR, /* of the Java virtual machine: the futex belongs to who waits, not to what is waited for */
	LODE_WAITS_GIL,              /* Python's */
	LODE_WAITS_CONDITION,        /* condition variable, */
	LODE_WAITS_SIGNAL,           /* semaphore, barrier, and other things that nobody holds */
	LODE_WAITS_SCRIPT_CONDITION, /* of Python: as with monitors, the futex belongs to who waits */
	LODE_WAITS_JOIN,             /* the end of a thread */
};

/* Looks at the named stack `node`; `*caller` is the node of the function that asked for the lock, 0: not known. */
enum lode_wait_function lode_wait_function(const struct lode_dictionary *dictionary, uint32_t node,
					   uint32_t *caller);

#endif
