/* The clock that durations are measured with. */
#ifndef LODE_BASE_CLOCK_H
#define LODE_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Nanoseconds of the monotonic clock. */
static inline uint64_t lode_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#endif
