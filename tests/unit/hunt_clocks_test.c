/*
 * The clocks of hunted threads, hammered from several CPUs at once, as the kernel
 * does it: one thread plays the CPU that switches a hunted thread out and in,
 * another wakes it up meanwhile, a third reads. The time is a counter, so that a sum
 * that is wrong by one tick shows.
 */
#include "cmocka_all.h"

#include "base/memory.h"
#include "hunt/meter/live/hunted_processes.h"
#include "hunt/meter/live/thread_clocks.h"
#include "hunt/meter/live/clock_updates.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#define SWITCHES  400000
#define MIN_LOOKS 1000
#define PLACES    16
#define SLOTS     2

struct fixture {
	struct lode_hunt_thread threads[PLACES];
	struct lode_hunt_cell cells[PLACES * SLOTS];
	struct lode_thread_clocks clocks;
	atomic_uint_fast64_t ticks;
	atomic_int over;
	atomic_uint_fast64_t looks;
	atomic_uint_fast64_t wakings;
	uint64_t wrong;
	uint32_t switches;
};

static void set_up(struct fixture *fixture)
{
	memset(fixture, 0, sizeof(*fixture));
	fixture->clocks = (struct lode_thread_clocks){ .threads = fixture->threads,
						       .cells = fixture->cells,
						       .thread_count = PLACES,
						       .slot_count = SLOTS };
}

static uint64_t tick(struct fixture *fixture)
{
	return atomic_fetch_add(&fixture->ticks, 1) + 1;
}

static int64_t sum(const struct lode_hunt_clocks *clocks)
{
	int64_t all = 0;

	for (int i = 0; i < LODE_CLOCKS; i++)
		all += clocks->time[i];
	return all;
}

/* ---- one thread, switched, woken and read ---- */

/* As the hook of the scheduler; the hunted thread runs, then waits, then runs again. */
static void *switch_over(void *context)
{
	struct fixture *fixture = context;
	struct lode_hunt_thread *thread = &fixture->threads[0];

	/* On a busy machine the others may get their turn late. */
	while (fixture->switches < SWITCHES || fixture->looks < MIN_LOOKS || fixture->wakings < MIN_LOOKS) {
		fixture->switches++;
		lode_thread_begin_change(thread);
		lode_thread_take_found(thread);
		lode_thread_wind(thread, tick(fixture));
		lode_thread_leaves(thread, LODE_CLOCK_SYNC, 1);
		lode_thread_end_change(thread);
		lode_thread_begin_change(thread);
		lode_thread_returns(thread, tick(fixture));
		lode_thread_end_change(thread);
	}
	atomic_store(&fixture->over, 1);
	return NULL;
}

static void *wake_up(void *context)
{
	struct fixture *fixture = context;

	while (!atomic_load(&fixture->over)) {
		lode_thread_wake(&fixture->threads[0], 0, tick(fixture));
		fixture->wakings++;
	}
	return NULL;
}

/* A whole state has clocks that show all of the time since it was born. */
static void *read_clocks(void *context)
{
	struct fixture *fixture = context;
	struct lode_hunt_thread copy;
	uint64_t last = 0;

	while (!atomic_load(&fixture->over)) {
		uint32_t before = __atomic_load_n(&fixture->threads[0].sequence, __ATOMIC_ACQUIRE);

		memcpy(&copy, &fixture->threads[0], sizeof(copy));
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (before & 1 || before != __atomic_load_n(&fixture->threads[0].sequence, __ATOMIC_RELAXED))
			continue;
		fixture->looks++;
		fixture->wrong += sum(&copy.clocks) != (int64_t)(copy.last - copy.born) || copy.last < last;
		last = copy.last;
	}
	return NULL;
}

static void clocks_stay_whole_while_others_wake_the_thread_up(void **state)
{
	void *(*const work[])(void *) = { switch_over, wake_up, read_clocks };
	static struct fixture fixture;
	struct lode_hunt_thread *thread = &fixture.threads[0];
	pthread_t threads[3];

	(void)state;
	set_up(&fixture);
	assert_true(lode_thread_claim(thread));
	lode_thread_show(thread, 10, 16, tick(&fixture));
	for (int i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, work[i], &fixture), 0);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(thread->sequence & 1, 0);
	assert_int_equal(thread->sequence, 4 * fixture.switches);
	assert_int_equal(thread->switches, fixture.switches);
	assert_int_equal(sum(&thread->clocks), (int64_t)(thread->last - thread->born));
	assert_int_equal(fixture.wrong, 0);
}

/* ---- what counts as what ---- */

static void waiting_ends_with_the_waking_and_the_run_queue_follows(void **state)
{
	static struct fixture fixture;
	struct lode_hunt_thread *thread = &fixture.threads[0], copy;

	(void)state;
	set_up(&fixture);
	assert_true(lode_thread_claim(thread));
	lode_thread_show(thread, 10, 16, 100);
	lode_thread_take_found(thread);
	lode_thread_returns(thread, 110); /* OTHER 10: from its birth on */
	lode_thread_wake(thread, 0, 115); /* it runs: that is nothing */
	lode_thread_wind(thread, 130);    /* CPU 20 */
	lode_thread_leaves(thread, LODE_CLOCK_SYNC, 1);
	lode_thread_wake(thread, 0, 170); /* SYNC 40 */
	copy = *thread;
	lode_thread_pass(&copy, 175, &copy.clocks);
	assert_int_equal(copy.clocks.time[LODE_CLOCK_SYNC], 40);
	assert_int_equal(copy.clocks.time[LODE_CLOCK_OTHER], 15);
	assert_int_equal(copy.ready + lode_thread_pass(thread, 175, &copy.clocks), 15);
	lode_thread_returns(thread, 180); /* OTHER 10 more */
	assert_int_equal(thread->clocks.time[LODE_CLOCK_CPU], 20);
	assert_int_equal(thread->clocks.time[LODE_CLOCK_SYNC], 40);
	assert_int_equal(thread->clocks.time[LODE_CLOCK_OTHER], 20);
	assert_int_equal(thread->queued, 20); /* before it ran first, and behind the waking */
	assert_int_equal(thread->ready, 20);
	lode_thread_wind(thread, 200); /* CPU 20 */
	lode_thread_leaves(thread, LODE_CLOCK_OTHER, 0);
	copy = *thread;
	assert_int_equal(lode_thread_pass(&copy, 230, &copy.clocks), 30); /* preempted */
	lode_thread_returns(thread, 240);
	assert_int_equal(thread->ready, 60);
	lode_thread_wind(thread, 250); /* CPU 10 */
	lode_thread_leaves(thread, LODE_CLOCK_OTHER, 1);
	lode_thread_returns(thread, 300); /* it slept, and nobody was seen to wake it */
	assert_int_equal(thread->ready, 60);
	thread->waiting = 1; /* what spins waits, be it on a CPU or not */
	lode_thread_leaves(thread, LODE_CLOCK_OTHER, 0);
	lode_thread_returns(thread, 350);
	assert_int_equal(thread->ready, 60);
	assert_int_equal(thread->clocks.time[LODE_CLOCK_SYNC], 90);
	assert_int_equal(sum(&thread->clocks), 250);
}

static void what_a_thread_was_found_with_counts_until_the_kernel_sees_it(void **state)
{
	static struct fixture fixture;
	struct lode_hunt_thread *thread = &fixture.threads[0], copy;
	uint32_t place;

	(void)state;
	set_up(&fixture);
	place = lode_thread_clocks_add_thread(&fixture.clocks, 10, 16);
	assert_int_equal(place, 0);
	thread->born = thread->last = 100;
	thread->found_object = 0x1234;
	thread->found = LODE_CLOCK_IO + 1;
	lode_thread_clocks_thread(&fixture.clocks, place, &copy);
	assert_int_equal(copy.clock, LODE_CLOCK_IO);
	assert_int_equal(lode_thread_object(thread), 0x1234);
	lode_thread_take_found(thread);
	lode_thread_returns(thread, 150);
	assert_int_equal(thread->clocks.time[LODE_CLOCK_IO], 50);
	assert_int_equal(thread->ready, 0);
	/* Too late now. */
	thread->found = LODE_CLOCK_SYNC + 1;
	lode_thread_clocks_thread(&fixture.clocks, place, &copy);
	assert_int_equal(copy.clock, LODE_CLOCK_CPU);
}

static void what_was_found_running_had_no_CPU_if_it_gets_one_now(void **state)
{
	static struct fixture fixture;
	struct lode_hunt_thread *thread = &fixture.threads[0];

	(void)state;
	set_up(&fixture);
	assert_int_equal(lode_thread_clocks_add_thread(&fixture.clocks, 10, 16), 0);
	thread->born = thread->last = 100;
	thread->found = LODE_CLOCK_CPU + 1;
	lode_thread_take_found(thread);
	lode_thread_returns(thread, 150);
	assert_int_equal(thread->clocks.time[LODE_CLOCK_CPU], 0);
	assert_int_equal(thread->ready, 50);
}

/* ---- idle threads ---- */

static void only_the_part_of_a_wait_that_was_idle_is_other_time(void **state)
{
	static struct fixture fixture;
	struct lode_hunt_thread *thread = &fixture.threads[0];

	(void)state;
	set_up(&fixture);
	assert_true(lode_thread_claim(thread));
	lode_thread_show(thread, 10, 16, 100);
	lode_thread_returns(thread, 100);
	lode_thread_leaves(thread, LODE_CLOCK_SYNC, 1);
	thread->idle_from = 130;
	thread->idle_until = 160;
	lode_thread_wake(thread, 0, 190);
	lode_thread_returns(thread, 200);
	assert_int_equal(thread->clocks.time[LODE_CLOCK_SYNC], 60);
	assert_int_equal(thread->clocks.time[LODE_CLOCK_OTHER], 40);
	assert_int_equal(thread->ready, 10);
	/* What is bound is not idle, and running never is. */
	thread->idle_until = UINT64_MAX;
	lode_thread_wind(thread, 210);
	lode_thread_leaves(thread, LODE_CLOCK_SYNC, 1);
	thread->is_bound = 1;
	lode_thread_returns(thread, 250);
	assert_int_equal(thread->clocks.time[LODE_CLOCK_SYNC], 100);
	assert_int_equal(thread->clocks.time[LODE_CLOCK_CPU], 10);
	assert_int_equal(sum(&thread->clocks), 150);
}

/* 100 waits that ended as said, in a thread that ran so long. */
static int is_idle_with(double ran, uint32_t waker, uint32_t bound, double waited_for, double outer)
{
	struct lode_hunt_thread thread = { .clock = LODE_CLOCK_SYNC };
	struct lode_thread_activity activity = { .ran = ran, .waited = 10000, .waited_for = waited_for };
	struct lode_thread_history history = { .tid = 1 };

	for (int i = 0; i < 100; i++) {
		thread.waker = waker;
		thread.is_bound = bound;
		lode_thread_count_wait(&thread, 100);
	}
	activity.bound = (double)thread.bound;
	activity.brought = (double)thread.brought;
	lode_thread_history_add(&history, &activity, 0);
	return lode_thread_is_idle(&history, outer);
}

/* After half a second of computing a thread waits for ten: it is idle when that counts for hardly anything any longer. */
static void what_a_thread_did_long_ago_does_not_count(void **state)
{
	struct lode_thread_history history = { .tid = 1, .t = 0 };
	struct lode_thread_activity total = { .ran = 5e8 };
	double idle_after = 0;

	(void)state;
	lode_thread_history_add(&history, &total, 500000000);
	for (uint64_t t = 600000000; t <= 10500000000; t += 100000000) {
		total.waited = (double)t - 5e8;
		lode_thread_history_add(&history, &total, t);
		if (!idle_after && lode_thread_is_idle(&history, 0))
			idle_after = total.waited;
	}
	/* 5e8 * 2^-4t is a hundredth of what waiting adds up to, 2.5e8 / ln 2. */
	assert_true(idle_after > 1.6e9 && idle_after < 2.1e9);
	total.waited += 2e9; /* the wait ends by another thread's doing */
	total.brought = 12e9;
	lode_thread_history_add(&history, &total, 12500000000);
	assert_false(lode_thread_is_idle(&history, 0));
}

static void a_thread_is_idle_if_it_waits_for_nothing_and_nobody_for_it(void **state)
{
	(void)state;
	assert_true(is_idle_with(0, 0, 0, 0, 0));
	assert_true(is_idle_with(100, 0, 0, 100, 0));
	assert_false(is_idle_with(103, 0, 0, 0, 0));
	assert_false(is_idle_with(0, 0, 0, 101, 0));
	assert_false(is_idle_with(0, 7, 0, 0, 0));
	assert_true(is_idle_with(0, 7, 0, 0, 1));
	assert_false(is_idle_with(0, 7, 0, 0, 0.9));
	assert_false(is_idle_with(0, 0, 1, 0, 1));
}

static void the_outer_loop_is_the_recurring_place_with_the_fewest_frames(void **state)
{
	struct lode_wait_places places = { .tid = 1 };

	(void)state;
	assert_true(lode_wait_places_outer(&places) == 0);
	lode_wait_places_add(&places, 11, 3, 10); /* not twice */
	lode_wait_places_add(&places, 12, 5, 30);
	lode_wait_places_add(&places, 12, 5, 30);
	lode_wait_places_add(&places, 13, 8, 15);
	lode_wait_places_add(&places, 13, 8, 15);
	assert_true(lode_wait_places_outer(&places) == 0.6);
	lode_wait_places_add(&places, 14, 5, 50);
	lode_wait_places_add(&places, 14, 5, 50); /* as few */
	assert_true(lode_wait_places_outer(&places) == 0);
	lode_wait_places_add(&places, 11, 3, 0);
	assert_true(lode_wait_places_outer(&places) == 0.05);
	lode_wait_places_add(&places, 15, 1, 1);
	lode_wait_places_add(&places, 15, 1, 0); /* hardly ever */
	assert_true(lode_wait_places_outer(&places) == 10 / 201.0);
	for (uint64_t i = 0; i < 3 * LODE_WAIT_PLACES; i++)
		lode_wait_places_add(&places, 100 + i, 2,
				     1); /* what comes once does not drive out what comes often */
	assert_true(lode_wait_places_outer(&places) > 0);
}

/* ---- places ---- */

/* Threads are added by the kernel, on several CPUs, and by the program, to the same few places. */
static void *add_and_forget(void *context)
{
	struct fixture *fixture = context;
	static atomic_uint_fast32_t next_tid = 1;
	uint64_t wrong = 0;

	for (int i = 0; i < SWITCHES / 4; i++) {
		uint32_t tid = (uint32_t)atomic_fetch_add(&next_tid, 1), pid = tid * 3 + 1;
		uint32_t place = lode_thread_clocks_add_thread(&fixture->clocks, pid, tid);
		const struct lode_hunt_thread *thread;

		if (place == LODE_NONE)
			continue;
		thread = &fixture->threads[place];
		wrong += thread->tid != tid || thread->pid != pid || thread->last != thread->born;
		lode_thread_clocks_forget(&fixture->clocks, place);
	}
	__atomic_fetch_add(&fixture->wrong, wrong, __ATOMIC_RELAXED);
	return NULL;
}

/* No place is ever seen with the number of one thread and the process of another. */
static void *look_at_places(void *context)
{
	struct fixture *fixture = context;
	uint64_t wrong = 0;

	while (!atomic_load(&fixture->over))
		for (int i = 0; i < PLACES; i++) {
			const struct lode_hunt_thread *thread = &fixture->threads[i];
			uint32_t tid = __atomic_load_n(&thread->tid, __ATOMIC_ACQUIRE);
			uint32_t pid = __atomic_load_n(&thread->pid, __ATOMIC_ACQUIRE);

			if (tid && tid == __atomic_load_n(&thread->tid, __ATOMIC_RELAXED))
				wrong += pid != tid * 3 + 1;
		}
	__atomic_fetch_add(&fixture->wrong, wrong, __ATOMIC_RELAXED);
	return NULL;
}

static void a_place_belongs_to_one_thread_at_a_time(void **state)
{
	static struct fixture fixture;
	pthread_t adders[3], looker;

	(void)state;
	set_up(&fixture);
	assert_int_equal(pthread_create(&looker, NULL, look_at_places, &fixture), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&adders[i], NULL, add_and_forget, &fixture), 0);
	for (int i = 0; i < 3; i++)
		pthread_join(adders[i], NULL);
	atomic_store(&fixture.over, 1);
	pthread_join(looker, NULL);
	assert_int_equal(fixture.wrong, 0);
	for (int i = 0; i < PLACES; i++)
		assert_true(!fixture.threads[i].tid && !fixture.threads[i].claimed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clocks_stay_whole_while_others_wake_the_thread_up),
		cmocka_unit_test(waiting_ends_with_the_waking_and_the_run_queue_follows),
		cmocka_unit_test(what_a_thread_was_found_with_counts_until_the_kernel_sees_it),
		cmocka_unit_test(what_was_found_running_had_no_CPU_if_it_gets_one_now),
		cmocka_unit_test(only_the_part_of_a_wait_that_was_idle_is_other_time),
		cmocka_unit_test(a_thread_is_idle_if_it_waits_for_nothing_and_nobody_for_it),
		cmocka_unit_test(what_a_thread_did_long_ago_does_not_count),
		cmocka_unit_test(the_outer_loop_is_the_recurring_place_with_the_fewest_frames),
		cmocka_unit_test(a_place_belongs_to_one_thread_at_a_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
