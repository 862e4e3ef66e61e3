/* Signatures as JSON: see signatures_report.h. */
#include "result/signatures_report.h"

#include "base/json.h"

#include <string.h>

const struct lode_signature *lode_signatures_report_next(const struct lode_signatures_report *report, size_t *i)
{
	while (*i < report->signatures->count) {
		const struct lode_signature *signature = &report->signatures->items[(*i)++];

		if (!report->state || !strcmp(report->state, lode_signature_state_name(signature->state)))
			return signature;
	}
	return NULL;
}

static void write_patterns(struct lode_json *json, const struct lode_signatures *signatures,
			   const struct lode_signature *signature)
{
	lode_json_key_array(json, "patterns");
	for (size_t i = signature->first; i < signature->first + signature->count; i++)
		lode_frames_list_json(&signatures->frames, lode_pattern_frames(&signatures->patterns, i),
				      signatures->patterns.items[i].length, json);
	lode_json_array_end(json);
}

static void write_signature(struct lode_json *json, const struct lode_signatures *signatures,
			    const struct lode_signature *signature)
{
	lode_json_object(json);
	lode_json_key_text(json, "name", signature->name);
	lode_json_key_text(json, "state", lode_signature_state_name(signature->state));
	lode_json_key_text(json, "since", signature->since);
	lode_json_key_text_or_null(json, "bug", *signature->bug ? signature->bug : NULL);
	lode_json_key_text(json, "kind", lode_signature_kind(signature));
	lode_json_key_text(json, "made", signature->made);
	lode_json_key_u64(json, "streams", signature->streams);
	lode_json_key_u64(json, "newer_streams", signature->newer);
	lode_json_key_u64(json, "events", signature->events);
	lode_json_key_u64(json, "cost_ns", lode_signature_cost(signature));
	lode_json_key_u64(json, "run_ns", signature->cost[LODE_RUN]);
	lode_json_key_u64(json, "wait_ns", signature->cost[LODE_WAIT]);
	lode_json_key_bool(json, "regression", lode_signature_is_back(signature));
	write_patterns(json, signatures, signature);
	lode_json_object_end(json);
}

void lode_signatures_json(const struct lode_signatures_report *report, struct lode_buffer *buffer)
{
	const struct lode_signature *signature;
	struct lode_json json = { .buffer = buffer };

	lode_json_object(&json);
	lode_json_key_array(&json, "signatures");
	for (size_t i = 0; (signature = lode_signatures_report_next(report, &i));)
		write_signature(&json, report->signatures, signature);
	lode_json_array_end(&json);
	lode_json_object_end(&json);
	lode_json_line(&json);
}
