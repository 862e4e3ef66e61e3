/* What a recording with a budget took, as JSON: see budget_report.h. */
#include "result/budget_report.h"

void lode_budget_json(const struct lode_budget_report *report, struct lode_json *json)
{
	if (report->share <= 0)
		return;
	lode_json_key_object(json, "budget");
	lode_json_key_double(json, "share", report->share);
	lode_json_key_double(json, "taken", report->taken);
	if (report->settled > 0) {
		lode_json_key_object(json, "settled");
		lode_json_key_double(json, "taken", report->settled);
		lode_json_key_double(json, "samples", report->samples);
		lode_json_key_double(json, "process", report->process);
		lode_json_key_double(json, "saving", report->saving);
		lode_json_key_double(json, "switches", report->switches);
		lode_json_key_double(json, "stacks", report->stacks);
		lode_json_key_double(json, "limits", report->limits);
		lode_json_key_double(json, "mappings", report->mappings);
		lode_json_object_end(json);
	}
	lode_json_key_double(json, "fixed", report->fixed);
	lode_json_key_double(json, "attached", report->attached);
	lode_json_key_u64(json, "unseen_ns", report->unseen_ns);
	if (report->certain_ns)
		lode_json_key_u64(json, "certain_ns", report->certain_ns);
	lode_json_key_double(json, "certain_share", report->certain_share);
	lode_json_key_double(json, "mappings_read", report->mappings_read);
	lode_json_key_u64(json, "seconds", report->seconds);
	lode_json_key_u64(json, "seconds_over", report->seconds_over);
	lode_json_key_double(json, "worst_second", report->worst_second);
	lode_json_key_u64(json, "waits", report->waits);
	lode_json_key_u64(json, "recorded_waits", report->recorded_waits);
	lode_json_key_u64(json, "scale_ns", report->scale_ns);
	lode_json_key_u64(json, "frequency", report->frequency);
	lode_json_key_u64(json, "kernel_ns", report->kernel_ns);
	lode_json_key_u64(json, "process_ns", report->process_ns);
	lode_json_key_u64(json, "saving_ns", report->saving_ns);
	lode_json_object_end(json);
}
