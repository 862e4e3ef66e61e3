/* Waits that are tried again: see retried_waits.h. */
#include "scope/retried_waits.h"

#include "base/bisect.h"
#include "scope/wait_kinds.h"
#include "trace/objects.h"

/* A thread that does more than this part of the wait before it waits again had the lock in between. */
#define MAX_GAP_SHARE 10
/* What waits for others than a lock may do in between: a signal handler takes some 40 us. */
#define MAX_HANDLER_SHARE 100
#define MAX_HANDLER_NS    100000
/* Waits that may lie between: a condition variable takes its mutex again before it is waited for again. */
#define BETWEEN 2
/* Samples of a wait that are looked at. */
#define MAX_SAMPLES 256

static enum lode_object_kind kind_of(const struct lode_stream *stream, uint32_t wait)
{
	uint32_t object = lode_events_object(&stream->events[LODE_WAIT], wait);

	return lode_object_kind_of(lode_strings_get(&stream->dictionary->frames.strings, object));
}

/* How much of the time from `start` to `end` the events of a group cover: samples, or preemptions with their delays. */
static uint64_t covered_time(const struct lode_scope_index *index, int type, size_t group, uint64_t start,
			     uint64_t end)
{
	const struct lode_events *events = &index->stream->events[type];
	const uint64_t *lengths = type == LODE_CALL ? events->delay : events->cost;
	const struct lode_scope_list *list = &index->lists[type];
	uint64_t sum = 0;
	size_t i, last;

	if (!list->starts || !lengths)
		return 0;
	last = list->starts[group + 1];
	i = LODE_BISECT(k, list->starts[group], last, events->t[list->events[k]] < start);
	/* The one before may reach into it: events of a thread do not overlap. */
	i -= i > list->starts[group];
	for (; i < last && events->t[list->events[i]] < end; i++) {
		uint64_t from = events->t[list->events[i]];
		uint64_t to = lode_add_saturating(from, lengths[list->events[i]]);

		from = from > start ? from : start;
		to = to < end ? to : end;
		sum += to > from ? to - from : 0;
	}
	return sum;
}

/* What was found out about stacks, by node. */
enum stack_answer {
	NOT_ASKED,
	WAITS_FOR_LOCK,
	WAITS_FOR_OTHER,
};

/* Whether a wait is for a lock, by its object, or by the functions of its stack; `answers`, by stack, are remembered. */
static int is_for_lock(const struct lode_stream *stream, uint32_t wait, uint8_t *answers)
{
	enum lode_object_kind kind = kind_of(stream, wait);
	uint32_t stack = stream->events[LODE_WAIT].stack[wait];

	if (kind == LODE_OBJECT_LOCK || kind == LODE_OBJECT_GIL)
		return 1;
	if (answers[stack] == NOT_ASKED)
		answers[stack] = lode_stack_waits_for_lock(stream->dictionary, stack) ? WAITS_FOR_LOCK
										      : WAITS_FOR_OTHER;
	return answers[stack] == WAITS_FOR_LOCK;
}

/* How long the thread of a wait may run before it waits again, if that is to be the same wait; 0: it never is. */
static uint64_t longest_gap(const struct lode_stream *stream, uint32_t wait, uint8_t *answers)
{
	uint64_t cost = stream->events[LODE_WAIT].cost[wait], limit = cost / MAX_HANDLER_SHARE;
	enum lode_object_kind kind = kind_of(stream, wait);

	if (is_for_lock(stream, wait, answers))
		return cost / MAX_GAP_SHARE;
	if (kind < LODE_OBJECT_PIPE || kind > LODE_OBJECT_EVENTFD)
		return 0;
	return limit < MAX_HANDLER_NS ? limit : MAX_HANDLER_NS;
}

/* Whether `next`, a later wait of the same thread, is the same one, tried again. */
static int is_retried(const struct lode_scope_index *index, size_t group, uint32_t wait, uint32_t next,
		      uint8_t *answers)
{
	const struct lode_stream *stream = index->stream;
	const struct lode_events *waits = &stream->events[LODE_WAIT];
	uint64_t end = lode_add_saturating(lode_event_end(waits, wait), waits->delay ? waits->delay[wait] : 0);
	uint32_t object = lode_events_object(waits, wait);
	uint64_t gap;

	if (!object || object != lode_events_object(waits, next) || waits->stack[wait] != waits->stack[next])
		return 0;
	gap = longest_gap(stream, wait, answers);
	/* What counts is how long it ran: on a busy machine that takes longer. */
	return gap &&
	       (waits->t[next] <= lode_add_saturating(end, gap) ||
		waits->t[next] - end <=
			lode_add_saturating(covered_time(index, LODE_CALL, group, end, waits->t[next]), gap));
}

/*
 * The thread of the same process, another one, that has most of the samples of a wait, if it has the majority of them; else
 * any that has some; LODE_NONE: none has.
 */
static uint32_t most_sampled(const struct lode_stream *stream, uint32_t wait)
{
	const struct lode_events *waits = &stream->events[LODE_WAIT], *runs = &stream->events[LODE_RUN];
	const struct lode_thread *self = &stream->threads[waits->thread[wait]];
	uint64_t start = waits->t[wait], end = lode_event_end(waits, wait), votes = 0;
	size_t first = LODE_BISECT(i, 0, runs->count, runs->t[i] < start);
	uint32_t found = LODE_NONE;

	/* If one has the majority, it is the one that is left when votes for different ones cancel out. */
	for (size_t i = first; i < runs->count && runs->t[i] < end && i - first < MAX_SAMPLES; i++) {
		const struct lode_thread *thread = &stream->threads[runs->thread[i]];

		if (!self->pid || thread->pid != self->pid || thread->tid == self->tid)
			continue;
		if (!votes)
			found = runs->thread[i];
		if (runs->thread[i] == found)
			votes++;
		else
			votes--;
	}
	return found;
}

/*
 * Who had the interpreter's lock during a wait that no thread ended: the thread of the process that ran for more than half
 * of it, or was preempted while it ran, which does not make it let go; LODE_NONE: unknown. `*last`: who had it in the wait
 * that was looked at before, which may still have it and not have run at all.
 */
static uint32_t who_had_it(const struct lode_scope_index *index, uint32_t wait, uint32_t *last)
{
	const struct lode_stream *stream = index->stream;
	const struct lode_events *waits = &stream->events[LODE_WAIT];
	const struct lode_thread *self = &stream->threads[waits->thread[wait]];
	uint64_t start = waits->t[wait], end = lode_event_end(waits, wait);
	uint32_t found = most_sampled(stream, wait);
	uint64_t time;

	if (found == LODE_NONE && *last != LODE_NONE && stream->threads[*last].pid == self->pid &&
	    stream->threads[*last].tid != self->tid)
		found = *last;
	if (found == LODE_NONE)
		return LODE_NONE;
	time = covered_time(index, LODE_RUN, index->groups[found], start, end) +
	       covered_time(index, LODE_CALL, index->groups[found], start, end);
	if (time <= waits->cost[wait] / 2)
		return LODE_NONE;
	*last = found;
	return found;
}

/* From the last wait of a thread to its first. */
static void find_wakers(const struct lode_scope_index *index, size_t group, uint32_t *wakers, uint8_t *answers)
{
	const struct lode_events *waits = &index->stream->events[LODE_WAIT];
	const struct lode_events *runs = &index->stream->events[LODE_RUN];
	const struct lode_scope_list *list = &index->lists[LODE_WAIT];
	size_t end = list->starts[group + 1];
	uint32_t holder = LODE_NONE;

	for (size_t i = end; i > list->starts[group]; i--) {
		uint32_t wait = list->events[i - 1];

		wakers[wait] = waits->waker[wait];
		if (wakers[wait] != LODE_NONE && lode_wake_ends_chain(index, wait))
			wakers[wait] = LODE_NONE;
		/* Whoever ends a later try may have got the lock after this one. */
		if (wakers[wait] == LODE_NONE && !index->thinned && lode_events_object(waits, wait) && runs->t &&
		    kind_of(index->stream, wait) == LODE_OBJECT_GIL)
			wakers[wait] = who_had_it(index, wait, &holder);
		for (size_t k = i; wakers[wait] == LODE_NONE && k < end && k <= i + BETWEEN; k++)
			if (is_retried(index, group, wait, list->events[k], answers)) {
				wakers[wait] = wakers[list->events[k]];
				break;
			}
		/* It was not over when the recording ended, or who ended it is lost: whoever had the lock keeps it waiting. */
		if (wakers[wait] == LODE_NONE && !index->thinned &&
		    lode_events_holder(waits, wait) < index->stream->thread_count)
			wakers[wait] = lode_events_holder(waits, wait);
	}
}

int lode_wait_holders(const struct lode_scope_index *index, uint32_t **holders)
{
	const struct lode_events *waits = &index->stream->events[LODE_WAIT];
	size_t known = 0;
	uint32_t *found;

	*holders = NULL;
	if (lode_retried_waits(index, &found) < 0)
		return LODE_SYSTEM;
	/* Without it nothing is known of what was waited for. */
	for (uint32_t i = 0; found && i < waits->count; i++) {
		enum lode_object_kind kind = kind_of(index->stream, i);
		/* Who ends a wait for an interpreter's lock gives it away; who ends one for a lock may be told to by its holder. */
		int had_it = kind == LODE_OBJECT_GIL || (kind == LODE_OBJECT_LOCK && found[i] != waits->waker[i]);

		if (lode_events_holder(waits, i) != LODE_NONE)
			found[i] = lode_events_holder(waits, i);
		else if (!had_it)
			found[i] = LODE_NONE;
		known += found[i] != LODE_NONE;
	}
	if (known)
		*holders = found;
	else
		lode_free(found);
	return 0;
}

int lode_wait_is_retried(const struct lode_scope_index *index, const uint32_t *wakers, uint32_t wait)
{
	const struct lode_events *waits = &index->stream->events[LODE_WAIT];

	return wakers && wakers[wait] != LODE_NONE && wakers[wait] != waits->waker[wait] &&
	       kind_of(index->stream, wait) != LODE_OBJECT_GIL;
}

int lode_retried_waits(const struct lode_scope_index *index, uint32_t **wakers)
{
	const struct lode_events *waits = &index->stream->events[LODE_WAIT];

	uint8_t *answers;

	*wakers = NULL;
	if (!lode_events_have_objects(waits) || !waits->stack)
		return 0;
	*wakers = lode_calloc(waits->count + 1, sizeof(**wakers));
	answers = lode_calloc(index->stream->dictionary->tree.count + 1, 1);
	if (!*wakers || !answers) {
		lode_free(*wakers);
		*wakers = NULL;
		lode_free(answers);
		return LODE_SYSTEM;
	}
	for (size_t group = 0; group < index->group_count; group++)
		find_wakers(index, group, *wakers, answers);
	lode_free(answers);
	return 0;
}
