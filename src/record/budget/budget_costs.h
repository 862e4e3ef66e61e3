/*
 * What recording costs the machine: what the programs in the kernel measured of themselves, the recorder's process,
 * and what they cannot measure, such as being called and interrupts.
 */
#ifndef LODE_RECORD_BUDGET_BUDGET_COSTS_H
#define LODE_RECORD_BUDGET_BUDGET_COSTS_H

#include <stdint.h>

/* Nanoseconds of CPU time. */
struct lode_budget_costs {
	double samples;  /* of CPUs, and their interrupts */
	double mappings; /* following what processes map, */
	double reports;  /* and the kernel's own reports of it */
	double switches; /* context switches, wakeups and system calls by themselves, and attaching the programs */
	double limits;   /* looking for long waits at each wakeup */
	double rests;    /* programs that stay attached and do nothing */
	double stacks;   /* in the kernel, of what is recorded */
	double records;  /* in the recorder's process, of the same */
	double process;  /* the rest of the recorder's process */
	double saving;   /* of processes that write streams for it: counts, but is not steered by */
};

/* All since the start. */
struct lode_budget_usage {
	uint64_t t;           /* nanoseconds */
	uint64_t on;          /* nanoseconds in which the programs of the scheduler were attached, */
	uint64_t planned;     /* and were to be, on average over what is drawn by chance */
	uint64_t attachings;  /* how often they were attached, and detached again */
	uint64_t runs;        /* of programs in the kernel, each of which takes more than it sees; */
	uint64_t stack_runs;  /* those of them that took stacks, */
	uint64_t stacks;      /* spent in these, */
	uint64_t other;       /* and in the others */
	uint64_t waking_runs; /* of the program for long waits, which is attached at all times, and spent in it */
	uint64_t waking;
	uint64_t long_waits; /* spent in it on waits that are recorded */
	uint64_t map_runs;   /* of the program that follows what processes map, and spent in it */
	uint64_t mapping;
	uint64_t execs;    /* processes that began to run a program */
	uint64_t rests;    /* runs of programs that stay attached between slots and do nothing */
	uint64_t unseen;   /* nanoseconds in which programs were to be attached and the kernel took its time */
	uint64_t sampling; /* spent in the kernel on */
	uint64_t samples;  /* samples of CPUs, whose interrupts take more */
	uint64_t process;  /* of the recorder's process, all its threads */
	uint64_t sweeps;   /* visits of all threads (sweeper.h) by one of them, which take more than it runs */
	uint64_t saving;   /* of processes that write streams for it */
	uint64_t calls;    /* recorded, of the system */
	uint64_t waits;    /* that there were */
	uint64_t recorded; /* of them */
	uint64_t waited;   /* nanoseconds of all of them, LODE_THIN_LONG at most of each */
};

/*
 * How cold the caches are that programs find, by how long runs take that record nothing. What is attached all the time warms them for the
 * others, at the expense of the load, so the coldest of about the last minute counts.
 */
struct lode_budget_caches {
	double runs; /* of the last seconds, and nanoseconds in them */
	double spent;
	double inside; /* nanoseconds in each, where they were coldest; 0: not known yet */
};

void lode_budget_caches_update(struct lode_budget_caches *caches, const struct lode_budget_usage *now,
			       const struct lode_budget_usage *before);
/* What it took between two moments on so many CPUs. */
struct lode_budget_costs lode_budget_costs(const struct lode_budget_usage *now,
					   const struct lode_budget_usage *before, unsigned cpus,
					   const struct lode_budget_caches *caches);
/* The same of a program that would be called so often in `time` nanoseconds of all CPUs, and does nothing. */
double lode_budget_costs_of_calls(const struct lode_budget_caches *caches, double runs, double time);
/* What a sweep takes beside the time that its thread runs. */
double lode_budget_costs_beside_sweep(const struct lode_budget_caches *caches);
/* What the kernel's reports take of so many mappings. */
double lode_budget_costs_of_reports(double mappings);
void lode_budget_costs_add(struct lode_budget_costs *sum, const struct lode_budget_costs *more);
/* `later` less `earlier`. */
struct lode_budget_costs lode_budget_costs_between(const struct lode_budget_costs *later,
						   const struct lode_budget_costs *earlier);
double lode_budget_costs_total(const struct lode_budget_costs *costs);

#endif
