/* Budgets of recordings: see recorded_budget.h. */
#include "cmd/recorded_budget.h"

#include "base/units.h"
#include "cmd/progress.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* What recording took so far. */
static struct lode_budget_usage budget_usage(const struct lode_recorded *target, struct lode_recorder *recorder, uint64_t now)
{
	uint64_t on = target->on_ns + (target->slots.now.on && !target->attaching ? now - target->on_since : 0);
	struct lode_record_counts counts;
	struct rusage own;

	lode_recorder_counts(recorder, &counts);
	getrusage(RUSAGE_SELF, &own);
	return (struct lode_budget_usage){
		.t = now,
		.on = on,
		.stacks = counts.stacks_ns,
		.other = counts.other_ns,
		.runs = counts.runs,
		.sampling = counts.samples_ns,
		.samples = counts.samples,
		.calls = counts.calls,
		.process = (uint64_t)(own.ru_utime.tv_sec + own.ru_stime.tv_sec) * 1000000000u +
			   (uint64_t)(own.ru_utime.tv_usec + own.ru_stime.tv_usec) * 1000u,
		.saving = target->saving_ns,
		.waits = counts.waits,
		.recorded = counts.recorded_waits,
		.waited = counts.waited_ns,
	};
}

void lode_recorded_begin_budget(struct lode_recorded *target, struct lode_recorder *recorder)
{
	struct lode_recorder_options options = lode_recorded_recorder(target);
	uint64_t now = lode_now();

	lode_budget_init(&target->budget, target->budget.share, (unsigned)sysconf(_SC_NPROCESSORS_ONLN),
			 options.frequency, now);
	target->budget.keeps_attached = target->sees_all_waits;
	lode_slots_init(&target->slots, now ^ (uint64_t)getpid() << 32);
	target->on_since = now;
	target->budget.first = target->budget.last = target->budget.second = budget_usage(target, recorder, now);
	lode_recorder_set_scale(recorder, target->budget.scale, target->budget.call_weight);
	lode_recorder_set_slot(recorder, &target->slots.now); /* attaches nothing before the start */
}

/* How often it is looked whether programs are attached at last. */
#define ATTACHING_MS 10

int lode_recorded_sleep(const struct lode_recorded *target, int milliseconds)
{
	uint64_t ends = target->slots.ends, now = lode_now();

	if (target->attaching)
		return milliseconds < ATTACHING_MS ? milliseconds : ATTACHING_MS;
	if (!ends || ends >= now + (uint64_t)milliseconds * 1000000u)
		return milliseconds;
	return ends > now ? (int)((ends - now + 999999u) / 1000000u) : 0;
}

/* Tells the programs of the slot of now, which begins when they are attached. */
static int enter_slot(struct lode_recorded *target, struct lode_recorder *recorder, struct lode_error *error)
{
	uint64_t asked = target->slots.now.began, now;
	int done = lode_recorder_set_slot(recorder, &target->slots.now);

	if (done < 0)
		return lode_fail(error, LODE_SYSTEM, "the programs that see context switches cannot be attached again: %s",
				 strerror(errno));
	now = lode_now();
	target->attaching = !done;
	if (target->slots.now.on) {
		target->unseen_ns += now - asked;
		lode_slots_delay(&target->slots, now);
	}
	target->on_since = now;
	return 0;
}

int lode_recorded_change_slot(struct lode_recorded *target, struct lode_recorder *recorder, struct lode_error *error)
{
	uint64_t now = lode_now();
	int was_on = target->slots.now.on && !target->attaching;

	if (target->budget.share <= 0)
		return 0;
	if (!target->attaching && !lode_slots_advance(&target->slots, target->budget.slots, now))
		return 0;
	if (was_on)
		target->on_ns += now - target->on_since;
	return enter_slot(target, recorder, error);
}

void lode_recorded_steer(struct lode_recorded *target, struct lode_recorder *recorder, uint64_t now)
{
	struct lode_budget *budget = &target->budget;
	struct lode_budget_usage usage;

	if (!lode_budget_is_due(budget, now))
		return;
	usage = budget_usage(target, recorder, now);
	lode_budget_step(budget, &usage);
	lode_recorder_set_scale(recorder, budget->scale, budget->call_weight);
	if (budget->frequency)
		lode_recorder_set_frequency(recorder, budget->frequency);
}

void lode_recorded_end_budget(struct lode_recorded *target, struct lode_recorder *recorder)
{
	if (target->budget.share > 0)
		target->budget.last = budget_usage(target, recorder, lode_now());
}

/* Of the recording, in which programs were attached. */
static double on_share(const struct lode_budget *budget)
{
	uint64_t all = budget->last.t - budget->first.t;

	return all ? (double)(budget->last.on - budget->first.on) / (double)all : 1;
}

void lode_recorded_tell_budget(const struct lode_recorded *target, const struct lode_terminal *err)
{
	const struct lode_budget *budget = &target->budget;
	char waits[LODE_UNITS_TEXT], recorded[LODE_UNITS_TEXT], unseen[LODE_UNITS_TEXT], over[192] = "", part[96] = "", late[128] = "";
	double on = on_share(budget);

	if (budget->share <= 0)
		return;
	if (budget->fixed > budget->share)
		snprintf(over, sizeof(over), "; context switches and processes that come and go take %.2g%% by themselves%s",
			 100 * budget->fixed, budget->keeps_attached ? ", because limits on waits need every one of them" : "");
	if (on < 0.995)
		snprintf(part, sizeof(part), " in the %.2g%% of the time in which context switches were recorded", 100 * on);
	if (target->unseen_ns > (budget->last.t - budget->first.t) / 50)
		snprintf(late, sizeof(late), "; for %s the kernel did not let context switches be seen", lode_duration_text(target->unseen_ns, unseen));
	lode_say(err, LODE_GREEN, "took about %.2g%% of the machine, of %.2g%%; recorded %s of %s waits and preemptions%s%s%s%s",
		 100 * lode_budget_share(budget), 100 * budget->share,
		 lode_count_text(budget->last.recorded, recorded), lode_count_text(budget->last.waits, waits), part,
		 budget->frequency < budget->asked ? "; CPUs sampled less often" : "",
		 late, over);
}

void lode_recorded_show_budget(const struct lode_recorded *target, struct lode_json *json)
{
	const struct lode_budget *budget = &target->budget;

	if (budget->share <= 0)
		return;
	lode_json_key(json, "budget");
	lode_json_object(json);
	lode_json_key(json, "share");
	lode_json_double(json, budget->share);
	lode_json_key(json, "taken");
	lode_json_double(json, lode_budget_share(budget));
	lode_json_key(json, "fixed");
	lode_json_double(json, budget->fixed);
	lode_json_key(json, "attached");
	lode_json_double(json, on_share(budget));
	lode_json_key_u64(json, "unseen_ns", target->unseen_ns);
	lode_json_key_u64(json, "seconds", budget->seconds);
	lode_json_key_u64(json, "seconds_over", budget->seconds_over);
	lode_json_key(json, "worst_second");
	lode_json_double(json, budget->worst);
	lode_json_key_u64(json, "waits", budget->last.waits);
	lode_json_key_u64(json, "recorded_waits", budget->last.recorded);
	lode_json_key_u64(json, "scale_ns", budget->scale);
	lode_json_key_u64(json, "frequency", budget->frequency);
	lode_json_key_u64(json, "kernel_ns", budget->last.stacks + budget->last.other + budget->last.sampling);
	lode_json_key_u64(json, "process_ns", budget->last.process - budget->first.process);
	lode_json_key_u64(json, "saving_ns", budget->last.saving);
	lode_json_object_end(json);
}
