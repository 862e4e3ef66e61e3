/*
 * Table maker: see table_maker.h.
 *
 * One table is made at a time: the stack that needs it cannot be unwound before, and
 * those that come meanwhile are only kept. The maker's thread and the one that waits hand
 * the job to each other under one lock; neither touches it while it is the other's. The
 * table is cached when no stack waits for it any more, except for the next one.
 */
#include "record/unwind/table_maker.h"

#include "base/memory.h"
#include "base/worker.h"

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
	struct lode_worker worker;
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

	if (!maker)
		return NULL;
	maker->meanwhile = meanwhile;
	maker->context = context;
	lode_worker_init(&maker->worker);
	return maker;
}

void lode_table_maker_destroy(struct lode_table_maker *maker)
{
	if (!maker)
		return;
	lode_worker_release(&maker->worker);
	lode_free(maker);
}

static void *work(void *argument)
{
	struct lode_table_maker *maker = argument;

	pthread_mutex_lock(&maker->worker.lock);
	for (;;) {
		struct lode_unwind_unwritten unwritten;
		int result;

		while (maker->state != ASKED && !maker->worker.ending)
			pthread_cond_wait(&maker->worker.changed, &maker->worker.lock);
		if (maker->worker.ending)
			break;
		pthread_mutex_unlock(&maker->worker.lock);
		result = lode_unwind_table_open_unwritten(maker->table, maker->path, NULL, maker->build_id,
							  maker->cache, &unwritten);
		pthread_mutex_lock(&maker->worker.lock);
		maker->result = result;
		maker->state = DONE;
		pthread_cond_broadcast(&maker->worker.changed);
		pthread_mutex_unlock(&maker->worker.lock);
		lode_unwind_unwritten_write(&unwritten);
		pthread_mutex_lock(&maker->worker.lock);
	}
	pthread_mutex_unlock(&maker->worker.lock);
	return NULL;
}

int lode_table_maker_open(void *context, struct lode_unwind_table *table, const char *path, const char *build_id,
			  const char *cache)
{
	struct lode_table_maker *maker = context;
	int result;

	if (!lode_worker_start(&maker->worker, work, maker))
		return lode_unwind_table_open(table, path, NULL, build_id, cache);
	pthread_mutex_lock(&maker->worker.lock);
	maker->table = table;
	maker->path = path;
	maker->build_id = build_id;
	maker->cache = cache;
	maker->state = ASKED;
	pthread_cond_broadcast(&maker->worker.changed);
	while (maker->state != DONE) {
		lode_worker_wait(&maker->worker, WAIT_NS);
		if (maker->state == DONE)
			break;
		pthread_mutex_unlock(&maker->worker.lock);
		maker->meanwhile(maker->context);
		pthread_mutex_lock(&maker->worker.lock);
	}
	maker->state = IDLE;
	result = maker->result;
	pthread_mutex_unlock(&maker->worker.lock);
	return result;
}
