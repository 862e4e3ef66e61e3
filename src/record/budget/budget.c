/*
 * The controller of a budget: see budget.h for what it is for, docs/budget.md for the loop.
 *
 * The cost of recording has three parts: the background, CPU samples and the recorder's own process; what every context
 * switch and wakeup costs while programs are attached, whatever is recorded; and what each record costs. A step takes the
 * background off the set point, and what is left, the room, goes to switches (by slots) and records (by the scale).
 */
#include "record/budget/budget.h"

#include "record/budget/budget_rules.h"
#include "record/budget/thinning.h"

#include <stdlib.h>
#include <string.h>

void lode_budget_init(struct lode_budget *budget, const struct lode_budget_goal *goal,
		      const struct lode_budget_counters *counters, const struct lode_budget_parameters *parameters)
{
	memset(budget, 0, sizeof(*budget));
	parameters = parameters ? parameters : &lode_budget_parameters;
	budget->parameters = parameters;
	budget->goal = *goal;
	budget->first = budget->last = *counters;
	budget->decision = (struct lode_budget_decision){
		.scale_ns = LODE_THIN_LONG, /* careful at first: the first step knows more */
		.call_weight = (uint32_t)((double)LODE_THIN_LONG / parameters->scale.call_weight_ns),
		.frequency_hz = goal->frequency_hz,
		.slots = lode_slots_plan(1),
		.tracks_mmaps = 1,
	};
	budget->estimates.background = -1;
	budget->programs.long_waits.retry_after_ns = budget->programs.mmaps.retry_after_ns =
		(uint64_t)parameters->trials.retry_after_ns;
	lode_cost_model_init(&budget->model, &parameters->cost, goal->cpus);
	lode_budget_account_init(&budget->account, parameters, goal->share, goal->cpus, counters->time_ns);
}

uint64_t lode_budget_due(const struct lode_budget *budget)
{
	uint64_t step = budget->last.time_ns - budget->first.time_ns, first, most;

	if (budget->goal.share <= 0)
		return UINT64_MAX;
	first = (uint64_t)budget->parameters->timing.first_step_ns;
	most = (uint64_t)budget->parameters->timing.step_ns;
	return budget->last.time_ns + (step < first ? first : step < most ? step : most);
}

static int is_startup(const struct lode_budget *budget, const struct lode_budget_counters *counters)
{
	return (double)(counters->time_ns - budget->first.time_ns) < budget->parameters->timing.startup_ns;
}

/* What happened since the last step; adds what it took to the account. */
static struct lode_budget_interval measure(struct lode_budget *budget, const struct lode_budget_counters *counters)
{
	const struct lode_budget_counters *last = &budget->last;
	struct lode_budget_interval interval = { .now = counters, .before = last, .cpus = budget->goal.cpus };

	interval.time_ns = lode_delta_or_zero(counters->time_ns, last->time_ns);
	interval.machine_ns = interval.time_ns * interval.cpus;
	interval.attached_ns = lode_delta_or_zero(counters->attached_ns, last->attached_ns) * interval.cpus;
	interval.is_startup = is_startup(budget, counters);
	lode_cost_model_learn(&budget->model, counters, last);
	interval.costs = lode_cost_model_costs(&budget->model, counters, last);
	lode_budget_estimate_reports(budget, &interval);
	lode_budget_account_add(&budget->account, &interval.costs, counters->time_ns);
	return interval;
}

/*
 * What is to be taken from now on, as a share of the machine: less after bursts that nothing could be done about, such as
 * tables made for new processes, so that the average is kept. What the warm-up took is not made up for.
 */
static double set_point(struct lode_budget *budget, const struct lode_budget_interval *interval)
{
	const struct lode_budget_set_point *rule = &budget->parameters->set_point;
	double share = budget->goal.share, aim = share * rule->aim_of_budget;
	double elapsed = lode_delta_or_zero(interval->now->time_ns, budget->first.time_ns),
	       debt_s = rule->max_debt_time_fraction * elapsed / 1e9,
	       most = share * (debt_s > rule->max_debt_s ? debt_s : rule->max_debt_s),
	       least = share * rule->max_credit_s;

	if (interval->is_startup)
		return aim * rule->startup_ratio;
	if (elapsed >= budget->parameters->timing.warmup_ns)
		budget->debt_s += (budget->estimates.expected - aim) * (interval->time_ns / 1e9);
	budget->debt_s = budget->debt_s < -least ? -least : budget->debt_s < most ? budget->debt_s : most;
	return aim - budget->debt_s / rule->debt_repay_s;
}

/* The share of the machine for switches and records. */
static double room_for_scheduler(struct lode_budget *budget, const struct lode_budget_interval *interval,
				 double background, double extra)
{
	double room = set_point(budget, interval) - background - extra,
	       least = budget->goal.share * budget->parameters->set_point.min_room_of_budget;

	return room < least ? least : room;
}

void lode_budget_step(struct lode_budget *budget, const struct lode_budget_counters *counters)
{
	struct lode_cost_estimates *estimates = &budget->estimates;
	struct lode_budget_interval interval;
	double background, extra, room;

	if (counters->time_ns <= budget->last.time_ns)
		return;
	interval = measure(budget, counters);
	lode_cost_estimates_update(estimates, &budget->parameters->averages, &interval);
	background = lode_cost_estimates_background(estimates, &interval);
	extra = lode_cost_estimates_extra(&interval);
	estimates->fixed =
		background + extra + estimates->switches_attached * lode_budget_attached_fraction(budget);
	room = room_for_scheduler(budget, &interval, background, extra);

	budget->decision.ends_cycle = !interval.is_startup && is_startup(budget, &budget->last);
	if (interval.attached_ns >= budget->parameters->averages.min_attached_ns) {
		lode_budget_choose_slots(budget, room);
		lode_budget_choose_scale(budget, &interval, room);
	}
	lode_budget_choose_long_waits(budget, &interval);
	lode_budget_choose_mmaps(budget, &interval);
	lode_budget_choose_stay_attached(budget, &interval);
	lode_budget_choose_frequency(budget, &interval);

	lode_budget_account_close(&budget->account);
	budget->last = *counters;
}

void lode_budget_end(struct lode_budget *budget, const struct lode_budget_counters *counters)
{
	measure(budget, counters);
	budget->last = *counters;
}

int lode_budget_parse(const char *text, double *share)
{
	double percent;

	if (strcmp(text + strspn(text, "0123456789."), "%"))
		return -1;
	percent = strtod(text, NULL);
	if (!(percent > 0) || percent > 100)
		return -1;
	*share = percent / 100;
	return 0;
}
