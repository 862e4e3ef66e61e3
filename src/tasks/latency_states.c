/* In which states the threads of latencies were: see latency_states.h. */
#include "tasks/latency_states.h"

#include "base/memory.h"
#include "scope/activity.h"

#include <string.h>

/* Leaves the streams whose latencies were read; both are in the catalogue's order. */
static void keep_read(struct lode_corpus_entry *items, size_t *count, const struct lode_latency *latency)
{
	size_t kept = 0;

	for (size_t i = 0; i < *count && kept < latency->stream_count; i++)
		if (!strcmp(items[i].id, latency->streams[kept].id))
			items[kept++] = items[i];
	*count = kept;
}

int lode_latency_states(struct lode_latency_reading *reading, const char *const *where, struct lode_work *work,
			uint64_t most, uint64_t states[LODE_STATES], struct lode_error *error)
{
	const struct lode_activity_options how = {
		.idle = reading->source.rules,
		.states_only = 1,
		.where = where,
		.jobs = reading->options.jobs,
		.progress = work->progress,
	};
	struct lode_corpus_list list = { 0 }, read;
	struct lode_activity activity = { 0 };
	uint64_t events = 0;
	int code = lode_corpus_streams(reading->source.corpus, &list, error);

	read = list;
	read.items = code ? NULL : lode_calloc(list.count + 1, sizeof(*read.items));
	if (!code && !read.items)
		code = lode_fail_memory(error);
	if (!code) {
		if (list.count)
			memcpy(read.items, list.items, list.count * sizeof(*read.items));
		keep_read(read.items, &read.count, &reading->latency);
	}
	for (size_t i = 0; !code && i < read.count; i++)
		for (int type = 0; type < LODE_EVENT_TYPES; type++)
			events += read.items[i].events[type];
	if (!code && events <= most)
		code = lode_activity_collect(&activity, &read, &how, error);
	for (size_t i = 0; !code && i < activity.states.count; i++)
		for (int state = 0; state < LODE_STATES; state++)
			states[state] = lode_add_saturating(states[state], activity.states.items[i].ns[state]);
	for (int state = 0; read.count && state < LODE_STATES; state++)
		states[state] /= read.count;
	lode_activity_release(&activity);
	lode_free(read.items);
	lode_corpus_list_release(&list);
	return code;
}
