/*
 * Delays for bench/diff and bench/gain: LODE_PLANTED percent of them are there, and are part of the very
 * function that has them, regardless of optimization.
 */
#ifndef LODE_BENCH_PLANTED_H
#define LODE_BENCH_PLANTED_H

#include <stdlib.h>
#include <time.h>

#define PLANTED_INSIDE static inline __attribute__((always_inline, unused))

/* A function that keeps its frame. */
#define PLANTED_FRAME __attribute__((noinline, noclone, optimize("no-optimize-sibling-calls")))

/* Percent of the delay; 0 where LODE_PLANTED is not set. */
PLANTED_INSIDE unsigned planted(void)
{
	static int percent = -1;
	const char *text;

	if (percent < 0) {
		text = getenv("LODE_PLANTED");
		percent = text ? atoi(text) : 0;
	}
	return (unsigned)percent;
}

/* About a nanosecond of processor time a step. */
PLANTED_INSIDE void planted_burn(unsigned long steps)
{
	steps = steps / 100 * planted();
	while (steps-- > 0)
		__asm__ volatile("" : "+r"(steps));
}

PLANTED_INSIDE void planted_sleep(long us)
{
	struct timespec time = { 0, us * 10 * planted() };

	if (planted())
		nanosleep(&time, NULL);
}

#endif
