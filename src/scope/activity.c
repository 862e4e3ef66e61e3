/* What the threads of a corpus did: see activity.h. */
#include "scope/activity.h"

#include "base/parallel.h"
#include "scope/activity_cache.h"
#include "scope/where.h"
#include "store/store.h"
#include "store/unread_streams.h"

#include <string.h>

#define WAIT_COLUMNS                                                                                              \
	(LODE_T | LODE_COST | LODE_DELAY | LODE_THREAD | LODE_STACK | LODE_WAKER | LODE_WAKER_STACK |             \
	 LODE_WEIGHT | LODE_OBJECT)
#define RUN_COLUMNS  (LODE_T | LODE_COST | LODE_THREAD | LODE_STACK | LODE_WEIGHT)
#define CALL_COLUMNS (LODE_T | LODE_DELAY | LODE_THREAD | LODE_NAME | LODE_WEIGHT)

struct collecting {
	struct lode_activity *activity;
	const struct lode_corpus_list *list;
	const struct lode_activity_options *options;
	uint64_t done;
	uint64_t total;
};

void lode_activity_release(struct lode_activity *activity)
{
	lode_state_table_release(&activity->states);
	lode_loop_table_release(&activity->loops);
}

static int activity_init(struct lode_activity *activity)
{
	int code = lode_state_table_init(&activity->states);

	return lode_loop_table_init(&activity->loops) < 0 ? LODE_SYSTEM : code;
}

/* ---- one stream ---- */

/* Of the threads those that are wanted. */
static void keep_states(struct lode_stream_states *states, const uint8_t *threads)
{
	size_t kept = 0;

	for (size_t i = 0; i < states->count; i++)
		if (!threads || threads[states->items[i].thread])
			states->items[kept++] = states->items[i];
	states->count = kept;
}

static void keep_requests(struct lode_requests *requests, const uint8_t *threads)
{
	size_t kept = 0;

	for (size_t i = 0; i < requests->count; i++)
		if (!threads || threads[requests->items[i].thread])
			requests->items[kept++] = requests->items[i];
	requests->count = kept;
}

/* `threads` may be NULL: all are wanted. */
static int sum_states(struct lode_activity *activity, const struct lode_stream *stream,
		      const struct lode_idle_stacks *idle, const uint8_t *threads, struct lode_error *error)
{
	struct lode_wait_classes classes = { 0 };
	struct lode_stream_states states = { 0 };
	int code = idle ? lode_wait_classes_make(&classes, stream, idle, 1, error) : 0;

	if (!code)
		code = lode_states_of_stream(&states, stream, idle ? &classes : NULL, NULL, error);
	keep_states(&states, threads);
	if (!code && lode_state_table_add(&activity->states, stream, &states) < 0)
		code = lode_fail_memory(error);
	lode_stream_states_release(&states);
	lode_wait_classes_release(&classes);
	return code;
}

static int sum_requests(struct lode_activity *activity, const struct lode_stream *stream, size_t number,
			const struct lode_idle_stacks *idle, const uint8_t *threads, struct lode_error *error)
{
	struct lode_requests requests;
	int code = lode_requests_of_stream(&requests, stream, idle, error);

	keep_requests(&requests, threads);
	if (!code && lode_loop_table_add(&activity->loops, stream, (uint32_t)number, &requests) < 0)
		code = lode_fail_memory(error);
	lode_requests_release(&requests);
	return code;
}

/* Of events that are there. */
static int sum_events(struct lode_activity *activity, size_t number, const struct lode_activity_options *options,
		      const struct lode_stream *stream, struct lode_error *error)
{
	struct lode_idle_stacks *idle = NULL;
	uint8_t *threads = NULL;
	int code = 0;

	if (options->idle)
		code = lode_idle_stacks_make(&idle, options->idle, stream->dictionary, error);
	if (!code && lode_where_members(stream, options->where, &threads) < 0)
		code = lode_fail_memory(error);
	if (!code)
		code = sum_states(activity, stream, idle, threads, error);
	if (!code && !options->states_only)
		code = sum_requests(activity, stream, number, idle, threads, error);
	lode_free(threads);
	lode_idle_stacks_free(idle);
	return code;
}

static int sum_up(struct lode_activity *activity, struct lode_store *store, size_t number,
		  const struct collecting *collecting, struct lode_stream *stream, struct lode_error *error)
{
	const unsigned columns[LODE_EVENT_TYPES] = { RUN_COLUMNS, WAIT_COLUMNS, CALL_COLUMNS };
	const struct lode_corpus_entry *entry = &collecting->list->items[number];
	const struct lode_activity_options *options = collecting->options;
	struct lode_map_key key;
	int code = lode_store_head(store, stream, error), kept, found;

	if (code || !lode_where_fits(stream, options->where))
		return code;
	kept = lode_activity_cache_key(options, entry, store, &key);
	found = kept > 0 ? lode_activity_cache_find(entry->cache, &key, &activity->states) : kept;
	if (found)
		return found > 0 ? 0 : lode_fail_memory(error);
	code = lode_store_load_events(store, stream, columns, error);
	if (!code)
		code = sum_events(activity, number, options, stream, error);
	if (!code && kept)
		lode_activity_cache_put(entry->cache, &key, &activity->states);
	return code;
}

static int map_stream(void *context, size_t i, void *partial, struct lode_error *error)
{
	const struct collecting *collecting = context;
	const struct lode_corpus_entry *entry = &collecting->list->items[i];
	struct lode_error own = { "" };
	struct lode_dictionary dictionary;
	struct lode_stream stream;
	struct lode_store *store;
	int code;

	if (activity_init(partial) < 0 || lode_dictionary_init(&dictionary) < 0)
		return lode_fail_memory(error);
	lode_stream_init(&stream, &dictionary);
	code = lode_store_open(&store, entry->path, &own);
	if (!code) {
		code = sum_up(partial, store, i, collecting, &stream, &own);
		lode_store_close(store);
	}
	lode_stream_release(&stream);
	lode_dictionary_release(&dictionary);
	if (!code || (!collecting->options->strict && lode_stream_is_unreadable(entry, code)))
		return 0;
	return lode_fail(error, code, "%s", own.text);
}

/* ---- all of them ---- */

static int merge_stream(void *context, size_t i, void *partial, struct lode_error *error)
{
	struct collecting *collecting = context;
	const struct lode_activity *from = partial;

	if (lode_state_table_merge(&collecting->activity->states, &from->states) < 0 ||
	    lode_loop_table_merge(&collecting->activity->loops, &from->loops) < 0)
		return lode_fail_memory(error);
	for (int type = 0; type < LODE_EVENT_TYPES; type++)
		collecting->done += collecting->list->items[i].events[type];
	if (lode_progress_report(collecting->options->progress, "looking at threads", "events", collecting->done,
				 collecting->total))
		return lode_fail(error, LODE_SYSTEM, "stopped");
	return 0;
}

static void release_partial(void *partial)
{
	lode_activity_release(partial);
}

int lode_activity_collect(struct lode_activity *activity, const struct lode_corpus_list *list,
			  const struct lode_activity_options *options, struct lode_error *error)
{
	struct collecting collecting = { .activity = activity, .list = list, .options = options };
	const struct lode_in_order work = { sizeof(*activity), map_stream, merge_stream, release_partial,
					    &collecting };
	int code;

	memset(activity, 0, sizeof(*activity));
	if (activity_init(activity) < 0)
		return lode_fail_memory(error);
	for (size_t i = 0; i < list->count; i++)
		for (int type = 0; type < LODE_EVENT_TYPES; type++)
			collecting.total += list->items[i].events[type];
	code = lode_parallel_in_order(options->jobs, list->count, &work, error);
	if (!code && lode_state_table_sort(&activity->states) < 0)
		code = lode_fail_memory(error);
	lode_loop_table_sort(&activity->loops);
	return code;
}
