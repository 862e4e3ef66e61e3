/*
 * The threads of a scope: what each of them did in it, in all and over the time of the symptom.
 */
#ifndef LODE_RESULT_SCOPE_THREADS_H
#define LODE_RESULT_SCOPE_THREADS_H

#include "result/scope_report.h"
#include "result/timeline.h"

struct lode_scope_thread {
	uint32_t thread;                 /* of the stream */
	uint64_t events;                 /* parts of the scope, of a thread or a graph events */
	uint64_t cost[LODE_EVENT_TYPES]; /* ns, of whole parts: running; in waits, with the run queue after them; preempted */
	struct lode_timeline line; /* of the time in the symptom; none where it was not requested */
};

/* Those that have parts, the one with the most time first. A zeroed struct is empty. */
struct lode_scope_threads {
	struct lode_scope_thread *items;
	size_t count;
};

/*
 * Finds them, with timelines of `slices` slices for the first `pictured`. Returns 0 or LODE_SYSTEM; release
 * in either case.
 */
int lode_scope_threads_make(struct lode_scope_threads *threads, const struct lode_scope_report *report,
			    const struct lode_scope_found *found, size_t pictured, size_t slices);
void lode_scope_threads_release(struct lode_scope_threads *threads);

#endif
