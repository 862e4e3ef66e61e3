/*
 * What a trace tells about GPUs, whoever recorded it: activities (kernels, copies) of the streams of a device, and the
 * calls of CUDA or HIP by which threads launch them and wait for them. lode_gpu_add_events makes a thread of each
 * stream, so that whatever follows wakeups from thread to thread goes through GPUs as well:
 *
 *	activity	a run of the thread `gpu0 stream 7`, with the stack of its launch and `[gpu] NAME` as leaf
 *	gap		a wait. If the launch of what comes next was later than what came before it ended, the launching
 *			thread is the waker, at the launch; if an activity of another stream was awaited and ended
 *			later, that stream. The time from there to the start is run-queue delay. Where both were
 *			earlier, the stream was ready all the time (a preemption, trace/events.h).
 *	synchronisation	a wait of the calling thread until the activity ended that it waited for; the stream is the
 *			waker. So is a copy that blocks. What the call takes beyond that is run time. Samples inside are
 *			part of the wait: drivers spin.
 *
 * Where the trace has no symptoms of its own, what each GPU did from its first activity to its last is one, of its busiest stream:
 * so analyses tell who kept it waiting.
 *
 * The launch is the moment at which the call returns, or the activity's start if that was earlier; of calls that block,
 * the moment at which they begin.
 */
#ifndef LODE_GPU_FACTS_H
#define LODE_GPU_FACTS_H

#include "base/array.h"
#include "base/notes.h"
#include "gpu/gpu_calls.h"
#include "trace/gpu_threads.h"

/* The kinds of objects that threads and streams wait for: `gpu:0/stream7`, `launch:gpu0 stream 7`. */
#define LODE_GPU_LAUNCH_OBJECT "launch:"

struct lode_gpu_activity {
	uint64_t t0, t1;
	uint64_t correlation; /* its launch has the same; 0: unknown */
	uint32_t process;     /* whose correlations these are */
	uint32_t device;
	uint32_t stream;
	uint32_t frame;      /* lode_gpu_frame */
	uint8_t is_pageable; /* a copy from or to memory that is not pinned */
};

struct lode_gpu_call {
	uint64_t t0, t1;
	uint64_t correlation;
	uint32_t process;
	uint32_t thread;
	uint32_t stack;  /* LODE_NONE: that of the thread's run at t0, */
	uint32_t frame;  /* or the function alone; LODE_NONE: unknown */
	uint32_t device; /* LODE_NONE: unknown, as are these: */
	uint32_t stream; /* that is waited for; of LODE_GPU_WAIT_EVENT the one that waits; of LODE_GPU_RECORD_EVENT where */
	uint32_t awaited;  /* LODE_GPU_WAIT_EVENT: the stream that recorded the event, */
	uint64_t recorded; /* and when; 0: unknown */
	uint8_t kind;
};

/* What else is known of a call. */
struct lode_gpu_detail {
	uint64_t correlation; /* of the call */
	uint64_t recorded;    /* of the call that recorded the event; 0: unknown */
	uint32_t process;
	uint32_t device, stream, awaited; /* as above */
};

/* A wait of a thread for something other than a GPU, inside of runs that say nothing of it. */
struct lode_gpu_wait {
	uint64_t t0, t1;
	uint32_t thread;
	uint32_t waker;  /* LODE_NONE: unknown */
	uint32_t object; /* string; 0: unknown */
	uint32_t stack;  /* LODE_NONE: that of the thread's run at t0 */
};

struct lode_gpu_facts {
	LODE_ARRAY(struct lode_gpu_activity) activities;
	LODE_ARRAY(struct lode_gpu_call) calls;
	LODE_ARRAY(struct lode_gpu_detail) details;
	LODE_ARRAY(struct lode_gpu_wait) waits;
	const uint8_t *sampled; /* by thread: its runs are samples, not stretches of time; NULL: none are. Not owned */
};

/* A zeroed struct is empty. */
void lode_gpu_facts_release(struct lode_gpu_facts *facts);
/* The frame of a kernel or copy; LODE_NONE when memory has run out. */
uint32_t lode_gpu_frame(struct lode_frames *frames, const char *name, size_t length);

/*
 * Adds the events of all GPU streams and the waits for them to a stream that has the events of all threads. May reorder the
 * facts. Returns 0 or LODE_SYSTEM.
 */
int lode_gpu_add_events(struct lode_gpu_facts *facts, struct lode_stream *stream, struct lode_notes *notes);

#endif
