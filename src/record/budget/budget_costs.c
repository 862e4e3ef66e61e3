/* What recording costs: see budget_costs.h. */
#include "record/budget/budget_costs.h"

/*
 * What cannot be measured from inside, by paired runs with and without (bench/calls). All of it depends on how cold caches are, and
 * that can be seen: a run that records nothing and takes WARM_NS found everything in place. Two processes that take turns have 85 ns,
 * Apache 150, MariaDB 210. The interrupt of a sample takes 3 microseconds with the first and 9 with Apache.
 */
#define WARM_NS   85.0
#define USUAL_NS  140.0 /* where it is not known yet */
#define SAMPLE_NS 6000.0

/*
 * Runs are called, and push out of caches and TLBs what the load needs: a part of what those that record nothing see of themselves, and of what is
 * beyond WARM_NS, which comes from misses, several outside for each inside. In all, those that record nothing take 145 ns for turns and 420 for Apache.
 */
#define WARM_FACTOR 0.66
#define COLD_FACTOR 2.7

/* How much longer than its own time a program that takes stacks keeps its processor from others; and for each time that caches are colder. */
#define STACK_FACTOR      1.15
#define STACK_COLD_FACTOR 0.5

/*
 * A program that is over at once: being called takes little where it was called a moment ago, and more the longer others used
 * the caches since, until nothing of it is left in them. An empty one took 60 ns at each of 450,000 wakeups a second (turns), 300 at each of 58,000
 * (Apache), 900 at each of 60,000 (MariaDB), and 830 at each of 14,000 mappings (Apache).
 */
#define CALL_NS      70.0
#define MOST_CALL_NS 1400.0
/* For each nanosecond since the last call, and each time that caches are colder. */
#define COOLING 0.01

/*
 * What the load takes longer when the programs of the scheduler are attached and detached once, because the kernel changes its code; and when the
 * recorder's process ran, as a part of its time. Both more for each time that caches are colder.
 */
#define ATTACHING_NS          200000.0
#define ATTACHING_COLD_FACTOR 2.5
#define PROCESS_COLD_FACTOR   0.4
/*
 * What a sweep takes beside what its thread runs: a timer's interrupt, waking the thread, and what the load finds less of in its caches,
 * by how much more loads lost to 167 of them a second than to 20. More for each time that caches are colder.
 */
#define SWEEP_NS          40000.0
#define SWEEP_COLD_FACTOR 1.1

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

/* That took no stacks. */
static double other_runs(const struct lode_budget_usage *now, const struct lode_budget_usage *before)
{
	double runs = more(now->runs, before->runs), stacks = more(now->stack_runs, before->stack_runs);

	return runs > stacks ? runs - stacks : 0;
}

void lode_budget_caches_update(struct lode_budget_caches *caches, const struct lode_budget_usage *now,
			       const struct lode_budget_usage *before)
{
	double time = more(now->t, before->t), spent;

	caches->runs = caches->runs * AVERAGE_NS / (AVERAGE_NS + time) + other_runs(now, before);
	caches->spent = caches->spent * AVERAGE_NS / (AVERAGE_NS + time) + more(now->other, before->other);
	if (caches->runs < LEAST_RUNS)
		return;
	spent = caches->spent / caches->runs;
	if (spent < caches->inside)
		spent += (caches->inside - spent) * FADING_NS / (FADING_NS + time);
	caches->inside = spent;
}

static double inside(const struct lode_budget_caches *caches)
{
	return caches->inside > 0 ? caches->inside : USUAL_NS;
}

/* How many times as cold as where everything is in place, beyond once. */
static double coldness(const struct lode_budget_caches *caches)
{
	return inside(caches) > WARM_NS ? inside(caches) / WARM_NS - 1 : 0;
}

/* What a run takes outside of what it sees. */
static double outside(const struct lode_budget_caches *caches)
{
	return WARM_FACTOR * inside(caches) + COLD_FACTOR * WARM_NS * coldness(caches);
}

double lode_budget_costs_of_calls(const struct lode_budget_caches *caches, double runs, double time)
{
	double all = runs * CALL_NS + COOLING * coldness(caches) * time;

	return all < runs * MOST_CALL_NS ? all : runs * MOST_CALL_NS;
}

double lode_budget_costs_beside_sweep(const struct lode_budget_caches *caches)
{
	return SWEEP_NS * (1 + SWEEP_COLD_FACTOR * coldness(caches));
}

double lode_budget_costs_of_reports(double mappings)
{
	return mappings * REPORT_NS;
}

/* What runs take by themselves: those that take stacks would take as much without these. */
static double all_runs(const struct lode_budget_caches *caches, const struct lode_budget_usage *now,
		       const struct lode_budget_usage *before)
{
	double other = other_runs(now, before) * inside(caches), spent = more(now->other, before->other);

	return (other > spent ? other : spent) + more(now->stack_runs, before->stack_runs) * inside(caches) +
	       more(now->runs, before->runs) * outside(caches);
}

/* And what stacks take beside. */
static double stacks(const struct lode_budget_caches *caches, const struct lode_budget_usage *now,
		     const struct lode_budget_usage *before, double factor)
{
	double all = factor * more(now->stacks, before->stacks) -
		     more(now->stack_runs, before->stack_runs) * inside(caches);

	return all > 0 ? all : 0;
}

struct lode_budget_costs lode_budget_costs(const struct lode_budget_usage *now,
					   const struct lode_budget_usage *before, unsigned cpus,
					   const struct lode_budget_caches *caches)
{
	double cold = coldness(caches), stack = STACK_FACTOR + STACK_COLD_FACTOR * cold;
	double time = more(now->t, before->t) * cpus, process = more(now->process, before->process);
	double attaching = ATTACHING_NS * (1 + ATTACHING_COLD_FACTOR * cold),
	       beside = 1 + PROCESS_COLD_FACTOR * cold;
	double waking_runs = more(now->waking_runs, before->waking_runs),
	       map_runs = more(now->map_runs, before->map_runs);
	double off = time - more(now->on, before->on) * cpus;
	double records = RECORD_NS * (more(now->recorded, before->recorded) + more(now->calls, before->calls));

	records = process < records ? process : records;
	return (struct lode_budget_costs){
		.samples = stack * more(now->sampling, before->sampling) +
			   SAMPLE_NS * more(now->samples, before->samples),
		.mappings = stack * more(now->mapping, before->mapping) +
			    lode_budget_costs_of_calls(caches, map_runs, time),
		.reports = lode_budget_costs_of_reports(map_runs),
		.switches = all_runs(caches, now, before) + attaching * more(now->attachings, before->attachings),
		.limits = stack * (more(now->waking, before->waking) + more(now->long_waits, before->long_waits)) +
			  lode_budget_costs_of_calls(caches, waking_runs, time),
		.rests = lode_budget_costs_of_calls(caches, more(now->rests, before->rests), off > 0 ? off : 0),
		.stacks = stacks(caches, now, before, stack),
		.records = beside * records,
		.process = beside * (process - records) +
			   more(now->sweeps, before->sweeps) * lode_budget_costs_beside_sweep(caches),
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
