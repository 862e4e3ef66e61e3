/* What a recording with a budget took, and its JSON. */
#ifndef LODE_RESULT_BUDGET_REPORT_H
#define LODE_RESULT_BUDGET_REPORT_H

#include "result/fields.h"

struct lode_budget_report {
	double share; /* of the machine; 0: there was no budget, and the rest means nothing */
	double taken;
	double fixed;    /* by context switches and processes that come and go, regardless of what is recorded */
	double attached; /* part of the time in which context switches were recorded */
	double worst_second;
	int has_settled; /* lode_budget_part sets it */
	double settled;  /* what it took after the first three seconds, and its parts; 0: it was shorter */
	double samples;
	double process;
	double saving;
	double switches;
	double stacks;
	double limits;
	double mappings;
	double mappings_read; /* of the time, that in which the kernel did not report mappings, which took too much; they were read when needed */
	uint64_t duration;
	uint64_t unseen_ns; /* in which the kernel did not let them be seen */
	uint64_t long_ns;   /* a wait is a long one from then on */
	uint64_t certain_ns; /* where they were not seen all the time: longer waits are recorded for certain; 0: not known */
	double certain_share; /* of the time in which they were not all seen, that in which long ones were recorded */
	uint64_t seconds;
	uint64_t seconds_over;
	uint64_t waits;
	uint64_t recorded_waits;
	uint64_t scale_ns;
	unsigned frequency;
	unsigned asked_frequency;
	uint64_t kernel_ns;
	uint64_t process_ns;
	uint64_t saving_ns;
	int sees_all_waits;  /* limits need every context switch, */
	int sees_long_waits; /* --long-waits every wakeup */
};

/* Part of a result: a field `budget`; none without one. */
struct lode_budget_part {
	int any;
	struct lode_budget_report budget;
};

extern const struct lode_fields lode_budget_part_fields;

struct lode_budget_part lode_budget_part(const struct lode_budget_report *report);

#endif
