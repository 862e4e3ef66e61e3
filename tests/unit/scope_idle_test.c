/* Idle rules: which waits belong to threads that have nothing to do. */
#include "cmocka_all.h"
#include "small_stream.h"
#include "temporary.h"

#include "scope/frame_filter.h"
#include "scope/idle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct fixture {
	char folder[64];
	char path[96];
	struct lode_dictionary dictionary;
	struct lode_idle_rules *rules;
	struct lode_idle_stacks *stacks;
	struct lode_error error;
};

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	if (temporary_folder(fixture->folder, sizeof(fixture->folder)) < 0 ||
	    lode_dictionary_init(&fixture->dictionary) < 0)
		return -1;
	snprintf(fixture->path, sizeof(fixture->path), "%s/rules", fixture->folder);
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	lode_idle_stacks_free(fixture->stacks);
	lode_idle_rules_free(fixture->rules);
	lode_dictionary_release(&fixture->dictionary);
	unlink(fixture->path);
	rmdir(fixture->folder);
	free(fixture);
	return 0;
}

/* Loads the built-in rules and, behind them, `text`. */
static int load(struct fixture *fixture, const char *text)
{
	const char *paths[] = { fixture->path, NULL };
	FILE *file;

	if (!text)
		return lode_idle_rules_load(&fixture->rules, NULL, &fixture->error);
	file = fopen(fixture->path, "w");
	fputs(text, file);
	fclose(file);
	return lode_idle_rules_load(&fixture->rules, paths, &fixture->error);
}

static int is_idle(struct fixture *fixture, const char *stack, const char *waker_stack)
{
	uint32_t node = stack_of(&fixture->dictionary, stack), waker = stack_of(&fixture->dictionary, waker_stack);

	lode_idle_stacks_free(fixture->stacks);
	fixture->stacks = NULL;
	assert_int_equal(lode_idle_stacks_make(&fixture->stacks, fixture->rules, &fixture->dictionary,
					       &fixture->error),
			 0);
	return lode_idle_event(fixture->stacks, node, waker);
}

static void an_event_loop_is_idle_and_a_lock_is_not(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(load(fixture, NULL), 0);
	assert_true(is_idle(fixture,
			    "app!main;libc.so.6!epoll_wait;kernel!do_epoll_wait;kernel!ep_poll;"
			    "kernel!schedule;kernel!__schedule",
			    ""));
	assert_true(
		is_idle(fixture, "kernel!ret_from_fork;kernel!kthread;kernel!worker_thread;kernel!schedule", ""));
	assert_false(is_idle(fixture,
			     "app!main;app!update;libc.so.6!pthread_mutex_lock;kernel!futex_wait;"
			     "kernel!schedule",
			     ""));
	assert_false(is_idle(fixture, "", ""));
}

static void threads_of_language_runtimes_are_idle(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(load(fixture, NULL), 0);
	assert_true(is_idle(fixture,
			    "libjvm.so!thread_native_entry;libjvm.so!Thread::call_run;libjvm.so!WorkerThread::run;"
			    "libjvm.so!PosixSemaphore::wait;libc.so.6!__new_sem_wait_slow64;libc.so.6!__futex_"
			    "abstimed_wait_common",
			    ""));
	assert_true(is_idle(
		fixture,
		"java.lang.Thread.run;java.util.concurrent.ThreadPoolExecutor.runWorker;"
		"java.util.concurrent.ThreadPoolExecutor.getTask;java.util.concurrent.LinkedBlockingQueue.take;"
		"java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject.await;"
		"java.util.concurrent.locks.LockSupport.park;jdk.internal.misc.Unsafe.park;libjvm.so!Unsafe_Park",
		""));
	assert_true(
		is_idle(fixture,
			"java.lang.ref.Finalizer$FinalizerThread.run;java.lang.ref.ReferenceQueue.remove;"
			"java.lang.ref.NativeReferenceQueue.await;java.lang.Object.wait;java.lang.Object.wait0",
			""));
	assert_true(is_idle(fixture,
			    "Thread.java!Thread.run;ThreadPoolExecutor.java!ThreadPoolExecutor.runWorker;"
			    "ThreadPoolExecutor.java!ThreadPoolExecutor.getTask;LinkedBlockingQueue.java!"
			    "LinkedBlockingQueue.take;"
			    "AbstractQueuedSynchronizer.java!AbstractQueuedSynchronizer$ConditionObject.await;"
			    "LockSupport.java!LockSupport.park;Unsafe.java!Unsafe.park;libjvm.so!Unsafe_Park",
			    ""));
	assert_true(
		is_idle(fixture,
			"Finalizer.java!Finalizer$FinalizerThread.run;ReferenceQueue.java!ReferenceQueue.remove;"
			"Object.java!Object.wait",
			""));
	assert_true(is_idle(fixture, "runtime.gcBgMarkWorker;runtime.gopark", ""));
	assert_true(is_idle(fixture,
			    "app!runtime.mcall;app!runtime.park_m;app!runtime.schedule;app!runtime.findRunnable;"
			    "app!runtime.stopm;app!runtime.notesleep;app!runtime.futexsleep;app!runtime.futex;"
			    "kernel!do_futex;kernel!futex_wait;kernel!schedule",
			    ""));
	assert_true(is_idle(fixture,
			    "app!runtime.mstart1;app!runtime.sysmon;app!runtime.notetsleep;"
			    "app!runtime.notetsleep_internal;app!runtime.futexsleep;app!runtime.futex",
			    ""));
	assert_true(is_idle(fixture, "kernel!kthread;kernel!irq_thread;kernel!irq_wait_for_interrupt", ""));
	assert_true(is_idle(fixture, "(root);(idle)", ""));
	/* the same ways of waiting, but of the program */
	assert_false(is_idle(
		fixture,
		"Thread.java!Thread.run;Server.java!Server.handle;Cache.java!Cache.get;Object.java!Object.wait",
		""));
	assert_false(is_idle(fixture, "java.lang.Thread.run;app.Server.handle;app.Cache.get;java.lang.Object.wait",
			     ""));
	assert_false(
		is_idle(fixture,
			"java.lang.Thread.run;app.Server.handle;java.util.concurrent.locks.ReentrantLock.lock;"
			"java.util.concurrent.locks.LockSupport.park;jdk.internal.misc.Unsafe.park",
			""));
	assert_false(is_idle(fixture, "main.main;main.collect;runtime.chanrecv1;runtime.gopark", ""));
	assert_false(is_idle(fixture,
			     "app!runtime.mallocgc;app!runtime.lock2;app!runtime.futexsleep;app!runtime.futex", ""));
}

static void a_way_of_waiting_leaves_the_decision_to_its_caller(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(load(fixture, "idle app!work_loop\n"), 0);
	assert_true(is_idle(fixture,
			    "app!work_loop;libc.so.6!pthread_cond_wait;kernel!futex_wait_queue;kernel!schedule",
			    ""));
	assert_false(is_idle(fixture, "app!work_loop;app!job;libc.so.6!pthread_cond_wait;kernel!schedule", ""));
	assert_false(is_idle(fixture, "app!work_loop;kernel!exc_page_fault;kernel!io_schedule;kernel!schedule", ""));
	assert_false(is_idle(fixture, "other!work_loop;kernel!schedule", ""));
}

static void below_a_sentinel_everything_is_passed_over(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(load(fixture, "sentinel app!pump\nidle app!pump\n"), 0);
	assert_true(is_idle(fixture, "app!main;app!pump;app!deep;app!deeper", ""));
	assert_false(is_idle(fixture, "app!main;app!deep", ""));
}

static void a_busy_frame_is_never_idle(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(load(fixture, "busy kernel!do_nanosleep\n"), 0);
	assert_false(is_idle(fixture, "app!main;kernel!hrtimer_nanosleep;kernel!do_nanosleep;kernel!schedule", ""));
}

static void a_rule_may_ask_who_woke_it(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(load(fixture, "idle app!poll_loop woken by interrupt\n"
				       "idle app!poll_loop woken by app!tick*\n"),
			 0);
	assert_true(is_idle(fixture, "app!poll_loop;kernel!schedule",
			    "kernel!do_idle;kernel!hrtimer_interrupt;kernel!x"));
	assert_true(is_idle(fixture, "app!poll_loop;kernel!schedule", "app!main;app!ticker"));
	assert_false(is_idle(fixture, "app!poll_loop;kernel!schedule", "app!main;app!send"));
	assert_false(is_idle(fixture, "app!poll_loop;kernel!schedule", ""));
}

static void an_interrupt_is_known_by_its_frames(void **state)
{
	struct fixture *fixture = *state;
	uint32_t timer =
		stack_of(&fixture->dictionary, "app!main;kernel!el0t_64_irq_handler;kernel!try_to_wake_up");
	uint32_t thread = stack_of(&fixture->dictionary, "app!main;kernel!futex_wake;kernel!try_to_wake_up");

	assert_int_equal(load(fixture, NULL), 0);
	is_idle(fixture, "", "");
	assert_true(lode_idle_interrupt(fixture->stacks, timer));
	assert_false(lode_idle_interrupt(fixture->stacks, thread));
	assert_false(lode_idle_interrupt(fixture->stacks, 0));
}

/* A waker's stack: from a system call down to the softirq that it runs, with what that serves. */
#define SENDING                                                                                                   \
	"app!main;app!send;kernel!tcp_sendmsg;kernel!__local_bh_enable_ip;kernel!do_softirq;kernel!call_on_irq_"  \
	"stack;"

static void a_softirq_is_an_interrupt_unless_it_delivers_what_its_thread_sends(void **state)
{
	struct fixture *fixture = *state;
	static const struct {
		const char *stack;
		int is_interrupt;
	} wakers[] = {
		{ SENDING "kernel!handle_softirqs;kernel!net_rx_action;kernel!process_backlog;kernel!tcp_v4_rcv",
		  0 },
		{ SENDING "kernel!__do_softirq;kernel!net_rx_action;kernel!veth_poll;kernel!tcp_v4_rcv", 0 },
		{ SENDING "kernel!handle_softirqs;kernel!net_rx_action;kernel!virtnet_poll;kernel!tcp_v4_rcv", 1 },
		{ SENDING "kernel!handle_softirqs;kernel!run_timer_softirq;kernel!process_timeout", 1 },
		{ SENDING "kernel!handle_softirqs;kernel!process_backlog;kernel!el1h_64_irq;kernel!hrtimer_wakeup",
		  1 },
		{ "app!main;kernel!el0t_64_irq;kernel!handle_softirqs;kernel!process_backlog;kernel!tcp_v4_rcv", 1 },
		{ "app!main;kernel!asm_common_interrupt;kernel!__do_softirq;kernel!process_backlog", 1 },
		{ "kernel!kthread;kernel!run_ksoftirqd;kernel!handle_softirqs;kernel!process_backlog", 1 },
		{ "kernel!(interrupt)", 1 },
	};
	uint32_t nodes[sizeof(wakers) / sizeof(*wakers)];

	for (size_t i = 0; i < sizeof(wakers) / sizeof(*wakers); i++)
		nodes[i] = stack_of(&fixture->dictionary, wakers[i].stack);
	assert_int_equal(load(fixture, NULL), 0);
	is_idle(fixture, "", "");
	for (size_t i = 0; i < sizeof(wakers) / sizeof(*wakers); i++)
		if (lode_idle_interrupt(fixture->stacks, nodes[i]) != wakers[i].is_interrupt)
			fail_msg("%s", wakers[i].stack);
}

static void the_frame_that_decided_is_reported(void **state)
{
	struct fixture *fixture = *state;
	uint32_t node = stack_of(&fixture->dictionary, "app!main;kernel!ep_poll;kernel!schedule");

	assert_int_equal(load(fixture, NULL), 0);
	is_idle(fixture, "", "");
	assert_string_equal(lode_frames_function(&fixture->dictionary.frames,
						 lode_idle_frame(fixture->stacks, node)),
			    "ep_poll");
}

static void what_is_no_rule_is_reported_with_its_line(void **state)
{
	static const char *const wrong[] = {
		"idle\n",
		"sleepy app!x\n",
		"idle app!x woken\n",
		"idle app!x woken by\n",
		"idle app!x woken by y z\n",
		"ignore app!x woken by y\n",
		"idle app!x app!y\n",
	};
	struct fixture *fixture = *state;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		char text[128];

		snprintf(text, sizeof(text), "# a comment\n\n%s", wrong[i]);
		assert_int_equal(load(fixture, text), LODE_BAD_INPUT);
		assert_non_null(strstr(fixture->error.text, "rules:3: "));
	}
}

/* A second reading of the rules, stack by stack from the leaf, with no tables. */
struct plain_rule {
	const char *list;
	const char *glob;
};

static int fits(const struct lode_frames *frames, uint32_t frame, const struct plain_rule *rules, size_t count,
		const char *list)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(rules[i].list, list) && lode_frame_matches(frames, frame, rules[i].glob))
			return 1;
	return 0;
}

static int judge_slowly(const struct lode_dictionary *dictionary, uint32_t node, const struct plain_rule *rules,
			size_t count)
{
	const struct lode_frames *frames = &dictionary->frames;
	uint32_t path[64], depth = lode_stack_tree_depth(&dictionary->tree, node);
	int start = (int)depth - 1;

	lode_stack_tree_frames(&dictionary->tree, node, path, depth);
	for (int i = (int)depth - 1; i >= 0; i--)
		if (fits(frames, path[i], rules, count, "sentinel")) {
			start = i;
			break;
		}
	if (start < 0)
		return 0;
	for (int i = start; i >= 0; i--) {
		int sentinel = i == start && fits(frames, path[i], rules, count, "sentinel");

		if (fits(frames, path[i], rules, count, "idle"))
			return 1;
		if (sentinel || (!fits(frames, path[i], rules, count, "ignore") &&
				 !fits(frames, path[i], rules, count, "prefix")))
			return 0;
	}
	return 0;
}

static void random_rules_judge_as_a_slow_reading_does(void **state)
{
	static const char *const lists[] = { "ignore", "prefix", "idle", "sentinel" };
	static const char *const globs[] = { "a", "b*", "m!c", "*!d", "?", "m!*", "e", "b?" };
	struct fixture *fixture = *state;
	uint64_t seed = 99;

	for (int round = 0; round < 2000; round++) {
		struct plain_rule rules[6];
		size_t count = random_below(&seed, 7);
		char text[512] = "", stack[256] = "";
		uint32_t node;

		for (size_t i = 0; i < count; i++) {
			rules[i] = (struct plain_rule){ lists[random_below(&seed, 4)],
							globs[random_below(&seed, 8)] };
			snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s %s\n", rules[i].list,
				 rules[i].glob);
		}
		for (size_t depth = random_below(&seed, 8); depth; depth--)
			snprintf(stack + strlen(stack), sizeof(stack) - strlen(stack), "%s%s%c", *stack ? ";" : "",
				 random_below(&seed, 2) ? "m!" : "n!", (int)('a' + random_below(&seed, 6)));
		assert_int_equal(load(fixture, text), 0);
		node = stack_of(&fixture->dictionary, stack);
		assert_int_equal(is_idle(fixture, stack, ""),
				 judge_slowly(&fixture->dictionary, node, rules, count));
		lode_idle_rules_free(fixture->rules);
		fixture->rules = NULL;
	}
}

static void memory_that_runs_out_is_an_error_and_nothing_leaks(void **state)
{
	struct fixture *fixture = *state;
	int code = LODE_SYSTEM;

	stack_of(&fixture->dictionary, "app!main;kernel!ep_poll;kernel!schedule");
	for (uint64_t nth = 1; code; nth++) {
		struct lode_idle_rules *rules = NULL;
		struct lode_idle_stacks *stacks = NULL;

		lode_memory_fail_at(nth, 0);
		code = lode_idle_rules_load(&rules, NULL, &fixture->error);
		if (!code)
			code = lode_idle_stacks_make(&stacks, rules, &fixture->dictionary, &fixture->error);
		lode_memory_fail_at(0, 0);
		lode_idle_stacks_free(stacks);
		lode_idle_rules_free(rules);
		assert_true(code == 0 || code == LODE_SYSTEM);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(an_event_loop_is_idle_and_a_lock_is_not, set_up, tear_down),
		cmocka_unit_test_setup_teardown(threads_of_language_runtimes_are_idle, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_way_of_waiting_leaves_the_decision_to_its_caller, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(below_a_sentinel_everything_is_passed_over, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_busy_frame_is_never_idle, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_rule_may_ask_who_woke_it, set_up, tear_down),
		cmocka_unit_test_setup_teardown(an_interrupt_is_known_by_its_frames, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_softirq_is_an_interrupt_unless_it_delivers_what_its_thread_sends,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_frame_that_decided_is_reported, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_no_rule_is_reported_with_its_line, set_up, tear_down),
		cmocka_unit_test_setup_teardown(random_rules_judge_as_a_slow_reading_does, set_up, tear_down),
		cmocka_unit_test_setup_teardown(memory_that_runs_out_is_an_error_and_nothing_leaks, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
