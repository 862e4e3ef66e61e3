/* Symptoms derived from events: reading the rules, and what they find. */
#include "small_stream.h"

#include "scope/symptoms.h"
#include "trace/gpu_threads.h"

#include <stdlib.h>

struct found {
	struct lode_symptom *items;
	size_t count;
};

static struct found find(struct small_stream *small, const char *text)
{
	const char *const texts[] = { text, NULL };
	struct lode_symptom_rules rules;
	struct found found;

	assert_int_equal(lode_symptom_rules_parse(&rules, texts, NULL), 0);
	assert_int_equal(lode_symptoms_of(&rules, &small->stream, NULL, &found.items, &found.count, NULL), 0);
	lode_symptom_rules_release(&rules);
	return found;
}

static void require(const struct small_stream *small, const struct found *found, size_t i, uint32_t tid,
		    uint64_t t0, uint64_t t1)
{
	assert_true(i < found->count);
	assert_int_equal(small->stream.threads[found->items[i].thread].tid, tid);
	assert_int_equal(found->items[i].t0, t0);
	assert_int_equal(found->items[i].t1, t1);
}

static void require_none(struct small_stream *small, const char *text)
{
	struct found found = find(small, text);

	assert_int_equal(found.count, 0);
	lode_free(found.items);
}

/* ---- reading ---- */

static void require_rule(const char *text, enum lode_symptom_rule_type type, const char *first, const char *second,
			 uint64_t longer)
{
	struct lode_symptom_rule rule;

	assert_int_equal(lode_symptom_rule_parse(&rule, text, NULL), 0);
	assert_int_equal(rule.type, type);
	assert_string_equal(rule.first, first);
	if (second)
		assert_string_equal(rule.second, second);
	assert_int_equal(rule.longer, longer);
	assert_ptr_equal(rule.text, text);
	lode_symptom_rule_release(&rule);
}

static void rules_are_read(void **state)
{
	(void)state;
	require_rule("thread ui", LODE_SYMPTOM_THREAD, "ui", NULL, 0);
	require_rule("  thread  my thread  ", LODE_SYMPTOM_THREAD, "my thread", NULL, 0);
	require_rule("wait > 200ms in app!lock", LODE_SYMPTOM_WAIT, "app!lock", NULL, 200000000);
	require_rule("wait>1us in operator new(unsigned long)", LODE_SYMPTOM_WAIT, "operator new(unsigned long)",
		     NULL, 1000);
	require_rule("wait > 5ns", LODE_SYMPTOM_WAIT, "*", NULL, 5);
	require_rule("between start and user32.dll!PeekMessage > 1s", LODE_SYMPTOM_BETWEEN, "start",
		     "user32.dll!PeekMessage", 1000000000);
	require_rule("between list<int>::a and map<a, b> > ::c>10ns", LODE_SYMPTOM_BETWEEN, "list<int>::a",
		     "map<a, b> > ::c", 10);
	require_rule("request of my server > 10ms", LODE_SYMPTOM_REQUEST, "my server", NULL, 10000000);
	require_rule("request of nginx", LODE_SYMPTOM_REQUEST, "nginx", NULL, 0);
}

static void requests_need_no_name_and_may_be_a_share(void **state)
{
	struct lode_symptom_rule rule;

	(void)state;
	assert_int_equal(lode_symptom_rule_parse(&rule, "request", NULL), 0);
	assert_null(rule.first);
	lode_symptom_rule_release(&rule);
	assert_int_equal(lode_symptom_rule_parse(&rule, "request > 95%", NULL), 0);
	assert_int_equal(rule.type, LODE_SYMPTOM_REQUEST);
	assert_int_equal(rule.percent, 95);
	lode_symptom_rule_release(&rule);
}

static void a_wrong_rule_is_answered_with_the_three_forms(void **state)
{
	static const char *const wrong[] = {
		"",
		"thread",
		"thread ",
		"threads ui",
		"wait",
		"wait 200ms",
		"wait >",
		"wait > in f",
		"wait > 5ns of f",
		"wait > 5ns in",
		"wait > 5ns in ",
		"between",
		"between a",
		"between a and b",
		"between a > 1s",
		"between  and b > 1s",
		"between a and > 1s",
		"between a and b > ",
		"between a and b > soon",
		"slow",
		"requests",
		"request 5ms",
		"request of > 5ms",
		"request > ",
		"request > 100%",
		"request > 0%",
		"request > %",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct lode_symptom_rule rule;
		struct lode_error error = { "" };

		assert_int_equal(lode_symptom_rule_parse(&rule, wrong[i], &error), LODE_USAGE);
		assert_true(strstr(error.text, "between FRAME and FRAME > 1s") || strstr(error.text, "duration"));
		lode_symptom_rule_release(&rule); /* does no harm */
	}
}

static void one_wrong_rule_among_several_leaves_nothing(void **state)
{
	static const char *const texts[] = { "thread ui", "nonsense", NULL };
	struct lode_symptom_rules rules;

	(void)state;
	assert_int_equal(lode_symptom_rules_parse(&rules, texts, NULL), LODE_USAGE);
	assert_int_equal(rules.count, 0);
	assert_null(rules.items);
	assert_int_equal(lode_symptom_rules_parse(&rules, NULL, NULL), 0);
	assert_int_equal(rules.count, 0);
}

/* ---- finding ---- */

static void name_thread(struct small_stream *small, uint32_t tid, const char *name)
{
	uint32_t string = lode_strings_add(&small->dictionary.frames.strings, name, strlen(name));

	small->stream.threads[lode_stream_tid(&small->stream, tid)].name = string;
}

static void a_thread_lasts_from_its_first_event_to_the_end_of_its_last(void **state)
{
	struct small_stream small;
	struct found found;

	(void)state;
	small_begin(&small);
	small_run(&small, 11, 100, 50);
	small_event(&small, LODE_WAIT, 11, 160, 40, 7, LODE_NONE, "");
	small_event(&small, LODE_CALL, 11, 90, 0, 0, LODE_NONE, "");
	small_run(&small, 12, 10, 500);
	name_thread(&small, 11, "ui");
	name_thread(&small, 12, "worker-1");
	name_thread(&small, 13, "worker-2"); /* has no events */
	found = find(&small, "thread ui");
	assert_int_equal(found.count, 1);
	require(&small, &found, 0, 11, 90, 207);
	lode_free(found.items);
	found = find(&small, "thread work*");
	assert_int_equal(found.count, 1);
	require(&small, &found, 0, 12, 10, 510);
	lode_free(found.items);
	found = find(&small, "thread 11");
	assert_int_equal(found.count, 1);
	lode_free(found.items);
	require_none(&small, "thread u");
	require_none(&small, "thread 1");
	small_end(&small);
}

static void a_thread_known_twice_is_one(void **state)
{
	struct lode_event run = { .t = 5, .cost = 5, .waker = LODE_NONE, .cpu = LODE_NO_CPU };
	struct small_stream small;
	struct found found;

	(void)state;
	small_begin(&small);
	small_run(&small, 11, 0, 1);
	run.thread = lode_stream_thread(&small.stream, 10, 11);
	assert_int_equal(lode_stream_add_event(&small.stream, LODE_RUN, &run), 0);
	name_thread(&small, 11, "ui");
	found = find(&small, "thread ui");
	assert_int_equal(found.count, 1);
	require(&small, &found, 0, 11, 0, 10);
	assert_int_equal(small.stream.threads[found.items[0].thread].pid, 10);
	lode_free(found.items);
	small_end(&small);
}

static void add_gpu_run(struct small_stream *small, uint32_t device, uint32_t number, uint64_t t, uint64_t cost)
{
	struct lode_event run = { .t = t, .cost = cost, .waker = LODE_NONE, .cpu = LODE_NO_CPU };

	run.thread = lode_stream_thread(&small->stream, LODE_GPU_FIRST_ID + device, LODE_GPU_FIRST_ID + number);
	assert_int_equal(lode_stream_add_event(&small->stream, LODE_RUN, &run), 0);
}

/* Of two streams of a GPU the busier one counts; threads of the system do not. */
static void a_gpu_is_its_busiest_stream(void **state)
{
	struct small_stream small;
	struct found found;

	(void)state;
	small_begin(&small);
	small_run(&small, 11, 0, 1000);
	require_none(&small, "gpu");
	add_gpu_run(&small, 0, 1, 5, 10);
	add_gpu_run(&small, 0, 2, 20, 15);
	add_gpu_run(&small, 0, 2, 50, 15);
	add_gpu_run(&small, 1, 3, 70, 7);
	found = find(&small, " gpu");
	assert_int_equal(found.count, 2);
	require(&small, &found, 0, LODE_GPU_FIRST_ID + 2, 20, 65);
	require(&small, &found, 1, LODE_GPU_FIRST_ID + 3, 70, 77);
	lode_free(found.items);
	small_end(&small);
}

static void idle_waits_are_symptoms_only_where_a_frame_is_named(void **state)
{
	static const struct {
		const char *text;
		size_t count;
	} cases[] = {
		{ "wait > 1ns", 1 },
		{ "wait > 1ns in *", 3 },
		{ "wait > 1ns in epoll_wait", 1 },
		{ "wait > 1ns in lock", 1 },
	};
	struct lode_idle_stacks *idle;
	struct lode_idle_rules *idle_rules;
	struct small_stream small;

	(void)state;
	small_begin(&small);
	small_event(&small, LODE_WAIT, 1, 0, 200, 0, LODE_NONE, "app!main;libc!epoll_wait;kernel!ep_poll");
	small_event(&small, LODE_WAIT, 2, 0, 300, 0, LODE_NONE,
		    "app!main;libc!clock_nanosleep;kernel!do_nanosleep");
	small_event(&small, LODE_WAIT, 3, 0, 400, 0, LODE_NONE,
		    "app!main;libc!pthread_mutex_lock;kernel!futex_wait");
	assert_int_equal(lode_idle_rules_load(&idle_rules, NULL, NULL), 0);
	assert_int_equal(lode_idle_stacks_make(&idle, idle_rules, small.stream.dictionary, NULL), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *const texts[] = { cases[i].text, NULL };
		struct lode_symptom_rules rules;
		struct found found;

		assert_int_equal(lode_symptom_rules_parse(&rules, texts, NULL), 0);
		assert_int_equal(lode_symptoms_of(&rules, &small.stream, idle, &found.items, &found.count, NULL),
				 0);
		assert_int_equal(found.count, cases[i].count);
		lode_free(found.items);
		lode_symptom_rules_release(&rules);
	}
	lode_idle_stacks_free(idle);
	lode_idle_rules_free(idle_rules);
	small_end(&small);
}

static void each_long_wait_in_the_frame_is_a_symptom(void **state)
{
	struct small_stream small;
	struct found found;

	(void)state;
	small_begin(&small);
	small_event(&small, LODE_WAIT, 1, 0, 201, 9, LODE_NONE, "app!main;app!lock;kernel!futex");
	small_event(&small, LODE_WAIT, 1, 300, 200, 0, LODE_NONE, "app!main;app!lock");
	small_event(&small, LODE_WAIT, 2, 600, 999, 0, LODE_NONE, "app!main;app!read");
	found = find(&small, "wait > 200ns in app!lock");
	assert_int_equal(found.count, 1);
	require(&small, &found, 0, 1, 0, 201);
	lode_free(found.items);
	found = find(&small, "wait > 200ns");
	assert_int_equal(found.count, 2);
	require(&small, &found, 1, 2, 600, 1599);
	lode_free(found.items);
	require_none(&small, "wait > 1s");
	require_none(&small, "wait > 0 in nowhere");
	small_end(&small);
}

static void between_goes_from_the_first_a_to_the_next_b_and_on(void **state)
{
	struct small_stream small;
	struct found found;

	(void)state;
	small_begin(&small);
	small_event(&small, LODE_RUN, 1, 5, 1, 0, LODE_NONE, "b"); /* before any a */
	small_event(&small, LODE_RUN, 1, 10, 1, 0, LODE_NONE, "a");
	small_event(&small, LODE_RUN, 1, 15, 1, 0, LODE_NONE, "a;x"); /* not the first */
	small_event(&small, LODE_RUN, 2, 20, 1, 0, LODE_NONE, "b");   /* another thread */
	small_event(&small, LODE_CALL, 1, 110, 0, 0, LODE_NONE, "main;b");
	small_event(&small, LODE_RUN, 1, 120, 1, 0, LODE_NONE, "b"); /* no a before it */
	small_event(&small, LODE_WAIT, 1, 200, 1, 0, LODE_NONE, "a");
	small_event(&small, LODE_RUN, 1, 250, 1, 0, LODE_NONE, "a;b"); /* ends one, begins one */
	small_event(&small, LODE_RUN, 1, 500, 1, 0, LODE_NONE, "b");
	found = find(&small, "between a and b > 40ns");
	assert_int_equal(found.count, 3);
	require(&small, &found, 0, 1, 10, 110);
	require(&small, &found, 1, 1, 200, 250);
	require(&small, &found, 2, 1, 250, 500);
	lode_free(found.items);
	found = find(&small, "between a and b > 100ns");
	assert_int_equal(found.count, 1);
	require(&small, &found, 0, 1, 250, 500);
	lode_free(found.items);
	require_none(&small, "between b and nothing > 0");
	small_end(&small);
}

static void start_is_the_first_event_of_the_process(void **state)
{
	struct lode_event event = { .cost = 1, .waker = LODE_NONE, .cpu = LODE_NO_CPU };
	struct small_stream small;
	struct found found;

	(void)state;
	small_begin(&small);
	/* pid, tid, t, peeks */
	static const uint64_t events[][4] = {
		{ 10, 11, 100, 0 },           { 20, 21, 150, 0 },           { 10, 12, 300, 0 },
		{ 10, 12, 1200, 1 },          { 20, 21, 1210, 1 },          { 10, 12, 5000, 1 },
		{ LODE_NO_PID, 31, 6000, 0 }, { LODE_NO_PID, 32, 9000, 1 }, { LODE_NO_PID, 31, 9500, 1 },
	};
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		event.t = events[i][2];
		event.thread = lode_stream_thread(&small.stream, (uint32_t)events[i][0], (uint32_t)events[i][1]);
		event.stack = small_stack(&small, events[i][3] ? "main;user32.dll!PeekMessage" : "main");
		assert_int_equal(lode_stream_add_event(&small.stream, LODE_RUN, &event), 0);
	}
	found = find(&small, "between start and user32.dll!PeekMessage > 1us");
	assert_int_equal(found.count, 3);
	require(&small, &found, 0, 12, 100, 1200); /* once, though it peeks again; from the process's start */
	require(&small, &found, 1, 21, 150, 1210);
	require(&small, &found, 2, 31, 6000, 9500); /* without a process, for itself */
	lode_free(found.items);
	small_end(&small);
}

static void rules_add_up_and_equal_symptoms_count_once(void **state)
{
	static const char *const texts[] = { "wait > 5ns", "thread 2", "wait > 3ns in f", NULL };
	struct lode_symptom_rules rules;
	struct small_stream small;
	struct found found;

	(void)state;
	small_begin(&small);
	small_event(&small, LODE_WAIT, 2, 50, 10, 0, LODE_NONE, "f");
	small_event(&small, LODE_WAIT, 1, 60, 4, 0, LODE_NONE, "f");
	assert_int_equal(lode_symptom_rules_parse(&rules, texts, NULL), 0);
	assert_int_equal(lode_symptoms_of(&rules, &small.stream, NULL, &found.items, &found.count, NULL), 0);
	assert_int_equal(found.count, 2);
	require(&small, &found, 0, 2, 50, 60);
	require(&small, &found, 1, 1, 60, 64);
	lode_free(found.items);
	lode_symptom_rules_release(&rules);
	small_end(&small);
}

static void without_rules_the_streams_own_symptoms_hold(void **state)
{
	struct lode_symptom_rules none = { 0 };
	struct lode_symptom own = { .t0 = 3, .t1 = 9 };
	struct small_stream small;
	struct found found;

	(void)state;
	small_begin(&small);
	assert_int_equal(lode_symptoms_of(&none, &small.stream, NULL, &found.items, &found.count, NULL), 0);
	assert_null(found.items);
	own.thread = lode_stream_tid(&small.stream, 4);
	assert_int_equal(lode_stream_add_symptom(&small.stream, &own), 0);
	assert_int_equal(lode_symptoms_of(&none, &small.stream, NULL, &found.items, &found.count, NULL), 0);
	assert_int_equal(found.count, 1);
	require(&small, &found, 0, 4, 3, 9);
	lode_free(found.items);
	small_end(&small);
}

/* ---- `between` by its definition, a thread at a time ---- */

static int has_frame(const struct small_stream *small, uint32_t node, const char *function)
{
	for (; node; node = small->dictionary.tree.nodes[node].parent)
		if (!strcmp(lode_frames_function(&small->dictionary.frames,
						 small->dictionary.tree.nodes[node].frame),
			    function))
			return 1;
	return 0;
}

struct moment {
	uint64_t t;
	size_t order;
	uint32_t stack;
};

static int by_time(const void *left, const void *right)
{
	const struct moment *a = left, *b = right;

	if (a->t != b->t)
		return a->t < b->t ? -1 : 1;
	return a->order < b->order ? -1 : 1;
}

static size_t moments_of(const struct small_stream *small, uint32_t tid, struct moment *moments)
{
	size_t count = 0, order = 0;

	for (int type = 0; type < LODE_EVENT_TYPES; type++)
		for (size_t i = 0; i < small->stream.events[type].count; i++, order++)
			if (small->stream.threads[small->stream.events[type].thread[i]].tid == tid)
				moments[count++] = (struct moment){ small->stream.events[type].t[i], order,
								    small->stream.events[type].stack[i] };
	qsort(moments, count, sizeof(*moments), by_time);
	return count;
}

static size_t slow_between(const struct small_stream *small, uint32_t tid, struct moment *moments, uint64_t longer,
			   uint64_t (*spans)[2])
{
	size_t count = moments_of(small, tid, moments), found = 0, i = 0;

	while (i < count) {
		size_t begin = i, end;

		while (begin < count && !has_frame(small, moments[begin].stack, "a"))
			begin++;
		end = begin + 1;
		while (end < count && !has_frame(small, moments[end].stack, "b"))
			end++;
		if (end >= count)
			break;
		if (moments[end].t - moments[begin].t > longer) {
			spans[found][0] = moments[begin].t;
			spans[found++][1] = moments[end].t;
		}
		i = end;
	}
	return found;
}

static void between_finds_what_its_definition_says(void **state)
{
	static const char *const stacks[] = { "a", "b", "a;b", "c", "c;b", "" };
	uint64_t seed = 12;

	(void)state;
	for (int round = 0; round < 3000; round++) {
		struct moment moments[64];
		uint64_t spans[64][2];
		struct small_stream small;
		struct found found;
		size_t expected = 0;

		small_begin(&small);
		for (size_t i = random_below(&seed, 40); i--;)
			small_event(&small, (enum lode_event_type)random_below(&seed, 3),
				    (uint32_t)random_below(&seed, 3), random_below(&seed, 30), 0, 0, LODE_NONE,
				    stacks[random_below(&seed, 6)]);
		assert_int_equal(lode_stream_sort(&small.stream), 0);
		found = find(&small, "between a and b > 3ns");
		for (uint32_t tid = 0; tid < 3; tid++) {
			size_t count = slow_between(&small, tid, moments, 3, spans);

			expected += count;
			for (size_t i = 0; i < count; i++) {
				size_t at = 0;

				while (at < found.count &&
				       (small.stream.threads[found.items[at].thread].tid != tid ||
					found.items[at].t0 != spans[i][0] || found.items[at].t1 != spans[i][1]))
					at++;
				assert_true(at < found.count);
			}
		}
		assert_int_equal(found.count, expected);
		lode_free(found.items);
		small_end(&small);
	}
}

/* ---- memory ---- */

static void memory_that_runs_out_is_a_clean_error(void **state)
{
	static const char *const texts[] = { "thread *", "wait > 1ns in f*", "between start and f > 1ns",
					     "between f and f > 1ns", NULL };
	uint64_t seed = 13;
	struct small_stream small;
	int code = LODE_SYSTEM;

	(void)state;
	small_begin(&small);
	small_random(&small, &seed, 40, 60);
	for (uint64_t nth = 1; code; nth++) {
		struct lode_symptom_rules rules = { 0 };
		struct lode_error error = { "" };
		struct found found = { 0 };

		lode_memory_fail_at(nth, 0);
		code = lode_symptom_rules_parse(&rules, texts, &error);
		if (!code)
			code = lode_symptoms_of(&rules, &small.stream, NULL, &found.items, &found.count, &error);
		lode_memory_fail_at(0, 0);
		assert_true(code == 0 || (code == LODE_SYSTEM && error.text[0]));
		if (code)
			assert_null(found.items);
		lode_free(found.items);
		lode_symptom_rules_release(&rules);
	}
	small_end(&small);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_are_read),
		cmocka_unit_test(requests_need_no_name_and_may_be_a_share),
		cmocka_unit_test(a_wrong_rule_is_answered_with_the_three_forms),
		cmocka_unit_test(one_wrong_rule_among_several_leaves_nothing),
		cmocka_unit_test(a_thread_lasts_from_its_first_event_to_the_end_of_its_last),
		cmocka_unit_test(a_thread_known_twice_is_one),
		cmocka_unit_test(a_gpu_is_its_busiest_stream),
		cmocka_unit_test(idle_waits_are_symptoms_only_where_a_frame_is_named),
		cmocka_unit_test(each_long_wait_in_the_frame_is_a_symptom),
		cmocka_unit_test(between_goes_from_the_first_a_to_the_next_b_and_on),
		cmocka_unit_test(start_is_the_first_event_of_the_process),
		cmocka_unit_test(rules_add_up_and_equal_symptoms_count_once),
		cmocka_unit_test(without_rules_the_streams_own_symptoms_hold),
		cmocka_unit_test(between_finds_what_its_definition_says),
		cmocka_unit_test(memory_that_runs_out_is_a_clean_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
