/*
 * GPUs among threads: each is a process and each of its streams a thread, with numbers that those of the system do not
 * reach (gpu/gpu_facts.h makes them).
 */
#ifndef LODE_TRACE_GPU_THREADS_H
#define LODE_TRACE_GPU_THREADS_H

#include "trace/stream.h"

#include <string.h>

#define LODE_GPU_FIRST_ID 0x40000000u
/* The name of the symptom that is all a GPU did. */
#define LODE_GPU_SYMPTOM "run of a GPU"
/* Before the names of kernels in frames, */
#define LODE_GPU_FRAME "[gpu] "
/* and in place of them what a stream does in a gap. */
#define LODE_GPU_AWAITS_LAUNCH "waits for a launch"
#define LODE_GPU_AWAITS_EVENT  "waits for an event"

enum lode_gpu_frame {
	LODE_GPU_NO_FRAME, /* a function */
	LODE_GPU_WORK,     /* a kernel or copy */
	LODE_GPU_GAP,
};

static inline enum lode_gpu_frame lode_gpu_frame_of(const struct lode_frames *frames, uint32_t frame)
{
	const char *name = lode_frames_function(frames, frame);

	if (strncmp(name, LODE_GPU_FRAME, strlen(LODE_GPU_FRAME)) != 0)
		return LODE_GPU_NO_FRAME;
	name += strlen(LODE_GPU_FRAME);
	return strcmp(name, LODE_GPU_AWAITS_LAUNCH) == 0 || strcmp(name, LODE_GPU_AWAITS_EVENT) == 0
		       ? LODE_GPU_GAP
		       : LODE_GPU_WORK;
}

static inline int lode_thread_is_gpu(const struct lode_thread *thread)
{
	return thread->pid >= LODE_GPU_FIRST_ID && thread->pid < 2 * LODE_GPU_FIRST_ID;
}

/* Whether this is the name of a process that is one: `gpu0`. */
static inline int lode_process_is_gpu(const char *name)
{
	return name[0] == 'g' && name[1] == 'p' && name[2] == 'u' && name[3] >= '0' && name[3] <= '9';
}

#endif
