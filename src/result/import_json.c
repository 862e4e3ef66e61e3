/* What lode import did, as JSON: see import_report.h. */
#include "result/import_report.h"

#include "base/json.h"
#include "result/notes_json.h"

static void write_stream(struct lode_json *json, const struct lode_imported_stream *stream)
{
	lode_json_object(json);
	lode_json_key_text(json, "id", stream->id);
	lode_json_key_text(json, "name", stream->name);
	lode_json_key_object(json, "events");
	for (int type = 0; type < LODE_EVENT_TYPES; type++)
		lode_json_key_u64(json, lode_event_type_name(type), stream->events[type]);
	lode_json_object_end(json);
	lode_json_key_u64(json, "stacks", stream->stacks);
	lode_json_key_object(json, "cost_ns");
	for (int type = 0; type < LODE_EVENT_TYPES; type++)
		lode_json_key_u64(json, lode_event_type_name(type), stream->cost[type]);
	lode_json_object_end(json);
	lode_json_key_u64(json, "span_ns", stream->span);
	lode_json_key_u64(json, "stored_bytes", stream->stored);
	lode_json_key_bool(json, "skipped", stream->skipped);
	lode_json_key_bool(json, "replaced", stream->replaced);
	lode_json_object_end(json);
}

/* Those that match new streams. */
static void write_signatures(struct lode_json *json, const struct lode_signatures *signatures)
{
	lode_json_array(json);
	for (size_t i = 0; i < signatures->count; i++) {
		const struct lode_signature *signature = &signatures->items[i];

		if (!signature->streams)
			continue;
		lode_json_object(json);
		lode_json_key_text(json, "name", signature->name);
		lode_json_key_text(json, "state", lode_signature_state_name(signature->state));
		lode_json_key_u64(json, "streams", signature->streams);
		lode_json_key_u64(json, "cost_ns", lode_signature_cost(signature));
		lode_json_object_end(json);
	}
	lode_json_array_end(json);
}

void lode_import_json(const struct lode_import_report *report, struct lode_buffer *buffer)
{
	struct lode_json json = { .buffer = buffer };

	lode_json_object(&json);
	lode_json_key_array(&json, "streams");
	for (size_t i = 0; i < report->files->count; i++)
		write_stream(&json, &report->files->streams[i]);
	lode_json_array_end(&json);
	lode_json_key(&json, "signatures");
	write_signatures(&json, &report->matching->signatures);
	lode_json_key(&json, "notes");
	lode_notes_json(report->notes, &json);
	lode_json_object_end(&json);
	lode_json_line(&json);
}
