/*
 * Every nanosecond of a thread is in one state:
 *
 *	running       on a processor
 *	ready         preempted, or on the run queue after a wait
 *	lock ... other  waiting; what for is told by wait_kinds.h, and by wait_classes.h where it is work or idle
 *	not recorded  none of these is known
 *
 * A thread's *interval* is its life in the recording, from its first event to the end of its last, or a span
 * that the caller gives. The states of a thread always add up to exactly its interval.
 *
 * Where the kernel counted a thread's running, queued and waiting time (thread totals), these counts are exact: over a
 * life running and ready are the kernel's, and the events only tell what the waits were for, in
 * proportion to their costs. If the counts are longer than the events, the interval is theirs.
 *
 * Otherwise, where every wait was recorded, each moment is the state of the event that covers it (segments.h). A moment
 * that no event covers is running if the thread's scheduling was followed: the kernel counted its totals,
 * or the moment is between two of its waits or preemptions, and not in a gap of more than
 * LODE_UNSAMPLED_PERIODS (scope_index.h) sampling periods without a sample.
 *
 * In a thinned recording (weights, trace/events.h) without such counts states are estimates: weighted sums of samples,
 * delays and costs, cut to what the interval leaves for them.
 *
 * Running time is divided into the program's own code and the kernel's as its samples are; without samples it is not known.
 *
 * An analysis by map, merge and finish: lode_states_of_stream, lode_state_table_add, lode_state_table_sort.
 */
#ifndef LODE_SCOPE_STATES_H
#define LODE_SCOPE_STATES_H

#include "scope/thread_state.h"
#include "scope/wait_classes.h"

/* Of the time running: in the program's own code, and in the kernel. Together all of it, or nothing where that is not known. */
struct lode_running {
	uint64_t user;
	uint64_t kernel;
};

/* Whether a sample with this stack, which is not 0, ran in the kernel. */
int lode_stack_is_in_kernel(const struct lode_dictionary *dictionary, uint32_t stack);

struct lode_thread_states {
	uint32_t thread; /* of the stream; of several with its tid one whose process is known */
	int estimated;   /* not all waits were recorded */
	uint64_t first;  /* start of the interval */
	uint64_t interval;
	uint64_t ns[LODE_STATES]; /* add up to `interval` */
	struct lode_running running;
};

/* One item for each tid that has an event, in the order of tids. */
struct lode_stream_states {
	struct lode_thread_states *items;
	size_t count;
};

/* Part of a stream. */
struct lode_state_span {
	uint64_t t0;
	uint64_t t1;
};

/*
 * The states of the threads of a loaded, sorted stream: waits with t, cost, delay, thread, stack, waker, waker_stack;
 * runs with t, cost, thread and, for what runs in the kernel, stack; calls with t, delay, thread, name, or nothing is known of preemptions; weights where there
 * are some. `span` NULL: over the life of each. `classes` NULL: nothing is idle and no waker an interrupt. Release it
 * in either case.
 */
int lode_states_of_stream(struct lode_stream_states *states, const struct lode_stream *stream,
			  const struct lode_wait_classes *classes, const struct lode_state_span *span,
			  struct lode_error *error);
void lode_stream_states_release(struct lode_stream_states *states);

/* ---- over streams: processes, by name ---- */

struct lode_process_states {
	uint32_t process; /* name of its first thread, a string of the table; 0: unknown */
	uint64_t threads; /* in all streams */
	uint64_t processes;
	uint64_t interval;
	uint64_t ns[LODE_STATES];
	struct lode_running running; /* of threads where it is known */
};

/* One row a name. Release it even if lode_state_table_init fails. */
struct lode_state_table {
	struct lode_strings names;
	struct lode_process_states *items;
	size_t count;
	size_t capacity;
	uint32_t *places; /* by name: number of its row plus one; 0: none */
	size_t place_count;
	size_t place_capacity;
};

int lode_state_table_init(struct lode_state_table *table);
void lode_state_table_release(struct lode_state_table *table);
/* Adds the threads of one stream to the rows of their processes. Returns 0 or LODE_SYSTEM. */
int lode_state_table_add(struct lode_state_table *table, const struct lode_stream *stream,
			 const struct lode_stream_states *states);
/* Adds the numbers of a row to that of the process of this name. Returns 0 or LODE_SYSTEM. */
int lode_state_table_put(struct lode_state_table *table, const char *process,
			 const struct lode_process_states *more);
/* Adds all rows of `more`: associative, and the order does not matter once the table is sorted. */
int lode_state_table_merge(struct lode_state_table *table, const struct lode_state_table *more);
/* Busiest first: by the time in states that count, then by running time, then by name. Returns 0 or LODE_SYSTEM. */
int lode_state_table_sort(struct lode_state_table *table);

#endif
