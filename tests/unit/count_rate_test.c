/* The rate of a counter, beside one that is found by looking at every pair from every other. */
#include "cmocka_all.h"
#include "random_stream.h"

#include "import/kernel/count_rate.h"

#include <math.h>
#include <stdlib.h>

struct sample {
	uint64_t t;
	uint64_t count;
	uint32_t thread;
	uint16_t cpu;
};

struct pair {
	double rate;
	double time;
	double count;
};

/* Pairs of neighbours on one CPU, by looking back from each sample. */
static size_t pairs_of(const struct sample *samples, size_t count, struct pair *pairs)
{
	size_t found = 0;

	for (size_t i = 0; i < count; i++) {
		size_t j = i;

		while (j && samples[j - 1].cpu != samples[i].cpu)
			j--;
		if (!j || samples[j - 1].thread != samples[i].thread || samples[j - 1].t >= samples[i].t ||
		    !samples[i].count)
			continue;
		pairs[found].time = (double)(samples[i].t - samples[j - 1].t);
		pairs[found].count = (double)samples[i].count;
		pairs[found].rate = pairs[found].time / pairs[found].count;
		found++;
	}
	return found;
}

/* The counts of all pairs whose rate is within a factor of `from`. */
static double mass(const struct pair *pairs, size_t count, double from, double factor)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		if (pairs[i].rate >= from && pairs[i].rate <= from * factor)
			sum += pairs[i].count;
	return sum;
}

static double find(const struct sample *samples, size_t count)
{
	struct lode_count_rate rate = { 0 };
	double found;

	for (size_t i = 0; i < count; i++)
		assert_int_equal(lode_count_rate_add(&rate, samples[i].t, samples[i].cpu, samples[i].thread,
						     samples[i].count),
				 0);
	found = lode_count_rate_find(&rate);
	lode_count_rate_release(&rate);
	return found;
}

static void random_samples(struct sample *samples, size_t count, uint64_t *seed)
{
	uint64_t t = 0, kind = random_below(seed, 4);

	for (size_t i = 0; i < count; i++) {
		uint64_t gap = random_below(seed, kind == 0 ? 3 : 1000000);

		t += gap;
		samples[i] = (struct sample){
			.t = t,
			.count = kind == 3 ? gap * (1 + random_below(seed, 3))
					   : random_below(seed, 1u << (1 + random_below(seed, 30))),
			.thread = (uint32_t)random_below(seed, kind == 1 ? 100 : 3),
			.cpu = (uint16_t)random_below(seed, kind == 2 ? 2000 : 2),
		};
	}
}

/* No window as wide as the narrowest that it may use holds more counts than the widest around the answer. */
static void no_other_rate_has_more_counts(void **state)
{
	enum { MOST = 60 };
	struct sample samples[MOST];
	struct pair pairs[MOST];
	uint64_t seed = 5;

	(void)state;
	for (int round = 0; round < 5000; round++) {
		size_t count = (size_t)random_below(&seed, MOST + 1), found;
		double rate, own;

		random_samples(samples, count, &seed);
		found = pairs_of(samples, count, pairs);
		rate = find(samples, count);
		if (!found) {
			assert_true(rate == 0);
			continue;
		}
		own = mass(pairs, found, rate / 1.2, 1.2 * 1.2);
		for (size_t i = 0; i < found; i++)
			assert_true(mass(pairs, found, pairs[i].rate, 1.06) <= own);
	}
}

/* 2.6 GHz, a third of the time idle between samples, and short threads that count next to nothing. */
static void idle_time_and_short_threads_do_not_move_it(void **state)
{
	struct sample samples[3000];
	uint64_t t = 1000, seed = 9;

	(void)state;
	for (size_t i = 0; i < 3000; i++) {
		uint64_t busy = 240000 + random_below(&seed, 20000);

		if (i % 5 == 0) {
			samples[i] = (struct sample){ .t = t += 3,
						      .count = 1 + random_below(&seed, 500),
						      .thread = 2 + (uint32_t)i };
			continue;
		}
		t += busy + (i % 3 == 0 ? random_below(&seed, 5000000) : 0);
		samples[i] = (struct sample){ .t = t, .count = busy * 26 / 10, .thread = 1 };
	}
	assert_true(fabs(find(samples, 3000) * 2.6 - 1) < 0.02);
	assert_int_equal(lode_count_time(2600000, 1 / 2.6), 1000000);
	assert_true(lode_count_time(UINT64_MAX, 3) == UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_other_rate_has_more_counts),
		cmocka_unit_test(idle_time_and_short_threads_do_not_move_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
