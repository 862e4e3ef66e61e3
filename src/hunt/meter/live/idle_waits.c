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
 * have as few, there is none. Places are whole user stacks, and come with the recorder's waits, which begin later than
 * the clocks: so they only divide up what the clocks have. Different from there, input and output is never work that a
 * thread waits for: whether it is excessive is what a hunt asks.
 */
#include "base/memory.h"
#include "hunt/meter/live/clock_updates.h"
#include "hunt/meter/live/hunted_processes.h"
#include "trace/idle_share.h"

static int is_small(uint64_t part, uint64_t whole)
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

	for (int i = 0; i < LODE_WAIT_PLACES; i++) {
		const struct lode_wait_place *place = &places->items[i];

		all += place->time;
		if (place->count < 2 || (outer && place->depth > outer->depth))
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

int lode_thread_is_idle(const struct lode_hunt_thread *thread, const struct lode_thread_clocks_sum *used,
			double outer)
{
	uint64_t bound = thread->bound + (uint64_t)((1 - outer) * (double)thread->brought);
	int64_t ran = used->time[LODE_CLOCK_CPU], waited = -used->ready;

	for (int i = LODE_CLOCK_SYNC; i < LODE_CLOCKS; i++)
		waited += used->time[i];
	if (waited <= 0 || ran < 0 || thread->waiting)
		return 0;
	return is_small((uint64_t)ran, (uint64_t)(ran + waited)) && is_small(bound, (uint64_t)waited) &&
	       is_small(thread->waited_for, (uint64_t)waited);
}

/* The share of the outer loop in the waits of the thread at a place. */
static double outer_of(const struct lode_hunted_processes *target, uint32_t place, uint32_t tid)
{
	const struct lode_wait_places *places = target->waits ? &target->waits[place] : NULL;

	return places && places->tid == tid ? lode_wait_places_outer(places) : 0;
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
		struct lode_thread_clocks_sum used = { 0 };
		int is_marked = thread->idle_until == UINT64_MAX, is_idle;

		if (!thread->tid || thread->died)
			continue;
		lode_thread_clocks_thread(target->clocks, i, &copy);
		lode_thread_clocks_add(target->clocks, i, LODE_NONE, now, &used);
		is_idle = lode_thread_is_idle(&copy, &used, outer_of(target, i, copy.tid));
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
