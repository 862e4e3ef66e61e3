/*
 * Shares: to which stacks the time of a thread belongs. Private to latency.
 *
 * Instances (instances.h) say when each call was seen. For sums the question is a different one: how long was
 * the thread in this stack in total? Two kinds of time are distinguished.
 *
 * Time that the thread *waited* belongs to the stack that it waited in, all of it.
 *
 * Time that it *ran* is measured by samples, since they are independent of what the thread does: the time
 * between two samples belongs half to the one and half to the other. Context switches and system calls are
 * not independent; a stack that only they show occurs often, but perhaps only for a moment. Where samples are
 * missing (the stream has none, or the thread ran for much longer than their period without one) all moments
 * are treated as samples, which is the best we can do.
 *
 * Where run events are spans of time (run_spans.h), each is two moments with the same stack, and takes all of its cost.
 * The spans are taken to be sums of samples with the shortest one as their period, which is the doubt.
 *
 * So all time from a thread's first moment to its last is assigned exactly once.
 *
 * Where waits were left out by the recorder (trace/events.h) that does not work: the time between two
 * events is mostly waits that were not recorded. There a stack gets what its waits weigh and what its samples
 * represent, which is right on average, and the doubt is that of the choice of waits and samples.
 */
#ifndef LODE_LATENCY_SHARES_H
#define LODE_LATENCY_SHARES_H

#include "base/error.h"
#include "latency/tree_position.h"
#include "trace/stream.h"
#include "trace/slot_sampling.h"

/* One look at a thread. */
struct lode_moment {
	uint64_t t;
	uint64_t waited; /* the thread's clock of waiting, which never goes back, nor ahead of t */
	uint32_t thread;
	uint32_t stack;  /* never 0 */
	uint32_t common; /* node at which this stack and the thread's last one part */
	int is_sample;
};

/* What of a thread's time is not given away yet. */
struct lode_shares_thread;

struct lode_time_share {
	uint64_t time; /* ns that belong to this very stack, saturating */
	/*
	 * ns squared. Each change from one stack to another is in doubt by the gap in which it is:
	 * half of its square is added to either stack, and its negative where they part, so that a
	 * sum over all below a node counts the changes into it and out of it.
	 */
	double doubt;
};

struct lode_time_shares {
	struct lode_time_share *nodes; /* by node, or by chain */
	size_t node_count;
	const struct lode_call_chains *chains; /* NULL: by node */
	double gap; /* ns that the thread ran between two looks at it, as a look sees them; after the end */
	const struct lode_tree_position *places;
	struct lode_shares_thread *threads;
	size_t thread_count;
	uint64_t limit; /* ns: what a thread may run without a sample; 0: all moments are samples */
	double gap_sum;
	double gap_squares;
	uint64_t shortest_span; /* 0: run events are samples */
	/* By node: its random sums, where the stream was recorded in slots (trace/slot_sampling.h); else NULL. */
	float (*spreads)[LODE_SPREADS];
};

/*
 * For a stream whose run events have their costs; moments name chains unless `chains` is NULL. `shortest_span`: of run events
 * that are spans of time, else 0. Returns 0 or LODE_SYSTEM; release in
 * either case.
 */
int lode_time_shares_init(struct lode_time_shares *shares, const struct lode_stream *stream,
			  const struct lode_call_chains *chains, const struct lode_tree_position *places,
			  uint64_t shortest_span);
void lode_time_shares_release(struct lode_time_shares *shares);
/* The next moment of a thread. Returns 0 or LODE_SYSTEM. */
int lode_time_shares_see(struct lode_time_shares *shares, const struct lode_moment *moment);
/* There are no more. */
void lode_time_shares_finish(struct lode_time_shares *shares);
/* In place of all this, afterwards: the sums of weights, for a stream that was thinned. `left_out`: by thread. Returns 0 or LODE_SYSTEM. */
int lode_time_shares_weigh(struct lode_time_shares *shares, const struct lode_stream *stream,
			   const uint8_t *left_out);

#endif
