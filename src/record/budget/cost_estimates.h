/*
 * What the controller knows about costs: shares of the machine's CPU time, of the last step and averaged over several.
 *
 * One step is a quarter of a second, and while programs are attached in time slots, it may have several slots or none. A
 * decision made from it would chase noise. So costs while attached are averaged over time with programs attached, and
 * `expected` is what a step would have taken on average over all ways to draw its slots, not what this draw took.
 */
#ifndef LODE_RECORD_BUDGET_COST_ESTIMATES_H
#define LODE_RECORD_BUDGET_COST_ESTIMATES_H

#include "record/budget/cost_model.h"
#include "record/budget/time_slots.h"

/* The time between two steps. */
struct lode_budget_interval {
	const struct lode_budget_counters *now, *before;
	unsigned cpus;
	double time_ns;                 /* of the clock, */
	double machine_ns;              /* and times CPUs */
	double attached_ns;             /* time with the scheduler programs attached, times CPUs */
	struct lode_budget_costs costs; /* what recording took */
	int is_startup;                 /* it ended in the first second */
};

struct lode_cost_estimates {
	/* Of the last step, as shares of the machine. */
	double total;    /* what it took, but for processes that write streams */
	double expected; /* the same on average over all draws of slots: what is steered by */
	double fixed;    /* the part that the scale has no influence on */
	/* Averages, as shares of the machine. */
	double background; /* what goes on whether programs are attached or not; below 0: not known yet */
	double records;
	/* Averages, as shares of the time in which programs are attached; */
	double switches_attached;
	double records_attached;
	/* the fading sums that they come from, in nanoseconds; */
	double switch_ns;
	double record_ns;
	double attached_ns;
	/* and while programs are attached in slots: fading sums of the time that they were, and were to be. */
	double slot_attached_ns;
	double slot_planned_ns;
};

/* Moves `average` towards `value`, by one part in `steps`. */
static inline void lode_average_add(double *average, double value, double steps)
{
	*average += (value - *average) / steps;
}

void lode_cost_estimates_update(struct lode_cost_estimates *estimates,
				const struct lode_budget_averages *parameters,
				const struct lode_budget_interval *interval);
/* The share of the machine that goes on at all times. In the first second only samples: the rest is for the start itself. */
double lode_cost_estimates_background(const struct lode_cost_estimates *estimates,
				      const struct lode_budget_interval *interval);
/* The share of programs that are attached beside those of the scheduler, or of these between slots. */
double lode_cost_estimates_extra(const struct lode_budget_interval *interval);
/* How much longer than planned slots last: time attached over time planned. */
double lode_cost_estimates_slot_ratio(const struct lode_cost_estimates *estimates,
				      const struct lode_budget_averages *parameters);
/* The fraction of the time in which programs are attached, where `planned` is planned. */
double lode_cost_estimates_attached_fraction(const struct lode_cost_estimates *estimates,
					     const struct lode_budget_averages *parameters, double planned);

#endif
