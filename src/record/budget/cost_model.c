/* The cost model: see cost_model.h, and budget_parameters.h for what each constant was measured by. */
#include "record/budget/cost_model.h"

/* How much a counter grew between `before` and `now`. */
#define GREW(counter) lode_delta_or_zero(now->counter, before->counter)

/* ---- how cold caches are ---- */

/* Runs of scheduler programs that recorded nothing. */
static double plain_runs(const struct lode_budget_counters *now, const struct lode_budget_counters *before)
{
	double runs = GREW(runs), stack_runs = GREW(stack_runs);

	return runs > stack_runs ? runs - stack_runs : 0;
}

void lode_cost_model_init(struct lode_cost_model *model, const struct lode_cost_parameters *parameters,
			  unsigned cpus)
{
	*model = (struct lode_cost_model){ .parameters = parameters, .cpus = cpus };
}

void lode_cost_model_learn(struct lode_cost_model *model, const struct lode_budget_counters *now,
			   const struct lode_budget_counters *before)
{
	double time = GREW(time_ns), half = model->parameters->run_average_ns,
	       fade = model->parameters->run_fade_ns, run_ns;

	model->plain_runs = model->plain_runs * half / (half + time) + plain_runs(now, before);
	model->plain_run_ns = model->plain_run_ns * half / (half + time) + GREW(plain_run_ns);
	if (model->plain_runs < model->parameters->min_runs)
		return;
	run_ns = model->plain_run_ns / model->plain_runs;
	if (run_ns < model->coldest_run_ns)
		run_ns += (model->coldest_run_ns - run_ns) * fade / (fade + time);
	model->coldest_run_ns = run_ns;
}

/* What a run without a record measures of itself. */
static double plain_run_ns(const struct lode_cost_model *model)
{
	return model->coldest_run_ns > 0 ? model->coldest_run_ns : model->parameters->default_run_ns;
}

/* By how many times a run takes longer than with warm caches. */
static double coldness(const struct lode_cost_model *model)
{
	double run_ns = plain_run_ns(model);

	return run_ns > model->parameters->warm_run_ns ? run_ns / model->parameters->warm_run_ns - 1 : 0;
}

/* ---- single costs ---- */

/* What a run of a scheduler program takes beside what it measures. */
static double run_overhead_ns(const struct lode_cost_model *model)
{
	return model->parameters->run_overhead_ratio * plain_run_ns(model) +
	       model->parameters->run_overhead_cold_ratio * model->parameters->warm_run_ns * coldness(model);
}

double lode_cost_model_empty_calls(const struct lode_cost_model *model, double calls, double time_ns)
{
	double cost = calls * model->parameters->empty_call_ns +
		      model->parameters->empty_call_cold_ratio * coldness(model) * time_ns,
	       most = calls * model->parameters->max_empty_call_ns;

	return cost < most ? cost : most;
}

double lode_cost_model_beside_sweep(const struct lode_cost_model *model)
{
	return model->parameters->sweep_ns * (1 + model->parameters->sweep_cold_ratio * coldness(model));
}

double lode_cost_model_mmap_reports(const struct lode_cost_model *model, double mmaps)
{
	return mmaps * model->parameters->mmap_report_ns;
}

/* What scheduler programs take as far as they record nothing. A run with a record would take as much without it. */
static double cost_of_runs(const struct lode_cost_model *model, const struct lode_budget_counters *now,
			   const struct lode_budget_counters *before)
{
	double run_ns = plain_run_ns(model), modelled = plain_runs(now, before) * run_ns,
	       measured = GREW(plain_run_ns);

	return (modelled > measured ? modelled : measured) + GREW(stack_runs) * run_ns +
	       GREW(runs) * run_overhead_ns(model);
}

/* What records add to that in the kernel. */
static double cost_of_stacks(const struct lode_cost_model *model, const struct lode_budget_counters *now,
			     const struct lode_budget_counters *before, double overhead)
{
	double cost = overhead * GREW(stack_run_ns) - GREW(stack_runs) * plain_run_ns(model);

	return cost > 0 ? cost : 0;
}

/* Of the recorder's process, the time for records: all of it, unless there are too few records for that. */
static double record_process_ns(const struct lode_cost_model *model, double process,
				const struct lode_budget_counters *now, const struct lode_budget_counters *before)
{
	double most = model->parameters->max_record_process_ns * (GREW(recorded_waits) + GREW(recorded_calls));

	return process < most ? process : most;
}

/* ---- all costs ---- */

/* How much each counter grew. */
struct lode_budget_costs lode_cost_model_costs(const struct lode_cost_model *model,
					       const struct lode_budget_counters *now,
					       const struct lode_budget_counters *before)
{
	const struct lode_cost_parameters *parameters = model->parameters;
	double cold = coldness(model);
	double stack = parameters->stack_overhead_ratio + parameters->stack_overhead_cold_ratio * cold,
	       attach = parameters->attach_ns * (1 + parameters->attach_cold_ratio * cold),
	       process_overhead = 1 + parameters->process_cold_ratio * cold;
	double machine = GREW(time_ns) * model->cpus, detached = machine - GREW(attached_ns) * model->cpus;
	double process = GREW(process_ns), records = record_process_ns(model, process, now, before);
	struct lode_budget_costs costs;

	costs.ns[LODE_COST_SAMPLES] = stack * GREW(sample_run_ns) + parameters->sample_interrupt_ns * GREW(samples);
	costs.ns[LODE_COST_MMAPS] =
		stack * GREW(mmap_run_ns) + lode_cost_model_empty_calls(model, GREW(mmap_runs), machine);
	costs.ns[LODE_COST_MMAP_REPORTS] = lode_cost_model_mmap_reports(model, GREW(mmap_runs));
	costs.ns[LODE_COST_SWITCHES] = cost_of_runs(model, now, before) + attach * GREW(attaches);
	costs.ns[LODE_COST_LONG_WAITS] = stack * (GREW(wakeup_run_ns) + GREW(long_wait_ns)) +
					 lode_cost_model_empty_calls(model, GREW(wakeup_runs), machine);
	costs.ns[LODE_COST_IDLE] = lode_cost_model_empty_calls(model, GREW(idle_runs), detached > 0 ? detached : 0);
	costs.ns[LODE_COST_STACKS] = cost_of_stacks(model, now, before, stack);
	costs.ns[LODE_COST_RECORDS] = process_overhead * records;
	costs.ns[LODE_COST_PROCESS] =
		process_overhead * (process - records) + GREW(sweeps) * lode_cost_model_beside_sweep(model);
	costs.ns[LODE_COST_SAVING] = GREW(saving_ns);
	return costs;
}

void lode_budget_costs_add(struct lode_budget_costs *sum, const struct lode_budget_costs *costs)
{
	for (unsigned i = 0; i < LODE_COST_COUNT; i++)
		sum->ns[i] += costs->ns[i];
}

struct lode_budget_costs lode_budget_costs_between(const struct lode_budget_costs *later,
						   const struct lode_budget_costs *earlier)
{
	struct lode_budget_costs costs = *later;

	for (unsigned i = 0; i < LODE_COST_COUNT; i++)
		costs.ns[i] -= earlier->ns[i];
	return costs;
}

double lode_budget_costs_total(const struct lode_budget_costs *costs)
{
	double total = 0;

	for (unsigned i = 0; i < LODE_COST_COUNT; i++)
		total += costs->ns[i];
	return total;
}
