/*
 * Permutation test: see permutation.h.
 *
 * How often a random split of all streams into groups of the same sizes has means at
 * least as far apart as the real one. Compared in whole numbers: |S * n - T * a| grows
 * with |S / a - (T - S) / (n - a)|, where S is the sum of a group of a streams and T the
 * sum of all n. The generator is our own, so the same input gives the same number on
 * every machine.
 */
#include "base/permutation.h"

#include "base/memory.h"
#include "base/random.h"

#include <string.h>

#define SEED 0x5eed10deu

__extension__ typedef unsigned __int128 wide;

struct split {
	uint64_t *pool; /* costs of all streams */
	size_t count;
	size_t size; /* of the smaller group */
	wide total;
	wide distance; /* of the real split */
};

static wide distance(const struct split *split, wide sum)
{
	wide own = sum * split->count, expected = split->total * split->size;

	return own > expected ? own - expected : expected - own;
}

/* Number of ways to choose the smaller group, or `limit` + 1 when there are more. */
static uint64_t count_splits(const struct split *split, uint64_t limit)
{
	wide ways = 1;

	for (size_t i = 0; i < split->size; i++) {
		ways = ways * (split->count - i) / (i + 1);
		if (ways > limit)
			return limit + 1;
	}
	return (uint64_t)ways;
}

/* Goes through all choices of `split->size` places, each as a rising row of places. */
static uint64_t count_far_exactly(const struct split *split, size_t *places)
{
	size_t size = split->size, count = split->count;
	uint64_t far = 0;

	for (size_t i = 0; i < size; i++)
		places[i] = i;
	for (;;) {
		size_t last = size;
		wide sum = 0;

		for (size_t i = 0; i < size; i++)
			sum += split->pool[places[i]];
		far += distance(split, sum) >= split->distance;
		while (last > 0 && places[last - 1] == count - size + last - 1)
			last--;
		if (!last)
			return far;
		places[last - 1]++;
		for (size_t i = last; i < size; i++)
			places[i] = places[i - 1] + 1;
	}
}

static uint64_t count_far_by_chance(struct split *split, unsigned rounds)
{
	uint64_t random = SEED, far = 0;

	for (unsigned round = 0; round < rounds; round++) {
		wide sum = 0;

		for (size_t i = 0; i < split->size; i++) {
			uint32_t draw = (uint32_t)(lode_splitmix64(&random) >> 32);
			size_t other = i + lode_random_scale(draw, split->count - i);
			uint64_t cost = split->pool[other];

			split->pool[other] = split->pool[i];
			split->pool[i] = cost;
			sum += cost;
		}
		far += distance(split, sum) >= split->distance;
	}
	return far;
}

static double test_split(struct split *split, unsigned rounds)
{
	uint64_t ways = count_splits(split, rounds), far;
	size_t *places;

	if (ways > rounds)
		return (double)(count_far_by_chance(split, rounds) + 1) / ((double)rounds + 1);
	places = lode_calloc(split->size, sizeof(*places));
	if (!places)
		return -1;
	far = count_far_exactly(split, places);
	lode_free(places);
	return (double)far / (double)ways;
}

double lode_permutation_p(const uint64_t *left, size_t left_count, const uint64_t *right, size_t right_count,
			  unsigned rounds)
{
	struct split split = { .count = left_count + right_count };
	wide sum = 0;
	double p;

	if (!left_count || !right_count)
		return 1;
	split.pool = lode_calloc(split.count, sizeof(*split.pool));
	if (!split.pool)
		return -1;
	memcpy(split.pool, left, left_count * sizeof(*left));
	memcpy(split.pool + left_count, right, right_count * sizeof(*right));
	for (size_t i = 0; i < split.count; i++)
		split.total += split.pool[i];
	split.size = left_count < right_count ? left_count : right_count;
	for (size_t i = 0; i < split.size; i++)
		sum += left_count < right_count ? left[i] : right[i];
	split.distance = distance(&split, sum);
	p = test_split(&split, rounds);
	lode_free(split.pool);
	return p;
}
