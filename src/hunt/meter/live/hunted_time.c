/*
 * The time that hunted processes could use: see hunted_processes.h.
 *
 * A thread that is ready to run and has no CPU does nothing, whatever the program is like: on a machine with 25 busy
 * programs a thread that computes without end has a CPU for a thirteenth of the time, and computes for all of the time
 * that it could use. So shares are of wall time less that. What probes take and the time for which threads are held, while
 * their stacks are looked at, are left out as well.
 *
 * Of a single thread, this is exact. The threads of a process lose different parts of the same time; the process
 * loses their mean, each weighted by its demand for a CPU: the time that it ran, was ready to, was in probes or held. So a
 * thread that sleeps does not make the others' loss smaller, and a process in which all threads compute has lost what
 * each of them has. For the same reason the time of all processes together is not the sum of theirs: each has lost the
 * mean of all threads, so that a shell that waits for a program does not hide it.
 *
 * A thread may wait for others that have no CPU, and so for longer than the process could use. Then the time that waits
 * are a share of is as long as the longest of them: no thread waits for more than 100 %.
 *
 * Means are formed over the time between two settlings, some milliseconds, and added up.
 */
#include "base/memory.h"
#include "hunt/meter/live/hunted_processes.h"

#include <math.h>
#include <string.h>

/* Nanoseconds for which it is not settled again. */
#define SETTLED_FOR 1000000u

/* Sums over threads since they were settled last. */
struct demand {
	double demand;
	double ready; /* weighted by demand */
	double lost;
	double longest[LODE_CLOCKS]; /* time of a single thread */
};

/* Adds what a thread has used since. */
static void add_thread(struct lode_hunted_processes *target, uint32_t place, uint64_t now, struct demand *sum)
{
	struct lode_hunted_seen *seen = &target->seen[place];
	struct lode_thread_clocks_sum clocks = { 0 };
	const struct lode_hunt_thread *thread = &target->clocks->threads[place];
	struct lode_hunted_seen fresh = { .tid = thread->tid, .took = (int64_t)thread->took };
	double ready, lost, demand;

	lode_thread_clocks_add(target->clocks, place, LODE_NONE, now, &clocks);
	memcpy(fresh.time, clocks.time, sizeof(fresh.time));
	fresh.ready = clocks.ready;
	fresh.took += clocks.held;
	if (seen->tid != fresh.tid)
		*seen = (struct lode_hunted_seen){ 0 };
	ready = (double)(fresh.ready - seen->ready);
	lost = ready + (double)(fresh.took - seen->took);
	demand = (double)(fresh.time[LODE_CLOCK_CPU] - seen->time[LODE_CLOCK_CPU]) + lost;
	for (int i = 0; i < LODE_CLOCKS; i++)
		sum->longest[i] = fmax(sum->longest[i], (double)(fresh.time[i] - seen->time[i]));
	*seen = fresh;
	if (demand <= 0)
		return;
	sum->demand += demand;
	sum->ready += demand * ready;
	sum->lost += demand * lost;
}

static void add_demand(struct demand *all, const struct demand *sum)
{
	all->demand += sum->demand;
	all->ready += sum->ready;
	all->lost += sum->lost;
	for (int i = 0; i < LODE_CLOCKS; i++)
		all->longest[i] = fmax(all->longest[i], sum->longest[i]);
}

/* Of `wall` nanoseconds of a process, or of several together, in each of which as much was lost. */
static void add_lost(struct lode_hunted_time *time, const struct demand *sum, double wall, double processes)
{
	double ready = sum->demand > 0 ? processes * sum->ready / sum->demand : 0;
	double lost = sum->demand > 0 ? processes * sum->lost / sum->demand : 0;

	time->ready += ready;
	time->usable += fmax(0, wall - lost);
	for (int i = 0; i < LODE_CLOCKS; i++)
		time->longer[i] += fmax(0, fmin(sum->longest[i], wall) - fmax(0, wall - lost));
}

/* Settles a process from `before` to `now`. Returns the wall time. */
static double settle_process(struct lode_hunted_processes *target, struct lode_hunted_process *process,
			     uint64_t before, uint64_t now, struct demand *all)
{
	uint64_t began = process->since > before ? process->since : before;
	struct demand sum = { 0 };
	double wall = now > began ? (double)(now - began) : 0;

	for (uint32_t i = 0; i < target->clocks->thread_count; i++)
		if (target->clocks->threads[i].tid && target->clocks->threads[i].pid == process->pid)
			add_thread(target, i, now, &sum);
	add_lost(&process->time, &sum, wall, 1);
	add_demand(all, &sum);
	return wall;
}

void lode_hunted_settle_now(struct lode_hunted_processes *target)
{
	uint64_t before = target->settled;
	struct demand all = { 0 };
	double wall = 0, processes = 0;

	target->settled = lode_now();
	for (size_t i = 0; i < target->count; i++) {
		if (target->items[i].ended || target->items[i].launches)
			continue;
		wall += settle_process(target, &target->items[i], before, target->settled, &all);
		processes++;
	}
	add_lost(&target->time, &all, wall, processes);
}

uint64_t lode_hunted_settle(struct lode_hunted_processes *target)
{
	if (lode_now() - target->settled >= SETTLED_FOR)
		lode_hunted_settle_now(target);
	return target->settled;
}

/* The latest of this number, which the kernel may have given to several in turn; NULL: there is none. */
static const struct lode_hunted_time *time_of(const struct lode_hunted_processes *target, uint32_t pid)
{
	if (pid == LODE_NONE)
		return &target->time;
	for (size_t i = target->count; i-- > 0;)
		if (target->items[i].pid == pid)
			return &target->items[i].time;
	return NULL;
}

uint64_t lode_hunted_usable(const struct lode_hunted_processes *target, uint32_t pid, enum lode_hunt_clock clock)
{
	const struct lode_hunted_time *time = time_of(target, pid);

	return time ? (uint64_t)(time->usable + time->longer[clock]) : 0;
}

uint64_t lode_hunted_ready(const struct lode_hunted_processes *target, uint32_t pid)
{
	const struct lode_hunted_time *time = time_of(target, pid);

	return time ? (uint64_t)time->ready : 0;
}

uint64_t lode_hunted_probe_time(const struct lode_hunted_processes *target)
{
	uint64_t took = 0;

	for (size_t i = 0; i < target->count; i++)
		took += target->items[i].took;
	for (uint32_t i = 0; i < target->clocks->thread_count; i++)
		if (target->clocks->threads[i].tid)
			took += target->clocks->threads[i].took;
	return took;
}
