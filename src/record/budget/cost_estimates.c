/* What the controller knows about costs: see cost_estimates.h. */
#include "record/budget/cost_estimates.h"

/* What goes on whether the scheduler programs are attached or not. */
static double background_ns(const struct lode_budget_costs *costs)
{
	return costs->ns[LODE_COST_SAMPLES] + costs->ns[LODE_COST_MMAPS] + costs->ns[LODE_COST_MMAP_REPORTS] +
	       costs->ns[LODE_COST_PROCESS];
}

static double record_ns(const struct lode_budget_costs *costs)
{
	return costs->ns[LODE_COST_STACKS] + costs->ns[LODE_COST_RECORDS];
}

static void update_background(struct lode_cost_estimates *estimates, const struct lode_budget_averages *parameters,
			      const struct lode_budget_interval *interval)
{
	double background = interval->is_startup ? -1 : background_ns(&interval->costs) / interval->machine_ns;

	if (estimates->background < 0)
		estimates->background = background;
	else
		lode_average_add(&estimates->background, background, parameters->background_steps);
}

/* One slot may hit a pause of the load, so what switches and records take is an average over more. */
static void update_attached(struct lode_cost_estimates *estimates, const struct lode_budget_averages *parameters,
			    const struct lode_budget_interval *interval)
{
	double half_attached = parameters->attached_half_ns, half = parameters->half_ns;
	double kept = half_attached / (half_attached + interval->attached_ns / interval->cpus) * half /
		      (half + interval->time_ns);

	estimates->switch_ns = estimates->switch_ns * kept + interval->costs.ns[LODE_COST_SWITCHES];
	estimates->record_ns = estimates->record_ns * kept + interval->costs.ns[LODE_COST_STACKS] +
			       interval->costs.ns[LODE_COST_RECORDS];
	estimates->attached_ns = estimates->attached_ns * kept + interval->attached_ns;
	if (estimates->attached_ns < parameters->min_attached_ns)
		return;
	estimates->switches_attached = estimates->switch_ns / estimates->attached_ns;
	estimates->records_attached = estimates->record_ns / estimates->attached_ns;
}

/* The fraction of this interval in which programs were to be attached. Learns how much longer slots last than planned. */
static double update_slots(struct lode_cost_estimates *estimates, const struct lode_budget_averages *parameters,
			   const struct lode_budget_interval *interval)
{
	const struct lode_budget_counters *now = interval->now, *before = interval->before;
	double attached = lode_delta_or_zero(now->attached_ns, before->attached_ns),
	       planned = lode_delta_or_zero(now->planned_attached_ns, before->planned_attached_ns);
	double kept = parameters->slot_half_ns / (parameters->slot_half_ns + interval->time_ns);

	if (planned >= interval->time_ns)
		return 1;
	estimates->slot_attached_ns = estimates->slot_attached_ns * kept + attached;
	estimates->slot_planned_ns = estimates->slot_planned_ns * kept + planned;
	return planned / interval->time_ns;
}

double lode_cost_estimates_slot_ratio(const struct lode_cost_estimates *estimates,
				      const struct lode_budget_averages *parameters)
{
	double most = parameters->max_slot_ratio;
	double ratio = (estimates->slot_attached_ns + parameters->slot_prior_ns) /
		       (estimates->slot_planned_ns + parameters->slot_prior_ns);

	return ratio > most ? most : ratio > 1 / most ? ratio : 1 / most;
}

double lode_cost_estimates_attached_fraction(const struct lode_cost_estimates *estimates,
					     const struct lode_budget_averages *parameters, double planned)
{
	double fraction = planned < 1 ? planned * lode_cost_estimates_slot_ratio(estimates, parameters) : 1;

	return fraction < 1 ? fraction : 1;
}

double lode_cost_estimates_background(const struct lode_cost_estimates *estimates,
				      const struct lode_budget_interval *interval)
{
	return interval->is_startup ? interval->costs.ns[LODE_COST_SAMPLES] / interval->machine_ns
				    : estimates->background;
}

double lode_cost_estimates_extra(const struct lode_budget_interval *interval)
{
	return (interval->costs.ns[LODE_COST_LONG_WAITS] + interval->costs.ns[LODE_COST_IDLE]) /
	       interval->machine_ns;
}

void lode_cost_estimates_update(struct lode_cost_estimates *estimates,
				const struct lode_budget_averages *parameters,
				const struct lode_budget_interval *interval)
{
	const struct lode_budget_costs *costs = &interval->costs;
	double machine = interval->machine_ns, records = record_ns(costs) / machine, planned, attached;

	update_background(estimates, parameters, interval);
	update_attached(estimates, parameters, interval);
	planned = update_slots(estimates, parameters, interval);
	attached = lode_cost_estimates_attached_fraction(estimates, parameters, planned);
	estimates->total = estimates->expected =
		(lode_budget_costs_total(costs) - costs->ns[LODE_COST_SAVING]) / machine;
	if (planned < 1) {
		records = estimates->records_attached * attached;
		estimates->expected = background_ns(costs) / machine + lode_cost_estimates_extra(interval) +
				      (estimates->switches_attached + estimates->records_attached) * attached;
	}
	lode_average_add(&estimates->records, records, parameters->record_steps);
}
