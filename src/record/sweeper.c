/* Sweeps: see sweeper.h. */
#include "record/sweeper.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/worker.h"
#include "record/load/recorder_skeleton.h"
#include "record/load/task_iterator.h"

#include <time.h>

/* Over how many sweeps it is an average what one takes: one that is interrupted does not keep the next one away. */
#define AVERAGE       8
#define UNLIKE_OTHERS 2

struct lode_sweeper {
	struct recorder *programs;
	struct lode_worker worker;
	/* Under its lock: */
	struct lode_sweeper_pace pace;
	struct lode_sweeper_counts counts;
	int fails;     /* the kernel does not let it */
	uint64_t last; /* sweep; 0: none */
	/* Of whoever makes the sweeps. */
	uint64_t cost; /* processor time of one, on average */
	uint64_t used; /* by the thread, so far */
	struct lode_task_visit visit;
};

/* ---- one sweep ---- */

static int sweep(struct lode_sweeper *sweeper)
{
	struct recorder *programs = sweeper->programs;

	programs->bss->sweep_before = programs->bss->sweep_began;
	programs->bss->sweep_began = lode_now();
	if (!lode_task_visit_run(&sweeper->visit))
		return 0;
	programs->bss->sweep_ended = lode_now();
	return 1;
}

/* ---- many ---- */

/* Processor time since the last call. */
static uint64_t read_used(struct lode_sweeper *sweeper)
{
	uint64_t before = sweeper->used;
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	sweeper->used = (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
	return sweeper->used - before;
}

/* Nanoseconds from `now` to the next sweep. */
static uint64_t time_left(const struct lode_sweeper *sweeper, uint64_t now)
{
	double least = ((double)sweeper->cost + sweeper->pace.beside) / sweeper->pace.share;
	uint64_t after = least > (double)sweeper->pace.after ? (uint64_t)least : sweeper->pace.after;

	return !sweeper->last || now - sweeper->last >= after ? 0 : after - (now - sweeper->last);
}

/* The first sweeps, for which all threads are new, and then all idle ones are in a long wait, are not like others. */
static void learn_cost(struct lode_sweeper *sweeper, uint64_t used)
{
	uint64_t count = sweeper->counts.sweeps++;

	if (count < UNLIKE_OTHERS)
		sweeper->cost = 0;
	else if (count == UNLIKE_OTHERS)
		sweeper->cost = used;
	else
		sweeper->cost += used / AVERAGE - sweeper->cost / AVERAGE;
}

/* With the lock held, which others may take meanwhile. */
static void sweep_now(struct lode_sweeper *sweeper, uint64_t now)
{
	int works;

	if (sweeper->last && sweeper->pace.is_needed && now - sweeper->last > sweeper->counts.longest_gap)
		sweeper->counts.longest_gap = now - sweeper->last;
	pthread_mutex_unlock(&sweeper->worker.lock);
	works = sweep(sweeper);
	pthread_mutex_lock(&sweeper->worker.lock);
	learn_cost(sweeper, read_used(sweeper));
	sweeper->last = now;
	sweeper->fails = !works;
}

/* The thread. */
static void *sweep_always(void *context)
{
	struct lode_sweeper *sweeper = context;

	pthread_mutex_lock(&sweeper->worker.lock);
	while (!sweeper->worker.ending && !sweeper->fails) {
		uint64_t now = lode_now(), left = time_left(sweeper, now);

		if (left)
			lode_worker_wait(&sweeper->worker, left);
		else
			sweep_now(sweeper, now);
	}
	pthread_mutex_unlock(&sweeper->worker.lock);
	return NULL;
}

struct lode_sweeper *lode_sweeper_create(struct recorder *programs)
{
	struct lode_sweeper *sweeper = lode_calloc(1, sizeof(*sweeper));

	if (!sweeper)
		return NULL;
	sweeper->programs = programs;
	sweeper->visit = (struct lode_task_visit){ .at_once = programs->progs.lode_sweep_at_once,
						   .one = programs->progs.lode_sweep,
						   .count = &programs->bss->sweep_count };
	lode_worker_init(&sweeper->worker);
	return sweeper;
}

void lode_sweeper_destroy(struct lode_sweeper *sweeper, int at_end)
{
	if (!sweeper)
		return;
	lode_worker_release(&sweeper->worker);
	if (at_end && sweeper->programs->bss->sweep_ended) {
		sweeper->programs->bss->sweep_is_last = 1;
		sweep(sweeper);
	}
	lode_task_visit_release(&sweeper->visit);
	lode_free(sweeper);
}

void lode_sweeper_set(struct lode_sweeper *sweeper, const struct lode_sweeper_pace *pace)
{
	pthread_mutex_lock(&sweeper->worker.lock);
	if (pace->is_needed && !sweeper->pace.is_needed) {
		sweeper->last = 0; /* the next one comes at once, and there was no gap before it */
		pthread_cond_broadcast(&sweeper->worker.changed);
	}
	sweeper->pace = *pace;
	lode_worker_start(&sweeper->worker, sweep_always, sweeper);
	pthread_mutex_unlock(&sweeper->worker.lock);
}

struct lode_sweeper_counts lode_sweeper_counts(struct lode_sweeper *sweeper)
{
	struct lode_sweeper_counts counts;

	pthread_mutex_lock(&sweeper->worker.lock);
	counts = sweeper->counts;
	if (sweeper->fails)
		counts.longest_gap = 0;
	pthread_mutex_unlock(&sweeper->worker.lock);
	return counts;
}
