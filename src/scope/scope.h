/*
 * Scope: which events of a stream belong to a symptom `<T, t0, t1>`.
 *
 *	thread         the symptom thread's own events
 *	graph          the whole wait graph (StackMine, Figure 2)
 *	critical path  only what kept the thread from being done earlier: the parts
 *	               tile [t0, t1]
 *
 * Time spans are closed. An event of the symptom's thread belongs when its whole
 * span is in [t0, t1]; an event of a waker belongs when its end is in the
 * span of the wait it ended. `call` events are no part of any scope. Threads are
 * compared by tid: a thread may be recorded under (pid, tid) and under
 * the tid alone. A chain of wakers ends where no thread is behind a waking: the
 * waker is unknown, or the idle task, or was merely interrupted when something
 * else woke.
 *
 * The critical path walks back from t1 to t0, at first in the symptom's thread.
 * What a thread did at a moment is what one of its events says: a wait that covers
 * the moment, with the time it then was in the run queue (`delay`), else a preemption
 * (a call that has only such a delay), else a sample; of several of one type the one
 * that began last.
 *
 *	running         the sample counts; between its events a thread runs whose scheduling
 *	                the kernel followed, and the last sample before counts (segments.h)
 *	ready, on the   the wait or the preemption counts: no thread caused it but those
 *	run queue       that had the processors
 *	blocked         at the wait's end the walk steps into the waker, goes back in
 *	                that thread to the start of the wait, and goes on before it
 *	                where it was. Where the wait is for a lock, the walk changes
 *	                over, at each earlier release of that lock, to the thread that
 *	                released it (lock_releases.h). The wait itself counts where that
 *	                thread waits for the same lock, when no thread is behind the
 *	                waking, when the waker is being walked
 *	                already (threads that wait for one another), and when the walk
 *	                came to it in the middle: its thread is said to have woken
 *	                another while it was blocked itself. (Where t1 cuts a wait, that
 *	                is its end.)
 *	nothing known   the wait that was stepped into counts; in the symptom's thread
 *	                the time is unknown
 *
 * So each moment of [t0, t1] is one event's or unknown: the lengths of the parts
 * and what is unknown add up to t1 - t0, for any events.
 */
#ifndef LODE_SCOPE_SCOPE_H
#define LODE_SCOPE_SCOPE_H

#include "trace/stream.h"

enum lode_scope {
	LODE_SCOPE_AUTO, /* critical path where the streams have symptoms, else all */
	LODE_SCOPE_ALL,
	LODE_SCOPE_THREAD,
	LODE_SCOPE_GRAPH,
	LODE_SCOPE_CRITICAL_PATH,
	LODE_SCOPES,
};

/* "auto", "all", "thread", "graph", "critical-path". */
const char *lode_scope_name(enum lode_scope scope);

/* The part of an event that is in the scope. */
struct lode_part {
	uint64_t t;     /* start of the part; of the event itself where it counts whole */
	uint64_t cost;  /* length of the part; the event's cost where it counts whole */
	uint32_t event; /* number in stream->events[type] */
	uint8_t type;   /* LODE_RUN or LODE_WAIT; on a critical path also LODE_CALL, a preemption */
	/*
	 * Of a wait that a critical path stepped into: the thread that is walked (lode_walked_thread) ran meanwhile, though it was
	 * never sampled. Its scheduling was followed, and the time lies between two of its events that are not so far apart that
	 * one is missing.
	 */
	uint8_t unsampled;
	uint8_t unused[2];
};

/*
 * Whether the thread was ready then, but had no processor: preempted, or on the run queue after a wait. Columns t and
 * cost of waits.
 */
int lode_part_is_ready(const struct lode_stream *stream, const struct lode_part *part);

struct lode_parts {
	struct lode_part *items;
	size_t count;
	size_t capacity;
};

/* A zeroed struct is an empty list. */
void lode_parts_release(struct lode_parts *parts);

/*
 * Events by thread, made once per stream for all its symptoms. The stream must be
 * sorted and must not change while it is used. Columns needed: t, cost, thread,
 * waker (and delay, for critical paths); of calls thread, delay and name besides t, or
 * critical paths do not know of preemptions.
 */
struct lode_scope_index;

int lode_scope_index_make(struct lode_scope_index **index, const struct lode_stream *stream,
			  struct lode_error *error);
void lode_scope_index_free(struct lode_scope_index *index);
/*
 * Says which stacks are interrupts: `interrupts` has a byte for each node of the
 * stack tree, not 0 where a waker with this stack is one (lode_idle_interrupt). It
 * must outlive the index; the waker_stack column is needed too.
 */
void lode_scope_index_interrupts(struct lode_scope_index *index, const uint8_t *interrupts);
/*
 * Says which names of waits are of connections that both hosts are recorded of: `connections` has a number for each
 * string, 0: none (host_joins.h). It must outlive the index; the name column of waits is needed too. A critical path counts the time in
 * which a thread waits for the very connection that it should have answered as the wait for the answer: the message was on its way.
 */
void lode_scope_index_connections(struct lode_scope_index *index, const uint32_t *connections);
/* Whether no thread is behind the waking that ended wait number `wait`: an interrupt, or the idle task. */
int lode_wake_ends_chain(const struct lode_scope_index *index, uint32_t wait);

/*
 * By wait: the thread that held what was waited for, as it was recorded; where that is not known, the one that had the lock
 * while the wait for it was tried again and again (retried_waits.h), or gave an interpreter's lock away; LODE_NONE: unknown. NULL: none is known. The caller frees it. Needs what
 * critical paths need, and the object and holder columns of waits. Linear in the waits. Returns 0 or LODE_SYSTEM.
 */
int lode_wait_holders(const struct lode_scope_index *index, uint32_t **holders);

/* What one symptom's scope came to, besides its parts. */
struct lode_scope_result {
	uint64_t edges;   /* graph: distinct pairs (wait, event that belongs to it) */
	uint64_t unknown; /* critical path: ns that no event explains */
};

/*
 * Appends the parts of one symptom: for thread and graph each event once, by type,
 * then by event; for the critical path in the order of time, tiling [t0, t1]
 * together with what is unknown. An event of the thread scope and of the graph
 * counts whole. `all` is every run and wait event of the stream, `auto` the
 * critical path. Near-linear in the events touched. One thread at a time uses an
 * index.
 */
int lode_scope_symptom(struct lode_scope_index *index, const struct lode_symptom *symptom, enum lode_scope scope,
		       struct lode_parts *parts, struct lode_scope_result *result, struct lode_error *error);

/*
 * The critical path with the way it took: `stepped`, which may be NULL, gets the
 * waits that were stepped into, from their start, or the path's, to their end, or
 * t1. They nest like brackets, sorted by start, an outer one before its inner
 * ones. A part is inside or outside of each; of those around it the innermost
 * says for whom its thread was walked. On failure both lists are as before.
 */
int lode_critical_path(struct lode_scope_index *index, const struct lode_symptom *symptom, struct lode_parts *parts,
		       struct lode_parts *stepped, uint64_t *unknown, struct lode_error *error);

/*
 * The thread that a critical path walked at moment `t` inside of `wait`, which it stepped into: whoever ended the wait or, of a
 * lock, had it then. LODE_NONE: unknown. After lode_critical_path, with the same index.
 */
uint32_t lode_walked_thread(const struct lode_scope_index *index, uint32_t wait, uint64_t t);

/*
 * What several symptoms of one stream have in common is counted once: sorts by
 * type, event and t, drops equal parts and joins parts of an event that overlap
 * or touch. Returns 0 or LODE_SYSTEM.
 */
int lode_parts_unite(struct lode_parts *parts);

#endif
