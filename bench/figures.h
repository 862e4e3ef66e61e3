/* What benchmarks in C share: the processor's time, medians, and random numbers that are the same each time. */
#ifndef BENCH_FIGURES_H
#define BENCH_FIGURES_H

#include <stdint.h>
#include <stdlib.h>
#include <time.h>

static inline uint64_t cpu_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static inline uint64_t random_below(uint64_t limit)
{
	static uint64_t seed = 88172645463325252u;

	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % limit;
}

static inline int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Sorts them. */
static inline uint64_t median(uint64_t *numbers, size_t count)
{
	qsort(numbers, count, sizeof(*numbers), by_size);
	return numbers[count / 2];
}

#endif
