/*
 * A program that uses a GPU that is not there: it plays one of several scenarios, and says at its end what it did, in JSON.
 *
 *	gpu_actor mutex|event|copy|graph|spin|launches
 *
 * Calls have the names and the behaviour of CUDA's: a stream does one thing after another, and synchronising spins until it is
 * done. What CUDA_INJECTION64_PATH names is loaded first, as libcuda does it.
 */
#include "standin.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))
#define MS       1000000u
#define LATENCY  4000u /* from the end of a launch to the start of the kernel */

struct stream {
	uint32_t number;
	uint64_t end;     /* when it is done; CLOCK_REALTIME, as all times here */
	uint64_t awaited; /* what the next kernel may not begin before */
	uint64_t busy;
};

static struct stream first = { .number = 7 }, second = { .number = 9 };
static uint32_t correlations;
static uint64_t waited; /* in calls, until what they wait for was done */

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_REALTIME, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void spin_until(uint64_t t)
{
	while (now() < t)
		;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void run(struct stream *stream, const char *name, uint64_t work, uint32_t correlation)
{
	uint64_t start = later(later(stream->end, stream->awaited), now() + LATENCY);

	stream->end = start + work;
	stream->awaited = 0;
	stream->busy += work;
	standin_kernel(name, start, stream->end, stream->number, correlation);
}

/* ---- what CUDA has ---- */

NOINLINE void cudaLaunchKernel(struct stream *stream, const char *name, uint64_t work);
NOINLINE void cudaGraphLaunch(struct stream *stream, const char *name, uint64_t work, unsigned count);
NOINLINE void cudaMemcpyAsync(struct stream *stream, uint64_t work);
NOINLINE void cudaStreamSynchronize(struct stream *stream);
NOINLINE uint64_t cudaEventRecord(struct stream *stream, void *event);
NOINLINE void cudaStreamWaitEvent(struct stream *stream, void *event, uint64_t end);

void cudaLaunchKernel(struct stream *stream, const char *name, uint64_t work)
{
	uint32_t correlation = __atomic_add_fetch(&correlations, 1, __ATOMIC_RELAXED);

	standin_call(STANDIN_LAUNCH, 0, NULL, correlation);
	run(stream, name, work, correlation);
	standin_call(STANDIN_LAUNCH, 1, NULL, correlation);
}

void cudaGraphLaunch(struct stream *stream, const char *name, uint64_t work, unsigned count)
{
	uint32_t correlation = __atomic_add_fetch(&correlations, 1, __ATOMIC_RELAXED);

	standin_call(STANDIN_GRAPH_LAUNCH, 0, NULL, correlation);
	for (unsigned i = 0; i < count; i++)
		run(stream, name, work, correlation);
	standin_call(STANDIN_GRAPH_LAUNCH, 1, NULL, correlation);
}

/* To pageable memory: it comes back when it is done. */
void cudaMemcpyAsync(struct stream *stream, uint64_t work)
{
	uint32_t correlation = __atomic_add_fetch(&correlations, 1, __ATOMIC_RELAXED);
	uint64_t begun = now(), start;

	standin_call(STANDIN_COPY, 0, NULL, correlation);
	start = later(stream->end, now() + LATENCY);
	stream->end = start + work;
	stream->busy += work;
	standin_copy(start, stream->end, stream->number, correlation);
	spin_until(stream->end);
	waited += stream->end - begun;
	standin_call(STANDIN_COPY, 1, NULL, correlation);
}

void cudaStreamSynchronize(struct stream *stream)
{
	uint32_t correlation = __atomic_add_fetch(&correlations, 1, __ATOMIC_RELAXED);
	const void *parameters[] = { (void *)(uintptr_t)stream->number };
	uint64_t begun = now();

	standin_call(STANDIN_STREAM_SYNCHRONIZE, 0, parameters, correlation);
	spin_until(stream->end);
	if (stream->end > begun)
		waited += stream->end - begun;
	standin_call(STANDIN_STREAM_SYNCHRONIZE, 1, parameters, correlation);
}

uint64_t cudaEventRecord(struct stream *stream, void *event)
{
	uint32_t correlation = __atomic_add_fetch(&correlations, 1, __ATOMIC_RELAXED);
	const void *parameters[] = { event, (void *)(uintptr_t)stream->number };

	standin_call(STANDIN_EVENT_RECORD, 0, parameters, correlation);
	standin_call(STANDIN_EVENT_RECORD, 1, parameters, correlation);
	return stream->end;
}

void cudaStreamWaitEvent(struct stream *stream, void *event, uint64_t end)
{
	uint32_t correlation = __atomic_add_fetch(&correlations, 1, __ATOMIC_RELAXED);
	const void *parameters[] = { (void *)(uintptr_t)stream->number, event };

	standin_call(STANDIN_STREAM_WAIT_EVENT, 0, parameters, correlation);
	stream->awaited = later(stream->awaited, end);
	standin_call(STANDIN_STREAM_WAIT_EVENT, 1, parameters, correlation);
}

/* ---- scenarios ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int stop, held;

NOINLINE static void compute_holding_lock(void)
{
	spin_until(now() + 20 * MS);
}

static void *hold_lock(void *unused)
{
	while (!stop) {
		pthread_mutex_lock(&lock);
		held = 1;
		compute_holding_lock();
		held = 0;
		pthread_mutex_unlock(&lock);
		usleep(3000);
	}
	return unused;
}

/* Each launch is behind a mutex that another thread holds most of the time. */
NOINLINE static void play_mutex(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, hold_lock, NULL);
	for (int i = 0; i < 12; i++) {
		while (!held)
			usleep(100);
		pthread_mutex_lock(&lock);
		cudaLaunchKernel(&first, "_Z4gemmPf", 1 * MS);
		pthread_mutex_unlock(&lock);
	}
	stop = 1;
	pthread_join(thread, NULL);
	cudaStreamSynchronize(&first);
}

/* Stream 7 waits for an event of stream 9. */
NOINLINE static void play_event(void)
{
	int event;

	for (int i = 0; i < 15; i++) {
		uint64_t end;

		cudaLaunchKernel(&second, "all_reduce", 10 * MS);
		end = cudaEventRecord(&second, &event);
		cudaLaunchKernel(&first, "forward", 1 * MS);
		cudaStreamWaitEvent(&first, &event, end);
		cudaLaunchKernel(&first, "backward", 1 * MS);
		cudaStreamSynchronize(&first);
	}
}

NOINLINE static void play_copy(void)
{
	for (int i = 0; i < 20; i++) {
		cudaLaunchKernel(&first, "forward", 8 * MS);
		cudaMemcpyAsync(&first, MS / 20);
	}
}

NOINLINE static void prepare_batch(void)
{
	spin_until(now() + 10 * MS);
}

NOINLINE static void play_graph(void)
{
	for (int i = 0; i < 15; i++) {
		prepare_batch();
		cudaGraphLaunch(&first, "node", 20000, 100);
		cudaStreamSynchronize(&first);
	}
}

NOINLINE static void play_spin(void)
{
	for (int i = 0; i < 20; i++) {
		cudaLaunchKernel(&first, "attention", 12 * MS);
		cudaStreamSynchronize(&first);
		spin_until(now() + 2 * MS);
	}
}

/* As many launches as possible. */
NOINLINE static void play_launches(void)
{
	uint64_t end = now() + 500 * MS;

	while (now() < end)
		cudaLaunchKernel(&first, "tiny", 100);
}

static void inject(void)
{
	const char *path = getenv("CUDA_INJECTION64_PATH");
	void *library = path ? dlopen(path, RTLD_NOW) : NULL;
	int (*initialize)(void);
	void *address = library ? dlsym(library, "InitializeInjection") : NULL;

	memcpy(&initialize, &address, sizeof(address));
	if (initialize)
		initialize();
}

int main(int count, char **words)
{
	static const struct {
		const char *name;
		void (*play)(void);
	} scenarios[] = { { "mutex", play_mutex }, { "event", play_event }, { "copy", play_copy },
			  { "graph", play_graph }, { "spin", play_spin },   { "launches", play_launches } };
	uint64_t begun;

	inject();
	begun = now();
	for (size_t i = 0; i < sizeof(scenarios) / sizeof(*scenarios); i++)
		if (count > 1 && !strcmp(words[1], scenarios[i].name))
			scenarios[i].play();
	printf("{\"busy\":{\"7\":%llu,\"9\":%llu},\"waited\":%llu,\"calls\":%u,\"took\":%llu}\n",
	       (unsigned long long)first.busy, (unsigned long long)second.busy, (unsigned long long)waited,
	       correlations, (unsigned long long)(now() - begun));
	return 0;
}
