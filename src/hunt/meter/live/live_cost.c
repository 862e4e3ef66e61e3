/*
 * What a hunt takes: processor time, as a share of the program's own time.
 *
 *	- probes, as they were charged to the program's threads;
 *	- the BPF programs at switches, wakings, system calls and samples, as the kernel counts them. They run for all
 *	  processes, and for most return at once: a look at a table. Such runs are left out, by taking so much off every
 *	  run; what it takes is seen from the program whose runs are the shortest;
 *	- the hunt itself, from its first instruction on: loading and verifying programs, reading code and samples.
 *
 * On a machine with idle CPUs the last does not make the program slower, but it is processor time all the same.
 *
 * Where threads are held, so that their stacks can be looked at, the program loses what it would have run meanwhile.
 */
#include "hunt/meter/live/live_internal.h"

#include <math.h>
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

/* Programs that run too seldom say nothing about how long a run is. */
#define MIN_RUNS 1000
/* A switch looks for two threads. */
#define LOOKS 2

struct program_times {
	struct {
		uint64_t runs;
		uint64_t time;
	} items[64];
	size_t count;
};

static void add_program(void *context, uint64_t runs, uint64_t time)
{
	struct program_times *times = context;

	if (times->count == sizeof(times->items) / sizeof(*times->items))
		return;
	times->items[times->count].runs = runs;
	times->items[times->count++].time = time;
}

/* Nanoseconds of the shortest run, on average; 0: not known. */
static double shortest_run(const struct program_times *times)
{
	double shortest = 0;

	for (size_t i = 0; i < times->count; i++) {
		double run = (double)times->items[i].time / (double)(times->items[i].runs + 1);

		if (times->items[i].runs >= MIN_RUNS && (shortest == 0 || run < shortest))
			shortest = run;
	}
	return shortest;
}

/* What BPF programs took of the hunted processes; once the recorder is stopped, its programs are gone. */
static uint64_t program_time(const struct lode_live *live)
{
	struct program_times times = { .count = 0 };
	double idle_run, sum = 0;

	if (live->finished)
		return live->work.programs;
	lode_thread_clocks_program_time(&live->clocks, add_program, &times);
	lode_recorder_program_time(live->recorder, add_program, &times);
	idle_run = LOOKS * shortest_run(&times);
	for (size_t i = 0; i < times.count; i++)
		sum += fmax(0, (double)times.items[i].time - idle_run * (double)times.items[i].runs);
	return (uint64_t)sum;
}

static struct lode_live_work work_now(struct lode_live *live)
{
	return (struct lode_live_work){
		.own = lode_live_own_time(),
		.programs = program_time(live),
		.time = lode_live_program_time(live),
	};
}

/* What was taken from the program between two looks, besides probes. */
static double taken(const struct lode_live_work *from, const struct lode_live_work *to)
{
	return (double)(to->own - from->own) + fmax(0, (double)to->programs - (double)from->programs);
}

double lode_live_usable_share(const struct lode_live *live)
{
	double usable = (double)lode_hunted_usable(&live->target, LODE_NONE, LODE_CLOCK_CPU);
	double ready = (double)lode_hunted_ready(&live->target, LODE_NONE);

	return usable + ready > 0 ? usable / (usable + ready) : 1;
}

double lode_live_cost(struct lode_meter *meter)
{
	struct lode_live *live = lode_live_of(meter);
	struct lode_live_work none = { 0 }, work = work_now(live);
	/* A thread that is held would have run for its share of the time. */
	double took = (double)lode_hunted_probe_time(&live->target) +
		      (double)live->stopped * lode_live_usable_share(live) + taken(&none, &work);

	return work.time > 0 ? took / work.time : 0;
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

void lode_live_end_work(struct lode_live *live)
{
	if (live->recorder)
		live->work = work_now(live);
}

double lode_live_own(struct lode_meter *meter)
{
	return lode_live_of(meter)->own_share;
}
