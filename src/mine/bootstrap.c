/*
 * Resampling: how sure a total over streams is, and whether two groups of streams
 * differ (see ranking.h).
 *
 * Bootstrap: from n streams n are drawn with replacement, many times, and what
 * lies between the 2.5 % and the 97.5 % point of the totals is the interval.
 * Most groups cost something in few of the streams only, and draws of the others
 * add nothing; so it is first drawn how many of the n draws fall on the k streams
 * that count (a binomial number, by its table of sums), and then only these. The
 * outcome has the same distribution, at k / n of the work.
 *
 * Permutation test: how often a random split of all streams into groups of the
 * same sizes has means at least as far apart as the real one. Compared in whole
 * numbers: |S * n - T * a| grows with |S / a - (T - S) / (n - a)|, where S is the
 * sum of a group of a streams and T the sum of all n.
 *
 * Everything is computed with a generator of its own, whole numbers and the four
 * exact operations of floating-point arithmetic, so the same input gives the same
 * numbers on every machine.
 */
#include "mine/ranking.h"

#include <stdlib.h>
#include <string.h>

#define SEED 0x5eed10deu

__extension__ typedef unsigned __int128 wide;

/* A counter, scrambled (splitmix64). */
static uint64_t next_random(uint64_t *state)
{
	uint64_t x = *state += 0x9e3779b97f4a7c15u;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

/* A number below `limit`, which fits 32 bits; the bias of at most limit / 2^32 does not matter here. */
static size_t scale(uint32_t random, size_t limit)
{
	return (size_t)((uint64_t)random * limit >> 32);
}

/* ---- binomial numbers ---- */

/* How many of `n` draws fall on `k` of `n` streams: the likely numbers and the sums of their weights. */
struct binomial {
	size_t first;  /* the smallest likely number */
	size_t count;
	double *sums;  /* up to and including first + i */
};

/* Numbers less likely than this, seen from the most likely one, do not occur. */
#define NEVER 1e-20

static double weight_above(size_t n, size_t k, size_t i, double weight)
{
	return weight * ((double)(n - i) * (double)k) / ((double)(i + 1) * (double)(n - k));
}

static double weight_under(size_t n, size_t k, size_t i, double weight)
{
	return weight * ((double)i * (double)(n - k)) / ((double)(n - i + 1) * (double)k);
}

static int make_binomial(struct binomial *binomial, size_t n, size_t k)
{
	size_t mode = k, last = mode;
	double weight = 1, sum = 0, *weights;

	binomial->first = mode;
	while (k < n && last < n && (weight = weight_above(n, k, last, weight)) > NEVER)
		last++;
	weight = 1;
	while (k < n && binomial->first > 0 && (weight = weight_under(n, k, binomial->first, weight)) > NEVER)
		binomial->first--;
	binomial->count = last - binomial->first + 1;
	binomial->sums = lode_calloc(binomial->count, sizeof(*binomial->sums));
	if (!binomial->sums)
		return -1;
	weights = binomial->sums;
	weights[mode - binomial->first] = 1;
	for (size_t i = mode; i < last; i++)
		weights[i + 1 - binomial->first] = weight_above(n, k, i, weights[i - binomial->first]);
	for (size_t i = mode; i > binomial->first; i--)
		weights[i - 1 - binomial->first] = weight_under(n, k, i, weights[i - binomial->first]);
	for (size_t i = 0; i < binomial->count; i++)
		binomial->sums[i] = sum += weights[i];
	return 0;
}

static size_t draw_binomial(const struct binomial *binomial, uint64_t *random)
{
	double at = (double)(next_random(random) >> 11) * 0x1p-53 * binomial->sums[binomial->count - 1];
	size_t low = 0, high = binomial->count - 1;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (binomial->sums[middle] > at)
			high = middle;
		else
			low = middle + 1;
	}
	return binomial->first + low;
}

/* ---- bootstrap ---- */

static double draw_total(const double *costs, size_t count, size_t draws, uint64_t *random)
{
	double total = 0;

	for (; draws >= 2; draws -= 2) {
		uint64_t both = next_random(random);

		total += costs[scale((uint32_t)both, count)];
		total += costs[scale((uint32_t)(both >> 32), count)];
	}
	if (draws)
		total += costs[scale((uint32_t)next_random(random), count)];
	return total;
}

static int compare_totals(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

/* The smallest of the sorted totals that `thousandths` of them do not exceed. */
static double percentile(const double *totals, size_t count, size_t thousandths)
{
	size_t rank = (count * thousandths + 999) / 1000;

	return totals[rank ? rank - 1 : 0];
}

static void resample(const double *costs, size_t count, const struct binomial *binomial, double *totals,
		     unsigned resamples)
{
	uint64_t random = SEED;

	for (unsigned i = 0; i < resamples; i++) {
		size_t draws = draw_binomial(binomial, &random);

		totals[i] = draw_total(costs, count, draws, &random);
	}
	qsort(totals, resamples, sizeof(*totals), compare_totals);
}

struct lode_interval lode_bootstrap_total(const uint64_t *costs, size_t nonzero, size_t streams,
					  unsigned resamples)
{
	struct lode_interval interval = { 0, 0 };
	struct binomial binomial = { 0 };
	double *numbers, *totals;

	if (!nonzero || !resamples)
		return interval;
	numbers = lode_calloc(nonzero, sizeof(*numbers));
	totals = lode_calloc(resamples, sizeof(*totals));
	if (!numbers || !totals ||
	    make_binomial(&binomial, streams > nonzero ? streams : nonzero, nonzero) < 0) {
		interval = (struct lode_interval){ -1, -1 };
		goto out;
	}
	for (size_t i = 0; i < nonzero; i++)
		numbers[i] = (double)costs[i];
	resample(numbers, nonzero, &binomial, totals, resamples);
	interval.low = percentile(totals, resamples, 25);
	interval.high = percentile(totals, resamples, 975);
out:
	lode_free(numbers);
	lode_free(totals);
	lode_free(binomial.sums);
	return interval;
}

/* ---- permutation test ---- */

struct split {
	uint64_t *pool; /* costs of all streams */
	size_t count;
	size_t size;    /* of the smaller group */
	wide total;
	wide distance;  /* of the real split */
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
			size_t other = i + scale((uint32_t)(next_random(&random) >> 32), split->count - i);
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
