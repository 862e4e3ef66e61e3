/* Budgets of recordings: see recorded_budget.h. */
#include "cmd/recorded_budget.h"

#include "base/units.h"
#include "cmd/progress.h"

#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

/* What recording took so far. */
static struct lode_budget_usage budget_usage(const struct lode_recorded *target, struct lode_recorder *recorder, uint64_t now)
{
	struct lode_record_counts counts;
	struct rusage own;

	lode_recorder_counts(recorder, &counts);
	getrusage(RUSAGE_SELF, &own);
	return (struct lode_budget_usage){
		.t = now,
		.stacks = counts.stacks_ns,
		.other = counts.other_ns,
		.runs = counts.runs,
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
	target->budget.first = target->budget.last = target->budget.second = budget_usage(target, recorder, now);
	lode_recorder_set_scale(recorder, target->budget.scale, target->budget.call_weight);
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

void lode_recorded_tell_budget(const struct lode_recorded *target, const struct lode_terminal *err)
{
	const struct lode_budget *budget = &target->budget;
	char waits[LODE_UNITS_TEXT], recorded[LODE_UNITS_TEXT], over[128] = "";

	if (budget->share <= 0)
		return;
	if (budget->fixed > budget->share)
		snprintf(over, sizeof(over), "; context switches and processes that come and go take %.2g%% by themselves",
			 100 * budget->fixed);
	lode_say(err, LODE_GREEN, "took %.2g%% of the machine, of %.2g%%; recorded %s of %s waits and preemptions%s%s",
		 100 * lode_budget_share(budget), 100 * budget->share,
		 lode_count_text(budget->last.recorded, recorded), lode_count_text(budget->last.waits, waits),
		 budget->frequency < budget->asked ? "; CPUs sampled less often" : "",
		 over);
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
	lode_json_key_u64(json, "seconds", budget->seconds);
	lode_json_key_u64(json, "seconds_over", budget->seconds_over);
	lode_json_key(json, "worst_second");
	lode_json_double(json, budget->worst);
	lode_json_key_u64(json, "waits", budget->last.waits);
	lode_json_key_u64(json, "recorded_waits", budget->last.recorded);
	lode_json_key_u64(json, "scale_ns", budget->scale);
	lode_json_key_u64(json, "frequency", budget->frequency);
	lode_json_key_u64(json, "kernel_ns", budget->last.stacks + budget->last.other);
	lode_json_key_u64(json, "process_ns", budget->last.process - budget->first.process);
	lode_json_key_u64(json, "saving_ns", budget->last.saving);
	lode_json_object_end(json);
}
