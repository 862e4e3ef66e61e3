/*
 * The cost model: turns counters of the recorder into what recording costs the machine, in nanoseconds of CPU time.
 *
 * Part of that is measured (the BPF programs measure their own runs, the kernel the time of the recorder's process). The rest
 * no program can measure of itself: being called, interrupts, and caches that the load finds cold afterwards. It is estimated
 * from how often it happens and how cold the caches are, with the constants of struct lode_cost_parameters.
 *
 * It reads no clock and has no state but struct lode_cost_model; any thread may use one of its own.
 */
#ifndef LODE_RECORD_BUDGET_COST_MODEL_H
#define LODE_RECORD_BUDGET_COST_MODEL_H

#include "record/budget/budget_parameters.h"

#include <stdint.h>

/* What the recorder counted and measured. All counters only grow, and cover all CPUs unless it says otherwise. */
struct lode_budget_counters {
	uint64_t time_ns; /* of the clock, as lode_now() */

	/* The scheduler programs: at context switches, wakeups and system calls. */
	uint64_t attached_ns;         /* of the clock, in which they were attached, */
	uint64_t planned_attached_ns; /* were to be, on average over all draws of slots, */
	uint64_t attach_delay_ns;     /* and were to be but the kernel was not ready */
	uint64_t attaches;            /* times that they were attached, and detached again */
	uint64_t runs;
	uint64_t stack_runs;   /* those runs that walked stacks, */
	uint64_t stack_run_ns; /* measured in them, */
	uint64_t plain_run_ns; /* and in the other runs */
	uint64_t idle_runs;    /* runs between slots, which return at once; not part of `runs` */

	/* What they saw. */
	uint64_t waits;
	uint64_t recorded_waits;
	uint64_t wait_ns; /* of all waits, LODE_THIN_LONG at most of each */
	uint64_t recorded_calls;

	/* The program for long waits, at wakeups. */
	uint64_t wakeup_runs;
	uint64_t wakeup_run_ns;
	uint64_t long_wait_ns; /* measured in runs that recorded a wait, which wakeup_run_ns leaves out */

	/* The program that tracks what processes map. */
	uint64_t mmap_runs;
	uint64_t mmap_run_ns;
	uint64_t execs; /* programs that started */

	/* CPU samples. */
	uint64_t samples;
	uint64_t sample_run_ns;

	/* Processes of the recorder. */
	uint64_t process_ns; /* CPU time of all its threads */
	uint64_t sweeps;     /* over all threads (record/sweeper.h), by one of its threads */
	uint64_t saving_ns;  /* CPU time of processes that write streams for it */
};

/* How much a counter grew; 0 where it went back, as counters of several CPUs that are read one by one may. */
static inline double lode_delta_or_zero(uint64_t now, uint64_t before)
{
	return now > before ? (double)(now - before) : 0;
}

enum lode_cost {
	LODE_COST_SAMPLES,      /* CPU samples, and their interrupts */
	LODE_COST_MMAPS,        /* tracking what processes map, */
	LODE_COST_MMAP_REPORTS, /* and the kernel's own reports of it */
	LODE_COST_SWITCHES,     /* scheduler programs as far as they record nothing, and attaching them */
	LODE_COST_LONG_WAITS,   /* the program for long waits */
	LODE_COST_IDLE,         /* scheduler programs that stay attached between slots */
	LODE_COST_STACKS,       /* of records, in the kernel */
	LODE_COST_RECORDS,      /* of records, in the recorder's process */
	LODE_COST_PROCESS,      /* the rest of the recorder's process, and sweeps */
	LODE_COST_SAVING,       /* processes that write streams: reported, but the controller leaves it out */
	LODE_COST_COUNT,
};

/* Nanoseconds of CPU time. */
struct lode_budget_costs {
	double ns[LODE_COST_COUNT];
};

/*
 * The model learns how cold the caches are that programs find. What is attached all the time warms them for itself at the
 * expense of the load, so the coldest of about the last minute counts.
 */
struct lode_cost_model {
	const struct lode_cost_parameters *parameters;
	unsigned cpus;
	double plain_runs;     /* runs without a record, fading, */
	double plain_run_ns;   /* and measured in them */
	double coldest_run_ns; /* of each of them, where that was longest; 0: not known yet */
};

/* Keeps a pointer to `parameters`. */
void lode_cost_model_init(struct lode_cost_model *model, const struct lode_cost_parameters *parameters,
			  unsigned cpus);
/* Learns from what happened between two readings of the counters. */
void lode_cost_model_learn(struct lode_cost_model *model, const struct lode_budget_counters *now,
			   const struct lode_budget_counters *before);
/* What recording took between two readings of the counters. */
struct lode_budget_costs lode_cost_model_costs(const struct lode_cost_model *model,
					       const struct lode_budget_counters *now,
					       const struct lode_budget_counters *before);
/* What `calls` of a program that returns at once take in `time_ns` of all CPUs together. */
double lode_cost_model_empty_calls(const struct lode_cost_model *model, double calls, double time_ns);
/* What a sweep takes beside the time that its thread runs. */
double lode_cost_model_beside_sweep(const struct lode_cost_model *model);
/* What the kernel takes to report `mmaps` mappings. */
double lode_cost_model_mmap_reports(const struct lode_cost_model *model, double mmaps);

void lode_budget_costs_add(struct lode_budget_costs *sum, const struct lode_budget_costs *costs);
/* `later` less `earlier`. */
struct lode_budget_costs lode_budget_costs_between(const struct lode_budget_costs *later,
						   const struct lode_budget_costs *earlier);
double lode_budget_costs_total(const struct lode_budget_costs *costs);

#endif
