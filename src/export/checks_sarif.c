/*
 * Checks as SARIF 2.1.0: see checks_forms.h. Viewers want a file for each result; there is none, so that the module of the
 * function stands for it, with the function as its logical location.
 */
#include "export/checks_forms.h"

#include "base/json.h"
#include "base/memory.h"

static void put_rules(const struct lode_checks *checks, struct lode_json *json)
{
	lode_json_key_array(json, "rules");
	for (size_t i = 0; i < checks->count; i++) {
		if (i && checks->items[i].rule == checks->items[i - 1].rule)
			continue;
		lode_json_object(json);
		lode_json_key_text(json, "id", checks->items[i].rule);
		lode_json_key_object(json, "shortDescription");
		lode_json_key_text(json, "text", checks->items[i].rule);
		lode_json_object_end(json);
		lode_json_object_end(json);
	}
	lode_json_array_end(json);
}

static void put_place(const struct lode_check *check, struct lode_json *json)
{
	lode_json_key_array(json, "locations");
	lode_json_object(json);
	lode_json_key_object(json, "physicalLocation");
	lode_json_key_object(json, "artifactLocation");
	lode_json_key_text(json, "uri", *check->module ? check->module : "run");
	lode_json_object_end(json);
	lode_json_object_end(json);
	if (*check->module) {
		lode_json_key_array(json, "logicalLocations");
		lode_json_object(json);
		lode_json_key_text(json, "fullyQualifiedName", check->subject);
		lode_json_key_text(json, "kind", "function");
		lode_json_object_end(json);
		lode_json_array_end(json);
	}
	lode_json_object_end(json);
	lode_json_array_end(json);
}

static void put_result(const struct lode_checks *checks, const struct lode_check *check, struct lode_json *json)
{
	char *text = lode_format("%s: %s: %s%s%s%s%s", check->rule, check->subject,
				 lode_verdict_words(check->verdict), *check->measured ? ", " : "", check->measured,
				 *check->reason ? "; " : "", check->reason);
	char *identity = lode_format("%s: %s", check->rule, check->subject);

	lode_json_object(json);
	lode_json_key_text(json, "ruleId", check->rule);
	lode_json_key_text(json, "level",
			   lode_check_failed(checks, check)   ? "error"
			   : lode_check_unsure(checks, check) ? "warning"
							      : "note");
	lode_json_key_object(json, "message");
	lode_json_key_text(json, "text", text ? text : "");
	lode_json_object_end(json);
	put_place(check, json);
	lode_json_key_object(json, "partialFingerprints");
	lode_json_key_text(json, "lodeCheck/v1", identity ? identity : "");
	lode_json_object_end(json);
	lode_json_object_end(json);
	if (!text || !identity)
		json->buffer->failed = 1;
	lode_free(text);
	lode_free(identity);
}

void lode_checks_sarif(const struct lode_checks *checks, struct lode_buffer *buffer)
{
	struct lode_json json = { .buffer = buffer };

	lode_json_object(&json);
	lode_json_key_text(&json, "$schema", "https://json.schemastore.org/sarif-2.1.0.json");
	lode_json_key_text(&json, "version", "2.1.0");
	lode_json_key_array(&json, "runs");
	lode_json_object(&json);
	lode_json_key_object(&json, "tool");
	lode_json_key_object(&json, "driver");
	lode_json_key_text(&json, "name", checks->command);
	lode_json_key_text(&json, "version", LODE_VERSION);
	put_rules(checks, &json);
	lode_json_object_end(&json);
	lode_json_object_end(&json);
	lode_json_key_array(&json, "results");
	for (size_t i = 0; i < checks->count; i++)
		if (checks->items[i].verdict != LODE_GATE_WITHIN)
			put_result(checks, &checks->items[i], &json);
	lode_json_array_end(&json);
	lode_json_object_end(&json);
	lode_json_array_end(&json);
	lode_json_object_end(&json);
	lode_json_line(&json);
}
