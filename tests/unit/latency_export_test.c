/*
 * Inferred calls in the formats of viewers: read back by an independent parser they nest,
 * are the calls that inference gives one by one, and what a viewer makes of them, time by
 * stack, is what these calls take by themselves.
 */
#include "export_fixture.h"
#include "json_tree.h"

#include "latency/contexts.h"
#include "latency/diff.h"
#include "export/latency_export.h"

/* Most tests compare single streams, of which nothing is sure. */
static const struct lode_diff_options one_job = { .jobs = 1, .guess = 1 };

#define ROUNDS 7

static const struct lode_export_options inferred = { .inferred = 1 };

/* ---- numbers to compare ---- */

struct numbers {
	uint64_t *items;
	size_t count;
	size_t capacity;
};

static void add_number(struct numbers *numbers, uint64_t number)
{
	if (numbers->count == numbers->capacity) {
		numbers->capacity = 2 * numbers->capacity + 16;
		numbers->items = realloc(numbers->items, numbers->capacity * sizeof(number));
	}
	numbers->items[numbers->count++] = number;
}

static int by_size(const void *a, const void *b)
{
	uint64_t left, right;

	memcpy(&left, a, sizeof(left));
	memcpy(&right, b, sizeof(right));
	return (left > right) - (left < right);
}

static void assert_same_numbers(struct numbers *a, struct numbers *b)
{
	assert_int_equal(a->count, b->count);
	if (a->count) {
		qsort(a->items, a->count, sizeof(*a->items), by_size);
		qsort(b->items, b->count, sizeof(*b->items), by_size);
		assert_memory_equal(a->items, b->items, a->count * sizeof(*a->items));
	}
	free(a->items);
	free(b->items);
}

/* ---- what must come out ---- */

static void next_streams(struct fixture *fixture, int round, uint64_t *seed)
{
	next_corpus(fixture);
	for (int i = 0; i <= round % 3; i++) {
		struct whole whole;

		if (round == 0)
			odd_whole(&whole);
		else
			random_whole(&whole, seed, round == 5 ? 300 : 40);
		add_stream(fixture, &whole);
		release_whole(&whole);
	}
}

static struct lode_corpus *open_corpus(const struct fixture *fixture)
{
	struct lode_corpus *corpus;
	struct lode_error error;

	assert_int_equal(lode_corpus_open(&corpus, fixture->corpus, LODE_CORPUS_READ, &error), 0);
	return corpus;
}

static void collect(const struct fixture *fixture, struct lode_latency *latency)
{
	struct lode_corpus *corpus = open_corpus(fixture);
	struct lode_latency_options options = { .jobs = 1 };
	struct lode_error error;

	assert_int_equal(lode_latency_collect(corpus, &options, NULL, latency, &error), 0);
	lode_corpus_close(corpus);
}

/* Time by stack: a stack is a text of any kind. */
struct times {
	struct {
		char *stack;
		uint64_t time;
	} * items;
	size_t count;
};

static void add_time(struct times *times, const char *stack, uint64_t time)
{
	size_t i = 0;

	if (!time || !*stack)
		return;
	while (i < times->count && strcmp(times->items[i].stack, stack))
		i++;
	if (i == times->count) {
		times->items = realloc(times->items, ++times->count * sizeof(*times->items));
		times->items[i].stack = strdup(stack);
		times->items[i].time = 0;
	}
	times->items[i].time += time;
}

static struct numbers take_times(struct times *times)
{
	struct numbers numbers = { 0 };

	for (size_t i = 0; i < times->count; i++) {
		if (times->items[i].time)
			add_number(&numbers, times->items[i].time);
		free(times->items[i].stack);
	}
	free(times->items);
	return numbers;
}

/* What the instances come to. */
struct made {
	const struct lode_stream *stream;
	struct numbers calls; /* the latency of each */
	struct times own;     /* of contexts: their calls' minus those of the calls they make */
};

static int take_stream(void *context, const struct lode_stream *stream)
{
	struct made *made = context;

	made->stream = stream;
	return 0;
}

static void stack_text(const struct lode_dictionary *dictionary, uint32_t node, struct lode_buffer *text)
{
	if (!node)
		return;
	stack_text(dictionary, dictionary->tree.nodes[node].parent, text);
	lode_frames_text(&dictionary->frames, dictionary->tree.nodes[node].frame, text);
	lode_buffer_byte(text, '|');
}

static void add_own(struct made *made, uint32_t node, uint64_t time)
{
	struct lode_buffer text = { 0 };

	stack_text(made->stream->dictionary, node, &text);
	lode_buffer_byte(&text, '\0');
	add_time(&made->own, text.bytes, time);
	lode_buffer_release(&text);
}

static int take_instance(void *context, const struct lode_instance *instance)
{
	uint32_t parent;
	struct made *made = context;
	uint64_t time = lode_instance_estimate(instance);

	parent = made->stream->dictionary->tree.nodes[instance->node].parent;
	add_number(&made->calls, time);
	add_own(made, instance->node, time);
	add_own(made, parent, -time); /* the caller's own may be below 0 until it comes itself */
	return 0;
}

static void make_instances(const struct fixture *fixture, struct made *made)
{
	struct lode_corpus *corpus = open_corpus(fixture);
	struct lode_latency_options options = { .jobs = 1 };
	struct lode_instance_taker taker = { take_stream, take_instance, made };
	struct lode_error error;

	memset(made, 0, sizeof(*made));
	assert_int_equal(lode_latency_instances(corpus, &options, &taker, &error), 0);
	lode_corpus_close(corpus);
}

/* ---- reading back ---- */

/* A number without its point, which is as far as its unit is from a nanosecond. */
static uint64_t nanoseconds(yajl_val value)
{
	uint64_t number = 0;

	assert_true(YAJL_IS_NUMBER(value));
	for (const char *text = YAJL_GET_NUMBER(value); *text; text++)
		if (*text != '.')
			number = number * 10 + (uint64_t)(*text - '0');
	return number;
}

/* ---- speedscope ---- */

#define DEEPEST 256

/* Follows the events as a viewer does. */
static void replay(yajl_val profile, struct times *times, struct numbers *calls)
{
	uint64_t begun[DEEPEST], last = nanoseconds(get(profile, "startValue"));
	size_t ends[DEEPEST + 1] = { 0 }, depth = 0;
	char stack[DEEPEST * 12] = "";

	assert_string_equal(text_at(profile, "type"), "evented");
	assert_string_equal(text_at(profile, "unit"), "nanoseconds");
	for (size_t i = 0; i < length_of(get(profile, "events")); i++) {
		yajl_val event = item(get(profile, "events"), i);
		uint64_t at = nanoseconds(get(event, "at"));
		char frame[16];

		assert_true(at >= last);
		add_time(times, stack, at - last);
		last = at;
		snprintf(frame, sizeof(frame), "%llu;", (unsigned long long)nanoseconds(get(event, "frame")));
		if (!strcmp(text_at(event, "type"), "O")) {
			assert_true(depth < DEEPEST);
			begun[depth++] = at;
			ends[depth] = ends[depth - 1] + strlen(frame);
			strcpy(stack + ends[depth - 1], frame);
			continue;
		}
		assert_true(depth > 0);
		assert_string_equal(text_at(event, "type"), "C");
		assert_string_equal(stack + ends[--depth], frame);
		stack[ends[depth]] = '\0';
		add_number(calls, at - begun[depth]);
	}
	assert_int_equal(depth, 0);
	assert_true(last == nanoseconds(get(profile, "endValue")));
}

static void speedscope_shows_every_call_where_it_lay(void **state)
{
	struct fixture *fixture = *state;
	uint64_t seed = 11;

	for (int round = 0; round < ROUNDS; round++) {
		struct numbers own, seen = { 0 }, by_stack;
		struct times times = { 0 };
		struct made made;
		yajl_val root;
		char *text;

		next_streams(fixture, round, &seed);
		make_instances(fixture, &made);
		text = export_text(fixture, "speedscope", &inferred);
		root = parse(text);
		for (size_t i = 0; i < length_of(get(root, "profiles")); i++)
			replay(item(get(root, "profiles"), i), &times, &seen);
		assert_same_numbers(&made.calls, &seen);
		own = take_times(&made.own);
		by_stack = take_times(&times);
		assert_same_numbers(&own, &by_stack);
		yajl_tree_free(root);
		free(text);
	}
}

/* ---- Chrome ---- */

/* Slices of a thread come together; each is within the last one before it that has not ended. */
static void nest(yajl_val events, struct numbers *calls)
{
	uint64_t ends[DEEPEST], thread = UINT64_MAX, last = 0;
	size_t depth = 0;

	for (size_t i = 0; i < length_of(events); i++) {
		yajl_val event = item(events, i);
		uint64_t begin, end, own_thread;

		if (strcmp(text_at(event, "ph"), "X"))
			continue;
		own_thread = nanoseconds(get(event, "pid")) << 32 | nanoseconds(get(event, "tid"));
		begin = nanoseconds(get(event, "ts"));
		end = begin + nanoseconds(get(event, "dur"));
		if (own_thread != thread)
			depth = last = 0;
		thread = own_thread;
		while (depth && (ends[depth - 1] < begin || (ends[depth - 1] == begin && end > begin)))
			depth--;
		assert_true(begin >= last);
		assert_true(!depth || end <= ends[depth - 1]);
		assert_true(depth < DEEPEST);
		ends[depth++] = end;
		last = begin;
		add_number(calls, end - begin);
	}
}

static void chrome_slices_are_the_calls_and_nest(void **state)
{
	struct fixture *fixture = *state;
	uint64_t seed = 12;

	for (int round = 0; round < ROUNDS; round++) {
		struct numbers own, seen = { 0 };
		struct made made;
		yajl_val root;
		char *text;

		next_streams(fixture, round, &seed);
		make_instances(fixture, &made);
		own = take_times(&made.own);
		free(own.items);
		text = export_text(fixture, "chrome", &inferred);
		root = parse(text);
		nest(get(root, "traceEvents"), &seen);
		assert_same_numbers(&made.calls, &seen);
		yajl_tree_free(root);
		free(text);
	}
}

/* ---- Firefox ---- */

/* Samples are in order of time, each lasts until the next, and those without a stack weigh nothing. */
static uint64_t weigh(yajl_val thread)
{
	yajl_val samples = get(thread, "samples"), stacks = get(samples, "stack");
	yajl_val times = get(samples, "time"), weights = get(samples, "weight");
	uint64_t sum = 0;

	assert_int_equal(length_of(stacks), length_of(weights));
	for (size_t i = 0; i < length_of(stacks); i++) {
		uint64_t weight = nanoseconds(item(weights, i));

		if (YAJL_IS_NULL(item(stacks, i)))
			assert_true(weight == 0);
		else
			assert_true(nanoseconds(item(times, i)) + weight == nanoseconds(item(times, i + 1)));
		sum += weight;
	}
	return sum;
}

static void firefox_samples_last_until_the_stack_changes(void **state)
{
	struct fixture *fixture = *state;
	uint64_t seed = 13;

	for (int round = 0; round < ROUNDS; round++) {
		struct numbers own;
		struct made made;
		uint64_t expected = 0, sum = 0;
		yajl_val root;
		char *text;

		next_streams(fixture, round, &seed);
		make_instances(fixture, &made);
		free(made.calls.items);
		own = take_times(&made.own);
		for (size_t i = 0; i < own.count; i++)
			expected += own.items[i];
		free(own.items);
		text = export_text(fixture, "firefox", &inferred);
		root = parse(text);
		for (size_t i = 0; i < length_of(get(root, "threads")); i++)
			sum += weigh(item(get(root, "threads"), i));
		assert_true(sum == expected);
		yajl_tree_free(root);
		free(text);
	}
}

/* ---- choosing ---- */

static size_t count_slices(struct fixture *fixture, const struct lode_export_options *options)
{
	char *text = export_text(fixture, "chrome", options);
	yajl_val root = parse(text);
	struct numbers calls = { 0 };
	size_t count;

	nest(get(root, "traceEvents"), &calls);
	count = calls.count;
	free(calls.items);
	yajl_tree_free(root);
	free(text);
	return count;
}

static void add_call(struct fixture *fixture, const char *name, const char *version)
{
	struct whole whole;

	init_whole(&whole, name);
	assert_int_equal(lode_stream_set_attribute(&whole.stream, "version", version, LODE_ATTRIBUTE_TEXT), 0);
	add_event(&whole, LODE_RUN, 10, 1, 1, 2, "main|load|read");
	add_event(&whole, LODE_RUN, 20, 1, 1, 2, "main|draw");
	add_stream(fixture, &whole);
	release_whole(&whole);
}

static void calls_and_streams_can_be_chosen(void **state)
{
	struct fixture *fixture = *state;
	const char *const one[] = { "version=1*", NULL }, *const none[] = { "version=7", NULL };
	const char *const match[] = { "load", NULL };
	struct lode_error error;

	next_corpus(fixture);
	add_call(fixture, "a", "1.0");
	add_call(fixture, "b", "2.0");
	assert_int_equal(count_slices(fixture, &inferred), 8);
	assert_int_equal(count_slices(fixture, &(struct lode_export_options){ .inferred = 1, .where = one }), 4);
	assert_int_equal(count_slices(fixture, &(struct lode_export_options){ .inferred = 1, .match = match }), 4);
	assert_int_equal(export_file(fixture, "chrome",
				     &(struct lode_export_options){ .inferred = 1, .where = none }, &error),
			 LODE_USAGE);
	assert_non_null(strstr(error.text, "no stream has 'version=7'"));
	assert_int_equal(export_file(fixture, "events", &inferred, &error), LODE_USAGE);
}

/* ---- memory ---- */

static void memory_that_runs_out_is_an_error_and_leaves_nothing_behind(void **state)
{
	static const char *const formats[] = { "speedscope", "chrome", "firefox" };
	struct fixture *fixture = *state;
	uint64_t seed = 14;

	next_streams(fixture, 1, &seed);
	for (size_t i = 0; i < 3; i++) {
		struct lode_error error = { "" };
		int code;

		for (size_t at = 1;; at++) {
			lode_memory_fail_at(at, 0);
			code = export_file(fixture, formats[i], &inferred, &error);
			lode_memory_fail_at(0, 0);
			if (!code)
				break;
			assert_int_equal(code, LODE_SYSTEM);
			assert_int_equal(count_leftovers(fixture->folder), 0);
		}
	}
}

/* ---- folded ---- */

typedef int writer(const void *report, struct lode_output *output, struct lode_error *error);

static int write_latency(const void *report, struct lode_output *output, struct lode_error *error)
{
	return lode_latency_folded(report, output, NULL, error);
}

static int write_diff(const void *report, struct lode_output *output, struct lode_error *error)
{
	return lode_diff_folded(report, output, NULL, error);
}

/* The sums of both columns of what is written; one column is both. */
static void add_columns(struct fixture *fixture, writer *write, const void *report, uint64_t sums[2])
{
	struct lode_error error;
	struct lode_output output;
	size_t size;
	char *text;

	assert_int_equal(lode_output_open(&output, fixture->result, &error), 0);
	assert_int_equal(write(report, &output, &error), 0);
	assert_int_equal(lode_output_finish(&output, &error), 0);
	text = read_file(fixture->result, &size);
	sums[0] = sums[1] = 0;
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		char *last = strrchr(line, ' '), *other;

		assert_non_null(last);
		sums[1] += strtoull(last + 1, NULL, 10);
		*last = '\0';
		other = strrchr(line, ' ');
		sums[0] += strtoull(other ? other + 1 : "0", NULL, 10);
	}
	free(text);
}

static void folded_stacks_add_up_to_all_own_latencies(void **state)
{
	struct fixture *fixture = *state;
	uint64_t seed = 15;

	for (int round = 1; round < ROUNDS; round++) {
		struct lode_latency latency;
		struct lode_contexts contexts;
		struct lode_latency_report report = { .latency = &latency, .contexts = &contexts, .top = 1 };
		uint64_t sums[2];

		next_streams(fixture, round, &seed);
		collect(fixture, &latency);
		assert_int_equal(lode_contexts_rank(&latency, NULL, NULL, &contexts), 0);
		add_columns(fixture, write_latency, &report, sums);
		assert_true(sums[1] == contexts.own);
		lode_contexts_release(&contexts);
		lode_latency_release(&latency);
	}
}

static void differential_stacks_have_the_base_first_and_the_slow_side_second(void **state)
{
	struct fixture *fixture = *state;
	uint64_t seed = 16;

	for (int round = 1; round < ROUNDS; round++) {
		struct lode_latency base, slow;
		struct lode_diff diff;
		struct lode_diff_report report = { .base = { .corpus = "b", .latency = &base },
						   .slow = { .corpus = "s", .latency = &slow },
						   .diff = &diff };
		uint64_t sums[2], expected[2] = { 0, 0 };

		next_streams(fixture, round, &seed);
		collect(fixture, &base);
		next_streams(fixture, round + 1, &seed);
		collect(fixture, &slow);
		assert_int_equal(lode_diff(&base, &slow, &one_job, &diff), 0);
		for (size_t i = 1; i < diff.dictionary->tree.count; i++) {
			expected[0] += diff.base[i];
			expected[1] += diff.slow[i];
		}
		add_columns(fixture, write_diff, &report, sums);
		assert_true(sums[0] == expected[0]);
		assert_true(sums[1] == expected[1]);
		lode_diff_release(&diff);
		lode_latency_release(&base);
		lode_latency_release(&slow);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(speedscope_shows_every_call_where_it_lay),
		cmocka_unit_test(chrome_slices_are_the_calls_and_nest),
		cmocka_unit_test(firefox_samples_last_until_the_stack_changes),
		cmocka_unit_test(calls_and_streams_can_be_chosen),
		cmocka_unit_test(memory_that_runs_out_is_an_error_and_leaves_nothing_behind),
		cmocka_unit_test(folded_stacks_add_up_to_all_own_latencies),
		cmocka_unit_test(differential_stacks_have_the_base_first_and_the_slow_side_second),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
