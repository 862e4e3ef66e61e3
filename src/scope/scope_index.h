/*
 * What the scopes share: events by thread. Private to src/scope/.
 *
 * Threads are grouped by tid; run and wait events of a group, and its preemptions,
 * are lists of event numbers in order of time.
 */
#ifndef LODE_SCOPE_SCOPE_INDEX_H
#define LODE_SCOPE_SCOPE_INDEX_H

#include "scope/scope.h"

/* Run and wait events can be in any scope; preemptions, which are calls, only on critical paths. */
#define LODE_SCOPE_TYPES 2

/* How many sampling periods a thread may have run without a sample. */
#define LODE_UNSAMPLED_PERIODS 10

struct lode_scope_list {
	uint32_t *events; /* of group 0, then of group 1, ...; in each by t */
	size_t *starts;   /* of group i in it; one more than groups */
};

struct lode_wait_graph;
struct lode_timelines;

struct lode_scope_index {
	const struct lode_stream *stream;
	uint32_t *groups; /* by thread */
	size_t group_count;
	struct lode_scope_list lists[LODE_EVENT_TYPES]; /* of LODE_CALL the preemptions alone */
	const uint8_t *interrupts;                      /* by stack; NULL: none is known */
	const uint32_t *connections;   /* by string: of which connection a wait with that name is; NULL */
	struct lode_wait_graph *graph; /* made when first requested, as are */
	struct lode_timelines *timelines;
	int thinned;       /* not every wait was recorded */
	uint8_t *followed; /* by group: whether its scheduling was, since the kernel counted a thread's totals */
	uint64_t longest_gap; /* how long a thread may have run without a sample */
};

static inline uint64_t lode_event_end(const struct lode_events *events, uint32_t event)
{
	return lode_add_saturating(events->t[event], events->cost[event]);
}

/*
 * Fetches ahead of reading a list at `place`: the events of one thread are far
 * apart in the columns, and waiting for memory was half the time of a scope.
 */
static inline void lode_scope_fetch(const struct lode_scope_index *index, int type, size_t place, size_t end)
{
	const struct lode_events *events = &index->stream->events[type];
	uint32_t later;

	if (end - place <= 8)
		return;
	later = index->lists[type].events[place + 8];
	__builtin_prefetch(&events->t[later]);
	__builtin_prefetch(type == LODE_CALL ? &events->delay[later] : &events->cost[later]);
}

/* Replaces each key by a number, the same for equal keys, from 0 in their order. Returns 0 or LODE_SYSTEM. */
int lode_number_keys(uint32_t *keys, size_t count, size_t *distinct);
/* For each thread the number of its tid; NULL when memory has run out. The caller frees it. */
uint32_t *lode_threads_by_tid(const struct lode_stream *stream, size_t *count);

/* Frees the index, without what the scopes have added to it (lode_scope_index_free). */
void lode_scope_index_release_lists(struct lode_scope_index *index);

/* Makes room for one part more and fills it. Returns 0 or LODE_SYSTEM. */
int lode_parts_add(struct lode_parts *parts, enum lode_event_type type, uint32_t event, uint64_t t, uint64_t cost);
/* Turns the order of the parts from `first` on round. */
void lode_parts_reverse(struct lode_parts *parts, size_t first);

/* wait_graph.c */
int lode_wait_graph_add(struct lode_scope_index *index, const struct lode_symptom *symptom,
			struct lode_parts *parts, uint64_t *edges, struct lode_error *error);
void lode_wait_graph_free(struct lode_wait_graph *graph);

/* critical_path.c; lode_critical_path is in scope.h. */
void lode_timelines_free(struct lode_timelines *timelines, size_t group_count);

#endif
