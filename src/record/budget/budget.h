/*
 * A budget: keeps the cost of recording, the programs in the kernel and the recorder's own process together, at
 * a share of the machine's CPU time. It chooses how many nanoseconds a recorded wait represents (thinning.h);
 * if context switches alone take too much, in how many time slots the programs are attached (time_slots.h); and
 * how often CPUs are sampled.
 */
#ifndef LODE_RECORD_BUDGET_BUDGET_H
#define LODE_RECORD_BUDGET_BUDGET_H

#include "record/budget/budget_costs.h"
#include "record/budget/time_slots.h"

#include <stdint.h>

/* CPU samples a second under a budget, unless requested otherwise, and the fewest that it goes down to. */
#define LODE_BUDGET_FREQUENCY       97
#define LODE_BUDGET_LEAST_FREQUENCY 19

/*
 * A program that stays attached at all times as long as it takes no more than its part of the budget; if it took more, it is tried
 * again later, after longer and longer times.
 */
struct lode_budget_trial {
	double taken;   /* of the machine, on average over about the last two seconds */
	unsigned steps; /* of which that is the average */
	uint64_t at;    /* when it is tried again, */
	uint64_t after; /* and how long after that once more */
};

struct lode_budget {
	double share; /* of all processors; 0: there is no budget */
	unsigned cpus;
	unsigned asked;     /* CPU samples a second */
	int keeps_attached; /* every context switch must be seen: all slots are chosen, regardless of the cost */
	int keeps_certain;  /* so must every long wait */
	/* What to do until the next step: */
	uint64_t scale; /* as thin_scale of the programs */
	uint32_t call_weight;
	unsigned frequency;
	struct lode_slot_plan slots; /* in which the programs are attached */
	int ends_cycle; /* the plan holds from now on, not from the next cycle: the first second is over */
	int certain;    /* long waits are looked for in each waking, so that all of them are recorded */
	int rests;      /* programs stay attached between slots, because attaching them again takes too long */
	int follows; /* what processes map is followed at once, not only when the kernel's report of it is read */
	int reads_maps; /* it is not even reported, but read where a stack shows that it changed; the owner takes this back where it cannot be */
	/* What it took in the last step, as a share of all processors, and the part that does not depend on the scale, on average over slots. */
	double taken;
	double expected; /* the same on average over which slots are drawn */
	double fixed;
	/* What context switches take by themselves while the programs are attached, over about the last second: the sums that it comes from. */
	double attached;
	double recorded; /* the same of records */
	double seen_switches;
	double seen_records;
	double seen_on;
	/* While only some slots are chosen: nanoseconds in which programs were attached, and were to be, over about the last eight seconds. */
	double on;
	double planned;
	double records; /* what records took of the machine, over about two seconds */
	double steady; /* what goes on whether they are attached or not, over about the last second; below 0: not known yet */
	double debt; /* seconds of the machine above what was aimed at that are still to be saved; below 0: to be used */
	unsigned steps_over; /* in a row in which records took too much */
	/* Looking for long waits; and all cost meanwhile that does not depend on the scale. */
	struct lode_budget_trial certain_trial;
	double all_fixed;
	unsigned fixed_steps;
	double tried_attached; /* it did not fit with these context switches, and is tried earlier where there are fewer */
	/* Following what processes map; what the kernel's reports took of the machine meanwhile, and of that those which were not of new programs. */
	struct lode_budget_trial follow_trial;
	double reports;
	double other_reports;
	double start_reports; /* of new programs, over about the last two seconds */
	/* Of the time, what was not seen while the kernel took its time to attach programs, and what resting took; over about two seconds. */
	double unseen;
	double resting;
	unsigned steps_seen; /* in a row in which context switches were seen at all times */
	/* Seconds, those in which it took more than a tenth above the budget, and the most; but for the first three. */
	uint64_t seconds;
	uint64_t seconds_over;
	double worst;
	struct lode_budget_usage last;
	struct lode_budget_usage first;
	struct lode_budget_usage settled; /* after the first three seconds; t is 0: they are not over */
	struct lode_budget_usage second;  /* at the beginning of this second */
	struct lode_budget_caches caches;
	/* The sums of all costs until `last`, `settled` and `second`. */
	struct lode_budget_costs costs;
	struct lode_budget_costs settled_costs;
	struct lode_budget_costs second_costs;
};

/* `share`: 0.01 for 1 %. `now`: as in usages. */
void lode_budget_init(struct lode_budget *budget, double share, unsigned cpus, unsigned frequency, uint64_t now);
/* When it is time for a step: soon and often at first, then four times a second. Never without a budget. */
uint64_t lode_budget_due(const struct lode_budget *budget);
/* Looks at what was used since the last step, and decides on the next. */
void lode_budget_step(struct lode_budget *budget, const struct lode_budget_usage *usage);
/* The same at the end: nothing is decided any more. */
void lode_budget_end(struct lode_budget *budget, const struct lode_budget_usage *usage);
/* Of all processors, since the start, by the last step. */
double lode_budget_share(const struct lode_budget *budget);
/* What it took between the first three seconds and the last step, as shares of all processors. */
struct lode_budget_parts {
	double samples;  /* of CPUs */
	double process;  /* of the recorder itself, */
	double saving;   /* and of those that save for it */
	double switches; /* context switches and wakings by themselves */
	double stacks;   /* taken in the kernel */
	double limits;   /* of waits, looked at in each waking */
	double mappings; /* of processes, which are followed */
};

/* Returns the sum; 0 where the recording is not that long. */
double lode_budget_settled(const struct lode_budget *budget, struct lode_budget_parts *parts);
/* "1%", "0.5%" to 0.01, 0.005. Returns 0, or -1 for anything else. */
int lode_budget_parse(const char *text, double *share);

#endif
