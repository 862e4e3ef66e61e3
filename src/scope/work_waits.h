/*
 * Waiting for work: the waits in which a thread has nothing to do until a request comes
 * from outside the recording.
 *
 * A list of functions cannot decide it: a worker that waits for its next request
 * and one that waits for a reply, in the middle of a request, both are in recv().
 * What distinguishes them is where in its thread the wait is, and who ended it.
 *
 *	receive wait  its stack ends in ways of waiting (kernel frames, and frames of
 *	              the lists `ignore`, `prefix` and `receive` of idle.rules), one
 *	              of which is a `receive` frame. Disks, locks and sleeps are none,
 *	              nor is a wait in a `busy` frame.
 *	place         that stack without its ways of waiting; it must have a frame
 *	root          of a thread: the first frame of more than half of its receive
 *	              waits. Places that begin otherwise are broken stacks and count
 *	              for nothing.
 *	recurring     a place with two or more receive waits of the thread. If none has,
 *	              the thread's places with two or more waits of all threads.
 *	outer loop    the recurring place of the thread with the fewest frames. Where
 *	              two have as few, the thread has none.
 *	from outside  no waker is known, or an interrupt or a timer, or the idle task,
 *	              or a process of which the stream has no run and no wait event
 *
 * A wait in the outer loop that ended from outside is for work. A receive wait
 * deeper than the outer loop that a recorded process ended is a wait for it,
 * regardless of the function's name: a backend that waits in epoll for a lock.
 *
 * Usage: make; count all waits; if lode_work_waits_needs_runs says so, pass all runs;
 * settle; then query. One thread at a time.
 */
#ifndef LODE_SCOPE_WORK_WAITS_H
#define LODE_SCOPE_WORK_WAITS_H

#include "scope/idle.h"

struct lode_work_waits;

enum lode_work_place {
	LODE_WORK_NEITHER,
	LODE_WORK_OUTSIDE, /* in the outer loop, ended from outside: it waited for work */
	LODE_WORK_INSIDE,  /* deeper, ended by a recorded process */
};

/* `stream` (its threads) and `idle` (of its dictionary) must outlive it. */
int lode_work_waits_make(struct lode_work_waits **work, const struct lode_stream *stream,
			 const struct lode_idle_stacks *idle, struct lode_error *error);
void lode_work_waits_free(struct lode_work_waits *work);

/* Whether any stack of the dictionary is one of a receive wait; if not, nothing need be counted. */
int lode_work_waits_possible(const struct lode_work_waits *work);
/* Some of the stream's waits; columns thread, stack, waker, waker_stack. Returns 0 or LODE_SYSTEM. */
int lode_work_waits_count(struct lode_work_waits *work, const struct lode_events *waits);
/* Whether runs may show that a waker is recorded. */
int lode_work_waits_needs_runs(const struct lode_work_waits *work);
/* Some of the stream's runs; column thread. */
void lode_work_waits_see_runs(struct lode_work_waits *work, const struct lode_events *runs);
/* Returns 0 or LODE_SYSTEM. */
int lode_work_waits_settle(struct lode_work_waits *work);

/* What wait `i` is; the columns of lode_work_waits_count. */
enum lode_work_place lode_work_wait(const struct lode_work_waits *work, const struct lode_events *waits, size_t i);

/* The place where wait `i` waits to receive something, 0: nowhere; the same columns. Known from the start. */
uint32_t lode_work_wait_place(const struct lode_work_waits *work, const struct lode_events *waits, size_t i);
/* The same by the stack alone, whoever ended the wait. */
uint32_t lode_work_stack_place(const struct lode_work_waits *work, uint32_t stack);
/* The place of the outer loop of the threads of one tid (lode_threads_by_tid), 0: none. Known once settled. */
uint32_t lode_work_outer_place(const struct lode_work_waits *work, size_t group);

/* By node: the place of a receive wait with this stack, 0 for other stacks. The caller frees it; NULL: no memory. */
uint32_t *lode_work_places(const struct lode_idle_stacks *idle, const struct lode_dictionary *dictionary);

#endif
