/*
 * The choice of waits: chances are those that weights say, scales are met, and many thinnings of one
 * recording give what all of it costs, pattern by pattern, with intervals that hold the truth as often as they say.
 */
#include "cmocka_all.h"
#include "random_stream.h"

#include "base/random.h"
#include "mine/pattern_costs.h"
#include "record/budget/thinning.h"
#include "trace/events.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- single functions ---- */

static void a_weight_is_the_scale_over_the_usual_length(void **state)
{
	uint64_t seed = 3;

	(void)state;
	assert_int_equal(lode_thin_weight(0, 1u << 30), 1);
	for (int i = 0; i < 100000; i++) {
		uint64_t length = 16 + random_below(&seed, 1ull << random_below(&seed, 24)),
			 scale = random_number(&seed), square = 0;
		double expected;
		uint32_t weight;

		lode_thin_learn(&square, length);
		weight = lode_thin_weight(square, scale);
		assert_true(weight >= 1 && weight <= LODE_THIN_MAX_WEIGHT);
		length = length < LODE_THIN_LONG ? length : LODE_THIN_LONG;
		scale = scale < LODE_THIN_LONG * LODE_THIN_MAX_WEIGHT ? scale
								      : LODE_THIN_LONG * LODE_THIN_MAX_WEIGHT;
		expected = (double)(scale >> 4) / sqrt((double)square);
		expected = expected < 1                      ? 1
			   : expected > LODE_THIN_MAX_WEIGHT ? LODE_THIN_MAX_WEIGHT
							     : floor(expected);
		assert_true(fabs(weight - expected) <=
			    1e-9 * expected + (expected < LODE_THIN_MAX_WEIGHT ? 1e-6 : 0));
	}
}

static void one_in_weight_is_chosen(void **state)
{
	uint64_t seed = 5;

	(void)state;
	for (uint32_t weight = 1; weight <= LODE_THIN_MAX_WEIGHT; weight *= 3) {
		unsigned chosen = 0, draws = 200 * weight;

		for (unsigned i = 0; i < draws; i++)
			chosen += lode_thin_choose(weight, (uint32_t)(lode_splitmix64(&seed) >> 32)) != 0;
		assert_true(fabs(chosen - 200.0) <= 5 * sqrt(200.0) + (weight == 1 ? 0 : 1));
	}
}

static void what_is_learnt_follows_lengths(void **state)
{
	uint64_t square = 0;

	(void)state;
	for (int i = 0; i < 100; i++)
		lode_thin_learn(&square, 1600);
	assert_int_equal((uint64_t)sqrt((double)square), 100);
	for (int i = 0; i < 200; i++)
		lode_thin_learn(&square, 160000000);
	assert_true(square > (LODE_THIN_LONG >> 4) * (LODE_THIN_LONG >> 4) * 99 / 100);
	for (int i = 0; i < 400; i++)
		lode_thin_learn(&square, 0);
	assert_true(square < 100);
}

/* All of them up to a scale of 80 ms, whatever the dither; then fewer and fewer. */
static void long_waits_are_recorded_until_there_are_too_many(void **state)
{
	uint64_t before = 0;

	(void)state;
	for (uint64_t scale = 1000; scale < 8000000000u; scale += scale / 50 + 1) {
		uint64_t own = lode_thin_long_scale(scale);

		assert_true(own <= scale && own >= before);
		assert_true(!before || own <= before + before / 20 + 2);
		before = own;
		for (uint32_t random = 0; scale <= LODE_THIN_ALL_LONG && random < 128; random++)
			assert_int_equal(lode_thin_long_weight(LODE_THIN_LONG, lode_thin_dither(scale, random)), 1);
	}
	assert_int_equal(lode_thin_long_weight(LODE_THIN_LONG, 6000000000), 100);
	assert_int_equal(lode_thin_long_weight(LODE_THIN_LONG - 1, 60000000), 6);
}

/* ---- many thinnings of one recording ---- */

#define PLACES   200
#define PATTERNS 50
#define ROUNDS   (TEST_SANITIZED ? 10 : 200) /* sanitizers are for memory, not for averages */
#define WAITS    600000

struct wait {
	uint64_t length;
	uint32_t place;
};

/* A server's: each place has its usual length, from 2 us to 5 ms, and its own spread; few waits are long. */
static struct wait *make_waits(void)
{
	struct wait *waits = calloc(WAITS, sizeof(*waits));
	uint64_t seed = 11;

	for (size_t i = 0; i < WAITS; i++) {
		uint64_t place = random_below(&seed, PLACES) * random_below(&seed, PLACES) / PLACES;
		double usual = 2000 * pow(2500, (double)(place * 7919 % PLACES) / PLACES), spread = 0;

		for (int k = 0; k < 12; k++)
			spread += (double)random_below(&seed, 1000000) / 1e6 - 0.5;
		spread = exp(spread * (0.2 + (double)(place % 5) / 5));
		if (!random_below(&seed, 3000))
			spread *= 1000;
		waits[i] = (struct wait){ .length = (uint64_t)(usual * spread), .place = (uint32_t)place };
	}
	return waits;
}

struct estimate {
	double cost, variance;
};

/* As the programs do it (refresh_chance of thinning.bpf.h). */
static void refresh(struct lode_wait_site *place, uint64_t scale, uint32_t random)
{
	uint64_t own = lode_thin_dither(scale, random);

	if (!lode_thin_is_stale(place->scale, scale, random))
		return;
	place->weight = lode_thin_weight(place->square, own);
	place->limit = lode_thin_limit(place->weight, own);
	place->scale = place->square ? scale : 0;
}

/* Thins the waits; `uniform` not 0: with this weight for all, and nothing else. Returns how many were recorded. */
static size_t thin(const struct wait *waits, uint64_t scale, uint32_t uniform, uint64_t *seed,
		   struct estimate *estimates)
{
	static struct lode_wait_site places[PLACES];
	size_t recorded = 0;

	memset(places, 0, sizeof(places));
	for (size_t i = 0; i < PLACES; i++)
		estimates[i] = (struct estimate){ 0, 0 };
	for (size_t i = 0; i < WAITS; i++) {
		const struct wait *wait = &waits[i];
		struct lode_wait_site *place = &places[wait->place];
		uint32_t random = (uint32_t)(lode_splitmix64(seed) >> 32), weight;

		refresh(place, scale, random);
		weight = uniform ? uniform : place->weight;
		if (!lode_thin_choose(weight, random))
			weight = 0;
		if (!uniform)
			weight = lode_thin_settle(weight, place->limit, wait->length, scale, random);
		lode_thin_learn(&place->square, wait->length);
		if (!weight)
			continue;
		recorded++;
		estimates[wait->place].cost += (double)weight * (double)wait->length;
		estimates[wait->place].variance += lode_sampling_variance(wait->length, weight);
	}
	return recorded;
}

static int costlier(const void *a, const void *b)
{
	const struct estimate *left = a, *right = b;

	return left->cost > right->cost ? -1 : left->cost < right->cost;
}

struct trial {
	double truth, sum, squares, held, uniform_squares;
	uint32_t place;
};

/* The costliest places, which serve as patterns here. */
static void find_truth(const struct wait *waits, struct trial *trials)
{
	struct estimate all[PLACES] = { { 0, 0 } }, order[PLACES];

	for (size_t i = 0; i < WAITS; i++)
		all[waits[i].place].cost += (double)waits[i].length;
	for (size_t i = 0; i < PLACES; i++)
		order[i] = (struct estimate){ all[i].cost, (double)i };
	qsort(order, PLACES, sizeof(*order), costlier);
	for (size_t i = 0; i < PATTERNS; i++)
		trials[i] = (struct trial){ .truth = order[i].cost, .place = (uint32_t)order[i].variance };
}

static void take_round(struct trial *trials, const struct estimate *estimates, const struct estimate *uniform)
{
	for (size_t i = 0; i < PATTERNS; i++) {
		struct trial *trial = &trials[i];
		const struct estimate *one = &estimates[trial->place];
		struct lode_interval interval = lode_sampling_interval((uint64_t)one->cost, one->variance);

		trial->sum += one->cost;
		trial->squares += (one->cost - trial->truth) * (one->cost - trial->truth);
		trial->held += interval.low <= trial->truth && trial->truth <= interval.high;
		trial->uniform_squares +=
			(uniform[trial->place].cost - trial->truth) * (uniform[trial->place].cost - trial->truth);
	}
}

static void thinned_recordings_cost_what_the_whole_one_does(void **state)
{
	struct estimate estimates[PLACES], uniform[PLACES];
	struct wait *waits = make_waits();
	struct trial trials[PATTERNS];
	uint64_t seed = 17;
	double held = 0, ratio = 0;
	size_t recorded = 0, uniformly = 0;
	uint32_t weight;

	(void)state;
	find_truth(waits, trials);
	weight = (uint32_t)(WAITS / thin(waits, 10000000, 0, &seed, estimates));
	assert_true(weight >= 8); /* few of them are recorded */
	for (int round = 0; round < ROUNDS; round++) {
		recorded += thin(waits, 10000000, 0, &seed, estimates);
		uniformly += thin(waits, 0, weight, &seed, uniform);
		take_round(trials, estimates, uniform);
	}
	assert_true(uniformly >= recorded); /* it had no smaller chance */
	for (size_t i = 0; i < PATTERNS; i++) {
		assert_true(TEST_SANITIZED ||
			    fabs(trials[i].sum / ROUNDS - trials[i].truth) <= trials[i].truth / 100);
		held += trials[i].held;
		ratio += log(trials[i].uniform_squares / trials[i].squares);
	}
	held /= PATTERNS * ROUNDS;
	ratio = exp(ratio / PATTERNS);
	print_message("recorded 1 in %u; held %.3f; variance %.1f times smaller\n", weight, held, ratio);
	assert_true(TEST_SANITIZED || (held >= 0.93 && held <= 0.97));
	assert_true(ratio >= 4);
	free(waits);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_weight_is_the_scale_over_the_usual_length),
		cmocka_unit_test(one_in_weight_is_chosen),
		cmocka_unit_test(what_is_learnt_follows_lengths),
		cmocka_unit_test(long_waits_are_recorded_until_there_are_too_many),
		cmocka_unit_test(thinned_recordings_cost_what_the_whole_one_does),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
