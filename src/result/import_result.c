/* What lode import did, as JSON: see import_report.h. */
#include "result/import_report.h"

#include "result/event_fields.h"
#include "result/field_choices.h"
#include "result/field_rows.h"
#include "result/notes_fields.h"

#define TABLE_OF struct lode_imported_stream
static const struct lode_field stream_rows[] = {
	FIELD_CHARS(id, "Its id."),
	FIELD_TEXT(name, "Its name."),
	FIELD_OBJECT(events, lode_event_counts_fields, "Events by type."),
	FIELD_U64(stacks, "Distinct stacks of its events."),
	FIELD_OBJECT_AS("cost_ns", LODE_FIELD_OBJECT, cost, lode_event_costs_fields, "Time by type of event."),
	FIELD_U64_AS("span_ns", span, "From its first to its last event."),
	FIELD_U64_AS("stored_bytes", stored, "Size of its file."),
	FIELD_BOOL(skipped, "It was there already."),
	FIELD_BOOL(replaced, "It replaced an older one."),
};
static const struct lode_fields stream_fields = FIELD_TABLE("ImportedStream", stream_rows);
#undef TABLE_OF

struct matching_fields {
	const char *name;
	const char *state;
	uint64_t streams;
	uint64_t cost_ns;
};

#define TABLE_OF struct matching_fields
static const struct lode_field matching_rows[] = {
	FIELD_TEXT(name, "Name."),
	FIELD_TEXT(state, "Its state.", FIELD_CHOICE(lode_choice_signature_state)),
	FIELD_U64(streams, "New streams that it matches."),
	FIELD_U64(cost_ns, "Time that it explains there."),
};
static const struct lode_fields matching_fields = FIELD_TABLE("ImportSignature", matching_rows);
#undef TABLE_OF

struct import_fields {
	struct lode_list streams;
	struct lode_list signatures;
	struct lode_notes_part notes;
};

#define TABLE_OF struct import_fields
static const struct lode_field import_rows[] = {
	FIELD_OBJECTS(streams, stream_fields, "Each stream."),
	FIELD_OBJECTS(signatures, matching_fields, "Signatures that match the new streams."),
	FIELD_PART(notes, lode_notes_part_fields),
};
const struct lode_fields lode_import_fields = FIELD_TABLE("ImportResult", import_rows);
#undef TABLE_OF

/* Those that match new streams. */
static int make_matching(const struct lode_list *list, size_t i, void *item)
{
	const struct lode_signatures *signatures = list->from;
	const struct lode_signature *signature = &signatures->items[i];

	if (!signature->streams)
		return 0;
	*(struct matching_fields *)item = (struct matching_fields){
		.name = signature->name,
		.state = lode_signature_state_name(signature->state),
		.streams = signature->streams,
		.cost_ns = lode_signature_cost(signature),
	};
	return 1;
}

void lode_import_json(const struct lode_import_report *report, struct lode_buffer *buffer)
{
	const struct lode_signatures *signatures = &report->matching->signatures;
	struct import_fields result = {
		.streams = lode_list_of(report->files->streams, report->files->count),
		.signatures = { signatures->count, signatures, 0, make_matching },
		.notes = lode_notes_part(report->notes),
	};

	lode_fields_line(&lode_import_fields, &result, buffer);
}
