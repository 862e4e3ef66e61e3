/*
 * Which programs stay attached at all times, beside the scheduler programs in their slots.
 *
 * Each has a part of the budget. It is attached, what it takes is averaged, and if that is more than its part, it is detached
 * and tried again later: what a program takes is known only while it is attached.
 */
#include "record/budget/budget_rules.h"

/* ---- trials ---- */

/* The mean of the first values, of which this is number `steps`; then a moving average over the steps of the rule. */
static void average_first(double *average, double value, unsigned steps, const struct lode_budget_trial_rule *rule)
{
	lode_average_add(average, value, steps < rule->average_steps ? steps : rule->average_steps);
}

/* Adds what a program took in this step, as a share of the machine. Returns whether it is known to take more than `most`. */
static int takes_too_much(struct lode_budget_trial *trial, const struct lode_budget_trial_rule *rule, double share,
			  double most)
{
	average_first(&trial->average, share, ++trial->steps, rule);
	return trial->steps >= rule->min_steps && trial->average > most;
}

/* The program is to be detached, and tried again after a time that doubles. */
static void retry_later(struct lode_budget_trial *trial, const struct lode_budget_trial_rule *rule, uint64_t now)
{
	uint64_t most = (uint64_t)rule->max_retry_after_ns;

	trial->retry_at_ns = now + trial->retry_after_ns;
	trial->retry_after_ns = trial->retry_after_ns * 2 < most ? trial->retry_after_ns * 2 : most;
	trial->steps = 0;
}

/* ---- long waits ---- */

/* What the program for long waits may take, as a share of the machine. */
static double most_for_long_waits(const struct lode_budget *budget)
{
	const struct lode_budget_long_wait_rule *rule = &budget->parameters->long_waits;

	return budget->goal.share *
	       (budget->goal.puts_long_waits_first ? rule->max_first_of_budget : rule->max_of_budget);
}

/* While the program for long waits is attached: returns whether it stays attached. */
static int keep_long_waits(struct lode_budget *budget, const struct lode_budget_interval *interval)
{
	const struct lode_budget_trial_rule *rule = &budget->parameters->trials;
	const struct lode_budget_long_wait_rule *long_waits = &budget->parameters->long_waits;
	struct lode_budget_programs *programs = &budget->programs;
	double share = interval->costs.ns[LODE_COST_LONG_WAITS] / interval->machine_ns;

	programs->every_switch_steps =
		lode_slots_are_all(budget->decision.slots.chosen) ? programs->every_switch_steps + 1 : 0;
	if (programs->every_switch_steps >= long_waits->off_steps)
		return 0; /* long waits are recorded anyway */
	if (interval->now->wakeup_runs == interval->before->wakeup_runs)
		return 1; /* not attached yet */
	/* Not the first step: slots make room for the program only now. */
	if (programs->long_waits.steps &&
	    (double)(interval->now->time_ns - budget->first.time_ns) >= budget->parameters->timing.warmup_ns)
		average_first(&programs->long_wait_fixed, budget->estimates.fixed,
			      ++programs->long_wait_fixed_steps, rule);
	if (!takes_too_much(&programs->long_waits, rule, share, most_for_long_waits(budget)) &&
	    (programs->long_wait_fixed_steps < rule->min_steps || programs->long_wait_fixed <= budget->goal.share))
		return 1;
	programs->rejected_switches = budget->estimates.switches_attached;
	retry_later(&programs->long_waits, rule, interval->now->time_ns);
	return 0;
}

/*
 * Whether the program likely fits by now, though it did not when it was tried: what it takes is in proportion to wakeups, and so
 * to switches, and there may be fewer of these.
 */
static int may_fit(const struct lode_budget *budget, uint64_t now)
{
	const struct lode_budget_long_wait_rule *rule = &budget->parameters->long_waits;
	const struct lode_budget_programs *programs = &budget->programs;
	const struct lode_budget_trial *trial = &programs->long_waits;
	double likely;

	/* Until its maximum is reached, retry_after_ns has doubled since the failure: that was half of it before retry_at_ns. */
	if (programs->rejected_switches <= 0 ||
	    now + trial->retry_after_ns / 2 < trial->retry_at_ns + (uint64_t)rule->early_retry_ns)
		return 0;
	likely = trial->average * budget->estimates.switches_attached / programs->rejected_switches;
	return likely <= most_for_long_waits(budget) && budget->estimates.fixed + likely <= budget->goal.share;
}

void lode_budget_choose_long_waits(struct lode_budget *budget, const struct lode_budget_interval *interval)
{
	struct lode_budget_programs *programs = &budget->programs;
	uint64_t now = interval->now->time_ns;

	if (budget->goal.needs_every_long_wait) {
		budget->decision.tracks_long_waits = 1;
	} else if (budget->decision.tracks_long_waits) {
		budget->decision.tracks_long_waits = keep_long_waits(budget, interval);
	} else if (!lode_slots_are_all(budget->decision.slots.chosen) &&
		   (now >= programs->long_waits.retry_at_ns || may_fit(budget, now))) {
		budget->decision.tracks_long_waits = 1;
		programs->long_waits.steps = programs->long_wait_fixed_steps = programs->every_switch_steps = 0;
	}
}

/* ---- mappings ---- */

/*
 * Reports are counted by the program that tracks mappings, so only while it is attached; they go on while it is not, and are
 * assumed to cost what they did. Those of new programs are estimated from how many start.
 */
void lode_budget_estimate_reports(struct lode_budget *budget, struct lode_budget_interval *interval)
{
	const struct lode_budget_parameters *parameters = budget->parameters;
	struct lode_budget_programs *programs = &budget->programs;
	double *cost = &interval->costs.ns[LODE_COST_MMAP_REPORTS], machine = interval->machine_ns;
	double execs = lode_delta_or_zero(interval->now->execs, interval->before->execs);
	unsigned steps = programs->mmaps.steps + 1;

	if (machine > 0) {
		double all = *cost / machine,
		       of_execs = lode_cost_model_mmap_reports(&budget->model, parameters->cost.exec_mmaps * execs) /
				  machine;

		lode_average_add(&programs->exec_reports, of_execs, parameters->trials.average_steps);
		if (budget->decision.tracks_mmaps) {
			lode_average_add(&programs->reports, all,
					 steps < parameters->mmaps.report_steps ? steps
										: parameters->mmaps.report_steps);
			average_first(&programs->other_reports, all - of_execs, steps, &parameters->trials);
		}
	}
	*cost = budget->decision.reads_maps ? 0 : programs->reports * machine;
}

static void choose_tracking(struct lode_budget *budget, const struct lode_budget_interval *interval)
{
	const struct lode_budget_parameters *parameters = budget->parameters;
	struct lode_budget_trial *trial = &budget->programs.mmaps;
	double share = interval->costs.ns[LODE_COST_MMAPS] / interval->machine_ns;

	if (interval->is_startup) /* the recorder itself maps much */
		return;
	if (!budget->decision.tracks_mmaps) {
		budget->decision.tracks_mmaps = interval->now->time_ns >= trial->retry_at_ns;
	} else if (takes_too_much(trial, &parameters->trials, share,
				  parameters->mmaps.max_of_budget * budget->goal.share)) {
		budget->decision.tracks_mmaps = 0;
		retry_later(trial, &parameters->trials, interval->now->time_ns);
		/* Always after the same time: only this program counts mappings, which the cost of reports follows from. */
		trial->retry_after_ns = (uint64_t)parameters->trials.retry_after_ns;
	}
}

/* Where reports take too much, mappings are read instead; not where most are of programs that may end before they are read. */
static void choose_reading(struct lode_budget *budget)
{
	const struct lode_budget_mmap_rule *rule = &budget->parameters->mmaps;
	const struct lode_budget_programs *programs = &budget->programs;
	struct lode_budget_decision *decision = &budget->decision;
	double most = decision->reads_maps ? rule->leave_exec_fraction : rule->enter_exec_fraction;

	if (decision->tracks_mmaps && programs->mmaps.steps < budget->parameters->trials.min_steps)
		return; /* not known yet */
	decision->reads_maps = !decision->tracks_mmaps &&
			       programs->other_reports > rule->max_of_budget * budget->goal.share &&
			       programs->exec_reports <= most * programs->other_reports;
}

void lode_budget_choose_mmaps(struct lode_budget *budget, const struct lode_budget_interval *interval)
{
	choose_tracking(budget, interval);
	choose_reading(budget);
}

/* ---- scheduler programs between slots ---- */

/* While programs stay attached between slots: decides whether they go on to. */
static void keep_attached(struct lode_budget *budget, const struct lode_budget_interval *interval)
{
	const struct lode_budget_idle_rule *rule = &budget->parameters->idle;
	struct lode_budget_programs *programs = &budget->programs;

	lode_average_add(&programs->idle, interval->costs.ns[LODE_COST_IDLE] / interval->machine_ns,
			 rule->average_steps);
	budget->decision.stays_attached = programs->idle <= rule->leave_of_budget * budget->goal.share;
	programs->attach_delay = budget->decision.stays_attached ? 0 : rule->backoff_fraction;
}

void lode_budget_choose_stay_attached(struct lode_budget *budget, const struct lode_budget_interval *interval)
{
	const struct lode_budget_idle_rule *rule = &budget->parameters->idle;
	const struct lode_budget_counters *now = interval->now, *before = interval->before;
	struct lode_budget_programs *programs = &budget->programs;
	double delay = lode_delta_or_zero(now->attach_delay_ns, before->attach_delay_ns) / interval->time_ns, calls;

	lode_average_add(&programs->attach_delay, delay, rule->average_steps);
	if (budget->decision.stays_attached) {
		keep_attached(budget, interval);
		return;
	}
	if (interval->attached_ns < budget->parameters->averages.min_attached_ns ||
	    programs->attach_delay < rule->max_delay_fraction || lode_slots_are_all(budget->decision.slots.chosen))
		return;
	calls = lode_delta_or_zero(now->runs, before->runs) * rule->switch_run_fraction;
	programs->idle =
		lode_cost_model_empty_calls(&budget->model, calls, interval->attached_ns) / interval->attached_ns;
	budget->decision.stays_attached = programs->idle <= rule->enter_of_budget * budget->goal.share;
}
