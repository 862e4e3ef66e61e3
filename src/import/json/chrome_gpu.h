/*
 * GPUs in Chrome's traces. Two kinds of programs write them:
 *
 *	PyTorch's profiler (Kineto)	by category: `kernel`, `gpu_memcpy` and `gpu_memset` are activities of a stream,
 *					`cuda_runtime` and `cuda_driver` calls, `cuda_sync` says what a call waits for
 *	JAX and others with XLA		by process: activities are slices of threads `Stream #7(...)` of a process
 *					`/device:GPU:0`, calls those of other processes whose name is that of a call
 *
 * Both number calls and activities, so that the launch of an activity is known (gpu/gpu_facts.h). Kineto also has the functions of
 * Python: those in which a thread blocks are waits, and names are made as the recorder makes them.
 */
#ifndef LODE_IMPORT_CHROME_GPU_H
#define LODE_IMPORT_CHROME_GPU_H

#include "gpu/gpu_facts.h"
#include "import/frame_memo.h"
#include "import/json_profile.h"

struct lode_chrome_gpu {
	struct lode_json_import *import;
	struct lode_gpu_facts facts;
	int is_kineto;
	struct lode_frame_memo kernels; /* from names to frames of kernels, */
	struct lode_frame_memo python;  /* and to those of Python's functions */
	LODE_ARRAY(uint8_t) blocks;     /* by frame: enum of chrome_gpu.c, whether a thread waits in it */
	LODE_ARRAY(struct lode_chrome_gpu_row)
	rows;             /* of XLA: processes that are devices, threads that are streams */
	uint64_t derived; /* slices that repeat the time of others */
};

/* A process (`tid` 0, `is_stream` 0) or thread, and which device or stream it is. */
struct lode_chrome_gpu_row {
	uint32_t pid, tid;
	uint32_t number;
	int is_stream;
};

/* What Kineto's categories say of a slice. */
enum lode_kineto_kind {
	LODE_KINETO_OTHER,
	LODE_KINETO_ACTIVITY,
	LODE_KINETO_CALL,
	LODE_KINETO_SYNC,    /* what a call waits for */
	LODE_KINETO_PYTHON,  /* a function */
	LODE_KINETO_DERIVED, /* what the profiler writes about itself, or about time that other slices have */
};

/* A slice, before its thread is known. */
struct lode_chrome_gpu_slice {
	struct lode_json_value name, pid, tid, args;
	uint64_t t0, t1;
	enum lode_kineto_kind kind;
};

/* A struct with only `import` set is empty. */
void lode_chrome_gpu_release(struct lode_chrome_gpu *gpu);
/*
 * Each of these returns 1 for what is no time of a thread of the system and needs nothing more, 0 for what is, or a negative
 * code with a sentence in the import's error.
 */
int lode_chrome_gpu_metadata(struct lode_chrome_gpu *gpu, const struct lode_chrome_gpu_slice *slice);
int lode_chrome_gpu_activity(struct lode_chrome_gpu *gpu, const struct lode_chrome_gpu_slice *slice);
/* A slice of `thread` whose frame is `frame`: keeps it in mind if it is a call or a wait. Returns 0 or a negative code. */
int lode_chrome_gpu_call(struct lode_chrome_gpu *gpu, const struct lode_chrome_gpu_slice *slice, uint32_t thread,
			 uint32_t frame);
/* The name of a thread: Kineto writes `thread 12 (name)`. */
const char *lode_chrome_gpu_thread_name(const struct lode_chrome_gpu *gpu, char *name);
/* The frame of one of Python's functions as Kineto names it; LODE_NONE: no memory. */
uint32_t lode_chrome_gpu_python(struct lode_chrome_gpu *gpu, const char *text, size_t length);
/* LODE_KINETO_OTHER in the traces of others, too. */
enum lode_kineto_kind lode_chrome_gpu_kind(const struct lode_chrome_gpu *gpu, struct lode_json_value category);
/* Adds all of it to the stream, whose slices are events already. Returns 0 or a negative code. */
int lode_chrome_gpu_finish(struct lode_chrome_gpu *gpu);

#endif
