/* Replays: shapes of programs by hand, and random streams against a slow replayer. */
#include "failing_memory.h"
#include "slow_replay.h"

#include "scope/what_if.h"
#include "scope/scope_index.h"
#include "trace/gpu_threads.h"

#include <math.h>
#include <stdlib.h>

#define BOTH (1u << LODE_RUN | 1u << LODE_WAIT)

struct fixture {
	struct small_stream small;
	struct lode_scope_index *index;
	struct lode_wait_kinds *kinds;
	struct lode_processors *processors;
	struct lode_replay *replay;
	uint8_t *marks;
};

static int try_fixture(struct fixture *fixture, uint32_t cpus)
{
	struct lode_replay_options options = { .cpus = cpus };
	int code = lode_scope_index_make(&fixture->index, &fixture->small.stream, NULL);

	if (!code)
		code = lode_wait_kinds_make(&fixture->kinds, &fixture->small.stream, NULL, NULL);
	for (int type = 0; !code && type < LODE_SCOPE_TYPES; type++)
		lode_wait_kinds_see(fixture->kinds, &fixture->small.stream.events[type]);
	if (!code)
		code = lode_processors_make(&fixture->processors, &fixture->small.stream, NULL);
	options.kinds = fixture->kinds;
	options.processors = fixture->processors;
	return code ? code : lode_replay_make(&fixture->replay, fixture->index, &options, NULL);
}

static void drop_fixture(struct fixture *fixture)
{
	lode_replay_free(fixture->replay);
	lode_processors_free(fixture->processors);
	lode_wait_kinds_free(fixture->kinds);
	lode_scope_index_free(fixture->index);
	free(fixture->marks);
	fixture->replay = NULL;
	fixture->processors = NULL;
	fixture->kinds = NULL;
	fixture->index = NULL;
	fixture->marks = NULL;
}

static void make_fixture(struct fixture *fixture, uint32_t cpus)
{
	assert_int_equal(lode_stream_sort(&fixture->small.stream), 0);
	assert_int_equal(try_fixture(fixture, cpus), 0);
	fixture->marks = calloc(fixture->small.dictionary.tree.count + 1, 1);
	assert_non_null(fixture->marks);
}

static void set(struct fixture *fixture, uint32_t tid, uint64_t t0, uint64_t t1)
{
	struct lode_symptom symptom = { .thread = lode_stream_tid(&fixture->small.stream, tid), .t0 = t0, .t1 = t1 };

	assert_int_equal(lode_replay_set(fixture->replay, &symptom, NULL), 0);
}

/* The length without the events of a stack. */
static uint64_t length_without(struct fixture *fixture, const char *stack, unsigned percent,
			       enum lode_replay_bound bound)
{
	struct lode_replay_change change = { fixture->marks, BOTH, percent };
	uint32_t node = small_stack(&fixture->small, stack);
	uint64_t length;

	fixture->marks[node] = 1;
	length = lode_replay_run(fixture->replay, &change, bound);
	fixture->marks[node] = 0;
	return length;
}

static void run(struct fixture *fixture, uint32_t tid, uint64_t t, uint64_t cost, const char *stack)
{
	small_event(&fixture->small, LODE_RUN, tid, t, cost, 0, LODE_NONE, stack);
}

static void wait_for(struct fixture *fixture, uint32_t tid, uint64_t t, uint64_t cost, uint32_t waker,
		     const char *stack)
{
	small_event(&fixture->small, LODE_WAIT, tid, t, cost, 0, waker, stack);
}

/* The same, with the stack of the waker. */
static void wait_at(struct fixture *fixture, uint32_t tid, uint64_t t, uint64_t cost, uint32_t waker,
		    const char *stack)
{
	struct lode_events *waits = &fixture->small.stream.events[LODE_WAIT];

	wait_for(fixture, tid, t, cost, waker, stack);
	waits->waker_stack[waits->count - 1] = small_stack(&fixture->small, stack);
}

#define LOCK "app!main;libc.so.6!pthread_mutex_lock"
#define PAGE "app!main;kernel!handle_mm_fault;kernel!schedule"
#define COND "app!main;libc.so.6!pthread_cond_wait"

/* ---- by hand ---- */

static void what_holds_a_lock_is_gained_as_far_as_the_other_waits(void **state)
{
	struct fixture f = { 0 };

	(void)state;
	small_begin(&f.small);
	run(&f, 1, 0, 10, "app!own");
	run(&f, 2, 0, 60, "app!slow");
	run(&f, 2, 60, 5, "app!rest");
	wait_for(&f, 1, 10, 55, 2, LOCK);
	run(&f, 1, 65, 35, "app!own");
	make_fixture(&f, LODE_CPUS_RECORDED);
	set(&f, 1, 0, 100);
	for (int bound = 0; bound < LODE_REPLAY_BOUNDS; bound++) {
		assert_int_equal(lode_replay_run(f.replay, NULL, (enum lode_replay_bound)bound), 100);
		/* 60 are taken away, but the thread comes to the lock only after 10: 55 are gained. */
		assert_int_equal(length_without(&f, "app!slow", 100, (enum lode_replay_bound)bound), 45);
		assert_int_equal(length_without(&f, "app!slow", 50, (enum lode_replay_bound)bound), 70);
		assert_int_equal(length_without(&f, "app!rest", 100, (enum lode_replay_bound)bound), 95);
		/* Not to need the lock at all. */
		assert_int_equal(length_without(&f, LOCK, 100, (enum lode_replay_bound)bound), 45);
		assert_int_equal(length_without(&f, "app!own", 100, (enum lode_replay_bound)bound), 65);
	}
	drop_fixture(&f);
	small_end(&f.small);
}

static void one_of_two_equal_waits_gains_nothing(void **state)
{
	struct fixture f = { 0 };

	(void)state;
	small_begin(&f.small);
	run(&f, 2, 0, 50, "app!first");
	run(&f, 3, 0, 48, "app!second");
	wait_for(&f, 1, 0, 50, 2, COND); /* for the first, */
	wait_for(&f, 1, 50, 0, 3, COND); /* the second was there already */
	run(&f, 1, 50, 10, "app!own");
	make_fixture(&f, LODE_CPUS_RECORDED);
	set(&f, 1, 0, 60);
	assert_int_equal(lode_replay_run(f.replay, NULL, LODE_REPLAY_LIKELY), 60);
	assert_int_equal(length_without(&f, "app!second", 100, LODE_REPLAY_LIKELY), 60);
	drop_fixture(&f);
	small_end(&f.small);
	/* Joined one after the other: the second is waited for once the first is there. */
	small_begin(&f.small);
	run(&f, 2, 0, 48, "app!first");
	run(&f, 3, 0, 50, "app!second");
	wait_for(&f, 1, 0, 48, 2, COND);
	wait_for(&f, 1, 48, 2, 3, COND);
	run(&f, 1, 50, 10, "app!own");
	make_fixture(&f, LODE_CPUS_RECORDED);
	set(&f, 1, 0, 60);
	assert_int_equal(length_without(&f, "app!first", 100, LODE_REPLAY_LIKELY), 60);
	assert_int_equal(length_without(&f, "app!second", 100, LODE_REPLAY_LIKELY), 58);
	drop_fixture(&f);
	small_end(&f.small);
}

static void a_barrier_opens_when_the_last_one_comes(void **state)
{
	static const char barrier[] = "app!main;libc.so.6!pthread_barrier_wait";
	struct fixture f = { 0 };

	(void)state;
	small_begin(&f.small);
	run(&f, 1, 0, 10, "app!fast");
	run(&f, 2, 0, 30, "app!middle");
	run(&f, 3, 0, 50, "app!slow");
	wait_at(&f, 1, 10, 40, 3, barrier);
	wait_at(&f, 2, 30, 20, 3, barrier);
	run(&f, 3, 50, 20, "app!after");
	run(&f, 1, 50, 20, "app!after");
	run(&f, 2, 50, 20, "app!after");
	make_fixture(&f, LODE_CPUS_RECORDED);
	set(&f, 1, 0, 70);
	for (int bound = 0; bound < LODE_REPLAY_BOUNDS; bound++) {
		assert_int_equal(length_without(&f, "app!slow", 100, (enum lode_replay_bound)bound), 50);
		assert_int_equal(length_without(&f, "app!slow", 20, (enum lode_replay_bound)bound), 60);
		assert_int_equal(length_without(&f, "app!middle", 100, (enum lode_replay_bound)bound), 70);
	}
	drop_fixture(&f);
	small_end(&f.small);
}

/* A consumer that needs 10 for each of six things, of which the producer makes one in 6, two at most in advance. */
static void a_consumer_gets_no_faster_than_its_producer(void **state)
{
	struct fixture f = { 0 };

	(void)state;
	small_begin(&f.small);
	wait_for(&f, 1, 0, 6, 2, COND);
	run(&f, 2, 0, 12, "app!produce"); /* things 1 and 2 */
	for (uint64_t i = 0; i < 6; i++) {
		run(&f, 1, 6 + 10 * i, 10, "app!consume");
		/* Room again when one is consumed. */
		wait_for(&f, 2, 12 + 10 * i, 4, 1, COND);
		run(&f, 2, 16 + 10 * i, 6, "app!produce");
	}
	make_fixture(&f, LODE_CPUS_RECORDED);
	set(&f, 1, 0, 66);
	assert_int_equal(lode_replay_run(f.replay, NULL, LODE_REPLAY_LIKELY), 66);
	/* At best all of it; likely the producer's speed: it has one in advance, and makes the others in 6 each. */
	assert_int_equal(length_without(&f, "app!consume", 100, LODE_REPLAY_HIGH), 6);
	assert_in_range(length_without(&f, "app!consume", 100, LODE_REPLAY_LIKELY), 30, 42);
	assert_in_range(length_without(&f, "app!consume", 100, LODE_REPLAY_LOW), 30, 42);
	/* The producer is not what it waits for. */
	assert_int_equal(length_without(&f, "app!produce", 100, LODE_REPLAY_LIKELY), 60);
	drop_fixture(&f);
	small_end(&f.small);
}

static void what_nobody_ends_is_unsure_but_sleeps_and_disks_are_not(void **state)
{
	struct fixture f = { 0 };

	(void)state;
	small_begin(&f.small);
	run(&f, 1, 0, 10, "app!own");
	wait_for(&f, 1, 10, 20, LODE_NONE, "app!ask;libc.so.6!recv");
	wait_for(&f, 1, 30, 20, LODE_NONE, "app!nap;libc.so.6!nanosleep");
	wait_for(&f, 1, 50, 20, LODE_NONE, "app!read;kernel!io_schedule");
	make_fixture(&f, LODE_CPUS_RECORDED);
	set(&f, 1, 0, 70);
	assert_true(lode_replay_is_unsure(f.replay, 0));
	assert_false(lode_replay_is_unsure(f.replay, 1));
	assert_false(lode_replay_is_unsure(f.replay, 2));
	/* The reply may have come at that time whoever asked when. */
	assert_int_equal(length_without(&f, "app!own", 100, LODE_REPLAY_LOW), 70);
	assert_int_equal(length_without(&f, "app!own", 100, LODE_REPLAY_LIKELY), 60);
	assert_int_equal(length_without(&f, "app!own", 100, LODE_REPLAY_HIGH), 60);
	assert_int_equal(length_without(&f, "app!nap;libc.so.6!nanosleep", 50, LODE_REPLAY_LOW), 60);
	assert_int_equal(length_without(&f, "app!ask;libc.so.6!recv", 100, LODE_REPLAY_LOW), 50);
	drop_fixture(&f);
	small_end(&f.small);
}

static void threads_share_the_processors(void **state)
{
	struct fixture f = { 0 };

	(void)state;
	small_begin(&f.small);
	run(&f, 1, 0, 30, "app!own");
	run(&f, 2, 0, 20, "app!other");
	run(&f, 3, 0, 40, "app!third");
	make_fixture(&f, 1);
	set(&f, 1, 0, 30);
	assert_true(lode_replay_shares_processors(f.replay));
	/* The three share one until the second is done at 60, the other two until 80. */
	assert_int_equal(lode_replay_run(f.replay, NULL, LODE_REPLAY_LIKELY), 80);
	assert_int_equal(length_without(&f, "app!other", 100, LODE_REPLAY_LIKELY), 60);
	assert_int_equal(length_without(&f, "app!third", 100, LODE_REPLAY_LIKELY), 50);
	drop_fixture(&f);
	make_fixture(&f, LODE_CPUS_UNLIMITED);
	set(&f, 1, 0, 30);
	assert_int_equal(lode_replay_run(f.replay, NULL, LODE_REPLAY_LIKELY), 30);
	assert_int_equal(length_without(&f, "app!other", 100, LODE_REPLAY_LIKELY), 30);
	drop_fixture(&f);
	small_end(&f.small);
}

static void a_thread_begins_when_its_process_gets_there(void **state)
{
	struct fixture f = { 0 };
	uint32_t child;

	(void)state;
	small_begin(&f.small);
	lode_stream_thread(&f.small.stream, 1, 1);
	child = lode_stream_thread(&f.small.stream, 1, 2);
	assert_int_equal(child, 1);
	run(&f, 1, 0, 40, "app!set_up");
	run(&f, 1, 40, 10, "app!start");
	run(&f, 2, 45, 35, "app!child");
	wait_for(&f, 1, 50, 30, 2, "app!main;libc.so.6!pthread_join");
	make_fixture(&f, LODE_CPUS_RECORDED);
	set(&f, 1, 0, 80);
	assert_int_equal(length_without(&f, "app!set_up", 100, LODE_REPLAY_LIKELY), 40);
	assert_int_equal(length_without(&f, "app!child", 100, LODE_REPLAY_LIKELY), 50);
	drop_fixture(&f);
	small_end(&f.small);
}

/*
 * The other thread runs until `runs`, sleeps until 60, has the lock until 70, `held` all that time. Who comes at 10 in place of 65
 * finds it free, or held by somebody else as long as it was.
 */
static void begin_lock_after_sleep(struct fixture *f, uint64_t runs, const char *lock, const char *held)
{
	small_begin(&f->small);
	run(f, 1, 0, 55, "app!slow");
	run(f, 1, 55, 10, "app!own");
	wait_for(f, 1, 65, 5, 2, lock);
	run(f, 1, 70, 30, "app!own");
	if (runs)
		run(f, 2, 0, runs, "app!tick");
	wait_for(f, 2, runs, 60 - runs, LODE_NONE, "app!tick;libc.so.6!nanosleep");
	run(f, 2, 60, 3, held);
	wait_for(f, 2, 63, 0, LODE_NONE, "app!tick;libc.so.6!nanosleep"); /* takes no time */
	run(f, 2, 63, 7, held);
	run(f, 2, 70, 10, "app!tick");
	make_fixture(f, LODE_CPUS_RECORDED);
	set(f, 1, 0, 100);
	assert_int_equal(length_without(f, "app!none", 100, LODE_REPLAY_LIKELY), 100);
}

static void a_lock_is_free_before_its_holder_has_slept(void **state)
{
	struct fixture f = { 0 };

	(void)state;
	for (int i = 0; i < 4; i++) {
		begin_lock_after_sleep(&f, i & 1 ? 30 : 0, i & 2 ? PAGE : LOCK, "app!tick");
		assert_int_equal(length_without(&f, "app!slow", 100, LODE_REPLAY_HIGH), 40);
		assert_int_equal(length_without(&f, "app!slow", 100, LODE_REPLAY_LIKELY), 45);
		assert_int_equal(length_without(&f, "app!slow", 100, LODE_REPLAY_LOW), 100);
		drop_fixture(&f);
		small_end(&f.small);
	}
}

static void who_meets_another_holder_waits_as_long_as_for_this_one(void **state)
{
	struct fixture f = { 0 };

	(void)state;
	begin_lock_after_sleep(&f, 0, LOCK, "app!slow");
	assert_int_equal(length_without(&f, "app!slow", 100, LODE_REPLAY_LIKELY), 40);
	assert_int_equal(length_without(&f, "app!slow", 20, LODE_REPLAY_LIKELY), 87);
	drop_fixture(&f);
	small_end(&f.small);
}

/* A step is a launch of 10, 30 on the GPU that are waited for, and 20 of other work; without the wait it is 30 on both. */
static void launches_queue_once_nothing_waits_for_the_gpu(void **state)
{
	struct fixture f = { 0 };

	(void)state;
	small_begin(&f.small);
	for (uint64_t t = 0; t < 240; t += 60) {
		run(&f, 1, t, 10, "app!train;app!launch");
		wait_for(&f, 1, t + 10, 30, 2, "app!train;app!item");
		run(&f, 1, t + 40, 20, "app!train;app!load");
		run(&f, 2, t + 10, 30, "app!train;app!launch;[gpu] kernel");
		wait_for(&f, 2, t + 40, 30, 1, "app!train;app!item;[gpu] waits for a launch");
	}
	run(&f, 1, 240, 20, "app!train;app!launch");
	f.small.stream.threads[lode_stream_tid(&f.small.stream, 2)].pid = LODE_GPU_FIRST_ID;
	make_fixture(&f, 1);
	set(&f, 2, 10, 220);
	assert_int_equal(length_without(&f, "app!none", 100, LODE_REPLAY_LIKELY), 210);
	assert_int_equal(length_without(&f, "app!train;app!item", 100, LODE_REPLAY_LOW), 120);
	assert_int_equal(length_without(&f, "app!train;app!item", 100, LODE_REPLAY_LIKELY), 120);
	assert_int_equal(length_without(&f, "app!train;app!item", 50, LODE_REPLAY_LIKELY), 165);
	drop_fixture(&f);
	small_end(&f.small);
}

static void only_what_is_in_the_symptom_is_taken_away(void **state)
{
	struct fixture f = { 0 };

	(void)state;
	small_begin(&f.small);
	run(&f, 2, 0, 60, "app!slow");
	wait_for(&f, 1, 20, 40, 2, LOCK);
	run(&f, 1, 60, 40, "app!own");
	make_fixture(&f, LODE_CPUS_RECORDED);
	set(&f, 1, 30, 80);
	assert_int_equal(length_without(&f, "app!slow", 100, LODE_REPLAY_LIKELY), 20);
	assert_int_equal(length_without(&f, "app!slow", 50, LODE_REPLAY_LIKELY), 35);
	set(&f, 1, 30, 50); /* t1 cuts the wait */
	assert_int_equal(lode_replay_run(f.replay, NULL, LODE_REPLAY_LIKELY), 20);
	assert_int_equal(length_without(&f, "app!slow", 50, LODE_REPLAY_LIKELY), 10);
	drop_fixture(&f);
	small_end(&f.small);
}

/* ---- against the slow replayer ---- */

static void replays_are_those_of_the_slow_replayer(void **state)
{
	uint64_t seed = 42;
	size_t compared = 0, differing = 0;

	(void)state;
	for (int round = 0; round < 4000 / ONE_IN; round++) {
		struct fixture f = { 0 };
		struct slow slow;
		uint32_t cpus = (uint32_t)random_below(&seed, 3);

		small_begin(&f.small);
		small_random(&f.small, &seed, 20, SLOW_TIME);
		make_fixture(&f, cpus ? cpus : LODE_CPUS_UNLIMITED);
		slow_make(&slow, &f.small);
		slow.processors = cpus;
		slow.symptom = small_random_symptom(&f.small, &seed, SLOW_TIME);
		assert_int_equal(lode_replay_set(f.replay, &slow.symptom, NULL), 0);
		for (int bound = 0; bound < LODE_REPLAY_BOUNDS; bound++)
			for (unsigned percent = 0; percent <= 100; percent += 50) {
				uint64_t length;
				double expected;

				for (size_t i = 1; i < f.small.dictionary.tree.count; i++)
					f.marks[i] = (uint8_t)random_below(&seed, 2);
				slow.change = (struct lode_replay_change){ f.marks, BOTH, percent };
				slow.bound = (enum lode_replay_bound)bound;
				expected = slow_run(&slow);
				if (expected < 0)
					continue;
				length = lode_replay_run(f.replay, &slow.change, slow.bound);
				if (fabs((double)length - expected) > 0.51)
					fail_msg("round %d, bound %d, percent %u, cpus %u: %ju, not %g", round,
						 bound, percent, cpus, (uintmax_t)length, expected);
				if (!cpus && !percent)
					assert_int_equal(length, slow.symptom.t1 - slow.symptom.t0);
				compared++;
				differing += length != slow.symptom.t1 - slow.symptom.t0;
			}
		lode_free(slow.groups);
		drop_fixture(&f);
		small_end(&f.small);
	}
	/* Some end in circles, most do not, and in many something changes. */
	assert_true(compared > 4000 / ONE_IN * 9 / 2);
	assert_true(differing > compared / 10);
}

static int try_all(struct fixture *fixture, const struct lode_symptom *symptom)
{
	int code = try_fixture(fixture, 1);

	if (!code)
		code = lode_replay_set(fixture->replay, symptom, NULL);
	if (!code)
		lode_replay_run(fixture->replay, NULL, LODE_REPLAY_LOW);
	drop_fixture(fixture);
	return code;
}

static void memory_that_runs_out_is_a_clean_error(void **state)
{
	struct fixture f = { 0 };
	struct lode_symptom symptom;
	uint64_t seed = 7;

	(void)state;
	small_begin(&f.small);
	small_random(&f.small, &seed, 60, SLOW_TIME);
	symptom = small_random_symptom(&f.small, &seed, SLOW_TIME);
	FAIL_EACH_ALLOCATION(20, try_all(&f, &symptom));
	small_end(&f.small);
}

/* Threads that wake one another over and over, without any order: it ends, whatever the events are. */
static void replays_of_any_events_end(void **state)
{
	uint64_t seed = 99;

	(void)state;
	for (int round = 0; round < 200 / ONE_IN; round++) {
		struct fixture f = { 0 };

		small_begin(&f.small);
		assert_int_equal(random_stream(&f.small.stream, &seed, 100), 0);
		make_fixture(&f, round % 2 ? 2 : LODE_CPUS_RECORDED);
		for (uint32_t thread = 0; thread < f.small.stream.thread_count; thread++) {
			struct lode_symptom symptom = { .thread = thread, .t0 = 0, .t1 = 1000 };

			assert_int_equal(lode_replay_set(f.replay, &symptom, NULL), 0);
			lode_replay_run(f.replay, NULL, LODE_REPLAY_LOW);
		}
		drop_fixture(&f);
		small_end(&f.small);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_holds_a_lock_is_gained_as_far_as_the_other_waits),
		cmocka_unit_test(one_of_two_equal_waits_gains_nothing),
		cmocka_unit_test(a_barrier_opens_when_the_last_one_comes),
		cmocka_unit_test(a_consumer_gets_no_faster_than_its_producer),
		cmocka_unit_test(what_nobody_ends_is_unsure_but_sleeps_and_disks_are_not),
		cmocka_unit_test(threads_share_the_processors),
		cmocka_unit_test(a_thread_begins_when_its_process_gets_there),
		cmocka_unit_test(a_lock_is_free_before_its_holder_has_slept),
		cmocka_unit_test(who_meets_another_holder_waits_as_long_as_for_this_one),
		cmocka_unit_test(launches_queue_once_nothing_waits_for_the_gpu),
		cmocka_unit_test(only_what_is_in_the_symptom_is_taken_away),
		cmocka_unit_test(replays_are_those_of_the_slow_replayer),
		cmocka_unit_test(replays_of_any_events_end),
		cmocka_unit_test(memory_that_runs_out_is_a_clean_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
