/*
 * Idle threads: see idle_threads.h for the definition. Sums a thread, and a table of the bound waits by (thread, place),
 * of which there are few: which place is the outer loop is only known at the end.
 */
#include "scope/idle_threads.h"

#include "base/hash_index.h"
#include "scope/scope_index.h"

#include <string.h>

/* Time of a thread's bound waits to receive something, at one place. */
struct bound_place {
	uint32_t group;
	uint32_t place;
	uint64_t time;
};

struct sums {
	uint64_t waited;
	uint64_t bound; /* of it */
	uint64_t ran;   /* as the kernel or samples say */
	uint64_t first; /* of its waits, to the end of the last: */
	uint64_t last;
	uint64_t waited_for; /* waits of others that it ended */
	uint64_t waits;
	uint8_t recorded;
	uint8_t has_totals;
	uint8_t idle;
};

struct lode_idle_threads {
	const struct lode_stream *stream;
	const struct lode_idle_stacks *idle;
	const struct lode_work_waits *work;
	struct lode_wait_kinds *kinds;
	uint32_t *groups; /* by thread */
	size_t group_count;
	uint8_t *idle_tasks; /* by thread: the kernel's idle task, which ends no wait */
	struct sums *sums;   /* by group */
	int has_wakers;      /* some wait has */
	int has_samples;
	struct bound_place *places;
	size_t place_count;
	size_t place_capacity;
	struct lode_index index; /* of places */
};

/* Where the kernel counted, its running time replaces that of the samples. */
static void add_totals(struct lode_idle_threads *threads)
{
	for (size_t i = 0; i < threads->stream->thread_count; i++) {
		const struct lode_thread *thread = &threads->stream->threads[i];
		struct sums *sums = &threads->sums[threads->groups[i]];

		if (!lode_thread_has_totals(thread))
			continue;
		sums->has_totals = 1;
		sums->ran = lode_add_saturating(sums->ran, thread->totals.run_ns);
	}
}

int lode_idle_threads_make(struct lode_idle_threads **result, const struct lode_stream *stream,
			   const struct lode_idle_stacks *idle, const struct lode_work_waits *work,
			   struct lode_error *error)
{
	struct lode_idle_threads *threads = lode_calloc(1, sizeof(*threads));
	int code;

	*result = NULL;
	if (!threads)
		return lode_fail_memory(error);
	threads->stream = stream;
	threads->idle = idle;
	threads->work = work;
	code = lode_wait_kinds_make(&threads->kinds, stream, idle, error);
	threads->groups = lode_threads_by_tid(stream, &threads->group_count);
	threads->sums = lode_calloc(stream->thread_count + 1, sizeof(*threads->sums));
	threads->idle_tasks = lode_idle_tasks(stream);
	if (!code && (!threads->groups || !threads->sums || !threads->idle_tasks))
		code = lode_fail_memory(error);
	if (code) {
		lode_idle_threads_free(threads);
		return code;
	}
	add_totals(threads);
	*result = threads;
	return 0;
}

void lode_idle_threads_free(struct lode_idle_threads *threads)
{
	if (!threads)
		return;
	lode_wait_kinds_free(threads->kinds);
	lode_free(threads->groups);
	lode_free(threads->idle_tasks);
	lode_free(threads->sums);
	lode_free(threads->places);
	lode_index_release(&threads->index);
	lode_free(threads);
}

/* ---- counting ---- */

/* The thread that ended wait `i`, or LODE_NONE: an interrupt, or nobody. */
static uint32_t waker_of(const struct lode_idle_threads *threads, const struct lode_events *waits, size_t i)
{
	uint32_t waker = waits->waker[i];

	if (waker == LODE_NONE || threads->idle_tasks[waker] ||
	    lode_idle_interrupt(threads->idle, waits->waker_stack[i]))
		return LODE_NONE;
	return waker;
}

enum binding {
	UNBOUND,
	BOUND_OUTSIDE_LOOP, /* unless it is in the outer loop */
	BOUND,
};

static enum binding binding_of(const struct lode_idle_threads *threads, const struct lode_events *waits, size_t i,
			       int by_thread)
{
	if (lode_idle_event(threads->idle, waits->stack[i], waits->waker_stack[i]))
		return UNBOUND;
	switch (lode_wait_kind(threads->kinds, waits, i)) {
	case LODE_STATE_TIMER:
	case LODE_STATE_OTHER_WAIT:
		return by_thread ? BOUND_OUTSIDE_LOOP : UNBOUND;
	case LODE_STATE_NETWORK:
		return BOUND_OUTSIDE_LOOP;
	default:
		return BOUND;
	}
}

static int add_bound(struct lode_idle_threads *threads, uint32_t group, uint32_t place, uint64_t time)
{
	uint64_t hash = lode_hash_pair(group, place);
	uint32_t id = LODE_INDEX_FIND(i, &threads->index, hash,
				      threads->places[i].group == group && threads->places[i].place == place);

	if (id != LODE_NONE) {
		threads->places[id].time = lode_add_saturating(threads->places[id].time, time);
		return 0;
	}
	return LODE_INDEX_APPEND(&threads->index, hash, threads->places, threads->place_count,
				 threads->place_capacity,
				 (struct bound_place){ .group = group, .place = place, .time = time });
}

static void count_span(struct sums *sums, const struct lode_events *waits, size_t i)
{
	uint64_t over = lode_add_saturating(lode_add_saturating(waits->t[i], waits->cost[i]), waits->delay[i]);

	if (!sums->waits || waits->t[i] < sums->first)
		sums->first = waits->t[i];
	if (over > sums->last)
		sums->last = over;
	sums->waits++;
	sums->recorded = 1;
}

static int count_wait(struct lode_idle_threads *threads, const struct lode_events *waits, size_t i)
{
	uint32_t group = threads->groups[waits->thread[i]], waker = waker_of(threads, waits, i), place;
	uint64_t time = lode_events_cost(waits, i);
	enum binding binding = binding_of(threads, waits, i, waker != LODE_NONE);
	struct sums *sums = &threads->sums[group];

	count_span(sums, waits, i);
	threads->has_wakers |= waits->waker[i] != LODE_NONE ||
			       lode_idle_interrupt(threads->idle, waits->waker_stack[i]);
	sums->waited = lode_add_saturating(sums->waited, time);
	if (waker != LODE_NONE && threads->groups[waker] != group) {
		struct sums *other = &threads->sums[threads->groups[waker]];

		other->waited_for = lode_add_saturating(other->waited_for, time);
	}
	if (binding == UNBOUND)
		return 0;
	place = binding == BOUND ? 0 : lode_work_wait_place(threads->work, waits, i);
	if (place)
		return add_bound(threads, group, place, time);
	sums->bound = lode_add_saturating(sums->bound, time);
	return 0;
}

int lode_idle_threads_count(struct lode_idle_threads *threads, const struct lode_events *waits)
{
	for (size_t i = 0; i < waits->count; i++)
		if (count_wait(threads, waits, i) < 0)
			return LODE_SYSTEM;
	return 0;
}

int lode_idle_threads_needs_runs(const struct lode_idle_threads *threads)
{
	for (size_t i = 0; i < threads->group_count; i++)
		if (threads->sums[i].waited && !threads->sums[i].has_totals)
			return 1;
	return 0;
}

void lode_idle_threads_see_runs(struct lode_idle_threads *threads, const struct lode_events *runs)
{
	threads->has_samples |= runs->count > 0;
	for (size_t i = 0; i < runs->count; i++) {
		struct sums *sums = &threads->sums[threads->groups[runs->thread[i]]];

		sums->recorded = 1;
		if (!sums->has_totals)
			sums->ran = lode_add_saturating(sums->ran, lode_events_cost(runs, i));
	}
}

/* ---- asking ---- */

static int is_small(uint64_t part, uint64_t whole)
{
	return part <= whole / LODE_IDLE_SHARE;
}

/* How long a thread ran. */
static uint64_t run_time(const struct lode_idle_threads *threads, const struct sums *sums)
{
	uint64_t life = sums->last - sums->first;

	if (sums->has_totals || threads->has_samples)
		return sums->ran;
	return life > sums->waited ? life - sums->waited : 0;
}

void lode_idle_threads_settle(struct lode_idle_threads *threads)
{
	for (size_t i = 0; i < threads->place_count; i++) {
		const struct bound_place *place = &threads->places[i];
		struct sums *sums = &threads->sums[place->group];

		if (place->place != lode_work_outer_place(threads->work, place->group))
			sums->bound = lode_add_saturating(sums->bound, place->time);
	}
	for (size_t i = 0; i < threads->group_count; i++) {
		struct sums *sums = &threads->sums[i];
		uint64_t ran = run_time(threads, sums);

		sums->idle = threads->has_wakers && sums->waited &&
			     is_small(ran, lode_add_saturating(sums->waited, ran)) &&
			     is_small(sums->bound, sums->waited) && is_small(sums->waited_for, sums->waited);
	}
}

/* Whether it waits for a child whose own time is recorded; one that nothing has ended yet goes on beside it. */
static int is_for_child(const struct lode_idle_threads *threads, const struct lode_events *waits, size_t i,
			uint32_t waker)
{
	if (waker != LODE_NONE && !threads->sums[threads->groups[waker]].recorded)
		return 0;
	return lode_wait_kind(threads->kinds, waits, i) == LODE_STATE_CHILD;
}

int lode_idle_threads_wait(const struct lode_idle_threads *threads, const struct lode_events *waits, size_t i)
{
	uint32_t group = threads->groups[waits->thread[i]], waker = waker_of(threads, waits, i);

	if (is_for_child(threads, waits, i, waker))
		return 1;
	if (!threads->sums[group].idle)
		return 0;
	switch (binding_of(threads, waits, i, waker != LODE_NONE)) {
	case UNBOUND:
		return 1;
	case BOUND_OUTSIDE_LOOP:
		return lode_work_wait_place(threads->work, waits, i) &&
		       lode_work_wait_place(threads->work, waits, i) == lode_work_outer_place(threads->work, group);
	default:
		return 0;
	}
}

int lode_idle_threads_child(const struct lode_idle_threads *threads, const struct lode_events *waits, size_t i)
{
	uint32_t waker = waker_of(threads, waits, i);

	return waker != LODE_NONE && is_for_child(threads, waits, i, waker);
}
