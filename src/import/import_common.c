/* What importers have in common: see import_common.h. */
#include "import/import_common.h"

#include "base/sort_numbers.h"
#include "import/import_names.h"
#include "symbols/name_frames.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int lode_import_progress_at(const struct lode_input *input, const struct lode_import_options *options,
			    uint64_t done, uint64_t total, struct lode_error *error)
{
	const char *name = lode_input_name(input), *slash = strrchr(name, '/');
	char phase[300];

	if (!options->progress)
		return 0;
	snprintf(phase, sizeof(phase), "reading %.255s", slash && slash[1] ? slash + 1 : name);
	if (lode_progress_report(options->progress, phase, "bytes", done, total))
		return lode_fail(error, LODE_SYSTEM, "%s: reading was stopped", name);
	return 0;
}

int lode_import_progress(const struct lode_input *input, const struct lode_import_options *options,
			 struct lode_error *error)
{
	uint64_t done, total;

	lode_input_progress(input, &done, &total);
	return lode_import_progress_at(input, options, done, total, error);
}

int lode_import_lines(struct lode_input *input, const struct lode_import_options *options,
		      int (*take)(void *context, const char *line, size_t length, int is_whole), void *context,
		      struct lode_error *error)
{
	size_t since = 0, length;
	const char *line;
	int got;

	while ((got = lode_input_line(input, LODE_LINE_LIMIT, &line, &length, error)) > 0) {
		int code = take(context, line, length, lode_input_line_ended(input));

		since += length + 1;
		if (code == 0 && since >= 1u << 20) {
			code = lode_import_progress(input, options, error);
			since = 0;
		}
		if (code < 0)
			return code;
	}
	return got;
}

uint64_t lode_import_median(uint64_t *values, size_t count)
{
	if (!count)
		return 0;
	lode_sort_u64(values, count);
	return values[count / 2];
}

int lode_import_fail(const struct lode_input *input, struct lode_error *error, const char *format, ...)
{
	char what[sizeof(error->text)];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(what, sizeof(what), format, arguments);
	va_end(arguments);
	return lode_fail(error, LODE_BAD_INPUT, "%s:%llu: %s", lode_input_name(input),
			 (unsigned long long)lode_input_line_number(input), what);
}

void lode_tally_add(struct lode_tally *tally, const struct lode_input *input, const char *detail, size_t length)
{
	if (tally->count++)
		return;
	snprintf(tally->first, sizeof(tally->first), "%.250s:%llu%s%.*s", lode_input_name(input),
		 (unsigned long long)lode_input_line_number(input), detail ? ": " : "",
		 detail ? (int)(length < 100 ? length : 100) : 0, detail ? detail : "");
}

void lode_tally_report(const struct lode_tally *tally, const struct lode_import_options *options, const char *what)
{
	lode_notes_add(options->notes, tally->count, what, tally->first);
}

static int name_stream(const struct lode_input *input, const struct lode_import_options *options,
		       struct lode_stream *stream)
{
	char *name;

	if (stream->name)
		return 0;
	name = lode_import_default_name(input, options);
	if (!name)
		return LODE_SYSTEM;
	stream->name = lode_strings_add(&stream->dictionary->frames.strings, name, strlen(name));
	lode_free(name);
	if (stream->name != LODE_NONE)
		return 0;
	stream->name = 0;
	return LODE_SYSTEM;
}

int lode_import_begin(struct lode_input *input, const unsigned char **bytes, size_t *size,
		      struct lode_stream *stream, struct lode_dictionary *dictionary, struct lode_error *error)
{
	int code = lode_input_whole(input, bytes, size, error);

	if (code < 0)
		return code;
	if (lode_dictionary_init(dictionary) < 0)
		return lode_fail_memory(error);
	lode_stream_init(stream, dictionary);
	return 0;
}

void lode_import_end(struct lode_stream *stream)
{
	struct lode_dictionary *dictionary = stream->dictionary;

	lode_stream_release(stream);
	lode_dictionary_release(dictionary);
}

int lode_import_name_thread(struct lode_stream *stream, uint32_t thread, const char *text, size_t length)
{
	uint32_t name;

	if (thread == LODE_NONE || stream->threads[thread].name || !length)
		return 0;
	name = lode_strings_add(&stream->dictionary->frames.strings, text, length);
	if (name == LODE_NONE) {
		stream->failed = 1;
		return LODE_SYSTEM;
	}
	stream->threads[thread].name = name;
	return 0;
}

int lode_import_note_addresses(struct lode_stream *stream, const struct lode_import_addresses *addresses)
{
	return addresses->offsets && !addresses->others
		       ? lode_stream_set_text(stream, LODE_ADDRESSES, LODE_ADDRESSES_VALUE)
		       : 0;
}

int lode_import_deliver(const struct lode_input *input, const struct lode_import_options *options,
			const struct lode_import_sink *sink, struct lode_stream *stream, unsigned ordinal,
			struct lode_error *error)
{
	if (stream->failed || name_stream(input, options, stream) < 0 || lode_stream_sort(stream) < 0)
		return lode_fail_memory(error);
	return sink->take(sink->context, stream, ordinal, error);
}
