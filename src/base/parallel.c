/* Parallel loops: see parallel.h. */
#include "base/parallel.h"

#include "base/memory.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

struct loop {
	atomic_size_t next;
	size_t count;
	void (*piece)(void *context, size_t i);
	void *context;
};

unsigned lode_processors(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) < 0)
		return 1;
	return CPU_COUNT(&set) > 0 ? (unsigned)CPU_COUNT(&set) : 1;
}

static void *work(void *argument)
{
	struct loop *loop = argument;
	size_t i;

	while ((i = atomic_fetch_add(&loop->next, 1)) < loop->count)
		loop->piece(loop->context, i);
	return NULL;
}

void lode_parallel(unsigned jobs, size_t count, void (*piece)(void *context, size_t i), void *context)
{
	struct loop loop = { 0, count, piece, context };
	pthread_t *threads;
	unsigned started = 0;

	if (!jobs)
		jobs = lode_processors();
	if (jobs > count)
		jobs = (unsigned)count;
	threads = jobs > 1 ? lode_calloc(jobs - 1, sizeof(*threads)) : NULL;
	while (threads && started < jobs - 1) {
		if (pthread_create(&threads[started], NULL, work, &loop) != 0)
			break;
		started++;
	}
	work(&loop);
	for (unsigned i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
	lode_free(threads);
}
