/* Crowds: by hand, and random wakings against a search for those of each kind by themselves. */
#include "failing_memory.h"
#include "small_stream.h"

#include "scope/crowds.h"

#include <stdio.h>

#define MAX_WAITS 60

static void add_wait(struct small_stream *small, uint32_t tid, uint64_t end, uint32_t waker, const char *object)
{
	struct lode_event event = {
		.t = 0,
		.cost = end,
		.thread = lode_stream_tid(&small->stream, tid),
		.waker = waker == LODE_NONE ? LODE_NONE : lode_stream_tid(&small->stream, waker),
		.cpu = LODE_NO_CPU,
		.holder = LODE_NONE,
		.object = *object ? lode_strings_add(&small->dictionary.frames.strings, object, strlen(object)) : 0,
	};

	assert_int_equal(lode_stream_add_event(&small->stream, LODE_WAIT, &event), 0);
}

static const char *crowd_text(const struct small_stream *small, const struct lode_crowds *crowds, size_t wait)
{
	return lode_strings_get(&small->dictionary.frames.strings, crowds->objects[wait]);
}

/* `count` threads from `tid` on that tid 99 wakes, `gap` after one another. */
static void add_crowd(struct small_stream *small, uint32_t tid, size_t count, uint64_t t, uint64_t gap)
{
	for (uint32_t i = 0; i < count; i++)
		add_wait(small, tid + i, t + i * gap, 99, "tcp:listen:80");
}

static void threads_that_are_woken_at_once_are_a_crowd_of_the_usual_size(void **state)
{
	static const uint32_t processes[64];
	struct lode_crowds crowds = { 0 };
	struct small_stream small;
	unsigned size;

	(void)state;
	small_begin(&small);
	add_crowd(&small, 1, 6, 1000000, 10);
	add_crowd(&small, 1, 8, 2000000, 10);
	add_crowd(&small, 1, LODE_MIN_CROWD - 1, 3000000, 10); /* too few, */
	add_crowd(&small, 1, 8, 4000000, LODE_CROWD_NS);       /* and too far apart */
	assert_int_equal(lode_crowds_make(&crowds, &small.stream, processes), 0);
	for (size_t i = 0; i < 14; i++)
		assert_string_equal(crowd_text(&small, &crowds, i), "crowd:7 tcp:listen:80");
	for (size_t i = 14; i < small.stream.events[LODE_WAIT].count; i++)
		assert_int_equal(crowds.objects[i], 0);
	assert_string_equal(lode_crowd_of(crowd_text(&small, &crowds, 0), &size), "tcp:listen:80");
	assert_int_equal(size, 7);
	assert_null(lode_crowd_of("tcp:listen:80", &size));
	assert_null(lode_crowd_of("", &size));
	lode_crowds_release(&crowds);
	small_end(&small);
}

/* ---- each kind by itself ---- */

static int is_same_kind(const struct lode_stream *stream, const uint32_t *processes, size_t a, size_t b)
{
	const struct lode_events *waits = &stream->events[LODE_WAIT];

	return lode_events_object(waits, a) == lode_events_object(waits, b) &&
	       processes[waits->thread[a]] == processes[waits->thread[b]];
}

/* Assigns the waits of kind and waker of `first`, the earliest that has no crowd, to one; returns how many there are. */
static size_t take_crowd(const struct lode_stream *stream, const uint32_t *processes, size_t first, size_t *crowd)
{
	const struct lode_events *waits = &stream->events[LODE_WAIT];
	size_t count = 0;

	for (size_t i = 0; i < waits->count; i++)
		if (crowd[i] == SIZE_MAX && waits->waker[i] == waits->waker[first] &&
		    is_same_kind(stream, processes, i, first) && waits->cost[i] >= waits->cost[first] &&
		    waits->cost[i] - waits->cost[first] <= LODE_CROWD_NS) {
			crowd[i] = first;
			count++;
		}
	return count;
}

static void slow_crowds(const struct lode_stream *stream, const uint32_t *processes, size_t *sizes)
{
	const struct lode_events *waits = &stream->events[LODE_WAIT];
	size_t crowd[MAX_WAITS], counts[MAX_WAITS] = { 0 };

	for (size_t i = 0; i < waits->count; i++)
		crowd[i] = waits->waker[i] == LODE_NONE ? MAX_WAITS : SIZE_MAX;
	for (;;) {
		size_t first = SIZE_MAX;

		for (size_t i = 0; i < waits->count; i++)
			if (crowd[i] == SIZE_MAX && (first == SIZE_MAX || waits->cost[i] < waits->cost[first]))
				first = i;
		if (first == SIZE_MAX)
			break;
		counts[first] = take_crowd(stream, processes, first, crowd);
	}
	for (size_t i = 0; i < waits->count; i++) {
		size_t members = 0, number = 0;

		for (size_t k = 0; k < waits->count; k++)
			if (counts[k] >= LODE_MIN_CROWD && is_same_kind(stream, processes, i, k)) {
				members += counts[k];
				number++;
			}
		sizes[i] = crowd[i] < MAX_WAITS && counts[crowd[i]] >= LODE_MIN_CROWD
				   ? (members + number / 2) / number
				   : 0;
	}
}

static void random_wakings_are_crowds_as_in_a_slow_search(void **state)
{
	static const char *const objects[] = { "", "lock:a", "tcp:b" };
	uint64_t seed = 3;
	size_t in_crowds = 0;

	(void)state;
	for (int round = 0; round < 300; round++) {
		uint32_t processes[64];
		struct lode_crowds crowds = { 0 };
		struct small_stream small;
		size_t sizes[MAX_WAITS];

		small_begin(&small);
		for (size_t i = 0; i < 64; i++)
			processes[i] = (uint32_t)random_below(&seed, 2);
		for (size_t i = 1 + random_below(&seed, MAX_WAITS); --i;)
			add_wait(&small, (uint32_t)random_below(&seed, 30),
				 random_below(&seed, 10) * LODE_CROWD_NS / 2,
				 random_below(&seed, 8) ? 40 + (uint32_t)random_below(&seed, 2) : LODE_NONE,
				 objects[random_below(&seed, 3)]);
		slow_crowds(&small.stream, processes, sizes);
		assert_int_equal(lode_crowds_make(&crowds, &small.stream, processes), 0);
		for (size_t i = 0; i < small.stream.events[LODE_WAIT].count; i++) {
			unsigned size = 0;

			lode_crowd_of(crowd_text(&small, &crowds, i), &size);
			assert_int_equal(size, sizes[i]);
			in_crowds += size > 0;
		}
		lode_crowds_release(&crowds);
		small_end(&small);
	}
	assert_true(in_crowds > 500);
}

static int make_and_release(struct small_stream *small)
{
	static const uint32_t processes[64];
	struct lode_crowds crowds = { 0 };
	int code = lode_crowds_make(&crowds, &small->stream, processes);

	lode_crowds_release(&crowds);
	return code;
}

static void memory_that_runs_out_is_a_clean_error(void **state)
{
	struct small_stream small;

	(void)state;
	small_begin(&small);
	add_crowd(&small, 1, 6, 1000000, 10);
	FAIL_EACH_ALLOCATION(3, make_and_release(&small));
	small_end(&small);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_that_are_woken_at_once_are_a_crowd_of_the_usual_size),
		cmocka_unit_test(random_wakings_are_crowds_as_in_a_slow_search),
		cmocka_unit_test(memory_that_runs_out_is_a_clean_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
