/*
 * Events by thread: one counting sort by tid for each type of event, which keeps
 * the order of time inside a thread. Linear in the events of the stream; what a
 * scope needs beyond it is made when it is first requested, a thread at a time.
 */
#include "scope/scope_index.h"

#include "base/sort_order.h"

#include <stdlib.h>

int lode_number_keys(uint32_t *keys, size_t count, size_t *distinct)
{
	uint64_t *wide = lode_calloc(count + 1, sizeof(*wide));
	uint32_t *order = lode_calloc(count + 1, sizeof(*order));
	int code = wide && order ? 0 : LODE_SYSTEM;

	*distinct = 0;
	for (size_t i = 0; !code && i < count; i++)
		wide[i] = keys[i];
	if (!code)
		code = lode_sort_order(wide, count, order);
	for (size_t i = 0; !code && i < count; i++) {
		*distinct += !i || wide[order[i]] != wide[order[i - 1]];
		keys[order[i]] = (uint32_t)(*distinct - 1);
	}
	lode_free(wide);
	lode_free(order);
	return code;
}

uint32_t *lode_threads_by_tid(const struct lode_stream *stream, size_t *count)
{
	uint32_t *groups = lode_calloc(stream->thread_count + 1, sizeof(*groups));

	if (!groups)
		return NULL;
	for (size_t i = 0; i < stream->thread_count; i++)
		groups[i] = stream->threads[i].tid;
	if (lode_number_keys(groups, stream->thread_count, count) < 0) {
		lode_free(groups);
		return NULL;
	}
	return groups;
}

/* An event of a thread that is not in the table would be written through. */
static int check_threads(const struct lode_scope_index *index, enum lode_event_type type, struct lode_error *error)
{
	const struct lode_events *events = &index->stream->events[type];
	size_t count = index->stream->thread_count;

	for (size_t i = 0; i < events->count; i++)
		if (events->thread[i] >= count ||
		    (type == LODE_WAIT && events->waker[i] != LODE_NONE && events->waker[i] >= count))
			return lode_fail(
				error, LODE_BAD_INPUT,
				"a %s event names a thread that is not there; run 'lode fsck' on the corpus",
				lode_event_type_name(type));
	return 0;
}

/* Which events are listed: all runs and waits; of calls those of the name `name`, with time on the run queue. */
static int is_listed(const struct lode_events *events, uint32_t name, size_t i)
{
	return name == LODE_NONE || (events->name[i] == name && events->delay[i]);
}

static int list_events(struct lode_scope_index *index, enum lode_event_type type, uint32_t name,
		       struct lode_error *error)
{
	const struct lode_events *events = &index->stream->events[type];
	struct lode_scope_list *list = &index->lists[type];
	size_t listed = 0;

	if (events->count >= LODE_NONE)
		return lode_fail(error, LODE_BAD_INPUT, "the stream has more %s events than fit; split it",
				 lode_event_type_name(type));
	for (size_t i = 0; i < events->count; i++)
		listed += (size_t)is_listed(events, name, i);
	list->starts = lode_calloc(index->group_count + 2, sizeof(*list->starts));
	list->events = lode_calloc(listed + 1, sizeof(*list->events));
	if (!list->starts || !list->events)
		return lode_fail_memory(error);
	/* Counted two places further on, summed, then used as the place of the next: ends as the starts. */
	for (size_t i = 0; i < events->count; i++)
		if (is_listed(events, name, i))
			list->starts[index->groups[events->thread[i]] + 2]++;
	for (size_t i = 2; i < index->group_count + 2; i++)
		list->starts[i] += list->starts[i - 1];
	for (size_t i = 0; i < events->count; i++)
		if (is_listed(events, name, i))
			list->events[list->starts[index->groups[events->thread[i]] + 1]++] = (uint32_t)i;
	return 0;
}

static int list_all(struct lode_scope_index *index, enum lode_event_type type, struct lode_error *error)
{
	int code = check_threads(index, type, error);

	return code ? code : list_events(index, type, LODE_NONE, error);
}

/* Where the calls were not read, or no thread was preempted, there is no list. */
static int list_preemptions(struct lode_scope_index *index, struct lode_error *error)
{
	const struct lode_events *calls = &index->stream->events[LODE_CALL];
	const struct lode_strings *strings = &index->stream->dictionary->frames.strings;
	uint32_t name = lode_strings_find(strings, LODE_PREEMPTION, sizeof(LODE_PREEMPTION) - 1);
	int code;

	if (name == LODE_NONE || !calls->count || !calls->t || !calls->thread || !calls->delay || !calls->name)
		return 0;
	code = check_threads(index, LODE_CALL, error);
	return code ? code : list_events(index, LODE_CALL, name, error);
}

void lode_scope_index_release_lists(struct lode_scope_index *index)
{
	for (int type = 0; type < LODE_EVENT_TYPES; type++) {
		lode_free(index->lists[type].events);
		lode_free(index->lists[type].starts);
	}
	lode_free(index->groups);
	lode_free(index->followed);
	lode_free(index);
}

/* LODE_UNSAMPLED_PERIODS of the mean; UINT64_MAX: there are no samples. */
static uint64_t longest_gap(const struct lode_events *runs)
{
	uint64_t all = 0;

	for (size_t i = 0; runs->cost && i < runs->count; i++)
		all = lode_add_saturating(all, runs->cost[i]);
	return runs->cost && runs->count ? lode_weighted(all / runs->count, LODE_UNSAMPLED_PERIODS) : UINT64_MAX;
}

/* What is known of the time between the events of each group. */
static int note_gaps(struct lode_scope_index *index)
{
	const struct lode_stream *stream = index->stream;

	index->longest_gap = longest_gap(&stream->events[LODE_RUN]);
	index->followed = lode_calloc(index->group_count + 1, 1);
	if (!index->followed)
		return LODE_SYSTEM;
	for (size_t i = 0; i < stream->thread_count; i++)
		index->followed[index->groups[i]] |= (uint8_t)lode_thread_has_totals(&stream->threads[i]);
	return 0;
}

int lode_scope_index_make(struct lode_scope_index **result, const struct lode_stream *stream,
			  struct lode_error *error)
{
	struct lode_scope_index *index = lode_calloc(1, sizeof(*index));
	int code = 0;

	*result = NULL;
	if (!index)
		return lode_fail_memory(error);
	index->stream = stream;
	index->thinned = lode_events_thinned(&stream->events[LODE_WAIT]);
	index->groups = lode_threads_by_tid(stream, &index->group_count);
	if (!index->groups || note_gaps(index) < 0)
		code = lode_fail_memory(error);
	for (int type = 0; type < LODE_SCOPE_TYPES && !code; type++)
		code = list_all(index, (enum lode_event_type)type, error);
	if (!code)
		code = list_preemptions(index, error);
	if (code < 0) {
		lode_scope_index_release_lists(index);
		return code;
	}
	*result = index;
	return 0;
}

void lode_scope_index_connections(struct lode_scope_index *index, const uint32_t *connections)
{
	index->connections = connections;
}

void lode_scope_index_interrupts(struct lode_scope_index *index, const uint8_t *interrupts)
{
	index->interrupts = interrupts;
}

int lode_wake_ends_chain(const struct lode_scope_index *index, uint32_t wait)
{
	const struct lode_stream *stream = index->stream;
	const struct lode_events *waits = &stream->events[LODE_WAIT];
	uint32_t waker = waits->waker[wait];

	if (waker != LODE_NONE && lode_thread_is_idle_task(stream, &stream->threads[waker]))
		return 1;
	return index->interrupts && index->interrupts[waits->waker_stack[wait]];
}
