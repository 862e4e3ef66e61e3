/* A stand-in for NVIDIA's libcupti: what its libcuda, here the test program, tells it, it reports to who has subscribed. */
#ifndef LODE_TESTS_GPU_STANDIN_H
#define LODE_TESTS_GPU_STANDIN_H

#include <stdint.h>

/* Calls of the runtime that programs make; the numbers of their callbacks. */
enum standin_function {
	STANDIN_LAUNCH = 1,
	STANDIN_GRAPH_LAUNCH,
	STANDIN_COPY,
	STANDIN_STREAM_SYNCHRONIZE,
	STANDIN_DEVICE_SYNCHRONIZE,
	STANDIN_EVENT_RECORD,
	STANDIN_STREAM_WAIT_EVENT,
	STANDIN_GET_DEVICE, /* of no interest */
	STANDIN_FUNCTIONS,
};

/* A call begins or ends. */
void standin_call(enum standin_function function, int ends, const void *parameters, uint32_t correlation);
/* Times of CLOCK_REALTIME. */
void standin_kernel(const char *name, uint64_t start, uint64_t end, uint32_t stream, uint32_t correlation);
void standin_copy(uint64_t start, uint64_t end, uint32_t stream, uint32_t correlation);

#endif
