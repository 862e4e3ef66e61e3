/*
 * Waits that end by their own timer and are begun again. For a lock: Python's threads wait 5 ms at a time for the GIL, others
 * call pthread_mutex_timedlock in a loop, PostgreSQL's processes wait for locks in epoll_wait, which an alarm interrupts that they set for
 * something else. No thread ended the first of them, but whoever ends the last one had the lock in all of them. The same alarm interrupts
 * a wait for a reply: if the thread does nothing but wait again, it is one wait. (What a timer of an event loop makes it do takes longer.)
 *
 * A thread may also find the lock free when its timer ends the wait. Of an interpreter's lock it is known then, too, who
 * had it: the thread of the same process that ran meanwhile, or would have if it had not been preempted. (One that runs
 * without it, in a library that has released it, cannot be told apart by samples.) And where the lock itself says who had it
 * when the wait began, that one is taken where nothing else is known. In a recording that was thinned neither is, since samples
 * and waits are missing; but a wait that follows at once is the next one there, too.
 */
#ifndef LODE_SCOPE_RETRIED_WAITS_H
#define LODE_SCOPE_RETRIED_WAITS_H

#include "scope/scope_index.h"

/*
 * By wait: the thread that ended it or, if it was tried again, the last of these, or who had the interpreter's lock;
 * LODE_NONE: no thread did, or it is unknown. Needs runs with t, cost and thread, and to know of preemptions calls with t and delay.
 * The caller frees `*wakers`; NULL where nothing is known of objects, and the waker of each wait is its own. Linear
 * in the waits. Returns 0 or LODE_SYSTEM.
 */
int lode_retried_waits(const struct lode_scope_index *index, uint32_t **wakers);
/*
 * Whether a wait was tried again, so that who ended it at last, by `wakers`, may have waited itself when this one ended. Not of
 * interpreters' locks: who has such a lock does not wait.
 */
int lode_wait_is_retried(const struct lode_scope_index *index, const uint32_t *wakers, uint32_t wait);

#endif
