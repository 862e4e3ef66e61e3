/* Requests that are part of others: by hand, and random ones against all pairs of waits and requests. */
#include "failing_memory.h"
#include "small_stream.h"

#include "scope/nested_requests.h"
#include "scope/scope_index.h"

#include <stdlib.h>

#define FRONT  1
#define BACK   2
#define PERIOD 1000

/* A stream whose requests are made by hand: loop number = tid - 1. */
struct fixture {
	struct small_stream small;
	struct lode_requests requests;
};

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	if (!fixture)
		return -1;
	small_begin(&fixture->small);
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	lode_requests_release(&fixture->requests);
	small_end(&fixture->small);
	free(fixture);
	return 0;
}

static void add_request(struct fixture *fixture, uint32_t tid, uint64_t t0, uint64_t t1)
{
	struct lode_requests *requests = &fixture->requests;
	struct lode_request request = { t0, t1, lode_stream_tid(&fixture->small.stream, tid), tid - 1 };

	while (requests->loop_count < tid)
		assert_int_equal(LODE_APPEND(requests->loops, requests->loop_count, requests->loop_capacity,
					     ((struct lode_request_loop){ .thread = 0 })),
				 0);
	requests->loops[tid - 1].count++;
	assert_int_equal(LODE_APPEND(requests->items, requests->count, requests->capacity, request), 0);
}

static void add_wait(struct fixture *fixture, uint32_t tid, uint64_t t, uint64_t end, uint32_t waker,
		     const char *object)
{
	struct lode_event event = {
		.t = t,
		.cost = end - t,
		.thread = lode_stream_tid(&fixture->small.stream, tid),
		.waker = lode_stream_tid(&fixture->small.stream, waker),
		.cpu = LODE_NO_CPU,
		.holder = LODE_NONE,
		.object = lode_strings_add(&fixture->small.dictionary.frames.strings, object, strlen(object)),
	};

	assert_int_equal(lode_stream_add_event(&fixture->small.stream, LODE_WAIT, &event), 0);
}

static int compare_requests(const void *left, const void *right)
{
	const struct lode_request *a = left, *b = right;

	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	return a->t0 < b->t0 ? -1 : a->t0 > b->t0;
}

/* Threads are added in the order of tids, so that order by thread is order by tid. */
static void require_nested(struct fixture *fixture, const uint8_t *expected, size_t loops)
{
	uint8_t *nested;

	assert_int_equal(lode_stream_sort(&fixture->small.stream), 0);
	qsort(fixture->requests.items, fixture->requests.count, sizeof(*fixture->requests.items), compare_requests);
	nested = lode_requests_nested(&fixture->requests, &fixture->small.stream);
	assert_non_null(nested);
	for (size_t i = 0; i < loops; i++)
		assert_int_equal(nested[i], expected[i]);
	lode_free(nested);
}

/* `tid` has `count` requests of 800, in each of which it waits from 100 to 700 for what `server` does from 300 to 750. */
static void add_service(struct fixture *fixture, uint32_t tid, uint32_t server, size_t count, const char *object)
{
	for (uint64_t i = 0; i < count; i++) {
		uint64_t t = i * PERIOD;

		add_request(fixture, tid, t, t + 800);
		add_request(fixture, server, t + 300, t + 750);
		add_wait(fixture, tid, t + 100, t + 700, server, object);
	}
}

static void a_loop_that_serves_requests_of_another_is_part_of_it(void **state)
{
	struct fixture *fixture = *state;

	add_service(fixture, FRONT, BACK, LODE_MIN_REQUESTS, "tcp:10.0.0.1:80");
	require_nested(fixture, (const uint8_t[]){ 0, 1 }, 2);
}

static void who_holds_a_lock_serves_nobody(void **state)
{
	struct fixture *fixture = *state;

	add_service(fixture, FRONT, BACK, LODE_MIN_REQUESTS, "lock:table");
	require_nested(fixture, (const uint8_t[]){ 0, 0 }, 2);
}

static void half_of_the_requests_decide(void **state)
{
	struct fixture *fixture = *state;

	add_service(fixture, FRONT, BACK, LODE_MIN_REQUESTS, "tcp:10.0.0.1:80");
	for (uint64_t i = 0; i < LODE_MIN_REQUESTS; i++)
		add_request(fixture, BACK, (LODE_MIN_REQUESTS + i) * PERIOD, (LODE_MIN_REQUESTS + i) * PERIOD + 1);
	require_nested(fixture, (const uint8_t[]){ 0, 1 }, 2);
	add_request(fixture, BACK, 3 * LODE_MIN_REQUESTS * PERIOD, 3 * LODE_MIN_REQUESTS * PERIOD + 1);
	require_nested(fixture, (const uint8_t[]){ 0, 0 }, 2);
}

static void few_requests_have_no_others_in_them(void **state)
{
	struct fixture *fixture = *state;

	add_service(fixture, FRONT, BACK, LODE_MIN_REQUESTS - 1, "tcp:10.0.0.1:80");
	require_nested(fixture, (const uint8_t[]){ 0, 0 }, 2);
}

static void a_turn_that_ends_before_the_reply_comes_has_no_part(void **state)
{
	struct fixture *fixture = *state;

	for (uint64_t i = 0; i < LODE_MIN_REQUESTS; i++) {
		add_request(fixture, FRONT, i * PERIOD, i * PERIOD + 100);
		add_request(fixture, BACK, i * PERIOD + 300, i * PERIOD + 750);
		add_wait(fixture, FRONT, i * PERIOD + 100, i * PERIOD + 700, BACK, "epoll:");
	}
	require_nested(fixture, (const uint8_t[]){ 0, 0 }, 2);
}

static void loops_that_serve_one_another_are_both_symptoms(void **state)
{
	struct fixture *fixture = *state;

	for (uint64_t i = 0; i < LODE_MIN_REQUESTS; i++) {
		uint64_t t = i * PERIOD;

		for (uint32_t tid = 1; tid <= 3; tid++)
			add_request(fixture, tid, t + tid, t + 900 + tid);
		add_wait(fixture, 1, t + 100, t + 200, 2, "tcp:a");
		add_wait(fixture, 2, t + 300, t + 400, 1, "tcp:b");
		add_wait(fixture, 1, t + 500, t + 600, 3, "tcp:c");
	}
	/* The third serves the first, which is in a circle: none of them is left out. */
	require_nested(fixture, (const uint8_t[]){ 0, 0, 0 }, 3);
}

static void a_chain_of_services_leaves_the_first(void **state)
{
	struct fixture *fixture = *state;

	for (uint64_t i = 0; i < LODE_MIN_REQUESTS; i++) {
		uint64_t t = i * PERIOD;

		for (uint32_t tid = 1; tid <= 3; tid++)
			add_request(fixture, tid, t + tid * 50, t + 900 - tid * 50);
		add_wait(fixture, 1, t + 100, t + 800, 2, "tcp:a");
		add_wait(fixture, 2, t + 200, t + 750, 3, "tcp:b");
	}
	require_nested(fixture, (const uint8_t[]){ 0, 1, 1 }, 3);
}

/* ---- all pairs ---- */

static const struct lode_request *slow_request_at(const struct fixture *fixture, uint32_t thread, uint64_t t)
{
	for (size_t i = 0; i < fixture->requests.count; i++) {
		const struct lode_request *request = &fixture->requests.items[i];

		if (request->thread == thread && request->t0 < t && t <= request->t1)
			return request;
	}
	return NULL;
}

/* How many requests of `loop` first end a wait within a request of `asker`. */
static size_t slow_count(const struct fixture *fixture, uint32_t loop, uint32_t asker)
{
	const struct lode_events *waits = &fixture->small.stream.events[LODE_WAIT];
	size_t count = 0;

	for (size_t i = 0; i < fixture->requests.count; i++) {
		const struct lode_request *serving = &fixture->requests.items[i];

		for (size_t k = 0; serving->loop == loop && k < waits->count; k++) {
			uint64_t end = waits->t[k] + waits->cost[k];
			const struct lode_request *asking = slow_request_at(fixture, waits->thread[k], end);

			if (waits->waker[k] != serving->thread ||
			    slow_request_at(fixture, serving->thread, end) != serving || !asking ||
			    asking->t0 > waits->t[k] || asking->loop == loop)
				continue;
			count += asking->loop == asker;
			break;
		}
	}
	return count;
}

static void random_services_are_those_of_all_pairs(void **state)
{
	uint64_t seed = 5;
	size_t nested = 0;

	(void)state;
	for (int round = 0; round < 200; round++) {
		struct fixture *fixture;
		uint8_t expected[2];

		assert_int_equal(set_up((void **)&fixture), 0);
		lode_stream_tid(&fixture->small.stream, FRONT);
		for (uint64_t i = 0; i < 40; i++) {
			uint32_t tid = 1 + (uint32_t)random_below(&seed, 2);

			add_request(fixture, tid, i * 100, i * 100 + 55 + random_below(&seed, 45));
			add_request(fixture, 3 - tid, i * 100 + 10, i * 100 + 55 + random_below(&seed, 45));
			add_wait(fixture, FRONT, i * 100 + random_below(&seed, 30),
				 i * 100 + 30 + random_below(&seed, 60), BACK, "tcp:");
		}
		assert_int_equal(lode_stream_sort(&fixture->small.stream), 0);
		expected[0] = 0;
		expected[1] = slow_count(fixture, 1, 0) * 2 >= fixture->requests.loops[1].count;
		nested += expected[1];
		require_nested(fixture, expected, 2);
		assert_int_equal(tear_down((void **)&fixture), 0);
	}
	assert_in_range(nested, 10, 190);
}

static int find_nested(struct fixture *fixture)
{
	uint8_t *nested = lode_requests_nested(&fixture->requests, &fixture->small.stream);

	lode_free(nested);
	return nested ? 0 : LODE_SYSTEM;
}

static void memory_that_runs_out_is_a_clean_error(void **state)
{
	struct fixture *fixture = *state;

	add_service(fixture, FRONT, BACK, LODE_MIN_REQUESTS, "tcp:10.0.0.1:80");
	require_nested(fixture, (const uint8_t[]){ 0, 1 }, 2);
	FAIL_EACH_ALLOCATION(3, find_nested(fixture));
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		CASE(a_loop_that_serves_requests_of_another_is_part_of_it),
		CASE(who_holds_a_lock_serves_nobody),
		CASE(half_of_the_requests_decide),
		CASE(few_requests_have_no_others_in_them),
		CASE(a_turn_that_ends_before_the_reply_comes_has_no_part),
		CASE(loops_that_serve_one_another_are_both_symptoms),
		CASE(a_chain_of_services_leaves_the_first),
		CASE(memory_that_runs_out_is_a_clean_error),
		cmocka_unit_test(random_services_are_those_of_all_pairs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
