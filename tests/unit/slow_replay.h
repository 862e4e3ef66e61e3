/*
 * A slow replayer, which tests compare the replayer with: it asks for each nanosecond what a thread did, and goes on from one
 * moment to the next by looking at all threads.
 */
#ifndef LODE_TESTS_SLOW_REPLAY_H
#define LODE_TESTS_SLOW_REPLAY_H

#include "small_stream.h"

#include "scope/scope_index.h"
#include "scope/what_if.h"

#include <math.h>

#define SLOW_TIME    40 /* of a stream, in nanoseconds */
#define SLOW_GROUPS  5  /* threads that differ */
#define SLOW_MOMENTS (3 * SLOW_TIME)

enum doing { ABSENT, RUNS, PASSES, QUEUES, BLOCKS };

/* What a thread did in one nanosecond. */
struct unit {
	enum doing doing;
	int type;
	uint32_t event;
};

struct slow {
	const struct small_stream *small;
	const struct lode_events *events;
	uint32_t *groups;
	size_t group_count;
	struct unit units[SLOW_GROUPS][SLOW_MOMENTS];
	uint64_t first[SLOW_GROUPS]; /* when it is there, */
	uint64_t last[SLOW_GROUPS];  /* up to */
	uint32_t wakers[64];         /* by wait; a group, or LODE_NONE */
	int meets[64];
	uint32_t parents[SLOW_GROUPS];
	struct lode_symptom symptom;
	struct lode_replay_change change;
	enum lode_replay_bound bound;
	double processors; /* 0: for all */
	/* The replay. */
	uint64_t at[SLOW_GROUPS]; /* the moment of the recording that a thread has come to */
	double left[SLOW_GROUPS]; /* of what it does now */
	int started[SLOW_GROUPS];
	int stuck[SLOW_GROUPS]; /* in wait number, plus one */
	int begun[64];
	int skips[64];    /* it was none: the thread is not on the run queue either */
	double ended[64]; /* -1: not yet */
	double until[64]; /* when a wait that is ended by nobody, or shorter, is over; -1: never */
};

static uint64_t wait_end(const struct slow *slow, uint32_t wait)
{
	return slow->events[LODE_WAIT].t[wait] + slow->events[LODE_WAIT].cost[wait];
}

/* Of all events of a group that cover the moment: waits before preemptions before samples, of these the last. */
static struct unit unit_at(const struct slow *slow, uint32_t group, uint64_t x)
{
	static const int types[] = { LODE_WAIT, LODE_CALL, LODE_RUN };
	const struct lode_strings *strings = &slow->small->dictionary.frames.strings;

	for (int k = 0; k < 3; k++) {
		const struct lode_events *events = &slow->events[types[k]];

		for (uint32_t i = (uint32_t)events->count; i-- > 0;) {
			uint64_t over = events->t[i] + (types[k] == LODE_CALL ? 0 : events->cost[i]) +
					(types[k] == LODE_RUN ? 0 : events->delay[i]);

			if (slow->groups[events->thread[i]] != group || events->t[i] > x || over <= x)
				continue;
			if (types[k] == LODE_CALL &&
			    strcmp(lode_strings_get(strings, events->name[i]), LODE_PREEMPTION))
				continue;
			return (struct unit){ types[k] == LODE_RUN                 ? RUNS
					      : types[k] == LODE_CALL              ? QUEUES
					      : x < events->t[i] + events->cost[i] ? BLOCKS
										   : QUEUES,
					      types[k], i };
		}
	}
	return (struct unit){ PASSES, -1, 0 };
}

static int same_unit(struct unit a, struct unit b)
{
	return a.doing == b.doing && a.type == b.type && a.event == b.event;
}

static int has_any(const struct slow *slow, uint32_t group)
{
	for (int type = 0; type < LODE_SCOPE_TYPES; type++)
		for (size_t i = 0; i < slow->events[type].count; i++)
			if (slow->groups[slow->events[type].thread[i]] == group)
				return 1;
	return 0;
}

static void include(struct slow *slow, uint32_t group, uint64_t from, uint64_t to)
{
	if (from < slow->first[group])
		slow->first[group] = from;
	if (to > slow->last[group])
		slow->last[group] = to;
}

static void find_wakers(struct slow *slow)
{
	const struct lode_events *waits = &slow->events[LODE_WAIT];

	for (uint32_t i = 0; i < waits->count; i++) {
		uint32_t waker = waits->waker[i];

		slow->wakers[i] = LODE_NONE;
		if (waker == LODE_NONE || slow->groups[waker] == slow->groups[waits->thread[i]] ||
		    !has_any(slow, slow->groups[waker]))
			continue;
		slow->wakers[i] = slow->groups[waker];
		if (wait_end(slow, i))
			include(slow, slow->wakers[i], wait_end(slow, i) - 1, wait_end(slow, i) + 1);
	}
}

static void find_units(struct slow *slow)
{
	for (uint32_t g = 0; g < slow->group_count; g++) {
		for (uint64_t x = 0; x < SLOW_MOMENTS; x++) {
			struct unit unit = unit_at(slow, g, x);

			if (unit.type >= 0)
				include(slow, g, x, x + 1);
			slow->units[g][x] = unit;
		}
		for (uint64_t x = 0; x < SLOW_MOMENTS; x++)
			if (slow->first[g] > x || slow->last[g] <= x)
				slow->units[g][x].doing = ABSENT;
	}
	/* A wait inside of which there is another: only its last part is ended by its waker. */
	for (uint32_t g = 0; g < slow->group_count; g++)
		for (uint64_t x = SLOW_MOMENTS - 1; x-- > 0;) {
			struct unit *unit = &slow->units[g][x];

			if (unit->doing == BLOCKS && x + 1 < wait_end(slow, unit->event) &&
			    !same_unit(slow->units[g][x + 1], *unit))
				unit->doing = PASSES;
		}
}

/* Whether a thread of the group could have done something at moment `t`, which is a point between two units. */
static int acts_at(const struct slow *slow, uint32_t g, uint64_t t)
{
	const struct unit *before = t ? &slow->units[g][t - 1] : NULL;

	if (!before || before->doing == ABSENT)
		return 0;
	if (before->doing == RUNS || before->doing == PASSES)
		return 1;
	return !same_unit(*before, slow->units[g][t]);
}

static int comes_before(const struct slow *slow, uint32_t a, uint32_t b)
{
	return wait_end(slow, a) < wait_end(slow, b) || (wait_end(slow, a) == wait_end(slow, b) && a < b);
}

/* The last wait before `wait`, by its end, that `waker` ended for `waiter`; any at all where `wait` is LODE_NONE. */
static uint32_t last_of(const struct slow *slow, uint32_t waker, uint32_t waiter, uint32_t wait)
{
	uint32_t found = LODE_NONE;

	for (uint32_t i = 0; i < slow->events[LODE_WAIT].count; i++)
		if (slow->wakers[i] == waker && slow->groups[slow->events[LODE_WAIT].thread[i]] == waiter &&
		    (wait == LODE_NONE || comes_before(slow, i, wait)) &&
		    (found == LODE_NONE || comes_before(slow, found, i)))
			found = i;
	return found;
}

static void find_meetings(struct slow *slow)
{
	for (uint32_t i = 0; i < slow->events[LODE_WAIT].count; i++) {
		uint32_t waker = slow->wakers[i], waiter = slow->groups[slow->events[LODE_WAIT].thread[i]];
		uint32_t own, back;

		slow->meets[i] = 0;
		if (waker == LODE_NONE || last_of(slow, waiter, waker, LODE_NONE) == LODE_NONE)
			continue;
		own = last_of(slow, waker, waiter, i);
		back = last_of(slow, waiter, waker, i);
		slow->meets[i] = own != LODE_NONE &&
				 (back == LODE_NONE || wait_end(slow, back) <= wait_end(slow, own));
	}
}

static uint32_t process_of(const struct slow *slow, uint32_t group)
{
	const struct lode_stream *stream = &slow->small->stream;

	for (size_t i = 0; i < stream->thread_count; i++)
		if (slow->groups[i] == group && stream->threads[i].pid != LODE_NO_PID)
			return stream->threads[i].pid;
	return LODE_NO_PID;
}

static void find_parents(struct slow *slow)
{
	for (uint32_t g = 0; g < slow->group_count; g++) {
		uint64_t t = slow->first[g];

		slow->parents[g] = LODE_NONE;
		for (uint32_t p = 0; p < slow->group_count && slow->parents[g] == LODE_NONE; p++)
			if (p != g && t < SLOW_MOMENTS && process_of(slow, p) != LODE_NO_PID &&
			    process_of(slow, p) == process_of(slow, g) && slow->first[p] < t && slow->last[p] >= t &&
			    (slow->units[p][t - 1].doing == RUNS || slow->units[p][t - 1].doing == PASSES))
				slow->parents[g] = p;
	}
}

static void slow_make(struct slow *slow, const struct small_stream *small)
{
	memset(slow, 0, sizeof(*slow));
	slow->small = small;
	slow->events = small->stream.events;
	slow->groups = lode_threads_by_tid(&small->stream, &slow->group_count);
	assert_true(slow->group_count <= SLOW_GROUPS && slow->events[LODE_WAIT].count <= 64);
	for (uint32_t g = 0; g < SLOW_GROUPS; g++)
		slow->first[g] = UINT64_MAX;
	find_wakers(slow);
	find_units(slow);
	for (uint32_t i = 0; i < slow->events[LODE_WAIT].count; i++)
		if (slow->wakers[i] != LODE_NONE && !acts_at(slow, slow->wakers[i], wait_end(slow, i)))
			slow->wakers[i] = LODE_NONE;
	find_meetings(slow);
	find_parents(slow);
}

static int is_changed(const struct slow *slow, const struct unit *unit)
{
	uint32_t stack = unit->type < 0 ? 0 : slow->events[unit->type].stack[unit->event];
	int kind = unit->type == LODE_WAIT ? LODE_WAIT : LODE_RUN;

	return unit->doing != PASSES && slow->change.stacks && stack && slow->change.stacks[stack] &&
	       slow->change.kinds & 1u << kind;
}

static double kept(const struct slow *slow, const struct unit *unit, double length)
{
	return is_changed(slow, unit) ? length * (100 - slow->change.percent) / 100 : length;
}

static int in_window(const struct slow *slow, uint32_t wait)
{
	return wait_end(slow, wait) > slow->symptom.t0 && wait_end(slow, wait) <= slow->symptom.t1 &&
	       slow->events[LODE_WAIT].cost[wait];
}

/* Whether the last part of the wait is there at all: its thread may have been in another one. */
static int is_seen(const struct slow *slow, uint32_t wait)
{
	uint32_t group = slow->groups[slow->events[LODE_WAIT].thread[wait]];
	const struct unit *unit = &slow->units[group][wait_end(slow, wait) - 1];

	return unit->doing == BLOCKS && unit->event == wait;
}

/* The next wait that a group ends when it comes to the moment it has come to; LODE_NONE: none is left. */
static uint32_t next_to_wake(const struct slow *slow, uint32_t g)
{
	uint32_t found = LODE_NONE;

	for (uint32_t i = 0; i < slow->events[LODE_WAIT].count; i++)
		if (slow->wakers[i] == g && in_window(slow, i) && slow->ended[i] < 0 && is_seen(slow, i) &&
		    wait_end(slow, i) <= slow->at[g] && (found == LODE_NONE || comes_before(slow, i, found)))
			found = i;
	return found;
}

/* Whether the thread of the symptom is in a wait at t1 that goes on. */
static uint32_t cut_wait(const struct slow *slow)
{
	uint32_t g = slow->groups[slow->symptom.thread];
	const struct unit *unit;

	if (slow->symptom.t1 <= slow->symptom.t0)
		return LODE_NONE;
	unit = &slow->units[g][slow->symptom.t1 - 1];
	return unit->doing == BLOCKS && wait_end(slow, unit->event) > slow->symptom.t1 ? unit->event : LODE_NONE;
}

/* Who runs at t1 and ends it. */
static uint32_t cut_waker(const struct slow *slow, uint32_t cut)
{
	uint32_t waker = cut == LODE_NONE ? LODE_NONE : slow->wakers[cut];
	uint64_t t1 = slow->symptom.t1;

	if (waker == LODE_NONE)
		return LODE_NONE;
	if (slow->last[waker] < t1)
		return waker;
	return slow->first[waker] < t1 && (slow->units[waker][t1 - 1].doing == RUNS ||
					   slow->units[waker][t1 - 1].doing == PASSES)
		       ? waker
		       : LODE_NONE;
}

static void begin_wait(struct slow *slow, uint32_t g, uint32_t wait, double now)
{
	uint64_t from = slow->at[g], end = wait_end(slow, wait);
	uint64_t to = end < slow->symptom.t1 ? end : slow->symptom.t1;
	const struct unit *unit = &slow->units[g][from];
	uint32_t cut = cut_wait(slow);
	int by_thread = wait == cut ? cut_waker(slow, cut) != LODE_NONE : slow->wakers[wait] != LODE_NONE;
	double length = kept(slow, unit, (double)(to - from));

	slow->begun[wait] = 1;
	slow->until[wait] = -1;
	if (is_changed(slow, unit) && slow->change.percent == 100)
		slow->until[wait] = now;
	else if (!by_thread && slow->bound == LODE_REPLAY_LOW)
		slow->until[wait] = (double)(to - slow->symptom.t0) - (double)(to - from) + length;
	else if (!by_thread || is_changed(slow, unit))
		slow->until[wait] = now + length;
	slow->stuck[g] = (int)wait + 1;
	/* What kept it on the run queue afterwards was that it was woken. */
	slow->skips[wait] = slow->until[wait] >= 0 && slow->until[wait] <= now;
	if (by_thread && slow->ended[wait] >= 0)
		slow->skips[wait] = slow->ended[wait] < now - 1e-3;
}

/* The wait is over: the thread goes on behind it. */
static void end_wait(struct slow *slow, uint32_t g, uint32_t wait)
{
	uint64_t x = wait_end(slow, wait) < slow->symptom.t1 ? wait_end(slow, wait) : slow->symptom.t1;

	slow->stuck[g] = 0;
	slow->at[g] = x;
}

/* One thing that a thread can do at this moment without time passing. Returns whether it did. */
static int act(struct slow *slow, uint32_t g, double now)
{
	uint32_t own = slow->groups[slow->symptom.thread], wait;
	const struct unit *unit;

	if (!slow->started[g] || slow->left[g] > 0)
		return 0;
	if (slow->stuck[g]) {
		wait = (uint32_t)slow->stuck[g] - 1;
		if (slow->ended[wait] < 0 && (slow->until[wait] < 0 || slow->until[wait] > now))
			return 0;
		end_wait(slow, g, wait);
		return 1;
	}
	for (uint32_t child = 0; child < slow->group_count; child++)
		if (!slow->started[child] && slow->parents[child] == g && slow->first[child] <= slow->at[g]) {
			slow->started[child] = 1;
			return 1;
		}
	wait = next_to_wake(slow, g);
	if (wait != LODE_NONE) {
		if (!slow->begun[wait] &&
		    (slow->bound == LODE_REPLAY_LOW || (slow->bound == LODE_REPLAY_LIKELY && slow->meets[wait])))
			return 0;
		slow->ended[wait] = now;
		return 1;
	}
	wait = cut_wait(slow);
	if (wait != LODE_NONE && cut_waker(slow, wait) == g && slow->ended[wait] < 0 &&
	    slow->at[g] >= slow->symptom.t1) {
		slow->ended[wait] = now;
		return 1;
	}
	if (slow->at[g] >= slow->symptom.t1)
		return 0;
	unit = &slow->units[g][slow->at[g]];
	if (unit->doing == ABSENT && g != own && cut_waker(slow, cut_wait(slow)) != g)
		return 0;
	if (unit->doing == BLOCKS && wait_end(slow, unit->event) > slow->symptom.t1 && unit->event != cut_wait(slow))
		return 0;
	if (unit->doing == BLOCKS) {
		begin_wait(slow, g, unit->event, now);
		return 1;
	}
	slow->left[g] = kept(slow, unit, 1);
	if (unit->doing == QUEUES && unit->type == LODE_WAIT && slow->skips[unit->event])
		slow->left[g] = 0;
	slow->at[g]++;
	return 1;
}

/* Whether what a thread does now needs a processor. */
static int computes(const struct slow *slow, uint32_t g)
{
	return slow->started[g] && slow->left[g] > 0 && slow->processors > 0 &&
	       slow->units[g][slow->at[g] - 1].doing == RUNS;
}

static double pass_time(struct slow *slow, double now)
{
	double threads = 0, rate, step = INFINITY;

	for (uint32_t g = 0; g < slow->group_count; g++)
		threads += computes(slow, g);
	rate = threads > slow->processors ? slow->processors / threads : 1;
	for (uint32_t g = 0; g < slow->group_count; g++) {
		double start = (double)slow->first[g] - (double)slow->symptom.t0;

		if (!slow->started[g]) {
			if (slow->parents[g] == LODE_NONE && start > now)
				step = fmin(step, start - now);
		} else if (slow->left[g] > 0) {
			step = fmin(step, computes(slow, g) ? slow->left[g] / rate : slow->left[g]);
		} else if (slow->stuck[g] && slow->until[slow->stuck[g] - 1] > now) {
			step = fmin(step, slow->until[slow->stuck[g] - 1] - now);
		}
	}
	if (isinf(step))
		return step;
	for (uint32_t g = 0; g < slow->group_count; g++)
		if (slow->started[g] && slow->left[g] > 0) {
			slow->left[g] -= computes(slow, g) ? step * rate : step;
			slow->left[g] = slow->left[g] < 1e-7 ? 0 : slow->left[g];
		}
	return now + step;
}

/* The symptom's length; below 0 where threads wait for each other in a circle. */
static double slow_run(struct slow *slow)
{
	uint32_t own = slow->groups[slow->symptom.thread];
	double now = 0;

	for (uint32_t i = 0; i < 64; i++) {
		slow->begun[i] = slow->skips[i] = 0;
		slow->ended[i] = -1;
		slow->until[i] = -1;
	}
	for (uint32_t g = 0; g < slow->group_count; g++) {
		slow->at[g] = slow->symptom.t0 > slow->first[g] || g == own ? slow->symptom.t0 : slow->first[g];
		slow->left[g] = 0;
		slow->stuck[g] = 0;
		slow->started[g] = g == own || slow->first[g] <= slow->symptom.t0;
	}
	for (;;) {
		int acted = 1;

		while (acted) {
			acted = 0;
			for (uint32_t g = 0; g < slow->group_count; g++) {
				double start = (double)slow->first[g] - (double)slow->symptom.t0;

				if (!slow->started[g] && slow->parents[g] == LODE_NONE && start <= now)
					acted = slow->started[g] = 1;
				acted |= act(slow, g, now);
			}
		}
		if (slow->at[own] >= slow->symptom.t1 && !slow->stuck[own] && slow->left[own] <= 0 &&
		    next_to_wake(slow, own) == LODE_NONE)
			return now;
		now = pass_time(slow, now);
		if (isinf(now))
			return -1;
	}
}

#endif
