/*
 * Scope: names, and the scopes that need no search: everything,
 * and the symptom thread's own events. See scope.h.
 */
#include "scope/scope_index.h"

#include "base/bisect.h"

#include <stdlib.h>
#include <string.h>

const char *lode_scope_name(enum lode_scope scope)
{
	static const char *const names[LODE_SCOPES] = { "auto", "all", "thread", "graph", "critical-path" };

	return names[scope];
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
	return LODE_BISECT(i, low, high, events->t[list[i]] < t0);
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

int lode_scope_symptom(struct lode_scope_index *index, const struct lode_symptom *symptom, enum lode_scope scope,
		       struct lode_parts *parts, struct lode_scope_result *result, struct lode_error *error)
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

void lode_scope_index_free(struct lode_scope_index *index)
{
	if (!index)
		return;
	lode_wait_graph_free(index->graph);
	lode_timelines_free(index->timelines, index->group_count);
	lode_scope_index_release_lists(index);
}
