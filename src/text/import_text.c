/* What lode import did, for people: see import_text.h. */
#include "text/import_text.h"

#include "base/units.h"

#include <string.h>

struct writer {
	const struct lode_import_report *report;
	void (*say)(void *context, enum lode_import_line kind, const char *text);
	void *context;
};

/* Hands the line over and releases it. */
static void say_line(const struct writer *writer, enum lode_import_line kind, struct lode_buffer *line)
{
	lode_buffer_byte(line, '\0');
	if (!line->failed)
		writer->say(writer->context, kind, line->bytes);
	lode_buffer_release(line);
}

/* ---- streams and files ---- */

static void put_events(const struct lode_imported_stream *stream, struct lode_buffer *buffer)
{
	const char *between = "";
	char text[LODE_UNITS_TEXT];

	for (int type = 0; type < LODE_EVENT_TYPES; type++) {
		if (!stream->events[type])
			continue;
		lode_count_text(stream->events[type], text);
		lode_buffer_print(buffer, "%s%s %s", between, text,
				  lode_event_type_name((enum lode_event_type)type));
		between = ", ";
	}
	if (!*between) {
		lode_buffer_text(buffer, "no events");
		return;
	}
	lode_count_text(stream->stacks, text);
	lode_buffer_print(buffer, "; %s stack%s", text, stream->stacks == 1 ? "" : "s");
	lode_duration_text(stream->span, text);
	lode_buffer_print(buffer, "; %s", text);
}

/* What was read, how long it took, how fast that was. */
static void put_file(const struct lode_imported_file *file, struct lode_buffer *buffer)
{
	char bytes[LODE_UNITS_TEXT], took[LODE_UNITS_TEXT], rate[LODE_UNITS_TEXT];
	double a_second = file->took ? (double)file->bytes * 1e9 / (double)file->took : 0;

	lode_buffer_print(buffer, "read %s in %s (%s/s)", lode_bytes_text(file->bytes, bytes),
			  lode_duration_text(file->took, took), lode_bytes_text((uint64_t)a_second, rate));
}

/* What became of a stream; with `file`, which it was all of, how long reading that took. */
static void put_stream(const struct lode_imported_stream *stream, const struct lode_imported_file *file,
		       struct lode_buffer *buffer)
{
	char text[LODE_UNITS_TEXT];

	if (stream->skipped) {
		lode_buffer_text(buffer, "already imported, skipped");
		return;
	}
	if (stream->replaced)
		lode_buffer_text(buffer, "replaced: ");
	put_events(stream, buffer);
	lode_buffer_print(buffer, "; %s stored", lode_bytes_text(stream->stored, text));
	if (file) {
		lode_buffer_text(buffer, "; ");
		put_file(file, buffer);
	}
}

static void write_file(const struct writer *writer, size_t number)
{
	const struct lode_import_files *files = writer->report->files;
	const struct lode_imported_file *file = &files->files[number];
	size_t streams = 0, skipped = 0;
	struct lode_buffer line = { 0 };

	for (size_t i = 0; i < files->count; i++) {
		streams += files->streams[i].file == number;
		skipped += files->streams[i].file == number && files->streams[i].skipped;
	}
	for (size_t i = 0; i < files->count; i++) {
		const struct lode_imported_stream *stream = &files->streams[i];

		if (stream->file != number)
			continue;
		lode_buffer_print(&line, "%s: ", stream->name);
		put_stream(stream, streams == 1 && !file->code ? file : NULL, &line);
		say_line(writer, stream->skipped ? LODE_IMPORT_KNOWN : LODE_IMPORT_NEW, &line);
	}
	if (file->code || !file->tried || streams == 1 || (streams && skipped == streams))
		return;
	lode_buffer_print(&line, "%s: ",
			  strcmp(files->recordings.paths[number], "-") ? files->recordings.paths[number]
								       : "standard input");
	put_file(file, &line);
	say_line(writer, LODE_IMPORT_KNOWN, &line);
}

/* ---- signatures ---- */

/* How many new streams a signature matches. */
static void put_match(const struct lode_signature *signature, struct lode_buffer *buffer)
{
	int fixed = signature->state == LODE_SIGNATURE_FIXED;
	char count[LODE_UNITS_TEXT], cost[LODE_UNITS_TEXT];

	lode_buffer_print(buffer, "%s new stream%s \"%s\" (%s)%s%.10s", lode_count_text(signature->streams, count),
			  signature->streams == 1 ? " matches" : "s match", signature->name,
			  lode_duration_text(lode_signature_cost(signature), cost), fixed ? ", fixed since " : "",
			  fixed ? signature->since : "");
}

static void write_matches(const struct writer *writer)
{
	const struct lode_import_matching *matching = writer->report->matching;
	struct lode_buffer line = { 0 };

	for (size_t i = 0; i < matching->signatures.count; i++) {
		const struct lode_signature *signature = &matching->signatures.items[i];

		if (!signature->streams || signature->state == LODE_SIGNATURE_IGNORED)
			continue;
		put_match(signature, &line);
		say_line(writer,
			 signature->state == LODE_SIGNATURE_FIXED ? LODE_IMPORT_WARNING : LODE_IMPORT_MATCH, &line);
	}
	if (!*matching->error.text)
		return;
	lode_buffer_print(&line, "new streams are not matched with signatures yet: %s", matching->error.text);
	say_line(writer, LODE_IMPORT_WARNING, &line);
}

void lode_import_text(const struct lode_import_report *report,
		      void (*say)(void *context, enum lode_import_line kind, const char *text), void *context)
{
	const struct writer writer = { report, say, context };

	for (size_t i = 0; i < report->files->recordings.count; i++)
		write_file(&writer, i);
	write_matches(&writer);
}
