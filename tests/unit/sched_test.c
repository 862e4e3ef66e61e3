/* Scheduler events joined into waits, against hand-written cases and a slow oracle over random ones. */
#include "cmocka_all.h"

#include "import/sched.h"

#include <stdlib.h>
#include <string.h>

#define MILLISECOND 1000000u

struct fixture {
	struct lode_dictionary dictionary;
	struct lode_stream stream;
	struct lode_notes notes;
	struct lode_sched *sched;
};

static void start(struct fixture *fixture)
{
	assert_int_equal(lode_dictionary_init(&fixture->dictionary), 0);
	lode_stream_init(&fixture->stream, &fixture->dictionary);
	lode_notes_init(&fixture->notes);
	for (uint32_t tid = 100; tid < 110; tid++)
		assert_int_equal(lode_stream_thread(&fixture->stream, 1, tid), tid - 100);
	fixture->sched = lode_sched_create(&fixture->stream, &fixture->notes);
	assert_non_null(fixture->sched);
}

static void stop(struct fixture *fixture)
{
	lode_sched_destroy(fixture->sched);
	lode_stream_release(&fixture->stream);
	lode_dictionary_release(&fixture->dictionary);
	lode_notes_release(&fixture->notes);
}

static void out(struct fixture *fixture, uint64_t t, uint32_t thread, enum lode_switch_state state, uint32_t stack)
{
	lode_sched_switch(fixture->sched, t, 3, thread, state, stack, LODE_NONE);
}

static void in(struct fixture *fixture, uint64_t t, uint32_t thread)
{
	lode_sched_switch(fixture->sched, t, 3, LODE_NONE, LODE_SWITCH_PREEMPTED, 0, thread);
}

static void wake(struct fixture *fixture, uint64_t t, uint32_t waker, uint32_t stack, uint32_t thread)
{
	lode_sched_waking(fixture->sched, t, waker, stack, thread);
}

static struct lode_event only_event(struct fixture *fixture, enum lode_event_type type)
{
	for (int other = 0; other < LODE_EVENT_TYPES; other++)
		assert_int_equal(fixture->stream.events[other].count, other == (int)type);
	return lode_events_get(&fixture->stream.events[type], 0);
}

static uint64_t noted(const struct fixture *fixture, const char *part)
{
	for (size_t i = 0; i < fixture->notes.count; i++)
		if (strstr(fixture->notes.items[i].what, part))
			return fixture->notes.items[i].count;
	return 0;
}

static void a_wait_lasts_until_the_waking_and_its_delay_until_the_switch_in(void **state)
{
	struct fixture fixture;
	struct lode_event event;

	(void)state;
	start(&fixture);
	out(&fixture, 1000, 2, LODE_SWITCH_BLOCKED, 77);
	wake(&fixture, 5000, 4, 88, 2);
	in(&fixture, 5600, 2);
	event = only_event(&fixture, LODE_WAIT);
	assert_int_equal(event.t, 1000);
	assert_int_equal(event.cost, 4000);
	assert_int_equal(event.delay, 600);
	assert_int_equal(event.thread, 2);
	assert_int_equal(event.stack, 77);
	assert_int_equal(event.waker, 4);
	assert_int_equal(event.waker_stack, 88);
	assert_int_equal(event.cpu, 3);
	assert_int_equal(lode_sched_finish(fixture.sched, 9000), 0);
	only_event(&fixture, LODE_WAIT);
	assert_int_equal(fixture.notes.count, 0);
	stop(&fixture);
}

static void of_two_wakings_the_first_counts(void **state)
{
	struct fixture fixture;

	(void)state;
	start(&fixture);
	out(&fixture, 1000, 2, LODE_SWITCH_BLOCKED, 77);
	wake(&fixture, 5000, 4, 88, 2);
	wake(&fixture, 5200, 5, 99, 2);
	in(&fixture, 5600, 2);
	assert_int_equal(only_event(&fixture, LODE_WAIT).waker, 4);
	assert_int_equal(only_event(&fixture, LODE_WAIT).cost, 4000);
	stop(&fixture);
}

static void a_waking_by_an_interrupt_has_no_waker(void **state)
{
	struct fixture fixture;

	(void)state;
	start(&fixture);
	out(&fixture, 1000, 2, LODE_SWITCH_BLOCKED, 77);
	wake(&fixture, 5000, LODE_NONE, 0, 2);
	in(&fixture, 5600, 2);
	assert_int_equal(only_event(&fixture, LODE_WAIT).waker, LODE_NONE);
	assert_int_equal(only_event(&fixture, LODE_WAIT).cost, 4000);
	assert_int_equal(lode_sched_finish(fixture.sched, 9000), 0);
	assert_int_equal(fixture.notes.count, 0);
	stop(&fixture);
}

static void a_preempted_thread_makes_a_call_with_its_run_queue_time(void **state)
{
	struct fixture fixture;
	struct lode_event event;

	(void)state;
	start(&fixture);
	out(&fixture, 1000, 2, LODE_SWITCH_PREEMPTED, 77);
	wake(&fixture, 1500, 4, 88, 2);
	in(&fixture, 3000, 2);
	event = only_event(&fixture, LODE_CALL);
	assert_int_equal(event.t, 1000);
	assert_int_equal(event.cost, 0);
	assert_int_equal(event.delay, 2000);
	assert_int_equal(event.stack, 77);
	assert_int_equal(event.waker, LODE_NONE);
	assert_string_equal(lode_strings_get(&fixture.dictionary.frames.strings, event.name), "preempt");
	stop(&fixture);
}

static void a_dead_thread_waits_for_nothing(void **state)
{
	struct fixture fixture;

	(void)state;
	start(&fixture);
	out(&fixture, 1000, 2, LODE_SWITCH_DEAD, 77);
	assert_int_equal(lode_sched_finish(fixture.sched, 9000), 0);
	assert_int_equal(lode_stream_event_count(&fixture.stream), 0);
	stop(&fixture);
}

static void the_first_switch_in_of_a_new_thread_is_no_wait(void **state)
{
	struct fixture fixture;

	(void)state;
	start(&fixture);
	wake(&fixture, 500, 4, 88, 2);
	in(&fixture, 1000, 2);
	assert_int_equal(lode_sched_finish(fixture.sched, 9000), 0);
	assert_int_equal(lode_stream_event_count(&fixture.stream), 0);
	assert_int_equal(fixture.notes.count, 0);
	stop(&fixture);
}

static void a_switch_in_without_a_waking_ends_the_wait_and_is_noted(void **state)
{
	struct fixture fixture;

	(void)state;
	start(&fixture);
	out(&fixture, 1000, 2, LODE_SWITCH_BLOCKED, 77);
	in(&fixture, 4000, 2);
	assert_int_equal(only_event(&fixture, LODE_WAIT).cost, 3000);
	assert_int_equal(only_event(&fixture, LODE_WAIT).delay, 0);
	assert_int_equal(only_event(&fixture, LODE_WAIT).waker, LODE_NONE);
	assert_int_equal(lode_sched_finish(fixture.sched, 9000), 0);
	assert_int_equal(noted(&fixture, "waker was not recorded"), 1);
	stop(&fixture);
}

static void a_waking_just_before_the_switch_out_ends_it_at_once(void **state)
{
	struct fixture fixture;

	(void)state;
	start(&fixture);
	in(&fixture, 500, 2);
	wake(&fixture, 990, 4, 88, 2);
	out(&fixture, 1000, 2, LODE_SWITCH_BLOCKED, 77);
	in(&fixture, 4000, 2);
	assert_int_equal(only_event(&fixture, LODE_WAIT).cost, 0);
	assert_int_equal(only_event(&fixture, LODE_WAIT).delay, 3000);
	assert_int_equal(only_event(&fixture, LODE_WAIT).waker, 4);
	assert_int_equal(only_event(&fixture, LODE_WAIT).waker_stack, 88);
	stop(&fixture);
}

static void a_waking_long_before_the_switch_out_is_another_one(void **state)
{
	struct fixture fixture;

	(void)state;
	start(&fixture);
	in(&fixture, 500, 2);
	wake(&fixture, 990, 4, 88, 2);
	out(&fixture, 20 * MILLISECOND, 2, LODE_SWITCH_BLOCKED, 77);
	in(&fixture, 21 * MILLISECOND, 2);
	assert_int_equal(only_event(&fixture, LODE_WAIT).cost, MILLISECOND);
	assert_int_equal(only_event(&fixture, LODE_WAIT).waker, LODE_NONE);
	stop(&fixture);
}

static void waits_open_at_the_end_are_stored_and_noted(void **state)
{
	struct fixture fixture;

	(void)state;
	start(&fixture);
	out(&fixture, 1000, 2, LODE_SWITCH_BLOCKED, 77);
	assert_int_equal(lode_sched_finish(fixture.sched, 9000), 0);
	assert_int_equal(only_event(&fixture, LODE_WAIT).cost, 8000);
	assert_int_equal(noted(&fixture, "not over when the recording ended"), 1);
	stop(&fixture);
}

static void a_thread_that_runs_unseen_has_an_unknown_delay(void **state)
{
	struct fixture fixture;

	(void)state;
	start(&fixture);
	out(&fixture, 1000, 2, LODE_SWITCH_BLOCKED, 77);
	wake(&fixture, 3000, 4, 88, 2);
	lode_sched_running(fixture.sched, 7000, 2);
	assert_int_equal(only_event(&fixture, LODE_WAIT).cost, 2000);
	assert_int_equal(only_event(&fixture, LODE_WAIT).delay, 0);
	assert_int_equal(only_event(&fixture, LODE_WAIT).waker, 4);
	lode_sched_running(fixture.sched, 7500, 2);
	lode_sched_running(fixture.sched, 7500, LODE_NONE);
	assert_int_equal(lode_sched_finish(fixture.sched, 9000), 0);
	only_event(&fixture, LODE_WAIT);
	assert_int_equal(noted(&fixture, "switch-ins not recorded"), 1);
	stop(&fixture);
}

static void times_that_run_backwards_give_no_negative_lengths(void **state)
{
	struct fixture fixture;

	(void)state;
	start(&fixture);
	out(&fixture, 5000, 2, LODE_SWITCH_BLOCKED, 77);
	wake(&fixture, 4000, 4, 88, 2);
	in(&fixture, 3000, 2);
	assert_int_equal(only_event(&fixture, LODE_WAIT).cost, 0);
	assert_int_equal(only_event(&fixture, LODE_WAIT).delay, 0);
	stop(&fixture);
}

/* ---- the oracle: looks at all that happened to a thread, for each switch-out again ---- */

enum happening { OUT, IN, WAKE, RUNS };

struct step {
	enum happening what;
	uint64_t t;
	uint32_t thread;
	enum lode_switch_state state;
	uint32_t stack;
	uint32_t waker;
};

#define STEPS   400
#define THREADS 4
#define END     (STEPS * 2ull * MILLISECOND + MILLISECOND)

/* Steps are more than a millisecond apart, so that no early waking comes into play. */
static void make_steps(struct step *steps)
{
	for (uint32_t i = 0; i < STEPS; i++) {
		steps[i] = (struct step){
			.what = (enum happening)(rand() % 4),
			.t = (i + 1) * 2ull * MILLISECOND + (uint64_t)(rand() % 1000),
			.thread = (uint32_t)rand() % THREADS,
			.state = (enum lode_switch_state)(rand() % 3),
			.stack = i + 1,
			.waker = 5 + (uint32_t)rand() % 4,
		};
	}
}

/* The event that the switch-out at `at` must become; 0 when it becomes none. */
static int expect(const struct step *steps, size_t at, enum lode_event_type *type, struct lode_event *event)
{
	const struct step *switched = &steps[at], *woken = NULL, *end = NULL;

	if (switched->what != OUT || switched->state == LODE_SWITCH_DEAD)
		return 0;
	for (size_t i = at + 1; i < STEPS && !end; i++) {
		if (steps[i].thread != switched->thread)
			continue;
		if (steps[i].what != WAKE)
			end = &steps[i];
		else if (!woken)
			woken = &steps[i];
	}
	*event = (struct lode_event){ .t = switched->t,
				      .thread = switched->thread,
				      .stack = switched->stack,
				      .waker = LODE_NONE,
				      .cpu = 3 };
	*type = switched->state == LODE_SWITCH_BLOCKED ? LODE_WAIT : LODE_CALL;
	if (*type == LODE_CALL) {
		event->delay = end && end->what == IN ? end->t - switched->t : 0;
	} else if (woken) {
		event->cost = woken->t - switched->t;
		event->delay = end && end->what == IN ? end->t - woken->t : 0;
		event->waker = woken->waker;
		event->waker_stack = woken->stack;
	} else {
		event->cost = (end ? end->t : END) - switched->t;
	}
	return 1;
}

static void feed(struct fixture *fixture, const struct step *step)
{
	switch (step->what) {
	case OUT:
		out(fixture, step->t, step->thread, step->state, step->stack);
		break;
	case IN:
		in(fixture, step->t, step->thread);
		break;
	case WAKE:
		wake(fixture, step->t, step->waker, step->stack, step->thread);
		break;
	case RUNS:
		lode_sched_running(fixture->sched, step->t, step->thread);
		break;
	}
}

static void check(struct fixture *fixture, const struct step *steps)
{
	size_t seen[LODE_EVENT_TYPES] = { 0 };

	for (size_t i = 0; i < STEPS; i++) {
		enum lode_event_type type;
		struct lode_event wanted, got;

		if (!expect(steps, i, &type, &wanted))
			continue;
		assert_true(seen[type] < fixture->stream.events[type].count);
		got = lode_events_get(&fixture->stream.events[type], seen[type]++);
		assert_int_equal(got.t, wanted.t);
		assert_int_equal(got.thread, wanted.thread);
		assert_int_equal(got.stack, wanted.stack);
		assert_int_equal(got.cost, wanted.cost);
		assert_int_equal(got.delay, wanted.delay);
		assert_int_equal(got.waker, wanted.waker);
		assert_int_equal(got.waker_stack, wanted.waker_stack);
		assert_int_equal(got.cpu, 3);
	}
	for (int type = 0; type < LODE_EVENT_TYPES; type++)
		assert_int_equal(fixture->stream.events[type].count, seen[type]);
}

static void any_sequence_gives_one_event_for_each_switch_out(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= 200; seed++) {
		struct step steps[STEPS];
		struct fixture fixture;

		srand(seed);
		make_steps(steps);
		start(&fixture);
		for (size_t i = 0; i < STEPS; i++)
			feed(&fixture, &steps[i]);
		assert_int_equal(lode_sched_finish(fixture.sched, END), 0);
		assert_int_equal(lode_stream_sort(&fixture.stream), 0);
		check(&fixture, steps);
		stop(&fixture);
	}
}

static void memory_that_runs_out_is_reported(void **state)
{
	(void)state;
	for (uint64_t nth = 1; nth < 100; nth++) {
		struct fixture fixture;
		uint64_t asked;
		int code;

		start(&fixture);
		lode_memory_fail_at(nth, 1);
		for (uint32_t i = 0; i < 1000; i++)
			lode_sched_switch(fixture.sched, i, 0, i % 10, LODE_SWITCH_BLOCKED, i, (i + 1) % 10);
		asked = lode_memory_asked();
		lode_memory_fail_at(0, 0);
		code = lode_sched_finish(fixture.sched, 1000);
		assert_int_equal(code, asked < nth ? 0 : LODE_SYSTEM);
		stop(&fixture);
		if (code == 0)
			return;
	}
	fail_msg("memory ran out for ever");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_wait_lasts_until_the_waking_and_its_delay_until_the_switch_in),
		cmocka_unit_test(of_two_wakings_the_first_counts),
		cmocka_unit_test(a_waking_by_an_interrupt_has_no_waker),
		cmocka_unit_test(a_preempted_thread_makes_a_call_with_its_run_queue_time),
		cmocka_unit_test(a_dead_thread_waits_for_nothing),
		cmocka_unit_test(the_first_switch_in_of_a_new_thread_is_no_wait),
		cmocka_unit_test(a_switch_in_without_a_waking_ends_the_wait_and_is_noted),
		cmocka_unit_test(a_waking_just_before_the_switch_out_ends_it_at_once),
		cmocka_unit_test(a_waking_long_before_the_switch_out_is_another_one),
		cmocka_unit_test(waits_open_at_the_end_are_stored_and_noted),
		cmocka_unit_test(a_thread_that_runs_unseen_has_an_unknown_delay),
		cmocka_unit_test(times_that_run_backwards_give_no_negative_lengths),
		cmocka_unit_test(any_sequence_gives_one_event_for_each_switch_out),
		cmocka_unit_test(memory_that_runs_out_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
