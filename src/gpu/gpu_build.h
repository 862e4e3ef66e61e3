/*
 * On the way from facts about GPUs to events: what gpu_events.c, gpu_lanes.c and gpu_blocked.c share.
 */
#ifndef LODE_GPU_BUILD_H
#define LODE_GPU_BUILD_H

#include "gpu/gpu_facts.h"

/* An activity in its place: those of a stream do not overlap, so starts and ends ascend. */
struct lode_gpu_placed {
	uint64_t start, end;
	uint64_t launched; /* when; `start` where it is not known */
	uint32_t activity;
	uint32_t call;  /* its launch; LODE_NONE: unknown */
	uint32_t stack; /* of the launch, with the activity as leaf */
};

/* A stream of a device. */
struct lode_gpu_lane {
	uint32_t process, device, stream;
	uint32_t thread;
	size_t first, end; /* of the placed ones */
};

/* Events of one type by thread, in the order of time. */
struct lode_gpu_by_thread {
	uint32_t *order;
	size_t *starts; /* by thread, one more at the end */
};

/* A thread waits from t0 to t1, in a call that lasts until `over`. */
struct lode_gpu_blocked {
	uint64_t t0, t1, over;
	uint64_t delay;
	uint32_t thread;
	uint32_t stack; /* LODE_NONE: that of its runs */
	uint32_t waker, waker_stack;
	uint32_t object; /* string */
	int is_gpu;
};

struct lode_gpu_build {
	struct lode_gpu_facts *facts;
	struct lode_stream *stream;
	LODE_ARRAY(struct lode_gpu_placed) placed;
	LODE_ARRAY(struct lode_gpu_lane) lanes;
	struct lode_index correlations; /* of calls */
	struct lode_gpu_by_thread runs, waits;
	LODE_ARRAY(struct lode_gpu_blocked) blocked;
	uint64_t overlapping, unlaunched, left_out, synchronisations, samples;
};

/* Whether the runs of a thread are stretches of time, a part of which may have been waiting. */
static inline int lode_gpu_runs_are_exact(const struct lode_gpu_build *build, uint32_t thread)
{
	return !build->facts->sampled || !build->facts->sampled[thread];
}

/* The run of `thread` whose stack is that of moment `t` in a call that lasts until `until`; LODE_NONE: none is. */
uint32_t lode_gpu_run_at(const struct lode_gpu_build *build, uint32_t thread, uint64_t t, uint64_t until);
/* The stack of a call; LODE_NONE when memory has run out. */
uint32_t lode_gpu_call_stack(const struct lode_gpu_build *build, const struct lode_gpu_call *call);
/* The call that an activity comes from; LODE_NONE: it is not known. */
uint32_t lode_gpu_launch_of(const struct lode_gpu_build *build, const struct lode_gpu_activity *activity);
/* Whether the call waits until the activity has ended that it started. */
int lode_gpu_call_blocks(const struct lode_gpu_call *call, const struct lode_gpu_activity *activity);
/* `gpu:0/stream7`; LODE_NONE when memory has run out. */
uint32_t lode_gpu_object(const struct lode_gpu_build *build, const struct lode_gpu_lane *lane);

/* Puts the activities in the order of their streams and makes a thread of each stream. Returns 0 or LODE_SYSTEM, as all do. */
int lode_gpu_place(struct lode_gpu_build *build);
/* Finds which synchronisations waited, and until when. */
int lode_gpu_find_blocked(struct lode_gpu_build *build);
/* Adds the waits, and takes their time out of runs and other waits of their threads. */
int lode_gpu_add_blocked(struct lode_gpu_build *build);

#endif
