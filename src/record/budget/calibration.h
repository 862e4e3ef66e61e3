/*
 * Calibration: scales the weights of a thinned recording so that they agree with what the kernel counted of each thread.
 *
 * Sums of weighted waits are right on average (thinning.h), but how many of a thread's waits were chosen is chance, and with
 * time slots (time_slots.h) also which moments were seen. The kernel knows exactly how long each thread was off its CPU:
 * blocked, and in the run queue (thread_totals.h). So sampled events only need to tell how this time is divided: all weights of
 * a thread are multiplied by
 *
 *	(exact time - time of events of weight 1) / weighted time of the others
 *
 * which is the ratio estimator. Events of weight 1 were certain to be recorded, so they keep their weight. The estimator is
 * consistent, not unbiased: its bias falls with the number of events n as 1 / n, where its standard error falls as
 * 1 / sqrt(n). So threads with few sampled events, or with events in few moments, or whose factor would be far from 1, keep
 * their weights.
 *
 * With time slots most of the kernel's time is that between slots, and waits in slots are longer: by 2 to 4 us (x86-64, a virtual
 * machine), which the programs take when a thread stops, is woken and runs again. Of short waits that is much: where they last
 * 16 us the factor would be 0.9, and numbers of waits a tenth too low. So there threads whose waits last less than
 * LODE_CALIBRATION_MIN_WAIT_NS on average keep their weights, too.
 *
 * The variance of a stack's time is then (1 - its share of the thread's time) times what it was before; the
 * confidence intervals of analyses do not use that, and are a little wider than needed for stacks with most of a thread's time.
 *
 * The kernel counts time in the run queue from a moment after the wakeup that ends a wait, a microsecond or less, but both
 * together agree to a few parts in a thousand.
 */
#ifndef LODE_RECORD_BUDGET_CALIBRATION_H
#define LODE_RECORD_BUDGET_CALIBRATION_H

#include "trace/stream.h"

/* A thread with fewer sampled events, or with some in fewer moments of LODE_CALIBRATION_MOMENT_NS, keeps its weights. */
#define LODE_CALIBRATION_MIN_EVENTS  20
#define LODE_CALIBRATION_MIN_MOMENTS 10
#define LODE_CALIBRATION_MOMENT_NS   25000000u
/* In a recording with slots so does one whose waits are shorter than this on average. */
#define LODE_CALIBRATION_MIN_WAIT_NS 100000u
/* And everywhere one whose factor is larger than this, or smaller than its inverse: that has another cause. */
#define LODE_CALIBRATION_MAX_FACTOR 2.0

/* Of one thread. */
struct lode_calibrated_thread {
	double certain_ns; /* off its CPU in events of weight 1, */
	double sampled_ns; /* and in the others, weighted; */
	double squares;    /* sum of the squares of the latter */
	uint64_t moment;   /* number of the last one with a sampled event, plus 1 */
	uint32_t moments;  /* with sampled events */
	uint32_t unused;
	double factor; /* 1: weights stay */
};

struct lode_calibration {
	struct lode_calibrated_thread *threads;
	size_t count;
	uint32_t preempt; /* string: name of calls that are preemptions; LODE_NONE: there are none */
	int has_slots;
};

/* For the threads of `stream`, which has its totals. Returns 0 or LODE_SYSTEM; release in either case. */
int lode_calibration_init(struct lode_calibration *calibration, const struct lode_stream *stream);
void lode_calibration_release(struct lode_calibration *calibration);
/* First: learns each event of the stream, those of a thread about in order of time. */
void lode_calibration_see(struct lode_calibration *calibration, enum lode_event_type type,
			  const struct lode_event *event);
/* Then: computes the factors. Returns how many threads have one. */
size_t lode_calibration_settle(struct lode_calibration *calibration, const struct lode_stream *stream);
/* At last: the new weight of an event, rounded at random such that it is right on average. */
uint32_t lode_calibration_weight(const struct lode_calibration *calibration, enum lode_event_type type,
				 const struct lode_event *event);

#endif
