/* Idle threads without a list of names: by hand, and against the definition in idle_threads.h carried out thread by thread. */
#include "small_stream.h"

#include "scope/wait_classes.h"

#include <stdlib.h>

#define TIMER "kernel!el1_interrupt;kernel!hrtimer_wakeup"
#define SLEEP "bg!thread;libc!pthread_cond_timedwait;kernel!futex_wait;kernel!schedule"
#define DISK  "bg!thread;libc!read;kernel!io_schedule"
#define LOCK  "bg!thread;libc!pthread_mutex_lock;kernel!futex_wait"
#define LOOP  "bg!thread;libc!recv;kernel!unix_stream_read_generic"
#define REPLY "bg!thread;bg!ask;libc!recv;kernel!unix_stream_read_generic"
#define CHILD "sh!main;libc!wait4;kernel!kernel_wait4;kernel!do_wait"

struct fixture {
	struct small_stream small;
	struct lode_idle_rules *rules;
	struct lode_idle_stacks *idle;
	struct lode_wait_classes classes;
};

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	if (!fixture || lode_idle_rules_load(&fixture->rules, NULL, NULL))
		return -1;
	small_begin(&fixture->small);
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	lode_wait_classes_release(&fixture->classes);
	lode_idle_stacks_free(fixture->idle);
	lode_idle_rules_free(fixture->rules);
	small_end(&fixture->small);
	free(fixture);
	return 0;
}

static void add_wait(struct fixture *fixture, uint32_t tid, uint64_t cost, const char *stack, uint32_t waker,
		     const char *waker_stack)
{
	struct lode_events *waits = &fixture->small.stream.events[LODE_WAIT];

	small_event(&fixture->small, LODE_WAIT, tid, waits->count * 10000, cost, 0, waker, stack);
	waits->waker_stack[waits->count - 1] = small_stack(&fixture->small, waker_stack);
}

static void classify(struct fixture *fixture)
{
	lode_wait_classes_release(&fixture->classes);
	lode_idle_stacks_free(fixture->idle);
	assert_int_equal(lode_idle_stacks_make(&fixture->idle, fixture->rules, &fixture->small.dictionary, NULL),
			 0);
	assert_int_equal(lode_wait_classes_make(&fixture->classes, &fixture->small.stream, fixture->idle, 1, NULL),
			 0);
}

static enum lode_wait_class class_of(const struct fixture *fixture, size_t wait)
{
	return lode_wait_class(&fixture->classes, &fixture->small.stream.events[LODE_WAIT], wait);
}

/* ---- by hand ---- */

static void a_thread_that_only_sleeps_is_idle_whatever_its_name(void **state)
{
	struct fixture *fixture = *state;

	add_wait(fixture, 1, 9000, SLEEP, LODE_NONE, TIMER);
	add_wait(fixture, 1, 9000, SLEEP, LODE_NONE, ""); /* not over yet */
	small_run(&fixture->small, 1, 9000, 100);
	classify(fixture);
	assert_int_equal(class_of(fixture, 0), LODE_WAIT_IDLE);
	assert_int_equal(class_of(fixture, 1), LODE_WAIT_IDLE);
}

static void a_thread_that_ran_is_not(void **state)
{
	struct fixture *fixture = *state;

	add_wait(fixture, 1, 900, "bg!thread;kernel!something_new", LODE_NONE, TIMER);
	add_wait(fixture, 2, 900, "bg!thread;kernel!something_new", LODE_NONE, TIMER);
	small_run(&fixture->small, 1, 9000, 100);
	fixture->small.stream.threads[1].totals = (struct lode_thread_totals){ .waits = 1, .run_ns = 100 };
	classify(fixture);
	assert_int_equal(class_of(fixture, 0), LODE_WAIT_COUNTS);
	assert_int_equal(class_of(fixture, 1), LODE_WAIT_COUNTS);
}

static void what_a_thread_waits_for_makes_it_busy(void **state)
{
	struct fixture *fixture = *state;
	static const char *const stacks[] = { DISK, LOCK, REPLY };

	for (uint32_t i = 0; i < 3; i++) {
		add_wait(fixture, 10 + i, 1000, "bg!thread;kernel!something_new", LODE_NONE, TIMER);
		add_wait(fixture, 10 + i, 11, stacks[i], i == 2 ? 99 : LODE_NONE, ""); /* more than 1 % */
	}
	classify(fixture);
	for (size_t i = 0; i < 6; i++)
		assert_int_equal(class_of(fixture, i), LODE_WAIT_COUNTS);
}

static void a_thread_that_others_wait_for_is_not_idle(void **state)
{
	struct fixture *fixture = *state;

	add_wait(fixture, 1, 1000, "bg!thread;kernel!something_new", LODE_NONE, TIMER);
	add_wait(fixture, 2, 900, REPLY, 1, "bg!answer");
	small_run(&fixture->small, 2, 9000, 1000);
	classify(fixture);
	assert_int_equal(class_of(fixture, 0), LODE_WAIT_COUNTS);
	assert_int_equal(class_of(fixture, 1), LODE_WAIT_COUNTS);
}

/* Like a postmaster: clients wake it, nobody waits for it, it hardly runs. */
static void work_in_the_outer_loop_does_not_make_a_thread_busy(void **state)
{
	struct fixture *fixture = *state;

	for (int i = 0; i < 3; i++)
		add_wait(fixture, 1, 1000, LOOP, 2, "client!connect");
	small_run(&fixture->small, 2, 0, 1000);
	classify(fixture);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(class_of(fixture, i), LODE_WAIT_IDLE);
	/* But if it then asks somebody, that counts, and so does all of it. */
	add_wait(fixture, 1, 1000, REPLY, 2, "client!send");
	classify(fixture);
	assert_int_equal(class_of(fixture, 0), LODE_WAIT_COUNTS);
	assert_int_equal(class_of(fixture, 3), LODE_WAIT_COUNTS);
}

static void a_wait_on_the_path_of_a_symptom_counts(void **state)
{
	struct lode_symptom symptom = { .t0 = 0, .t1 = 1000 };
	struct fixture *fixture = *state;

	add_wait(fixture, 1, 1000, "bg!thread;kernel!something_new", LODE_NONE, TIMER);
	add_wait(fixture, 1, 1000, "bg!thread;kernel!something_new", LODE_NONE, TIMER);
	small_run(&fixture->small, 1, 5000, 1);
	assert_int_equal(lode_stream_add_symptom(&fixture->small.stream, &symptom), 0);
	classify(fixture);
	assert_int_equal(class_of(fixture, 0), LODE_WAIT_COUNTS);
	assert_int_equal(class_of(fixture, 1), LODE_WAIT_IDLE);
}

static void waits_for_children_are_the_childrens_where_these_are_recorded(void **state)
{
	struct fixture *fixture = *state;

	add_wait(fixture, 1, 1000, CHILD, 2, "make!main;kernel!do_exit");
	add_wait(fixture, 1, 1000, CHILD, 3, "cc1!main;kernel!do_exit");
	add_wait(fixture, 1, 1000, CHILD, LODE_NONE, "");
	small_run(&fixture->small, 1, 0, 500);
	small_run(&fixture->small, 2, 0, 500);
	classify(fixture);
	assert_int_equal(class_of(fixture, 0), LODE_WAIT_IDLE);
	assert_int_equal(class_of(fixture, 1), LODE_WAIT_COUNTS); /* nothing else tells of 3 */
	assert_int_equal(class_of(fixture, 2), LODE_WAIT_IDLE);
}

/* The path of the shell's run goes on in the child, so the wait itself took nothing. */
static void waits_for_children_are_theirs_on_a_path_as_well(void **state)
{
	struct lode_symptom symptom = { .t0 = 0, .t1 = 1000 };
	struct fixture *fixture = *state;

	add_wait(fixture, 1, 1000, CHILD, 2, "make!main;kernel!do_exit");
	small_run(&fixture->small, 2, 0, 1000);
	symptom.thread = lode_stream_tid(&fixture->small.stream, 1);
	assert_int_equal(lode_stream_add_symptom(&fixture->small.stream, &symptom), 0);
	classify(fixture);
	assert_int_equal(class_of(fixture, 0), LODE_WAIT_IDLE);
}

/* ---- against the definition ---- */

static const char *const stacks[] = { "", SLEEP, DISK, LOCK, LOOP, REPLY, "bg!thread;kernel!something_new" };

static void random_waits(struct fixture *fixture, uint64_t *seed)
{
	for (uint64_t i = random_below(seed, 25); i--;) {
		uint32_t waker = random_below(seed, 2) ? (uint32_t)random_below(seed, 4) : LODE_NONE;

		add_wait(fixture, 1 + (uint32_t)random_below(seed, 3),
			 random_below(seed, 3) ? random_below(seed, 5000) : random_below(seed, 20),
			 stacks[random_below(seed, 7)], waker, random_below(seed, 2) ? TIMER : "x!f");
	}
	for (uint64_t i = random_below(seed, 4); i--;)
		small_run(&fixture->small, 1 + (uint32_t)random_below(seed, 3), i * 10, random_below(seed, 60));
}

static uint32_t tid_of(const struct fixture *fixture, uint32_t thread)
{
	return fixture->small.stream.threads[thread].tid;
}

static int is_thread_waker(const struct fixture *fixture, const struct lode_event *wait)
{
	return wait->waker != LODE_NONE && !lode_idle_interrupt(fixture->idle, wait->waker_stack);
}

/* Whether the stack of wait `i` is this one. */
static int is_in(struct fixture *fixture, size_t i, const char *stack)
{
	return fixture->small.stream.events[LODE_WAIT].stack[i] == small_stack(&fixture->small, stack);
}

/* The number of a tid among all there are. */
static size_t group_of(const struct fixture *fixture, uint32_t tid)
{
	size_t group = 0;

	for (size_t i = 0; i < fixture->small.stream.thread_count; i++)
		group += tid_of(fixture, (uint32_t)i) < tid;
	return group;
}

/* Bound, by what the stacks above are. */
static int slow_bound(struct fixture *fixture, size_t i)
{
	const struct lode_events *waits = &fixture->small.stream.events[LODE_WAIT];
	struct lode_event wait = lode_events_get(waits, i);
	uint32_t outer =
		lode_work_outer_place(fixture->classes.work, group_of(fixture, tid_of(fixture, wait.thread)));
	int receives = is_in(fixture, i, LOOP) || is_in(fixture, i, REPLY);

	if (receives && lode_work_wait_place(fixture->classes.work, waits, i) == outer)
		return 0;
	if (is_thread_waker(fixture, &wait) || is_in(fixture, i, DISK) || is_in(fixture, i, LOCK))
		return 1;
	return receives && !lode_idle_interrupt(fixture->idle, wait.waker_stack);
}

static int slow_idle(struct fixture *fixture, uint32_t tid)
{
	const struct lode_stream *stream = &fixture->small.stream;
	uint64_t waited = 0, bound = 0, ran = 0, waited_for = 0, first = UINT64_MAX, last = 0;
	size_t runs = stream->events[LODE_RUN].count;
	int wakers = 0;

	for (size_t i = 0; i < stream->events[LODE_WAIT].count; i++) {
		struct lode_event wait = lode_events_get(&stream->events[LODE_WAIT], i);

		wakers |= wait.waker != LODE_NONE || lode_idle_interrupt(fixture->idle, wait.waker_stack);
		if (tid_of(fixture, wait.thread) == tid) {
			waited += wait.cost;
			first = wait.t < first ? wait.t : first;
			last = wait.t + wait.cost > last ? wait.t + wait.cost : last;
			bound += slow_bound(fixture, i) ? wait.cost : 0;
		} else if (is_thread_waker(fixture, &wait) && tid_of(fixture, wait.waker) == tid) {
			waited_for += wait.cost;
		}
	}
	for (size_t i = 0; i < stream->events[LODE_RUN].count; i++)
		if (tid_of(fixture, stream->events[LODE_RUN].thread[i]) == tid)
			ran += stream->events[LODE_RUN].cost[i];
	if (!runs && last > first)
		ran = last - first > waited ? last - first - waited : 0;
	return wakers && waited && ran <= (waited + ran) / 100 && bound <= waited / 100 &&
	       waited_for <= waited / 100;
}

static void random_threads_are_judged_as_defined(void **state)
{
	uint64_t seed = 4;
	int idle = 0;

	(void)state;
	for (int round = 0; round < 2000; round++) {
		struct fixture *fixture;
		const struct lode_events *waits;

		assert_int_equal(set_up((void **)&fixture), 0);
		for (size_t i = 0; i < 7; i++)
			small_stack(&fixture->small, stacks[i]); /* all are known before it is judged */
		random_waits(fixture, &seed);
		classify(fixture);
		waits = &fixture->small.stream.events[LODE_WAIT];
		for (size_t i = 0; i < waits->count; i++) {
			int expected = slow_idle(fixture, tid_of(fixture, waits->thread[i])) &&
				       !slow_bound(fixture, i);

			assert_int_equal(lode_idle_threads_wait(fixture->classes.threads, waits, i), expected);
			idle += expected;
		}
		assert_int_equal(tear_down((void **)&fixture), 0);
	}
	assert_true(idle > 100);
}

int main(void)
{
#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		CASE(a_thread_that_only_sleeps_is_idle_whatever_its_name),
		CASE(a_thread_that_ran_is_not),
		CASE(what_a_thread_waits_for_makes_it_busy),
		CASE(a_thread_that_others_wait_for_is_not_idle),
		CASE(work_in_the_outer_loop_does_not_make_a_thread_busy),
		CASE(a_wait_on_the_path_of_a_symptom_counts),
		CASE(waits_for_children_are_the_childrens_where_these_are_recorded),
		CASE(waits_for_children_are_theirs_on_a_path_as_well),
		cmocka_unit_test(random_threads_are_judged_as_defined),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
