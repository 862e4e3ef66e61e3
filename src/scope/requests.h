/*
 * Requests without instrumentation: what a thread does between two waits of its outer loop for work (work_waits.h) is a
 * request, or a turn of an event loop. It begins when the thread was woken, so time on the run queue is part of
 * it, and ends when it waits in the loop again. What was under way when the recording began or
 * ended has no known length and is none. Neither is a waking in vain, by room to write where a thread wants to read, nor
 * what a client does between two replies (client_waits.h).
 *
 * A thread that was started while it was recorded, and ended before it came back to a loop, was started for one request: its
 * life is one (thread_lives.h). Such threads of one process and name, numbers aside, are a loop, too.
 *
 * Loops are told apart by process, thread name and the function that waits. Threads of which some waits were left
 * out (trace/events.h, weights) have no requests: the end of one may be missing.
 */
#ifndef LODE_SCOPE_REQUESTS_H
#define LODE_SCOPE_REQUESTS_H

#include "scope/work_waits.h"

struct lode_request {
	uint64_t t0;
	uint64_t t1;
	uint32_t thread;
	uint32_t loop;
};

struct lode_request_loop {
	uint32_t process; /* names, strings of the stream's dictionary; 0: unknown */
	uint32_t thread;
	uint32_t frame;    /* where it waits; of lives what threads begin with */
	uint32_t is_lives; /* whether its requests are lives of threads */
	uint64_t count;    /* of requests */
	uint64_t time;     /* sum of their lengths */
};

/* The requests of a stream, by thread and then by time. A zeroed struct holds none. */
struct lode_requests {
	struct lode_request *items;
	size_t count;
	size_t capacity;
	struct lode_request_loop *loops; /* those with requests */
	size_t loop_count;
	size_t loop_capacity;
};

/*
 * Finds them in a loaded, sorted stream: waits with t, cost, thread, stack, waker, waker_stack, weights and, to know clients, objects; of other events t, cost and thread, for lives. `idle` says how
 * threads wait; NULL: no request is found. Release it in either case.
 */
int lode_requests_of_stream(struct lode_requests *requests, const struct lode_stream *stream,
			    const struct lode_idle_stacks *idle, struct lode_error *error);
void lode_requests_release(struct lode_requests *requests);

/* Below this a loop has no slowest percent, and nobody is told about slow ones. */
#define LODE_MIN_REQUESTS 20
/* The slowest percent is what is slow where nobody says so. */
#define LODE_SLOW_REQUESTS 99

/*
 * For each loop the length that `percent` (0 to 99) of its requests do not exceed; UINT64_MAX where it has fewer than
 * LODE_MIN_REQUESTS. Of a loop with few requests at least ten exceed it, or a tenth where that is less: one or two would be
 * outliers rather than what is slow. The caller frees it; NULL when memory has run out.
 */
uint64_t *lode_requests_limits(const struct lode_requests *requests, unsigned percent);

/*
 * Whether a stream's requests are what it is about: those of loops with LODE_MIN_REQUESTS have at least a tenth of the
 * time in which threads ran, were ready or waited for something (states.h). Also needs the columns of states.h.
 * Returns 1, 0 or a negative code.
 */
int lode_requests_matter(const struct lode_requests *requests, const struct lode_stream *stream,
			 const struct lode_idle_stacks *idle, struct lode_error *error);

#endif
