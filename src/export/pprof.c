/*
 * Exporter `pprof`: profile.proto, gzip, for `go tool pprof` and all other tools that
 * read it.
 *
 * Four values per sample: samples and cpu nanoseconds, waits and wait nanoseconds. One
 * sample for each thread and stack, labelled with the thread's name, tid, pid and,
 * when there are several, its stream; times are lost, and so are calls and wakers
 * (calls are counted). Only one thread's sums are in memory (pprof_profile.h).
 */
#include "export/export.h"
#include "export/pprof_profile.h"
#include "export/renumber.h"
#include "export/spool.h"

#include <string.h>

/* The strings that are ours; the rest of the table is the dictionary's. */
enum text {
	TEXT_SAMPLES,
	TEXT_CPU,
	TEXT_WAITS,
	TEXT_WAIT,
	TEXT_COUNT,
	TEXT_NANOSECONDS,
	TEXT_THREAD,
	TEXT_TID,
	TEXT_PID,
	TEXT_STREAM,
	TEXTS,
};

static const char *const texts[TEXTS] = {
	"samples", "cpu", "waits", "wait", "count", "nanoseconds", "thread", "tid", "pid", "stream",
};

/* The values of one sample, in the order of the sample types. */
struct sums {
	uint64_t values[4];
};

struct writer {
	struct lode_export *export;
	struct lode_spool spool;
	uint32_t strings[TEXTS];
	struct lode_renumber nodes; /* of one thread */
	struct sums *sums;          /* of each numbered node */
	size_t sums_capacity;
	struct lode_pprof pprof;
};

/* ---- samples ---- */

static int add_list(struct writer *writer, uint32_t thread, enum lode_event_type type, struct lode_error *error)
{
	struct lode_spool_cursor cursor;
	struct lode_spool_record record;
	size_t at = type == LODE_RUN ? 0 : 2;
	int code = lode_spool_start(&writer->spool, thread, type, &cursor, error);

	while (code == 0 && lode_spool_next(&cursor, &record)) {
		uint32_t known = writer->nodes.count;
		uint32_t number = lode_renumber_get(&writer->nodes, record.stack);
		struct sums *sums;

		if (lode_grow(&writer->sums, &writer->sums_capacity, (size_t)number + 1, sizeof(*sums)) < 0)
			return lode_fail_memory(error);
		sums = &writer->sums[number];
		if (number == known)
			memset(sums, 0, sizeof(*sums));
		sums->values[at] += record.weight;
		sums->values[at + 1] = lode_add_saturating(sums->values[at + 1], lode_spool_cost(&record));
	}
	return code;
}

/* `field`: what the value is, a string or a number. */
static void put_label(struct writer *writer, enum text key, unsigned field, uint64_t value)
{
	lode_pprof_number(&writer->pprof.inner, LODE_PPROF_LABEL_KEY, writer->strings[key]);
	lode_pprof_number(&writer->pprof.inner, field, value);
	lode_pprof_inner(&writer->pprof, LODE_PPROF_SAMPLE_LABEL);
}

static void put_labels(struct writer *writer, const struct lode_stream *stream, uint32_t thread)
{
	const struct lode_thread *item = &stream->threads[thread];

	if (item->name)
		put_label(writer, TEXT_THREAD, LODE_PPROF_LABEL_TEXT, item->name);
	put_label(writer, TEXT_TID, LODE_PPROF_LABEL_NUMBER, item->tid);
	if (item->pid != LODE_NO_PID)
		put_label(writer, TEXT_PID, LODE_PPROF_LABEL_NUMBER, item->pid);
	if (writer->export->count > 1 && stream->name)
		put_label(writer, TEXT_STREAM, LODE_PPROF_LABEL_TEXT, stream->name);
}

static int put_sample(struct writer *writer, const struct lode_stream *stream, uint32_t thread, uint32_t number,
		      struct lode_error *error)
{
	lode_pprof_sample(&writer->pprof, writer->nodes.ids[number], writer->sums[number].values, 4);
	put_labels(writer, stream, thread);
	return lode_pprof_message(&writer->pprof, LODE_PPROF_PROFILE_SAMPLE, error);
}

static int write_thread(struct writer *writer, const struct lode_stream *stream, uint32_t thread,
			struct lode_error *error)
{
	int code = lode_renumber_start(&writer->nodes, writer->export->dictionary.tree.count, error);

	if (code == 0)
		code = add_list(writer, thread, LODE_RUN, error);
	if (code == 0)
		code = add_list(writer, thread, LODE_WAIT, error);
	for (uint32_t i = 0; i < writer->nodes.count && code == 0; i++)
		code = put_sample(writer, stream, thread, i, error);
	return code;
}

static int write_stream(void *context, struct lode_export_stream *source, struct lode_error *error)
{
	struct writer *writer = context;
	int code = lode_spool_fill(&writer->spool, writer->export, source, 1u << LODE_RUN | 1u << LODE_WAIT, 0,
				   error);

	if (code < 0)
		return code;
	for (uint32_t thread = 0; thread < source->stream.thread_count && code == 0; thread++)
		code = write_thread(writer, &source->stream, thread, error);
	lode_spool_release(&writer->spool);
	return code;
}

/* ---- the profile ---- */

static int put_value_type(struct writer *writer, unsigned field, enum text type, enum text unit,
			  struct lode_error *error)
{
	return lode_pprof_value_type(&writer->pprof, field, writer->strings[type], writer->strings[unit], error);
}

static int write_types(struct writer *writer, struct lode_error *error)
{
	int code = put_value_type(writer, LODE_PPROF_PROFILE_SAMPLE_TYPE, TEXT_SAMPLES, TEXT_COUNT, error);

	if (code == 0)
		code = put_value_type(writer, LODE_PPROF_PROFILE_SAMPLE_TYPE, TEXT_CPU, TEXT_NANOSECONDS, error);
	if (code == 0)
		code = put_value_type(writer, LODE_PPROF_PROFILE_SAMPLE_TYPE, TEXT_WAITS, TEXT_COUNT, error);
	if (code == 0)
		code = put_value_type(writer, LODE_PPROF_PROFILE_SAMPLE_TYPE, TEXT_WAIT, TEXT_NANOSECONDS, error);
	return code;
}

/* How long it took, the time that a sample represents on average, and which value to show first. */
static int write_summary(struct writer *writer, struct lode_error *error)
{
	const struct lode_export *export = writer->export;
	uint64_t runs = 0, run_cost = 0, duration = 0;
	int code = 0;

	for (size_t i = 0; i < export->count; i++) {
		const struct lode_corpus_entry *entry = export->entries[i];
		uint64_t span = entry->last_t - entry->first_t;

		duration = span > duration ? span : duration;
		runs = lode_add_saturating(runs, entry->events[LODE_RUN]);
		run_cost = lode_add_saturating(run_cost, entry->cost[LODE_RUN]);
	}
	if (!lode_export_wants(export, LODE_RUN))
		runs = 0;
	lode_pprof_number(&writer->pprof.plain, LODE_PPROF_PROFILE_DURATION, lode_pprof_signed(duration));
	lode_pprof_number(&writer->pprof.plain, LODE_PPROF_PROFILE_DEFAULT_TYPE,
			  writer->strings[runs ? TEXT_CPU : TEXT_WAIT]);
	if (runs) {
		code = put_value_type(writer, LODE_PPROF_PROFILE_PERIOD_TYPE, TEXT_CPU, TEXT_NANOSECONDS, error);
		lode_pprof_number(&writer->pprof.plain, LODE_PPROF_PROFILE_PERIOD,
				  lode_pprof_signed(run_cost / runs));
	}
	return code;
}

static int write_profile(struct writer *writer, struct lode_error *error)
{
	int code = write_types(writer, error);

	if (code == 0)
		code = write_summary(writer, error);
	if (code == 0)
		code = lode_export_streams(writer->export, write_stream, writer, error);
	return code ? code : lode_pprof_finish(&writer->pprof, error);
}

static int init(struct writer *writer, struct lode_error *error)
{
	if (lode_export_add_strings(writer->export, texts, TEXTS, writer->strings) < 0)
		return lode_fail_memory(error);
	return lode_pprof_open(&writer->pprof, writer->export->output, &writer->export->dictionary, error);
}

static int write_all(struct lode_export *export, struct lode_error *error)
{
	struct writer writer = { .export = export };
	int code = init(&writer, error);

	if (code == 0)
		code = write_profile(&writer, error);
	lode_pprof_release(&writer.pprof);
	lode_renumber_release(&writer.nodes);
	lode_free(writer.sums);
	return code;
}

const struct lode_exporter lode_exporter_pprof = {
	.name = "pprof",
	.description = "profile.proto, for go tool pprof: cpu and wait time of each thread's stacks",
	.extension = ".pb.gz",
	.binary = 1,
	.has_no_calls = 1,
	.passes = 1,
	.write = write_all,
};
