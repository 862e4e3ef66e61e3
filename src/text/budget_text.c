/* What a recording with a budget took, for people: see budget_text.h. */
#include "text/budget_text.h"

#include "base/units.h"

/* Why more may be taken than the budget. */
static const char *reason(const struct lode_budget_report *report)
{
	if (report->sees_all_waits)
		return ", because limits need every one of them";
	if (report->sees_long_waits)
		return ", because '--long-waits' needs every wakeup";
	return report->limits > report->share / 2 ? ", because limits on waits need every wakeup" : "";
}

void lode_budget_text(const struct lode_budget_report *report, struct lode_buffer *line)
{
	char text[LODE_UNITS_TEXT], more[LODE_UNITS_TEXT];

	lode_buffer_print(line, "took about %s of the machine, of %s", lode_percent_text(report->taken, text),
			  lode_percent_text(report->share, more));
	lode_buffer_print(line, "; recorded %s", lode_count_text(report->recorded_waits, text));
	lode_buffer_print(line, " of %s waits and preemptions", lode_count_text(report->waits, text));
	if (report->attached < 0.995)
		lode_buffer_print(line, " in the %s of the time in which context switches were recorded",
				  lode_percent_text(report->attached, text));
	if (report->certain_ns)
		lode_buffer_print(line, ", and every wait longer than %s",
				  lode_duration_text(report->certain_ns, text));
	if (report->certain_ns > report->long_ns && report->certain_share >= 0.005)
		lode_buffer_print(line, " (in %s of the time, than %s)",
				  lode_percent_text(report->certain_share, more),
				  lode_duration_text(report->long_ns, text));
	if (report->frequency < report->asked_frequency)
		lode_buffer_text(line, "; CPUs sampled less often");
	if (report->unseen_ns > report->duration / 50)
		lode_buffer_print(line, "; for %s the kernel did not let context switches be seen",
				  lode_duration_text(report->unseen_ns, text));
	if (report->mappings > report->share / 4)
		lode_buffer_print(line, "; following what processes map took %s",
				  lode_percent_text(report->mappings, text));
	if (report->fixed > report->share)
		lode_buffer_print(line, "; context switches and processes that come and go take %s by themselves%s",
				  lode_percent_text(report->fixed, text), reason(report));
}
