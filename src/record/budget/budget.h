/*
 * A budget: keeps the cost of recording, the BPF programs and the recorder's own process together, at a share of the
 * machine's CPU time. docs/budget.md draws the control loop.
 *
 * The caller reads counters four times a second and hands them over; a step estimates what recording took since the last one
 * (cost_model.h, cost_estimates.h) and decides what to do until the next (budget_rules.h). The controller has no clock and
 * touches nothing but its struct, so tests run it on simulated machines. One thread at a time may use a budget.
 */
#ifndef LODE_RECORD_BUDGET_BUDGET_H
#define LODE_RECORD_BUDGET_BUDGET_H

#include "record/budget/budget_account.h"
#include "record/budget/cost_estimates.h"

/* What is asked of a budget. */
struct lode_budget_goal {
	double share; /* of the machine's CPU time: 0.01 for 1 %; 0: there is no budget */
	unsigned cpus;
	unsigned frequency_hz;     /* CPU samples a second, at most; 0: none */
	int needs_every_switch;    /* programs stay attached at all times, whatever it costs */
	int needs_every_long_wait; /* so does the one for long waits */
	int puts_long_waits_first; /* that one may take most of the budget: what is asked for is itself long */
};

/* What to do until the next step. */
struct lode_budget_decision {
	uint64_t scale_ns;     /* of waiting that a record represents (thinning.h), */
	uint32_t call_weight;  /* and system calls */
	unsigned frequency_hz; /* CPU samples a second */
	struct lode_slot_plan slots; /* in which the scheduler programs are attached (time_slots.h), from the next cycle on */
	int ends_cycle;              /* that is now: the first second is over */
	int tracks_long_waits; /* the program for long waits is attached, also between slots */
	int stays_attached;    /* scheduler programs stay attached between slots, and do nothing */
	int tracks_mmaps; /* what processes map is tracked at once, not only when the kernel's report is read */
	/* Mappings are not even reported, but read when a stack shows that they changed. The caller clears it where it cannot. */
	int reads_maps;
};

/* A program that stays attached while it takes no more than its share. */
struct lode_budget_trial {
	double average;       /* share of the machine */
	unsigned steps;       /* since it was attached, of which that is the average */
	uint64_t retry_at_ns; /* when it is attached again */
	uint64_t retry_after_ns;
};

/* What the rules about such programs remember (program_rules.c). */
struct lode_budget_programs {
	struct lode_budget_trial long_waits;
	double long_wait_fixed; /* average of all fixed costs while it is attached, */
	unsigned long_wait_fixed_steps;
	double rejected_switches;    /* switches_attached when it did not fit; 0: it always did */
	unsigned every_switch_steps; /* steps in a row in which every switch was seen */
	struct lode_budget_trial mmaps;
	/* Shares of the machine: the kernel's reports of mappings, those not of new programs, and those of new programs. */
	double reports;
	double other_reports;
	double exec_reports;
	double attach_delay; /* average fraction of the time that the kernel takes to attach scheduler programs */
	double idle;         /* average share of these between slots */
};

struct lode_budget {
	const struct lode_budget_parameters *parameters;
	struct lode_budget_goal goal;
	struct lode_budget_decision decision;
	struct lode_cost_model model;
	struct lode_cost_estimates estimates;
	struct lode_budget_programs programs;
	struct lode_budget_account account;
	double debt_s; /* seconds of the machine above the aim that are still to be saved; below 0: to be used */
	unsigned steps_over; /* in a row, in which records took too much */
	struct lode_budget_counters first;
	struct lode_budget_counters last;
};

/* `counters`: as they are now. `parameters`: NULL for those of Lode; else they must outlive the budget. */
void lode_budget_init(struct lode_budget *budget, const struct lode_budget_goal *goal,
		      const struct lode_budget_counters *counters, const struct lode_budget_parameters *parameters);
/* When the next step is due: soon and often at first, then four times a second. UINT64_MAX without a budget. */
uint64_t lode_budget_due(const struct lode_budget *budget);
/* Looks at what happened since the last step, and decides. Does nothing if no time has passed. */
void lode_budget_step(struct lode_budget *budget, const struct lode_budget_counters *counters);
/* At the end of the recording: completes the account, and decides nothing. */
void lode_budget_end(struct lode_budget *budget, const struct lode_budget_counters *counters);
/* "1%", "0.5%" to 0.01, 0.005. Returns 0, or -1 for anything else. */
int lode_budget_parse(const char *text, double *share);

#endif
