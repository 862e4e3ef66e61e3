/*
 * The time that hunted processes could use: see hunted_processes.h.
 *
 * A thread that is ready to run and has no CPU does nothing, whatever the program is like: on a machine with 25 busy
 * programs a thread that computes without end has a CPU for a thirteenth of the time, and computes for all of the time
 * that it could use. So shares are of wall time less that. What probes take is left out as well.
 *
 * Of a single thread, this is exact. The threads of a process lose different parts of the same time; the process
 * loses their mean, each weighted by its demand for a CPU: the time that it ran, was ready to, or was in probes. So a
 * thread that sleeps does not make the others' loss smaller, and a process in which all threads compute has lost what
 * each of them has.
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

/* Sums over the threads of a process since it was settled last. */
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
	struct lode_hunted_seen fresh = { .tid = thread->tid, .took = thread->took };
	double ready, took, demand;

	lode_thread_clocks_add(target->clocks, place, LODE_NONE, now, &clocks);
	memcpy(fresh.time, clocks.time, sizeof(fresh.time));
	fresh.ready = clocks.ready;
	if (seen->tid != fresh.tid)
		*seen = (struct lode_hunted_seen){ 0 };
	ready = (double)(fresh.ready - seen->ready);
	took = (double)(fresh.took - seen->took);
	demand = (double)(fresh.time[LODE_CLOCK_CPU] - seen->time[LODE_CLOCK_CPU]) + ready + took;
	for (int i = 0; i < LODE_CLOCKS; i++)
		sum->longest[i] = fmax(sum->longest[i], (double)(fresh.time[i] - seen->time[i]));
	*seen = fresh;
	if (demand <= 0)
		return;
	sum->demand += demand;
	sum->ready += demand * ready;
	sum->lost += demand * (ready + took);
}

/* From `before` to `now`. */
static void settle_process(struct lode_hunted_processes *target, struct lode_hunted_process *process,
			   uint64_t before, uint64_t now)
{
	uint64_t began = process->since > before ? process->since : before;
	struct demand sum = { 0 };
	double left;

	for (uint32_t i = 0; i < target->clocks->thread_count; i++)
		if (target->clocks->threads[i].tid && target->clocks->threads[i].pid == process->pid)
			add_thread(target, i, now, &sum);
	if (sum.demand <= 0 || now <= began)
		return;
	process->ready += sum.ready / sum.demand;
	process->lost += sum.lost / sum.demand;
	left = (double)(now - began) - sum.lost / sum.demand;
	for (int i = 0; i < LODE_CLOCKS; i++)
		process->longer[i] += fmax(0, fmin(sum.longest[i], (double)(now - began)) - left);
}

void lode_hunted_settle_now(struct lode_hunted_processes *target)
{
	uint64_t before = target->settled;

	target->settled = lode_now();
	for (size_t i = 0; i < target->count; i++)
		if (!target->items[i].ended && !target->items[i].launches)
			settle_process(target, &target->items[i], before, target->settled);
}

uint64_t lode_hunted_settle(struct lode_hunted_processes *target)
{
	if (lode_now() - target->settled >= SETTLED_FOR)
		lode_hunted_settle_now(target);
	return target->settled;
}

static uint64_t usable_of(const struct lode_hunted_processes *target, const struct lode_hunted_process *process,
			  enum lode_hunt_clock clock)
{
	uint64_t end = process->ended && process->ended < target->settled ? process->ended : target->settled;
	double life = end > process->since ? (double)(end - process->since) : 0;
	double usable = life - process->lost + process->longer[clock];

	return process->launches || usable <= 0 ? 0 : (uint64_t)usable;
}

uint64_t lode_hunted_usable(const struct lode_hunted_processes *target, uint32_t pid, enum lode_hunt_clock clock)
{
	uint64_t usable = 0;

	for (size_t i = 0; i < target->count; i++)
		if (pid == LODE_NONE || target->items[i].pid == pid)
			usable += usable_of(target, &target->items[i], clock);
	return usable;
}

uint64_t lode_hunted_ready(const struct lode_hunted_processes *target, uint32_t pid)
{
	double ready = 0;

	for (size_t i = 0; i < target->count; i++)
		if ((pid == LODE_NONE || target->items[i].pid == pid) && !target->items[i].launches)
			ready += target->items[i].ready;
	return (uint64_t)ready;
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

uint64_t lode_hunted_queued(const struct lode_hunted_processes *target)
{
	uint64_t queued = 0;

	for (size_t i = 0; i < target->count; i++)
		queued += target->items[i].queued;
	for (uint32_t i = 0; i < target->clocks->thread_count; i++)
		if (target->clocks->threads[i].tid)
			queued += target->clocks->threads[i].queued;
	return queued;
}
