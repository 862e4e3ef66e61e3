/* What lode record recorded, as JSON: see record_report.h. */
#include "result/record_report.h"

#include "result/notes_json.h"

static void put_counts(struct lode_json *json, const char *key, const struct lode_named_count *counts)
{
	lode_json_key_object(json, key);
	for (; counts->name; counts++)
		lode_json_key_u64(json, counts->name, counts->count);
	lode_json_object_end(json);
}

void lode_record_json(const struct lode_record_report *report, struct lode_buffer *buffer)
{
	const struct lode_corpus_entry *entry = report->entry;
	struct lode_json json = { .buffer = buffer };

	lode_json_object(&json);
	lode_json_key_text(&json, "id", entry->id);
	lode_json_key_text(&json, "name", entry->name);
	lode_json_key_text(&json, "corpus", report->corpus);
	for (int type = 0; type < LODE_EVENT_TYPES; type++)
		lode_json_key_u64(&json, lode_event_type_name((enum lode_event_type)type), entry->events[type]);
	lode_json_key_u64(&json, "preemptions", report->preemptions);
	lode_json_key_u64(&json, "system_calls", report->system_calls);
	lode_json_key_u64(&json, "stacks", entry->stacks);
	lode_json_key_u64(&json, "symptoms", entry->symptoms);
	lode_json_key_u64(&json, "duration_ns", report->duration);
	lode_json_key_u64(&json, "stored_bytes", entry->file_size);
	lode_json_key_u64(&json, "lost", report->lost);
	put_counts(&json, "user_stacks", report->user_stacks);
	put_counts(&json, "kernel_stacks", report->kernel_stacks);
	put_counts(&json, "unwind_tables", report->unwind_tables);
	lode_budget_json(&report->budget, &json);
	lode_json_key_u64_or_null(&json, "pid", report->pid > 0, (uint64_t)report->pid);
	lode_json_key_u64_or_null(&json, "exit_status", report->exit_status >= 0, (uint64_t)report->exit_status);
	lode_json_key_u64_or_null(&json, "signal", report->signal > 0, (uint64_t)report->signal);
	lode_json_key(&json, "notes");
	lode_notes_json(report->notes, &json);
	lode_json_object_end(&json);
	lode_json_line(&json);
}
