/*
 * Call steps: the inferred instances of a stream (latency/instances.h), thread by thread
 * in the order in which a thread made its calls, for formats that want them so.
 *
 * Inference gives an instance when it ends, a callee before its caller. Read backwards,
 * callers come first and the last call comes first, so the begins and ends of all
 * instances come out in exactly reverse order, and only the open calls have to be
 * remembered. They go to a second spool, which is read backwards again. Memory is one
 * stream's events and the depth of stacks; instances are on disk only.
 */
#ifndef LODE_EXPORT_CALL_STEPS_H
#define LODE_EXPORT_CALL_STEPS_H

#include "export/spool.h"

struct lode_call_steps {
	struct lode_spool steps; /* a list per thread */
};

/* An instance begins or ends; each ends before its caller does, and times never go back. */
struct lode_call_step {
	uint64_t t;
	uint64_t duration; /* of the instance */
	uint64_t waited;   /* ns of it */
	uint32_t node;
	int ends;
};

/*
 * Infers the instances of `source`, whose head is there; those whose stacks fit when the
 * options name frames. On success the caller releases it.
 */
int lode_call_steps_make(struct lode_call_steps *calls, struct lode_export *export,
			 struct lode_export_stream *source, struct lode_error *error);
void lode_call_steps_release(struct lode_call_steps *calls);

static inline uint64_t lode_call_steps_count(const struct lode_call_steps *calls, uint32_t thread)
{
	return calls->steps.lists[thread].count;
}

/* Begins to read the steps of a thread, as often as wanted. */
void lode_call_steps_start(struct lode_call_steps *calls, uint32_t thread, struct lode_spool_cursor *cursor);
/* The next step; 0 at the end. */
int lode_call_steps_next(struct lode_spool_cursor *cursor, struct lode_call_step *step);

/*
 * The same as samples: fills `spool`, as lode_spool_fill does, with one run event for
 * each time in which the stack did not change, its length as cost. Where a thread is in
 * no instance there is an event without stack and cost, behind its last one, too.
 */
int lode_call_steps_samples(struct lode_spool *spool, struct lode_export *export,
			    struct lode_export_stream *source, struct lode_error *error);

#endif
