/* Deferred close: see deferred_close.h. */
#include "hunt/meter/live/deferred_close.h"

#include "base/memory.h"
#include "base/quiet_thread.h"

#include <unistd.h>

#define MAX_THREADS 32

struct lode_deferred_close {
	pthread_mutex_t lock;
	pthread_cond_t more;
	int *fds;
	size_t count;
	size_t capacity;
	pthread_t threads[MAX_THREADS];
	unsigned started;
	unsigned idle;
	int ending;
};

struct lode_deferred_close *lode_deferred_close_create(void)
{
	struct lode_deferred_close *deferred = lode_calloc(1, sizeof(*deferred));

	if (!deferred)
		return NULL;
	pthread_mutex_init(&deferred->lock, NULL);
	pthread_cond_init(&deferred->more, NULL);
	return deferred;
}

static void *work(void *argument)
{
	struct lode_deferred_close *deferred = argument;

	pthread_mutex_lock(&deferred->lock);
	for (;;) {
		int fd;

		while (!deferred->count && !deferred->ending) {
			deferred->idle++;
			pthread_cond_wait(&deferred->more, &deferred->lock);
			deferred->idle--;
		}
		if (!deferred->count)
			break;
		fd = deferred->fds[--deferred->count];
		pthread_mutex_unlock(&deferred->lock);
		close(fd);
		pthread_mutex_lock(&deferred->lock);
	}
	pthread_mutex_unlock(&deferred->lock);
	return NULL;
}

/* Whether a thread is free to close one more; under the lock. */
static int has_worker(struct lode_deferred_close *deferred)
{
	if (deferred->idle > deferred->count || deferred->started == MAX_THREADS)
		return 1;
	if (lode_quiet_thread(&deferred->threads[deferred->started], work, deferred) == 0)
		deferred->started++;
	return deferred->started > 0;
}

void lode_deferred_close_add(struct lode_deferred_close *deferred, int fd)
{
	int taken = 0;

	if (fd < 0)
		return;
	pthread_mutex_lock(&deferred->lock);
	if (has_worker(deferred) && LODE_APPEND(deferred->fds, deferred->count, deferred->capacity, fd) == 0) {
		taken = 1;
		pthread_cond_signal(&deferred->more);
	}
	pthread_mutex_unlock(&deferred->lock);
	if (!taken)
		close(fd);
}

void lode_deferred_close_destroy(struct lode_deferred_close *deferred)
{
	if (!deferred)
		return;
	pthread_mutex_lock(&deferred->lock);
	deferred->ending = 1;
	pthread_cond_broadcast(&deferred->more);
	pthread_mutex_unlock(&deferred->lock);
	for (unsigned i = 0; i < deferred->started; i++)
		pthread_join(deferred->threads[i], NULL);
	pthread_cond_destroy(&deferred->more);
	pthread_mutex_destroy(&deferred->lock);
	lode_free(deferred->fds);
	lode_free(deferred);
}
