/*
 * What a wait is for, as its stack and its waker tell: a lock, a reply, a disk, the network, ...
 *
 * In user space the functions that wait are known by name: take_gil waits for Python's interpreter lock though the
 * kernel only sees a futex. Otherwise the kernel's functions tell, the innermost that is known; a
 * page fault stays one although it then waits for a disk. What wakes decides the rest: condition
 * variables, pipes, sockets and poll() wait for a *reply* where a recorded thread ends them, for a
 * timer where a timer does, and a socket that neither does waits for the network.
 */
#ifndef LODE_SCOPE_WAIT_KINDS_H
#define LODE_SCOPE_WAIT_KINDS_H

#include "scope/idle.h"
#include "scope/scope.h"
#include "scope/thread_state.h"

struct lode_wait_kinds;

/*
 * For a stream whose threads and stacks are there; `idle` says which wakers are interrupts (NULL: none is). Both must
 * outlive it. Threads are recorded, and may be waited for, once lode_wait_kinds_see has seen an event of them.
 */
int lode_wait_kinds_make(struct lode_wait_kinds **kinds, const struct lode_stream *stream,
			 const struct lode_idle_stacks *idle, struct lode_error *error);
void lode_wait_kinds_free(struct lode_wait_kinds *kinds);
/* Some of the stream's events; column thread. */
void lode_wait_kinds_see(struct lode_wait_kinds *kinds, const struct lode_events *events);

/* What wait `i` is for: never LODE_STATE_WORK or LODE_STATE_IDLE. Columns stack, waker and waker_stack. */
enum lode_state lode_wait_kind(const struct lode_wait_kinds *kinds, const struct lode_events *waits, size_t i);
/* Whether wait `i` is a sleep: for a time that the thread chose, and nothing else could have ended it. */
int lode_wait_is_sleep(const struct lode_wait_kinds *kinds, const struct lode_events *waits, size_t i);
/*
 * The state of a thread in a part of a path: what kept a user waiting is called by what it was for, never idle. Waits
 * with t and cost, besides.
 */
enum lode_state lode_state_of_part(const struct lode_wait_kinds *kinds, const struct lode_part *part);
/* Whether a function of a stack says that it waits for a lock, whatever the kernel waits for: a pipe, a set of files. */
int lode_stack_waits_for_lock(const struct lode_dictionary *dictionary, uint32_t stack);
/*
 * What waiting for an object `kind:name` is; LODE_STATES where its kind does not decide: of sockets, pipes and sets of files
 * (tcp, udp, unix, pipe, epoll) the waker tells a reply from the network and a timer.
 */
enum lode_state lode_wait_kind_of_object(const char *object);

#endif
