/* What liblode-gpu.so reported, kept until the stream is finished: see gpu_recording.h. */
#ifndef LODE_RECORD_GPU_RECORDED_FACTS_H
#define LODE_RECORD_GPU_RECORDED_FACTS_H

#include "base/array.h"
#include "base/buffer.h"
#include "base/notes.h"
#include "record/gpu/gpu_ring.h"
#include "trace/stream.h"

/* A name of a process, as it comes in parts. */
struct lode_gpu_recorded_name {
	uint32_t pid;
	uint32_t id;
	size_t start; /* in `texts` */
	size_t length;
};

struct lode_gpu_recorded {
	LODE_ARRAY(struct lode_gpu_slot) calls;
	LODE_ARRAY(struct lode_gpu_slot) activities;
	LODE_ARRAY(struct lode_gpu_slot) clocks;
	LODE_ARRAY(struct lode_gpu_recorded_name) names;
	struct lode_index name_index;
	struct lode_buffer texts;
};

/* A zeroed struct is empty. */
void lode_gpu_recorded_release(struct lode_gpu_recorded *recorded);
/* Keeps a slot of the ring, which another process has written and may be anything. Returns 0 or LODE_SYSTEM. */
int lode_gpu_recorded_take(struct lode_gpu_recorded *recorded, const struct lode_gpu_slot *slot);
/* Adds all of it to a stream that is sorted. Returns 0 or LODE_SYSTEM. */
int lode_gpu_recorded_add(struct lode_gpu_recorded *recorded, struct lode_stream *stream, struct lode_notes *notes);

#endif
