/* The account of a budget: what recording took so far, by whole seconds and by its parts, for the report at the end. */
#ifndef LODE_RECORD_BUDGET_BUDGET_ACCOUNT_H
#define LODE_RECORD_BUDGET_BUDGET_ACCOUNT_H

#include "record/budget/cost_model.h"

/* All costs until some time. */
struct lode_budget_checkpoint {
	uint64_t time_ns;
	struct lode_budget_costs costs;
};

struct lode_budget_account {
	const struct lode_budget_parameters *parameters;
	double share; /* the budget, of the machine */
	unsigned cpus;
	uint64_t began_ns;
	struct lode_budget_checkpoint last;    /* at the last step */
	struct lode_budget_checkpoint second;  /* when the current second began */
	struct lode_budget_checkpoint settled; /* when the warm-up was over; time_ns is 0 before */
	/* Whole seconds after the warm-up, those a good deal above the budget, and the share of the worst. */
	uint64_t seconds;
	uint64_t seconds_over;
	double worst_second;
};

/* What recording took between the warm-up and the last step, as shares of the machine. */
struct lode_budget_parts {
	double samples;
	double process;    /* of the recorder, records among it */
	double saving;     /* processes that write streams for it */
	double switches;   /* scheduler programs as far as they record nothing */
	double stacks;     /* walked in the kernel */
	double long_waits; /* the program for long waits and limits */
	double mmaps;      /* mappings of processes: tracking and reports */
};

void lode_budget_account_init(struct lode_budget_account *account, const struct lode_budget_parameters *parameters,
			      double share, unsigned cpus, uint64_t now);
/* Adds what recording took until `now`. */
void lode_budget_account_add(struct lode_budget_account *account, const struct lode_budget_costs *costs,
			     uint64_t now);
/* A step is over: closes the second, and the warm-up, if it is time. */
void lode_budget_account_close(struct lode_budget_account *account);
/* The share of the machine since the start. */
double lode_budget_account_total(const struct lode_budget_account *account);
/* Returns the sum of `parts`; all 0 where the recording did not last longer than the warm-up. */
double lode_budget_account_settled(const struct lode_budget_account *account, struct lode_budget_parts *parts);

#endif
