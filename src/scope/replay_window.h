/*
 * The steps of the threads that a symptom depends on, from t0 to t1: what a replay goes through. See what_if.h. Private to the
 * files of the replay.
 *
 * A thread is in the window if the symptom's thread depends on it, by whatever number of threads: it ended a wait in the window,
 * was waited for by one that did so, or started it. Where threads compete for processors all of them are.
 */
#ifndef LODE_SCOPE_REPLAY_WINDOW_H
#define LODE_SCOPE_REPLAY_WINDOW_H

#include "scope/replay_edges.h"

enum lode_replay_step_kind {
	LODE_REPLAY_STEP_RUN,       /* needs a processor for `length` */
	LODE_REPLAY_STEP_PLAIN,     /* takes `length` */
	LODE_REPLAY_STEP_WOKEN,     /* on the run queue for `length` after wait `number` of the stream */
	LODE_REPLAY_STEP_PREEMPTED, /* the same after a preemption */
	LODE_REPLAY_STEP_WAIT,      /* waits: `number` of the window */
	LODE_REPLAY_STEP_MEET,      /* goes on once the thread of wait `number` has come to it */
	LODE_REPLAY_STEP_WAKE,      /* ends wait `number` */
	LODE_REPLAY_STEP_START,     /* thread `number` begins */
};

struct lode_replay_step {
	uint64_t length; /* ns, of a wait as well */
	uint32_t number;
	uint32_t stack; /* that decides whether it is changed; 0: it is not */
	uint32_t kind;  /* enum lode_replay_step_kind */
	uint32_t unused;
};

struct lode_window_wait {
	uint64_t end;     /* from t0 */
	size_t own_step;  /* in which its thread begins it */
	size_t wake_step; /* in which the thread that ends it does; 0: none of the window does */
	uint32_t wait;    /* of the stream */
	uint8_t is_ended; /* a thread of the window ends it */
	uint8_t flags;    /* enum lode_edge_flag */
	uint8_t unused[2];
};

struct lode_window_thread {
	size_t first; /* of its steps */
	size_t end;
	uint64_t start; /* from t0; where no thread of the window starts it */
	uint32_t group;
	uint8_t is_started; /* by a thread of the window */
	uint8_t is_gpu;
};

struct lode_window {
	struct lode_replay_step *steps;
	size_t step_count;
	size_t step_capacity;
	struct lode_window_wait *waits;
	size_t wait_count;
	size_t wait_capacity;
	struct lode_window_thread *threads; /* the symptom's own is the first */
	size_t thread_count;
	size_t thread_capacity;
	uint32_t *thread_of; /* by group: its thread plus one; 0: it is not in the window */
	uint32_t *wait_of;   /* by wait: its number in the window plus one; 0: it is not in it */
};

/* What windows are made from, for a whole stream. */
struct lode_window_source {
	const struct lode_scope_index *index;
	const struct lode_pieces *pieces; /* by group */
	const struct lode_replay_edges *edges;
	const uint32_t *parents; /* by group: the group of the thread that started it; LODE_NONE: unknown */
	int all_threads;         /* they compete for processors */
};

/* Room for the windows of a stream; zeroed before. Returns 0 or LODE_SYSTEM; release it in either case. */
int lode_window_init(struct lode_window *window, const struct lode_window_source *source);
void lode_window_release(struct lode_window *window);
/* Makes the window of a symptom in place of the one before. Returns 0 or LODE_SYSTEM. */
int lode_window_make(struct lode_window *window, const struct lode_window_source *source,
		     const struct lode_symptom *symptom);

/*
 * By group: the group of the thread that started it, LODE_NONE: unknown. The caller frees it; NULL when memory has run out.
 */
uint32_t *lode_thread_parents(const struct lode_scope_index *index, const struct lode_pieces *pieces);

#endif
