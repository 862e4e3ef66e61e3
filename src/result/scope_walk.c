/* The scopes of many streams: see scope_walk.h. */
#include "result/scope_walk.h"

#include "base/memory.h"
#include "base/parallel.h"

/* Streams that are made ready at a time. */
struct batch {
	const struct lode_scope_walk *walk;
	const struct lode_corpus_entry *const *entries;
	struct lode_scope_report *reports;
	struct lode_error *errors;
	int *codes;
	uint64_t done; /* events of streams that were handed over, for progress */
	uint64_t total;
};

static uint64_t events_of(const struct lode_corpus_entry *entry)
{
	uint64_t events = 0;

	for (int type = 0; type < LODE_EVENT_TYPES; type++)
		events += entry->events[type];
	return events;
}

static void make_ready(void *context, size_t i)
{
	struct batch *batch = context;

	batch->codes[i] =
		lode_scope_report_make(&batch->reports[i], batch->entries[i], &batch->walk->options, &batch->errors[i]);
}

static int go_on(struct batch *batch, const struct lode_corpus_entry *entry, struct lode_error *error)
{
	batch->done += events_of(entry);
	if (lode_progress_tell(batch->walk->progress, "looking at symptoms", "events", batch->done, batch->total))
		return lode_fail(error, LODE_SYSTEM, "scope: was stopped");
	return 0;
}

static int hand_over(struct batch *batch, size_t count, struct lode_error *error)
{
	const struct lode_scope_walk *walk = batch->walk;
	int code = 0;

	lode_parallel(walk->jobs, count, make_ready, batch);
	for (size_t i = 0; i < count; i++) {
		if (!code && batch->codes[i] < 0) {
			*error = batch->errors[i];
			code = batch->codes[i];
		}
		if (!code && batch->reports[i].wanted)
			code = walk->take(walk->context, &batch->reports[i], error);
		if (!code)
			code = go_on(batch, batch->entries[i], error);
		lode_scope_report_release(&batch->reports[i]);
	}
	return code;
}

int lode_scope_walk(const struct lode_scope_walk *walk, const struct lode_corpus_entry *const *entries,
		    size_t count, struct lode_error *error)
{
	unsigned jobs = walk->jobs ? walk->jobs : lode_processors();
	struct batch batch = {
		.walk = walk,
		.reports = lode_calloc(jobs, sizeof(*batch.reports)),
		.errors = lode_calloc(jobs, sizeof(*batch.errors)),
		.codes = lode_calloc(jobs, sizeof(*batch.codes)),
	};
	int code = batch.reports && batch.errors && batch.codes ? 0 : lode_fail_memory(error);

	for (size_t i = 0; i < count; i++)
		batch.total += events_of(entries[i]);
	for (size_t i = 0; i < count && !code; i += jobs) {
		batch.entries = entries + i;
		code = hand_over(&batch, count - i < jobs ? count - i : jobs, error);
	}
	lode_free(batch.reports);
	lode_free(batch.errors);
	lode_free(batch.codes);
	return code;
}
