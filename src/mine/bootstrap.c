/*
 * Resampling: how sure a total over streams is (see ranking.h).
 *
 * Bootstrap: from n streams n are drawn with replacement, many times, and what
 * lies between the 2.5 % and the 97.5 % point of the totals is the interval.
 * Most groups cost something in few of the streams only, and draws of the others
 * add nothing; so it is first drawn how many of the n draws fall on the k streams
 * that count (a binomial number, by its table of sums), and then only these. The
 * outcome has the same distribution, at k / n of the work.
 *
 * Everything is computed with a generator of its own, whole numbers and the four
 * exact operations of floating-point arithmetic, so the same input gives the same
 * numbers on every machine.
 */
#include "mine/ranking.h"

#include "base/random.h"

#include <stdlib.h>
#include <string.h>

#define SEED 0x5eed10deu

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
	double at = (double)(lode_random_next(random) >> 11) * 0x1p-53 * binomial->sums[binomial->count - 1];
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
		uint64_t both = lode_random_next(random);

		total += costs[lode_random_scale((uint32_t)both, count)];
		total += costs[lode_random_scale((uint32_t)(both >> 32), count)];
	}
	if (draws)
		total += costs[lode_random_scale((uint32_t)lode_random_next(random), count)];
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
