/*
 * What CPython's locks are waited for. Its conditions (threading.Condition, and so queue.Queue, Event, Semaphore and the futures
 * of concurrent.futures) have a lock for each waiter, which that has taken itself and waits for until it is notified: nobody
 * else holds it. Only the functions around the wait tell these from locks.
 */
#ifndef LODE_TRACE_PYTHON_WAITS_H
#define LODE_TRACE_PYTHON_WAITS_H

#include "trace/dictionary.h"

enum lode_python_wait {
	LODE_PYTHON_WAIT_UNKNOWN, /* no function says anything */
	LODE_PYTHON_WAIT_LOCK,    /* a lock as any other, if it is one */
	LODE_PYTHON_WAIT_CONDITION,
	LODE_PYTHON_WAIT_JOIN, /* a lock that a thread gives away at its end */
};

/* What a function says about locks that are waited for in functions that it calls; UNKNOWN: what its caller says. */
enum lode_python_wait lode_python_wait_in(const struct lode_frames *frames, uint32_t frame);
/* The same of the innermost function of a stack that says something. */
enum lode_python_wait lode_python_wait(const struct lode_dictionary *dictionary, uint32_t stack);

#endif
