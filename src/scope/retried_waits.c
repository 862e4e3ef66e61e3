/* Waits that are tried again: see retried_waits.h. */
#include "scope/retried_waits.h"

#include "base/bisect.h"
#include "trace/objects.h"

/* A thread that does more than this part of the wait before it waits again had the lock in between. */
#define MAX_GAP_SHARE 10
/* Waits that may lie between: a condition variable takes its mutex again before it is waited for again. */
#define BETWEEN 2
/* Samples of a wait that are looked at. */
#define MAX_SAMPLES 256

static enum lode_object_kind kind_of(const struct lode_stream *stream, uint32_t wait)
{
	uint32_t object = lode_events_object(&stream->events[LODE_WAIT], wait);

	return lode_object_kind_of(lode_strings_get(&stream->dictionary->frames.strings, object));
}

/* How long the threads of a group were preempted from `from` on, in preemptions that begin before `to`. */
static uint64_t preempted_time(const struct lode_scope_index *index, size_t group, uint64_t from, uint64_t to)
{
	const struct lode_events *calls = &index->stream->events[LODE_CALL];
	const struct lode_scope_list *list = &index->lists[LODE_CALL];
	uint64_t sum = 0;
	size_t i, end;

	if (!list->starts || !calls->delay)
		return 0;
	end = list->starts[group + 1];
	i = LODE_BISECT(k, list->starts[group], end, calls->t[list->events[k]] < from);
	for (; i < end && calls->t[list->events[i]] < to; i++)
		sum = lode_add_saturating(sum, calls->delay[list->events[i]]);
	return sum;
}

/* Whether `next`, a later wait of the same thread, is the same one, tried again. */
static int is_retried(const struct lode_scope_index *index, size_t group, uint32_t wait, uint32_t next)
{
	const struct lode_stream *stream = index->stream;
	const struct lode_events *waits = &stream->events[LODE_WAIT];
	uint64_t end = lode_add_saturating(lode_event_end(waits, wait), waits->delay ? waits->delay[wait] : 0);
	uint32_t object = lode_events_object(waits, wait);

	if (!object || object != lode_events_object(waits, next) || waits->stack[wait] != waits->stack[next])
		return 0;
	/* What counts is how long it ran: on a busy machine that takes longer. */
	if (waits->t[next] > lode_add_saturating(end, waits->cost[wait] / MAX_GAP_SHARE) &&
	    waits->t[next] - end > lode_add_saturating(preempted_time(index, group, end, waits->t[next]),
						       waits->cost[wait] / MAX_GAP_SHARE))
		return 0;
	return kind_of(stream, wait) == LODE_OBJECT_LOCK || kind_of(stream, wait) == LODE_OBJECT_GIL;
}

/* Another thread of the same process that ran for more than half of a wait, by its samples; LODE_NONE: none did. */
static uint32_t who_ran(const struct lode_stream *stream, uint32_t wait)
{
	const struct lode_events *waits = &stream->events[LODE_WAIT], *runs = &stream->events[LODE_RUN];
	const struct lode_thread *self = &stream->threads[waits->thread[wait]];
	uint64_t start = waits->t[wait], end = lode_event_end(waits, wait), votes = 0, cost = 0;
	size_t first = LODE_BISECT(i, 0, runs->count, runs->t[i] < start), last = first;
	uint32_t found = LODE_NONE;

	/* If one has the majority, it is the one that is left when votes for different ones cancel out. */
	for (; last < runs->count && runs->t[last] < end && last - first < MAX_SAMPLES; last++) {
		const struct lode_thread *thread = &stream->threads[runs->thread[last]];

		if (!self->pid || thread->pid != self->pid || thread->tid == self->tid)
			continue;
		if (!votes)
			found = runs->thread[last];
		if (runs->thread[last] == found)
			votes++;
		else
			votes--;
	}
	for (size_t i = first; i < last; i++)
		cost = lode_add_saturating(cost, runs->thread[i] == found ? runs->cost[i] : 0);
	return cost > waits->cost[wait] / 2 ? found : LODE_NONE;
}

/* From the last wait of a thread to its first. */
static void find_wakers(const struct lode_scope_index *index, size_t group, uint32_t *wakers)
{
	const struct lode_events *waits = &index->stream->events[LODE_WAIT];
	const struct lode_events *runs = &index->stream->events[LODE_RUN];
	const struct lode_scope_list *list = &index->lists[LODE_WAIT];
	size_t end = list->starts[group + 1];

	for (size_t i = end; i > list->starts[group]; i--) {
		uint32_t wait = list->events[i - 1];

		wakers[wait] = waits->waker[wait];
		if (wakers[wait] != LODE_NONE && lode_wake_ends_chain(index, wait))
			wakers[wait] = LODE_NONE;
		/* Whoever ends a later try may have got the lock after this one. */
		if (wakers[wait] == LODE_NONE && lode_events_object(waits, wait) && runs->t &&
		    kind_of(index->stream, wait) == LODE_OBJECT_GIL)
			wakers[wait] = who_ran(index->stream, wait);
		for (size_t k = i; wakers[wait] == LODE_NONE && k < end && k <= i + BETWEEN; k++)
			if (is_retried(index, group, wait, list->events[k])) {
				wakers[wait] = wakers[list->events[k]];
				break;
			}
	}
}

int lode_retried_waits(const struct lode_scope_index *index, uint32_t **wakers)
{
	const struct lode_events *waits = &index->stream->events[LODE_WAIT];

	*wakers = NULL;
	if (!waits->object || !waits->stack || index->thinned)
		return 0;
	*wakers = lode_calloc(waits->count + 1, sizeof(**wakers));
	if (!*wakers)
		return LODE_SYSTEM;
	for (size_t group = 0; group < index->group_count; group++)
		find_wakers(index, group, *wakers);
	return 0;
}
