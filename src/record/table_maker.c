/*
 * Table maker: see table_maker.h.
 *
 * One table is made at a time: the stack that needs it cannot be unwound before, and
 * those that come meanwhile are only kept. The maker's thread and the one that waits hand
 * the job to each other under one lock; neither touches it while it is the other's. The
 * table goes to the cache when nobody waits for it any more, unless for the next one.
 */
#include "record/table_maker.h"

#include "base/memory.h"
#include "base/quiet_thread.h"

#include <time.h>

/* How often the one who waits looks elsewhere. */
#define WAIT_NS 1000000

enum state {
	IDLE,
	ASKED,
	DONE,
};

struct lode_table_maker {
	void (*meanwhile)(void *context);
	void *context;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	pthread_t thread;
	int started;
	int ending;
	enum state state;
	/* The job. */
	struct lode_unwind_table *table;
	const char *path;
	const char *build_id;
	const char *cache;
	int result;
};

struct lode_table_maker *lode_table_maker_create(void (*meanwhile)(void *context), void *context)
{
	struct lode_table_maker *maker = lode_calloc(1, sizeof(*maker));
	pthread_condattr_t attributes;

	if (!maker)
		return NULL;
	maker->meanwhile = meanwhile;
	maker->context = context;
	pthread_mutex_init(&maker->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&maker->changed, &attributes);
	pthread_condattr_destroy(&attributes);
	return maker;
}

void lode_table_maker_destroy(struct lode_table_maker *maker)
{
	if (!maker)
		return;
	pthread_mutex_lock(&maker->lock);
	maker->ending = 1;
	pthread_cond_broadcast(&maker->changed);
	pthread_mutex_unlock(&maker->lock);
	if (maker->started)
		pthread_join(maker->thread, NULL);
	pthread_cond_destroy(&maker->changed);
	pthread_mutex_destroy(&maker->lock);
	lode_free(maker);
}

static void *work(void *argument)
{
	struct lode_table_maker *maker = argument;

	pthread_mutex_lock(&maker->lock);
	for (;;) {
		struct lode_unwind_unwritten unwritten;
		int result;

		while (maker->state != ASKED && !maker->ending)
			pthread_cond_wait(&maker->changed, &maker->lock);
		if (maker->ending)
			break;
		pthread_mutex_unlock(&maker->lock);
		result = lode_unwind_table_open_unwritten(maker->table, maker->path, NULL, maker->build_id,
							  maker->cache, &unwritten);
		pthread_mutex_lock(&maker->lock);
		maker->result = result;
		maker->state = DONE;
		pthread_cond_broadcast(&maker->changed);
		pthread_mutex_unlock(&maker->lock);
		lode_unwind_unwritten_write(&unwritten);
		pthread_mutex_lock(&maker->lock);
	}
	pthread_mutex_unlock(&maker->lock);
	return NULL;
}

/* Until the job is done, or for a moment. The lock is held. */
static void wait_a_moment(struct lode_table_maker *maker)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += WAIT_NS;
	if (until.tv_nsec >= 1000000000) {
		until.tv_nsec -= 1000000000;
		until.tv_sec++;
	}
	pthread_cond_timedwait(&maker->changed, &maker->lock, &until);
}

int lode_table_maker_open(void *context, struct lode_unwind_table *table, const char *path, const char *build_id,
			  const char *cache)
{
	struct lode_table_maker *maker = context;
	int result;

	if (!maker->started)
		maker->started = lode_quiet_thread(&maker->thread, work, maker) == 0;
	if (!maker->started)
		return lode_unwind_table_open(table, path, NULL, build_id, cache);
	pthread_mutex_lock(&maker->lock);
	maker->table = table;
	maker->path = path;
	maker->build_id = build_id;
	maker->cache = cache;
	maker->state = ASKED;
	pthread_cond_broadcast(&maker->changed);
	while (maker->state != DONE) {
		wait_a_moment(maker);
		if (maker->state == DONE)
			break;
		pthread_mutex_unlock(&maker->lock);
		maker->meanwhile(maker->context);
		pthread_mutex_lock(&maker->lock);
	}
	maker->state = IDLE;
	result = maker->result;
	pthread_mutex_unlock(&maker->lock);
	return result;
}
