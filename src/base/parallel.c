/* Parallel loops: see parallel.h. */
#include "base/parallel.h"

#include "base/memory.h"
#include "base/quiet_thread.h"

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
		if (lode_quiet_thread(&threads[started], work, &loop) != 0)
			break;
		started++;
	}
	work(&loop);
	for (unsigned i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
	lode_free(threads);
}

/* ---- in order ---- */

struct row {
	const struct lode_in_order *work;
	struct lode_error *error;
	int code;       /* of the first piece that failed */
	size_t next;    /* the piece whose turn it is */
	size_t started; /* pieces */
	size_t active;  /* of these, how many are not released */
	size_t largest; /* bytes that a piece needed at once; 0: none has ended */
	pthread_mutex_t lock;
	pthread_cond_t turn;
};

static int has_failed(struct row *row)
{
	int failed;

	pthread_mutex_lock(&row->lock);
	failed = row->code != 0;
	pthread_mutex_unlock(&row->lock);
	return failed;
}

/* Under the lock, in turn. */
static void take_turn(struct row *row, size_t i, void *partial, int code, const struct lode_error *error)
{
	if (row->code)
		return;
	lode_memory_set_lasting(1);
	row->code = code ? code : row->work->merge(row->work->context, i, partial, row->error);
	lode_memory_set_lasting(0);
	if (code && row->error)
		*row->error = *error;
}

/*
 * Where memory is limited, pieces are started in order, and only as many at a time as fit by the largest one so far. The one
 * whose turn it is never waits.
 */
static int may_start(const struct row *row, size_t i)
{
	size_t room = lode_memory_room();

	if (room == SIZE_MAX || row->next == i)
		return 1;
	return row->started == i && row->largest && row->active < room / row->largest;
}

static void start(struct row *row, size_t i)
{
	pthread_mutex_lock(&row->lock);
	while (!may_start(row, i))
		pthread_cond_wait(&row->turn, &row->lock);
	row->started++;
	row->active++;
	pthread_cond_broadcast(&row->turn);
	pthread_mutex_unlock(&row->lock);
	lode_memory_begin_piece();
}

static void end(struct row *row)
{
	pthread_mutex_lock(&row->lock);
	row->active--;
	pthread_cond_broadcast(&row->turn);
	pthread_mutex_unlock(&row->lock);
}

static void do_piece(void *context, size_t i)
{
	struct row *row = context;
	const struct lode_in_order *work = row->work;
	struct lode_error error = { "" };
	void *partial = NULL;
	size_t needed;
	int code = 0;

	start(row, i);
	if (!has_failed(row)) {
		partial = lode_calloc(1, work->size);
		code = partial ? work->map(work->context, i, partial, &error) : lode_fail_memory(&error);
	}
	needed = lode_memory_end_piece() + 1;
	pthread_mutex_lock(&row->lock);
	if (needed > row->largest)
		row->largest = needed;
	while (row->next != i)
		pthread_cond_wait(&row->turn, &row->lock);
	take_turn(row, i, partial, code, &error);
	row->next++;
	pthread_cond_broadcast(&row->turn);
	pthread_mutex_unlock(&row->lock);
	if (partial)
		work->release(partial);
	lode_free(partial);
	end(row);
}

int lode_parallel_in_order(unsigned jobs, size_t count, const struct lode_in_order *work, struct lode_error *error)
{
	struct row row = {
		.work = work,
		.error = error,
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.turn = PTHREAD_COND_INITIALIZER,
	};

	lode_parallel(jobs, count, do_piece, &row);
	return row.code;
}
