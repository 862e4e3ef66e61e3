/*
 * From counts to time: see count_rate.h.
 *
 * The rate of a pair is sorted into a bin by the upper bits of its floating-point
 * number: 32 bins per octave, and no logarithm that machines might round differently.
 */
#include "import/kernel/count_rate.h"

#include "base/memory.h"

#include <string.h>

#define BINS   65536 /* sign, exponent, and 5 bits behind the point */
#define SHIFT  47
#define WINDOW 5 /* bins taken together: 8 to 16 % */

struct lode_count_last {
	uint64_t t;
	uint32_t thread;
	int there;
};

struct lode_count_bin {
	double time;
	double counts;
};

void lode_count_rate_release(struct lode_count_rate *rate)
{
	lode_free(rate->by_cpu);
	lode_free(rate->bins);
	memset(rate, 0, sizeof(*rate));
}

static int make_room(struct lode_count_rate *rate, uint16_t cpu)
{
	size_t before = rate->cpus;

	if (!rate->bins)
		rate->bins = lode_calloc(BINS, sizeof(*rate->bins));
	if (!rate->bins || lode_grow(&rate->by_cpu, &rate->cpus, (size_t)cpu + 1, sizeof(*rate->by_cpu)) < 0)
		return LODE_SYSTEM;
	if (rate->cpus > before)
		memset(rate->by_cpu + before, 0, (rate->cpus - before) * sizeof(*rate->by_cpu));
	return 0;
}

static void add_pair(struct lode_count_rate *rate, uint64_t time, uint64_t count)
{
	double ratio = (double)time / (double)count;
	struct lode_count_bin *bin;
	uint64_t bits;

	memcpy(&bits, &ratio, sizeof(bits));
	bin = &rate->bins[bits >> SHIFT & (BINS - 1)];
	bin->time += (double)time;
	bin->counts += (double)count;
}

int lode_count_rate_add(struct lode_count_rate *rate, uint64_t t, uint16_t cpu, uint32_t thread, uint64_t count)
{
	struct lode_count_last *last;

	if ((!rate->bins || cpu >= rate->cpus) && make_room(rate, cpu) < 0)
		return LODE_SYSTEM;
	last = &rate->by_cpu[cpu];
	if (last->there && last->thread == thread && t > last->t && count)
		add_pair(rate, t - last->t, count);
	*last = (struct lode_count_last){ t, thread, 1 };
	rate->samples++;
	if (count > rate->largest)
		rate->largest = count;
	return 0;
}

double lode_count_rate_find(const struct lode_count_rate *rate)
{
	double best = 0, found = 0;

	for (size_t i = 0; rate->bins && i + WINDOW <= BINS; i++) {
		double time = 0, counts = 0;

		if (!(rate->bins[i].counts > 0))
			continue;
		for (size_t j = i; j < i + WINDOW; j++) {
			time += rate->bins[j].time;
			counts += rate->bins[j].counts;
		}
		if (counts > best) {
			best = counts;
			found = time / counts;
		}
	}
	return found;
}

uint64_t lode_count_time(uint64_t count, double nanoseconds)
{
	double product = (double)count * nanoseconds;

	return product < 0x1p64 - 2048 ? (uint64_t)(product + 0.5) : UINT64_MAX;
}
