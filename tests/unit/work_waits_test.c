/* Waiting for work, against the definition in work_waits.h carried out wait by wait. */
#include "cmocka_all.h"
#include "small_stream.h"

#include "scope/work_waits.h"

#include <stdlib.h>
#include <string.h>

struct fixture {
	struct lode_dictionary dictionary;
	struct lode_stream stream;
	struct lode_idle_rules *rules;
	struct lode_idle_stacks *idle;
	struct lode_work_waits *work;
	struct lode_error error;
};

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	if (!fixture || lode_dictionary_init(&fixture->dictionary) < 0 ||
	    lode_idle_rules_load(&fixture->rules, NULL, &fixture->error))
		return -1;
	lode_stream_init(&fixture->stream, &fixture->dictionary);
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	lode_work_waits_free(fixture->work);
	lode_idle_stacks_free(fixture->idle);
	lode_idle_rules_free(fixture->rules);
	lode_stream_release(&fixture->stream);
	lode_dictionary_release(&fixture->dictionary);
	free(fixture);
	return 0;
}

static void add_event(struct fixture *fixture, enum lode_event_type type, uint32_t pid, uint32_t tid,
		      const char *stack, int64_t waker, const char *waker_stack)
{
	struct lode_event event = {
		.t = fixture->stream.events[type].count * 10,
		.cost = 5,
		.thread = lode_stream_thread(&fixture->stream, pid, tid),
		.stack = stack_of(&fixture->dictionary, stack),
		.waker = waker < 0 ? LODE_NONE : lode_stream_tid(&fixture->stream, (uint32_t)waker),
		.waker_stack = stack_of(&fixture->dictionary, waker_stack),
		.cpu = LODE_NO_CPU,
	};

	assert_int_equal(lode_stream_add_event(&fixture->stream, type, &event), 0);
}

static void add_wait(struct fixture *fixture, uint32_t tid, const char *stack, int64_t waker,
		     const char *waker_stack)
{
	add_event(fixture, LODE_WAIT, 1, tid, stack, waker, waker_stack);
}

static void learn(struct fixture *fixture)
{
	const struct lode_events *events = fixture->stream.events;

	lode_work_waits_free(fixture->work);
	lode_idle_stacks_free(fixture->idle);
	assert_int_equal(lode_idle_stacks_make(&fixture->idle, fixture->rules, &fixture->dictionary,
					       &fixture->error),
			 0);
	assert_int_equal(lode_work_waits_make(&fixture->work, &fixture->stream, fixture->idle, &fixture->error), 0);
	assert_int_equal(lode_work_waits_count(fixture->work, &events[LODE_WAIT]), 0);
	if (lode_work_waits_needs_runs(fixture->work))
		lode_work_waits_see_runs(fixture->work, &events[LODE_RUN]);
	assert_int_equal(lode_work_waits_settle(fixture->work), 0);
}

static enum lode_work_place verdict(struct fixture *fixture, size_t wait)
{
	return lode_work_wait(fixture->work, &fixture->stream.events[LODE_WAIT], wait);
}

#define REQUEST "app!main;app!loop;libc!recv;kernel!tcp_recvmsg;kernel!schedule"
#define REPLY   "app!main;app!loop;app!handle;app!query;libc!recv;kernel!tcp_recvmsg;kernel!schedule"
#define LOCK    "app!main;app!loop;app!handle;libc!pthread_mutex_lock;kernel!futex_wait;kernel!schedule"
#define DISK    "app!main;app!loop;libc!read;kernel!io_schedule;kernel!schedule"
#define CLIENT  77
#define NETWORK "kernel!el1_interrupt;kernel!handle_softirqs;kernel!tcp_v4_rcv"

/* A condition variable of the Java virtual machine, on which it waits for a monitor: as if it received something. */
#define MONITOR "app!main;app!loop;libc!pthread_cond_wait;kernel!futex_wait;kernel!schedule"

static void add_wait_for(struct fixture *fixture, uint32_t tid, const char *stack, const char *object)
{
	struct lode_event event = {
		.t = fixture->stream.events[LODE_WAIT].count * 10,
		.cost = 5,
		.thread = lode_stream_thread(&fixture->stream, 1, tid),
		.stack = stack_of(&fixture->dictionary, stack),
		.waker = lode_stream_tid(&fixture->stream, CLIENT),
		.cpu = LODE_NO_CPU,
		.object = lode_strings_add(&fixture->dictionary.frames.strings, object, strlen(object)),
		.holder = LODE_NONE,
	};

	assert_int_equal(lode_stream_add_event(&fixture->stream, LODE_WAIT, &event), 0);
}

static void a_lock_is_no_work_whatever_its_stack_looks_like(void **state)
{
	struct fixture *fixture = *state;

	for (int i = 0; i < 4; i++) {
		add_wait_for(fixture, 10, REPLY, "tcp:10.0.0.1:80");
		add_wait_for(fixture, 10, MONITOR, "lock:monitor entered in answer");
	}
	learn(fixture);
	for (size_t i = 0; i < 8; i += 2) {
		assert_int_equal(verdict(fixture, i), LODE_WORK_OUTSIDE);
		assert_int_equal(verdict(fixture, i + 1), LODE_WORK_NEITHER);
	}
}

static void a_worker_waits_for_requests_and_not_for_replies(void **state)
{
	struct fixture *fixture = *state;

	for (int i = 0; i < 3; i++) {
		add_wait(fixture, 10, REQUEST, CLIENT, "");
		add_wait(fixture, 10, REPLY, CLIENT, "");
		add_wait(fixture, 10, LOCK, 11, "app!unlock");
	}
	learn(fixture);
	for (size_t i = 0; i < 9; i += 3) {
		assert_int_equal(verdict(fixture, i), LODE_WORK_OUTSIDE);
		assert_int_equal(verdict(fixture, i + 1), LODE_WORK_NEITHER);
		assert_int_equal(verdict(fixture, i + 2), LODE_WORK_NEITHER);
	}
}

static void work_that_a_recorded_thread_brings_is_not_from_outside(void **state)
{
	struct fixture *fixture = *state;

	add_wait(fixture, 10, REQUEST, 11, "app!producer");
	add_wait(fixture, 10, REQUEST, 11, NETWORK); /* an interrupt: thread 11 only happened to run */
	add_wait(fixture, 10, REQUEST, -1, "");
	add_wait(fixture, 10, REQUEST, CLIENT, "client!send");
	add_event(fixture, LODE_RUN, 1, 11, "app!producer", -1, "");
	learn(fixture);
	assert_int_equal(verdict(fixture, 0), LODE_WORK_NEITHER);
	assert_int_equal(verdict(fixture, 1), LODE_WORK_OUTSIDE);
	assert_int_equal(verdict(fixture, 2), LODE_WORK_OUTSIDE);
	assert_int_equal(verdict(fixture, 3), LODE_WORK_OUTSIDE);
}

static void a_disk_is_no_work(void **state)
{
	struct fixture *fixture = *state;

	add_wait(fixture, 10, DISK, -1, NETWORK);
	add_wait(fixture, 10, DISK, -1, NETWORK);
	add_wait(fixture, 10, LOCK, CLIENT, "");
	add_wait(fixture, 10, LOCK, CLIENT, "");
	learn(fixture);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(verdict(fixture, i), LODE_WORK_NEITHER);
}

static void a_condition_variable_is_work_only_when_a_timer_ends_it(void **state)
{
	struct fixture *fixture = *state;
	const char *tick = "app!main;app!timer;libc!pthread_cond_timedwait;kernel!futex_wait;kernel!schedule";

	add_wait(fixture, 10, tick, -1, "kernel!el1_interrupt;kernel!hrtimer_wakeup");
	add_wait(fixture, 10, tick, -1, "kernel!el1_interrupt;kernel!hrtimer_wakeup");
	add_wait(fixture, 10, tick, CLIENT, "other!signal");
	learn(fixture);
	assert_int_equal(verdict(fixture, 0), LODE_WORK_OUTSIDE);
	assert_int_equal(verdict(fixture, 1), LODE_WORK_OUTSIDE);
	assert_int_equal(verdict(fixture, 2), LODE_WORK_NEITHER);
}

static void an_event_loop_inside_a_request_is_a_wait_for_whoever_ends_it(void **state)
{
	struct fixture *fixture = *state;
	const char *outer = "db!main;db!read_command;libc!epoll_wait;kernel!ep_poll";
	const char *inner = "db!main;db!execute;db!wait_for_lock;libc!epoll_wait;kernel!ep_poll";

	for (int i = 0; i < 2; i++) {
		add_wait(fixture, 10, outer, CLIENT, "");
		add_wait(fixture, 10, inner, 11, "db!release");
		add_wait(fixture, 11, outer, CLIENT, "");
	}
	learn(fixture);
	assert_int_equal(verdict(fixture, 0), LODE_WORK_OUTSIDE);
	assert_int_equal(verdict(fixture, 1), LODE_WORK_INSIDE);
}

static void of_two_places_as_far_out_neither_is_the_outer_loop(void **state)
{
	struct fixture *fixture = *state;

	for (int i = 0; i < 2; i++) {
		add_wait(fixture, 10, "app!main;app!ask_client;libc!recv", CLIENT, "");
		add_wait(fixture, 10, "app!main;app!ask_database;libc!recv", CLIENT, "");
	}
	learn(fixture);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(verdict(fixture, i), LODE_WORK_NEITHER);
}

static void broken_stacks_do_not_hide_the_outer_loop(void **state)
{
	struct fixture *fixture = *state;

	for (int i = 0; i < 3; i++)
		add_wait(fixture, 10, REQUEST, CLIENT, "");
	add_wait(fixture, 10, "app!broken;libc!recv", CLIENT, "");
	add_wait(fixture, 10, "app!broken;libc!recv", CLIENT, "");
	learn(fixture);
	assert_int_equal(verdict(fixture, 0), LODE_WORK_OUTSIDE);
	assert_int_equal(verdict(fixture, 3), LODE_WORK_NEITHER);
}

static void threads_that_waited_once_are_known_by_their_like(void **state)
{
	struct fixture *fixture = *state;

	add_wait(fixture, 10, REQUEST, CLIENT, "");
	learn(fixture);
	assert_int_equal(verdict(fixture, 0), LODE_WORK_NEITHER);
	add_wait(fixture, 11, REQUEST, CLIENT, "");
	learn(fixture);
	assert_int_equal(verdict(fixture, 0), LODE_WORK_OUTSIDE);
	assert_int_equal(verdict(fixture, 1), LODE_WORK_OUTSIDE);
}

/* ---- the definition, wait by wait ---- */

struct slow {
	const struct lode_stream *stream;
	const struct lode_events *waits;
};

static const char *frame_text(const struct slow *slow, uint32_t node, char *text)
{
	struct lode_buffer buffer = { 0 };

	lode_frames_text(&slow->stream->dictionary->frames, slow->stream->dictionary->tree.nodes[node].frame,
			 &buffer);
	lode_buffer_byte(&buffer, '\0');
	strcpy(text, buffer.bytes);
	lode_buffer_release(&buffer);
	return text;
}

static int is_one_of(const char *text, const char *const *list)
{
	for (; *list; list++)
		if (!strcmp(text, *list))
			return 1;
	return 0;
}

static int has_frame(const struct slow *slow, uint32_t node, const char *const *list)
{
	char text[64];

	for (; node; node = slow->stream->dictionary->tree.nodes[node].parent)
		if (is_one_of(frame_text(slow, node, text), list))
			return 1;
	return 0;
}

static int slow_interrupt(const struct slow *slow, size_t i)
{
	static const char *const interrupts[] = { "kernel!hrtimer_wakeup", "kernel!handle_softirqs", NULL };

	return has_frame(slow, slow->waits->waker_stack[i], interrupts);
}

/* The vocabulary below, sorted by hand. */
static uint32_t slow_place(const struct slow *slow, size_t i)
{
	static const char *const ways[] = { "libc!recv", "libc!poll", "libc!pthread_cond_timedwait", NULL };
	static const char *const receive[] = { "libc!recv", "libc!poll", "kernel!tcp_recvmsg", NULL };
	static const char *const timed[] = { "kernel!futex_wait", "libc!pthread_cond_timedwait", NULL };
	uint32_t node = slow->waits->stack[i];
	int receives = 0;
	char text[64];

	for (; node; node = slow->stream->dictionary->tree.nodes[node].parent) {
		frame_text(slow, node, text);
		if (strncmp(text, "kernel!", 7) && !is_one_of(text, ways))
			break;
		receives |= is_one_of(text, receive) || (is_one_of(text, timed) && slow_interrupt(slow, i));
	}
	return receives ? node : 0;
}

static uint32_t slow_tid(const struct slow *slow, size_t i)
{
	return slow->stream->threads[slow->waits->thread[i]].tid;
}

static uint32_t slow_root(const struct slow *slow, uint32_t node)
{
	while (slow->stream->dictionary->tree.nodes[node].parent)
		node = slow->stream->dictionary->tree.nodes[node].parent;
	return slow->stream->dictionary->tree.nodes[node].frame;
}

/* Receive waits at a place: of one thread, or of all where `tid` is LODE_NONE. */
static size_t slow_count(const struct slow *slow, uint32_t tid, uint32_t place)
{
	size_t count = 0;

	for (size_t i = 0; i < slow->waits->count; i++)
		count += slow_place(slow, i) == place && (tid == LODE_NONE || slow_tid(slow, i) == tid);
	return count;
}

static int slow_has_root(const struct slow *slow, uint32_t tid, uint32_t place)
{
	size_t same = 0, all = 0;

	for (size_t i = 0; i < slow->waits->count; i++) {
		uint32_t other = slow_place(slow, i);

		if (!other || slow_tid(slow, i) != tid)
			continue;
		all++;
		same += slow_root(slow, other) == slow_root(slow, place);
	}
	return 2 * same > all;
}

static int slow_recurs(const struct slow *slow, uint32_t tid, uint32_t place)
{
	int again = 0;

	if (!slow_has_root(slow, tid, place))
		return 0;
	for (size_t i = 0; i < slow->waits->count; i++) {
		uint32_t other = slow_place(slow, i);

		again |= other && slow_tid(slow, i) == tid && slow_has_root(slow, tid, other) &&
			 slow_count(slow, tid, other) >= 2;
	}
	return slow_count(slow, again ? tid : LODE_NONE, place) >= 2;
}

static uint32_t slow_outer(const struct slow *slow, uint32_t tid)
{
	const struct lode_stack_tree *tree = &slow->stream->dictionary->tree;
	uint32_t outer = 0;
	int tie = 0;

	for (size_t i = 0; i < slow->waits->count; i++) {
		uint32_t place = slow_place(slow, i);

		if (!place || place == outer || slow_tid(slow, i) != tid || !slow_recurs(slow, tid, place))
			continue;
		if (!outer || lode_stack_tree_depth(tree, place) < lode_stack_tree_depth(tree, outer)) {
			outer = place;
			tie = 0;
		} else if (lode_stack_tree_depth(tree, place) == lode_stack_tree_depth(tree, outer)) {
			tie = 1;
		}
	}
	return tie ? 0 : outer;
}

static int slow_recorded(const struct slow *slow, uint32_t thread)
{
	const struct lode_thread *threads = slow->stream->threads;

	for (int type = LODE_RUN; type <= LODE_WAIT; type++)
		for (size_t i = 0; i < slow->stream->events[type].count; i++) {
			const struct lode_thread *other = &threads[slow->stream->events[type].thread[i]];

			if (other->tid == threads[thread].tid ||
			    (other->pid == threads[thread].pid && other->pid != LODE_NO_PID))
				return 1;
		}
	return 0;
}

static enum lode_work_place slow_verdict(const struct slow *slow, size_t i)
{
	const struct lode_stack_tree *tree = &slow->stream->dictionary->tree;
	uint32_t place = slow_place(slow, i), outer = slow_outer(slow, slow_tid(slow, i)),
		 waker = slow->waits->waker[i];
	int outside = waker == LODE_NONE || slow_interrupt(slow, i) || !slow_recorded(slow, waker);

	if (!place || !outer)
		return LODE_WORK_NEITHER;
	if (place == outer)
		return outside ? LODE_WORK_OUTSIDE : LODE_WORK_NEITHER;
	if (outside || lode_stack_tree_depth(tree, place) <= lode_stack_tree_depth(tree, outer) ||
	    slow_root(slow, place) != slow_root(slow, outer))
		return LODE_WORK_NEITHER;
	return LODE_WORK_INSIDE;
}

static const char *pick(uint64_t *seed, const char *const *list, size_t count)
{
	return list[random_below(seed, count)];
}

static void random_waits(struct fixture *fixture, uint64_t *seed)
{
	static const char *const roots[] = { "app!main", "app!main", "app!main", "app!broken" };
	static const char *const callers[] = { "", ";app!loop", ";app!loop;app!handle", ";app!loop;app!query",
					       ";kernel!loop;app!odd" };
	static const char *const ways[] = { ";libc!recv;kernel!tcp_recvmsg;kernel!schedule",
					    ";libc!poll",
					    ";libc!pthread_cond_timedwait;kernel!futex_wait",
					    ";kernel!io_schedule",
					    ";libc!recv",
					    "" };
	static const char *const wakers[] = { "", "app!unlock", "kernel!handle_softirqs;kernel!wake",
					      "kernel!hrtimer_wakeup" };
	size_t count = 1 + random_below(seed, 14);

	for (size_t i = 0; i < count; i++) {
		char stack[256];

		strcpy(stack, pick(seed, roots, 4));
		strcat(stack, pick(seed, callers, 5));
		strcat(stack, pick(seed, ways, 6));
		/* Process 1 has threads 10 and 11, process 2 thread 20; process 3 may run, process 4 never does. */
		add_event(fixture, LODE_WAIT, 1 + (uint32_t)random_below(seed, 2),
			  10 + (uint32_t)random_below(seed, 2), stack, (int64_t)random_below(seed, 5) * 10 - 10,
			  pick(seed, wakers, 4));
	}
	lode_stream_thread(&fixture->stream, 3, 30);
	lode_stream_thread(&fixture->stream, 4, 0);
	if (random_below(seed, 2))
		add_event(fixture, LODE_RUN, 3, 30, "app!run", -1, "");
}

static void random_waits_are_judged_as_the_definition_says(void **state)
{
	size_t seen[3] = { 0 };
	uint64_t seed = 11;

	(void)state;
	for (int round = 0; round < TEST_ROUNDS(3000); round++) {
		void *one = NULL;
		struct fixture *fixture;
		struct slow slow;

		assert_int_equal(set_up(&one), 0);
		fixture = one;
		random_waits(fixture, &seed);
		learn(fixture);
		slow = (struct slow){ &fixture->stream, &fixture->stream.events[LODE_WAIT] };
		for (size_t i = 0; i < slow.waits->count; i++) {
			enum lode_work_place expected = slow_verdict(&slow, i);

			assert_int_equal(verdict(fixture, i), expected);
			seen[expected]++;
		}
		tear_down(&one);
	}
	/* All three verdicts must have been put to the test. */
	assert_true(seen[LODE_WORK_OUTSIDE] > TEST_ROUNDS(1000));
	assert_true(seen[LODE_WORK_INSIDE] > TEST_ROUNDS(100));
	assert_true(seen[LODE_WORK_NEITHER] > TEST_ROUNDS(1000));
}

static void memory_that_runs_out_is_an_error_and_nothing_leaks(void **state)
{
	struct fixture *fixture = *state;
	const struct lode_events *waits = &fixture->stream.events[LODE_WAIT];
	int code = LODE_SYSTEM;

	for (int i = 0; i < 40; i++)
		add_wait(fixture, 10 + (uint32_t)i, i % 2 ? REQUEST : REPLY, CLIENT, "");
	assert_int_equal(lode_idle_stacks_make(&fixture->idle, fixture->rules, &fixture->dictionary,
					       &fixture->error),
			 0);
	for (uint64_t nth = 1; code; nth++) {
		struct lode_work_waits *work;

		assert_true(nth < 1000);
		lode_memory_fail_at(nth, 0);
		code = lode_work_waits_make(&work, &fixture->stream, fixture->idle, &fixture->error);
		if (!code)
			code = lode_work_waits_count(work, waits);
		if (!code)
			code = lode_work_waits_settle(work);
		lode_memory_fail_at(0, 0);
		lode_work_waits_free(work);
		if (code)
			assert_int_equal(code, LODE_SYSTEM);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_lock_is_no_work_whatever_its_stack_looks_like, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_worker_waits_for_requests_and_not_for_replies, set_up, tear_down),
		cmocka_unit_test_setup_teardown(work_that_a_recorded_thread_brings_is_not_from_outside, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_disk_is_no_work, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_condition_variable_is_work_only_when_a_timer_ends_it, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(an_event_loop_inside_a_request_is_a_wait_for_whoever_ends_it,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(of_two_places_as_far_out_neither_is_the_outer_loop, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(broken_stacks_do_not_hide_the_outer_loop, set_up, tear_down),
		cmocka_unit_test_setup_teardown(threads_that_waited_once_are_known_by_their_like, set_up, tear_down),
		cmocka_unit_test(random_waits_are_judged_as_the_definition_says),
		cmocka_unit_test_setup_teardown(memory_that_runs_out_is_an_error_and_nothing_leaks, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
