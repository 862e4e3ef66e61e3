/*
 * Prey: what the programs that are hunted in tests have in common. Each measures by
 * itself, with the clock of its thread, what its functions use, and keeps the sums
 * where the hunter can read them: in a file that both map. So a test compares two
 * measurements of the same time, however busy the machine is.
 */
#ifndef LODE_TESTS_HUNT_PREY_H
#define LODE_TESTS_HUNT_PREY_H

#include <stdint.h>

#define PREY_TRUTHS 8

/* What a function has used, all threads together; `cpu` of its threads' clocks, nanoseconds. */
struct prey_truth {
	uint64_t address; /* of the function, in the process */
	uint64_t cpu;
	uint64_t blocked; /* wall time that was neither CPU time nor spent in the run queue; where a function waits */
	uint64_t calls;
};

struct prey_page {
	uint64_t ready;
	uint64_t operations; /* writes done */
	uint64_t turns;      /* how often the program has gone round: it lives */
	struct prey_truth truths[PREY_TRUTHS];
};

#endif
