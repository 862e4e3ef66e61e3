/* Calls of CUDA and HIP, by what they do. Used in the processes that are recorded, too, so it needs nothing else. */
#ifndef LODE_GPU_CALLS_H
#define LODE_GPU_CALLS_H

#include <stddef.h>

enum lode_gpu_call_kind {
	LODE_GPU_OTHER_CALL,
	LODE_GPU_LAUNCH,       /* of kernels, graphs, memory sets */
	LODE_GPU_COPY,         /* waits until the copy is done */
	LODE_GPU_COPY_ASYNC,   /* does so for pageable memory only */
	LODE_GPU_SYNC_STREAM,  /* waits for a stream, */
	LODE_GPU_SYNC_EVENT,   /* for an event of one, */
	LODE_GPU_SYNC_DEVICE,  /* or for all */
	LODE_GPU_WAIT_EVENT,   /* makes a stream wait for an event */
	LODE_GPU_RECORD_EVENT, /* records one */
};

/* By the name of the function: `cudaStreamSynchronize`, `cuMemcpyDtoH_v2`, `hipLaunchKernel`. */
enum lode_gpu_call_kind lode_gpu_call_kind_of(const char *name, size_t length);

#endif
