/*
 * liblode-gpu.so: what `lode record --gpu` puts into the processes that it records. libcuda loads it, because
 * CUDA_INJECTION64_PATH names it, and calls InitializeInjection. From then on CUPTI reports
 *
 *	calls		of CUDA that launch or wait, when they begin and end, to callback(); the thread may be asked for
 *			its stack there: the recorder has a probe at lode_gpu_stack_is_wanted, which does nothing
 *	activities	kernels, copies and memory sets, in buffers, to completed()
 *
 * and all of it goes into the ring (gpu_ring.h). CUPTI has its own clock; readings of it between two of the recorder's are sent
 * with each buffer.
 *
 * Nothing here may harm the program: what does not work is written into the ring, for the recorder to tell, and the program runs
 * on without it.
 */
#include "gpu/gpu_calls.h"
#include "record/gpu/gpu_ring.h"
#include "record/gpu/inject/cupti_facts.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

/* Bytes of a buffer for CUPTI, and how many there are at most. */
#define BUFFER_BYTES (1u << 20)
#define MAX_BUFFERS  64
/* Milliseconds after which CUPTI hands over buffers that are not full. */
#define FLUSH_PERIOD 100
/* Names that are known by their addresses; a power of two. */
#define NAMES 8192
/* Longest name that is sent. */
#define MAX_NAME 2000
/* Numbers of functions of CUDA that are asked for their names. */
#define MAX_FUNCTIONS 2000
/* Readings of the clocks, of which the closest is sent. */
#define CLOCK_READINGS 8

EXPORT int InitializeInjection(void);
EXPORT void lode_gpu_stack_is_wanted(uint32_t correlation);

static struct lode_gpu_ring *ring;
static struct cupti_functions cupti;
static void *subscriber;
static uint8_t call_kinds[CUPTI_RUNTIME_CALLS + 1][MAX_FUNCTIONS]; /* of functions, by domain and number */
static uint32_t own_pid;

/* Of the current thread: calls in one another, and when the outermost began. */
static __thread struct {
	uint64_t t0;
	uint32_t depth;
	uint32_t tid;
} current;

static struct {
	_Atomic(const char *) address;
	_Atomic uint32_t id;
} names[NAMES];
static _Atomic uint32_t name_count;

static struct {
	pthread_mutex_t lock;
	uint8_t *free[MAX_BUFFERS];
	unsigned free_count, count;
} buffers = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Stacks that may still be asked for in this millisecond. */
static _Atomic uint64_t budget_time;
static _Atomic int32_t budget_left;

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* ---- the ring ---- */

/* The next slot, or NULL where the recorder does not keep up. */
static struct lode_gpu_slot *begin_slot(uint16_t type, uint64_t *number)
{
	uint64_t next = atomic_load_explicit(&ring->next, memory_order_relaxed);
	struct lode_gpu_slot *slot;

	do {
		if (next - atomic_load_explicit(&ring->done, memory_order_acquire) >= ring->slot_count) {
			atomic_fetch_add_explicit(&ring->lost, 1, memory_order_relaxed);
			return NULL;
		}
	} while (!atomic_compare_exchange_weak_explicit(&ring->next, &next, next + 1, memory_order_relaxed,
							memory_order_relaxed));
	slot = &ring->slots[next & (ring->slot_count - 1)];
	*number = next;
	slot->pid = own_pid;
	slot->type = type;
	if (!current.tid)
		current.tid = (uint32_t)gettid();
	slot->tid = current.tid;
	return slot;
}

static void finish_slot(struct lode_gpu_slot *slot, uint64_t number)
{
	atomic_store_explicit(&slot->number, number + 1, memory_order_release);
}

static void send_name(uint32_t id, const char *name)
{
	size_t length = strnlen(name, MAX_NAME), at = 0, part;

	do {
		uint64_t number;
		struct lode_gpu_slot *slot = begin_slot(LODE_GPU_SLOT_NAME, &number);

		part = length - at < LODE_GPU_NAME_BYTES ? length - at : LODE_GPU_NAME_BYTES;
		if (!slot)
			return;
		slot->name.id = id;
		slot->name.at = (uint16_t)at;
		slot->name.length = (uint16_t)part;
		memcpy(slot->name.text, name + at, part);
		finish_slot(slot, number);
		at += part;
	} while (part == LODE_GPU_NAME_BYTES);
}

/* The number of a name, which is sent when it is met first; 0: there are too many. */
static uint32_t name_id(const char *name)
{
	uint64_t hash = (uint64_t)(uintptr_t)name * 0x9e3779b97f4a7c15ull;

	if (!name)
		return 0;
	for (uint32_t i = 0; i < NAMES; i++) {
		uint32_t at = (uint32_t)((hash >> 40) + i) & (NAMES - 1), id;
		const char *there = atomic_load_explicit(&names[at].address, memory_order_acquire);

		if (!there && atomic_compare_exchange_strong(&names[at].address, &there, name)) {
			id = atomic_fetch_add(&name_count, 1) + 1;
			send_name(id, name);
			atomic_store_explicit(&names[at].id, id, memory_order_release);
			return id;
		}
		if (there == name) { /* 0 while another thread sends it */
			while (!(id = atomic_load_explicit(&names[at].id, memory_order_acquire)))
				;
			return id;
		}
	}
	return 0;
}

/* ---- clocks ---- */

static void send_clock(void)
{
	struct lode_gpu_ring_clock best = { 0 }, one;
	struct lode_gpu_slot *slot;
	uint64_t number;

	for (int i = 0; i < CLOCK_READINGS; i++) {
		one.before = now();
		if (cupti.cuptiGetTimestamp(&one.cupti) != CUPTI_OK)
			return;
		one.after = now();
		if (!i || one.after - one.before < best.after - best.before)
			best = one;
	}
	slot = begin_slot(LODE_GPU_SLOT_CLOCK, &number);
	if (!slot)
		return;
	slot->clock = best;
	finish_slot(slot, number);
}

/* ---- calls ---- */

/* The recorder's probe is here. */
__attribute__((noinline)) void lode_gpu_stack_is_wanted(uint32_t correlation)
{
	__asm__ volatile("" : : "r"(correlation) : "memory");
}

/* Whether a stack more may be taken now. */
static int may_ask_for_stack(uint64_t t)
{
	uint64_t millisecond = t / 1000000, before = atomic_load_explicit(&budget_time, memory_order_relaxed);

	if (millisecond != before &&
	    atomic_compare_exchange_strong_explicit(&budget_time, &before, millisecond, memory_order_relaxed,
						    memory_order_relaxed)) {
		uint64_t passed = millisecond - before < 20 ? millisecond - before : 20;

		atomic_store_explicit(&budget_left, (int32_t)(passed * ring->stacks_per_second / 1000 + 1),
				      memory_order_relaxed);
	}
	return atomic_fetch_sub_explicit(&budget_left, 1, memory_order_relaxed) > 0;
}

/* The handles among the parameters of a call; their order follows from its name. */
static void read_parameters(const struct cupti_callback_data *data, uint16_t kind, void **stream, void **event)
{
	const void *const *parameters = data->parameters;

	*stream = *event = NULL;
	if (!parameters)
		return;
	if (kind == LODE_GPU_SYNC_STREAM)
		*stream = (void *)(uintptr_t)parameters[0];
	if (kind == LODE_GPU_SYNC_EVENT || kind == LODE_GPU_RECORD_EVENT)
		*event = (void *)(uintptr_t)parameters[0];
	if (kind == LODE_GPU_RECORD_EVENT)
		*stream = (void *)(uintptr_t)parameters[1];
	if (kind == LODE_GPU_WAIT_EVENT) {
		*stream = (void *)(uintptr_t)parameters[0];
		*event = (void *)(uintptr_t)parameters[1];
	}
}

static uint32_t stream_id(const struct cupti_callback_data *data, uint16_t kind, void *stream)
{
	uint8_t per_thread;
	size_t length;
	uint32_t id;

	if (kind != LODE_GPU_SYNC_STREAM && kind != LODE_GPU_RECORD_EVENT && kind != LODE_GPU_WAIT_EVENT)
		return UINT32_MAX;
	length = strlen(data->function);
	per_thread = length > 5 && (!strcmp(data->function + length - 5, "_ptsz") ||
				    !strcmp(data->function + length - 5, "_ptds"));
	if (!data->context || cupti.cuptiGetStreamIdEx(data->context, stream, per_thread, &id) != CUPTI_OK)
		return UINT32_MAX;
	return id;
}

static void send_call(const struct cupti_callback_data *data, uint16_t kind)
{
	uint32_t name = name_id(data->function), stream;
	struct lode_gpu_slot *slot;
	uint64_t number, t1 = now();
	void *handle, *event;

	read_parameters(data, kind, &handle, &event);
	stream = stream_id(data, kind, handle);
	slot = begin_slot(LODE_GPU_SLOT_CALL, &number);
	if (!slot)
		return;
	slot->kind = kind;
	slot->correlation = data->correlation;
	slot->call = (struct lode_gpu_ring_call){ current.t0, t1, name, stream, (uint64_t)(uintptr_t)event };
	finish_slot(slot, number);
}

/* The runtime calls the driver: the outermost call is the one that has the number of the activity. */
static void callback(void *user, uint32_t domain, uint32_t function, const void *of)
{
	const struct cupti_callback_data *data = of;
	uint16_t kind;

	(void)user;
	if (data->site == CUPTI_CALL_BEGINS) {
		if (current.depth++)
			return;
		current.t0 = now();
		if (may_ask_for_stack(current.t0))
			lode_gpu_stack_is_wanted(data->correlation);
		return;
	}
	if (!current.depth || --current.depth)
		return;
	kind = domain <= CUPTI_RUNTIME_CALLS && function < MAX_FUNCTIONS ? call_kinds[domain][function] : 0;
	send_call(data, kind);
}

/* ---- activities ---- */

static void requested(uint8_t **buffer, size_t *size, size_t *records)
{
	*buffer = NULL;
	*size = 0;
	*records = 0;
	pthread_mutex_lock(&buffers.lock);
	if (buffers.free_count) {
		*buffer = buffers.free[--buffers.free_count];
	} else if (buffers.count < MAX_BUFFERS) {
		void *memory = mmap(NULL, BUFFER_BYTES, PROT_READ | PROT_WRITE, /* from the kernel */
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		*buffer = memory == MAP_FAILED ? NULL : memory;
		buffers.count += *buffer != NULL;
	}
	pthread_mutex_unlock(&buffers.lock);
	*size = *buffer ? BUFFER_BYTES : 0;
}

static void send_activity(uint32_t correlation, const struct lode_gpu_ring_activity *activity)
{
	uint64_t number;
	struct lode_gpu_slot *slot;

	if (!activity->start && !activity->end)
		return;
	slot = begin_slot(LODE_GPU_SLOT_ACTIVITY, &number);
	if (!slot)
		return;
	slot->correlation = correlation;
	slot->activity = *activity;
	finish_slot(slot, number);
}

static const char *copy_name(const struct cupti_memcpy *copy)
{
	static const char *const kinds[] = { "Memcpy",      "Memcpy HtoD", "Memcpy DtoH", "Memcpy HtoA",
					     "Memcpy AtoH", "Memcpy AtoA", "Memcpy AtoD", "Memcpy DtoA",
					     "Memcpy DtoD", "Memcpy HtoH", "Memcpy PtoP" };

	return kinds[copy->copy_kind < sizeof(kinds) / sizeof(*kinds) ? copy->copy_kind : 0];
}

static void send_record(const void *record)
{
	const struct cupti_kernel *kernel = record;
	const struct cupti_memcpy *copy = record;
	const struct cupti_memset *set = record;
	uint32_t is_pageable;

	switch (kernel->kind) {
	case CUPTI_KERNEL:
	case CUPTI_CONCURRENT_KERNEL:
		send_activity(kernel->correlation,
			      &(struct lode_gpu_ring_activity){ kernel->start, kernel->end, name_id(kernel->name),
								kernel->device, kernel->stream, 0 });
		break;
	case CUPTI_MEMCPY:
		is_pageable = copy->source_kind == CUPTI_MEMORY_PAGEABLE ||
			      copy->target_kind == CUPTI_MEMORY_PAGEABLE;
		send_activity(copy->correlation,
			      &(struct lode_gpu_ring_activity){ copy->start, copy->end, name_id(copy_name(copy)),
								copy->device, copy->stream, is_pageable });
		break;
	case CUPTI_MEMSET:
		send_activity(set->correlation,
			      &(struct lode_gpu_ring_activity){ set->start, set->end, name_id("Memset"),
								set->device, set->stream, 0 });
		break;
	default:
		break;
	}
}

static void completed(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	void *record = NULL;

	(void)context;
	(void)stream;
	(void)size;
	if (!buffer)
		return;
	send_clock();
	while (valid && cupti.cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_OK)
		send_record(record);
	pthread_mutex_lock(&buffers.lock);
	buffers.free[buffers.free_count++] = buffer;
	pthread_mutex_unlock(&buffers.lock);
}

/* ---- loading ---- */

/* The first process says why; its program runs on. */
static int give_up(const char *what, const char *which)
{
	uint32_t first = 0;

	if (atomic_compare_exchange_strong(&ring->failed, &first, 1)) {
		snprintf(ring->message, sizeof(ring->message), "process %u: %s%s", own_pid, what, which);
		atomic_store(&ring->failed, 2);
	}
	return 0;
}

static int map_ring(void)
{
	const char *path = getenv(LODE_GPU_RING_VARIABLE);
	int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	struct stat status;
	void *memory;

	if (fd < 0)
		return 0;
	if (fstat(fd, &status) < 0 || (size_t)status.st_size < sizeof(*ring)) {
		close(fd);
		return 0;
	}
	memory = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, /* from the recorder */
		      MAP_SHARED, fd, 0);
	close(fd);
	ring = memory == MAP_FAILED ? NULL : memory;
	return ring && ring->magic == LODE_GPU_RING_MAGIC && ring->version == LODE_GPU_RING_VERSION &&
	       ring->slot_count && !(ring->slot_count & (ring->slot_count - 1)) &&
	       (size_t)status.st_size >= sizeof(*ring) + (size_t)ring->slot_count * sizeof(ring->slots[0]);
}

/* Where Python packages of CUDA have it: beside the libraries of CUDA that the process has loaded, or in a folder near them. */
static int try_near(struct dl_phdr_info *info, size_t size, void *result)
{
	static const char *const near[] = { "", "../../cuda_cupti/lib/", "../extras/CUPTI/lib64/" };
	static const char *const versions[] = { "13", "12", "11" };
	const char *slash = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
	void **library = result;
	char path[1024];

	(void)size;
	if (!slash || strncmp(slash, "/libcu", 6) != 0)
		return 0;
	for (size_t i = 0; i < sizeof(near) / sizeof(*near); i++)
		for (size_t k = 0; k < sizeof(versions) / sizeof(*versions); k++) {
			snprintf(path, sizeof(path), "%.*s/%slibcupti.so.%s", (int)(slash - info->dlpi_name),
				 info->dlpi_name, near[i], versions[k]);
			if (access(path, R_OK) == 0 && (*library = dlopen(path, RTLD_NOW | RTLD_LOCAL)))
				return 1;
		}
	return 0;
}

static void *load_cupti(void)
{
	static const char *const known[] = { "libcupti.so.13", "libcupti.so.12", "libcupti.so.11.8", "libcupti.so",
					     "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so" };
	const char *named = getenv(LODE_GPU_CUPTI_VARIABLE);
	void *library = NULL;

	if (named)
		return dlopen(named, RTLD_NOW | RTLD_LOCAL);
	for (size_t i = 0; !library && i < sizeof(known) / sizeof(*known); i++)
		library = dlopen(known[i], RTLD_NOW | RTLD_NOLOAD);
	if (!library)
		dl_iterate_phdr(try_near, &library);
	for (size_t i = 0; !library && i < sizeof(known) / sizeof(*known); i++)
		library = dlopen(known[i], RTLD_NOW | RTLD_LOCAL);
	return library;
}

/* The first function that is missing; NULL: none is. */
static const char *find_functions(void *library)
{
#define FIND(name)                                                                                                \
	do {                                                                                                      \
		void *address = dlsym(library, #name);                                                            \
		memcpy(&cupti.name, &address, sizeof(address));                                                   \
		if (!address && strcmp(#name, "cuptiActivityFlushPeriod") != 0)                                   \
			return #name;                                                                             \
	} while (0)
	FIND(cuptiSubscribe);
	FIND(cuptiUnsubscribe);
	FIND(cuptiEnableCallback);
	FIND(cuptiGetCallbackName);
	FIND(cuptiGetTimestamp);
	FIND(cuptiGetStreamIdEx);
	FIND(cuptiActivityRegisterCallbacks);
	FIND(cuptiActivityEnable);
	FIND(cuptiActivityGetNextRecord);
	FIND(cuptiActivityFlushAll);
	FIND(cuptiActivityFlushPeriod);
#undef FIND
	return NULL;
}

/* Only calls that matter: a callback takes a tenth of a microsecond. */
static void enable_calls(uint32_t domain)
{
	const char *name;

	for (uint32_t i = 1; i < MAX_FUNCTIONS; i++) {
		name = NULL;
		if (cupti.cuptiGetCallbackName(domain, i, &name) != CUPTI_OK || !name)
			continue;
		call_kinds[domain][i] = (uint8_t)lode_gpu_call_kind_of(name, strlen(name));
		if (call_kinds[domain][i] != LODE_GPU_OTHER_CALL)
			cupti.cuptiEnableCallback(1, subscriber, domain, i);
	}
}

/* At the end of the program, before CUDA is taken down. */
static void finish(void)
{
	if (own_pid != (uint32_t)getpid())
		return;
	cupti.cuptiActivityFlushAll(CUPTI_FLUSH_ALL);
	send_clock();
	cupti.cuptiUnsubscribe(subscriber);
}

static int start(void)
{
	int code = cupti.cuptiSubscribe(&subscriber, callback, NULL);

	if (code == CUPTI_ANOTHER_SUBSCRIBER)
		return give_up("another profiler holds CUPTI, which serves one at a time; end it, or record "
			       "without --gpu",
			       "");
	if (code != CUPTI_OK)
		return give_up("CUPTI cannot be used (cuptiSubscribe fails)", "");
	if (cupti.cuptiActivityRegisterCallbacks(requested, completed) != CUPTI_OK)
		return give_up("CUPTI cannot be used (cuptiActivityRegisterCallbacks fails)", "");
	code = cupti.cuptiActivityEnable(CUPTI_CONCURRENT_KERNEL);
	if (code == CUPTI_NO_PERMISSION)
		return give_up("the driver allows profiling to administrators only; see "
			       "NVreg_RestrictProfilingToAdminUsers",
			       "");
	if (code != CUPTI_OK || cupti.cuptiActivityEnable(CUPTI_MEMCPY) != CUPTI_OK ||
	    cupti.cuptiActivityEnable(CUPTI_MEMSET) != CUPTI_OK)
		return give_up("CUPTI cannot record kernels and copies (cuptiActivityEnable fails)", "");
	enable_calls(CUPTI_RUNTIME_CALLS);
	enable_calls(CUPTI_DRIVER_CALLS);
	if (cupti.cuptiActivityFlushPeriod)
		cupti.cuptiActivityFlushPeriod(FLUSH_PERIOD);
	send_clock();
	atexit(finish);
	atomic_fetch_add(&ring->processes, 1);
	return 1;
}

int InitializeInjection(void)
{
	const char *missing;
	void *library;

	own_pid = (uint32_t)getpid();
	if (!map_ring())
		return 0;
	library = load_cupti();
	if (!library)
		return give_up(
			"libcupti is not found; it comes with CUDA's toolkit (extras/CUPTI) and with the Python "
			"package nvidia-cuda-cupti; name the file in " LODE_GPU_CUPTI_VARIABLE,
			"");
	missing = find_functions(library);
	if (missing)
		return give_up("libcupti has no function ", missing);
	return start();
}
