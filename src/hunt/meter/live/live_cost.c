/*
 * What a hunt takes from the program: the time of its probes, the time that threads were
 * held, and, where no CPU is idle, the time that the hunt itself computes. The last is
 * estimated from the program's threads: while one of them is ready and has no CPU,
 * another thread has it, and for as long as the hunt ran in the same time, that may have
 * been the hunt. So the shorter of both times counts: nothing on a machine with idle
 * CPUs, never more than the hunt has used, and sometimes time that other programs
 * caused.
 */
#include "hunt/meter/live/live_internal.h"

#include <time.h>

/* Nanoseconds over which the meter's own work is averaged. */
#define WORK_TIME 500000000u

uint64_t lode_live_own_time(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

double lode_live_program_time(struct lode_live *live)
{
	uint64_t now = lode_hunted_settle(&live->target);
	double time = 0;

	for (size_t i = 0; i < live->target.count; i++) {
		uint32_t pid = live->target.items[i].pid;
		double usable = (double)lode_hunted_usable(&live->target, pid, LODE_CLOCK_CPU);
		struct lode_thread_clocks_sum sum;

		lode_hunted_sum(&live->target, pid, LODE_NONE, LODE_NONE, now, &sum);
		time += usable > (double)sum.time[LODE_CLOCK_CPU] ? usable : (double)sum.time[LODE_CLOCK_CPU];
	}
	return time;
}

static struct lode_live_work work_now(struct lode_live *live)
{
	return (struct lode_live_work){
		.own = lode_live_own_time() - live->own_before,
		.queued = lode_hunted_queued(&live->target),
		.time = lode_live_program_time(live),
	};
}

/* What was taken from the program between two looks. */
static double taken(const struct lode_live_work *from, const struct lode_live_work *to)
{
	double own = (double)(to->own - from->own);
	double queued = to->queued > from->queued ? (double)(to->queued - from->queued) : 0;

	return own < queued ? own : queued;
}

double lode_live_cost(struct lode_meter *meter)
{
	struct lode_live *live = lode_live_of(meter);
	struct lode_live_work none = { 0 }, work = work_now(live);
	double took = (double)lode_hunted_probe_time(&live->target) + (double)live->stopped + taken(&none, &work);

	return work.time > 0 ? took / (work.time + took) : 0;
}

void lode_live_look_at_work(struct lode_live *live)
{
	uint64_t now = lode_now();
	struct lode_live_work work;

	if (now - live->work_looked < WORK_TIME)
		return;
	work = work_now(live);
	if (live->work_looked && work.time > live->work.time)
		live->own_share = taken(&live->work, &work) / (work.time - live->work.time);
	live->work = work;
	live->work_looked = now;
}

double lode_live_own(struct lode_meter *meter)
{
	return lode_live_of(meter)->own_share;
}
