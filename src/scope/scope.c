/*
 * Scope: names, lists of parts, and the scopes that need no search: everything,
 * and the symptom thread's own events. See scope.h.
 */
#include "scope/scope_index.h"

#include <stdlib.h>
#include <string.h>

const char *lode_scope_name(enum lode_scope scope)
{
	static const char *const names[LODE_SCOPES] = { "auto", "all", "thread", "graph", "critical-path" };

	return names[scope];
}

/* ---- parts ---- */

void lode_parts_release(struct lode_parts *parts)
{
	lode_free(parts->items);
	memset(parts, 0, sizeof(*parts));
}

int lode_parts_add(struct lode_parts *parts, enum lode_event_type type, uint32_t event, uint64_t t,
		   uint64_t cost)
{
	if (parts->count == parts->capacity &&
	    lode_grow(&parts->items, &parts->capacity, parts->count + 1, sizeof(*parts->items)) < 0)
		return LODE_SYSTEM;
	parts->items[parts->count++] =
		(struct lode_part){ .t = t, .cost = cost, .event = event, .type = (uint8_t)type };
	return 0;
}

void lode_parts_reverse(struct lode_parts *parts, size_t first)
{
	for (size_t last = parts->count; first + 1 < last; first++) {
		struct lode_part part = parts->items[--last];

		parts->items[last] = parts->items[first];
		parts->items[first] = part;
	}
}

static int compare_parts(const void *left, const void *right)
{
	const struct lode_part *a = left, *b = right;

	if (a->type != b->type)
		return a->type < b->type ? -1 : 1;
	if (a->event != b->event)
		return a->event < b->event ? -1 : 1;
	if (a->t != b->t)
		return a->t < b->t ? -1 : 1;
	return a->cost < b->cost ? -1 : a->cost > b->cost;
}

static int parts_in_order(const struct lode_parts *parts)
{
	for (size_t i = 1; i < parts->count; i++)
		if (compare_parts(&parts->items[i - 1], &parts->items[i]) > 0)
			return 0;
	return 1;
}

/* Takes `part` into `last`, which precedes it, if they belong together. */
static int join(struct lode_part *last, const struct lode_part *part)
{
	uint64_t end = lode_add_saturating(last->t, last->cost);
	uint64_t part_end = lode_add_saturating(part->t, part->cost);

	if (last->type != part->type || last->event != part->event || part->t > end)
		return 0;
	if (part_end > end)
		last->cost = part_end - last->t;
	return 1;
}

int lode_parts_unite(struct lode_parts *parts)
{
	size_t kept = 0;

	if (!parts_in_order(parts))
		qsort(parts->items, parts->count, sizeof(*parts->items), compare_parts);
	for (size_t i = 0; i < parts->count; i++)
		if (!kept || !join(&parts->items[kept - 1], &parts->items[i]))
			parts->items[kept++] = parts->items[i];
	parts->count = kept;
	return 0;
}

/* ---- scopes ---- */

static int add_all(const struct lode_stream *stream, struct lode_parts *parts)
{
	for (int type = 0; type < LODE_SCOPE_TYPES; type++) {
		const struct lode_events *events = &stream->events[type];

		for (size_t i = 0; i < events->count; i++)
			if (lode_parts_add(parts, (enum lode_event_type)type, (uint32_t)i, events->t[i],
					   events->cost[i]) < 0)
				return LODE_SYSTEM;
	}
	return 0;
}

/* The first of the list's events, from `low` to `high`, that begins at t0 or later. */
static size_t first_from(const struct lode_events *events, const uint32_t *list, size_t low, size_t high,
			 uint64_t t0)
{
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (events->t[list[middle]] < t0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int add_thread(const struct lode_scope_index *index, const struct lode_symptom *symptom,
		      struct lode_parts *parts)
{
	size_t group = index->groups[symptom->thread];

	for (int type = 0; type < LODE_SCOPE_TYPES; type++) {
		const struct lode_events *events = &index->stream->events[type];
		const struct lode_scope_list *list = &index->lists[type];
		size_t end = list->starts[group + 1];
		size_t i = first_from(events, list->events, list->starts[group], end, symptom->t0);

		for (; i < end && events->t[list->events[i]] <= symptom->t1; i++) {
			uint32_t event = list->events[i];

			if (lode_event_end(events, event) <= symptom->t1 &&
			    lode_parts_add(parts, (enum lode_event_type)type, event, events->t[event],
					   events->cost[event]) < 0)
				return LODE_SYSTEM;
		}
	}
	return 0;
}

int lode_scope_symptom(struct lode_scope_index *index, const struct lode_symptom *symptom,
		       enum lode_scope scope, struct lode_parts *parts, struct lode_scope_result *result,
		       struct lode_error *error)
{
	int code;

	memset(result, 0, sizeof(*result));
	if (symptom->thread >= index->stream->thread_count)
		return lode_fail(error, LODE_BAD_INPUT, "a symptom names a thread that is not there");
	switch (scope) {
	case LODE_SCOPE_ALL:
		code = add_all(index->stream, parts);
		break;
	case LODE_SCOPE_THREAD:
		code = add_thread(index, symptom, parts);
		break;
	case LODE_SCOPE_GRAPH:
		return lode_wait_graph_add(index, symptom, parts, &result->edges, error);
	default:
		return lode_critical_path(index, symptom, parts, NULL, &result->unknown, error);
	}
	return code < 0 ? lode_fail_memory(error) : 0;
}
