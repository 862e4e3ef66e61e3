/* Who had the processor: by hand, and against a walk nanosecond by nanosecond. */
#include "failing_memory.h"
#include "small_stream.h"

#include "scope/processors.h"

#define LIMIT 80

static void add_wait(struct small_stream *small, uint32_t tid, uint64_t t, uint64_t cost, uint64_t delay,
		     uint16_t cpu)
{
	struct lode_events *waits = &small->stream.events[LODE_WAIT];

	small_event(small, LODE_WAIT, tid, t, cost, delay, LODE_NONE, "");
	waits->cpu[waits->count - 1] = cpu;
}

static void add_preemption(struct small_stream *small, uint32_t tid, uint64_t t, uint64_t delay, uint16_t cpu)
{
	struct lode_event event = {
		.t = t,
		.delay = delay,
		.thread = lode_stream_tid(&small->stream, tid),
		.waker = LODE_NONE,
		.cpu = cpu,
		.name = lode_strings_add(&small->dictionary.frames.strings, LODE_PREEMPTION,
					 strlen(LODE_PREEMPTION)),
	};

	assert_int_equal(lode_stream_add_event(&small->stream, LODE_CALL, &event), 0);
}

static void the_thread_that_ran_meanwhile_had_it(void **state)
{
	struct lode_processors *processors;
	struct small_stream small;
	uint64_t time;
	uint32_t most;

	(void)state;
	small_begin(&small);
	add_wait(&small, 2, 0, 10, 0, 1); /* runs from 10 to 40 */
	add_wait(&small, 2, 40, 100, 0, 1);
	add_wait(&small, 3, 0, 40, 0, 1); /* runs from 40 to 50 */
	add_wait(&small, 3, 50, 100, 0, 1);
	add_wait(&small, 4, 0, 10, 0, 0); /* on another CPU */
	add_wait(&small, 4, 90, 10, 0, 0);
	add_preemption(&small, 1, 10, 40, 1);
	assert_int_equal(lode_stream_sort(&small.stream), 0);
	assert_int_equal(lode_processors_make(&processors, &small.stream, NULL), 0);
	most = lode_processors_most(processors, LODE_CALL, 0, 10, 50, &time);
	assert_int_equal(small.stream.threads[most].tid, 2);
	assert_int_equal(time, 30);
	most = lode_processors_most(processors, LODE_CALL, 0, 40, 50, &time);
	assert_int_equal(small.stream.threads[most].tid, 3);
	assert_int_equal(time, 10);
	assert_int_equal(lode_processors_most(processors, LODE_CALL, 0, 60, 70, &time), LODE_NONE);
	lode_processors_free(processors);
	small_end(&small);
}

/* Two workers of 20 each have it longer than another thread of 25. */
static void workers_that_have_it_in_turn_are_one(void **state)
{
	struct lode_processors *processors;
	struct small_stream small;
	uint32_t processes[4] = { 0 }, worker, most;
	uint64_t time;

	(void)state;
	small_begin(&small);
	worker = lode_strings_add(&small.dictionary.frames.strings, "worker", 6);
	for (uint32_t tid = 1; tid <= 4; tid++)
		lode_stream_tid(&small.stream, tid);
	small.stream.threads[1].name = small.stream.threads[2].name = worker;
	add_wait(&small, 2, 0, 10, 0, 1); /* runs from 10 to 30 */
	add_wait(&small, 2, 30, 100, 0, 1);
	add_wait(&small, 3, 0, 30, 0, 1); /* runs from 30 to 50 */
	add_wait(&small, 3, 50, 100, 0, 1);
	add_wait(&small, 4, 0, 50, 0, 1); /* runs from 50 to 75 */
	add_wait(&small, 4, 75, 100, 0, 1);
	add_preemption(&small, 1, 10, 65, 1);
	assert_int_equal(lode_stream_sort(&small.stream), 0);
	assert_int_equal(lode_processors_make(&processors, &small.stream, NULL), 0);
	most = lode_processors_most(processors, LODE_CALL, 0, 10, 75, &time);
	assert_int_equal(small.stream.threads[most].tid, 4);
	most = lode_processors_most_alike(processors, processes, LODE_CALL, 0, 10, 75, &time);
	assert_int_equal(small.stream.threads[most].tid, 2);
	assert_int_equal(time, 40);
	processes[1] = 1; /* of different processes they are two */
	most = lode_processors_most_alike(processors, processes, LODE_CALL, 0, 10, 75, &time);
	assert_int_equal(small.stream.threads[most].tid, 4);
	assert_int_equal(time, 25);
	lode_processors_free(processors);
	small_end(&small);
}

struct times {
	const struct lode_stream *stream;
	uint64_t by_tid[5];
};

static int add_time(void *context, uint32_t thread, uint64_t time)
{
	struct times *times = context;

	times->by_tid[times->stream->threads[thread].tid] += time;
	return 0;
}

/* When the thread next leaves its CPU, from `from` on; 0: never. */
static int next_absence(const struct lode_stream *stream, uint32_t tid, uint64_t from, uint64_t *left)
{
	int found = 0;

	for (int type = LODE_WAIT; type <= LODE_CALL; type++)
		for (size_t i = 0; i < stream->events[type].count; i++) {
			struct lode_event event = lode_events_get(&stream->events[type], i);

			if (stream->threads[event.thread].tid != tid || event.t < from ||
			    (found && event.t >= *left))
				continue;
			*left = event.t;
			found = 1;
		}
	return found;
}

/* How long each thread but `own` ran on the CPU between t0 and t1. Events of a thread do not overlap here. */
static void slow_times(const struct lode_stream *stream, uint32_t own, uint16_t cpu, uint64_t t0, uint64_t t1,
		       struct times *times)
{
	for (int type = LODE_WAIT; type <= LODE_CALL; type++)
		for (size_t i = 0; i < stream->events[type].count; i++) {
			struct lode_event event = lode_events_get(&stream->events[type], i);
			uint32_t tid = stream->threads[event.thread].tid;
			uint64_t back = event.t + event.cost + event.delay, left = 0;

			if (tid == own || event.cpu != cpu || !next_absence(stream, tid, back, &left))
				continue;
			for (uint64_t x = t0; x < t1; x++)
				times->by_tid[tid] += x >= back && x < left;
		}
}

/* Each thread is off its CPU now and then, for some time each. */
static void random_threads(struct small_stream *small, uint64_t *seed)
{
	for (uint32_t tid = 0; tid < 5; tid++)
		for (uint64_t t = random_below(seed, 10); t < LIMIT;) {
			uint64_t cost = 1 + random_below(seed, 6), delay = random_below(seed, 6);
			uint16_t cpu = random_below(seed, 5) ? (uint16_t)random_below(seed, 2) : LODE_NO_CPU;

			if (random_below(seed, 2)) {
				add_wait(small, tid, t, cost, delay, cpu);
				t += cost + delay;
			} else {
				add_preemption(small, tid, t, ++delay, cpu);
				t += delay;
			}
			t += 1 + random_below(seed, 10);
		}
	assert_int_equal(lode_stream_sort(&small->stream), 0);
}

static void random_threads_have_it_as_moment_by_moment(void **state)
{
	uint64_t seed = 5;

	(void)state;
	for (int round = 0; round < 300; round++) {
		struct lode_processors *processors;
		struct small_stream small;

		small_begin(&small);
		random_threads(&small, &seed);
		assert_int_equal(lode_processors_make(&processors, &small.stream, NULL), 0);
		for (size_t i = 0; i < small.stream.events[LODE_WAIT].count; i++) {
			struct lode_event wait = lode_events_get(&small.stream.events[LODE_WAIT], i);
			struct times got = { .stream = &small.stream }, expected = { .stream = &small.stream };
			uint64_t t0 = wait.t + wait.cost, t1 = t0 + wait.delay;

			lode_processors_visit(processors, LODE_WAIT, (uint32_t)i, t0, t1, add_time, &got);
			if (wait.cpu != LODE_NO_CPU)
				slow_times(&small.stream, small.stream.threads[wait.thread].tid, wait.cpu, t0, t1,
					   &expected);
			assert_memory_equal(got.by_tid, expected.by_tid, sizeof(got.by_tid));
		}
		lode_processors_free(processors);
		small_end(&small);
	}
}

static int try_to_make(const struct lode_stream *stream)
{
	struct lode_error error = { "" };
	struct lode_processors *processors;
	int code = lode_processors_make(&processors, stream, &error);

	if (!code)
		lode_processors_free(processors);
	return code;
}

static void memory_that_runs_out_is_a_clean_error(void **state)
{
	struct small_stream small;
	uint64_t seed = 9;

	(void)state;
	small_begin(&small);
	random_threads(&small, &seed);
	FAIL_EACH_ALLOCATION(4, try_to_make(&small.stream));
	small_end(&small);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_thread_that_ran_meanwhile_had_it),
		cmocka_unit_test(workers_that_have_it_in_turn_are_one),
		cmocka_unit_test(random_threads_have_it_as_moment_by_moment),
		cmocka_unit_test(memory_that_runs_out_is_a_clean_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
