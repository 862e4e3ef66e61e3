/*
 * Delays for bench/diff: they are there when LODE_PLANTED is set, and are part of the very
 * function that has them, regardless of optimization.
 */
#ifndef LODE_BENCH_PLANTED_H
#define LODE_BENCH_PLANTED_H

#include <stdlib.h>
#include <time.h>

#define PLANTED_INSIDE static inline __attribute__((always_inline, unused))

/* A function that keeps its frame. */
#define PLANTED_FRAME __attribute__((noinline, noclone, optimize("no-optimize-sibling-calls")))

PLANTED_INSIDE int planted(void)
{
	static int is = -1;

	if (is < 0)
		is = getenv("LODE_PLANTED") != NULL;
	return is;
}

/* About a nanosecond of processor time a step. */
PLANTED_INSIDE void planted_burn(unsigned long steps)
{
	if (planted())
		while (steps-- > 0)
			__asm__ volatile("" : "+r"(steps));
}

PLANTED_INSIDE void planted_sleep(long us)
{
	struct timespec time = { 0, us * 1000 };

	if (planted())
		nanosleep(&time, NULL);
}

#endif
