/* What recording costs: see budget_costs.h. */
#include "record/budget_costs.h"

/*
 * What cannot be measured from inside, by paired runs with and without (bench/calls). All of it depends on how cold caches are, and
 * that can be seen: a run that records nothing and takes WARM_NS found everything in place. Two processes that take turns have 85 ns,
 * Apache 160, MariaDB 210. The interrupt of a sample takes 3 microseconds with the first and 9 with Apache.
 */
#define WARM_NS   85.0
#define USUAL_NS  140.0 /* where it is not known yet */
#define SAMPLE_NS 6000.0

/*
 * Runs that record nothing are called, and push out of caches and TLBs what the load needs: twice what they see of themselves, and of
 * what is beyond WARM_NS, which comes from misses, several outside for each inside. 170 ns in all for turns, 690 for Apache, 1,100 for MariaDB.
 */
#define WARM_FACTOR 2.0
#define COLD_FACTOR 5.0

/* How much longer than its own time a program that takes stacks keeps its processor from others; and for each time that caches are colder. */
#define STACK_FACTOR      1.15
#define STACK_COLD_FACTOR 0.5

/*
 * A program that is over at once: being called takes little where it was called a moment ago, and more the longer others used
 * the caches since, until nothing of it is left in them. An empty one took 70 ns at each of 450,000 wakeups a second (turns), 390 at each of 58,000
 * (Apache), 900 at each of 60,000 (MariaDB), and 1,300 at each of 14,000 mappings (Apache).
 */
#define CALL_NS      70.0
#define MOST_CALL_NS 1400.0
/* For each nanosecond since the last call, and each time that caches are colder. */
#define COOLING 0.017

/* What the load takes longer when the programs of the scheduler are attached and detached once: the kernel changes its code. */
#define ATTACHING_NS 200000.0
/* What the kernel does for each mapping of a process, of code or not, while it reports those of code: it finds out the name of the file first. */
#define REPORT_NS 1300.0

/*
 * What a record takes of the recorder's process at most, in nanoseconds; where it takes more, that is because processes come
 * and go, which are followed however little is recorded.
 */
#define RECORD_NS 15000.0

static double more(uint64_t now, uint64_t before)
{
	return now > before ? (double)(now - before) : 0;
}

#define AVERAGE_NS 4000000000.0
#define FADING_NS  30000000000.0
/* Fewer say nothing: one in 64 is measured. */
#define LEAST_RUNS 2000.0

void lode_budget_caches_update(struct lode_budget_caches *caches, const struct lode_budget_usage *now,
			       const struct lode_budget_usage *before)
{
	double time = more(now->t, before->t), inside;

	caches->runs = caches->runs * AVERAGE_NS / (AVERAGE_NS + time) + more(now->runs, before->runs);
	caches->spent = caches->spent * AVERAGE_NS / (AVERAGE_NS + time) + more(now->other, before->other);
	if (caches->runs < LEAST_RUNS)
		return;
	inside = caches->spent / caches->runs;
	if (inside < caches->inside)
		inside += (caches->inside - inside) * FADING_NS / (FADING_NS + time);
	caches->inside = inside;
}

/* How many times as cold as where everything is in place, beyond once. */
static double coldness(const struct lode_budget_caches *caches)
{
	double inside = caches->inside > 0 ? caches->inside : USUAL_NS;

	return inside > WARM_NS ? inside / WARM_NS - 1 : 0;
}

double lode_budget_costs_of_calls(const struct lode_budget_caches *caches, double runs, double time)
{
	double all = runs * CALL_NS + COOLING * coldness(caches) * time;

	return all < runs * MOST_CALL_NS ? all : runs * MOST_CALL_NS;
}

double lode_budget_costs_of_reports(double mappings)
{
	return mappings * REPORT_NS;
}

/* What so many runs take that record nothing and see `spent` of it. */
static double short_runs(const struct lode_budget_caches *caches, double runs, double spent)
{
	double inside = runs * caches->inside > spent ? runs * caches->inside : spent,
	       beyond = inside - runs * WARM_NS;

	return WARM_FACTOR * inside + (beyond > 0 ? COLD_FACTOR * beyond : 0);
}

struct lode_budget_costs lode_budget_costs(const struct lode_budget_usage *now,
					   const struct lode_budget_usage *before, unsigned cpus,
					   const struct lode_budget_caches *caches)
{
	double stack = STACK_FACTOR + STACK_COLD_FACTOR * coldness(caches);
	double time = more(now->t, before->t) * cpus, process = more(now->process, before->process);
	double waking_runs = more(now->waking_runs, before->waking_runs),
	       map_runs = more(now->map_runs, before->map_runs);
	double records = RECORD_NS * (more(now->recorded, before->recorded) + more(now->calls, before->calls));

	records = process < records ? process : records;
	return (struct lode_budget_costs){
		.samples = stack * more(now->sampling, before->sampling) +
			   SAMPLE_NS * more(now->samples, before->samples),
		.mappings = stack * more(now->mapping, before->mapping) +
			    lode_budget_costs_of_calls(caches, map_runs, time),
		.reports = lode_budget_costs_of_reports(map_runs),
		.switches = short_runs(caches, more(now->runs, before->runs), more(now->other, before->other)) +
			    ATTACHING_NS * more(now->attachings, before->attachings),
		.limits = stack * (more(now->waking, before->waking) + more(now->long_waits, before->long_waits)) +
			  lode_budget_costs_of_calls(caches, waking_runs, time),
		.rests = lode_budget_costs_of_calls(caches, more(now->rests, before->rests), time),
		.stacks = stack * more(now->stacks, before->stacks),
		.records = records,
		.process = process - records,
		.saving = more(now->saving, before->saving),
	};
}

void lode_budget_costs_add(struct lode_budget_costs *sum, const struct lode_budget_costs *more)
{
	sum->samples += more->samples;
	sum->mappings += more->mappings;
	sum->reports += more->reports;
	sum->switches += more->switches;
	sum->limits += more->limits;
	sum->rests += more->rests;
	sum->stacks += more->stacks;
	sum->records += more->records;
	sum->process += more->process;
	sum->saving += more->saving;
}

struct lode_budget_costs lode_budget_costs_between(const struct lode_budget_costs *later,
						   const struct lode_budget_costs *earlier)
{
	return (struct lode_budget_costs){
		.samples = later->samples - earlier->samples,
		.mappings = later->mappings - earlier->mappings,
		.reports = later->reports - earlier->reports,
		.switches = later->switches - earlier->switches,
		.limits = later->limits - earlier->limits,
		.rests = later->rests - earlier->rests,
		.stacks = later->stacks - earlier->stacks,
		.records = later->records - earlier->records,
		.process = later->process - earlier->process,
		.saving = later->saving - earlier->saving,
	};
}

double lode_budget_costs_total(const struct lode_budget_costs *costs)
{
	return costs->samples + costs->mappings + costs->reports + costs->switches + costs->limits + costs->rests +
	       costs->stacks + costs->records + costs->process + costs->saving;
}
