/*
 * Idle threads, without a list of names: threads that wait for nothing that anyone does, and that nobody misses.
 *
 * A wait is *bound* if it is for a lock, a disk, a page, the GIL or a child, or if a thread or the network ended it. Waits
 * in the outer loop of their thread (work_waits.h) are never bound, whoever brings the work: a postmaster
 * waits for clients, and then forks. What is not bound ended by the thread's own timer, or by nothing.
 *
 * A thread is idle, and so are its waits that are not bound, if of the time it was recorded
 *
 *	- it ran hardly: at most 1/LODE_IDLE_SHARE of the time that it waited and ran;
 *	- at most that share of its waiting is bound;
 *	- nobody waits for it: the waits that it ended, of all other threads, come to at most that share of its own. So a
 *	  client that only waits for replies is not idle, because its server waits for it.
 *
 * How long a thread ran the kernel has counted, or samples tell; without either it is what lies between its waits. In a
 * stream without any waker nothing is known about what ends waits, and no thread is idle by this rule.
 *
 * What a user waited for is not asked here: waits on the path of a symptom count in any case (wait_classes.h).
 *
 * A shell or a master that waits for its children is a case of its own: what it waits for is what they do,
 * and where they are recorded that is their time.
 *
 * Usage: as work_waits.h: make, count all waits, see all runs if asked to, settle, then query.
 */
#ifndef LODE_SCOPE_IDLE_THREADS_H
#define LODE_SCOPE_IDLE_THREADS_H

#include "scope/wait_kinds.h"
#include "scope/work_waits.h"
#include "trace/idle_share.h"

struct lode_idle_threads;

/* `stream`, `idle` and `work` must outlive it; `work` is settled before this is. */
int lode_idle_threads_make(struct lode_idle_threads **threads, const struct lode_stream *stream,
			   const struct lode_idle_stacks *idle, const struct lode_work_waits *work,
			   struct lode_error *error);
void lode_idle_threads_free(struct lode_idle_threads *threads);

/* Some of the stream's waits; columns t, cost, delay, thread, stack, waker, waker_stack, and weight where there are some. */
int lode_idle_threads_count(struct lode_idle_threads *threads, const struct lode_events *waits);
/* Whether runs are needed: the kernel's counts are not known for every thread that waits. */
int lode_idle_threads_needs_runs(const struct lode_idle_threads *threads);
/* Some of the stream's runs; columns cost and thread, and weight. */
void lode_idle_threads_see_runs(struct lode_idle_threads *threads, const struct lode_events *runs);
void lode_idle_threads_settle(struct lode_idle_threads *threads);

/* Whether wait `i` is one of an idle thread, and not bound, or for children that are recorded. */
int lode_idle_threads_wait(const struct lode_idle_threads *threads, const struct lode_events *waits, size_t i);

/* Whether wait `i` was for a child that is recorded, and ended it: then also the path of a symptom goes on in the child. */
int lode_idle_threads_child(const struct lode_idle_threads *threads, const struct lode_events *waits, size_t i);

#endif
