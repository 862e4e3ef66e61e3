/* Requests: by hand, and against a walk through each thread's waits by themselves. */
#include "failing_memory.h"
#include "small_stream.h"

#include "scope/request_table.h"
#include "scope/requests.h"
#include "scope/slow_requests.h"
#include "scope/symptoms.h"

#include <stdlib.h>

#define LOOP  "srv!main;srv!loop;libc!epoll_wait;kernel!ep_poll;kernel!schedule"
#define INNER "srv!main;srv!loop;srv!handle;libc!recv;kernel!tcp_recvmsg;kernel!schedule"

struct fixture {
	struct small_stream small;
	struct lode_idle_rules *rules;
	struct lode_idle_stacks *idle;
	struct lode_requests requests;
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

	lode_requests_release(&fixture->requests);
	lode_idle_stacks_free(fixture->idle);
	lode_idle_rules_free(fixture->rules);
	small_end(&fixture->small);
	free(fixture);
	return 0;
}

static void name_thread(struct fixture *fixture, uint32_t pid, uint32_t tid, const char *name)
{
	uint32_t thread = lode_stream_thread(&fixture->small.stream, pid, tid);

	fixture->small.stream.threads[thread].name =
		lode_strings_add(&fixture->small.dictionary.frames.strings, name, strlen(name));
}

static void find(struct fixture *fixture)
{
	lode_requests_release(&fixture->requests);
	lode_idle_stacks_free(fixture->idle);
	assert_int_equal(lode_stream_sort(&fixture->small.stream), 0);
	assert_int_equal(lode_idle_stacks_make(&fixture->idle, fixture->rules, &fixture->small.dictionary, NULL),
			 0);
	assert_int_equal(lode_requests_of_stream(&fixture->requests, &fixture->small.stream, fixture->idle, NULL),
			 0);
}

static void add_wait(struct fixture *fixture, uint32_t tid, uint64_t t, uint64_t cost, const char *stack)
{
	small_event(&fixture->small, LODE_WAIT, tid, t, cost, 0, LODE_NONE, stack);
}

static void require_request(const struct fixture *fixture, size_t i, uint32_t tid, uint64_t t0, uint64_t t1)
{
	const struct lode_request *request = &fixture->requests.items[i];

	assert_true(i < fixture->requests.count);
	assert_int_equal(fixture->small.stream.threads[request->thread].tid, tid);
	assert_int_equal(request->t0, t0);
	assert_int_equal(request->t1, t1);
}

/* A server of `count` requests, of which every hundredth takes 1000, others 10. */
static void add_server(struct fixture *fixture, size_t count)
{
	uint64_t t = 0;

	name_thread(fixture, 7, 7, "srv");
	for (size_t i = 0; i <= count; i++) {
		add_wait(fixture, 7, t, 5, LOOP);
		t += 5 + (i % 100 == 50 ? 1000 : 10);
	}
}

/* Each request takes a nanosecond longer than the one before it: 1 to `count`. */
static void add_growing(struct fixture *fixture, size_t count)
{
	uint64_t t = 0;

	name_thread(fixture, 7, 7, "srv");
	for (size_t i = 0; i <= count; i++) {
		add_wait(fixture, 7, t, 5, LOOP);
		t += 5 + i + 1;
	}
}

static size_t count_symptoms(struct fixture *fixture, const char *rule)
{
	const char *const texts[] = { rule, NULL };
	struct lode_symptom_rules rules;
	struct lode_symptom *symptoms;
	size_t count;

	assert_int_equal(lode_symptom_rules_parse(&rules, texts, NULL), 0);
	assert_int_equal(lode_symptoms_of(&rules, &fixture->small.stream, fixture->idle, &symptoms, &count, NULL),
			 0);
	lode_free(symptoms);
	lode_symptom_rules_release(&rules);
	return count;
}

/* ---- by hand ---- */

static void a_request_is_what_lies_between_two_waits_of_the_loop(void **state)
{
	struct fixture *fixture = *state;

	name_thread(fixture, 7, 7, "srv");
	name_thread(fixture, 7, 8, "worker");
	add_wait(fixture, 8, 0, 10, LOOP);
	add_wait(fixture, 8, 15, 5, INNER);
	add_wait(fixture, 8, 30, 10, LOOP);
	add_wait(fixture, 8, 41, 9, LOOP);
	find(fixture);
	assert_int_equal(fixture->requests.count, 2);
	require_request(fixture, 0, 8, 10, 30);
	require_request(fixture, 1, 8, 40, 41);
	assert_int_equal(fixture->requests.loop_count, 1);
	assert_int_equal(fixture->requests.loops[0].count, 2);
	assert_int_equal(fixture->requests.loops[0].time, 21);
	assert_string_equal(lode_strings_get(&fixture->small.dictionary.frames.strings,
					     fixture->requests.loops[0].process),
			    "srv");
	assert_string_equal(lode_strings_get(&fixture->small.dictionary.frames.strings,
					     fixture->requests.loops[0].thread),
			    "worker");
	assert_string_equal(lode_frames_function(&fixture->small.dictionary.frames,
						 fixture->requests.loops[0].frame),
			    "loop");
}

static void a_waking_by_room_to_write_begins_no_request(void **state)
{
	struct fixture *fixture = *state;
	struct lode_events *waits = &fixture->small.stream.events[LODE_WAIT];

	for (uint64_t i = 0; i < 6; i++)
		add_wait(fixture, 8, i < 4 ? i * 100 : i * 100000, 10, LOOP);
	waits->waker_stack[0] = small_stack(&fixture->small, "c!main;kernel!sock_wfree;kernel!unix_write_space");
	waits->waker_stack[1] = small_stack(&fixture->small, "c!main;kernel!sock_def_readable");
	waits->waker_stack[2] =
		small_stack(&fixture->small, "c!main;kernel!unix_write_space;kernel!ep_poll_callback");
	waits->waker_stack[4] = waits->waker_stack[0]; /* but there was something to do */
	find(fixture);
	assert_int_equal(fixture->requests.count, 4);
	require_request(fixture, 0, 8, 110, 200);
	require_request(fixture, 1, 8, 210, 300);
	require_request(fixture, 2, 8, 310, 400000);
	require_request(fixture, 3, 8, 400010, 500000);
}

static void a_thread_without_a_loop_has_no_requests(void **state)
{
	struct fixture *fixture = *state;

	add_wait(fixture, 7, 0, 10, "a!main;libc!pthread_mutex_lock;kernel!futex_wait");
	add_wait(fixture, 7, 20, 10, "a!main;libc!pthread_mutex_lock;kernel!futex_wait");
	find(fixture);
	assert_int_equal(fixture->requests.count, 0);
}

static void a_thread_whose_waits_were_left_out_has_none_either(void **state)
{
	struct lode_event event = { .t = 100, .cost = 5, .weight = 2, .waker = LODE_NONE, .cpu = LODE_NO_CPU };
	struct fixture *fixture = *state;

	add_wait(fixture, 8, 0, 10, LOOP);
	add_wait(fixture, 8, 30, 10, LOOP);
	add_wait(fixture, 9, 0, 10, LOOP);
	add_wait(fixture, 9, 30, 10, LOOP);
	event.thread = lode_stream_tid(&fixture->small.stream, 9);
	event.stack = small_stack(&fixture->small, LOOP);
	assert_int_equal(lode_stream_add_event(&fixture->small.stream, LODE_WAIT, &event), 0);
	find(fixture);
	assert_int_equal(fixture->requests.count, 1);
	require_request(fixture, 0, 8, 10, 30);
}

static void the_slowest_percent_are_symptoms(void **state)
{
	struct fixture *fixture = *state;

	add_server(fixture, 500);
	find(fixture);
	assert_int_equal(fixture->requests.count, 500);
	assert_int_equal(count_symptoms(fixture, "request"), 500);
	assert_int_equal(count_symptoms(fixture, "request > 99%"), 5);
	assert_int_equal(count_symptoms(fixture, "request > 500ns"), 5);
	assert_int_equal(count_symptoms(fixture, "request > 1us"), 0);
	assert_int_equal(count_symptoms(fixture, "request of srv > 500ns"), 5);
	assert_int_equal(count_symptoms(fixture, "request of s* > 99%"), 5);
	assert_int_equal(count_symptoms(fixture, "request of other"), 0);
}

static void few_requests_have_no_slowest_percent(void **state)
{
	struct fixture *fixture = *state;

	add_growing(fixture, LODE_MIN_REQUESTS - 1);
	find(fixture);
	assert_int_equal(count_symptoms(fixture, "request > 99%"), 0);
	assert_int_equal(count_symptoms(fixture, "request > 17ns"), 2);
}

static void of_a_few_hundred_requests_the_ten_slowest_are_symptoms(void **state)
{
	static const size_t counts[][2] = { { 20, 2 },   { 99, 9 },    { 100, 10 },
					    { 500, 10 }, { 1000, 10 }, { 1500, 15 } };

	(void)state;
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		struct fixture *fixture;

		assert_int_equal(set_up((void **)&fixture), 0);
		add_growing(fixture, counts[i][0]);
		find(fixture);
		assert_int_equal(count_symptoms(fixture, "request > 99%"), counts[i][1]);
		assert_int_equal(count_symptoms(fixture, "request > 50%"), counts[i][0] / 2);
		assert_int_equal(tear_down((void **)&fixture), 0);
	}
}

static void requests_matter_unless_the_stream_is_about_something_else(void **state)
{
	struct fixture *fixture = *state;

	add_server(fixture, 200);
	small_run(&fixture->small, 99, 0, 1000);
	find(fixture);
	assert_int_equal(lode_requests_matter(&fixture->requests, &fixture->small.stream, fixture->idle, NULL), 1);
	small_run(&fixture->small, 98, 0, 1000000);
	assert_int_equal(lode_requests_matter(&fixture->requests, &fixture->small.stream, fixture->idle, NULL), 0);
}

/* ---- threads that are started for a request ---- */

#define MS UINT64_C(1000000)
#define HANDLER                                                                                                   \
	"libc!start_thread;srv!serve_one;srv!ask_price;libc!clock_nanosleep;kernel!do_nanosleep;kernel!schedule"
#define RECEIVE "libc!start_thread;srv!serve_one;srv!read_line;libc!recv;kernel!tcp_recvmsg;kernel!schedule"

/* Its totals are known: it was recorded by Lode. */
static void count_totals(struct fixture *fixture, uint32_t tid)
{
	fixture->small.stream.threads[lode_stream_thread(&fixture->small.stream, 7, tid)].totals.waits = 1;
}

/* A thread that only accepts connections, for 100 ms. */
static void add_accepting(struct fixture *fixture)
{
	name_thread(fixture, 7, 7, "srv");
	add_wait(fixture, 7, 0, 100 * MS, "srv!main;libc!accept;kernel!inet_csk_accept;kernel!schedule");
	count_totals(fixture, 7);
}

static void add_handler(struct fixture *fixture, uint32_t tid, const char *name, uint64_t t, uint64_t cost)
{
	name_thread(fixture, 7, tid, name);
	count_totals(fixture, tid);
	add_wait(fixture, tid, t, cost, HANDLER);
}

static void a_thread_that_begins_and_ends_is_a_request(void **state)
{
	struct fixture *fixture = *state;

	add_accepting(fixture);
	add_handler(fixture, 8, "conn-8", 10 * MS, 5 * MS);
	add_handler(fixture, 9, "conn-9", 12 * MS, 5 * MS);
	small_event(&fixture->small, LODE_RUN, 9, 11 * MS, MS, 0, LODE_NONE, "libc!start_thread;srv!serve_one");
	find(fixture);
	assert_int_equal(fixture->requests.count, 2);
	require_request(fixture, 0, 8, 10 * MS, 15 * MS);
	require_request(fixture, 1, 9, 11 * MS, 17 * MS);
	assert_int_equal(fixture->requests.loop_count, 1);
	assert_true(fixture->requests.loops[0].is_lives);
	assert_int_equal(fixture->requests.loops[0].time, 11 * MS);
}

static void its_request_begins_when_it_was_received(void **state)
{
	struct fixture *fixture = *state;

	add_accepting(fixture);
	for (uint32_t tid = 8; tid < 10; tid++) {
		add_handler(fixture, tid, "conn", 20 * MS, 5 * MS);
		add_wait(fixture, tid, 10 * MS, 8 * MS, RECEIVE);
	}
	find(fixture);
	assert_int_equal(fixture->requests.count, 2);
	require_request(fixture, 0, 8, 18 * MS, 25 * MS);
}

static void a_thread_that_may_have_lived_longer_is_none(void **state)
{
	struct fixture *fixture = *state;

	add_accepting(fixture);
	add_handler(fixture, 8, "conn", MS, 5 * MS);
	add_handler(fixture, 9, "conn", 95 * MS, 4 * MS);
	name_thread(fixture, 7, 10, "conn");
	add_wait(fixture, 10, 40 * MS, 5 * MS, HANDLER); /* imported */
	small_event(&fixture->small, LODE_WAIT, 11, 40 * MS, 5 * MS, 0, LODE_NONE, HANDLER);
	fixture->small.stream.threads[lode_stream_thread(&fixture->small.stream, 11, 11)].totals.waits = 1;
	find(fixture);
	assert_int_equal(fixture->requests.count, 0);
}

/* ---- the slow walk ---- */

static size_t slow_requests(struct fixture *fixture, uint32_t tid, struct lode_request *found)
{
	const struct lode_events *waits = &fixture->small.stream.events[LODE_WAIT];
	size_t loops = 0, inner = 0, count = 0, last = SIZE_MAX;
	uint32_t outer;

	for (size_t i = 0; i < waits->count; i++) {
		if (fixture->small.stream.threads[waits->thread[i]].tid != tid)
			continue;
		loops += waits->stack[i] == small_stack(&fixture->small, LOOP);
		inner += waits->stack[i] == small_stack(&fixture->small, INNER);
	}
	if (loops < 2 && inner < 2)
		return SIZE_MAX; /* what other threads do decides: not followed here */
	outer = small_stack(&fixture->small, loops >= 2 ? LOOP : INNER);
	for (size_t i = 0; i < waits->count; i++) {
		if (fixture->small.stream.threads[waits->thread[i]].tid != tid || waits->stack[i] != outer)
			continue;
		if (last != SIZE_MAX && waits->t[i] > waits->t[last] + waits->cost[last])
			found[count++] = (struct lode_request){ .t0 = waits->t[last] + waits->cost[last],
								.t1 = waits->t[i] };
		last = i;
	}
	return count;
}

static void compare_thread(struct fixture *fixture, uint32_t tid)
{
	struct lode_request expected[40];
	size_t count = slow_requests(fixture, tid, expected), seen = 0;

	for (size_t i = 0; count != SIZE_MAX && i < fixture->requests.count; i++) {
		if (fixture->small.stream.threads[fixture->requests.items[i].thread].tid != tid)
			continue;
		assert_true(seen < count);
		assert_int_equal(fixture->requests.items[i].t0, expected[seen].t0);
		assert_int_equal(fixture->requests.items[i].t1, expected[seen++].t1);
	}
	assert_true(count == SIZE_MAX || seen == count);
}

static void random_threads_have_the_requests_of_a_slow_walk(void **state)
{
	static const char *const stacks[] = { LOOP, INNER, "srv!main;kernel!io_schedule" };
	uint64_t seed = 11;
	size_t all = 0;

	(void)state;
	for (int round = 0; round < 500; round++) {
		struct fixture *fixture;

		assert_int_equal(set_up((void **)&fixture), 0);
		for (size_t i = random_below(&seed, 40); i--;)
			add_wait(fixture, 1 + (uint32_t)random_below(&seed, 3), random_below(&seed, 500),
				 random_below(&seed, 20), stacks[random_below(&seed, 3)]);
		find(fixture);
		for (uint32_t tid = 1; tid <= 3; tid++)
			compare_thread(fixture, tid);
		all += fixture->requests.count;
		assert_int_equal(tear_down((void **)&fixture), 0);
	}
	assert_true(all > 1000);
}

/* Requests, slow ones and a table of them. */
static int sum_up(struct fixture *fixture)
{
	const struct lode_slow_requests slow = { .percent = LODE_SLOW_REQUESTS, .if_they_matter = 1 };
	struct lode_loop_table table, merged = { 0 };
	struct lode_requests requests;
	struct lode_error error = { "" };
	struct lode_symptom *symptoms = NULL;
	size_t count = 0, capacity = 0;
	int code = lode_requests_of_stream(&requests, &fixture->small.stream, fixture->idle, &error);

	if (!code)
		code = lode_slow_requests_find(&slow, &fixture->small.stream, fixture->idle, &symptoms, &count,
					       &capacity, &error);
	if (lode_loop_table_init(&table) < 0 ||
	    (!code && lode_loop_table_add(&table, &fixture->small.stream, 0, &requests) < 0))
		code = LODE_SYSTEM;
	if (!code && (lode_loop_table_init(&merged) < 0 || lode_loop_table_merge(&merged, &table) < 0 ||
		      lode_loop_table_merge(&merged, &table) < 0))
		code = LODE_SYSTEM;
	if (!code) {
		lode_loop_table_sort(&merged);
		assert_int_equal(merged.count, 1);
		assert_int_equal(merged.items[0].count, 2 * 500);
		assert_int_equal(lode_loop_quantile(&merged.items[0], 50), 10);
		assert_int_equal(lode_loop_quantile(&merged.items[0], 99), 10);
		assert_int_equal(lode_loop_quantile(&merged.items[0], 100), 1000);
		assert_int_equal(merged.items[0].longest, 1000);
	}
	lode_loop_table_release(&merged);
	lode_loop_table_release(&table);
	lode_free(symptoms);
	lode_requests_release(&requests);
	return code;
}

static void memory_that_runs_out_is_a_clean_error(void **state)
{
	struct fixture *fixture = *state;

	add_server(fixture, 500);
	find(fixture);
	FAIL_EACH_ALLOCATION(20, sum_up(fixture));
}

/* ---- clients ---- */

/* A loop of 200 turns of 5 ms in `object`, ended by a thread of another process. */
static void add_loop(struct fixture *fixture, uint32_t pid, const char *object)
{
	struct lode_strings *strings = &fixture->small.dictionary.frames.strings;

	name_thread(fixture, pid, pid, "app");
	for (uint64_t i = 0; i < 200; i++) {
		struct lode_event event = {
			.t = i * 10000000,
			.cost = 5000000,
			.thread = lode_stream_thread(&fixture->small.stream, pid, pid),
			.stack = small_stack(&fixture->small, LOOP),
			.waker = lode_stream_thread(&fixture->small.stream, 99, 99),
			.cpu = LODE_NO_CPU,
			.object = lode_strings_add(strings, object, strlen(object)),
			.holder = LODE_NONE,
		};

		assert_int_equal(lode_stream_add_event(&fixture->small.stream, LODE_WAIT, &event), 0);
	}
}

/* How many requests a thread has that waits for `object` in a stream in which `other` is waited for, too. */
static size_t requests_with(struct fixture *fixture, const char *object, const char *other)
{
	size_t count = 0;

	small_end(&fixture->small);
	lode_requests_release(&fixture->requests);
	lode_idle_stacks_free(fixture->idle);
	fixture->idle = NULL;
	small_begin(&fixture->small);
	add_loop(fixture, 1, object);
	if (*other)
		add_loop(fixture, 2, other);
	find(fixture);
	for (size_t i = 0; i < fixture->requests.count; i++)
		count += fixture->small.stream.threads[fixture->requests.items[i].thread].tid == 1;
	return count;
}

static void pauses_of_a_client_are_no_requests(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(requests_with(fixture, "", ""), 199); /* unknown: it may be one that serves */
	assert_int_equal(requests_with(fixture, "epoll:", ""), 199);
	assert_int_equal(requests_with(fixture, "tcp:10.0.0.7:41696", ""), 199);
	assert_int_equal(requests_with(fixture, "tcp:10.0.0.7:5432", ""), 0);
	assert_int_equal(requests_with(fixture, "tcp:[::1]:5432", ""), 0);
	assert_int_equal(requests_with(fixture, "tcp:10.0.0.7:27017", ""), 199);
	assert_int_equal(requests_with(fixture, "tcp:10.0.0.7:41696", "tcp:listen:41696"), 0);
	assert_int_equal(requests_with(fixture, "tcp:listen:5432", ""), 199);
	assert_int_equal(requests_with(fixture, "unix:/run/x", ""), 199);
	assert_int_equal(requests_with(fixture, "unix:/run/x", "unix:accepted:/run/x"), 0);
	assert_int_equal(requests_with(fixture, "unix:accepted:/run/x", "unix:/run/x"), 199);
	assert_int_equal(requests_with(fixture, "unix:[123]", "unix:accepted:/run/x"), 199);
}

int main(void)
{
#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		CASE(pauses_of_a_client_are_no_requests),
		CASE(a_request_is_what_lies_between_two_waits_of_the_loop),
		CASE(a_waking_by_room_to_write_begins_no_request),
		CASE(a_thread_without_a_loop_has_no_requests),
		CASE(a_thread_whose_waits_were_left_out_has_none_either),
		CASE(the_slowest_percent_are_symptoms),
		CASE(few_requests_have_no_slowest_percent),
		CASE(of_a_few_hundred_requests_the_ten_slowest_are_symptoms),
		CASE(requests_matter_unless_the_stream_is_about_something_else),
		CASE(memory_that_runs_out_is_a_clean_error),
		CASE(a_thread_that_begins_and_ends_is_a_request),
		CASE(its_request_begins_when_it_was_received),
		CASE(a_thread_that_may_have_lived_longer_is_none),
		cmocka_unit_test(random_threads_have_the_requests_of_a_slow_walk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
