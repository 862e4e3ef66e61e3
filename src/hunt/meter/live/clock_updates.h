/*
 * The clocks of a thread (thread_counters.h): who may change them, and how. Compiled into
 * the BPF programs, into the program that reads them, and into the tests.
 *
 * A thread's state has one writer: the CPU that runs it, or that switches it in or
 * out. `sequence` is odd while it writes. It is changed by an atomic operation whose
 * old value is used, which orders everything before and after it; one whose value is
 * not used orders nothing on arm64.
 *
 * Others have fields of their own, which the writer takes into account at the next
 * switch:
 * - the waker, on any CPU, maybe while it is still being switched
 *   out, stores the time in `woken`. It counts when it is later than the switch;
 * - the program says what a thread that existed before it is waiting for, by
 *   `found`. It counts as long as the writer has `seen` nothing;
 * - the program says from when to when waits are idle. It changes `idle_until` first
 *   and last, so that the writer never sees a time that nobody meant;
 * - whoever's wait a thread has ended adds to its `waited_for`;
 * - a slot is filled by the CPU that sets `claimed`, and is not visible before `tid` is set.
 */
#ifndef LODE_HUNT_METER_LIVE_CLOCK_UPDATES_H
#define LODE_HUNT_METER_LIVE_CLOCK_UPDATES_H

#include "hunt/meter/live/thread_counters.h"

#define LODE_CLOCKS_INLINE static inline __attribute__((always_inline))

/* Keeps the compiler from dropping the old value, and with it the order. */
#define LODE_CLOCKS_USE(value) __asm__ volatile("" : : "r"(value) : "memory")

/* Fields that one side writes while the other reads: whole, and in no order. BPF has no other way than
 * volatile. */
#ifdef __bpf__
#define LODE_CLOCKS_LOAD(place)         (*(const volatile typeof(*(place)) *)(place))
#define LODE_CLOCKS_STORE(place, value) (*(volatile typeof(*(place)) *)(place) = (value))
#else
#define LODE_CLOCKS_LOAD(place)         __atomic_load_n(place, __ATOMIC_RELAXED)
#define LODE_CLOCKS_STORE(place, value) __atomic_store_n(place, value, __ATOMIC_RELAXED)
#endif

LODE_CLOCKS_INLINE void lode_thread_begin_change(struct lode_hunt_thread *thread)
{
	uint32_t before = __sync_fetch_and_add(&thread->sequence, 1);

	LODE_CLOCKS_USE(before);
}

LODE_CLOCKS_INLINE void lode_thread_end_change(struct lode_hunt_thread *thread)
{
	uint32_t before = __sync_fetch_and_add(&thread->sequence, 1);

	LODE_CLOCKS_USE(before);
}

/* From any CPU, at any moment; by this thread, or (0) an interrupt. */
LODE_CLOCKS_INLINE void lode_thread_wake(struct lode_hunt_thread *thread, uint32_t waker, uint64_t now)
{
	LODE_CLOCKS_STORE(&thread->waker, waker);
	LODE_CLOCKS_STORE(&thread->woken, now);
}

/* Whether its wait is over though it does not run yet, at `now`; and since when. */
LODE_CLOCKS_INLINE int lode_thread_is_woken(const struct lode_hunt_thread *thread, uint64_t now, uint64_t *since)
{
	*since = LODE_CLOCKS_LOAD(&thread->woken);
	return thread->blocked && *since > thread->last && *since <= now;
}

/* The writer, and readers in their copies: the first look at a thread that was found waiting. */
LODE_CLOCKS_INLINE void lode_thread_take_found(struct lode_hunt_thread *thread)
{
	uint32_t found = LODE_CLOCKS_LOAD(&thread->found);

	if (thread->seen)
		return;
	thread->seen = 1;
	if (!found)
		return;
	thread->clock = found - 1;
	thread->blocked = found - 1 != LODE_CLOCK_CPU;
	thread->is_bound = thread->found_bound;
	thread->object = thread->found_object;
	thread->object_since = 0;
}

/* What it waits for, as far as is known. */
LODE_CLOCKS_INLINE uint64_t lode_thread_object(const struct lode_hunt_thread *thread)
{
	return thread->seen ? thread->object : thread->found ? thread->found_object : 0;
}

/*
 * Since when it has been ready to run without a CPU, at `now`; `now` itself if it is not: it runs, or its wait is not over.
 * A thread that leaves its CPU without waiting is ready at once, and so is a new one.
 */
LODE_CLOCKS_INLINE uint64_t lode_thread_ready_since(const struct lode_hunt_thread *thread, uint64_t now)
{
	uint64_t woken;

	if (lode_thread_is_woken(thread, now, &woken))
		return woken;
	return thread->blocked || thread->clock == LODE_CLOCK_CPU ? now : thread->last;
}

/* The part of its wait up to `until` that is idle. */
LODE_CLOCKS_INLINE uint64_t lode_thread_idle_part(const struct lode_hunt_thread *thread, uint64_t until)
{
	uint64_t idle_until = LODE_CLOCKS_LOAD(&thread->idle_until), from = LODE_CLOCKS_LOAD(&thread->idle_from);

	if (!thread->blocked || thread->is_bound || thread->waiting)
		return 0;
	if (from < thread->last)
		from = thread->last;
	if (until > idle_until)
		until = idle_until;
	return until > from ? until - from : 0;
}

/* Adds to `clocks` what has passed since the thread's were wound. Returns how much of OTHER it was ready to run. */
LODE_CLOCKS_INLINE int64_t lode_thread_pass(const struct lode_hunt_thread *thread, uint64_t now,
					    struct lode_hunt_clocks *clocks)
{
	uint32_t clock = thread->waiting ? LODE_CLOCK_SYNC : thread->clock;
	uint32_t after = thread->waiting ? LODE_CLOCK_SYNC : LODE_CLOCK_OTHER;
	uint64_t ready = lode_thread_ready_since(thread, now), idle = lode_thread_idle_part(thread, ready);

	clocks->time[clock & 3] += (int64_t)(ready - thread->last - idle);
	clocks->time[LODE_CLOCK_OTHER] += (int64_t)idle;
	clocks->time[after & 3] += (int64_t)(now - ready);
	return thread->waiting ? 0 : (int64_t)(now - ready);
}

/* How much of what has passed since it was held by a tracer. */
LODE_CLOCKS_INLINE int64_t lode_thread_held(const struct lode_hunt_thread *thread, uint64_t now)
{
	return thread->is_held && thread->blocked && !thread->waiting
		       ? (int64_t)(lode_thread_ready_since(thread, now) - thread->last)
		       : 0;
}

/* The writer only: winds the clocks up to `now`. */
LODE_CLOCKS_INLINE void lode_thread_wind(struct lode_hunt_thread *thread, uint64_t now)
{
	thread->held += lode_thread_held(thread, now);
	thread->ready += lode_thread_pass(thread, now, &thread->clocks);
	thread->last = now;
}

/* The writer only: leaves its CPU, to wait (by `clock`) or because another one is to run. */
LODE_CLOCKS_INLINE void lode_thread_leaves(struct lode_hunt_thread *thread, uint32_t clock, uint32_t blocked)
{
	thread->switches++;
	thread->clock = clock;
	thread->blocked = blocked;
}

/* The writer only: gets a CPU. It had none since it was switched out, whatever it was found with. */
LODE_CLOCKS_INLINE void lode_thread_returns(struct lode_hunt_thread *thread, uint64_t now)
{
	uint64_t ready;

	if (thread->clock == LODE_CLOCK_CPU)
		thread->clock = LODE_CLOCK_OTHER;
	ready = lode_thread_ready_since(thread, now);
	if (now > ready)
		thread->queued += now - ready;
	lode_thread_wind(thread, now);
	thread->clock = LODE_CLOCK_CPU;
	thread->blocked = thread->is_bound = thread->is_held = 0;
}

/* The writer only, before the thread returns: how long it waited, up to `now`. */
LODE_CLOCKS_INLINE uint64_t lode_thread_waited(const struct lode_hunt_thread *thread, uint64_t now)
{
	uint64_t over = lode_thread_ready_since(thread, now);

	return thread->blocked && over > thread->last ? over - thread->last : 0;
}

/* The writer only, before the thread returns: counts a wait that is over. Input and output comes from somewhere. */
LODE_CLOCKS_INLINE void lode_thread_count_wait(struct lode_hunt_thread *thread, uint64_t time)
{
	if (thread->is_bound || thread->clock == LODE_CLOCK_IO)
		thread->bound += time;
	else if (LODE_CLOCKS_LOAD(&thread->waker))
		thread->brought += time;
}

/* ---- places ---- */

/* Takes a free place; 0: it is not free. */
LODE_CLOCKS_INLINE int lode_thread_claim(struct lode_hunt_thread *thread)
{
	return !LODE_CLOCKS_LOAD(&thread->tid) && __sync_val_compare_and_swap(&thread->claimed, 0, 1) == 0;
}

/* Fills a claimed place, which a late writer may have touched after it was freed, and shows it. */
LODE_CLOCKS_INLINE void lode_thread_show(struct lode_hunt_thread *thread, uint32_t pid, uint32_t tid, uint64_t now)
{
	uint32_t before;

	LODE_CLOCKS_STORE(&thread->pid, pid);
	LODE_CLOCKS_STORE(&thread->found, 0);
	LODE_CLOCKS_STORE(&thread->woken, 0);
	thread->clock = LODE_CLOCK_OTHER;
	thread->waiting = thread->top = thread->blocked = thread->seen = 0;
	thread->died = thread->object = thread->message = 0;
	thread->ready = thread->held = 0;
	thread->bound = thread->brought = thread->waited_for = thread->idle_from = thread->idle_until = 0;
	thread->waker = thread->is_bound = thread->is_held = thread->found_bound = 0;
	for (int i = 0; i < LODE_CLOCKS; i++)
		thread->clocks.time[i] = 0;
	thread->born = now;
	thread->last = now;
	before = __sync_lock_test_and_set(&thread->tid, tid);
	LODE_CLOCKS_USE(before);
}

#endif
