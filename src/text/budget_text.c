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
	char text[LODE_UNITS_TEXT];

	lode_buffer_print(line, "took about %.2g%% of the machine, of %.2g%%; recorded %s", 100 * report->taken,
			  100 * report->share, lode_count_text(report->recorded_waits, text));
	lode_buffer_print(line, " of %s waits and preemptions", lode_count_text(report->waits, text));
	if (report->attached < 0.995)
		lode_buffer_print(line, " in the %.2g%% of the time in which context switches were recorded",
				  100 * report->attached);
	if (report->certain_ns)
		lode_buffer_print(line, ", and every wait longer than %s",
				  lode_duration_text(report->certain_ns, text));
	if (report->certain_ns > report->long_ns && report->certain_share >= 0.005)
		lode_buffer_print(line, " (in %.2g%% of the time, than %s)", 100 * report->certain_share,
				  lode_duration_text(report->long_ns, text));
	if (report->frequency < report->asked_frequency)
		lode_buffer_text(line, "; CPUs sampled less often");
	if (report->unseen_ns > report->duration / 50)
		lode_buffer_print(line, "; for %s the kernel did not let context switches be seen",
				  lode_duration_text(report->unseen_ns, text));
	if (report->mappings > report->share / 4)
		lode_buffer_print(line, "; following what processes map took %.2g%%", 100 * report->mappings);
	if (report->fixed > report->share)
		lode_buffer_print(line,
				  "; context switches and processes that come and go take %.2g%% by themselves%s",
				  100 * report->fixed, reason(report));
}
