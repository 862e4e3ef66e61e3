/* Budgets of recordings: see budget_control.h. */
#include "tasks/live/budget_control.h"

#include "base/clock.h"
#include "record/budget/thinning.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static int has_budget(const struct lode_budget_control *control)
{
	return control->options.share > 0;
}

static int has_slots(const struct lode_budget_control *control)
{
	return !lode_slots_are_all(control->slots.chosen);
}

/* ---- counters ---- */

/* How long programs were attached so far. */
static uint64_t attached_ns(const struct lode_budget_control *control, uint64_t now)
{
	const struct lode_attach_clock *clock = &control->clock;

	return clock->attached_ns + (control->slots.now.on && !clock->is_pending ? now - clock->attached_since : 0);
}

/* How long they were to be, on average over all draws of slots. */
static uint64_t planned_ns(const struct lode_budget_control *control, uint64_t now)
{
	const struct lode_attach_clock *clock = &control->clock;
	double time = clock->is_pending ? 0 : (double)(now - clock->planned_since);

	return clock->planned_ns + (uint64_t)(time * lode_slots_fraction(&control->slots));
}

static uint64_t own_cpu_ns(void)
{
	struct rusage own;

	getrusage(RUSAGE_SELF, &own);
	return (uint64_t)(own.ru_utime.tv_sec + own.ru_stime.tv_sec) * 1000000000u +
	       (uint64_t)(own.ru_utime.tv_usec + own.ru_stime.tv_usec) * 1000u;
}

static struct lode_budget_counters read_counters(const struct lode_budget_control *control,
						 struct lode_recorder *recorder, uint64_t now)
{
	struct lode_record_counts counts;

	lode_recorder_counts(recorder, &counts);
	return (struct lode_budget_counters){
		.time_ns = now,
		.attached_ns = attached_ns(control, now),
		.planned_attached_ns = planned_ns(control, now),
		.attach_delay_ns = control->clock.delay_ns,
		.attaches = control->clock.attaches,
		.runs = counts.runs,
		.stack_runs = counts.stack_runs,
		.stack_run_ns = counts.stacks_ns,
		.plain_run_ns = counts.other_ns,
		.idle_runs = counts.rests,
		.waits = counts.waits,
		.recorded_waits = counts.recorded_waits,
		.wait_ns = counts.waited_ns,
		.recorded_calls = counts.calls,
		.wakeup_runs = counts.waking_runs,
		.wakeup_run_ns = counts.waking_ns,
		.long_wait_ns = counts.long_ns,
		.mmap_runs = counts.map_runs,
		.mmap_run_ns = counts.map_ns,
		.execs = lode_recorder_exec_count(recorder),
		.samples = counts.samples,
		.sample_run_ns = counts.samples_ns,
		.process_ns = own_cpu_ns(),
		.sweeps = lode_recorder_sweep_counts(recorder).sweeps,
		.saving_ns = control->saving_ns,
	};
}

void lode_budget_control_begin(struct lode_budget_control *control, struct lode_recorder *recorder,
			       const struct lode_budget_control_options *options)
{
	uint64_t now = lode_now();
	struct lode_budget_goal goal = {
		.share = options->share,
		.cpus = (unsigned)sysconf(_SC_NPROCESSORS_ONLN),
		.frequency_hz = options->frequency_hz,
		.needs_every_switch = options->needs_every_switch,
		.needs_every_long_wait = options->long_waits_ns != 0,
		.puts_long_waits_first = options->symptom_ns >= LODE_THIN_LONG,
	};
	struct lode_budget_counters counters;

	*control = (struct lode_budget_control){ .options = *options };
	control->clock.attached_since = control->clock.planned_since = now;
	lode_slots_init(&control->slots, now ^ (uint64_t)getpid() << 32);
	counters = read_counters(control, recorder, now);
	lode_budget_init(&control->budget, &goal, &counters, NULL);
	lode_recorder_set_scale(recorder, control->budget.decision.scale_ns, control->budget.decision.call_weight);
	lode_recorder_set_slot(recorder, &control->slots.now); /* attaches nothing before the start */
}

/* ---- slots ---- */

/* How often it is looked whether programs are attached at last. */
#define ATTACH_POLL_MS 10
/* The first steps, which are shorter, wake the recorder; the others come when it is awake anyway. */
#define EARLY_STEP_NS 100000000u

/* When there is something to do next: a slot is over, or one of the first, short steps is due. */
static uint64_t next_change(const struct lode_budget_control *control)
{
	uint64_t next = control->slots.ends_at ? control->slots.ends_at : UINT64_MAX;
	uint64_t due = lode_budget_due(&control->budget);

	return due < next && due - control->budget.last.time_ns < EARLY_STEP_NS ? due : next;
}

int lode_budget_control_sleep(const struct lode_budget_control *control, int milliseconds)
{
	uint64_t next = next_change(control), now = lode_now();

	if (control->clock.is_pending)
		return milliseconds < ATTACH_POLL_MS ? milliseconds : ATTACH_POLL_MS;
	if (next >= now + (uint64_t)milliseconds * 1000000u)
		return milliseconds;
	return next > now ? (int)((next - now + 999999u) / 1000000u) : 0;
}

/* Tells the programs of the slot of now, which begins when they are attached. */
static int enter_slot(struct lode_budget_control *control, struct lode_recorder *recorder, struct lode_error *error)
{
	struct lode_attach_clock *clock = &control->clock;
	uint64_t requested = control->slots.now.began, now;
	int done = lode_recorder_set_slot(recorder, &control->slots.now);

	if (done < 0)
		return lode_fail(error, LODE_SYSTEM,
				 "the BPF programs for context switches cannot be attached again: %s",
				 strerror(errno));
	now = lode_now();
	clock->is_pending = !done;
	clock->attaches += done && control->slots.now.on && !control->budget.decision.stays_attached;
	if (control->slots.now.on) {
		clock->delay_ns += now - requested;
		lode_slots_begin_late(&control->slots, now);
	}
	clock->attached_since = now;
	return 0;
}

/* Counts the time until now in which programs were attached in slots only. */
static void count_slots(struct lode_budget_control *control, uint64_t now)
{
	struct lode_wait_coverage *coverage = &control->coverage;

	if (coverage->slots_since) {
		coverage->slots_ns += now - coverage->slots_since;
		if (!coverage->has_long_waits)
			coverage->no_long_waits_ns += now - coverage->slots_since;
	}
	coverage->slots_since = has_slots(control) ? now : 0;
}

int lode_budget_control_change_slot(struct lode_budget_control *control, struct lode_recorder *recorder,
				    struct lode_error *error)
{
	const struct lode_budget_decision *decision = &control->budget.decision;
	struct lode_attach_clock *clock = &control->clock;
	uint64_t now = lode_now(), attached;
	int code;

	if (!has_budget(control))
		return 0;
	clock->planned_ns = planned_ns(control, now);
	clock->planned_since = now;
	attached = attached_ns(control, now);
	if (!clock->is_pending && !lode_slots_advance(&control->slots, decision->slots, now))
		return 0;
	clock->attached_ns = attached;
	count_slots(control, now);
	lode_recorder_set_long_wait_tracking(recorder, decision->tracks_long_waits);
	lode_recorder_set_stay_attached(recorder, decision->stays_attached);
	code = enter_slot(control, recorder, error);
	/* Programs for long waits are attached while the others are: entering the slot may have done that. */
	control->coverage.has_long_waits =
		lode_recorder_set_long_wait_tracking(recorder, decision->tracks_long_waits);
	return code;
}

/* ---- sweeps ---- */

/* Whether every switch is seen, but there are so many long waits that some of them are left to chance. */
static int thins_long_waits(const struct lode_budget_control *control)
{
	return !has_slots(control) && !control->budget.goal.needs_every_long_wait &&
	       control->budget.decision.scale_ns > LODE_THIN_ALL_LONG;
}

/* Sweeps find long waits where not every one is recorded anyway. */
static void set_sweeps(struct lode_budget_control *control, struct lode_recorder *recorder, uint64_t now)
{
	const struct lode_budget *budget = &control->budget;
	const struct lode_budget_sweep_rule *rule = &budget->parameters->sweeps;
	struct lode_sweeper_pace pace;
	int is_needed;

	/* The plan counts already: sweeps begin before switches are left out. */
	if (!lode_slots_are_all(budget->decision.slots.chosen) || has_slots(control) || thins_long_waits(control))
		control->frequent_until = now + (uint64_t)rule->linger_ns;
	if (!control->frequent_until)
		return;
	is_needed = !control->coverage.has_long_waits && now < control->frequent_until;
	pace = (struct lode_sweeper_pace){
		.after = (uint64_t)(is_needed ? rule->min_interval_ns : rule->idle_interval_ns),
		.share = budget->goal.share * rule->max_of_budget * budget->goal.cpus,
		.beside = lode_cost_model_beside_sweep(&budget->model),
		.is_needed = is_needed,
	};
	control->has_sweeps = lode_recorder_set_sweep_pace(recorder, &pace);
	control->coverage.max_sweep_gap_ns = lode_recorder_sweep_counts(recorder).longest_gap;
}

/* ---- steps ---- */

/* What was not recorded in the step that ends now. */
static void count_step(struct lode_budget_control *control, uint64_t now)
{
	const struct lode_budget *budget = &control->budget;
	struct lode_wait_coverage *coverage = &control->coverage;
	uint64_t step = now - budget->last.time_ns;

	coverage->maps_read_ns += budget->decision.reads_maps ? step : 0;
	if (!thins_long_waits(control))
		return;
	coverage->thinned_ns += step;
	if (!control->has_sweeps && budget->decision.scale_ns > coverage->max_scale_ns)
		coverage->max_scale_ns = budget->decision.scale_ns;
}

/* Slots and what stays attached between them wait for the next change of slots; the rest holds from now on. */
static void carry_out(struct lode_budget_control *control, struct lode_recorder *recorder, uint64_t now)
{
	struct lode_budget_decision *decision = &control->budget.decision;

	if (decision->ends_cycle)
		lode_slots_end_cycle(&control->slots, now);
	lode_recorder_set_scale(recorder, decision->scale_ns, decision->call_weight);
	lode_recorder_set_mmap_tracking(recorder, decision->tracks_mmaps);
	decision->reads_maps = lode_recorder_set_map_reads(recorder, decision->reads_maps);
	if (!decision->tracks_long_waits && control->coverage.has_long_waits) {
		count_slots(control, now);
		control->coverage.has_long_waits = lode_recorder_set_long_wait_tracking(recorder, 0);
	}
	set_sweeps(control, recorder, now);
	if (decision->frequency_hz)
		lode_recorder_set_frequency(recorder, decision->frequency_hz);
}

void lode_budget_control_steer(struct lode_budget_control *control, struct lode_recorder *recorder, uint64_t now)
{
	struct lode_budget_counters counters;

	if (now < lode_budget_due(&control->budget))
		return;
	counters = read_counters(control, recorder, now);
	count_step(control, now);
	lode_budget_step(&control->budget, &counters);
	carry_out(control, recorder, now);
}

void lode_budget_control_end(struct lode_budget_control *control, struct lode_recorder *recorder)
{
	struct lode_budget_counters counters;

	if (!has_budget(control))
		return;
	counters = read_counters(control, recorder, lode_now());
	lode_budget_end(&control->budget, &counters);
	count_slots(control, counters.time_ns);
	control->coverage.max_sweep_gap_ns = lode_recorder_sweep_counts(recorder).longest_gap;
}

/* ---- report ---- */

/* A fraction of the whole recording. `otherwise`: of one without length. */
static double fraction_of_time(const struct lode_budget *budget, uint64_t time, double otherwise)
{
	uint64_t all = budget->last.time_ns - budget->first.time_ns;

	return all ? (double)time / (double)all : otherwise;
}

/* Which waits count as long. */
static uint64_t long_waits_ns(const struct lode_budget_control *control)
{
	return control->options.long_waits_ns ? control->options.long_waits_ns : LODE_THIN_LONG;
}

/* The length from which on every wait was recorded; 0: not known. */
static uint64_t certain_ns(const struct lode_budget_control *control)
{
	const struct lode_wait_coverage *coverage = &control->coverage;
	uint64_t least = control->options.min_wait_ns, limit = long_waits_ns(control);

	least = least > limit ? least : limit;
	if (coverage->no_long_waits_ns || (!coverage->slots_ns && !control->budget.goal.needs_every_long_wait))
		least = 2 *
			coverage->max_sweep_gap_ns; /* a wait that begins and ends between two sweeps is not found */
	return least > coverage->max_scale_ns ? least : coverage->max_scale_ns;
}

/* Of the time in which not every wait was recorded, the part in which long ones were. */
static double certain_share(const struct lode_wait_coverage *coverage)
{
	double some = (double)(coverage->slots_ns + coverage->thinned_ns);

	return some > 0 ? 1 - (double)(coverage->no_long_waits_ns + coverage->thinned_ns) / some : 1;
}

struct lode_budget_report lode_budget_control_report(const struct lode_budget_control *control)
{
	const struct lode_budget *budget = &control->budget;
	const struct lode_budget_counters *first = &budget->first, *last = &budget->last;
	struct lode_budget_parts parts;
	double settled;

	if (!has_budget(control))
		return (struct lode_budget_report){ 0 };
	settled = lode_budget_account_settled(&budget->account, &parts);
	return (struct lode_budget_report){
		.share = budget->goal.share,
		.taken = lode_budget_account_total(&budget->account),
		.fixed = budget->estimates.fixed,
		.attached = fraction_of_time(budget, last->attached_ns - first->attached_ns, 1),
		.worst_second = budget->account.worst_second,
		.settled = settled,
		.samples = parts.samples,
		.process = parts.process,
		.saving = parts.saving,
		.switches = parts.switches,
		.stacks = parts.stacks,
		.limits = parts.long_waits,
		.mappings = parts.mmaps,
		.mappings_read = fraction_of_time(budget, control->coverage.maps_read_ns, 0),
		.duration = last->time_ns - first->time_ns,
		.unseen_ns = control->clock.delay_ns,
		.long_ns = long_waits_ns(control),
		.certain_ns = certain_ns(control),
		.certain_share = certain_share(&control->coverage),
		.seconds = budget->account.seconds,
		.seconds_over = budget->account.seconds_over,
		.waits = last->waits,
		.recorded_waits = last->recorded_waits,
		.scale_ns = budget->decision.scale_ns,
		.frequency = budget->decision.frequency_hz,
		.asked_frequency = budget->goal.frequency_hz,
		.kernel_ns = last->stack_run_ns + last->plain_run_ns + last->sample_run_ns,
		.process_ns = last->process_ns - first->process_ns,
		.saving_ns = last->saving_ns,
		.sees_all_waits = budget->goal.needs_every_switch,
		.sees_long_waits = budget->goal.needs_every_long_wait,
	};
}
