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
	struct lode_deferred_close *closer = lode_calloc(1, sizeof(*closer));

	if (!closer)
		return NULL;
	pthread_mutex_init(&closer->lock, NULL);
	pthread_cond_init(&closer->more, NULL);
	return closer;
}

static void *work(void *argument)
{
	struct lode_deferred_close *closer = argument;

	pthread_mutex_lock(&closer->lock);
	for (;;) {
		int fd;

		while (!closer->count && !closer->ending) {
			closer->idle++;
			pthread_cond_wait(&closer->more, &closer->lock);
			closer->idle--;
		}
		if (!closer->count)
			break;
		fd = closer->fds[--closer->count];
		pthread_mutex_unlock(&closer->lock);
		close(fd);
		pthread_mutex_lock(&closer->lock);
	}
	pthread_mutex_unlock(&closer->lock);
	return NULL;
}

/* Whether a thread is free to close one more; under the lock. */
static int has_worker(struct lode_deferred_close *closer)
{
	if (closer->idle > closer->count || closer->started == MAX_THREADS)
		return 1;
	if (lode_quiet_thread(&closer->threads[closer->started], work, closer) == 0)
		closer->started++;
	return closer->started > 0;
}

void lode_deferred_close_add(struct lode_deferred_close *closer, int fd)
{
	int taken = 0;

	if (fd < 0)
		return;
	pthread_mutex_lock(&closer->lock);
	if (has_worker(closer) && LODE_APPEND(closer->fds, closer->count, closer->capacity, fd) == 0) {
		taken = 1;
		pthread_cond_signal(&closer->more);
	}
	pthread_mutex_unlock(&closer->lock);
	if (!taken)
		close(fd);
}

void lode_deferred_close_destroy(struct lode_deferred_close *closer)
{
	if (!closer)
		return;
	pthread_mutex_lock(&closer->lock);
	closer->ending = 1;
	pthread_cond_broadcast(&closer->more);
	pthread_mutex_unlock(&closer->lock);
	for (unsigned i = 0; i < closer->started; i++)
		pthread_join(closer->threads[i], NULL);
	pthread_cond_destroy(&closer->more);
	pthread_mutex_destroy(&closer->lock);
	lode_free(closer->fds);
	lode_free(closer);
}
