/*
 * A simulated program for the tests of the hunt: a meter with its own clock.
 * What it does is a row of stacks, each with a share of the time that its process can use;
 * everything else (inclusive times, samples, roots, what is below a focus)
 * follows from them.
 */
#ifndef LODE_TESTS_HUNT_SIMULATION_H
#define LODE_TESTS_HUNT_SIMULATION_H

#include "hunt/meter/meter.h"

#define SIMULATION_MOST 64

struct simulated_thread {
	uint32_t host;
	uint32_t process;
	uint32_t root; /* function */
	uint64_t ends; /* its process; 0: never */
};

struct simulated_stack {
	uint32_t thread;
	enum lode_hypothesis kind;
	double share; /* of the time that its process can use */
	uint32_t functions[SIMULATION_MOST];
	size_t depth;
	uint64_t object;      /* sync waiting */
	double operations;    /* a second */
	double bytes;         /* of an operation */
	uint64_t from, until; /* when the program does this; 0, 0: always */
	uint64_t every; /* a wait: it is reported in one piece, each so many nanoseconds, when it is over; 0: at
			   each look */
	size_t cut;     /* so many functions are missing in samples, at the root */
};

struct simulated_run {
	uint32_t experiment;
	enum lode_hypothesis hypothesis;
	struct lode_focus focus;
	uint64_t started;
	int blind; /* its probes miss what goes on */
	struct lode_reading reading;
	double time[LODE_SMALL_IO], usable, ready, operations, bytes,
		cost; /* exact, where the reading is whole numbers */
};

struct simulation {
	struct lode_meter meter; /* first */
	uint64_t clock;
	uint64_t ends; /* the program; 0: never */
	double noise;  /* relative, of each sub-interval */
	uint64_t seed;
	struct simulated_thread threads[SIMULATION_MOST];
	size_t thread_count;
	struct simulated_stack stacks[SIMULATION_MOST];
	size_t stack_count;
	double predicted[SIMULATION_MOST]; /* by function: cost of measuring it, as a share; below 0:
					      impossible */
	double real[SIMULATION_MOST];      /* what it costs */
	int blind[SIMULATION_MOST];        /* by function: so many times probes miss what goes on */
	double crowded;                    /* share of wall time for which no CPU is free for any thread */
	double own;                        /* what the meter takes besides probes */
	double allowed;                    /* more than this is taken out at once; 0: nothing is */
	struct simulated_run *runs;
	size_t run_count;
	size_t run_capacity;
	size_t starts;       /* experiments started, all in all */
	double highest_cost; /* highest real cost of all that ran at once */
	double highest_predicted;
	int no_samples;
	uint64_t period;  /* samples are drawn by chance, one in so many nanoseconds; 0: they are exact */
	double lost;      /* the share of them that does not come */
	int real_time;    /* waiting takes its time */
	uint64_t sampled; /* until when samples were handed out */
	char name[64];
};

/* Empty, over its own program. Returns 0 or a negative code. */
int simulation_init(struct simulation *simulation);
void simulation_release(struct simulation *simulation);
/* A thread; its number. */
uint32_t simulation_thread(struct simulation *simulation, uint32_t host, uint32_t process, const char *root);
/* A stack: names without the thread's root, separated by spaces. Calls in it become part of the call graph.
 */
struct simulated_stack *simulation_stack(struct simulation *simulation, uint32_t thread, enum lode_hypothesis kind,
					 double share, const char *names);
/* The number of a function: `app!NAME`, or NAME itself where it names its module. */
uint32_t simulation_function(struct simulation *simulation, const char *name);

#endif
