/*
 * Calibration: weights of 200 thinnings of one recording add up to the exact time of each thread, stacks cost what they cost in
 * the whole one on average and scatter less, and intervals hold the truth; where little was recorded, or not all is
 * known, nothing changes.
 */
#include "cmocka_all.h"
#include "random_stream.h"
#include "small_stream.h"

#include "base/random.h"
#include "mine/pattern_costs.h"
#include "record/budget/calibration.h"
#include "record/budget/thinning.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 5
#define STACKS  200
#define WAITS   600000
#define ROUNDS  (TEST_SANITIZED ? 10 : 200) /* sanitizers are for memory, not for averages */
#define TOP     50

struct wait {
	uint64_t t, cost, delay;
	uint32_t thread, stack;
	int preempted;
};

/* The stacks of a thread are its own; the first of some threads have most of their time. */
static struct wait *make_waits(struct lode_stream *stream)
{
	struct wait *waits = calloc(WAITS, sizeof(*waits));
	uint64_t seed = 21, t = 1000;

	assert_non_null(waits);
	for (size_t i = 0; i < WAITS; i++) {
		uint32_t thread = (uint32_t)random_below(&seed, THREADS);
		uint64_t rank = random_below(&seed, thread < 2 && random_below(&seed, 5) ? 1 : STACKS / THREADS);
		uint32_t stack = (uint32_t)rank * THREADS + thread;
		double usual = 3000 * pow(300, (double)((stack * 37 + 170) % STACKS) / STACKS);
		uint64_t length = (uint64_t)(usual * (0.3 + (double)random_below(&seed, 1000) / 500));

		t += random_below(&seed, 200000);
		waits[i] = (struct wait){ t, length - length / 4, length / 4, thread, stack, stack % 7 == 3 };
		if (waits[i].preempted) {
			waits[i].cost = 0;
			waits[i].delay = length;
		}
		stream->threads[thread].totals.waits++;
		stream->threads[thread].totals.waited_ns += waits[i].cost;
		stream->threads[thread].totals.queued_ns += waits[i].delay;
	}
	return waits;
}

struct estimate {
	double cost, variance;
};

/* One recording: `events` get those that were chosen. Returns how many. */
static size_t thin(const struct wait *waits, uint32_t preempt, uint64_t *seed, struct lode_event *events)
{
	struct lode_wait_site places[STACKS];
	size_t count = 0;

	memset(places, 0, sizeof(places));
	for (size_t i = 0; i < WAITS; i++) {
		const struct wait *wait = &waits[i];
		struct lode_wait_site *place = &places[wait->stack];
		uint32_t random = (uint32_t)(lode_splitmix64(seed) >> 32), weight;
		uint64_t own = lode_thin_dither(2500000, random), length = wait->cost + wait->delay;

		weight = lode_thin_weight(place->square, own);
		place->limit = lode_thin_limit(weight, own);
		if (!lode_thin_choose(weight, random))
			weight = 0;
		weight = lode_thin_settle(weight, place->limit, length, 2500000, random);
		lode_thin_learn(&place->square, length);
		if (weight)
			events[count++] = (struct lode_event){ .t = wait->t,
							       .cost = wait->cost,
							       .delay = wait->delay,
							       .thread = wait->thread,
							       .stack = wait->stack,
							       .name = wait->preempted ? preempt : 0,
							       .weight = weight };
	}
	return count;
}

static enum lode_event_type type_of(const struct lode_event *event)
{
	return event->name ? LODE_CALL : LODE_WAIT;
}

/* Sums of stacks, and of threads; time in the run queue counts. */
static void sum_up(const struct lode_event *events, size_t count, struct estimate *stacks, double *threads)
{
	memset(stacks, 0, STACKS * sizeof(*stacks));
	memset(threads, 0, THREADS * sizeof(*threads));
	for (size_t i = 0; i < count; i++) {
		uint64_t length = events[i].cost + events[i].delay;

		stacks[events[i].stack].cost += (double)length * events[i].weight;
		stacks[events[i].stack].variance += lode_sampling_variance(length, events[i].weight);
		threads[events[i].thread] += (double)length * events[i].weight;
	}
}

static void calibrate(const struct lode_stream *stream, struct lode_event *events, size_t count)
{
	struct lode_calibration calibration;

	assert_int_equal(lode_calibration_init(&calibration, stream), 0);
	for (size_t i = 0; i < count; i++)
		lode_calibration_see(&calibration, type_of(&events[i]), &events[i]);
	assert_int_equal(lode_calibration_settle(&calibration, stream), THREADS);
	for (size_t i = 0; i < count; i++)
		events[i].weight = lode_calibration_weight(&calibration, type_of(&events[i]), &events[i]);
	lode_calibration_release(&calibration);
}

struct trial {
	double truth, sum, squares, plain, held;
};

static int costlier(const void *a, const void *b)
{
	const struct trial *left = a, *right = b;

	return left->truth > right->truth ? -1 : left->truth < right->truth;
}

/* 1 when the interval holds the truth. */
static int holds(const struct estimate *estimate, double truth)
{
	struct lode_interval interval = lode_sampling_interval((uint64_t)estimate->cost, estimate->variance);

	return interval.low <= truth && truth <= interval.high;
}

static void require_threads(const struct lode_stream *stream, const double *threads)
{
	for (size_t i = 0; i < THREADS; i++) {
		double exact = (double)(stream->threads[i].totals.waited_ns + stream->threads[i].totals.queued_ns);

		assert_true(fabs(threads[i] - exact) <= 0.01 * exact);
	}
}

static void begin(struct small_stream *small, uint32_t *preempt)
{
	small_begin(small);
	*preempt = lode_strings_add(&small->dictionary.frames.strings, "preempt", 7);
	for (uint32_t i = 0; i < THREADS; i++)
		assert_int_equal(lode_stream_thread(&small->stream, 1, 1 + i), i);
}

static void calibrated_recordings_agree_with_totals_and_with_the_whole(void **state)
{
	struct lode_event *events = calloc(WAITS, sizeof(*events));
	struct estimate stacks[STACKS];
	struct trial trials[STACKS] = { { 0 } };
	struct small_stream small;
	double threads[THREADS], held = 0, smaller = 0, most = 0;
	uint64_t seed = 5;
	uint32_t preempt;
	struct wait *waits;

	(void)state;
	begin(&small, &preempt);
	waits = make_waits(&small.stream);
	for (size_t i = 0; i < WAITS; i++)
		trials[waits[i].stack].truth += (double)(waits[i].cost + waits[i].delay);
	for (int round = 0; round < ROUNDS; round++) {
		size_t count = thin(waits, preempt, &seed, events);

		sum_up(events, count, stacks, threads);
		for (size_t i = 0; i < STACKS; i++)
			trials[i].plain += pow(stacks[i].cost - trials[i].truth, 2);
		calibrate(&small.stream, events, count);
		sum_up(events, count, stacks, threads);
		require_threads(&small.stream, threads);
		for (size_t i = 0; i < STACKS; i++) {
			trials[i].sum += stacks[i].cost;
			trials[i].squares += pow(stacks[i].cost - trials[i].truth, 2);
			trials[i].held += holds(&stacks[i], trials[i].truth);
		}
	}
	qsort(trials, STACKS, sizeof(*trials), costlier);
	for (size_t i = 0; i < TOP; i++) {
		double ratio = trials[i].plain / trials[i].squares;

		assert_true(TEST_SANITIZED ||
			    fabs(trials[i].sum / ROUNDS - trials[i].truth) <= trials[i].truth / 100);
		held += trials[i].held / (TOP * ROUNDS);
		smaller += log(ratio) / TOP;
		most = ratio > most ? ratio : most;
	}
	print_message("held %.3f; variance %.2f times smaller, for one stack %.1f times\n", held, exp(smaller),
		      most);
	assert_true(TEST_SANITIZED || (held >= 0.93 && held <= 0.975));
	assert_true(TEST_SANITIZED || (smaller > 0 && most > 2));
	free(events);
	free(waits);
	small_end(&small);
}

/*
 * Weights after calibration of `count` waits of `cost` and weight 4, in as many moments, by totals of so many times their time; with
 * a string that may be the name of a slot.
 */
static uint32_t weights_of(size_t count, double times, int known, uint64_t cost, const char *string)
{
	struct lode_calibration calibration;
	struct small_stream small;
	uint32_t preempt, sum = 0;

	begin(&small, &preempt);
	lode_strings_add(&small.dictionary.frames.strings, string, strlen(string));
	if (known)
		small.stream.threads[0].totals =
			(struct lode_thread_totals){ .waits = 4 * count,
						     .waited_ns = (uint64_t)(times * 4 * (double)(cost * count)) };
	assert_int_equal(lode_calibration_init(&calibration, &small.stream), 0);
	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < count; i++) {
			struct lode_event event = { .t = i * LODE_CALIBRATION_MOMENT_NS, .cost = cost, .weight = 4 };

			if (!pass)
				lode_calibration_see(&calibration, LODE_WAIT, &event);
			else
				sum += lode_calibration_weight(&calibration, LODE_WAIT, &event);
		}
		if (!pass)
			lode_calibration_settle(&calibration, &small.stream);
	}
	lode_calibration_release(&calibration);
	small_end(&small);
	return sum;
}

static void where_little_is_known_weights_stay(void **state)
{
	(void)state;
	assert_int_equal(weights_of(LODE_CALIBRATION_MIN_EVENTS - 1, 1.5, 1, 1000, "none"),
			 4 * (LODE_CALIBRATION_MIN_EVENTS - 1));
	assert_int_equal(weights_of(1000, 1.5, 1, 1000, "none"), 6000);
	assert_int_equal(weights_of(1000, 0.75, 1, 1000, "none"), 3000);
	assert_int_equal(weights_of(1000, 2.5, 1, 1000, "none"), 4000);
	assert_int_equal(weights_of(1000, 0.3, 1, 1000, "none"), 4000);
	assert_int_equal(weights_of(1000, 1.5, 0, 1000, "none"), 4000);
	assert_int_equal(weights_of(0, 1.5, 1, 1000, "none"), 0);
}

static void short_waits_keep_their_weights_in_slots(void **state)
{
	uint64_t least = LODE_CALIBRATION_MIN_WAIT_NS;

	(void)state;
	assert_int_equal(weights_of(1000, 0.75, 1, least, "slot 7/64 a"), 4000);
	assert_int_equal(weights_of(1000, 0.75, 1, 2 * least, "slot 7/64 a"), 3000);
	assert_int_equal(weights_of(1000, 0.75, 1, least, "none"), 3000);
}

static void what_was_certain_and_what_is_no_wait_stays(void **state)
{
	struct lode_event events[4] = { { .cost = 1000000, .weight = 1 },
					{ .cost = 1000, .weight = 8 },
					{ .weight = 16 },
					{ .cost = 5, .weight = 4, .thread = 99 } };
	struct lode_calibration calibration;
	struct small_stream small;
	uint32_t preempt;

	(void)state;
	begin(&small, &preempt);
	small.stream.threads[0].totals.waits = 1;
	small.stream.threads[0].totals.waited_ns = 100 * 1000000 + 100 * 12000;
	assert_int_equal(lode_calibration_init(&calibration, &small.stream), 0);
	for (uint64_t i = 0; i < 100; i++) {
		events[0].t = events[1].t = i * LODE_CALIBRATION_MOMENT_NS;
		lode_calibration_see(&calibration, LODE_WAIT, &events[0]);
		lode_calibration_see(&calibration, LODE_WAIT, &events[1]);
		lode_calibration_see(&calibration, LODE_CALL, &events[2]);
		lode_calibration_see(&calibration, LODE_WAIT, &events[3]);
	}
	assert_int_equal(lode_calibration_settle(&calibration, &small.stream), 1);
	assert_int_equal(lode_calibration_weight(&calibration, LODE_WAIT, &events[0]), 1);
	assert_int_equal(lode_calibration_weight(&calibration, LODE_WAIT, &events[1]), 12);
	assert_int_equal(lode_calibration_weight(&calibration, LODE_CALL, &events[2]), 16);
	assert_int_equal(lode_calibration_weight(&calibration, LODE_WAIT, &events[3]), 4);
	lode_calibration_release(&calibration);
	small_end(&small);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calibrated_recordings_agree_with_totals_and_with_the_whole),
		cmocka_unit_test(where_little_is_known_weights_stay),
		cmocka_unit_test(short_waits_keep_their_weights_in_slots),
		cmocka_unit_test(what_was_certain_and_what_is_no_wait_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
