/*
 * From counts to time. A sample of a counter (cycles) has its count since the sample
 * before it, but not how long that took. Between two samples that follow each other on
 * one CPU, of one thread, the counter ran for all of the time unless the CPU was idle.
 * So the true rate is the most common one among all such pairs, weighted by counts:
 * idle time only spreads others above it, and the tiny periods at the start of a new
 * thread's counter have almost no weight.
 */
#ifndef LODE_IMPORT_COUNT_RATE_H
#define LODE_IMPORT_COUNT_RATE_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

struct lode_count_rate {
	struct lode_count_last *by_cpu; /* the sample that each CPU had last */
	size_t cpus;
	struct lode_count_bin *bins; /* counts and time of pairs, by the logarithm of their rate */
	uint64_t largest;            /* count of any sample */
	uint64_t samples;
};

/* A zeroed struct is empty. */
void lode_count_rate_release(struct lode_count_rate *rate);
/* Takes a sample; they must come in order of time. Returns 0 or LODE_SYSTEM. */
int lode_count_rate_add(struct lode_count_rate *rate, uint64_t t, uint16_t cpu, uint32_t thread, uint64_t count);
/* Nanoseconds of one count; 0 when no two samples show it. */
double lode_count_rate_find(const struct lode_count_rate *rate);
/* `count` times `nanoseconds`, rounded; the largest number where that is too much. */
uint64_t lode_count_time(uint64_t count, double nanoseconds);

#endif
