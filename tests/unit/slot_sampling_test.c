/*
 * How far sums are off that were recorded in slots of time: the random sums have the variance between slots by its
 * definition; intervals hold the truth as often as they say, for a load in bursts, which they do not when slots are not
 * known; and what mine says of a stream in a corpus is the same.
 */
#include "cmocka_all.h"
#include "random_stream.h"
#include "small_stream.h"
#include "temporary.h"

#include "base/random.h"
#include "mine/pattern_costs.h"
#include "record/budget/time_slots.h"
#include "scope/area.h"
#include "trace/slot_sampling.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLOT_NS   1000000u
#define STRETCHED (2.1199 / 1.96)

/* ---- the definition ---- */

/* A slot of a cycle that begins at slot number `at`. */
static void add_slot(struct lode_events *calls, struct lode_strings *strings, unsigned at, unsigned chosen,
		     unsigned cycle)
{
	struct lode_event slot = { .t = (uint64_t)at * SLOT_NS, .delay = SLOT_NS - 1, .waker = LODE_NONE };
	char name[32];

	snprintf(name, sizeof(name), LODE_SLOT_NAME "%u/%u %c", chosen, LODE_SLOTS_ALL, cycle & 1 ? 'b' : 'a');
	slot.name = lode_strings_add(strings, name, strlen(name));
	assert_int_not_equal(slot.name, LODE_NONE);
	assert_int_equal(lode_events_add(calls, &slot), 0);
}

static void random_sums_have_the_variance_between_slots(void **state)
{
	uint64_t seed = 3;

	(void)state;
	for (int trial = 0; trial < 60; trial++) {
		struct lode_events calls = { 0 };
		struct lode_strings strings;
		double sums[3][LODE_SLOTS_ALL] = { { 0 } }, expected = 0, mean_square = 0;
		unsigned chosen[3];

		assert_int_equal(lode_strings_init(&strings), 0);
		assert_int_equal(lode_slot_sampling_is_possible(&strings), 0);
		for (unsigned cycle = 0; cycle < 3; cycle++) {
			double mean = 0, squares = 0;

			chosen[cycle] = 2 + (unsigned)random_below(&seed, LODE_SLOTS_ALL - 2);
			for (unsigned i = 0; i < chosen[cycle]; i++) {
				add_slot(&calls, &strings, cycle * LODE_SLOTS_ALL + i, chosen[cycle], cycle);
				sums[cycle][i] = (double)(1 + random_below(&seed, 1000));
				mean += sums[cycle][i] / chosen[cycle];
			}
			for (unsigned i = 0; i < chosen[cycle]; i++)
				squares += (sums[cycle][i] - mean) * (sums[cycle][i] - mean);
			expected += (1 - (double)chosen[cycle] / LODE_SLOTS_ALL) * chosen[cycle] /
				    (chosen[cycle] - 1.0) * squares;
		}
		assert_int_equal(lode_slot_sampling_is_possible(&strings), 1);
		for (unsigned draw = 0; draw < 300; draw++) {
			struct lode_slot_sampling sampling = { 0 };
			float spread[LODE_SPREADS] = { 0 };

			assert_int_equal(lode_slot_sampling_see(&sampling, &calls, &strings), 0);
			lode_slot_sampling_settle(&sampling, draw * 77u + 5);
			for (unsigned cycle = 0; cycle < 3; cycle++)
				for (unsigned i = 0; i < chosen[cycle]; i++)
					lode_slot_sampling_add(&sampling,
							       (uint64_t)(cycle * LODE_SLOTS_ALL + i) * SLOT_NS + 7,
							       (uint64_t)sums[cycle][i] / 2, 2, spread);
			mean_square += lode_slot_sampling_between(spread) / 300;
			lode_slot_sampling_release(&sampling);
		}
		/* Halves of odd numbers are cut; 4,800 squares have a mean of 2 %. */
		assert_true(fabs(mean_square / (STRETCHED * STRETCHED) - expected) <= 0.12 * expected + 1);
		lode_events_release(&calls);
		lode_strings_release(&strings);
	}
}

static void outside_of_slots_each_event_is_by_itself(void **state)
{
	struct lode_slot_sampling sampling = { 0 };

	(void)state;
	assert_true(lode_slot_sampling_add(&sampling, 5, 100, 3, NULL) == 3 * 2 * 100.0 * 100.0);
	assert_true(lode_slot_sampling_add(&sampling, 5, 100, 1, NULL) == 0);
}

/* ---- a load in bursts ---- */

#define CYCLES   30
#define PATTERNS 4
#define STACKS   3                             /* of each pattern */
#define ROUNDS   (TEST_SANITIZED ? 100 : 1500) /* sanitizers are for memory, not for averages */

struct wait {
	uint32_t slot;
	uint32_t stack;
	uint64_t cost;
};

struct load {
	struct wait waits[CYCLES * LODE_SLOTS_ALL * 60];
	size_t count;
	double truth[PATTERNS];
};

/* A few waits in each slot, and bursts that last up to four, of all stacks together. */
static void make_load(struct load *load, uint64_t *seed)
{
	unsigned burst = 0;

	memset(load, 0, sizeof(*load));
	for (unsigned slot = 0; slot < CYCLES * LODE_SLOTS_ALL; slot++) {
		unsigned count;

		if (!burst && !random_below(seed, 12))
			burst = 1 + (unsigned)random_below(seed, 4);
		count = burst ? 20 + (unsigned)random_below(seed, 30) : 4;
		burst -= burst > 0;
		for (unsigned i = 0; i < count; i++) {
			struct wait wait = { .slot = slot,
					     .stack = (uint32_t)random_below(seed, PATTERNS * STACKS),
					     .cost = 1000 + random_below(seed, 20000) };

			load->waits[load->count++] = wait;
			load->truth[wait.stack / STACKS] += (double)wait.cost;
		}
	}
}

/* Which slots are on, as the recorder draws them. */
static void draw_slots(unsigned char *on, unsigned chosen, uint64_t seed)
{
	struct lode_slots slots;
	uint64_t now = 1;

	lode_slots_init(&slots, seed);
	for (unsigned i = 0; i < CYCLES * LODE_SLOTS_ALL; i++, now += LODE_SLOT_NS) {
		lode_slots_advance(&slots, (struct lode_slot_plan){ chosen, LODE_SLOTS_ALL }, now);
		on[i] = slots.now.on != 0;
	}
}

/* What one recording says of each pattern: whether the interval holds the truth, with slots and without. */
static void record_load(const struct load *load, unsigned chosen, uint64_t seed, unsigned *held, unsigned *blind)
{
	unsigned char on[CYCLES * LODE_SLOTS_ALL];
	struct lode_slot_sampling sampling = { 0 };
	struct lode_events calls = { 0 };
	struct lode_strings strings;
	double sums[PATTERNS] = { 0 }, inside[PATTERNS] = { 0 }, naive[PATTERNS] = { 0 };
	float spreads[PATTERNS * STACKS][LODE_SPREADS] = { { 0 } };
	uint32_t factor = LODE_SLOTS_ALL * LODE_SLOT_UNIT / chosen;

	assert_int_equal(lode_strings_init(&strings), 0);
	draw_slots(on, chosen, seed);
	for (unsigned i = 0; i < CYCLES * LODE_SLOTS_ALL; i++)
		if (on[i])
			add_slot(&calls, &strings, i, chosen, i / LODE_SLOTS_ALL);
	assert_int_equal(lode_slot_sampling_see(&sampling, &calls, &strings), 0);
	lode_slot_sampling_settle(&sampling, seed);
	for (size_t i = 0; i < load->count; i++) {
		const struct wait *wait = &load->waits[i];
		uint32_t pattern = wait->stack / STACKS, weight, own = wait->cost > 15000 ? 1 : 3;

		if (!on[wait->slot] || random_below(&seed, own))
			continue;
		weight = lode_slot_weight(own, factor, (uint32_t)lode_splitmix64(&seed));
		sums[pattern] += (double)(weight * wait->cost);
		naive[pattern] += lode_sampling_variance(wait->cost, weight);
		inside[pattern] += lode_slot_sampling_add(&sampling, (uint64_t)wait->slot * SLOT_NS + 99,
							  wait->cost, weight, spreads[wait->stack]);
	}
	for (unsigned p = 0; p < PATTERNS; p++) {
		float all[LODE_SPREADS] = { 0 };
		struct lode_interval known, unknown = lode_sampling_interval((uint64_t)sums[p], naive[p]);

		for (unsigned k = 0; k < STACKS * LODE_SPREADS; k++)
			all[k % LODE_SPREADS] += spreads[p * STACKS + k / LODE_SPREADS][k % LODE_SPREADS];
		known = lode_sampling_interval((uint64_t)sums[p], inside[p] + lode_slot_sampling_between(all));
		*held += known.low <= load->truth[p] && load->truth[p] <= known.high;
		*blind += unknown.low <= load->truth[p] && load->truth[p] <= unknown.high;
	}
	lode_slot_sampling_release(&sampling);
	lode_events_release(&calls);
	lode_strings_release(&strings);
}

static void intervals_hold_the_truth_of_bursts(void **state)
{
	const unsigned plans[] = { 2, 5, 12, 25 };
	static struct load load;
	uint64_t seed = 11;

	(void)state;
	for (size_t i = 0; i < sizeof(plans) / sizeof(*plans); i++) {
		unsigned held = 0, blind = 0, all = ROUNDS * PATTERNS;

		for (unsigned round = 0; round < ROUNDS; round++) {
			if (round % 50 == 0)
				make_load(&load, &seed);
			record_load(&load, plans[i], lode_splitmix64(&seed), &held, &blind);
		}
		print_message("%u of %u slots: held %.1f %%, without knowing them %.1f %%\n", plans[i],
			      LODE_SLOTS_ALL, 100.0 * held / all, 100.0 * blind / all);
		assert_true(TEST_SANITIZED || (held >= 0.93 * all && held <= 0.97 * all));
		assert_true(TEST_SANITIZED || blind < 0.9 * all);
	}
}

/* ---- a corpus ---- */

#define ID "0000000000000000000000000000abcd"

/* Waits of two stacks with weights, in the chosen slots of three cycles and between them. */
static void make_stream(struct small_stream *small, uint64_t *seed)
{
	struct lode_events *waits = &small->stream.events[LODE_WAIT];

	small_begin(small);
	for (unsigned slot = 0; slot < 3 * LODE_SLOTS_ALL; slot++) {
		if (slot % 4 == 0)
			add_slot(&small->stream.events[LODE_CALL], &small->dictionary.frames.strings, slot,
				 LODE_SLOTS_ALL / 4, slot / LODE_SLOTS_ALL);
		for (unsigned i = 0; i < 3; i++) {
			uint64_t t = (uint64_t)slot * SLOT_NS + i * 1000;

			small_event(small, LODE_WAIT, 1, t, 1 + random_below(seed, 3000000),
				    random_below(seed, 2000000), LODE_NONE,
				    random_below(seed, 2) ? "a!main;a!left" : "a!main;a!right");
			assert_int_equal(lode_events_reserve(waits, waits->capacity, LODE_WEIGHT), 0);
			waits->weight[waits->count - 1] = 1 + (uint32_t)random_below(seed, 20);
		}
	}
	for (size_t i = 0; i < small->stream.events[LODE_CALL].count; i++)
		small->stream.events[LODE_CALL].thread[i] = lode_stream_tid(&small->stream, 1);
}

/* The variance of all waits of a stack, or of all of them (0), by the functions themselves. */
static double variance_of(struct small_stream *small, uint32_t stack)
{
	const struct lode_events *waits = &small->stream.events[LODE_WAIT];
	struct lode_slot_sampling sampling = { 0 };
	float spread[LODE_SPREADS] = { 0 };
	double inside = 0;

	assert_int_equal(lode_slot_sampling_see(&sampling, &small->stream.events[LODE_CALL],
						&small->dictionary.frames.strings),
			 0);
	lode_slot_sampling_settle(&sampling, strtoull(ID, NULL, 16));
	for (size_t i = 0; i < waits->count; i++)
		if (!stack || waits->stack[i] == stack)
			inside += lode_slot_sampling_add(&sampling, waits->t[i] + waits->cost[i] + waits->delay[i],
							 waits->cost[i], waits->weight[i], spread);
	lode_slot_sampling_release(&sampling);
	return inside + lode_slot_sampling_between(spread);
}

static double measured(const struct lode_area *area, const struct lode_matcher *matcher, const char *name)
{
	struct lode_pattern_costs *ranking = lode_pattern_costs_make(area, LODE_WAIT, matcher);
	uint32_t frame =
		lode_frames_parse((struct lode_frames *)(uintptr_t)&area->dictionary.frames, name, strlen(name));
	struct lode_sequence pattern = { &frame, 1 };
	struct lode_metrics metrics;

	assert_non_null(ranking);
	assert_int_equal(lode_pattern_costs_measure(ranking, &pattern, 1, 0, &metrics, NULL), 0);
	lode_pattern_costs_free(ranking);
	return metrics.variance;
}

/* Twice: the second time from what was kept of the first. */
static void mine_knows_slots(void **state)
{
	struct lode_area_options options = { .scope = LODE_SCOPE_ALL, .jobs = 1 };
	const char *const names[] = { "a!main", "a!left", "a!right" };
	struct small_stream small;
	struct lode_corpus *corpus;
	struct lode_error error;
	char folder[64], path[96];
	uint64_t seed = 8;

	(void)state;
	make_stream(&small, &seed);
	assert_int_equal(temporary_folder(folder, sizeof(folder)), 0);
	snprintf(path, sizeof(path), "%s/corpus", folder);
	assert_int_equal(lode_corpus_open(&corpus, path, LODE_CORPUS_CREATE, &error), 0);
	assert_int_equal(lode_corpus_add(corpus, ID, "test", &small.stream, 0, 1, &error), 1);
	for (int round = 0; round < 2; round++) {
		struct lode_matcher matcher;
		struct lode_area area;

		assert_int_equal(lode_area_collect(corpus, &options, NULL, &area, &error), 0);
		assert_int_equal(lode_matcher_init(&matcher, &area.dictionary.tree, area.dictionary.frames.count),
				 0);
		for (int i = 0; i < 3; i++) {
			uint32_t stack = i ? small_stack(&small, i == 1 ? "a!main;a!left" : "a!main;a!right") : 0;
			double expected = variance_of(&small, stack), found = measured(&area, &matcher, names[i]);

			assert_true(expected > 0 && fabs(found - expected) <= 1e-4 * expected);
		}
		lode_matcher_release(&matcher);
		lode_area_release(&area);
	}
	lode_corpus_close(corpus);
	small_end(&small);
	assert_int_equal(temporary_remove(folder), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_sums_have_the_variance_between_slots),
		cmocka_unit_test(outside_of_slots_each_event_is_by_itself),
		cmocka_unit_test(intervals_hold_the_truth_of_bursts),
		cmocka_unit_test(mine_knows_slots),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
