/*
 * The controller of a budget: see budget.h.
 *
 * The cost of recording has three parts: a constant one, for CPU samples and the recorder's own process; one
 * for every context switch and waking while the programs are attached, regardless of what is recorded; and one
 * for each record. A record represents `scale` nanoseconds of waiting, so the number of records is inversely
 * proportional to the scale: the next scale is the last one times what records took over what they may take.
 * While all waits are recorded, because the scale is shorter than any of them, that does not show where
 * thinning begins; then the total waiting time, divided by the number of records that the budget allows, is the
 * first scale. It goes up immediately and comes down by halves (in the first second faster), so that a burst
 * costs a step, and one step that was quiet does not bring the next burst.
 *
 * If context switches alone would take more than about half of the budget, the programs are attached only in
 * some time slots (time_slots.h), as many as keep their cost at that; the rest is for records.
 */
#include "record/budget/budget.h"

#include "record/budget/thinning.h"

#include <stdlib.h>
#include <string.h>

#define STEP_NS 250000000u
/* Steps begin with one of this length and grow with the recording: before the first one, the cost of the programs is unknown. */
#define FIRST_STEP_NS 25000000u
/* Less than that does not show what the programs take while they are attached. */
#define LEAST_ON_NS 5000000
/*
 * A slot may be a moment in which the load pauses, but what is chosen by it holds for a second. So what they take is an average: what was seen
 * before counts half after so long with the programs attached, or after so long at all.
 */
#define HALF_ON_NS 64000000.0
#define HALF_NS    1000000000.0
/* The same for what goes on all the time, by steps. */
#define STEADY_STEPS 4
/*
 * Slots end when the recorder gets to it and begin when the kernel is ready, so that programs are attached for longer or shorter than planned: by how much
 * is an average over so long, with so many nanoseconds as planned to begin with, and no more than so many times.
 */
#define HALF_PLANNED_NS 8000000000.0
#define AS_PLANNED_NS   50000000.0
#define MOST_STRETCH    3.0

/*
 * Programs stay attached between slots where attaching takes so much of the time, and staying likely takes no more than so much of the
 * budget, as long as it takes no more than a little above; of all runs, those of them that are switches; and over how many steps both are averages.
 */
#define UNSEEN        0.04
#define RESTS         0.25
#define RESTS_LONGER  0.3
#define SWITCH_RUNS   0.55
#define RESTING_STEPS 8
/* So low after it took too much: it fades in ten seconds, and only then it is tried again. */
#define NOT_SOON -10.0

/*
 * Of the budget, what looking for long waits may take, about a third, and following mappings; how many steps tell what a program does that
 * stays attached, and of how many the average is; after how many nanoseconds it is tried again, at first and at most.
 */
#define CERTAIN        0.35
#define FOLLOWS        0.1
#define TRIAL_STEPS    4
#define TRIAL_AVERAGE  8
#define TRY_AFTER_NS   60000000000u
#define MOST_TRY_AFTER 320000000000u
/* Mappings of a program that starts; and of the other reports, what those of new programs may take at most before mappings are read. */
#define START_MAPPINGS 40.0
#define REPORT_STEPS   2 /* over which it is an average what reports take */
#define READS_AGAIN    0.5
/* Where fewer context switches promise that looking for long waits fits; and after how many steps in which all of these were seen it is not needed. */
#define TRY_SOONER_NS    10000000000u
#define CERTAIN_NO_SLOTS 8

/* Before that a recording still loads tables, and learns. */
#define BEGIN_NS  3000000000u
#define SECOND_NS 1000000000u

/*
 * The first second takes more, so that short recordings have something to show: four times the budget, beside what
 * the process does at the start in any case, which is made up for by nothing.
 */
#define START_NS    1000000000u
#define START_TIMES 4.0

/* Of the budget: what is aimed at, so that noise does not go beyond it; and what records get at least. */
#define AIM   0.97
#define LEAST 0.1
/* Of what is left for the scheduler's programs: what context switches may take where slots are chosen, and when that begins. */
#define SWITCHES 0.55
#define TOO_MANY 0.7
/* The most that they may where records take less, and how much room these keep to grow; over how many steps that is averaged. */
#define MOST_SWITCHES 0.8
#define RECORDS_TIMES 1.5
#define RECORDS_STEPS 8
/* Of the time, what programs are attached at most while they are not at all times. */
#define MOST_PART 0.95
/* Of all slots, of which none can be spared any more. */
#define FEW_SLOTS (1.0 / 32)
/*
 * Of what was taken too much, as much is saved later as the budget is in so many seconds, or in this part of the time so far: a short
 * recording would have nothing left after a burst, a long one has to keep its average. And in how many seconds it is saved.
 */
#define DEBT_SECONDS 4.0
#define DEBT_PART    0.1
#define PAID_SECONDS 3.0
/* The other way round less is kept: just what steps without a slot leave for those with several. */
#define CREDIT_SECONDS 0.5
/* And what CPU samples and the process may take before there are fewer samples. */
#define STEADY 0.4

/* How fast the scale comes down, in the short steps of the beginning and later. */
#define START_DOWN 0.125
#define DOWN       0.5
/* Beyond that the last change was not enough; and the most that is added for it. */
#define TOO_LITTLE  1.05
#define MOST_UP     16.0
#define LEAST_SCALE 16u
#define MOST_SCALE  (LODE_THIN_LONG * 100 * LODE_THIN_TIMES)
/* One in so many nanoseconds of scale: the weight of system calls, which have no length to go by. */
#define CALL_NS 100000u

void lode_budget_init(struct lode_budget *budget, double share, unsigned cpus, unsigned frequency, uint64_t now)
{
	memset(budget, 0, sizeof(*budget));
	budget->share = share;
	budget->cpus = cpus;
	budget->asked = budget->frequency = frequency;
	budget->scale = LODE_THIN_LONG; /* careful at first: the first step knows more */
	budget->call_weight = (uint32_t)(LODE_THIN_LONG / CALL_NS);
	budget->slots = (struct lode_slot_plan){ LODE_SLOTS, LODE_SLOTS };
	budget->steady = -1;
	budget->follows = 1;
	budget->certain_trial.after = budget->follow_trial.after = TRY_AFTER_NS;
	budget->first.t = budget->last.t = budget->second.t = now;
}

uint64_t lode_budget_due(const struct lode_budget *budget)
{
	uint64_t step = budget->last.t - budget->first.t;

	step = step < FIRST_STEP_NS ? FIRST_STEP_NS : step < STEP_NS ? step : STEP_NS;
	return budget->share > 0 ? budget->last.t + step : UINT64_MAX;
}

static int is_starting(const struct lode_budget *budget, const struct lode_budget_usage *usage)
{
	return usage->t - budget->first.t < START_NS;
}

static double more(uint64_t now, uint64_t before)
{
	return now > before ? (double)(now - before) : 0;
}

/* Keeps account of whole seconds. */
static void count_second(struct lode_budget *budget, const struct lode_budget_usage *usage)
{
	struct lode_budget_costs costs;
	double share;

	if (usage->t - budget->second.t < SECOND_NS)
		return;
	costs = lode_budget_costs_between(&budget->costs, &budget->second_costs);
	share = lode_budget_costs_total(&costs) / (more(usage->t, budget->second.t) * budget->cpus);
	if (budget->second.t - budget->first.t >= BEGIN_NS) {
		budget->seconds++;
		budget->seconds_over += share > 1.1 * budget->share;
		budget->worst = share > budget->worst ? share : budget->worst;
	}
	budget->second = *usage;
	budget->second_costs = budget->costs;
}

double lode_budget_settled(const struct lode_budget *budget, struct lode_budget_parts *parts)
{
	const struct lode_budget_usage *now = &budget->last, *before = &budget->settled;
	struct lode_budget_costs costs = lode_budget_costs_between(&budget->costs, &budget->settled_costs);
	double machine = more(now->t, before->t) * budget->cpus;

	memset(parts, 0, sizeof(*parts));
	if (!before->t || machine <= 0)
		return 0;
	parts->samples = costs.samples / machine;
	parts->process = (costs.process + costs.records) / machine;
	parts->saving = costs.saving / machine;
	parts->switches = (costs.switches + costs.rests) / machine;
	parts->stacks = costs.stacks / machine;
	parts->limits = costs.limits / machine;
	parts->mappings = (costs.mappings + costs.reports) / machine;
	return lode_budget_costs_total(&costs) / machine;
}

/* The scale at which so many records would be made of what was waited, where nearly all waits were recorded. */
static double first_scale(const struct lode_budget *budget, const struct lode_budget_usage *usage, double ratio)
{
	double waits = more(usage->waits, budget->last.waits),
	       recorded = more(usage->recorded, budget->last.recorded);

	if (recorded < waits * 0.9 || recorded < 1 || ratio <= 1)
		return 0;
	return more(usage->waited, budget->last.waited) / (recorded / ratio);
}

/*
 * By how much the scale changes for so many times the records that there may be. Where most of what is waited is in waits
 * far longer than the scale, these stay recorded, and it takes more than the ratio: the more the more often that was too little.
 */
static double go_up(struct lode_budget *budget, double ratio)
{
	double times = ratio;

	budget->steps_over = ratio > TOO_LITTLE ? budget->steps_over + 1 : 0;
	for (unsigned i = 1; i < budget->steps_over && times < MOST_UP; i++)
		times *= ratio;
	return times <= MOST_UP || ratio > MOST_UP ? times : MOST_UP;
}

static void choose_scale(struct lode_budget *budget, const struct lode_budget_usage *usage, double ratio)
{
	double least = is_starting(budget, usage) ? START_DOWN : DOWN;
	double scale = (double)budget->scale * (ratio > least ? go_up(budget, ratio) : least),
	       start = first_scale(budget, usage, ratio);

	scale = start > scale ? start : scale;
	scale = scale > LEAST_SCALE ? scale : LEAST_SCALE;
	budget->scale = scale < (double)MOST_SCALE ? (uint64_t)scale : MOST_SCALE;
	budget->call_weight = (uint32_t)(budget->scale / CALL_NS);
	if (budget->call_weight < 1)
		budget->call_weight = 1;
	if (budget->call_weight > LODE_THIN_MOST)
		budget->call_weight = LODE_THIN_MOST;
}

/* How many times as long as planned programs are attached. */
static double stretch(const struct lode_budget *budget)
{
	double times = (budget->on + AS_PLANNED_NS) / (budget->planned + AS_PLANNED_NS);

	return times > MOST_STRETCH ? MOST_STRETCH : times > 1 / MOST_STRETCH ? times : 1 / MOST_STRETCH;
}

/* Of the time, in which programs are attached where this part of it is planned. */
static double real_part(const struct lode_budget *budget, double planned)
{
	double part = planned < 1 ? planned * stretch(budget) : 1;

	return part < 1 ? part : 1;
}

/* The part of the time in which the programs are attached. */
static double attached_part(const struct lode_budget *budget)
{
	return real_part(budget, (double)budget->slots.chosen / budget->slots.all);
}

/* Where the programs must stay attached, or are so rarely already that no slot can be spared, samples are cut; and where they take much themselves. */
static void choose_frequency(struct lode_budget *budget, const struct lode_budget_usage *usage, double steady)
{
	unsigned least = budget->asked < LODE_BUDGET_LEAST_FREQUENCY ? budget->asked : LODE_BUDGET_LEAST_FREQUENCY;
	int stuck = !is_starting(budget, usage) &&
		    (budget->keeps_attached || budget->slots.chosen <= FEW_SLOTS * budget->slots.all);
	int over = steady > budget->share * STEADY ||
		   (stuck && (budget->fixed > budget->share * AIM ||
			      (budget->expected > budget->share && budget->scale >= LODE_THIN_LONG)));

	if (over && budget->frequency > least)
		budget->frequency = budget->frequency * 2 / 3 > least ? budget->frequency * 2 / 3 : least;
	else if (!over && !stuck && steady < budget->share * STEADY / 2 && budget->frequency < budget->asked)
		budget->frequency = budget->frequency * 3 / 2 < budget->asked ? budget->frequency * 3 / 2
									      : budget->asked;
	else if (stuck && budget->expected < budget->share / 2 && budget->frequency < budget->asked)
		budget->frequency = budget->frequency * 3 / 2 < budget->asked ? budget->frequency * 3 / 2
									      : budget->asked;
}

/* What context switches may take of that room: where records need less than their part, a part of the rest, too. */
static double switches_room(const struct lode_budget *budget, double room)
{
	double left = room - RECORDS_TIMES * budget->records;

	return left < SWITCHES * room        ? SWITCHES * room
	       : left < MOST_SWITCHES * room ? left
					     : MOST_SWITCHES * room;
}

/* In how many slots the programs are attached, with so much of the machine for what they take. */
static void choose_slots(struct lode_budget *budget, double room)
{
	double part = budget->attached > 0 ? switches_room(budget, room) / budget->attached : 1;
	int some = budget->slots.chosen < LODE_SLOTS;

	if (budget->keeps_attached || budget->attached <= (some ? SWITCHES : TOO_MANY) * room) {
		budget->slots = lode_slots_plan(1);
		return;
	}
	part /= stretch(budget);
	budget->slots = lode_slots_plan(part < MOST_PART ? part : MOST_PART);
}

static void average(double *sum, double one, unsigned steps)
{
	*sum += (one - *sum) / (steps < TRIAL_AVERAGE ? steps : TRIAL_AVERAGE);
}

/* A program that stays attached took `taken` of the machine. Returns whether that is too much, as far as is known yet. */
static int takes_too_much(struct lode_budget_trial *trial, double taken, double most)
{
	average(&trial->taken, taken, ++trial->steps);
	return trial->steps >= TRIAL_STEPS && trial->taken > most;
}

/* It is tried again later. */
static void try_later(struct lode_budget_trial *trial, uint64_t now)
{
	trial->at = now + trial->after;
	trial->after = trial->after * 2 < MOST_TRY_AFTER ? trial->after * 2 : MOST_TRY_AFTER;
	trial->steps = 0;
}

/* Looking for long waits took `taken` of the machine. Whether that goes on. */
static int stays_certain(struct lode_budget *budget, const struct lode_budget_usage *usage, double taken)
{
	budget->steps_seen = budget->slots.chosen < LODE_SLOTS ? 0 : budget->steps_seen + 1;
	if (budget->steps_seen >= CERTAIN_NO_SLOTS)
		return 0;
	if (usage->waking_runs == budget->last.waking_runs)
		return 1; /* not attached yet */
	if (usage->t - budget->first.t >= BEGIN_NS)
		average(&budget->all_fixed, budget->fixed, ++budget->fixed_steps);
	if (!takes_too_much(&budget->certain_trial, taken, CERTAIN * budget->share) &&
	    (budget->fixed_steps < TRIAL_STEPS || budget->all_fixed <= budget->share))
		return 1;
	budget->tried_attached = budget->attached;
	try_later(&budget->certain_trial, usage->t);
	return 0;
}

/* Whether looking for long waits, which took too much, is likely to fit by now: there are as many wakings as context switches. */
static int may_fit(const struct lode_budget *budget, const struct lode_budget_usage *usage)
{
	const struct lode_budget_trial *trial = &budget->certain_trial;
	double likely;

	if (budget->tried_attached <= 0 || usage->t + trial->after / 2 < trial->at + TRY_SOONER_NS)
		return 0;
	likely = trial->taken * budget->attached / budget->tried_attached;
	return likely <= CERTAIN * budget->share && budget->fixed + likely <= budget->share;
}

/* All long waits are recorded where that takes no more than its part. Where context switches are seen at all times they are anyway. */
static void choose_certain(struct lode_budget *budget, const struct lode_budget_usage *usage, double taken)
{
	if (budget->keeps_certain) {
		budget->certain = 1;
	} else if (budget->certain) {
		budget->certain = stays_certain(budget, usage, taken);
	} else if (budget->slots.chosen < LODE_SLOTS &&
		   (usage->t >= budget->certain_trial.at || may_fit(budget, usage))) {
		budget->certain = 1;
		budget->certain_trial.steps = budget->fixed_steps = budget->steps_seen = 0;
	}
}

/* Following what processes map took `taken` of the machine. */
static void choose_follows(struct lode_budget *budget, const struct lode_budget_usage *usage, double taken)
{
	if (is_starting(budget, usage)) /* the recorder itself maps much */
		return;
	if (!budget->follows) {
		budget->follows = usage->t >= budget->follow_trial.at;
	} else if (takes_too_much(&budget->follow_trial, taken, FOLLOWS * budget->share)) {
		budget->follows = 0;
		try_later(&budget->follow_trial, usage->t);
		/* Every minute: how much is mapped, and what reports of it take, is not known otherwise. */
		budget->follow_trial.after = TRY_AFTER_NS;
	}
}

/*
 * Where reports of mappings take too much, mappings are read instead. Not where most are of new programs: these may have ended before they
 * are read.
 */
static void choose_map_reads(struct lode_budget *budget)
{
	double part = budget->reads_maps ? 1 : READS_AGAIN;

	if (budget->follows && budget->follow_trial.steps < TRIAL_STEPS)
		return; /* not known yet */
	budget->reads_maps = !budget->follows && budget->other_reports > FOLLOWS * budget->share &&
			     budget->start_reports <= part * budget->other_reports;
}

/* Whether programs stay attached between slots. That they are ready at once is not worth everything. */
static void choose_rests(struct lode_budget *budget, const struct lode_budget_usage *usage, double on, double rests)
{
	const struct lode_budget_usage *last = &budget->last;
	double time = more(usage->t, last->t), likely;

	budget->unseen += (more(usage->unseen, last->unseen) / time - budget->unseen) / RESTING_STEPS;
	if (budget->rests) {
		budget->resting += (rests - budget->resting) / RESTING_STEPS;
		budget->rests = budget->resting <= RESTS_LONGER * budget->share;
		budget->unseen = budget->rests ? 0 : NOT_SOON;
		return;
	}
	if (on < LEAST_ON_NS || budget->unseen < UNSEEN || budget->slots.chosen >= LODE_SLOTS)
		return;
	likely = lode_budget_costs_of_calls(&budget->caches, more(usage->runs, last->runs) * SWITCH_RUNS, on) / on;
	budget->rests = likely <= RESTS * budget->share;
	budget->resting = likely;
}

/* What records may take, and do, as shares of the time in which the programs are attached. */
static double records_ratio(const struct lode_budget *budget, double room, double records)
{
	double least = budget->share * LEAST, left;

	room /= attached_part(budget);
	least /= attached_part(budget);
	left = room - budget->attached;
	return records / (left > least ? left : least);
}

/*
 * What is to be taken from now on: less after bursts that nothing could be done about, such as tables made for new processes, so that
 * the average is kept. The first seconds do not count.
 */
static double aim(struct lode_budget *budget, const struct lode_budget_usage *usage)
{
	double seconds = more(usage->t, budget->last.t) / 1e9;
	double owed = DEBT_PART * more(usage->t, budget->first.t) / 1e9;
	double most = budget->share * (owed > DEBT_SECONDS ? owed : DEBT_SECONDS),
	       least = budget->share * CREDIT_SECONDS;

	if (is_starting(budget, usage))
		return budget->share * AIM * START_TIMES;
	if (usage->t - budget->first.t >= BEGIN_NS)
		budget->debt += (budget->expected - budget->share * AIM) * seconds;
	budget->debt = budget->debt < -least ? -least : budget->debt < most ? budget->debt : most;
	return budget->share * AIM - budget->debt / PAID_SECONDS;
}

/* What goes on whether the programs of the scheduler are attached or not. */
static double steady_part(const struct lode_budget_costs *costs)
{
	return costs->samples + costs->mappings + costs->reports + costs->process;
}

/* What context switches and records took while the programs were attached, and what goes on at all times. */
static void look(struct lode_budget *budget, const struct lode_budget_usage *usage,
		 const struct lode_budget_costs *costs, double on)
{
	double time = more(usage->t, budget->last.t);
	double kept = HALF_ON_NS / (HALF_ON_NS + on / budget->cpus) * HALF_NS / (HALF_NS + time);
	double steady = is_starting(budget, usage) ? -1 : steady_part(costs) / (time * budget->cpus);

	budget->steady = budget->steady < 0 ? steady : budget->steady + (steady - budget->steady) / STEADY_STEPS;
	budget->seen_switches = budget->seen_switches * kept + costs->switches;
	budget->seen_records = budget->seen_records * kept + costs->stacks + costs->records;
	budget->seen_on = budget->seen_on * kept + on;
	if (budget->seen_on < LEAST_ON_NS)
		return;
	budget->attached = budget->seen_switches / budget->seen_on;
	budget->recorded = budget->seen_records / budget->seen_on;
}

/* The part of the time in which programs were to be attached since the last step. */
static double planned_part(struct lode_budget *budget, const struct lode_budget_usage *usage)
{
	double time = more(usage->t, budget->last.t), planned = more(usage->planned, budget->last.planned);
	double kept = HALF_PLANNED_NS / (HALF_PLANNED_NS + time);

	if (planned >= time)
		return 1;
	budget->on = budget->on * kept + more(usage->on, budget->last.on);
	budget->planned = budget->planned * kept + planned;
	return planned / time;
}

/* What reports take, and those of new programs: the first is known only while mappings are followed. */
static void look_at_reports(struct lode_budget *budget, double all, double starts)
{
	unsigned steps = budget->follow_trial.steps + 1;

	budget->start_reports += (starts - budget->start_reports) / TRIAL_AVERAGE;
	if (!budget->follows)
		return;
	average(&budget->reports, all, steps < REPORT_STEPS ? steps : REPORT_STEPS);
	average(&budget->other_reports, all - starts, steps);
}

/* What was taken since the last step. What the kernel reports of mappings goes on where these are not followed. */
static struct lode_budget_costs count_costs(struct lode_budget *budget, const struct lode_budget_usage *usage)
{
	double machine = more(usage->t, budget->last.t) * budget->cpus;
	struct lode_budget_costs costs;

	lode_budget_caches_update(&budget->caches, usage, &budget->last);
	costs = lode_budget_costs(usage, &budget->last, budget->cpus, &budget->caches);
	if (machine > 0)
		look_at_reports(budget, costs.reports / machine,
				lode_budget_costs_of_reports(START_MAPPINGS *
							     more(usage->execs, budget->last.execs)) /
					machine);
	costs.reports = budget->reads_maps ? 0 : budget->reports * machine;
	lode_budget_costs_add(&budget->costs, &costs);
	return costs;
}

/* Whether programs stay attached that see more than the scheduler's. */
static void choose_stays(struct lode_budget *budget, const struct lode_budget_usage *usage,
			 const struct lode_budget_costs *costs, double on)
{
	double machine = more(usage->t, budget->last.t) * budget->cpus;

	choose_certain(budget, usage, costs->limits / machine);
	choose_follows(budget, usage, costs->mappings / machine);
	choose_map_reads(budget);
	choose_rests(budget, usage, on, costs->rests / machine);
}

void lode_budget_step(struct lode_budget *budget, const struct lode_budget_usage *usage)
{
	double machine = more(usage->t, budget->last.t) * budget->cpus,
	       on = more(usage->on, budget->last.on) * budget->cpus;
	double limits, records, room, steered, part;
	struct lode_budget_costs costs;

	if (machine <= 0)
		return;
	costs = count_costs(budget, usage);
	limits = (costs.limits + costs.rests) / machine;
	records = costs.stacks + costs.records;
	budget->ends_cycle = !is_starting(budget, usage) && is_starting(budget, &budget->last);
	budget->taken = budget->expected = (lode_budget_costs_total(&costs) - costs.saving) / machine;
	look(budget, usage, &costs, on);
	part = planned_part(budget, usage);
	if (part < 1)
		budget->expected = steady_part(&costs) / machine + limits +
				   (budget->attached + budget->recorded) * real_part(budget, part);
	steered = is_starting(budget, usage) ? costs.samples / machine : budget->steady;
	room = aim(budget, usage) - steered - limits;
	if (room < budget->share * LEAST)
		room = budget->share * LEAST;
	count_second(budget, usage);
	budget->records +=
		((part < 1 ? budget->recorded * real_part(budget, part) : records / machine) - budget->records) /
		RECORDS_STEPS;
	budget->fixed = steered + limits + budget->attached * attached_part(budget);
	if (on >= LEAST_ON_NS) {
		choose_slots(budget, room);
		choose_scale(budget, usage, records_ratio(budget, room, records / on));
	}
	choose_stays(budget, usage, &costs, on);
	choose_frequency(budget, usage, steered);
	if (!budget->settled.t && usage->t - budget->first.t >= BEGIN_NS) {
		budget->settled = *usage;
		budget->settled_costs = budget->costs;
	}
	budget->last = *usage;
}

void lode_budget_end(struct lode_budget *budget, const struct lode_budget_usage *usage)
{
	count_costs(budget, usage);
	budget->last = *usage;
}

double lode_budget_share(const struct lode_budget *budget)
{
	double machine = more(budget->last.t, budget->first.t) * budget->cpus;

	return machine > 0 ? lode_budget_costs_total(&budget->costs) / machine : 0;
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
