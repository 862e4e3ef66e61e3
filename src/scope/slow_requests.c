/* Requests as symptoms: see slow_requests.h. */
#include "scope/slow_requests.h"

#include "scope/frame_filter.h"
#include "scope/nested_requests.h"
#include "scope/where.h"
#include "store/store.h"

#include <string.h>

#define COLUMNS                                                                                                   \
	(LODE_T | LODE_COST | LODE_DELAY | LODE_THREAD | LODE_STACK | LODE_WAKER | LODE_WAKER_STACK |             \
	 LODE_WEIGHT | LODE_OBJECT)
#define CALL_COLUMNS (LODE_T | LODE_DELAY | LODE_THREAD | LODE_NAME | LODE_WEIGHT)

static int name_fits(const struct lode_slow_requests *slow, const struct lode_stream *stream,
		     const struct lode_request_loop *loop)
{
	const struct lode_strings *strings = &stream->dictionary->frames.strings;

	return !slow->name || lode_glob_match(slow->name, lode_strings_get(strings, loop->thread)) ||
	       lode_glob_match(slow->name, lode_strings_get(strings, loop->process));
}

static int add_slow(const struct lode_slow_requests *slow, const struct lode_stream *stream,
		    const struct lode_requests *requests, const uint64_t *limits, const uint8_t *nested,
		    struct lode_symptom **symptoms, size_t *count, size_t *capacity)
{
	for (size_t i = 0; i < requests->count; i++) {
		const struct lode_request *request = &requests->items[i];
		uint64_t limit = limits ? limits[request->loop] : slow->longer;

		if (request->t1 - request->t0 <= limit || (nested && nested[request->loop]) ||
		    !name_fits(slow, stream, &requests->loops[request->loop]))
			continue;
		if (lode_grow(symptoms, capacity, *count + 1, sizeof(**symptoms)) < 0)
			return LODE_SYSTEM;
		(*symptoms)[(*count)++] =
			(struct lode_symptom){ .thread = request->thread, .t0 = request->t0, .t1 = request->t1 };
	}
	return 0;
}

int lode_slow_requests_find(const struct lode_slow_requests *slow, const struct lode_stream *stream,
			    const struct lode_idle_stacks *idle, struct lode_symptom **symptoms, size_t *count,
			    size_t *capacity, struct lode_error *error)
{
	struct lode_requests requests;
	uint64_t *limits = NULL;
	uint8_t *nested = NULL;
	int code = lode_requests_of_stream(&requests, stream, idle, error), matter = 1;

	if (!code && slow->if_they_matter)
		matter = lode_requests_matter(&requests, stream, idle, error);
	if (!code && matter < 0)
		code = matter;
	if (!code && matter && slow->percent && !(limits = lode_requests_limits(&requests, slow->percent)))
		code = lode_fail_memory(error);
	if (!code && matter && !slow->name && !(nested = lode_requests_nested(&requests, stream)))
		code = lode_fail_memory(error);
	if (!code && matter && add_slow(slow, stream, &requests, limits, nested, symptoms, count, capacity) < 0)
		code = lode_fail_memory(error);
	lode_free(nested);
	lode_free(limits);
	lode_requests_release(&requests);
	return code;
}

/* ---- whether a corpus has some ---- */

static int try_loaded(const struct lode_stream *stream, const struct lode_idle_rules *rules,
		      struct lode_error *error)
{
	const struct lode_slow_requests slow = { .percent = LODE_SLOW_REQUESTS, .if_they_matter = 1 };
	struct lode_idle_stacks *idle;
	struct lode_symptom *symptoms = NULL;
	size_t count = 0, capacity = 0;
	int code = lode_idle_stacks_make(&idle, rules, stream->dictionary, error);

	if (code)
		return code;
	code = lode_slow_requests_find(&slow, stream, idle, &symptoms, &count, &capacity, error);
	lode_free(symptoms);
	lode_idle_stacks_free(idle);
	return code ? code : count > 0;
}

/* 1 or 0: has some or not; 2: it is not wanted, or cannot be read. */
static int try_stream(const struct lode_corpus_entry *entry, const char *const *where,
		      const struct lode_idle_rules *rules, struct lode_error *error)
{
	const unsigned columns[LODE_EVENT_TYPES] = { LODE_T | LODE_COST | LODE_THREAD | LODE_WEIGHT, COLUMNS,
						     CALL_COLUMNS };
	struct lode_error own = { "" };
	struct lode_dictionary dictionary;
	struct lode_stream stream;
	struct lode_store *store;
	int code = 2;

	if (lode_store_open(&store, entry->path, &own))
		return 2;
	if (lode_dictionary_init(&dictionary) < 0) {
		lode_store_close(store);
		return lode_fail_memory(error);
	}
	lode_stream_init(&stream, &dictionary);
	if (!lode_store_head(store, &stream, &own) && lode_where_fits(&stream, where) &&
	    !lode_store_load_events(store, &stream, columns, &own))
		code = try_loaded(&stream, rules, error);
	lode_stream_release(&stream);
	lode_dictionary_release(&dictionary);
	lode_store_close(store);
	return code;
}

int lode_slow_requests_possible(const struct lode_corpus_list *list, const char *const *where,
				const struct lode_idle_rules *idle, struct lode_error *error)
{
	size_t tried = 0;

	for (size_t i = 0; idle && i < list->count && tried < LODE_STREAMS_TRIED; i++) {
		int found;

		if (list->items[i].events[LODE_WAIT] < LODE_MIN_REQUESTS)
			continue;
		found = try_stream(&list->items[i], where, idle, error);
		if (found < 0 || found == 1)
			return found;
		tried += found == 0;
	}
	return 0;
}
