/* What lode watch did, as JSON: see watch_report.h. */
#include "result/watch_report.h"

#include "result/field_rows.h"
#include "result/notes_fields.h"

#define TABLE_OF struct lode_watch_stream
static const struct lode_field stream_rows[] = {
	FIELD_TEXT(id, "Its id."),
	FIELD_TEXT(trigger, "What was too slow."),
	FIELD_U64(events, "Its events."),
	FIELD_U64(symptoms, "Its symptoms."),
	FIELD_U64_AS("duration_ns", span, "Its length."),
	FIELD_U64_AS("stored_bytes", bytes, "Size of its file."),
	FIELD_U64(removed, "Older streams that were removed to make room."),
};
const struct lode_fields lode_watch_stream_fields = FIELD_TABLE("WatchStream", stream_rows);
#undef TABLE_OF

#define TABLE_OF struct lode_watch_report
static const struct lode_field sums_rows[] = {
	FIELD_U64(records, "Records from the kernel."),
	FIELD_U64(kept, "Those kept in memory at the end."),
	FIELD_U64(dropped, "Those dropped before they were old enough."),
	FIELD_U64(lost, "Records that were lost."),
	FIELD_U64(missing_stacks, "Records whose stack is missing."),
	FIELD_U64(memory_bytes, "Memory in use."),
	FIELD_U64(triggered, "Triggers."),
	FIELD_U64(refused, "Triggers within the rate limit."),
	FIELD_U64(saved, "Streams that were saved."),
	FIELD_U64(failed, "Streams that could not be saved."),
	FIELD_U64(removed, "Streams that were removed to make room."),
	FIELD_U64_AS("duration_ns", duration, "How long it watched."),
};
static const struct lode_fields sums = FIELD_TABLE("WatchSums", sums_rows);
#undef TABLE_OF

struct watch_result {
	struct lode_watch_report sums;
	struct lode_budget_part budget;
	struct lode_notes_part notes;
};

#define TABLE_OF struct watch_result
static const struct lode_field watch_rows[] = {
	FIELD_PART(sums, sums),
	FIELD_PART(budget, lode_budget_part_fields),
	FIELD_PART(notes, lode_notes_part_fields),
};
const struct lode_fields lode_watch_fields = FIELD_TABLE("WatchSummary", watch_rows);
#undef TABLE_OF

void lode_watch_stream_json(const struct lode_watch_stream *stream, struct lode_buffer *buffer)
{
	lode_fields_line(&lode_watch_stream_fields, stream, buffer);
}

void lode_watch_json(const struct lode_watch_report *report, struct lode_buffer *buffer)
{
	struct watch_result result = { *report, lode_budget_part(&report->budget), lode_notes_part(report->notes) };

	lode_fields_line(&lode_watch_fields, &result, buffer);
}
