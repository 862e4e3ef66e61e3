/*
 * Slots of time: each cycle has as many chosen ones as it should, all sets of them alike; and waits that are recorded only where
 * they end in a chosen slot, counted with their weights, are on average all waits, however long they are.
 */
#include "cmocka_all.h"
#include "random_stream.h"

#include "base/random.h"
#include "record/budget/time_slots.h"

#include <math.h>
#include <string.h>

/* ---- choosing ---- */

static struct lode_slot_plan plan_of(unsigned chosen)
{
	return (struct lode_slot_plan){ chosen, LODE_SLOTS_ALL };
}

static void a_cycle_has_as_many_slots_as_chosen_and_all_pairs_alike(void **state)
{
	(void)state;
	for (unsigned chosen = LODE_SLOTS_MIN_CHOSEN; chosen < LODE_SLOTS_ALL; chosen++) {
		unsigned pairs[LODE_SLOTS_ALL][LODE_SLOTS_ALL] = { { 0 } }, cycles = TEST_ROUNDS(10000);
		double expected =
			(double)cycles * chosen * (chosen - 1) / (LODE_SLOTS_ALL * (LODE_SLOTS_ALL - 1.0));
		struct lode_slots slots;
		uint64_t now = 1;

		lode_slots_init(&slots, chosen);
		for (unsigned cycle = 0; cycle < cycles; cycle++) {
			unsigned on[LODE_SLOTS_ALL], count = 0, length = 0;

			while (length < LODE_SLOTS_ALL) {
				assert_int_equal(lode_slots_advance(&slots, plan_of(chosen), now), 1);
				assert_int_equal((slots.ends_at - now) % LODE_SLOT_NS, 0);
				assert_int_equal(lode_slots_advance(&slots, plan_of(chosen), slots.ends_at - 1), 0);
				length += (unsigned)((slots.ends_at - now) / LODE_SLOT_NS);
				now = slots.ends_at;
				if (slots.now.on)
					on[count++] = length - 1;
			}
			assert_int_equal(length, LODE_SLOTS_ALL);
			assert_int_equal(count, chosen);
			for (unsigned i = 0; i < count; i++)
				for (unsigned k = 0; k < i; k++)
					pairs[on[k]][on[i]]++;
		}
		for (unsigned i = 0; i < LODE_SLOTS_ALL; i++)
			for (unsigned k = 0; k < i; k++)
				assert_true(TEST_SANITIZED ||
					    fabs(pairs[k][i] - expected) <= 5 * sqrt(expected) + 1);
	}
}

static void all_slots_are_one_that_does_not_end(void **state)
{
	struct lode_slots slots;

	(void)state;
	lode_slots_init(&slots, 7);
	for (uint64_t now = 1; now < 100 * (uint64_t)LODE_SLOT_NS; now += LODE_SLOT_NS)
		assert_int_equal(lode_slots_advance(&slots, plan_of(LODE_SLOTS_ALL), now), 0);
	assert_true(slots.now.on);
	assert_int_equal(lode_slot_weight(5, slots.now.factor, UINT32_MAX), 5);
	assert_int_equal(lode_slots_advance(&slots, plan_of(3), 1), 1); /* at once */
	assert_int_equal(slots.chosen, 3);
}

static void a_slot_that_was_late_is_as_long_as_others(void **state)
{
	struct lode_slots slots;

	(void)state;
	lode_slots_init(&slots, 7);
	assert_int_equal(lode_slots_advance(&slots, plan_of(3), 1000), 1);
	lode_slots_begin_late(&slots, 5000);
	assert_int_equal(slots.now.began, 5000);
	assert_int_equal(lode_slots_advance(&slots, plan_of(3), 4999 + slots.span_ns), 0);
	assert_int_equal(lode_slots_advance(&slots, plan_of(3), 5000 + slots.span_ns), 1);
}

/* ---- weights ---- */

/* One whole cycle of three of so many slots, each of which begins `late` after its time. Returns how long a slot was. */
static uint64_t run_cycle(struct lode_slots *slots, unsigned all, uint64_t *now, uint64_t late)
{
	uint64_t shortest = UINT64_MAX;

	do {
		assert_int_equal(lode_slots_advance(slots, (struct lode_slot_plan){ 3, all }, *now), 1);
		if (slots->now.on) {
			*now += late;
			lode_slots_begin_late(slots, *now);
			shortest = slots->ends_at - *now < shortest ? slots->ends_at - *now : shortest;
		}
		*now = slots->ends_at;
	} while (slots->next < all);
	return shortest;
}

static void slots_are_longer_where_the_kernel_takes_its_time(void **state)
{
	struct lode_slots slots;
	uint64_t now = 1, length = 0;

	(void)state;
	lode_slots_init(&slots, 7);
	for (int i = 0; i < 5; i++)
		assert_int_equal(run_cycle(&slots, 16, &now, 100000), LODE_SLOT_NS);
	run_cycle(&slots, 16, &now, 15000000); /* 45 ms of a quarter of a second */
	assert_int_equal(run_cycle(&slots, 16, &now, 1000000000), 2 * LODE_SLOT_NS);
	for (int i = 0; i < 5; i++)
		length = run_cycle(&slots, 16, &now, 1000000000);
	assert_int_equal(length, LODE_SLOT_MAX_NS);
	/* A cycle does not last longer than about two seconds. */
	assert_int_equal(run_cycle(&slots, 64, &now, 1000000000), 2 * LODE_SLOT_NS);
	assert_int_equal(run_cycle(&slots, 128, &now, 1000000000), LODE_SLOT_NS);
	for (int i = 0; i < 5; i++)
		length = run_cycle(&slots, 64, &now, 1000000000);
	assert_int_equal(length, 2 * LODE_SLOT_NS);
	for (int i = 0; i < 5; i++)
		length = run_cycle(&slots, 16, &now, 1000);
	assert_int_equal(length, LODE_SLOT_NS);
}

static void a_plan_is_near_the_part_that_is_wanted(void **state)
{
	(void)state;
	for (double part = 1.0 / 64; part < 0.97; part *= 1.001) {
		struct lode_slot_plan plan = lode_slots_plan(part);

		assert_true(plan.chosen >= LODE_SLOTS_MIN_CHOSEN && plan.chosen < plan.all &&
			    plan.all <= LODE_SLOTS_MAX);
		assert_true(fabs((double)plan.chosen / plan.all / part - 1) <= 0.04);
	}
	assert_int_equal(lode_slots_plan(1).chosen, LODE_SLOTS_ALL);
	assert_int_equal(lode_slots_plan(0.0001).chosen, LODE_SLOTS_MIN_CHOSEN);
	assert_int_equal(lode_slots_plan(0.0001).all, LODE_SLOTS_MAX);
}

/* Cut short at any moment, also between slots that are off and last until the next one that is on. */
static void a_cycle_ends_when_it_is_told_to(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed < 200; seed++) {
		struct lode_slots slots;
		uint64_t now = 1, end = 1 + seed * LODE_SLOT_NS / 3;

		lode_slots_init(&slots, seed);
		lode_slots_advance(&slots, plan_of(3), now);
		while (slots.ends_at <= end) {
			now = slots.ends_at;
			lode_slots_advance(&slots, plan_of(3), now);
		}
		lode_slots_end_cycle(&slots, end);
		/* The slot of that moment is the last one. */
		assert_true(slots.ends_at > end && slots.ends_at <= end + LODE_SLOT_NS);
		assert_int_equal((slots.ends_at - 1) % LODE_SLOT_NS, 0);
		assert_int_equal(lode_slots_advance(&slots, (struct lode_slot_plan){ 2, 5 }, slots.ends_at), 1);
		assert_int_equal(slots.chosen, 2);
	}
}

static void weights_are_rounded_to_themselves_on_average(void **state)
{
	uint64_t seed = 5;

	(void)state;
	for (int i = 0; i < 2000; i++) {
		uint32_t weight = 1 + (uint32_t)random_below(&seed, 50);
		uint64_t factor = LODE_SLOT_UNIT + random_below(&seed, 60000), sum = 0;

		for (uint32_t byte = 0; byte < 256; byte++)
			sum += lode_slot_weight(weight, factor,
						byte << 24 | (uint32_t)random_below(&seed, 1 << 24));
		assert_int_equal(sum, weight * factor); /* the mean of 256, in 1/256 */
	}
}

#define WAITS  40
#define CYCLES 6
#define ROUNDS 4000

struct wait {
	unsigned end; /* slots since the start */
};

/* The cycle that has a slot. */
static unsigned cycle_of(unsigned slot, const struct lode_slot_plan *plan)
{
	unsigned cycle = 0;

	for (unsigned begin = 0; slot >= begin + plan[cycle].all; cycle++)
		begin += plan[cycle].all;
	return cycle;
}

static unsigned slots_of(const struct lode_slot_plan *plan)
{
	unsigned all = 0;

	for (unsigned i = 0; i < CYCLES; i++)
		all += plan[i].all;
	return all;
}

/* One way to choose slots; adds the weights of what was seen to `sums`. */
static void play(const struct wait *waits, const struct lode_slot_plan *plan, uint64_t seed, double *sums,
		 double *squares)
{
	unsigned all = slots_of(plan), last = CYCLES;
	struct lode_slots slots;
	uint64_t now = 1, rounding = seed * 3 + 1; /* other numbers than those that slots are chosen by */

	lode_slots_init(&slots, seed);
	for (unsigned i = 0; i < all; i++, now += LODE_SLOT_NS) {
		unsigned cycle = cycle_of(i, plan);

		/* A cycle in which all are chosen is one slot. */
		if (plan[cycle].chosen < LODE_SLOTS_ALL || cycle != last)
			lode_slots_advance(&slots, plan[cycle], now); /* if it is time */
		last = cycle;
		for (unsigned k = 0; k < WAITS; k++) {
			if (waits[k].end == i && slots.now.on) {
				double weight = lode_slot_weight(1, slots.now.factor,
								 (uint32_t)(lode_splitmix64(&rounding) >> 32));

				sums[k] += weight;
				squares[k] += weight * weight;
			}
		}
	}
}

/* The inverse of the chance that the end of a wait is seen, by the definition. */
static double inverse_chance(const struct wait *wait, const struct lode_slot_plan *plan)
{
	const struct lode_slot_plan *cycle = &plan[cycle_of(wait->end, plan)];

	return (double)cycle->all / cycle->chosen;
}

static void what_is_seen_in_slots_is_everything_on_average(void **state)
{
	uint64_t seed = 99;
	double all = 0, expected = 0, variance = 0;

	(void)state;
	for (int trial = 0; trial < (TEST_SANITIZED ? 2 : 60); trial++) {
		struct wait waits[WAITS];
		struct lode_slot_plan plan[CYCLES];
		double sums[WAITS] = { 0 }, squares[WAITS] = { 0 };

		for (unsigned i = 0; i < CYCLES; i++)
			plan[i] = lode_slots_plan(random_below(&seed, 4)
							  ? (double)(1 + random_below(&seed, 200)) / 200
							  : 1.0 / (1 + (double)random_below(&seed, 64)));
		for (unsigned k = 0; k < WAITS; k++)
			waits[k].end = (unsigned)random_below(&seed, slots_of(plan));
		for (unsigned round = 0; round < ROUNDS; round++)
			play(waits, plan, lode_splitmix64(&seed), sums, squares);
		for (unsigned k = 0; k < WAITS; k++) {
			double mean = sums[k] / ROUNDS, inverse = inverse_chance(&waits[k], plan);

			assert_true(fabs(mean - 1) <=
				    6 * sqrt((inverse - 1 + 1e-3) / ROUNDS) + 12 * inverse / ROUNDS);
			/* Each time that it was seen, the weight was the inverse of the chance. */
			assert_true(!sums[k] || fabs(squares[k] / sums[k] - inverse) <= inverse / 50 + 0.3);
			all += mean;
			expected++;
			variance += (inverse - 1) / ROUNDS;
		}
	}
	print_message("of %.0f waits %.1f on average, standard deviation %.1f\n", expected, all, sqrt(variance));
	assert_true(fabs(all - expected) <= 4 * sqrt(variance));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_cycle_has_as_many_slots_as_chosen_and_all_pairs_alike),
		cmocka_unit_test(all_slots_are_one_that_does_not_end),
		cmocka_unit_test(a_slot_that_was_late_is_as_long_as_others),
		cmocka_unit_test(slots_are_longer_where_the_kernel_takes_its_time),
		cmocka_unit_test(a_plan_is_near_the_part_that_is_wanted),
		cmocka_unit_test(a_cycle_ends_when_it_is_told_to),
		cmocka_unit_test(weights_are_rounded_to_themselves_on_average),
		cmocka_unit_test(what_is_seen_in_slots_is_everything_on_average),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
