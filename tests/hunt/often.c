/*
 * A program to be hunted: `often SECONDS`. Two fifths of its processor time go into
 * `often`, which is called some million times a second, so that it cannot be probed;
 * three fifths into the C library. Which of both comes next is decided by what each has
 * used so far, so that the shares hold however busy the machine is.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NEVER_INLINE __attribute__((noinline))
#define SLICE        4000000u /* nanoseconds */

static volatile uint64_t sink;
static char text[1 << 16];

static uint64_t clock_of(clockid_t which)
{
	struct timespec time;

	clock_gettime(which, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static uint64_t cpu(void)
{
	return clock_of(CLOCK_THREAD_CPUTIME_ID);
}

static NEVER_INLINE uint64_t often(uint64_t value)
{
	for (int i = 0; i < 200; i++)
		value = value * 6364136223846793005u + 1442695040888963407u;
	return value;
}

static NEVER_INLINE void call_often(uint64_t end)
{
	uint64_t value = sink;

	do {
		for (int i = 0; i < 1000; i++)
			value = often(value);
	} while (cpu() < end);
	sink = value;
}

/* What is looked for is not there, so that all of the text is looked at. */
static NEVER_INLINE void look_through(uint64_t end)
{
	do {
		for (int i = 0; i < 20; i++)
			sink += memchr(text, (int)(sink & 1) + 1, sizeof(text)) != NULL;
	} while (cpu() < end);
}

int main(int count, char **words)
{
	uint64_t end = clock_of(CLOCK_MONOTONIC) + (count == 2 ? strtoull(words[1], NULL, 10) : 1) * 1000000000u;
	double in_often = 0, elsewhere = 0;

	while (clock_of(CLOCK_MONOTONIC) < end) {
		uint64_t began = cpu();

		if (in_often * 3 <= elsewhere * 2) {
			call_often(began + SLICE);
			in_often += (double)(cpu() - began);
		} else {
			look_through(began + SLICE);
			elsewhere += (double)(cpu() - began);
		}
	}
	puts("done");
	return 0;
}
