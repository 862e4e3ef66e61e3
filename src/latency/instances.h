/*
 * Function latencies out of stack traces (IntroPerf, section 3.3): which calls a
 * thread made, and how long each took, inferred from stacks that were sampled.
 *
 * An *instance* is one node of the stack tree for one uninterrupted time: a call of a
 * function in a context, as far as the stacks show. It lasts as long as consecutive
 * stacks of the thread go through its node.
 *
 * A thread is seen at *moments*: each run and call event is one; a wait is two, its
 * start and the moment when the thread ran again (t + cost + delay), with the same
 * stack; so are a call with a delay (a preemption), and a run that is a span of time in place
 * of a sample (run_spans.h). Moments come in order of time; of
 * equal times ends come first, then calls, runs and starts of waits, each in
 * the order of the stream. Events without a stack are no moments, but their waits count
 * as waiting. Threads are those of the stream's table: (pid, tid) is one, so that a
 * number which is used again in another process is another thread. The kernel's idle
 * task is left out.
 */
#ifndef LODE_LATENCY_INSTANCES_H
#define LODE_LATENCY_INSTANCES_H

#include "latency/shares.h"
#include "trace/stream.h"

/* Times in order: before <= begin <= first <= last <= end <= after. */
struct lode_instance {
	uint32_t thread;
	uint32_t node;    /* of the stack tree, or a call chain; never 0 */
	uint32_t seen;    /* moments that show it, at most UINT32_MAX */
	uint32_t samples; /* of them run events */
	uint64_t before;  /* the moment before `first`, or `first` itself at the thread's first moment */
	uint64_t begin;   /* when it is taken to have begun */
	uint64_t first;   /* the first moment that shows it */
	uint64_t last;    /* the last one */
	uint64_t end;     /* when it is taken to have ended */
	uint64_t after;   /* the moment after `last`, or `last` itself at the thread's last moment */
	uint64_t waited;  /* ns from first to last that the thread was blocked or waited for a processor */
};

/* The three latencies: from first to last, from before to after, and in the middle of these. */
static inline uint64_t lode_instance_conservative(const struct lode_instance *instance)
{
	return instance->last - instance->first;
}

static inline uint64_t lode_instance_aggressive(const struct lode_instance *instance)
{
	return instance->after - instance->before;
}

/* The paper's aggressive latency, where only the end moves (Algorithm 2, line 34). */
static inline uint64_t lode_instance_aggressive_end(const struct lode_instance *instance)
{
	return instance->after - instance->first;
}

static inline uint64_t lode_instance_estimate(const struct lode_instance *instance)
{
	return instance->end - instance->begin;
}

/* What was looked at on the way. */
struct lode_instances_input {
	uint64_t events;   /* with a stack, of threads that count */
	uint64_t no_stack; /* without one */
	uint64_t idle;     /* of the idle task */
	uint64_t threads;  /* with at least one moment */
};

/*
 * Gives `take` every instance of a stream whose events are there and sorted: columns
 * t, cost, delay, thread and stack of all types. An instance is given when it ends, a
 * callee before its caller; what is open at a thread's last moment is given at the end,
 * thread by thread. Stops when `take` returns something other than 0, and returns that. Memory
 * grows with the number of threads and the depth of stacks, not with events. `input` may
 * be NULL.
 */
int lode_instances_infer(const struct lode_stream *stream,
			 int (*take)(void *context, const struct lode_instance *instance), void *context,
			 struct lode_instances_input *input, struct lode_error *error);
/*
 * The same, and fills `shares`, unless it is NULL; the caller releases it in any case, zeroed before. By call chain
 * (call_chains.h), whose nodes have equal instances: `node` of an instance, and the nodes of `shares`, are numbers
 * of chains; `chains` NULL: by node.
 */
int lode_instances_of_chains(const struct lode_stream *stream, const struct lode_call_chains *chains,
			     int (*take)(void *context, const struct lode_instance *instance), void *context,
			     struct lode_time_shares *shares, struct lode_instances_input *input,
			     struct lode_error *error);

#endif
