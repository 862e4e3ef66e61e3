/*
 * The controller of a budget: see budget.h.
 *
 * What recording takes is a fixed part, which every switch, waking and sample costs whatever is recorded, and
 * a part for each record. A record stands for `scale` nanoseconds of waiting, so there are inversely as many as the scale
 * is long: the next scale is the last one times what records took over what they may take. While all waits are
 * recorded, because the scale is shorter than any of them, that says nothing of where thinning begins; then the time
 * that was waited, over the number of records that the budget has room for, is a scale to begin with. It goes up at once and
 * comes down by halves, so that a burst costs a step, and one step that was quiet does not bring the next burst.
 */
#include "record/budget.h"

#include "record/thinning.h"

#include <stdlib.h>
#include <string.h>

#define STEP_NS 250000000u

/*
 * What cannot be measured from inside, in nanoseconds: calling a program, and the interrupt of a sample; and how much longer
 * than its own time a program keeps its processor from others, whose caches it uses. Measured by runs with and without
 * (the tool `floor` of bench/record). A call of an empty program takes 40 ns where nothing else happens (two processes
 * that take turns), but a server has other things in its caches than the way to the program: with MariaDB under sysbench
 * programs that do nothing took 5 % of two processors, half a microsecond for each call. Servers are what is recorded.
 */
#define RUN_NS	  400
#define SAMPLE_NS 2000
#define CACHES	  1.2

/* Before that a recording still loads tables, and learns. */
#define BEGIN_NS  3000000000u
#define SECOND_NS 1000000000u

/* Of the budget: what is aimed at, so that noise does not go beyond it; and what records get at least. */
#define AIM   0.93
#define LEAST 0.1

/*
 * What a record takes of the recorder's process at most, in nanoseconds; where it takes more, that is because processes come
 * and go, which are followed however little is recorded.
 */
#define RECORD_NS 15000

#define LEAST_SCALE 16u
#define MOST_SCALE  (LODE_THIN_LONG * 100)
/* One in so many nanoseconds of scale: the weight of system calls, which have no length to go by. */
#define CALL_NS	    100000u

void lode_budget_init(struct lode_budget *budget, double share, unsigned cpus, unsigned frequency, uint64_t now)
{
	memset(budget, 0, sizeof(*budget));
	budget->share = share;
	budget->cpus = cpus;
	budget->asked = budget->frequency = frequency;
	budget->run_ns = RUN_NS;
	budget->scale = LODE_THIN_LONG; /* careful at first: the first step knows more */
	budget->call_weight = (uint32_t)(LODE_THIN_LONG / CALL_NS);
	budget->first.t = budget->last.t = budget->second.t = now;
}

int lode_budget_is_due(const struct lode_budget *budget, uint64_t now)
{
	return budget->share > 0 && now - budget->last.t >= STEP_NS;
}

static double more(uint64_t now, uint64_t before)
{
	return now > before ? (double)(now - before) : 0;
}

/* Of the process, what records take. */
static double process_part(const struct lode_budget_usage *now, const struct lode_budget_usage *before)
{
	double process = more(now->process, before->process);
	double most = RECORD_NS * (more(now->recorded, before->recorded) + more(now->samples, before->samples) +
				   more(now->calls, before->calls));

	return process < most ? process : most;
}

/* Nanoseconds since `before` that no choice of waits changes. */
static double fixed_part(const struct lode_budget *budget, const struct lode_budget_usage *now,
			 const struct lode_budget_usage *before)
{
	return CACHES * more(now->other, before->other) + budget->run_ns * more(now->runs, before->runs) +
	       SAMPLE_NS * more(now->samples, before->samples) + more(now->process, before->process) -
	       process_part(now, before);
}

static double variable_part(const struct lode_budget_usage *now, const struct lode_budget_usage *before)
{
	return CACHES * more(now->stacks, before->stacks) + process_part(now, before);
}

/* Of all processors between the two. */
static double share_between(const struct lode_budget *budget, const struct lode_budget_usage *now,
			    const struct lode_budget_usage *before)
{
	double machine = more(now->t, before->t) * budget->cpus;

	if (machine <= 0)
		return 0;
	return (fixed_part(budget, now, before) + variable_part(now, before) + more(now->saving, before->saving)) / machine;
}

/* Keeps account of whole seconds. */
static void count_second(struct lode_budget *budget, const struct lode_budget_usage *usage)
{
	double share;

	if (usage->t - budget->second.t < SECOND_NS)
		return;
	share = share_between(budget, usage, &budget->second);
	if (budget->second.t - budget->first.t >= BEGIN_NS) {
		budget->seconds++;
		budget->seconds_over += share > 1.1 * budget->share;
		budget->worst = share > budget->worst ? share : budget->worst;
	}
	budget->second = *usage;
}

/* The scale at which so many records would be made of what was waited, where nearly all waits were recorded. */
static double first_scale(const struct lode_budget *budget, const struct lode_budget_usage *usage, double ratio)
{
	double waits = more(usage->waits, budget->last.waits), recorded = more(usage->recorded, budget->last.recorded);

	if (recorded < waits * 0.9 || recorded < 1 || ratio <= 1)
		return 0;
	return more(usage->waited, budget->last.waited) / (recorded / ratio);
}

static void choose_scale(struct lode_budget *budget, const struct lode_budget_usage *usage, double ratio)
{
	double scale = (double)budget->scale * (ratio > 0.5 ? ratio : 0.5), start = first_scale(budget, usage, ratio);

	scale = start > scale ? start : scale;
	scale = scale > LEAST_SCALE ? scale : LEAST_SCALE;
	budget->scale = scale < (double)MOST_SCALE ? (uint64_t)scale : MOST_SCALE;
	budget->call_weight = (uint32_t)(budget->scale / CALL_NS);
	if (budget->call_weight < 1)
		budget->call_weight = 1;
	if (budget->call_weight > LODE_THIN_MOST)
		budget->call_weight = LODE_THIN_MOST;
}

/* Samples are the last that is cut, and the first that comes back. */
static void choose_frequency(struct lode_budget *budget)
{
	unsigned least = budget->asked < LODE_BUDGET_LEAST_FREQUENCY ? budget->asked : LODE_BUDGET_LEAST_FREQUENCY;
	int over = budget->fixed > budget->share * AIM || (budget->taken > budget->share && budget->scale >= LODE_THIN_LONG);

	if (over && budget->frequency > least)
		budget->frequency = budget->frequency * 2 / 3 > least ? budget->frequency * 2 / 3 : least;
	else if (budget->taken < budget->share / 2 && budget->frequency < budget->asked)
		budget->frequency = budget->frequency * 3 / 2 < budget->asked ? budget->frequency * 3 / 2 : budget->asked;
}

void lode_budget_step(struct lode_budget *budget, const struct lode_budget_usage *usage)
{
	double machine = more(usage->t, budget->last.t) * budget->cpus;
	double fixed = fixed_part(budget, usage, &budget->last), variable = variable_part(usage, &budget->last);
	double room = budget->share * AIM * machine - fixed;

	if (machine <= 0)
		return;
	if (room < budget->share * LEAST * machine)
		room = budget->share * LEAST * machine;
	budget->fixed = fixed / machine;
	budget->taken = (fixed + variable) / machine;
	count_second(budget, usage);
	choose_scale(budget, usage, variable / room);
	choose_frequency(budget);
	budget->last = *usage;
}

double lode_budget_share(const struct lode_budget *budget)
{
	return share_between(budget, &budget->last, &budget->first);
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
