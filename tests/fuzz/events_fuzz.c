/*
 * Plain events: every input is read or refused, and what was read is written by
 * the exporter and read again as the same streams. JSON has no way to write bytes
 * that are not UTF-8; streams with such texts are written and read, not compared.
 */
#include "fuzz.h"

#include "base/file.h"
#include "base/json.h"
#include "import/import.h"
#include "random_stream.h"
#include "export/export.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_STREAMS 8

extern const struct lode_importer lode_importer_events;
extern const struct lode_exporter lode_exporter_events;

/* Streams kept as stream files in the fuzz folder, the first few of an input. */
struct kept {
	struct lode_corpus_entry entries[MAX_STREAMS];
	char paths[MAX_STREAMS][96];
	size_t count;
	int odd; /* a text is not UTF-8 */
};

static int is_utf8(const struct lode_string *string)
{
	size_t at = 0, step = 1;

	while (at < string->length && step) {
		step = lode_utf8_length((const unsigned char *)string->text + at, string->length - at);
		at += step;
	}
	return at == string->length;
}

static int keep(void *context, struct lode_stream *stream, unsigned ordinal, struct lode_error *error)
{
	const struct lode_strings *strings = &stream->dictionary->frames.strings;
	struct kept *kept = context;
	struct lode_corpus_entry *entry = &kept->entries[kept->count];
	char *path = kept->paths[kept->count];

	fuzz_check_stream(stream);
	for (size_t i = 0; i < strings->count; i++)
		kept->odd |= !is_utf8(&strings->items[i]);
	if (kept->count == MAX_STREAMS)
		return 0;
	snprintf(path, sizeof(kept->paths[0]), "%s/%u.lode", fuzz_folder(), ordinal);
	unlink(path);
	fuzz_require(lode_store_write(path, 0666, stream, 1, error) == 0, "a stream that was read can be stored");
	memset(entry, 0, sizeof(*entry));
	snprintf(entry->id, sizeof(entry->id), "%032u", ordinal);
	entry->name = entry->host = entry->source = "";
	entry->path = path;
	kept->count++;
	return 0;
}

/* The stream over another's dictionary and with its numbers of threads. */
static void renumber(const struct lode_stream *stream, const struct lode_stream *like, struct lode_stream *result)
{
	lode_stream_init(result, like->dictionary);
	for (size_t i = 0; i < like->thread_count; i++)
		fuzz_require(lode_stream_thread(result, like->threads[i].pid, like->threads[i].tid) == i,
			     "memory");
	fuzz_require(lode_stream_merge(result, stream) == 0, "memory");
}

static int compare_events(const void *a, const void *b)
{
	const struct lode_event *x = a, *y = b;
	const uint64_t differences[][2] = {
		{ x->t, y->t },           { x->thread, y->thread }, { x->stack, y->stack },
		{ x->cost, y->cost },     { x->waker, y->waker },   { x->waker_stack, y->waker_stack },
		{ x->delay, y->delay },   { x->name, y->name },     { x->cpu, y->cpu },
		{ x->object, y->object }, { x->holder, y->holder }, { x->context, y->context },
	};

	for (size_t i = 0; i < sizeof(differences) / sizeof(differences[0]); i++)
		if (differences[i][0] != differences[i][1])
			return differences[i][0] < differences[i][1] ? -1 : 1;
	return 0;
}

/* Events of the same time may come back in another order: puts them in order of all that they say. */
static void order_events(struct lode_stream *stream)
{
	for (int type = 0; type < LODE_EVENT_TYPES; type++) {
		struct lode_events *events = &stream->events[type], ordered = { 0 };
		struct lode_event *rows = calloc(events->count + 1, sizeof(*rows));

		fuzz_require(rows != NULL, "memory");
		for (size_t i = 0; i < events->count; i++)
			rows[i] = lode_events_get(events, i);
		qsort(rows, events->count, sizeof(*rows), compare_events);
		for (size_t i = 0; i < events->count; i++)
			fuzz_require(lode_events_add(&ordered, &rows[i]) == 0, "memory");
		lode_events_release(events);
		*events = ordered;
		free(rows);
	}
}

/* Compares a stream that was read again with the one that was kept. */
static int compare(void *context, struct lode_stream *stream, unsigned ordinal, struct lode_error *error)
{
	struct kept *kept = context;
	struct lode_dictionary dictionary;
	struct lode_stream before, after;

	fuzz_check_stream(stream);
	fuzz_require(ordinal < kept->count, "reading again gives no more streams");
	fuzz_require(lode_dictionary_init(&dictionary) == 0, "memory");
	lode_stream_init(&before, &dictionary);
	fuzz_require(lode_store_load(kept->paths[ordinal], &before, error) == 0, "a stored stream can be loaded");
	renumber(stream, &before, &after);
	order_events(&before);
	order_events(&after);
	fuzz_require(kept->odd || streams_equal(&before, &after),
		     "import, export and import give the same stream");
	lode_stream_release(&after);
	lode_stream_release(&before);
	lode_dictionary_release(&dictionary);
	kept->entries[ordinal].symptoms++; /* seen */
	return 0;
}

static int read_bytes(const void *bytes, size_t size,
		      int (*take)(void *, struct lode_stream *, unsigned, struct lode_error *), struct kept *kept)
{
	struct lode_import_options options = { .jobs = 1 };
	struct lode_import_sink sink = { take, kept };
	struct lode_error error = { "" };
	struct lode_input *input;
	int code = lode_input_memory(&input, "fuzz", bytes, size, &error);

	fuzz_require_sentence(code, &error);
	if (code < 0)
		return code;
	code = lode_importer_events.read(input, &options, &sink, &error);
	fuzz_require_sentence(code, &error);
	if (code < 0 && take == compare)
		fprintf(stderr, "%s\n", error.text);
	lode_input_close(input);
	return code;
}

static void write_and_read_again(struct kept *kept)
{
	const struct lode_corpus_entry *entries[MAX_STREAMS];
	struct lode_export_options options = { 0 };
	struct lode_export export = {
		.exporter = &lode_exporter_events,
		.options = &options,
		.corpus = "fuzz",
		.entries = entries,
	};
	struct lode_error error = { "" };
	struct lode_output output;
	struct lode_map map;
	struct fuzz_file file;

	for (size_t i = 0; i < kept->count; i++)
		entries[i] = &kept->entries[i];
	fuzz_require(lode_dictionary_init(&export.dictionary) == 0, "memory");
	export.count = kept->count;
	export.output = &output;
	fuzz_file_make(&file, "", 0);
	fuzz_require(lode_output_descriptor(&output, file.fd, "fuzz", &error) == 0, "memory");
	fuzz_require(lode_exporter_events.write(&export, &error) == 0, "what was read can be written");
	lode_dictionary_release(&export.dictionary);
	fuzz_require(lode_output_finish(&output, &error) == 0, "there is room for it");
	fuzz_require(lode_map_descriptor(&map, file.fd, "fuzz", &error) == 0, "it can be mapped");
	fuzz_require(read_bytes(map.bytes ? map.bytes : (const unsigned char *)"", map.size, compare, kept) == 0,
		     "what was written can be read");
	for (size_t i = 0; i < kept->count; i++)
		fuzz_require(kept->entries[i].symptoms == 1, "each stream is read again once");
	lode_map_close(&map);
	fuzz_file_remove(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct kept kept = { .count = 0 };

	lode_importer_events.sniff(bytes, size < LODE_SNIFF_BYTES ? size : LODE_SNIFF_BYTES, "fuzz");
	if (read_bytes(bytes, size, keep, &kept) == 0 && kept.count && kept.count < MAX_STREAMS)
		write_and_read_again(&kept);
	for (size_t i = 0; i < kept.count; i++)
		unlink(kept.paths[i]);
	return 0;
}
