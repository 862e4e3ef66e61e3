/*
 * Idle threads of hunted processes: they wait for nothing that anyone does, and nobody misses them. The model is that of all
 * analyses (scope/idle_threads.h), as far as it can be told while a program runs:
 *
 *	- the thread ran hardly: at most 1/LODE_IDLE_SHARE of the time that it waited and ran;
 *	- at most that share of its waiting was bound: for a lock (a futex with the value of a contended one) or a disk, for
 *	  input or output that came, or for what another thread ended, unless that was in the outer loop. Waits that
 *	  ended by the thread's own timer are not bound, nor is one that has not ended;
 *	- nobody waits for it: the waits that it ended, of other hunted threads, come to at most that share of its own.
 *
 * While a thread is idle its waits that are not bound count as other time, so that they are in no share. What it waited
 * before that was known, and from then on until it turned out to be wrong, stays as it was counted: the clocks never
 * jump.
 *
 * The outer loop is the place of two or more waits of the thread for other threads with the fewest frames; where two
 * have as few, there is none. Some stacks are walked wrongly, so a place has more than that share of the time. Places are whole user stacks, and come with the recorder's waits, which begin later than
 * the clocks: so they only divide up what the clocks have. Different from there, input and output is never work that a
 * thread waits for: whether it is excessive is what a hunt asks.
 */
#include "base/memory.h"
#include "hunt/meter/live/clock_updates.h"
#include "hunt/meter/live/hunted_processes.h"
#include "trace/idle_share.h"

#include <math.h>

/*
 * Nanoseconds in which what a thread did loses half of its weight: it is idle by what it does lately, whatever it did at
 * the start. Waits count for longer: that somebody ended one is only known when it is over.
 */
#define RUN_HALF_LIFE  2.5e8
#define WAIT_HALF_LIFE 5e8

static int is_small(double part, double whole)
{
	return part <= whole / LODE_IDLE_SHARE;
}

/* ---- the outer loop ---- */

/* The place of a stack, or the one to forget: that of the fewest waits. */
static struct lode_wait_place *place_for(struct lode_wait_places *places, uint64_t stack)
{
	struct lode_wait_place *least = &places->items[0];

	for (int i = 0; i < LODE_WAIT_PLACES; i++) {
		if (places->items[i].stack == stack && places->items[i].count)
			return &places->items[i];
		if (places->items[i].count < least->count)
			least = &places->items[i];
	}
	*least = (struct lode_wait_place){ .stack = stack };
	return least;
}

void lode_wait_places_add(struct lode_wait_places *places, uint64_t stack, uint32_t depth, uint64_t time)
{
	struct lode_wait_place *place = place_for(places, stack);

	place->depth = depth;
	place->time += time;
	place->count++;
}

double lode_wait_places_outer(const struct lode_wait_places *places)
{
	const struct lode_wait_place *outer = NULL;
	uint64_t all = 0;
	int is_alone = 0;

	for (int i = 0; i < LODE_WAIT_PLACES; i++)
		all += places->items[i].time;
	for (int i = 0; i < LODE_WAIT_PLACES; i++) {
		const struct lode_wait_place *place = &places->items[i];

		if (place->count < 2 || is_small((double)place->time, (double)all) ||
		    (outer && place->depth > outer->depth))
			continue;
		is_alone = !outer || place->depth < outer->depth;
		outer = place;
	}
	return is_alone && all ? (double)outer->time / (double)all : 0;
}

int lode_hunted_note_wait(struct lode_hunted_processes *target, uint32_t tid, uint64_t stack, uint32_t depth,
			  uint64_t time)
{
	const struct lode_hunt_thread *thread = lode_thread_clocks_find(target->clocks, tid);
	struct lode_wait_places *places;

	if (!thread)
		return 0;
	if (!target->waits)
		target->waits = lode_calloc(target->clocks->thread_count, sizeof(*target->waits));
	if (!target->waits)
		return LODE_SYSTEM;
	places = &target->waits[thread - target->clocks->threads];
	if (places->tid != tid)
		*places = (struct lode_wait_places){ .tid = tid };
	lode_wait_places_add(places, stack, depth, time);
	return 0;
}

/* ---- idle threads ---- */

int lode_thread_is_idle(const struct lode_thread_history *history, double outer)
{
	const struct lode_thread_activity *runs = &history->runs, *waits = &history->waits;
	double bound = waits->bound + (1 - outer) * waits->brought;

	return runs->waited > 0 && is_small(runs->ran, runs->ran + runs->waited) &&
	       is_small(bound, waits->waited) && is_small(runs->waited_for, runs->waited);
}

static struct lode_thread_activity activity_of(const struct lode_hunt_thread *thread,
					       const struct lode_thread_clocks_sum *used)
{
	struct lode_thread_activity activity = {
		.ran = (double)used->time[LODE_CLOCK_CPU],
		.waited = -(double)used->ready - (double)used->held,
		.bound = (double)thread->bound,
		.brought = (double)thread->brought,
		.waited_for = (double)thread->waited_for,
	};

	for (int i = LODE_CLOCK_SYNC; i < LODE_CLOCKS; i++)
		activity.waited += (double)used->time[i];
	return activity;
}

/* Adds what was done between two moments to what is left of all before. */
static void age(struct lode_thread_activity *sum, double left, const struct lode_thread_activity *from,
		const struct lode_thread_activity *to)
{
	sum->ran = sum->ran * left + to->ran - from->ran;
	sum->waited = sum->waited * left + to->waited - from->waited;
	sum->bound = sum->bound * left + to->bound - from->bound;
	sum->brought = sum->brought * left + to->brought - from->brought;
	sum->waited_for = sum->waited_for * left + to->waited_for - from->waited_for;
}

void lode_thread_history_add(struct lode_thread_history *history, const struct lode_thread_activity *total,
			     uint64_t now)
{
	double passed = (double)(now - history->t);

	age(&history->runs, exp2(-passed / RUN_HALF_LIFE), &history->total, total);
	age(&history->waits, exp2(-passed / WAIT_HALF_LIFE), &history->total, total);
	history->total = *total;
	history->t = now;
}

/* The share of the outer loop in the waits of the thread at a place. */
static double outer_of(const struct lode_hunted_processes *target, uint32_t place, uint32_t tid)
{
	const struct lode_wait_places *places = target->waits ? &target->waits[place] : NULL;

	return places && places->tid == tid ? lode_wait_places_outer(places) : 0;
}

/* Whether the thread at a place is idle, by what it has done up to now. */
static int is_idle_now(struct lode_hunted_processes *target, uint32_t place, const struct lode_hunt_thread *copy,
		       uint64_t now)
{
	struct lode_thread_history *history = &target->histories[place];
	struct lode_thread_clocks_sum used = { 0 };
	struct lode_thread_activity activity;

	if (history->tid != copy->tid)
		*history = (struct lode_thread_history){ .tid = copy->tid, .t = now };
	lode_thread_clocks_add(target->clocks, place, LODE_NONE, now, &used);
	activity = activity_of(copy, &used);
	lode_thread_history_add(history, &activity, now);
	return !copy->waiting && lode_thread_is_idle(history, outer_of(target, place, copy->tid));
}

/* A wait that goes on since before it was idle last stays idle: the clocks know one idle time of a wait. */
static void begin_idle(struct lode_hunt_thread *thread, uint64_t last, uint64_t now)
{
	if (thread->idle_until <= last) {
		LODE_CLOCKS_STORE(&thread->idle_until, 0);
		LODE_CLOCKS_STORE(&thread->idle_from, now);
	}
	__atomic_store_n(&thread->idle_until, UINT64_MAX, __ATOMIC_RELEASE);
}

void lode_hunted_mark_idle(struct lode_hunted_processes *target)
{
	uint64_t now = lode_now();

	for (uint32_t i = 0; i < target->clocks->thread_count; i++) {
		struct lode_hunt_thread *thread = &target->clocks->threads[i], copy;
		int is_marked = thread->idle_until == UINT64_MAX, is_idle;

		if (!thread->tid || thread->died)
			continue;
		lode_thread_clocks_thread(target->clocks, i, &copy);
		is_idle = is_idle_now(target, i, &copy, now);
		if (is_idle && !is_marked)
			begin_idle(thread, copy.last, now);
		else if (!is_idle && is_marked)
			LODE_CLOCKS_STORE(&thread->idle_until, now);
	}
}

uint64_t lode_hunted_idle_part(const struct lode_hunted_processes *target, uint32_t tid, uint64_t from,
			       uint64_t until)
{
	const struct lode_hunt_thread *thread = lode_thread_clocks_find(target->clocks, tid);

	if (!thread || !thread->idle_until)
		return 0;
	if (from < thread->idle_from)
		from = thread->idle_from;
	if (until > thread->idle_until)
		until = thread->idle_until;
	return until > from ? until - from : 0;
}
