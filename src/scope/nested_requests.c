/*
 * Requests that are part of others: see nested_requests.h. One pass over the waits finds the request in which each lies and
 * the one in which its waker was; of each request the first such wait counts.
 */
#include "scope/nested_requests.h"

#include "base/bisect.h"
#include "scope/scope_index.h"
#include "trace/objects.h"

/* One loop's requests that end waits in those of another. */
struct service {
	uint32_t loop;  /* that serves, */
	uint32_t asker; /* and the one that waits for it */
	uint64_t count;
};

struct nesting {
	const struct lode_requests *requests;
	const struct lode_stream *stream;
	uint32_t *groups;
	size_t group_count;
	uint8_t *counted; /* by request */
	struct service *services;
	size_t service_count;
	size_t service_capacity;
	uint32_t *askers; /* by loop: the one it is nested in; LODE_NONE: none */
};

/* The request of a thread's group at a moment; LODE_NONE: it had none. */
static uint32_t request_at(const struct nesting *nesting, uint32_t group, uint64_t t)
{
	const struct lode_request *items = nesting->requests->items;
	const uint32_t *groups = nesting->groups;
	size_t after = LODE_BISECT(i, 0, nesting->requests->count,
				   groups[items[i].thread] < group ||
					   (groups[items[i].thread] == group && items[i].t0 < t));

	if (!after || groups[items[after - 1].thread] != group || items[after - 1].t1 < t)
		return LODE_NONE;
	return (uint32_t)after - 1;
}

static int is_lock(const struct nesting *nesting, size_t wait)
{
	uint32_t object = lode_events_object(&nesting->stream->events[LODE_WAIT], wait);
	enum lode_object_kind kind =
		lode_object_kind_of(lode_strings_get(&nesting->stream->dictionary->frames.strings, object));

	return kind == LODE_OBJECT_LOCK || kind == LODE_OBJECT_GIL;
}

static int count_service(struct nesting *nesting, uint32_t loop, uint32_t asker)
{
	for (size_t i = 0; i < nesting->service_count; i++)
		if (nesting->services[i].loop == loop && nesting->services[i].asker == asker) {
			nesting->services[i].count++;
			return 0;
		}
	return LODE_APPEND(nesting->services, nesting->service_count, nesting->service_capacity,
			   ((struct service){ loop, asker, 1 }));
}

static int look_at_wait(struct nesting *nesting, size_t wait)
{
	const struct lode_events *waits = &nesting->stream->events[LODE_WAIT];
	const struct lode_request *items = nesting->requests->items;
	uint64_t end = lode_event_end(waits, (uint32_t)wait);
	uint32_t asking, serving;

	if (waits->waker[wait] == LODE_NONE || is_lock(nesting, wait))
		return 0;
	serving = request_at(nesting, nesting->groups[waits->waker[wait]], end);
	if (serving == LODE_NONE || nesting->counted[serving])
		return 0;
	asking = request_at(nesting, nesting->groups[waits->thread[wait]], end);
	if (asking == LODE_NONE || waits->t[wait] < items[asking].t0 || items[asking].loop == items[serving].loop)
		return 0;
	nesting->counted[serving] = 1;
	return count_service(nesting, items[serving].loop, items[asking].loop);
}

static void find_askers(struct nesting *nesting)
{
	const struct lode_request_loop *loops = nesting->requests->loops;

	for (size_t i = 0; i < nesting->requests->loop_count; i++)
		nesting->askers[i] = LODE_NONE;
	for (size_t i = 0; i < nesting->service_count; i++) {
		const struct service *service = &nesting->services[i];

		if (service->count >= loops[service->loop].count - service->count &&
		    loops[service->asker].count >= LODE_MIN_REQUESTS)
			nesting->askers[service->loop] = service->asker;
	}
}

/* Whether the loops that ask it end with one that nobody asks, and not in a circle. */
static int is_nested(const struct nesting *nesting, uint32_t loop)
{
	uint32_t at = nesting->askers[loop];
	size_t steps = 0;

	if (at == LODE_NONE)
		return 0;
	while (nesting->askers[at] != LODE_NONE && steps++ < nesting->requests->loop_count)
		at = nesting->askers[at];
	return nesting->askers[at] == LODE_NONE;
}

static int find_services(struct nesting *nesting)
{
	const struct lode_requests *requests = nesting->requests;

	nesting->groups = lode_threads_by_tid(nesting->stream, &nesting->group_count);
	nesting->counted = lode_calloc(requests->count + 1, 1);
	nesting->askers = lode_calloc(requests->loop_count + 1, sizeof(*nesting->askers));
	if (!nesting->groups || !nesting->counted || !nesting->askers)
		return LODE_SYSTEM;
	for (size_t i = 0; i < nesting->stream->events[LODE_WAIT].count; i++)
		if (look_at_wait(nesting, i) < 0)
			return LODE_SYSTEM;
	find_askers(nesting);
	return 0;
}

uint8_t *lode_requests_nested(const struct lode_requests *requests, const struct lode_stream *stream)
{
	struct nesting nesting = { .requests = requests, .stream = stream };
	uint8_t *nested = lode_calloc(requests->loop_count + 1, 1);

	if (nested && find_services(&nesting) < 0) {
		lode_free(nested);
		nested = NULL;
	}
	for (uint32_t i = 0; nested && i < requests->loop_count; i++)
		nested[i] = (uint8_t)is_nested(&nesting, i);
	lode_free(nesting.groups);
	lode_free(nesting.counted);
	lode_free(nesting.services);
	lode_free(nesting.askers);
	return nested;
}
