/* Budgets of recordings: see budget_control.h. */
#include "tasks/live/budget_control.h"

#include "base/clock.h"
#include "record/budget/thinning.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* How long programs were to be attached so far, on average over what is drawn. */
static uint64_t planned(const struct lode_record_target *target, uint64_t now)
{
	double time = target->attaching ? 0 : (double)(now - target->planned_since);

	return target->planned_ns + (uint64_t)(time * lode_slots_part(&target->slots));
}

/* What recording took so far. */
static struct lode_budget_usage budget_usage(const struct lode_record_target *target,
					     struct lode_recorder *recorder, uint64_t now)
{
	uint64_t on = target->on_ns + (target->slots.now.on && !target->attaching ? now - target->on_since : 0);
	struct lode_record_counts counts;
	struct rusage own;

	lode_recorder_counts(recorder, &counts);
	getrusage(RUSAGE_SELF, &own);
	return (struct lode_budget_usage){
		.t = now,
		.on = on,
		.planned = planned(target, now),
		.attachings = target->attachings,
		.stacks = counts.stacks_ns,
		.stack_runs = counts.stack_runs,
		.other = counts.other_ns,
		.runs = counts.runs,
		.waking_runs = counts.waking_runs,
		.waking = counts.waking_ns,
		.long_waits = counts.long_ns,
		.map_runs = counts.map_runs,
		.mapping = counts.map_ns,
		.execs = lode_recorder_exec_count(recorder),
		.rests = counts.rests,
		.unseen = target->unseen_ns,
		.sampling = counts.samples_ns,
		.samples = counts.samples,
		.calls = counts.calls,
		.process = (uint64_t)(own.ru_utime.tv_sec + own.ru_stime.tv_sec) * 1000000000u +
			   (uint64_t)(own.ru_utime.tv_usec + own.ru_stime.tv_usec) * 1000u,
		.sweeps = lode_recorder_sweep_counts(recorder).sweeps,
		.saving = target->saving_ns,
		.waits = counts.waits,
		.recorded = counts.recorded_waits,
		.waited = counts.waited_ns,
	};
}

void lode_budget_control_begin(struct lode_record_target *target, struct lode_recorder *recorder,
			       unsigned frequency)
{
	uint64_t now = lode_now();

	lode_budget_init(&target->budget, target->budget.share, (unsigned)sysconf(_SC_NPROCESSORS_ONLN), frequency,
			 now);
	target->budget.keeps_attached = target->sees_all_waits;
	target->budget.keeps_certain = target->settings->long_waits != 0;
	lode_slots_init(&target->slots, now ^ (uint64_t)getpid() << 32);
	target->on_since = target->planned_since = now;
	target->budget.first = target->budget.last = target->budget.second = budget_usage(target, recorder, now);
	lode_recorder_set_scale(recorder, target->budget.scale, target->budget.call_weight);
	lode_recorder_set_slot(recorder, &target->slots.now); /* attaches nothing before the start */
}

/* How often it is looked whether programs are attached at last. */
#define ATTACHING_MS 10
/* Steps of the budget that are not longer wake the recorder; the others come when it is awake anyway. */
#define EARLY_STEP_NS 100000000u

/* When there is something to do next: a slot is over, or one of the first, short steps. */
static uint64_t next_change(const struct lode_record_target *target)
{
	uint64_t next = target->slots.ends ? target->slots.ends : UINT64_MAX;
	uint64_t due = lode_budget_due(&target->budget);

	return due < next && due - target->budget.last.t < EARLY_STEP_NS ? due : next;
}

int lode_budget_control_sleep(const struct lode_record_target *target, int milliseconds)
{
	uint64_t next = next_change(target), now = lode_now();

	if (target->attaching)
		return milliseconds < ATTACHING_MS ? milliseconds : ATTACHING_MS;
	if (next >= now + (uint64_t)milliseconds * 1000000u)
		return milliseconds;
	return next > now ? (int)((next - now + 999999u) / 1000000u) : 0;
}

/* Tells the programs of the slot of now, which begins when they are attached. */
static int enter_slot(struct lode_record_target *target, struct lode_recorder *recorder, struct lode_error *error)
{
	uint64_t asked = target->slots.now.began, now;
	int done = lode_recorder_set_slot(recorder, &target->slots.now);

	if (done < 0)
		return lode_fail(error, LODE_SYSTEM,
				 "the BPF programs for context switches cannot be attached again: %s",
				 strerror(errno));
	now = lode_now();
	target->attaching = !done;
	target->attachings += done && target->slots.now.on && !target->budget.rests;
	if (target->slots.now.on) {
		target->unseen_ns += now - asked;
		lode_slots_delay(&target->slots, now);
	}
	target->on_since = now;
	return 0;
}

/* Keeps how long only some slots were chosen, and for how much of that not every long wait was recorded. */
static void count_certain(struct lode_record_target *target, uint64_t now)
{
	if (target->some_since) {
		target->some_ns += now - target->some_since;
		if (!target->is_certain)
			target->uncertain_ns += now - target->some_since;
	}
	target->some_since = target->slots.chosen < LODE_SLOTS ? now : 0;
}

int lode_budget_control_change_slot(struct lode_record_target *target, struct lode_recorder *recorder,
				    struct lode_error *error)
{
	uint64_t now = lode_now();
	int was_on = target->slots.now.on && !target->attaching, code;

	if (target->budget.share <= 0)
		return 0;
	target->planned_ns = planned(target, now);
	target->planned_since = now;
	if (!target->attaching && !lode_slots_advance(&target->slots, target->budget.slots, now))
		return 0;
	if (was_on)
		target->on_ns += now - target->on_since;
	count_certain(target, now);
	lode_recorder_set_long_wait_tracking(recorder, target->budget.certain);
	lode_recorder_set_stay_attached(recorder, target->budget.rests);
	code = enter_slot(target, recorder, error);
	target->is_certain = lode_recorder_set_long_wait_tracking(recorder, target->budget.certain);
	return code;
}

/* Nanoseconds between two visits of all threads, at least, and the part of the budget that they may take. */
#define SWEEP_NS    5000000u
#define SWEEP_SHARE 0.2
/*
 * While long waits are recorded anyway: for those that are not over when the recording ends. And for how long threads are visited often after
 * all context switches are seen again: by then, waits whose begin was not seen are over, or known to be long.
 */
#define SELDOM_NS 1000000000u
#define AFTER_NS  1000000000u

/* Whether all context switches are seen, but there are so many long waits that some of them are left to chance. */
static int thins_long_waits(const struct lode_record_target *target)
{
	return target->slots.chosen >= LODE_SLOTS && !target->budget.keeps_certain &&
	       target->budget.scale > LODE_THIN_ALL_LONG;
}

/* Where not every long wait is recorded anyway, they are looked for. */
static void set_sweeps(struct lode_record_target *target, struct lode_recorder *recorder, uint64_t now)
{
	const struct lode_budget *budget = &target->budget;
	int is_needed;

	/* What is planned counts already: visits begin before context switches are left out. */
	if (budget->slots.chosen < LODE_SLOTS || target->slots.chosen < LODE_SLOTS || thins_long_waits(target))
		target->sweeps_until = now + AFTER_NS;
	if (!target->sweeps_until)
		return;
	is_needed = !target->is_certain && now < target->sweeps_until;
	target->sweeps =
		lode_recorder_set_sweep_pace(recorder,
					     &(struct lode_sweeper_pace){
						     .after = is_needed ? SWEEP_NS : SELDOM_NS,
						     .share = budget->share * SWEEP_SHARE * budget->cpus,
						     .beside = lode_budget_costs_beside_sweep(&budget->caches),
						     .is_needed = is_needed,
					     });
	target->longest_gap = lode_recorder_sweep_counts(recorder).longest_gap;
}

/* The step that ends now. */
static void count_thinned(struct lode_record_target *target, uint64_t now)
{
	const struct lode_budget *budget = &target->budget;

	if (!thins_long_waits(target))
		return;
	target->thinned_ns += now - budget->last.t;
	if (!target->sweeps && budget->scale > target->longest_scale)
		target->longest_scale = budget->scale;
}

void lode_budget_control_steer(struct lode_record_target *target, struct lode_recorder *recorder, uint64_t now)
{
	struct lode_budget *budget = &target->budget;
	struct lode_budget_usage usage;

	if (now < lode_budget_due(budget))
		return;
	usage = budget_usage(target, recorder, now);
	count_thinned(target, now);
	target->maps_read_ns += budget->reads_maps ? now - budget->last.t : 0;
	lode_budget_step(budget, &usage);
	if (budget->ends_cycle)
		lode_slots_end_cycle(&target->slots, now);
	lode_recorder_set_scale(recorder, budget->scale, budget->call_weight);
	lode_recorder_set_mmap_tracking(recorder, budget->follows);
	budget->reads_maps = lode_recorder_set_map_reads(recorder, budget->reads_maps);
	if (!budget->certain && target->is_certain) {
		count_certain(target, now);
		target->is_certain = lode_recorder_set_long_wait_tracking(recorder, 0);
	}
	set_sweeps(target, recorder, now);
	if (budget->frequency)
		lode_recorder_set_frequency(recorder, budget->frequency);
}

void lode_budget_control_end(struct lode_record_target *target, struct lode_recorder *recorder)
{
	struct lode_budget_usage usage;

	if (target->budget.share <= 0)
		return;
	usage = budget_usage(target, recorder, lode_now());
	lode_budget_end(&target->budget, &usage);
	count_certain(target, target->budget.last.t);
	target->longest_gap = lode_recorder_sweep_counts(recorder).longest_gap;
}

/* Of the whole recording. `otherwise`: where there is none. */
static double share_of_time(const struct lode_budget *budget, uint64_t time, double otherwise)
{
	uint64_t all = budget->last.t - budget->first.t;

	return all ? (double)time / (double)all : otherwise;
}

/* What counts as a long wait. */
static uint64_t long_waits(const struct lode_record_target *target)
{
	return target->settings->long_waits ? target->settings->long_waits : LODE_THIN_LONG;
}

/* From which length on all waits were recorded; 0: not known. */
static uint64_t certain_length(const struct lode_record_target *target)
{
	uint64_t least = target->settings->min_wait, limit = long_waits(target);

	least = least > limit ? least : limit;
	if (target->uncertain_ns || (!target->some_ns && !target->budget.keeps_certain))
		least = 2 * target->longest_gap;
	return least > target->longest_scale ? least : target->longest_scale;
}

/* Of the time in which some waits were left out, the part in which long ones were not. */
static double certain_share(const struct lode_record_target *target)
{
	double some = (double)(target->some_ns + target->thinned_ns);

	return some > 0 ? 1 - (double)(target->uncertain_ns + target->thinned_ns) / some : 1;
}

struct lode_budget_report lode_budget_control_report(const struct lode_record_target *target)
{
	const struct lode_budget *budget = &target->budget;
	struct lode_budget_parts parts;
	double settled = lode_budget_settled(budget, &parts);

	if (budget->share <= 0)
		return (struct lode_budget_report){ 0 };
	return (struct lode_budget_report){
		.share = budget->share,
		.taken = lode_budget_share(budget),
		.fixed = budget->fixed,
		.attached = share_of_time(budget, budget->last.on - budget->first.on, 1),
		.worst_second = budget->worst,
		.settled = settled,
		.samples = parts.samples,
		.process = parts.process,
		.saving = parts.saving,
		.switches = parts.switches,
		.stacks = parts.stacks,
		.limits = parts.limits,
		.mappings = parts.mappings,
		.mappings_read = share_of_time(budget, target->maps_read_ns, 0),
		.duration = budget->last.t - budget->first.t,
		.unseen_ns = target->unseen_ns,
		.long_ns = long_waits(target),
		.certain_ns = certain_length(target),
		.certain_share = certain_share(target),
		.seconds = budget->seconds,
		.seconds_over = budget->seconds_over,
		.waits = budget->last.waits,
		.recorded_waits = budget->last.recorded,
		.scale_ns = budget->scale,
		.frequency = budget->frequency,
		.asked_frequency = budget->asked,
		.kernel_ns = budget->last.stacks + budget->last.other + budget->last.sampling,
		.process_ns = budget->last.process - budget->first.process,
		.saving_ns = budget->last.saving,
		.sees_all_waits = budget->keeps_attached,
		.sees_long_waits = budget->keeps_certain,
	};
}
