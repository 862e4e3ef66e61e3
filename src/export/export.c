/*
 * Export: the part that all formats share. Choosing the
 * streams, reading blocks, reporting progress.
 */
#include "export/export.h"

#include "scope/where.h"

#include <inttypes.h>
#include <string.h>

static int is_asked_for(const struct lode_corpus_entry *entry, const char *name)
{
	return strcmp(entry->name, name) == 0 || strcmp(entry->id, name) == 0;
}

static int check_names(const struct lode_export *export, const struct lode_corpus_list *list,
		       struct lode_error *error)
{
	const char *const *names = export->options->streams;

	for (size_t i = 0; names && names[i]; i++) {
		size_t at = 0;

		while (at < list->count && !is_asked_for(&list->items[at], names[i]))
			at++;
		if (at == list->count)
			return lode_fail(error, LODE_USAGE, "%s: has no stream called %s; see lode info",
					 export->corpus, names[i]);
	}
	return 0;
}

/* 1 when the stream has the attributes that were requested, 0 when not. */
static int has_attributes(const struct lode_export *export, const struct lode_corpus_entry *entry,
			  struct lode_error *error)
{
	const char *const *where = export->options->where;
	struct lode_dictionary dictionary;
	struct lode_stream stream;
	struct lode_store *store;
	int code;

	if (!where || !*where)
		return 1;
	if (lode_dictionary_init(&dictionary) < 0)
		return lode_fail_memory(error);
	lode_stream_init(&stream, &dictionary);
	code = lode_store_open(&store, entry->path, error);
	if (code == 0) {
		code = lode_store_head(store, &stream, error);
		lode_store_close(store);
	}
	if (code == 0)
		code = lode_where_fits(&stream, where);
	lode_stream_release(&stream);
	lode_dictionary_release(&dictionary);
	return code;
}

static int check_found(const struct lode_export *export, size_t streams, struct lode_error *error)
{
	const char *const *where = export->options->where;

	if (export->count || !streams || !where || !*where)
		return 0;
	return lode_fail(error, LODE_USAGE, "%s: no stream has '%s'; 'lode info %s' shows what there is",
			 export->corpus, where[0], export->corpus);
}

static int select_streams(struct lode_export *export, const struct lode_corpus_list *list, struct lode_error *error)
{
	const char *const *names = export->options->streams;
	int code = lode_where_check_threads(export->options->where, error);

	if (code == 0)
		code = check_names(export, list, error);
	if (code < 0)
		return code;
	export->entries = lode_calloc(list->count, sizeof(*export->entries));
	if (!export->entries)
		return lode_fail_memory(error);
	for (size_t i = 0; i < list->count; i++) {
		const struct lode_corpus_entry *entry = &list->items[i];
		size_t at = 0;

		while (names && names[at] && !is_asked_for(entry, names[at]))
			at++;
		if (names && !names[at])
			continue;
		code = has_attributes(export, entry, error);
		if (code < 0)
			return code;
		if (!code)
			continue;
		export->entries[export->count++] = entry;
		for (int type = 0; type < LODE_EVENT_TYPES; type++)
			if (lode_export_wants(export, (enum lode_event_type)type))
				export->total += entry->events[type] * export->exporter->passes;
	}
	return check_found(export, list->count, error);
}

int lode_export_corpus(struct lode_corpus *corpus, const struct lode_exporter *exporter,
		       const struct lode_export_options *options, struct lode_output *output,
		       struct lode_error *error)
{
	struct lode_export export = { .exporter = exporter, .options = options, .output = output };
	struct lode_corpus_list list = { 0 };
	int code;

	if (options->inferred && !exporter->has_timeline)
		return lode_fail(error, LODE_USAGE, "%s: this format cannot store single calls", exporter->name);
	code = lode_corpus_streams(corpus, &list, error);
	if (code < 0)
		return code;
	export.corpus = lode_corpus_path(corpus);
	code = lode_dictionary_init(&export.dictionary) < 0 ? lode_fail_memory(error)
							    : select_streams(&export, &list, error);
	if (code == 0)
		code = exporter->write(&export, error);
	if (code == 0 && output->buffer.failed)
		code = lode_fail_memory(error);
	lode_dictionary_release(&export.dictionary);
	lode_free(export.entries);
	lode_corpus_list_release(&list);
	return code;
}

static int open_stream(struct lode_export *export, size_t i, struct lode_export_stream *source,
		       struct lode_error *error)
{
	int code;

	*source = (struct lode_export_stream){ .number = i, .entry = export->entries[i] };
	lode_stream_init(&source->stream, &export->dictionary);
	code = lode_store_open(&source->store, source->entry->path, error);
	if (code == 0)
		code = lode_store_head(source->store, &source->stream, error);
	if (code == 0 && lode_where_threads(&source->stream, export->options->where, &source->threads) < 0)
		code = lode_fail_memory(error);
	return code;
}

static void close_stream(struct lode_export_stream *source)
{
	lode_free(source->threads);
	lode_events_release(&source->events);
	lode_stream_release(&source->stream);
	if (source->store)
		lode_store_close(source->store);
}

/* Memory does not grow from one stream to the next. */
static int forget(struct lode_export *export, struct lode_error *error)
{
	lode_dictionary_release(&export->dictionary);
	return lode_dictionary_init(&export->dictionary) < 0 ? lode_fail_memory(error) : 0;
}

/* What the format of a stream cannot hold. */
static void note_left_out(const struct lode_export *export, const struct lode_export_stream *source)
{
	const struct lode_corpus_entry *entry = source->entry;

	if (!export->exporter->has_no_calls || export->options->inferred)
		return;
	if (lode_export_wants(export, LODE_CALL))
		lode_notes_add(export->options->notes, entry->events[LODE_CALL],
			       "calls, which this format cannot store", entry->name);
	lode_notes_add(export->options->notes, source->stream.symptom_count,
		       "symptoms, which this format cannot store", entry->name);
}

int lode_export_streams(struct lode_export *export,
			int (*take)(void *context, struct lode_export_stream *source, struct lode_error *error),
			void *context, struct lode_error *error)
{
	int code = 0;

	for (size_t i = 0; i < export->count && code == 0; i++) {
		struct lode_export_stream source;

		code = open_stream(export, i, &source, error);
		if (code == 0) {
			note_left_out(export, &source);
			code = take(context, &source, error);
		}
		close_stream(&source);
		if (code == 0 && export->exporter->forgets)
			code = forget(export, error);
	}
	return code;
}

uint64_t lode_export_start(const struct lode_export *export)
{
	uint64_t start = UINT64_MAX;

	for (size_t i = 0; i < export->count; i++)
		if (export->entries[i]->last_t && export->entries[i]->first_t < start)
			start = export->entries[i]->first_t;
	return start;
}

int lode_export_add_strings(struct lode_export *export, const char *const texts[], size_t count, uint32_t strings[])
{
	for (size_t i = 0; i < count; i++) {
		strings[i] = lode_strings_add(&export->dictionary.frames.strings, texts[i], strlen(texts[i]));
		if (strings[i] == LODE_NONE)
			return LODE_SYSTEM;
	}
	return 0;
}

int lode_export_wants(const struct lode_export *export, enum lode_event_type type)
{
	return !export->options->kinds || (export->options->kinds & 1u << type);
}

int lode_export_progress(struct lode_export *export, uint64_t events, struct lode_error *error)
{
	export->done += events;
	if (lode_progress_report(export->options->progress, "exporting", "events", export->done, export->total))
		return lode_fail(error, LODE_SYSTEM, "%s: the export was stopped", export->corpus);
	return 0;
}

int lode_export_read_block(const struct lode_export_stream *source, size_t block, unsigned columns,
			   struct lode_events *events, struct lode_error *error)
{
	int code = lode_store_events(source->store, block, source->threads ? columns | LODE_THREAD : columns,
				     events, error);

	if (code == 0 && source->threads)
		lode_events_keep_threads(events, source->threads);
	return code;
}

int lode_export_blocks(struct lode_export *export, struct lode_export_stream *source, unsigned types,
		       unsigned columns,
		       int (*take)(void *context, enum lode_event_type type, const struct lode_events *events,
				   struct lode_error *error),
		       void *context, struct lode_error *error)
{
	size_t count = lode_store_blocks(source->store);
	int code = 0;

	for (size_t i = 0; i < count && code == 0; i++) {
		enum lode_event_type type = lode_store_block(source->store, i)->type;

		if (!(types & 1u << type) || !lode_export_wants(export, type))
			continue;
		code = lode_export_read_block(source, i, columns, &source->events, error);
		if (code == 0)
			code = take(context, type, &source->events, error);
		if (code == 0)
			code = lode_export_progress(export, source->events.count, error);
	}
	return code;
}

void lode_export_thread_name(const struct lode_export *export, const struct lode_stream *stream, uint32_t thread,
			     struct lode_buffer *buffer)
{
	const struct lode_strings *strings = &stream->dictionary->frames.strings;
	const struct lode_thread *item = &stream->threads[thread];

	if (export->count > 1)
		lode_buffer_print(buffer, "%s: ", lode_strings_get(strings, stream->name));
	if (item->name)
		lode_buffer_print(buffer, "%s (%" PRIu32 ")", lode_strings_get(strings, item->name), item->tid);
	else
		lode_buffer_print(buffer, "thread %" PRIu32, item->tid);
}
