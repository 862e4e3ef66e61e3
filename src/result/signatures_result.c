/* Signatures as JSON: see signatures_report.h. */
#include "result/signatures_report.h"

#include "result/field_choices.h"
#include "result/field_rows.h"

#include <string.h>

static int is_shown(const struct lode_signatures_report *report, const struct lode_signature *signature)
{
	return !report->state || !strcmp(report->state, lode_signature_state_name(signature->state));
}

const struct lode_signature *lode_signatures_report_next(const struct lode_signatures_report *report, size_t *i)
{
	while (*i < report->signatures->count) {
		const struct lode_signature *signature = &report->signatures->items[(*i)++];

		if (is_shown(report, signature))
			return signature;
	}
	return NULL;
}

struct signature_fields {
	const char *name;
	const char *state;
	const char *since;
	const char *bug; /* NULL: none */
	const char *kind;
	const char *made;
	uint64_t streams;
	uint64_t newer_streams;
	uint64_t events;
	uint64_t cost_ns;
	uint64_t run_ns;
	uint64_t wait_ns;
	int regression;
	struct lode_list notes;
	struct lode_written patterns;
};

static const char *kind_choice(unsigned number)
{
	static const char *const names[] = { "run", "wait", "any" };

	return number < sizeof(names) / sizeof(names[0]) ? names[number] : NULL;
}

#define TABLE_OF struct signature_fields
static const struct lode_field signature_rows[] = {
	FIELD_TEXT(name, "Name."),
	FIELD_TEXT(state, "Its state.", FIELD_CHOICE(lode_choice_signature_state)),
	FIELD_TEXT(since, "Version or date since when the state holds; empty: not said."),
	FIELD_TEXT(bug, "Link to a bug; null: none.", FIELD_NULLABLE),
	FIELD_TEXT(kind, "Events it matches.", FIELD_CHOICE(kind_choice)),
	FIELD_TEXT(made, "When it was made."),
	FIELD_U64(streams, "Streams that it matches."),
	FIELD_U64(newer_streams, "Of those, newer than the state."),
	FIELD_U64(events, "Events."),
	FIELD_U64(cost_ns, "Their time."),
	FIELD_U64(run_ns, "CPU time of them."),
	FIELD_U64(wait_ns, "Waiting of them."),
	FIELD_BOOL(regression, "It is fixed, and newer streams match."),
	FIELD_TEXTS(notes, "What people wrote about it, the newest last."),
	FIELD_WRITTEN(patterns, LODE_SHAPE_LISTS, LODE_FIELD_TEXT, "Its patterns."),
};
static const struct lode_fields signature_fields = FIELD_TABLE("Signature", signature_rows);
#undef TABLE_OF

struct signatures_result {
	struct lode_list signatures;
};

#define TABLE_OF struct signatures_result
static const struct lode_field signatures_rows[] = {
	FIELD_OBJECTS(signatures, signature_fields, "All of them, in the order of the file."),
};
const struct lode_fields lode_signatures_fields = FIELD_TABLE("SignaturesResult", signatures_rows);
#undef TABLE_OF

static int write_patterns(const struct lode_written *self, struct lode_json *json)
{
	const struct lode_signatures *signatures = self->from;

	lode_json_array(json);
	for (size_t i = self->first; i < self->first + self->count; i++)
		lode_frames_list_json(&signatures->frames, lode_pattern_frames(&signatures->patterns, i),
				      signatures->patterns.items[i].length, json);
	lode_json_array_end(json);
	return 0;
}

static int make_signature(const struct lode_list *list, size_t i, void *item)
{
	const struct lode_signatures_report *report = list->from;
	const struct lode_signature *signature = &report->signatures->items[i];

	if (!is_shown(report, signature))
		return 0;
	*(struct signature_fields *)item = (struct signature_fields){
		.name = signature->name,
		.state = lode_signature_state_name(signature->state),
		.since = signature->since,
		.bug = *signature->bug ? signature->bug : NULL,
		.kind = lode_signature_kind(signature),
		.made = signature->made,
		.streams = signature->streams,
		.newer_streams = signature->newer,
		.events = signature->events,
		.cost_ns = lode_signature_cost(signature),
		.run_ns = signature->cost[LODE_RUN],
		.wait_ns = signature->cost[LODE_WAIT],
		.regression = lode_signature_is_back(signature),
		.notes = lode_list_of(signature->notes, signature->note_count),
		.patterns = { .write = write_patterns,
			      .from = report->signatures,
			      .first = signature->first,
			      .count = signature->count },
	};
	return 1;
}

void lode_signatures_json(const struct lode_signatures_report *report, struct lode_buffer *buffer)
{
	struct signatures_result result = { { report->signatures->count, report, 0, make_signature } };

	lode_fields_line(&lode_signatures_fields, &result, buffer);
}
