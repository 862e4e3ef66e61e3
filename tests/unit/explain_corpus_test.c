/* The table that is made of a corpus, against counts kept while its events were made up. */
#include "small_stream.h"
#include "temporary.h"

#include "explain/corpus_table.h"
#include "latency/latency.h"
#include "result/explain_report.h"
#include "scope/frame_filter.h"

#include <math.h>

#define STREAMS   24
#define FUNCTIONS 6

struct fixture {
	char folder[64];
	struct lode_corpus *corpus;
	struct lode_area area;
	struct lode_error error;
	unsigned counts[STREAMS][FUNCTIONS]; /* run and wait events that have the function */
	uint64_t cost[STREAMS][LODE_EVENT_TYPES];
	uint64_t delay[STREAMS];
};

/*
 * Every third stream is slow: app!f5 occurs only there, and the kernel's function that f5
 * is in, which costs more, because it is also below main alone. Recursion is frequent.
 */
static void add_events(struct fixture *fixture, struct small_stream *small, unsigned s, uint64_t *seed)
{
	for (uint64_t t = 1; t < 20; t++) {
		enum lode_event_type type = (enum lode_event_type)random_below(seed, LODE_EVENT_TYPES);
		uint64_t cost = type == LODE_CALL ? 0 : random_below(seed, 50);
		unsigned has[FUNCTIONS] = { 0 };
		char stack[256] = "app!main";

		for (unsigned depth = (unsigned)random_below(seed, 8); depth; depth--) {
			unsigned f = (unsigned)random_below(seed, s % 3 ? FUNCTIONS - 1 : FUNCTIONS);

			snprintf(stack + strlen(stack), sizeof(stack) - strlen(stack), ";app!f%u", f);
			has[f] = 1;
		}
		if (has[FUNCTIONS - 1])
			strcat(stack, ";kernel!schedule");
		small_event(small, type, 1, 100 * t, cost, 0, LODE_NONE, stack);
		fixture->cost[s][type] += cost;
		for (unsigned f = 0; f < FUNCTIONS && type != LODE_CALL; f++)
			fixture->counts[s][f] += has[f];
	}
	if (s % 3 == 0) {
		small_event(small, LODE_RUN, 1, 2000, 1, 0, LODE_NONE, "app!main;app!f5");
		fixture->counts[s][FUNCTIONS - 1]++;
		fixture->cost[s][LODE_RUN]++;
		small_event(small, LODE_WAIT, 1, 1950, 45, 0, LODE_NONE, "app!main;kernel!schedule");
		fixture->cost[s][LODE_WAIT] += 45;
	}
}

/* Streams are named so that the catalogue has them in their order; number 7 has no size. */
static void add_stream(struct fixture *fixture, unsigned s, uint64_t *seed)
{
	uint64_t delay = (s % 3 ? 1000 : 9000) * (uint64_t)(s + 1) + random_below(seed, 100);
	struct small_stream small;
	char id[33], text[32];

	small_begin(&small);
	add_events(fixture, &small, s, seed);
	snprintf(text, sizeof(text), "stream-%02u", s);
	small.stream.name = lode_strings_add(&small.dictionary.frames.strings, text, strlen(text));
	snprintf(text, sizeof(text), "%u", s + 1);
	if (s != 7)
		assert_int_equal(lode_stream_set_attribute(&small.stream, "size", text, LODE_ATTRIBUTE_NUMBER), 0);
	assert_int_equal(lode_stream_set_attribute(&small.stream, "color", "red", LODE_ATTRIBUTE_TEXT), 0);
	assert_int_equal(lode_stream_add_symptom(&small.stream, &(struct lode_symptom){ .t0 = 5, .t1 = 5 + delay }),
			 0);
	fixture->delay[s] = delay;
	snprintf(id, sizeof(id), "%032x", s + 1);
	assert_int_equal(lode_stream_sort(&small.stream), 0);
	assert_int_equal(lode_corpus_add(fixture->corpus, id, "test", &small.stream, 0, 1, &fixture->error), 1);
	small_end(&small);
}

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	struct lode_area_options everything = { .scope = LODE_SCOPE_ALL, .jobs = 1 };
	uint64_t seed = 5;

	*state = fixture;
	if (temporary_folder(fixture->folder, sizeof(fixture->folder)) < 0 ||
	    lode_corpus_open(&fixture->corpus, fixture->folder, LODE_CORPUS_CREATE, &fixture->error) < 0)
		return -1;
	for (unsigned s = 0; s < STREAMS; s++)
		add_stream(fixture, s, &seed);
	return lode_area_collect(fixture->corpus, &everything, NULL, &fixture->area, &fixture->error);
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	lode_area_release(&fixture->area);
	lode_corpus_close(fixture->corpus);
	temporary_remove(fixture->folder);
	free(fixture);
	return 0;
}

static int make(struct fixture *fixture, const struct lode_corpus_table_options *options,
		struct lode_data_table *table, struct lode_explain_input *input)
{
	fixture->error.text[0] = '\0';
	return lode_corpus_table_make(fixture->corpus, &fixture->area, options, table, input, &fixture->error);
}

static void make_well(struct fixture *fixture, const struct lode_corpus_table_options *options,
		      struct lode_data_table *table, struct lode_explain_input *input)
{
	if (make(fixture, options, table, input) < 0)
		fail_msg("%s", fixture->error.text);
}

static void release(struct lode_data_table *table, struct lode_explain_input *input)
{
	lode_free(input->auxiliary);
	lode_data_table_release(table);
}

static void a_function_counts_once_for_each_run_and_wait_that_has_it(void **state)
{
	struct fixture *fixture = *state;
	struct lode_corpus_table_options options = { .x = "size" };
	struct lode_data_table table;
	struct lode_explain_input input;

	make_well(fixture, &options, &table, &input);
	assert_int_equal(table.rows, STREAMS);
	assert_int_equal(table.count, 2 + 1 + FUNCTIONS + 1); /* and main, kernel!schedule */
	assert_string_equal(table.columns[2].name, "app!f5"); /* fewest streams have it */
	for (unsigned f = 0; f < FUNCTIONS; f++) {
		char name[16];
		uint32_t column;

		snprintf(name, sizeof(name), "app!f%u", f);
		column = lode_data_table_find(&table, name);
		assert_true(column < table.count && input.auxiliary[column]);
		for (unsigned s = 0; s < STREAMS; s++)
			assert_true(table.columns[column].numbers[s] == fixture->counts[s][f]);
	}
	release(&table, &input);
}

static void x_and_y_are_attributes_and_times(void **state)
{
	static const char *const ys[] = { NULL, "delay", "run", "wait", "span" };
	static const char *const names[] = { "delay_ns", "delay_ns", "run_ns", "wait_ns", "span_ns" };
	struct fixture *fixture = *state;

	for (int i = 0; i < 5; i++) {
		struct lode_corpus_table_options options = { .x = "size", .y = ys[i] };
		struct lode_data_table table;
		struct lode_explain_input input;

		make_well(fixture, &options, &table, &input);
		assert_int_equal(input.inputs, 1);
		assert_string_equal(table.columns[input.x[0]].name, "size");
		assert_string_equal(table.columns[input.y].name, names[i]);
		assert_false(input.auxiliary[input.x[0]] || input.auxiliary[input.y]);
		assert_int_equal(table.columns[input.x[0]].missing, 1);
		for (unsigned s = 0; s < STREAMS; s++) {
			/* From the symptom's start to its end, or that of the last event: at most 2001. */
			uint64_t expected[] = { fixture->delay[s], fixture->delay[s], fixture->cost[s][LODE_RUN],
						fixture->cost[s][LODE_WAIT], fixture->delay[s] };
			double y = table.columns[input.y].numbers[s];

			if (i < 4 || fixture->delay[s] > 2001)
				assert_true(y == (double)expected[i]);
			if (s == 7)
				assert_true(isnan(table.columns[input.x[0]].numbers[s]));
			else
				assert_true(table.columns[input.x[0]].numbers[s] == s + 1);
		}
		release(&table, &input);
	}
}

/* What the contexts of a function come to in one stream, those below another of its own left out. */
static uint64_t latency_slowly(struct fixture *fixture, const char *stream, const char *function)
{
	const char *const only[] = { stream, NULL };
	struct lode_latency_options options = { .streams = only, .jobs = 1 };
	struct lode_latency latency;
	const struct lode_stack_node *nodes;
	uint64_t sum = 0;

	assert_int_equal(lode_latency_collect(fixture->corpus, &options, NULL, &latency, &fixture->error), 0);
	nodes = latency.dictionary.tree.nodes;
	for (uint32_t node = 1; node < latency.node_count; node++) {
		uint32_t above = nodes[node].parent;

		while (above && nodes[above].frame != nodes[node].frame)
			above = nodes[above].parent;
		if (!above && lode_frame_matches(&latency.dictionary.frames, nodes[node].frame, function))
			sum += latency.nodes[node].estimate;
	}
	lode_latency_release(&latency);
	return sum;
}

static void the_latency_of_a_function_is_that_of_its_contexts(void **state)
{
	struct fixture *fixture = *state;
	struct lode_corpus_table_options options = { .x = "size", .features = LODE_FEATURES_LATENCY };
	struct lode_data_table table;
	struct lode_explain_input input;
	double all = 0;

	make_well(fixture, &options, &table, &input);
	for (unsigned f = 0; f < FUNCTIONS; f++) {
		char name[16], stream[16];
		uint32_t column;

		snprintf(name, sizeof(name), "app!f%u", f);
		column = lode_data_table_find(&table, name);
		assert_true(column < table.count && input.auxiliary[column]);
		for (unsigned s = 0; s < STREAMS; s++) {
			snprintf(stream, sizeof(stream), "stream-%02u", s);
			assert_true(table.columns[column].numbers[s] ==
				    (double)latency_slowly(fixture, stream, name));
			all += table.columns[column].numbers[s];
		}
	}
	assert_true(all > 0);
	release(&table, &input);
}

static void each_symptom_can_be_a_row(void **state)
{
	struct fixture *fixture = *state;
	struct lode_area_options apart = { .scope = LODE_SCOPE_GRAPH, .by_symptom = 1, .jobs = 1 };
	struct lode_corpus_table_options options = { .x = "size", .by_symptom = 1 };
	struct lode_corpus_table_options spans = { .x = "size", .y = "span", .by_symptom = 1 };
	struct lode_corpus_table_options latency = { .x = "size",
						     .features = LODE_FEATURES_LATENCY,
						     .by_symptom = 1 };
	struct lode_area streams = fixture->area;
	struct lode_data_table table;
	struct lode_explain_input input;

	assert_int_equal(lode_area_collect(fixture->corpus, &apart, NULL, &fixture->area, &fixture->error), 0);
	make_well(fixture, &options, &table, &input);
	assert_int_equal(table.rows, STREAMS);
	for (unsigned s = 0; s < STREAMS; s++)
		assert_true(table.columns[input.y].numbers[s] == (double)fixture->delay[s]);
	release(&table, &input);
	assert_int_equal(make(fixture, &spans, &table, &input), LODE_USAGE);
	assert_int_equal(make(fixture, &latency, &table, &input), LODE_USAGE);
	lode_area_release(&fixture->area);
	fixture->area = streams;
}

static void what_clusters_cost_is_a_column_each(void **state)
{
	struct fixture *fixture = *state;
	struct lode_corpus_table_options options = { .x = "size", .features = LODE_FEATURES_PATTERNS, .jobs = 1 };
	struct lode_data_table table;
	struct lode_explain_input input;

	make_well(fixture, &options, &table, &input);
	assert_true(table.count > 3);
	for (size_t i = 2; i < table.count; i++) {
		int kind = strstr(table.columns[i].name, " (wait ") ? LODE_WAIT : LODE_RUN;
		double sum = 0;

		assert_true(!strncmp(table.columns[i].name, "app!", 4) ||
			    !strncmp(table.columns[i].name, "kernel!schedule ", 16));
		assert_int_equal(input.auxiliary[i], 1);
		for (unsigned s = 0; s < STREAMS; s++) {
			sum += table.columns[i].numbers[s];
			assert_true(table.columns[i].numbers[s] <= (double)fixture->cost[s][kind]);
		}
		assert_true(sum > 0);
	}
	release(&table, &input);
}

static void the_function_that_slow_streams_have_is_at_the_root(void **state)
{
	struct fixture *fixture = *state;
	struct lode_corpus_table_options options = { .x = "size" };
	struct lode_explain_options how;
	struct lode_data_table table;
	struct lode_explain_input input;
	struct lode_explanation explanation;
	struct lode_explain_report report = { .input = &input, .explanation = &explanation, .width = 80, .ascii = 1 };

	make_well(fixture, &options, &table, &input);
	lode_explain_defaults(&how);
	assert_int_equal(lode_explain(&input, &how, &explanation, &fixture->error), 0);
	assert_int_equal(explanation.clusters, 2);
	assert_int_equal(explanation.left_out, 1);
	assert_int_equal(explanation.tree.count, 3);
	assert_string_equal(lode_explain_feature(&report, explanation.tree.nodes[0].feature), "app!f5");
	lode_explanation_release(&explanation);
	release(&table, &input);
}

static void what_cannot_be_explained_is_reported(void **state)
{
	static const struct {
		struct lode_corpus_table_options options;
		int code;
		const char *sentence;
	} cases[] = {
		{ { .x = "sise" }, LODE_BAD_INPUT, "no stream has an attribute 'sise'; there are size, color" },
		{ { .x = "color" },
		  LODE_BAD_INPUT,
		  "attribute 'color' of stream 'stream-00' is 'red', which is not a number; name another one" },
		{ { .x = "size", .y = "color" }, LODE_BAD_INPUT, "which is not a number" },
		{ { .x = "size,size" }, LODE_USAGE, "attribute 'size' is named twice among x and y" },
		{ { .x = "size", .y = "size" }, LODE_USAGE, "attribute 'size' is named twice among x and y" },
		{ { .x = "" }, LODE_USAGE, "no attribute for x" },
		{ { .x = "size,," }, LODE_BAD_INPUT, "no stream has an attribute ''" },
	};
	struct fixture *fixture = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lode_data_table table;
		struct lode_explain_input input;

		assert_int_equal(make(fixture, &cases[i].options, &table, &input), cases[i].code);
		if (!strstr(fixture->error.text, cases[i].sentence))
			fail_msg("'%s' does not say '%s'", fixture->error.text, cases[i].sentence);
	}
}

/* Of `count` streams of the corpus. */
static void refused_with_streams(struct fixture *fixture, size_t count, const char *sentence)
{
	struct lode_corpus_table_options options = { .x = "size" };
	struct lode_data_table table;
	struct lode_explain_input input;
	size_t all = fixture->area.stream_count;

	fixture->area.stream_count = count;
	assert_int_equal(make(fixture, &options, &table, &input), LODE_BAD_INPUT);
	fixture->area.stream_count = all;
	if (!strstr(fixture->error.text, sentence))
		fail_msg("'%s' does not say '%s'", fixture->error.text, sentence);
}

static void too_few_streams_are_refused(void **state)
{
	refused_with_streams(*state, 0, "there is no stream in this corpus");
	refused_with_streams(*state, 1, "1 stream with both x and y; at least 4 are needed");
	refused_with_streams(*state, 3, "3 streams with both x and y; at least 4 are needed");
}

static void memory_that_runs_out_is_a_clean_error(void **state)
{
	struct fixture *fixture = *state;

	for (int features = 0; features < LODE_CORPUS_FEATURES; features++) {
		struct lode_corpus_table_options options = { .x = "size",
							     .y = "span",
							     .features = (enum lode_corpus_features)features,
							     .jobs = 1 };
		struct lode_data_table table;
		struct lode_explain_input input;
		uint64_t nth = 0;
		int code;

		do {
			nth += nth < 300 ? 1 : 13;
			lode_memory_fail_at(nth, 0);
			code = make(fixture, &options, &table, &input);
			lode_memory_fail_at(0, 0);
			assert_true(code == 0 || code == LODE_SYSTEM);
			if (code < 0)
				assert_true(fixture->error.text[0]);
			else
				release(&table, &input);
		} while (code < 0);
		assert_true(nth > 10);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_function_counts_once_for_each_run_and_wait_that_has_it),
		cmocka_unit_test(x_and_y_are_attributes_and_times),
		cmocka_unit_test(the_latency_of_a_function_is_that_of_its_contexts),
		cmocka_unit_test(each_symptom_can_be_a_row),
		cmocka_unit_test(what_clusters_cost_is_a_column_each),
		cmocka_unit_test(the_function_that_slow_streams_have_is_at_the_root),
		cmocka_unit_test(what_cannot_be_explained_is_reported),
		cmocka_unit_test(too_few_streams_are_refused),
		cmocka_unit_test(memory_that_runs_out_is_a_clean_error),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
