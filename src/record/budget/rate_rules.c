/*
 * How much is recorded: in which slots, which of the waits in them, and how often CPUs are sampled.
 *
 * *Scale.* A record represents `scale` nanoseconds of waiting, so the number of records is inversely proportional to the
 * scale: the next scale is the last one times what records took over what they may take. It goes up at once and comes down
 * by halves (in the first second faster), so that a burst costs one step, and a quiet step does not invite the next burst.
 *
 * *Slots.* If context switches alone take too much, the scheduler programs are attached only in some time slots, as many as
 * keep switches at about half of what is left for them and records.
 *
 * *Samples* are what is cut last: when they and the process take much themselves, or when no slot can be spared any more.
 */
#include "record/budget/budget_rules.h"
#include "record/budget/thinning.h"

double lode_budget_attached_fraction(const struct lode_budget *budget)
{
	const struct lode_slot_plan *slots = &budget->decision.slots;

	return lode_cost_estimates_attached_fraction(&budget->estimates, &budget->parameters->averages,
						     (double)slots->chosen / slots->all);
}

/* ---- slots ---- */

/* What context switches may take of `room`: their part, and where records need less than theirs, some of the rest. */
static double switch_room(const struct lode_budget *budget, double room)
{
	const struct lode_budget_slot_rule *rule = &budget->parameters->slots;
	double left = room - rule->record_growth_ratio * budget->estimates.records;

	if (left < rule->switch_room_fraction * room)
		return rule->switch_room_fraction * room;
	return left < rule->max_switch_room_fraction * room ? left : rule->max_switch_room_fraction * room;
}

void lode_budget_choose_slots(struct lode_budget *budget, double room)
{
	const struct lode_budget_slot_rule *rule = &budget->parameters->slots;
	double switches = budget->estimates.switches_attached, fraction;
	double limit = lode_slots_are_all(budget->decision.slots.chosen) ? rule->enter_room_fraction
									 : rule->switch_room_fraction;

	if (budget->goal.needs_every_switch || switches <= limit * room) {
		budget->decision.slots = lode_slots_plan(1);
		return;
	}
	fraction = switch_room(budget, room) / switches /
		   lode_cost_estimates_slot_ratio(&budget->estimates, &budget->parameters->averages);
	budget->decision.slots =
		lode_slots_plan(fraction < rule->max_time_fraction ? fraction : rule->max_time_fraction);
}

/* ---- scale ---- */

/* What records took over what they may take, both as shares of the time with programs attached. */
static double record_overload(const struct lode_budget *budget, const struct lode_budget_interval *interval,
			      double room)
{
	const struct lode_budget_costs *costs = &interval->costs;
	double attached = lode_budget_attached_fraction(budget),
	       least = budget->goal.share * budget->parameters->set_point.min_room_of_budget / attached,
	       left = room / attached - budget->estimates.switches_attached;

	return (costs->ns[LODE_COST_STACKS] + costs->ns[LODE_COST_RECORDS]) / interval->attached_ns /
	       (left > least ? left : least);
}

/*
 * While nearly all waits are recorded, because the scale is shorter than any of them, the number of records does not say where
 * thinning begins. Then it begins at the waiting time of all over the number of records that fit. 0: thinning has begun.
 */
static double first_scale(const struct lode_budget *budget, const struct lode_budget_interval *interval,
			  double overload)
{
	const struct lode_budget_counters *now = interval->now, *before = interval->before;
	double waits = lode_delta_or_zero(now->waits, before->waits),
	       recorded = lode_delta_or_zero(now->recorded_waits, before->recorded_waits);

	if (recorded < waits * budget->parameters->scale.unthinned_fraction || recorded < 1 || overload <= 1)
		return 0;
	return lode_delta_or_zero(now->wait_ns, before->wait_ns) / (recorded / overload);
}

/*
 * The factor of the scale. Waits that are much longer than the scale stay recorded, so where these have most of the waiting
 * time, `overload` itself is not enough: it counts once more for each step in a row that was too little.
 */
static double step_up(struct lode_budget *budget, double overload)
{
	const struct lode_budget_scale_rule *rule = &budget->parameters->scale;
	double factor = overload;

	budget->steps_over = overload > rule->not_enough_ratio ? budget->steps_over + 1 : 0;
	for (unsigned i = 1; i < budget->steps_over && factor < rule->max_step_ratio; i++)
		factor *= overload;
	return factor <= rule->max_step_ratio || overload > rule->max_step_ratio ? factor : rule->max_step_ratio;
}

/* System calls have no length, so their weight follows the scale. */
static uint32_t call_weight(const struct lode_budget *budget)
{
	double weight = (double)budget->decision.scale_ns / budget->parameters->scale.call_weight_ns;

	return weight < 1 ? 1 : weight < LODE_THIN_MAX_WEIGHT ? (uint32_t)weight : LODE_THIN_MAX_WEIGHT;
}

void lode_budget_choose_scale(struct lode_budget *budget, const struct lode_budget_interval *interval, double room)
{
	const struct lode_budget_scale_rule *rule = &budget->parameters->scale;
	double overload = record_overload(budget, interval, room),
	       least = interval->is_startup ? rule->startup_min_step_ratio : rule->min_step_ratio,
	       first = first_scale(budget, interval, overload);
	double scale = (double)budget->decision.scale_ns * (overload > least ? step_up(budget, overload) : least);

	scale = first > scale ? first : scale;
	scale = scale > rule->min_ns ? scale : rule->min_ns;
	budget->decision.scale_ns = (uint64_t)(scale < rule->max_ns ? scale : rule->max_ns);
	budget->decision.call_weight = call_weight(budget);
}

/* ---- samples ---- */

static unsigned min_frequency(const struct lode_budget *budget)
{
	unsigned least = (unsigned)budget->parameters->samples.min_hz;

	return budget->goal.frequency_hz < least ? budget->goal.frequency_hz : least;
}

static unsigned lower_frequency(const struct lode_budget *budget)
{
	unsigned lower = (unsigned)(budget->decision.frequency_hz / budget->parameters->samples.step_ratio);

	return lower > min_frequency(budget) ? lower : min_frequency(budget);
}

static unsigned higher_frequency(const struct lode_budget *budget)
{
	unsigned higher = (unsigned)(budget->decision.frequency_hz * budget->parameters->samples.step_ratio);

	return higher < budget->goal.frequency_hz ? higher : budget->goal.frequency_hz;
}

/* Whether samples are all that is left to cut: programs must stay attached, or are so rarely that no slot can be spared. */
static int is_stuck(const struct lode_budget *budget, const struct lode_budget_interval *interval)
{
	const struct lode_slot_plan *slots = &budget->decision.slots;

	return !interval->is_startup &&
	       (budget->goal.needs_every_switch ||
		slots->chosen <= budget->parameters->slots.few_slots_fraction * slots->all);
}

void lode_budget_choose_frequency(struct lode_budget *budget, const struct lode_budget_interval *interval)
{
	const struct lode_cost_estimates *estimates = &budget->estimates;
	double share = budget->goal.share, background = lode_cost_estimates_background(estimates, interval),
	       most = share * budget->parameters->samples.max_background_of_budget;
	int stuck = is_stuck(budget, interval);
	int is_over = background > most ||
		      (stuck && (estimates->fixed > share * budget->parameters->set_point.aim_of_budget ||
				 (estimates->expected > share && budget->decision.scale_ns >= LODE_THIN_LONG)));
	int has_room = stuck ? estimates->expected < share / 2 : background < most / 2;

	if (is_over && budget->decision.frequency_hz > min_frequency(budget))
		budget->decision.frequency_hz = lower_frequency(budget);
	else if (has_room)
		budget->decision.frequency_hz = higher_frequency(budget);
}
