/*
 * What of CUPTI's interface is used, by its documentation: CUDA 11 to 13. CUPTI extends records at their end, so these are
 * beginnings of them. Nothing of CUDA is needed to build.
 */
#ifndef LODE_RECORD_GPU_INJECT_CUPTI_FACTS_H
#define LODE_RECORD_GPU_INJECT_CUPTI_FACTS_H

#include <stddef.h>
#include <stdint.h>

enum {
	CUPTI_OK = 0,
	CUPTI_END_OF_BUFFER = 12,      /* CUPTI_ERROR_MAX_LIMIT_REACHED */
	CUPTI_ANOTHER_SUBSCRIBER = 39, /* CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED */
	CUPTI_NO_PERMISSION = 35,      /* CUPTI_ERROR_INSUFFICIENT_PRIVILEGES */
	CUPTI_DRIVER_CALLS = 1,        /* domains of callbacks */
	CUPTI_RUNTIME_CALLS = 2,
	CUPTI_CALL_BEGINS = 0, /* sites of callbacks */
	CUPTI_MEMCPY = 1,      /* kinds of activities */
	CUPTI_MEMSET = 2,
	CUPTI_KERNEL = 3,
	CUPTI_CONCURRENT_KERNEL = 10,
	CUPTI_MEMORY_PAGEABLE = 1,
	CUPTI_FLUSH_ALL = 1,
};

struct cupti_callback_data {
	uint32_t site;
	const char *function;
	const void *parameters;
	void *result;
	const char *symbol;
	void *context;
	uint32_t context_id;
	uint64_t *data;
	uint32_t correlation;
};

struct cupti_kernel {
	uint32_t kind;
	uint8_t cache_config, shared_config;
	uint16_t registers;
	uint32_t caching_requested, caching_executed;
	uint64_t start, end, completed;
	uint32_t device, context, stream;
	int32_t grid[3], block[3];
	int32_t static_shared, dynamic_shared;
	uint32_t local_per_thread, local_total;
	uint32_t correlation;
	int64_t grid_id;
	const char *name;
};

struct cupti_memcpy {
	uint32_t kind;
	uint8_t copy_kind, source_kind, target_kind, flags;
	uint64_t bytes;
	uint64_t start, end;
	uint32_t device, context, stream;
	uint32_t correlation;
};

struct cupti_memset {
	uint32_t kind;
	uint32_t value;
	uint64_t bytes;
	uint64_t start, end;
	uint32_t device, context, stream;
	uint32_t correlation;
};

_Static_assert(offsetof(struct cupti_callback_data, correlation) == 64, "as CUPTI has it");
_Static_assert(offsetof(struct cupti_kernel, start) == 16 && offsetof(struct cupti_kernel, correlation) == 92 &&
		       offsetof(struct cupti_kernel, name) == 104,
	       "as CUPTI has it");
_Static_assert(offsetof(struct cupti_memcpy, start) == 16 && offsetof(struct cupti_memcpy, correlation) == 44,
	       "as CUPTI has it");
_Static_assert(offsetof(struct cupti_memset, start) == 16 && offsetof(struct cupti_memset, correlation) == 44,
	       "as CUPTI has it");

typedef void cupti_callback(void *user, uint32_t domain, uint32_t function, const void *data);
typedef void cupti_buffer_requested(uint8_t **buffer, size_t *size, size_t *records);
typedef void cupti_buffer_completed(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid);

/* Functions of libcupti, by their names. */
struct cupti_functions {
	int (*cuptiSubscribe)(void **subscriber, cupti_callback *callback, void *user);
	int (*cuptiUnsubscribe)(void *subscriber);
	int (*cuptiEnableCallback)(uint32_t enable, void *subscriber, uint32_t domain, uint32_t function);
	int (*cuptiGetCallbackName)(uint32_t domain, uint32_t function, const char **name);
	int (*cuptiGetTimestamp)(uint64_t *timestamp);
	int (*cuptiGetStreamIdEx)(void *context, void *stream, uint8_t per_thread, uint32_t *id);
	int (*cuptiActivityRegisterCallbacks)(cupti_buffer_requested *requested, cupti_buffer_completed *completed);
	int (*cuptiActivityEnable)(uint32_t kind);
	int (*cuptiActivityGetNextRecord)(uint8_t *buffer, size_t valid, void **record);
	int (*cuptiActivityFlushAll)(uint32_t flag);
	int (*cuptiActivityFlushPeriod)(uint32_t milliseconds); /* may be missing */
};

#endif
