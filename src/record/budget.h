/*
 * A budget: keeps the cost of recording, the programs in the kernel and the recorder's own process together, at
 * a share of the machine's CPU time. It chooses how many nanoseconds a recorded wait represents (thinning.h);
 * if context switches alone take too much, in how many time slots the programs are attached (time_slots.h); and
 * how often CPUs are sampled.
 */
#ifndef LODE_RECORD_BUDGET_H
#define LODE_RECORD_BUDGET_H

#include "record/time_slots.h"

#include <stdint.h>

/* CPU samples a second under a budget, unless requested otherwise, and the fewest that it goes down to. */
#define LODE_BUDGET_FREQUENCY       97
#define LODE_BUDGET_LEAST_FREQUENCY 19

/* All since the start. */
struct lode_budget_usage {
	uint64_t t;           /* nanoseconds */
	uint64_t on;          /* nanoseconds in which the programs of the scheduler were attached, */
	uint64_t planned;     /* and were to be, on average over what is drawn by chance */
	uint64_t stacks;      /* spent in the kernel on waits and system calls that are recorded */
	uint64_t other;       /* spent in the kernel on those that are not, in */
	uint64_t runs;        /* runs of programs, each of which takes more than it sees */
	uint64_t waking_runs; /* of the program for long waits, which is attached at all times, and spent in it */
	uint64_t waking;
	uint64_t long_waits; /* spent in it on waits that are recorded */
	uint64_t map_runs;   /* of the program that follows what processes map, and spent in it */
	uint64_t mapping;
	uint64_t rests;    /* runs of programs that stay attached between slots and do nothing */
	uint64_t unseen;   /* nanoseconds in which programs were to be attached and the kernel took its time */
	uint64_t sampling; /* spent in the kernel on */
	uint64_t samples;  /* samples of CPUs, whose interrupts take more */
	uint64_t process;  /* of the recorder's process, all its threads */
	uint64_t saving;   /* of processes that write streams for it: counts, but is not steered by */
	uint64_t calls;    /* recorded, of the system */
	uint64_t waits;    /* that there were */
	uint64_t recorded; /* of them */
	uint64_t waited;   /* nanoseconds of all of them, LODE_THIN_LONG at most of each */
	/* Nanoseconds that these runs took, by what was seen of each step: kept by the budget itself. */
	double switching;
	double limiting;
	double resting;
};

struct lode_budget {
	double share; /* of all processors; 0: there is no budget */
	unsigned cpus;
	unsigned asked;     /* CPU samples a second */
	int keeps_attached; /* every context switch must be seen: all slots are chosen, regardless of the cost */
	/* What to do until the next step: */
	uint64_t scale; /* as thin_scale of the programs */
	uint32_t call_weight;
	unsigned frequency;
	struct lode_slot_plan slots; /* in which the programs are attached */
	int ends_cycle; /* the plan holds from now on, not from the next cycle: the first second is over */
	int certain;    /* long waits are looked for in each waking, so that all of them are recorded */
	int rests;      /* programs stay attached between slots, because attaching them again takes too long */
	/* What it took in the last step, as a share of all processors, and the part that does not depend on the scale, on average over slots. */
	double taken;
	double expected; /* the same on average over which slots are drawn */
	double fixed;
	/* What context switches take by themselves while the programs are attached, over about the last second: the sums that it comes from. */
	double attached;
	double recorded; /* the same of records */
	double seen_switches;
	double seen_records;
	double seen_on;
	/* While only some slots are chosen: nanoseconds in which programs were attached, and were to be, over about the last eight seconds. */
	double on;
	double planned;
	double records; /* what records took of the machine, over about two seconds */
	double steady; /* what goes on whether they are attached or not, over about the last second; below 0: not known yet */
	double debt; /* seconds of the machine above what was aimed at that are still to be saved; below 0: to be used */
	unsigned steps_over; /* in a row in which records took too much */
	/* While long waits are looked for: what that took lately, on average over so many steps; and all cost that does not depend on the scale. */
	double long_waits;
	unsigned long_steps;
	double all_fixed;
	unsigned fixed_steps;
	/* When it is tried again, and how long after that once more; earlier where what it took for these context switches fits now. */
	uint64_t try_at;
	uint64_t try_after;
	double tried_attached;
	/* Of the time, what was not seen while the kernel took its time to attach programs, and what resting took; over about two seconds. */
	double unseen;
	double resting;
	unsigned steps_seen; /* in a row in which context switches were seen at all times */
	/* Seconds, those in which it took more than a tenth above the budget, and the most; but for the first three. */
	uint64_t seconds;
	uint64_t seconds_over;
	double worst;
	struct lode_budget_usage last;
	struct lode_budget_usage first;
	struct lode_budget_usage settled; /* after the first three seconds; t is 0: they are not over */
	struct lode_budget_usage second;  /* at the beginning of this second */
};

/* `share`: 0.01 for 1 %. `now`: as in usages. */
void lode_budget_init(struct lode_budget *budget, double share, unsigned cpus, unsigned frequency, uint64_t now);
/* When it is time for a step: soon and often at first, then four times a second. Never without a budget. */
uint64_t lode_budget_due(const struct lode_budget *budget);
/* Looks at what was used since the last step, and decides on the next. */
void lode_budget_step(struct lode_budget *budget, const struct lode_budget_usage *usage);
/* The same at the end: nothing is decided any more. */
void lode_budget_end(struct lode_budget *budget, const struct lode_budget_usage *usage);
/* Of all processors, since the start, by the last step. */
double lode_budget_share(const struct lode_budget *budget);
/* What it took between the first three seconds and the last step, as shares of all processors. */
struct lode_budget_parts {
	double samples;  /* of CPUs */
	double process;  /* of the recorder itself, */
	double saving;   /* and of those that save for it */
	double switches; /* context switches and wakings by themselves */
	double stacks;   /* taken in the kernel */
	double limits;   /* of waits, looked at in each waking */
	double mappings; /* of processes, which are followed */
};

/* Returns the sum; 0 where the recording is not that long. */
double lode_budget_settled(const struct lode_budget *budget, struct lode_budget_parts *parts);
/* "1%", "0.5%" to 0.01, 0.005. Returns 0, or -1 for anything else. */
int lode_budget_parse(const char *text, double *share);

#endif
