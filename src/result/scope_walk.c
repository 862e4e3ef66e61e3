/* The scopes of many streams: see scope_walk.h. */
#include "result/scope_walk.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "scope/kernel_names.h"
#include "scope/where.h"

/* Streams that are made ready at a time. */
struct batch {
	struct lode_scope_walk *walk;
	const struct lode_corpus_entry *entries;
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

	batch->codes[i] = lode_scope_report_make(&batch->reports[i], &batch->entries[i], &batch->walk->options,
						 &batch->errors[i]);
}

static int go_on(struct batch *batch, const struct lode_corpus_entry *entry, struct lode_error *error)
{
	batch->done += events_of(entry);
	if (lode_progress_report(batch->walk->progress, "looking at symptoms", "events", batch->done, batch->total))
		return lode_fail(error, LODE_SYSTEM, "scope: was stopped");
	return 0;
}

static int take(struct lode_scope_walk *walk, struct lode_scope_report *report, struct lode_error *error)
{
	int code = walk->take(walk->context, report, error);

	lode_kernel_names_note(&report->dictionary.frames, walk->notes);
	walk->streams++;
	walk->without += !report->count;
	walk->symptoms += report->count;
	return code;
}

/* A stream that was not made: leaves it out, or fails. */
static int leave_out(struct batch *batch, size_t i, struct lode_error *error)
{
	const struct lode_corpus_entry *entry = &batch->entries[i];
	const struct lode_unread_stream stream = { entry->id, entry->name, batch->errors[i].text, batch->codes[i] };

	if (batch->walk->strict || !lode_stream_is_unreadable(entry, batch->codes[i])) {
		*error = batch->errors[i];
		return batch->codes[i];
	}
	return lode_unread_streams_add(&batch->walk->unread, &stream) < 0 ? lode_fail_memory(error) : 0;
}

static int hand_over(struct batch *batch, size_t count, struct lode_error *error)
{
	struct lode_scope_walk *walk = batch->walk;
	int code = 0;

	lode_parallel(walk->jobs, count, make_ready, batch);
	for (size_t i = 0; i < count; i++) {
		if (!code && batch->codes[i] < 0)
			code = leave_out(batch, i, error);
		else if (!code && batch->reports[i].wanted)
			code = take(walk, &batch->reports[i], error);
		if (!code)
			code = go_on(batch, &batch->entries[i], error);
		lode_scope_report_release(&batch->reports[i]);
	}
	return code;
}

/* A question that has no answer is not a result. */
static int check_found(const struct lode_scope_walk *walk, struct lode_error *error)
{
	const struct lode_symptom_rules *rules = walk->options.rules;
	const char *path = walk->path;

	if (!walk->streams && walk->unread.count)
		return lode_unread_streams_fail(&walk->unread, error);
	lode_unread_streams_note(&walk->unread, walk->notes);
	if (walk->symptoms)
		return 0;
	if (!walk->streams)
		return lode_fail(error, LODE_USAGE,
				 "%s: no stream is left to look at; 'lode info %s' shows what there is", path,
				 path);
	if (lode_where_has_members(walk->options.where))
		return lode_fail(error, LODE_USAGE,
				 "%s: no symptom is one of the threads that were asked for; 'lode info --all %s' "
				 "lists the threads",
				 path, path);
	if (!rules->count)
		return lode_fail(error, LODE_USAGE,
				 "%s: its streams have no symptoms; say what was slow with --symptom "
				 "'thread NAME', 'wait > 200ms in FRAME' or 'between A and B > 1s'",
				 path);
	if (rules->items[0].type == LODE_SYMPTOM_THREAD)
		return lode_fail(error, LODE_USAGE,
				 "%s: no stream has a symptom '%s'; 'lode info --all %s' lists the threads", path,
				 rules->items[0].text, path);
	return lode_fail(error, LODE_USAGE, "%s: no stream has a symptom '%s'; try a shorter time or other frames",
			 path, rules->items[0].text);
}

int lode_scope_walk(struct lode_scope_walk *walk, const struct lode_corpus_list *list, struct lode_error *error)
{
	unsigned jobs = walk->jobs ? walk->jobs : lode_processors();
	struct batch batch = {
		.walk = walk,
		.reports = lode_calloc(jobs, sizeof(*batch.reports)),
		.errors = lode_calloc(jobs, sizeof(*batch.errors)),
		.codes = lode_calloc(jobs, sizeof(*batch.codes)),
	};
	int code = batch.reports && batch.errors && batch.codes ? 0 : lode_fail_memory(error);

	for (size_t i = 0; i < list->count; i++)
		batch.total += events_of(&list->items[i]);
	for (size_t i = 0; i < list->count && !code; i += jobs) {
		batch.entries = list->items + i;
		code = hand_over(&batch, list->count - i < jobs ? list->count - i : jobs, error);
	}
	lode_free(batch.reports);
	lode_free(batch.errors);
	lode_free(batch.codes);
	if (!code)
		code = check_found(walk, error);
	lode_unread_streams_release(&walk->unread);
	return code;
}
