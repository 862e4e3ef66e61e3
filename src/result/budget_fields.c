/* What a recording with a budget took, as a field of results: see budget_report.h. */
#include "result/budget_report.h"

#include "result/field_rows.h"

#define TABLE_OF struct lode_budget_report
static const struct lode_field settled_rows[] = {
	FIELD_DOUBLE_AS("taken", settled, "All of it."),
	FIELD_DOUBLE(samples, "Samples of CPUs."),
	FIELD_DOUBLE(process, "The recorder's process."),
	FIELD_DOUBLE(saving, "Processes that write streams for it."),
	FIELD_DOUBLE(switches, "Context switches and wakeups by themselves."),
	FIELD_DOUBLE(stacks, "Stacks taken in the kernel."),
	FIELD_DOUBLE(limits, "Looking for long waits at wakeups."),
	FIELD_DOUBLE(mappings, "Following what processes map, in the kernel."),
};
static const struct lode_fields settled = FIELD_TABLE("BudgetSettled", settled_rows);

static const struct lode_field budget_rows[] = {
	FIELD_DOUBLE(share, "The budget, as a share of the machine's processor time: 0.01 is 1 %."),
	FIELD_DOUBLE(taken, "What was taken of it."),
	FIELD_SAME("settled", settled, "What was taken after the first three seconds, as shares of the machine.",
		   FIELD_OPTIONAL_IF(has_settled)),
	FIELD_DOUBLE(fixed,
		     "What of that does not depend on how much is recorded, in the last quarter of a second."),
	FIELD_DOUBLE(attached,
		     "Share of the time in which context switches were seen: less than 1 where they alone would "
		     "have taken too much."),
	FIELD_U64(unseen_ns,
		  "Nanoseconds that the kernel took to attach programs again; waits of that time are missing."),
	FIELD_U64(certain_ns,
		  "Where `attached` is less than 1, or with `--long-waits`: waits that took longer are all "
		  "recorded, with "
		  "weight 1.",
		  FIELD_OPTIONAL),
	FIELD_DOUBLE(certain_share,
		     "Share of the time in which not every wait was recorded, but all were that took longer "
		     "than `--long-waits`, or 10 ms."),
	FIELD_DOUBLE(mappings_read,
		     "Share of the time in which the kernel did not report what processes map, because that "
		     "took too much; it was read when stacks showed that it changed."),
	FIELD_U64(seconds, "Whole seconds, but for the first three."),
	FIELD_U64(seconds_over, "Those in which more than a tenth above the budget was taken."),
	FIELD_DOUBLE(worst_second, "The most that was taken in one of them, as a share of the machine."),
	FIELD_U64(waits, "Waits and preemptions that were seen: all of them, unless `attached` is less than 1."),
	FIELD_U64(recorded_waits, "Those that were recorded."),
	FIELD_U64(scale_ns, "Nanoseconds of waiting that a record stood for at the end."),
	FIELD_U32(frequency, "CPU samples per second at the end."),
	FIELD_U64(kernel_ns, "Time that was measured in the kernel."),
	FIELD_U64(process_ns, "Processor time of the recorder, all its threads."),
	FIELD_U64(saving_ns,
		  "Processor time of the processes that lode watch saves streams with; part of what was taken."),
};
static const struct lode_fields budget = FIELD_TABLE("Budget", budget_rows);
#undef TABLE_OF

#define TABLE_OF struct lode_budget_part
static const struct lode_field part_rows[] = {
	FIELD_OBJECT(budget, budget, "What --budget was used for; only with one.", FIELD_OPTIONAL_IF(any)),
};
const struct lode_fields lode_budget_part_fields = FIELD_TABLE("BudgetPart", part_rows);
#undef TABLE_OF

struct lode_budget_part lode_budget_part(const struct lode_budget_report *report)
{
	struct lode_budget_part part = { report->share > 0, *report };

	part.budget.has_settled = report->settled > 0;
	return part;
}
