/* What the programs that know the truth about themselves have in common. */
#ifndef LODE_TESTS_RECORD_TRUTH_H
#define LODE_TESTS_RECORD_TRUTH_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static inline void must(int holds, const char *what)
{
	if (holds)
		return;
	perror(what);
	exit(1);
}

static inline uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static inline void rest(long ns)
{
	nanosleep(&(struct timespec){ .tv_nsec = ns }, NULL);
}

#endif
