/* What lode import did, for people: see import_text.h. */
#include "text/import_text.h"

#include "base/units.h"

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

void lode_imported_file_text(const struct lode_imported_file *file, struct lode_buffer *buffer)
{
	char bytes[LODE_UNITS_TEXT], took[LODE_UNITS_TEXT], rate[LODE_UNITS_TEXT];
	double a_second = file->took ? (double)file->bytes * 1e9 / (double)file->took : 0;

	lode_buffer_print(buffer, "read %s in %s (%s/s)", lode_bytes_text(file->bytes, bytes),
			  lode_duration_text(file->took, took), lode_bytes_text((uint64_t)a_second, rate));
}

void lode_imported_stream_text(const struct lode_imported_stream *stream, const struct lode_imported_file *file,
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
		lode_imported_file_text(file, buffer);
	}
}

void lode_import_match_text(const struct lode_signature *signature, struct lode_buffer *buffer)
{
	int fixed = signature->state == LODE_SIGNATURE_FIXED;
	char count[LODE_UNITS_TEXT], cost[LODE_UNITS_TEXT];

	lode_buffer_print(buffer, "%s new stream%s \"%s\" (%s)%s%.10s", lode_count_text(signature->streams, count),
			  signature->streams == 1 ? " matches" : "s match", signature->name,
			  lode_duration_text(lode_signature_cost(signature), cost), fixed ? ", fixed since " : "",
			  fixed ? signature->since : "");
}
