/*
 * The stand-in for libcupti: see standin.h. STANDIN_REFUSES in the environment is the code with which cuptiSubscribe fails.
 * Records are larger than what is known of them, as those of newer versions are.
 */
#include "standin.h"

#include "record/gpu/inject/cupti_facts.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define RECORD_BYTES 192

int cuptiSubscribe(void **subscriber, cupti_callback *callback, void *user);
int cuptiUnsubscribe(void *subscriber);
int cuptiEnableCallback(uint32_t enable, void *subscriber, uint32_t domain, uint32_t function);
int cuptiGetCallbackName(uint32_t domain, uint32_t function, const char **name);
int cuptiGetTimestamp(uint64_t *timestamp);
int cuptiGetStreamIdEx(void *context, void *stream, uint8_t per_thread, uint32_t *id);
int cuptiActivityRegisterCallbacks(cupti_buffer_requested *requested, cupti_buffer_completed *completed);
int cuptiActivityEnable(uint32_t kind);
int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, void **record);
int cuptiActivityFlushAll(uint32_t flag);

static const char *const names[STANDIN_FUNCTIONS] = {
	[STANDIN_LAUNCH] = "cudaLaunchKernel_v7000",
	[STANDIN_GRAPH_LAUNCH] = "cudaGraphLaunch_v10000",
	[STANDIN_COPY] = "cudaMemcpyAsync_v3020",
	[STANDIN_STREAM_SYNCHRONIZE] = "cudaStreamSynchronize_v3020",
	[STANDIN_DEVICE_SYNCHRONIZE] = "cudaDeviceSynchronize_v3020",
	[STANDIN_EVENT_RECORD] = "cudaEventRecord_v3020",
	[STANDIN_STREAM_WAIT_EVENT] = "cudaStreamWaitEvent_v3020",
	[STANDIN_GET_DEVICE] = "cudaGetDevice_v3020",
};

static struct {
	cupti_callback *callback;
	uint8_t enabled[STANDIN_FUNCTIONS];
	cupti_buffer_requested *requested;
	cupti_buffer_completed *completed;
	pthread_mutex_t lock;
	uint8_t *buffer;
	size_t size, valid;
} state = { .lock = PTHREAD_MUTEX_INITIALIZER };

int cuptiSubscribe(void **subscriber, cupti_callback *callback, void *user)
{
	const char *refuses = getenv("STANDIN_REFUSES");

	(void)user;
	if (refuses)
		return atoi(refuses);
	*subscriber = &state;
	state.callback = callback;
	return CUPTI_OK;
}

int cuptiUnsubscribe(void *subscriber)
{
	(void)subscriber;
	state.callback = NULL;
	return CUPTI_OK;
}

int cuptiEnableCallback(uint32_t enable, void *subscriber, uint32_t domain, uint32_t function)
{
	(void)subscriber;
	if (domain != CUPTI_RUNTIME_CALLS || function >= STANDIN_FUNCTIONS)
		return 1;
	state.enabled[function] = enable != 0;
	return CUPTI_OK;
}

int cuptiGetCallbackName(uint32_t domain, uint32_t function, const char **name)
{
	if (domain != CUPTI_RUNTIME_CALLS || function >= STANDIN_FUNCTIONS || !names[function])
		return 1;
	*name = names[function];
	return CUPTI_OK;
}

int cuptiGetTimestamp(uint64_t *timestamp)
{
	struct timespec time;

	clock_gettime(CLOCK_REALTIME, &time);
	*timestamp = (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
	return CUPTI_OK;
}

/* Streams are known by their numbers here. */
int cuptiGetStreamIdEx(void *context, void *stream, uint8_t per_thread, uint32_t *id)
{
	(void)per_thread;
	*id = (uint32_t)(uintptr_t)stream;
	return context ? CUPTI_OK : 1;
}

int cuptiActivityRegisterCallbacks(cupti_buffer_requested *requested, cupti_buffer_completed *completed)
{
	state.requested = requested;
	state.completed = completed;
	return CUPTI_OK;
}

int cuptiActivityEnable(uint32_t kind)
{
	return kind == CUPTI_CONCURRENT_KERNEL || kind == CUPTI_MEMCPY || kind == CUPTI_MEMSET ? CUPTI_OK : 1;
}

int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, void **record)
{
	uint8_t *next = *record ? (uint8_t *)*record + RECORD_BYTES : buffer;

	if (next + RECORD_BYTES > buffer + valid)
		return CUPTI_END_OF_BUFFER;
	*record = next;
	return CUPTI_OK;
}

static void hand_over(void)
{
	if (state.buffer)
		state.completed(NULL, 0, state.buffer, state.size, state.valid);
	state.buffer = NULL;
	state.valid = 0;
}

int cuptiActivityFlushAll(uint32_t flag)
{
	(void)flag;
	pthread_mutex_lock(&state.lock);
	hand_over();
	pthread_mutex_unlock(&state.lock);
	return CUPTI_OK;
}

static void add_record(const void *record, size_t size)
{
	size_t limit = 0;

	if (!state.requested)
		return;
	pthread_mutex_lock(&state.lock);
	if (!state.buffer)
		state.requested(&state.buffer, &state.size, &limit);
	if (state.buffer) {
		memset(state.buffer + state.valid, 0xaa, RECORD_BYTES);
		memcpy(state.buffer + state.valid, record, size);
		state.valid += RECORD_BYTES;
		if (state.valid + RECORD_BYTES > state.size)
			hand_over();
	}
	pthread_mutex_unlock(&state.lock);
}

void standin_call(enum standin_function function, int ends, const void *parameters, uint32_t correlation)
{
	struct cupti_callback_data data = { .site = ends ? 1 : CUPTI_CALL_BEGINS,
					    .function = names[function],
					    .parameters = parameters,
					    .context = &state,
					    .correlation = correlation };

	if (state.callback && state.enabled[function])
		state.callback(NULL, CUPTI_RUNTIME_CALLS, function, &data);
}

void standin_kernel(const char *name, uint64_t start, uint64_t end, uint32_t stream, uint32_t correlation)
{
	struct cupti_kernel kernel = { .kind = CUPTI_CONCURRENT_KERNEL,
				       .start = start,
				       .end = end,
				       .stream = stream,
				       .correlation = correlation,
				       .name = name };

	add_record(&kernel, sizeof(kernel));
}

void standin_copy(uint64_t start, uint64_t end, uint32_t stream, uint32_t correlation)
{
	struct cupti_memcpy copy = { .kind = CUPTI_MEMCPY,
				     .copy_kind = 2,
				     .source_kind = 3,
				     .target_kind = CUPTI_MEMORY_PAGEABLE,
				     .bytes = 4,
				     .start = start,
				     .end = end,
				     .stream = stream,
				     .correlation = correlation };

	add_record(&copy, sizeof(copy));
}
