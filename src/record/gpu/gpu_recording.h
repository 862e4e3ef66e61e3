/*
 * GPUs of a recording: the ring that liblode-gpu.so writes to (gpu_ring.h), what was read from it, and how that becomes part
 * of the stream. Stacks of launches are calls `gpu launch` of the stream, which the recorder's probe in that library makes;
 * they are taken for some of the launches only: others get that of the launch of the same function by the same thread that is
 * closest in time.
 */
#ifndef LODE_RECORD_GPU_RECORDING_H
#define LODE_RECORD_GPU_RECORDING_H

#include "base/error.h"
#include "base/notes.h"
#include "trace/stream.h"

/* The name of calls that have the stacks of launches. */
#define LODE_GPU_STACK_CALL "gpu launch"

struct lode_gpu_recording;

/*
 * Makes the ring, and sets the environment of commands that are started from now on. LODE_SYSTEM with a sentence where the
 * library is missing; LODE_USAGE where another profiler is injected already.
 */
int lode_gpu_recording_create(struct lode_gpu_recording **recording, struct lode_error *error);
void lode_gpu_recording_destroy(struct lode_gpu_recording *recording);
/* Path of the library. */
const char *lode_gpu_recording_library(const struct lode_gpu_recording *recording);
/* Where in the library the probe is attached: an offset in the file. LODE_SYSTEM with a sentence where it is not found. */
int lode_gpu_recording_probe(const struct lode_gpu_recording *recording, uint64_t *offset,
			     struct lode_error *error);
/* Reads what is in the ring, often enough that it is never full. Returns 0 or LODE_SYSTEM. */
int lode_gpu_recording_read(struct lode_gpu_recording *recording);
/* Whether kernels or copies were recorded so far. */
int lode_gpu_recording_is_used(const struct lode_gpu_recording *recording);
/* Adds all of it to the finished stream, sorted, of the same time. `context` is the recording. Returns 0 or LODE_SYSTEM. */
int lode_gpu_recording_add(void *context, struct lode_stream *stream, struct lode_notes *notes);

#endif
