/*
 * Scope: which events of a stream bear on a symptom `<T, t0, t1>`.
 *
 *	thread         the symptom thread's own events
 *	graph          the whole wait graph (StackMine, Figure 2)
 *	critical path  only what kept the thread from being done earlier: the parts
 *	               tile [t0, t1]
 *
 * Time spans are closed. An event of the symptom's thread belongs when its whole
 * span lies in [t0, t1]; an event of a waker belongs when its end lies in the
 * span of the wait it ended. `call` events are no part of any scope. Threads are
 * compared by tid: what is known of a thread may stand under (pid, tid) and under
 * the tid alone.
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

/* What of one event lies in the scope. */
struct lode_part {
	uint64_t t;      /* start of the part; of the event itself where it counts whole */
	uint64_t cost;   /* length of the part; the event's cost where it counts whole */
	uint32_t event;  /* number in stream->events[type] */
	uint8_t type;    /* LODE_RUN or LODE_WAIT */
	uint8_t unused[3];
};

struct lode_parts {
	struct lode_part *items;
	size_t count;
	size_t capacity;
};

/* A zeroed struct is an empty list. */
void lode_parts_release(struct lode_parts *parts);

/*
 * Events by thread, made once a stream for all its symptoms. The stream must be
 * sorted and must not change while it is used. Columns needed: t, cost, thread,
 * waker (and delay, for critical paths).
 */
struct lode_scope_index;

int lode_scope_index_make(struct lode_scope_index **index, const struct lode_stream *stream,
			  struct lode_error *error);
void lode_scope_index_free(struct lode_scope_index *index);

/* What one symptom's scope came to, beside its parts. */
struct lode_scope_result {
	uint64_t edges;   /* graph: distinct pairs (wait, event that belongs to it) */
	uint64_t unknown; /* critical path: ns that no event explains */
};

/*
 * Appends the parts of one symptom: for thread and graph each event once, by type,
 * then by event; for the critical path in the order of time, tiling [t0, t1]
 * together with what is unknown. An event of the thread scope and of the graph
 * counts whole. Near-linear in the events touched.
 */
int lode_scope_symptom(struct lode_scope_index *index, const struct lode_symptom *symptom,
		       enum lode_scope scope, struct lode_parts *parts, struct lode_scope_result *result,
		       struct lode_error *error);

/*
 * What several symptoms of one stream have in common is counted once: sorts by
 * type, event and t, drops equal parts and joins overlapping parts of an event.
 * Returns 0 or LODE_SYSTEM.
 */
int lode_parts_unite(struct lode_parts *parts);

#endif
