/* Worker: see worker.h. */
#include "base/worker.h"

#include "base/clock.h"
#include "base/quiet_thread.h"

#include <string.h>

void lode_worker_init(struct lode_worker *worker)
{
	pthread_condattr_t attributes;

	memset(worker, 0, sizeof(*worker));
	pthread_mutex_init(&worker->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&worker->changed, &attributes);
	pthread_condattr_destroy(&attributes);
}

int lode_worker_start(struct lode_worker *worker, void *(*loop)(void *context), void *context)
{
	if (!worker->started)
		worker->started = lode_quiet_thread(&worker->thread, loop, context) == 0;
	return worker->started;
}

int lode_worker_wait(struct lode_worker *worker, uint64_t ns)
{
	uint64_t until = lode_now() + ns;
	struct timespec time = { (time_t)(until / 1000000000u), (long)(until % 1000000000u) };

	return pthread_cond_timedwait(&worker->changed, &worker->lock, &time);
}

void lode_worker_release(struct lode_worker *worker)
{
	pthread_mutex_lock(&worker->lock);
	worker->ending = 1;
	pthread_cond_broadcast(&worker->changed);
	pthread_mutex_unlock(&worker->lock);
	if (worker->started)
		pthread_join(worker->thread, NULL);
	pthread_cond_destroy(&worker->changed);
	pthread_mutex_destroy(&worker->lock);
}
