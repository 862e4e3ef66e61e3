/*
 * Calibration: weights of a thinned recording that agree with what the kernel counted of each thread.
 *
 * Sums of weighted waits are right on average (thinning.h), but how many of a thread's waits were chosen is chance, and with slots
 * (time_slots.h) also which moments were seen. The kernel knows how long each thread was off its processor: blocked and in the run queue
 * (thread_totals.h). So sampled events only need to say how this time divides: all weights of a thread are multiplied by
 *
 *	(exact time - time of events of weight 1) / weighted time of the others
 *
 * which is the ratio estimator. Events of weight 1 were certain to be recorded, so they stay. It is consistent, not unbiased: its bias falls with the
 * number of events n as 1 / n where its standard error falls with 1 / sqrt(n). So threads with few sampled events, or with
 * events in few moments, or whose factor would be far from 1, keep their weights. What one stack has of a thread's
 * time then has 1 - its share of the variance that it had before; the intervals of analyses do not use that, and are a
 * little wider than needed for stacks that have most of a thread's time.
 *
 * The kernel counts time in the run queue from a moment after the waking that ends a wait, a microsecond or less, but both
 * together are the same except a few parts in a thousand.
 */
#ifndef LODE_RECORD_BUDGET_CALIBRATION_H
#define LODE_RECORD_BUDGET_CALIBRATION_H

#include "trace/stream.h"

/* Fewer sampled events of a thread, or fewer moments of LODE_CALIBRATION_MOMENT ns with some, are too few. */
#define LODE_CALIBRATION_EVENTS  20
#define LODE_CALIBRATION_MOMENTS 10
#define LODE_CALIBRATION_MOMENT  25000000u
/* A factor further away from 1 than that, either way, is a sign of something else. */
#define LODE_CALIBRATION_MOST 2.0

/* Of one thread. */
struct lode_calibrated_thread {
	double certain; /* ns off its processor in events of weight 1, */
	double sampled; /* and in the others, weighted; */
	double squares; /* sum of squares of the latter */
	uint64_t moment;
	uint32_t moments;
	uint32_t unused;
	double factor; /* 1: weights stay */
};

struct lode_calibration {
	struct lode_calibrated_thread *threads;
	size_t count;
	uint32_t preempt; /* string: name of calls that are preemptions; LODE_NONE: there are none */
};

/* For the threads of `stream`, which has its totals. Returns 0 or LODE_SYSTEM; release in either case. */
int lode_calibration_init(struct lode_calibration *calibration, const struct lode_stream *stream);
void lode_calibration_release(struct lode_calibration *calibration);
/* Each event of the stream, first. */
void lode_calibration_see(struct lode_calibration *calibration, enum lode_event_type type,
			  const struct lode_event *event);
/* When all were seen: decides on the factors. Returns how many threads have one. */
size_t lode_calibration_settle(struct lode_calibration *calibration, const struct lode_stream *stream);
/* The weight of an event from then on, a whole number that is right on average. */
uint32_t lode_calibration_weight(const struct lode_calibration *calibration, enum lode_event_type type,
				 const struct lode_event *event);

#endif
