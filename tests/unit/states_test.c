/*
 * States of threads: by hand, and against a slow account that asks for each nanosecond by itself what a thread did.
 */
#include "failing_memory.h"
#include "small_stream.h"

#include "scope/segments.h"
#include "scope/states.h"
#include "scope/wait_kinds.h"

#define KERNEL_TIMER "kernel!el1_interrupt;kernel!hrtimer_interrupt;kernel!hrtimer_wakeup"
#define KERNEL_NET   "kernel!el1_interrupt;kernel!handle_softirqs;kernel!net_rx_action;kernel!tcp_v4_rcv"

struct account {
	struct lode_idle_rules *rules;
	struct lode_idle_stacks *idle;
	struct lode_wait_classes classes;
	struct lode_stream_states states;
};

static void account_begin(struct account *account, struct small_stream *small, int work)
{
	memset(account, 0, sizeof(*account));
	assert_int_equal(lode_idle_rules_load(&account->rules, NULL, NULL), 0);
	assert_int_equal(lode_idle_stacks_make(&account->idle, account->rules, &small->dictionary, NULL), 0);
	assert_int_equal(lode_wait_classes_make(&account->classes, &small->stream, account->idle, work, NULL), 0);
}

static void account_end(struct account *account)
{
	lode_stream_states_release(&account->states);
	lode_wait_classes_release(&account->classes);
	lode_idle_stacks_free(account->idle);
	lode_idle_rules_free(account->rules);
}

static const struct lode_thread_states *states_of(const struct lode_stream_states *states,
						  const struct lode_stream *stream, uint32_t tid)
{
	for (size_t i = 0; i < states->count; i++)
		if (stream->threads[states->items[i].thread].tid == tid)
			return &states->items[i];
	return NULL;
}

static uint64_t sum_of(const struct lode_thread_states *states)
{
	uint64_t sum = 0;

	for (int state = 0; state < LODE_STATES; state++)
		sum += states->ns[state];
	return sum;
}

static void add_preemption(struct small_stream *small, uint32_t tid, uint64_t t, uint64_t delay, uint32_t weight)
{
	struct lode_event event = {
		.t = t,
		.delay = delay,
		.thread = lode_stream_tid(&small->stream, tid),
		.waker = LODE_NONE,
		.cpu = LODE_NO_CPU,
		.weight = weight,
		.name = lode_strings_add(&small->dictionary.frames.strings, LODE_PREEMPTION,
					 strlen(LODE_PREEMPTION)),
	};

	assert_int_equal(lode_stream_add_event(&small->stream, LODE_CALL, &event), 0);
}

/* ---- kinds of waits ---- */

static void require_kind(const char *stack, uint32_t waker, const char *waker_stack, enum lode_state expected)
{
	struct small_stream small;
	struct lode_wait_kinds *kinds;
	struct account account;

	small_begin(&small);
	small_event(&small, LODE_WAIT, 1, 0, 10, 0, waker, stack);
	small.stream.events[LODE_WAIT].waker_stack[0] = small_stack(&small, waker_stack);
	small_run(&small, 2, 0, 10);
	account_begin(&account, &small, 0);
	assert_int_equal(lode_wait_kinds_make(&kinds, &small.stream, account.idle, NULL), 0);
	lode_wait_kinds_see(kinds, &small.stream.events[LODE_RUN]);
	if (lode_wait_kind(kinds, &small.stream.events[LODE_WAIT], 0) != expected)
		fail_msg("%s: %s instead of %s", stack,
			 lode_state_name(lode_wait_kind(kinds, &small.stream.events[LODE_WAIT], 0)),
			 lode_state_name(expected));
	lode_wait_kinds_free(kinds);
	account_end(&account);
	small_end(&small);
}

static void a_stack_tells_what_a_thread_waits_for(void **state)
{
	static const struct {
		const char *stack;
		enum lode_state kind;
	} cases[] = {
		{ "a!main;libc!pthread_mutex_lock;kernel!do_futex;kernel!futex_wait;kernel!schedule",
		  LODE_STATE_LOCK },
		{ "a!main;a!0x123;kernel!do_futex;kernel!__futex_wait;kernel!schedule", LODE_STATE_LOCK },
		{ "a!main;kernel!ext4_file_write_iter;kernel!rwsem_down_write_slowpath;kernel!schedule",
		  LODE_STATE_LOCK },
		{ "python3!take_gil;libc!pthread_cond_timedwait;kernel!futex_wait", LODE_STATE_GIL },
		{ "postgres!ProcSleep;postgres!WaitLatch;kernel!do_epoll_wait;kernel!ep_poll", LODE_STATE_LOCK },
		{ "libjvm.so!ObjectMonitor::enter;libjvm.so!ObjectMonitor::EnterI;libc!pthread_cond_wait;kernel!"
		  "futex_wait",
		  LODE_STATE_LOCK },
		{ "a!main;libc!fsync;kernel!ext4_sync_file;kernel!jbd2_log_wait_commit;kernel!schedule",
		  LODE_STATE_DISK },
		{ "a!main;libc!read;kernel!vfs_read;kernel!folio_wait_bit_common;kernel!io_schedule",
		  LODE_STATE_DISK },
		{ "a!main;kernel!do_page_fault;kernel!handle_mm_fault;kernel!filemap_fault;kernel!io_schedule",
		  LODE_STATE_PAGE },
		{ "a!main;kernel!handle_mm_fault;kernel!down_read;kernel!rwsem_down_read_slowpath",
		  LODE_STATE_LOCK },
		{ "a!main;libc!nanosleep;kernel!hrtimer_nanosleep;kernel!do_nanosleep", LODE_STATE_TIMER },
		{ "sh!main;libc!wait4;kernel!kernel_wait4;kernel!do_wait", LODE_STATE_CHILD },
		{ "sh!main;libc!__vfork;kernel!kernel_clone;kernel!wait_for_completion_state;kernel!__wait_for_"
		  "common",
		  LODE_STATE_CHILD },
		{ "a!main;libc!recv;kernel!tcp_recvmsg;kernel!sk_wait_data", LODE_STATE_NETWORK },
		{ "a!main;libc!__GI___clock_nanosleep", LODE_STATE_TIMER },
		{ "a!main;libc!__pread64;kernel!tcp_recvmsg", LODE_STATE_NETWORK },
		{ "a!main;kernel!something_new;kernel!schedule", LODE_STATE_OTHER_WAIT },
		{ "", LODE_STATE_OTHER_WAIT },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		require_kind(cases[i].stack, LODE_NONE, "", cases[i].kind);
}

static void a_waker_tells_replies_from_timers_and_the_network(void **state)
{
	const char *receive = "a!main;libc!recv;kernel!unix_stream_read_generic;kernel!schedule";
	const char *poll = "a!main;libc!poll;kernel!do_sys_poll;kernel!schedule";
	const char *condition = "a!main;libc!pthread_cond_wait;kernel!futex_wait;kernel!schedule";

	(void)state;
	require_kind(receive, 2, "b!send", LODE_STATE_REPLY);
	require_kind(receive, 9, "b!send", LODE_STATE_NETWORK); /* of which nothing is recorded */
	require_kind(receive, 2, KERNEL_NET, LODE_STATE_NETWORK);
	require_kind(receive, 2, KERNEL_TIMER, LODE_STATE_TIMER);
	require_kind(poll, 2, "b!send", LODE_STATE_REPLY);
	require_kind(poll, LODE_NONE, KERNEL_TIMER, LODE_STATE_TIMER);
	require_kind(poll, LODE_NONE, "", LODE_STATE_OTHER_WAIT);
	require_kind(condition, 2, "a!signal", LODE_STATE_REPLY);
	require_kind(condition, LODE_NONE, KERNEL_TIMER, LODE_STATE_TIMER);
}

static void objects_have_kinds(void **state)
{
	(void)state;
	assert_int_equal(lode_wait_kind_of_object("lock:folder_list"), LODE_STATE_LOCK);
	assert_int_equal(lode_wait_kind_of_object("file:/var/lib/x"), LODE_STATE_DISK);
	assert_int_equal(lode_wait_kind_of_object("tcp:10.0.0.7:5432"), LODE_STATES);
	assert_int_equal(lode_wait_kind_of_object("gil"), LODE_STATE_GIL);
	assert_int_equal(lode_wait_kind_of_object("locks:x"), LODE_STATES);
	assert_int_equal(lode_wait_kind_of_object(""), LODE_STATES);
}

/* ---- by hand ---- */

static void a_life_is_accounted_for(void **state)
{
	const struct lode_thread_states *thread;
	struct small_stream small;
	struct account account;

	(void)state;
	small_begin(&small);
	small_event(&small, LODE_WAIT, 1, 100, 50, 7, LODE_NONE, "a!main;kernel!kernel_wait4;kernel!do_wait");
	add_preemption(&small, 1, 200, 20, 1);
	small_event(&small, LODE_WAIT, 1, 250, 10, 0, LODE_NONE, "a!main;kernel!vfs_read;kernel!io_schedule");
	account_begin(&account, &small, 1);
	assert_int_equal(lode_states_of_stream(&account.states, &small.stream, &account.classes, NULL, NULL), 0);
	thread = states_of(&account.states, &small.stream, 1);
	assert_int_equal(thread->first, 100);
	assert_int_equal(thread->interval, 160);
	assert_int_equal(thread->ns[LODE_STATE_CHILD], 50);
	assert_int_equal(thread->ns[LODE_STATE_READY], 27);
	assert_int_equal(thread->ns[LODE_STATE_DISK], 10);
	assert_int_equal(thread->ns[LODE_STATE_RUNNING], 73);
	assert_int_equal(sum_of(thread), 160);
	account_end(&account);
	small_end(&small);
}

static void a_span_beyond_a_life_is_not_recorded(void **state)
{
	const struct lode_state_span span = { 120, 300 };
	const struct lode_thread_states *thread;
	struct lode_stream_states states;
	struct small_stream small;

	(void)state;
	small_begin(&small);
	small_event(&small, LODE_WAIT, 1, 100, 50, 10, LODE_NONE, "");
	small_event(&small, LODE_WAIT, 1, 180, 20, 0, LODE_NONE, "");
	assert_int_equal(lode_states_of_stream(&states, &small.stream, NULL, &span, NULL), 0);
	thread = states_of(&states, &small.stream, 1);
	assert_int_equal(thread->interval, 180);
	assert_int_equal(thread->ns[LODE_STATE_OTHER_WAIT], 50);
	assert_int_equal(thread->ns[LODE_STATE_READY], 10);
	assert_int_equal(thread->ns[LODE_STATE_RUNNING], 20);
	assert_int_equal(thread->ns[LODE_STATE_NOT_RECORDED], 100);
	lode_stream_states_release(&states);
	small_end(&small);
}

/* The kernel counted 40 ns of running; of 100 that no event covers the rest is unknown, but for what was queued. */
static void the_kernels_counts_limit_running_time(void **state)
{
	const struct lode_thread_states *thread;
	struct lode_stream_states states;
	struct small_stream small;

	(void)state;
	small_begin(&small);
	small_wait(&small, 1, 0, 50, LODE_NONE);
	small_wait(&small, 1, 150, 50, LODE_NONE);
	small.stream.threads[0].totals = (struct lode_thread_totals){ .waits = 3, .run_ns = 40, .queued_ns = 15 };
	assert_int_equal(lode_states_of_stream(&states, &small.stream, NULL, NULL, NULL), 0);
	thread = states_of(&states, &small.stream, 1);
	assert_int_equal(thread->ns[LODE_STATE_OTHER_WAIT], 100);
	assert_int_equal(thread->ns[LODE_STATE_RUNNING], 40);
	assert_int_equal(thread->ns[LODE_STATE_READY], 15);
	assert_int_equal(thread->ns[LODE_STATE_NOT_RECORDED], 45);
	lode_stream_states_release(&states);
	small_end(&small);
}

static void a_long_gap_between_samples_is_not_running(void **state)
{
	const struct lode_thread_states *thread;
	struct lode_stream_states states;
	struct small_stream small;

	(void)state;
	small_begin(&small);
	small_run(&small, 2, 0, 10);
	small_wait(&small, 1, 0, 10, LODE_NONE);
	small_wait(&small, 1, 110, 10, LODE_NONE); /* ten periods: it may have run */
	small_wait(&small, 1, 221, 10, LODE_NONE);
	assert_int_equal(lode_states_of_stream(&states, &small.stream, NULL, NULL, NULL), 0);
	thread = states_of(&states, &small.stream, 1);
	assert_int_equal(thread->ns[LODE_STATE_RUNNING], 100);
	assert_int_equal(thread->ns[LODE_STATE_NOT_RECORDED], 101);
	assert_int_equal(sum_of(thread), 231);
	lode_stream_states_release(&states);
	small_end(&small);
}

static void a_thinned_recording_is_estimated(void **state)
{
	struct lode_event lock = { .t = 0, .cost = 10, .weight = 3, .waker = LODE_NONE, .cpu = LODE_NO_CPU };
	struct lode_event disk = { .t = 900, .cost = 100, .weight = 1, .waker = LODE_NONE, .cpu = LODE_NO_CPU };
	const struct lode_thread_states *thread;
	struct lode_stream_states states;
	struct small_stream small;

	(void)state;
	small_begin(&small);
	lock.thread = disk.thread = lode_stream_tid(&small.stream, 1);
	lock.stack = small_stack(&small, "a!main;kernel!futex_wait");
	disk.stack = small_stack(&small, "a!main;kernel!io_schedule");
	assert_int_equal(lode_stream_add_event(&small.stream, LODE_WAIT, &lock), 0);
	assert_int_equal(lode_stream_add_event(&small.stream, LODE_WAIT, &disk), 0);
	assert_int_equal(lode_states_of_stream(&states, &small.stream, NULL, NULL, NULL), 0);
	thread = states_of(&states, &small.stream, 1);
	assert_true(thread->estimated);
	assert_int_equal(thread->ns[LODE_STATE_LOCK], 30);
	assert_int_equal(thread->ns[LODE_STATE_DISK], 100);
	assert_int_equal(thread->ns[LODE_STATE_NOT_RECORDED], 870);
	lode_stream_states_release(&states);
	/* The kernel knows how long it waited in all. */
	small.stream.threads[0].totals =
		(struct lode_thread_totals){ .waits = 9, .run_ns = 600, .queued_ns = 140, .waited_ns = 260 };
	assert_int_equal(lode_states_of_stream(&states, &small.stream, NULL, NULL, NULL), 0);
	thread = states_of(&states, &small.stream, 1);
	assert_int_equal(thread->ns[LODE_STATE_RUNNING], 600);
	assert_int_equal(thread->ns[LODE_STATE_READY], 140);
	assert_int_equal(thread->ns[LODE_STATE_LOCK], 60);
	assert_int_equal(thread->ns[LODE_STATE_DISK], 200);
	assert_int_equal(sum_of(thread), 1000);
	lode_stream_states_release(&states);
	small_end(&small);
}

static void samples_divide_running_time(void **state)
{
	struct small_stream small;
	struct account account;
	const struct lode_thread_states *states;

	(void)state;
	small_begin(&small);
	small_event(&small, LODE_RUN, 1, 0, 10, 0, LODE_NONE, "a!main;a!f");
	small_event(&small, LODE_RUN, 1, 10, 30, 0, LODE_NONE, "a!main;kernel!do_read");
	small_event(&small, LODE_WAIT, 1, 40, 10, 0, LODE_NONE, "a!main;kernel!do_wait");
	small_event(&small, LODE_WAIT, 2, 0, 10, 0, LODE_NONE, "a!main;kernel!do_wait");
	small_event(&small, LODE_WAIT, 2, 20, 10, 0, LODE_NONE, "a!main;kernel!do_wait");
	/* The kernel counted more than samples saw: shares stay. */
	small.stream.threads[small.stream.events[LODE_RUN].thread[0]].totals =
		(struct lode_thread_totals){ .waits = 1, .waited_ns = 10, .run_ns = 40, .queued_ns = 0 };
	account_begin(&account, &small, 1);
	assert_int_equal(lode_states_of_stream(&account.states, &small.stream, &account.classes, NULL, NULL), 0);
	states = states_of(&account.states, &small.stream, 1);
	assert_int_equal(states->ns[LODE_STATE_RUNNING], 40);
	assert_int_equal(states->running.user, 10);
	assert_int_equal(states->running.kernel, 30);
	/* A thread without samples: not known. */
	states = states_of(&account.states, &small.stream, 2);
	assert_int_equal(states->ns[LODE_STATE_RUNNING], 10);
	assert_int_equal(states->running.user + states->running.kernel, 0);
	account_end(&account);
	small_end(&small);
}

/* ---- the slow account ---- */

#define LIMIT   60
#define MOMENTS (3 * LIMIT)

/* What covers the nanosecond from x: a wait, else a preemption, else a sample; the last to begin. Returns its type or -1. */
static int covers(const struct lode_stream *stream, uint32_t tid, uint64_t x, size_t *which)
{
	static const int types[] = { LODE_WAIT, LODE_CALL, LODE_RUN };

	for (int rank = 0; rank < 3; rank++) {
		const struct lode_events *events = &stream->events[types[rank]];

		for (size_t i = events->count; i--;) {
			struct lode_event event = lode_events_get(events, i);
			uint64_t over = event.t + event.cost + (types[rank] == LODE_RUN ? 0 : event.delay);

			if (stream->threads[event.thread].tid != tid || event.t > x || over <= x ||
			    (types[rank] == LODE_CALL &&
			     strcmp(lode_strings_get(&stream->dictionary->frames.strings, event.name), "preempt")))
				continue;
			*which = i;
			return types[rank];
		}
	}
	return -1;
}

/* The types that cover the nanoseconds before and behind the gap that x is in, and how long the gap is. */
static uint64_t gap_around(const struct lode_stream *stream, uint32_t tid, uint64_t x, int *before, int *after)
{
	uint64_t from = x, to = x + 1;
	size_t which;

	while (from && covers(stream, tid, from - 1, &which) < 0)
		from--;
	while (to < MOMENTS && covers(stream, tid, to, &which) < 0)
		to++;
	*before = from ? covers(stream, tid, from - 1, &which) : -1;
	*after = to < MOMENTS ? covers(stream, tid, to, &which) : -1;
	return to - from;
}

static enum lode_state slow_state(const struct lode_stream *stream, const struct account *account,
				  const struct lode_wait_kinds *kinds, uint32_t tid, uint64_t x, uint64_t longest)
{
	const struct lode_events *waits = &stream->events[LODE_WAIT];
	int before, after, type;
	size_t which;
	uint64_t gap;

	type = covers(stream, tid, x, &which);
	if (type == LODE_RUN)
		return LODE_STATE_RUNNING;
	if (type == LODE_CALL)
		return LODE_STATE_READY;
	if (type == LODE_WAIT) {
		if (x >= waits->t[which] + waits->cost[which])
			return LODE_STATE_READY;
		switch (lode_wait_class(&account->classes, waits, which)) {
		case LODE_WAIT_IDLE:
			return LODE_STATE_IDLE;
		case LODE_WAIT_FOR_WORK:
			return LODE_STATE_WORK;
		default:
			return lode_wait_kind(kinds, waits, which);
		}
	}
	gap = gap_around(stream, tid, x, &before, &after);
	return before > LODE_RUN && after > LODE_RUN && gap <= longest ? LODE_STATE_RUNNING
								       : LODE_STATE_NOT_RECORDED;
}

static void require_slow(struct small_stream *small, const struct account *account,
			 const struct lode_state_span *span)
{
	const struct lode_events *runs = &small->stream.events[LODE_RUN];
	struct lode_wait_kinds *kinds;
	uint64_t all = 0, longest;

	assert_int_equal(lode_wait_kinds_make(&kinds, &small->stream, account->idle, NULL), 0);
	lode_wait_kinds_see(kinds, runs);
	lode_wait_kinds_see(kinds, &small->stream.events[LODE_WAIT]);
	for (size_t i = 0; i < runs->count; i++)
		all += runs->cost[i];
	longest = runs->count ? all / runs->count * LODE_UNSAMPLED_PERIODS : UINT64_MAX;
	for (size_t i = 0; i < account->states.count; i++) {
		const struct lode_thread_states *item = &account->states.items[i];
		uint64_t expected[LODE_STATES] = { 0 };

		if (span)
			assert_int_equal(item->first, span->t0);
		for (uint64_t x = item->first; x < item->first + item->interval; x++)
			expected[slow_state(&small->stream, account, kinds,
					    small->stream.threads[item->thread].tid, x, longest)]++;
		assert_memory_equal(item->ns, expected, sizeof(expected));
		assert_int_equal(sum_of(item), item->interval);
	}
	lode_wait_kinds_free(kinds);
}

static const char *const random_stacks[] = {
	"",
	"a!main;kernel!futex_wait",
	"a!main;a!loop;libc!recv;kernel!tcp_recvmsg",
	"a!main;kernel!handle_mm_fault;kernel!io_schedule",
	"a!main;kernel!ep_poll",
};

static void random_streams_are_accounted_for_as_moment_by_moment(void **state)
{
	uint64_t seed = 37;

	(void)state;
	for (int round = 0; round < 400; round++) {
		struct lode_state_span span = { random_below(&seed, LIMIT), 0 };
		struct small_stream small;
		struct account account;

		span.t1 = span.t0 + random_below(&seed, LIMIT);
		small_begin(&small);
		small_random(&small, &seed, 30, LIMIT);
		for (size_t i = 0; i < small.stream.events[LODE_WAIT].count; i++) {
			struct lode_events *waits = &small.stream.events[LODE_WAIT];

			waits->stack[i] = small_stack(&small, random_stacks[random_below(&seed, 5)]);
			waits->waker_stack[i] = small_stack(&small, random_below(&seed, 2) ? KERNEL_TIMER : "b!f");
		}
		account_begin(&account, &small, 1);
		assert_int_equal(lode_states_of_stream(&account.states, &small.stream, &account.classes, NULL, NULL),
				 0);
		require_slow(&small, &account, NULL);
		lode_stream_states_release(&account.states);
		assert_int_equal(lode_states_of_stream(&account.states, &small.stream, &account.classes, &span,
						       NULL),
				 0);
		require_slow(&small, &account, &span);
		account_end(&account);
		small_end(&small);
	}
}

/* Weights, counts and huge numbers: whatever there is, the states add up. */
static void states_always_add_up(void **state)
{
	uint64_t seed = 73;

	(void)state;
	for (int round = 0; round < 400; round++) {
		struct lode_stream_states states;
		struct small_stream small;

		small_begin(&small);
		for (int type = 0; round % 3 && type < LODE_EVENT_TYPES; type++)
			assert_int_equal(lode_events_reserve(&small.stream.events[type], 40, LODE_ALL_COLUMNS), 0);
		small_random(&small, &seed, 30, round % 2 ? LIMIT : UINT64_MAX / 4);
		for (int type = 0; type < LODE_EVENT_TYPES; type++)
			for (size_t i = 0; small.stream.events[type].weight && i < small.stream.events[type].count;
			     i++)
				small.stream.events[type].weight[i] = 1 + (uint32_t)random_below(&seed, 4);
		for (size_t i = 0; i < small.stream.thread_count; i++)
			if (random_below(&seed, 2))
				small.stream.threads[i].totals = (struct lode_thread_totals){
					.waits = 1,
					.run_ns = random_number(&seed),
					.queued_ns = random_number(&seed),
					.waited_ns = random_number(&seed),
				};
		assert_int_equal(lode_states_of_stream(&states, &small.stream, NULL, NULL, NULL), 0);
		for (size_t i = 0; i < states.count; i++)
			assert_int_equal(sum_of(&states.items[i]), states.items[i].interval);
		for (size_t i = 0; i < states.count; i++) {
			uint64_t divided = states.items[i].running.user + states.items[i].running.kernel;

			assert_true(!divided || divided == states.items[i].ns[LODE_STATE_RUNNING]);
		}
		lode_stream_states_release(&states);
		small_end(&small);
	}
}

/* ---- tables ---- */

static void require_row(const struct lode_state_table *table, size_t i, const char *name, uint64_t threads,
			uint64_t running)
{
	assert_true(i < table->count);
	assert_string_equal(lode_strings_get(&table->names, table->items[i].process), name);
	assert_int_equal(table->items[i].threads, threads);
	assert_int_equal(table->items[i].ns[LODE_STATE_RUNNING], running);
}

static void name_thread(struct small_stream *small, uint32_t pid, uint32_t tid, const char *name)
{
	uint32_t thread = lode_stream_thread(&small->stream, pid, tid);

	small->stream.threads[thread].name =
		lode_strings_add(&small->dictionary.frames.strings, name, strlen(name));
}

static void processes_are_merged_by_name(void **state)
{
	struct lode_state_table table, more;
	struct lode_stream_states states;
	struct small_stream small;

	(void)state;
	small_begin(&small);
	name_thread(&small, 7, 7, "server");
	name_thread(&small, 7, 8, "worker");
	name_thread(&small, 9, 9, "client");
	small_run(&small, 7, 0, 10);
	small_run(&small, 8, 0, 20);
	small_run(&small, 9, 0, 40);
	assert_int_equal(lode_states_of_stream(&states, &small.stream, NULL, NULL, NULL), 0);
	assert_int_equal(lode_state_table_init(&table), 0);
	assert_int_equal(lode_state_table_init(&more), 0);
	assert_int_equal(lode_state_table_add(&table, &small.stream, &states), 0);
	assert_int_equal(lode_state_table_merge(&more, &table), 0);
	assert_int_equal(lode_state_table_sort(&table), 0);
	require_row(&table, 0, "client", 1, 40);
	require_row(&table, 1, "server", 2, 30);
	assert_int_equal(table.items[1].processes, 1);
	assert_int_equal(lode_state_table_merge(&more, &table), 0);
	assert_int_equal(lode_state_table_sort(&more), 0);
	assert_int_equal(more.count, 2);
	require_row(&more, 0, "client", 2, 80);
	require_row(&more, 1, "server", 4, 60);
	lode_state_table_release(&more);
	lode_state_table_release(&table);
	lode_stream_states_release(&states);
	small_end(&small);
}

/* Classes, states and a table of one stream. */
static int sum_up(struct small_stream *small, const struct lode_idle_rules *rules)
{
	struct lode_wait_classes classes = { 0 };
	struct lode_stream_states states = { 0 };
	struct lode_state_table table, merged = { 0 };
	struct lode_idle_stacks *idle = NULL;
	struct lode_error error = { "" };
	int code = lode_idle_stacks_make(&idle, rules, &small->dictionary, &error);

	if (!code)
		code = lode_wait_classes_make(&classes, &small->stream, idle, 1, &error);
	if (!code)
		code = lode_states_of_stream(&states, &small->stream, &classes, NULL, &error);
	if (lode_state_table_init(&table) < 0 ||
	    (!code && lode_state_table_add(&table, &small->stream, &states) < 0))
		code = LODE_SYSTEM;
	if (!code && (lode_state_table_init(&merged) < 0 || lode_state_table_merge(&merged, &table) < 0 ||
		      lode_state_table_sort(&merged) < 0))
		code = LODE_SYSTEM;
	lode_state_table_release(&merged);
	lode_state_table_release(&table);
	lode_stream_states_release(&states);
	lode_wait_classes_release(&classes);
	lode_idle_stacks_free(idle);
	return code;
}

static void memory_that_runs_out_is_a_clean_error(void **state)
{
	struct lode_idle_rules *rules;
	struct small_stream small;
	uint64_t seed = 3;

	(void)state;
	small_begin(&small);
	small_random(&small, &seed, 40, LIMIT);
	name_thread(&small, 1, 1, "server");
	assert_int_equal(lode_idle_rules_load(&rules, NULL, NULL), 0);
	FAIL_EACH_ALLOCATION(20, sum_up(&small, rules));
	lode_idle_rules_free(rules);
	small_end(&small);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stack_tells_what_a_thread_waits_for),
		cmocka_unit_test(a_waker_tells_replies_from_timers_and_the_network),
		cmocka_unit_test(objects_have_kinds),
		cmocka_unit_test(a_life_is_accounted_for),
		cmocka_unit_test(a_span_beyond_a_life_is_not_recorded),
		cmocka_unit_test(the_kernels_counts_limit_running_time),
		cmocka_unit_test(a_long_gap_between_samples_is_not_running),
		cmocka_unit_test(a_thinned_recording_is_estimated),
		cmocka_unit_test(samples_divide_running_time),
		cmocka_unit_test(random_streams_are_accounted_for_as_moment_by_moment),
		cmocka_unit_test(states_always_add_up),
		cmocka_unit_test(processes_are_merged_by_name),
		cmocka_unit_test(memory_that_runs_out_is_a_clean_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
