/* Waits that are tried again: see retried_waits.h. */
#include "scope/retried_waits.h"

#include "trace/objects.h"

/* A thread that does more than this part of the wait before it waits again had the lock in between. */
#define MAX_GAP_SHARE 10
/* Waits that may lie between: a condition variable takes its mutex again before it is waited for again. */
#define BETWEEN 2

/* Whether `next`, a later wait of the same thread, is the same one, tried again. */
static int is_retried(const struct lode_stream *stream, uint32_t wait, uint32_t next)
{
	const struct lode_events *waits = &stream->events[LODE_WAIT];
	uint64_t end = lode_add_saturating(lode_event_end(waits, wait), waits->delay ? waits->delay[wait] : 0);
	uint32_t object = lode_events_object(waits, wait);
	enum lode_object_kind kind;

	if (!object || object != lode_events_object(waits, next) || waits->stack[wait] != waits->stack[next])
		return 0;
	if (waits->t[next] > lode_add_saturating(end, waits->cost[wait] / MAX_GAP_SHARE))
		return 0;
	kind = lode_object_kind_of(lode_strings_get(&stream->dictionary->frames.strings, object));
	return kind == LODE_OBJECT_LOCK || kind == LODE_OBJECT_GIL;
}

/* From the last wait of a thread to its first. */
static void find_wakers(const struct lode_scope_index *index, size_t group, uint32_t *wakers)
{
	const struct lode_events *waits = &index->stream->events[LODE_WAIT];
	const struct lode_scope_list *list = &index->lists[LODE_WAIT];
	size_t end = list->starts[group + 1];

	for (size_t i = end; i > list->starts[group]; i--) {
		uint32_t wait = list->events[i - 1];

		wakers[wait] = waits->waker[wait];
		if (wakers[wait] != LODE_NONE && lode_wake_ends_chain(index, wait))
			wakers[wait] = LODE_NONE;
		for (size_t k = i; wakers[wait] == LODE_NONE && k < end && k <= i + BETWEEN; k++)
			if (is_retried(index->stream, wait, list->events[k])) {
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
