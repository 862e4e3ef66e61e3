/* What lode watch did, for people: see watch_text.h. */
#include "text/watch_text.h"

#include "base/units.h"

void lode_watch_stream_text(const struct lode_watch_stream *stream, struct lode_buffer *line)
{
	char text[LODE_UNITS_TEXT];

	lode_buffer_print(line, "%s: %s events", stream->id, lode_count_text(stream->events, text));
	lode_buffer_print(line, ", %llu symptom%s", (unsigned long long)stream->symptoms,
			  stream->symptoms == 1 ? "" : "s");
	lode_buffer_print(line, ", the last %s", lode_duration_text(stream->span, text));
	lode_buffer_print(line, "; %s", lode_bytes_text(stream->bytes, text));
}

void lode_watch_text(const struct lode_watch_report *report, struct lode_buffer *line)
{
	char text[LODE_UNITS_TEXT];

	lode_buffer_print(line, "watched for %s", lode_duration_text(report->duration, text));
	lode_buffer_print(line, ": %s events, %llu triggered, %llu saved", lode_count_text(report->records, text),
			  (unsigned long long)report->triggered, (unsigned long long)report->saved);
}
