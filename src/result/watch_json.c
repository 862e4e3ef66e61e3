/* What lode watch did, as JSON: see watch_report.h. */
#include "result/watch_report.h"

#include "result/notes_json.h"

void lode_watch_stream_json(const struct lode_watch_stream *stream, struct lode_buffer *buffer)
{
	struct lode_json json = { .buffer = buffer };

	lode_json_object(&json);
	lode_json_key_text(&json, "id", stream->id);
	lode_json_key_text(&json, "trigger", stream->trigger);
	lode_json_key_u64(&json, "events", stream->events);
	lode_json_key_u64(&json, "symptoms", stream->symptoms);
	lode_json_key_u64(&json, "duration_ns", stream->span);
	lode_json_key_u64(&json, "stored_bytes", stream->bytes);
	lode_json_key_u64(&json, "removed", stream->removed);
	lode_json_object_end(&json);
	lode_json_line(&json);
}

void lode_watch_json(const struct lode_watch_report *report, struct lode_buffer *buffer)
{
	struct lode_json json = { .buffer = buffer };

	lode_json_object(&json);
	lode_json_key_u64(&json, "records", report->records);
	lode_json_key_u64(&json, "kept", report->kept);
	lode_json_key_u64(&json, "dropped", report->dropped);
	lode_json_key_u64(&json, "lost", report->lost);
	lode_json_key_u64(&json, "missing_stacks", report->missing_stacks);
	lode_json_key_u64(&json, "memory_bytes", report->memory_bytes);
	lode_json_key_u64(&json, "triggered", report->triggered);
	lode_json_key_u64(&json, "refused", report->refused);
	lode_json_key_u64(&json, "saved", report->saved);
	lode_json_key_u64(&json, "failed", report->failed);
	lode_json_key_u64(&json, "removed", report->removed);
	lode_json_key_u64(&json, "duration_ns", report->duration);
	lode_budget_json(&report->budget, &json);
	lode_json_key(&json, "notes");
	lode_notes_json(report->notes, &json);
	lode_json_object_end(&json);
	lode_json_line(&json);
}
