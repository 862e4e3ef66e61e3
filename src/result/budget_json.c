/* What a recording with a budget took, as JSON: see budget_report.h. */
#include "result/budget_report.h"

static void put_double(struct lode_json *json, const char *key, double number)
{
	lode_json_key(json, key);
	lode_json_double(json, number);
}

void lode_budget_json(const struct lode_budget_report *report, struct lode_json *json)
{
	if (report->share <= 0)
		return;
	lode_json_key(json, "budget");
	lode_json_object(json);
	put_double(json, "share", report->share);
	put_double(json, "taken", report->taken);
	put_double(json, "fixed", report->fixed);
	put_double(json, "attached", report->attached);
	lode_json_key_u64(json, "unseen_ns", report->unseen_ns);
	if (report->certain_ns)
		lode_json_key_u64(json, "certain_ns", report->certain_ns);
	lode_json_key_u64(json, "seconds", report->seconds);
	lode_json_key_u64(json, "seconds_over", report->seconds_over);
	put_double(json, "worst_second", report->worst_second);
	lode_json_key_u64(json, "waits", report->waits);
	lode_json_key_u64(json, "recorded_waits", report->recorded_waits);
	lode_json_key_u64(json, "scale_ns", report->scale_ns);
	lode_json_key_u64(json, "frequency", report->frequency);
	lode_json_key_u64(json, "kernel_ns", report->kernel_ns);
	lode_json_key_u64(json, "process_ns", report->process_ns);
	lode_json_key_u64(json, "saving_ns", report->saving_ns);
	lode_json_object_end(json);
}
