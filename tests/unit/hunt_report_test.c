/* What a hunt reports: lines of JSON, text, DOT, HTML, and the stream it leaves. */
#include "cmocka_all.h"

#include "base/memory.h"
#include "hunt/hunt_archive.h"
#include "hunt_simulation.h"
#include "export/graphs.h"
#include "page/hunt_page.h"
#include "text/hunt_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <yajl/yajl_tree.h>

struct hunted {
	struct simulation simulation;
	struct lode_search *search;
	struct lode_hunt_report report;
	struct lode_buffer lines;
	struct lode_hunt_archive *keep;
};

static void note_line(void *context, uint32_t experiment)
{
	struct hunted *hunted = context;

	hunted->report.search = hunted->search;
	lode_hunt_line(&hunted->report, experiment, &hunted->lines);
}

/* A program with a deep bottleneck, one behind a lock, and names that want escaping. */
static void busy(struct simulation *simulation)
{
	uint32_t main_thread = simulation_thread(simulation, 0, 7, "main");
	uint32_t other_thread = simulation_thread(simulation, 0, 7, "worker");

	simulation_stack(simulation, main_thread, LODE_CPU_BOUND, 0.7, "parse operator<<(a&b) hot\"quote");
	simulation_stack(simulation, main_thread, LODE_CPU_BOUND, 0.1, "parse cold");
	simulation_stack(simulation, other_thread, LODE_SYNC_WAITING, 0.6, "take")->object = 0x1000;
	simulation->predicted[simulation_function(simulation, "cold")] = 0.5;
	simulation->predicted[simulation_function(simulation, "take")] = -1;
}

/* One that waits for each byte. */
static void by_bytes(struct simulation *simulation)
{
	uint32_t thread = simulation_thread(simulation, 0, 7, "main");
	struct simulated_stack *stack =
		simulation_stack(simulation, thread, LODE_IO_BLOCKING, 0.9, "count_lines next_byte read");

	stack->operations = 2000;
	stack->bytes = 1;
}

/* One that waits in a library that every program has. */
static void locked(struct simulation *simulation)
{
	uint32_t thread = simulation_thread(simulation, 0, 7, "main");

	simulation_stack(simulation, thread, LODE_SYNC_WAITING, 0.8,
			 "push libc.so.6!pthread_mutex_lock libc.so.6!__lll_lock_wait");
}

/* Hunts to the end; without `fill` in a program that does nothing. */
static void hunt(struct hunted *hunted, void (*fill)(struct simulation *simulation))
{
	struct lode_search_options options;
	struct lode_error error = { "" };
	int code;

	memset(hunted, 0, sizeof(*hunted));
	assert_int_equal(simulation_init(&hunted->simulation), 0);
	hunted->report.target = "process <7>";
	hunted->report.ascii = 1;
	if (fill)
		fill(&hunted->simulation);
	lode_search_options_default(&options);
	assert_int_equal(lode_hunt_archive_create(&hunted->keep, &hunted->simulation.meter, &error), 0);
	code = lode_search_create(&hunted->search, &hunted->simulation.meter, &options, note_line, hunted, &error);
	hunted->report.search = hunted->search;
	if (!code)
		lode_search_on_sample(hunted->search, lode_hunt_archive_sample, hunted->keep);
	while (!code)
		code = lode_search_step(hunted->search, &error);
	assert_int_equal(code, LODE_SEARCH_EXHAUSTED);
	assert_int_equal(lode_search_finish(hunted->search, LODE_SEARCH_EXHAUSTED, &error), 0);
}

static void release(struct hunted *hunted)
{
	lode_search_destroy(hunted->search);
	lode_hunt_archive_destroy(hunted->keep);
	lode_buffer_release(&hunted->lines);
	simulation_release(&hunted->simulation);
}

static yajl_val get(yajl_val value, const char *key, const char *below)
{
	const char *path[] = { key, below, NULL };

	return yajl_tree_get(value, path, yajl_t_any);
}

/* ---- JSON ---- */

/* Whether `text` is a line about a function in a state, with all fields of the contract. */
static int is_line_about(const char *text, const char *function, const char *state)
{
	static const char *const fields[] = { "t_ns",   "experiment", "parent", "hypothesis", "focus",
					      "origin", "state",      "value",  "threshold" };
	static const char *const axes[] = { "code", "process", "thread", "host" };
	yajl_val value = yajl_tree_parse(text, NULL, 0);
	const char *code, *now;
	int is_it;

	assert_non_null(value);
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
		assert_non_null(get(value, fields[i], NULL));
	for (size_t i = 0; i < sizeof(axes) / sizeof(*axes); i++)
		assert_non_null(get(value, "focus", axes[i]));
	code = YAJL_GET_STRING(get(value, "focus", "code"));
	now = YAJL_GET_STRING(get(value, "state", NULL));
	is_it = code && now && !strcmp(code, function) && !strcmp(now, state);
	yajl_tree_free(value);
	return is_it;
}

static void each_change_is_a_line_with_the_fields_of_the_contract(void **state)
{
	struct hunted hunted;
	int found = 0, lines = 0;
	char *rest, *line;

	(void)state;
	hunt(&hunted, busy);
	lode_buffer_byte(&hunted.lines, '\0');
	assert_false(hunted.lines.failed);
	for (rest = hunted.lines.bytes; (line = strsep(&rest, "\n")) && *line; lines++)
		found += is_line_about(line, "app!hot\"quote", "true");
	assert_true(found > 0 && lines > 10);
	release(&hunted);
}

/* The graph of the last line is that of the search: each experiment as it ended, and every edge. */
static void check_history(const struct hunted *hunted, yajl_val value)
{
	const struct lode_history *history = lode_search_history(hunted->search);

	assert_true(YAJL_IS_ARRAY(value));
	assert_int_equal(YAJL_GET_ARRAY(value)->len, history->count);
	for (uint32_t i = 0; i < history->count; i++) {
		yajl_val item = YAJL_GET_ARRAY(value)->values[i], parents = get(item, "parents", NULL);
		size_t edges = 0;

		assert_int_equal(YAJL_GET_INTEGER(get(item, "experiment", NULL)), i);
		assert_string_equal(YAJL_GET_STRING(get(item, "state", NULL)),
				    lode_experiment_state_name(history->experiments[i].state));
		for (uint32_t link = history->experiments[i].links; link != LODE_NONE;
		     link = history->links[link].next)
			assert_int_equal(YAJL_GET_INTEGER(YAJL_GET_ARRAY(parents)->values[edges++]),
					 history->links[link].parent);
		assert_int_equal(YAJL_GET_ARRAY(parents)->len, edges);
	}
}

static void the_last_line_sums_up(void **state)
{
	struct lode_buffer buffer = { 0 };
	struct hunted hunted;
	yajl_val value;

	(void)state;
	hunt(&hunted, busy);
	lode_hunt_summary(&hunted.report, &buffer);
	lode_buffer_byte(&buffer, '\0');
	value = yajl_tree_parse(buffer.bytes, NULL, 0);
	assert_non_null(value);
	assert_true(YAJL_IS_TRUE(get(value, "summary", NULL)));
	assert_int_equal(YAJL_GET_INTEGER(get(value, "experiments", NULL)),
			 lode_search_history(hunted.search)->count);
	assert_true(YAJL_GET_INTEGER(get(value, "states", "true")) >= 5);
	assert_true(YAJL_GET_ARRAY(get(value, "bottlenecks", NULL))->len >= 5);
	assert_true(YAJL_GET_DOUBLE(get(value, "weighted_sum", NULL)) < 0);
	check_history(&hunted, get(value, "history", NULL));
	yajl_tree_free(value);
	lode_buffer_release(&buffer);
	release(&hunted);
}

/* ---- text ---- */

static char *text_of(const struct hunted *hunted,
		     void (*write)(const struct lode_hunt_report *report, struct lode_buffer *buffer))
{
	struct lode_buffer buffer = { 0 };

	write(&hunted->report, &buffer);
	lode_buffer_byte(&buffer, '\0');
	assert_false(buffer.failed);
	return buffer.bytes;
}

static void the_text_names_the_most_specific_bottleneck_first_and_what_was_not_examined(void **state)
{
	struct hunted hunted;
	char *text;

	(void)state;
	hunt(&hunted, busy);
	text = text_of(&hunted, lode_hunt_text);
	assert_non_null(strstr(text, "  1. app!hot\"quote"));
	assert_non_null(
		strstr(text,
		       " uses the CPU 70.0% of the time (threshold 20.0%, confidence >99.99%), found after "));
	assert_non_null(strstr(text, " (found from samples)"));
	assert_non_null(strstr(text, "- app!cold 10.0% by samples"));
	assert_non_null(strstr(text,
			       "app!take in thread thread-1 waits for other threads 60.0% of the time (threshold "
			       "20.0%, confidence >99.99%; by samples: cannot be probed), found after "));
	assert_non_null(strstr(text, "cannot be probed: app!take at lock lock-4096 (waits for other threads, "
				     "in 100.0% of the samples, and 1 more of it)"));
	assert_non_null(strstr(text, "at lock lock-4096"));
	assert_non_null(strstr(text, "+ uses the CPU 80.0%\n"));
	lode_free(text);
	release(&hunted);
}

/* One thread that only waits, and nine that do something. */
static void many_threads(struct simulation *simulation)
{
	char name[16];

	simulation_stack(simulation, simulation_thread(simulation, 0, 7, "starved"), LODE_SYNC_WAITING, 1.0,
			 "push libc.so.6!pthread_mutex_lock");
	for (int i = 0; i < 9; i++) {
		snprintf(name, sizeof(name), "compute%d", i);
		simulation_stack(simulation, simulation_thread(simulation, 0, 7, name), LODE_CPU_BOUND,
				 0.3 + 0.05 * i, name);
	}
}

static void the_answer_has_ten_lines(void **state)
{
	struct hunted hunted;
	size_t lines = 0;
	char *text;

	(void)state;
	hunt(&hunted, many_threads);
	text = text_of(&hunted, lode_hunt_answer);
	for (const char *at = text; (at = strchr(at, '\n')); at++)
		lines++;
	assert_true(lines >= 5 && lines <= 10);
	assert_non_null(strstr(text, "  1. libc.so.6!pthread_mutex_lock"));
	assert_null(strstr(text, "by way of"));
	assert_non_null(strstr(text, "'--all' shows 3 more, "));
	lode_free(text);
	text = text_of(&hunted, lode_hunt_text);
	assert_non_null(strstr(text, "  1. libc.so.6!pthread_mutex_lock"));
	assert_non_null(strstr(text, " 10. app!compute0"));
	lode_free(text);
	release(&hunted);
}

/* One that spends much of its time in a library. */
static void in_a_library(struct simulation *simulation)
{
	uint32_t thread = simulation_thread(simulation, 0, 7, "main");

	simulation_stack(simulation, thread, LODE_CPU_BOUND, 0.3, "save");
	simulation_stack(simulation, thread, LODE_CPU_BOUND, 0.4, "save libz.so.1!deflate");
	simulation_stack(simulation, thread, LODE_CPU_BOUND, 0.2, "save libz.so.1!deflate libz.so.1!crc32");
	simulation->predicted[simulation_function(simulation, "libz.so.1!crc32")] = 0.42;
}

static void what_rests_on_samples_says_so_and_modules_stand_behind_functions(void **state)
{
	struct hunted hunted;
	char *text;

	(void)state;
	hunt(&hunted, in_a_library);
	text = text_of(&hunted, lode_hunt_text);
	assert_non_null(strstr(text, "  1. libz.so.1!deflate uses the CPU 60.0% of the time"));
	assert_non_null(strstr(text, "  2. module libz.so.1 by itself uses the CPU 60.0% of the time (threshold "
				     "20.0%, confidence >99.99%; by samples), found after "));
	assert_non_null(strstr(text, "+ module app 30.0% by samples"));
	lode_free(text);
	text = text_of(&hunted, lode_hunt_dot);
	assert_non_null(strstr(text, "label=\"module libz.so.1\\n60.0% by samples\""));
	lode_free(text);
	text = text_of(&hunted, lode_hunt_page_json);
	assert_non_null(
		strstr(text, "\"measured\":\"20.0% by samples\",\"value\":\"20.0%\",\"threshold\":\"20.0%\""));
	assert_non_null(strstr(text, "\"not_probed\":\"its probes would cost 42% of the program's time\""));
	lode_free(text);
	lode_buffer_byte(&hunted.lines, '\0');
	assert_non_null(strstr(hunted.lines.bytes, "\"code\":\"libz.so.1\""));
	assert_non_null(strstr(hunted.lines.bytes, "\"evidence\":\"samples\""));
	assert_non_null(strstr(hunted.lines.bytes, "\"evidence\":\"probes\""));
	assert_non_null(
		strstr(hunted.lines.bytes, "\"not_probed\":\"its probes would cost 42% of the program's time\""));
	release(&hunted);
}

static void waits_in_common_libraries_are_shown_with_their_callers(void **state)
{
	struct hunted hunted;
	char *text;

	(void)state;
	hunt(&hunted, locked);
	text = text_of(&hunted, lode_hunt_text);
	assert_non_null(
		strstr(text, "  1. libc.so.6!__lll_lock_wait, called from app!push, waits for other threads "));
	lode_free(text);
	release(&hunted);
	hunt(&hunted, busy);
	text = text_of(&hunted, lode_hunt_text);
	assert_null(strstr(text, "called from"));
	lode_free(text);
	release(&hunted);
}

static void small_operations_are_reported_once_at_their_caller(void **state)
{
	struct hunted hunted;
	const char *first;
	char *text;

	(void)state;
	hunt(&hunted, by_bytes);
	text = text_of(&hunted, lode_hunt_text);
	first = strstr(text, "  1. app!read");
	assert_non_null(first);
	assert_true(strstr(first, " moves only 1 bytes") < strchr(first, '\n'));
	assert_null(strstr(text, "  2. "));
	lode_free(text);
	release(&hunted);
}

static void nothing_found_is_said_so(void **state)
{
	struct hunted hunted;
	char *text;

	(void)state;
	hunt(&hunted, NULL);
	text = text_of(&hunted, lode_hunt_text);
	assert_non_null(strstr(text, "No bottleneck was found"));
	lode_free(text);
	text = text_of(&hunted, lode_hunt_page_json);
	assert_non_null(strstr(text, "\"sentences\":[]}"));
	lode_free(text);
	release(&hunted);
}

static void the_page_has_all_experiments_and_their_words(void **state)
{
	const char *experiments[] = { "experiments", NULL }, *words[] = { "words", NULL },
		   *sentences[] = { "sentences", NULL }, *bottlenecks[] = { "summary", "bottlenecks", NULL };
	struct hunted hunted;
	char message[200];
	yajl_val page;
	char *text;
	size_t count;

	(void)state;
	hunt(&hunted, busy);
	count = lode_search_history(hunted.search)->count;
	text = text_of(&hunted, lode_hunt_page_json);
	page = yajl_tree_parse(text, message, sizeof(message));
	assert_non_null(page);
	assert_int_equal(YAJL_GET_ARRAY(yajl_tree_get(page, experiments, yajl_t_array))->len, count);
	assert_int_equal(YAJL_GET_ARRAY(yajl_tree_get(page, words, yajl_t_array))->len, count);
	assert_true(YAJL_GET_ARRAY(yajl_tree_get(page, sentences, yajl_t_array))->len > 0);
	assert_int_equal(YAJL_GET_ARRAY(yajl_tree_get(page, sentences, yajl_t_array))->len,
			 YAJL_GET_ARRAY(yajl_tree_get(page, bottlenecks, yajl_t_array))->len);
	yajl_tree_free(page);
	lode_free(text);
	release(&hunted);
}

static void dot_escapes_names(void **state)
{
	struct hunted hunted;
	char *text;

	(void)state;
	hunt(&hunted, busy);
	text = text_of(&hunted, lode_hunt_dot);
	assert_non_null(strstr(text, "app!hot\\\"quote"));
	assert_non_null(strstr(text, " -> e"));
	lode_free(text);
	release(&hunted);
}

/* ---- the stream ---- */

static void samples_and_results_become_a_stream(void **state)
{
	struct hunted hunted;
	struct lode_stream *stream;
	struct lode_error error;
	double run = 0, wait = 0;

	(void)state;
	hunt(&hunted, busy);
	assert_int_equal(lode_hunt_archive_results(hunted.keep, hunted.search, &error), 0);
	assert_int_equal(lode_hunt_archive_count(hunted.keep), 1);
	stream = lode_hunt_archive_stream(hunted.keep, 0);
	for (size_t i = 0; i < stream->events[LODE_RUN].count; i++)
		run += (double)stream->events[LODE_RUN].cost[i];
	for (size_t i = 0; i < stream->events[LODE_WAIT].count; i++)
		wait += (double)stream->events[LODE_WAIT].cost[i];
	assert_true(fabs(run / (double)lode_search_lasted(hunted.search) - 0.8) < 1e-6);
	assert_true(fabs(wait / (double)lode_search_lasted(hunted.search) - 0.6) < 1e-6);
	assert_int_equal(stream->thread_count, 1); /* both are called 0 here, for their names begin with no number */
	assert_true(stream->events[LODE_CALL].count >= 5);
	assert_true(stream->attribute_count >= 3);
	release(&hunted);
}

/* ---- memory ---- */

static void memory_that_runs_out_in_a_report_is_remembered(void **state)
{
	void (*const writers[])(const struct lode_hunt_report *report, struct lode_buffer *buffer) = {
		lode_hunt_summary, lode_hunt_text, lode_hunt_answer, lode_hunt_dot, lode_hunt_page_json
	};
	struct hunted hunted;

	(void)state;
	hunt(&hunted, busy);
	for (size_t w = 0; w < sizeof(writers) / sizeof(*writers); w++)
		for (uint64_t nth = 1;; nth++) {
			struct lode_buffer buffer = { 0 };
			uint64_t asked;

			lode_memory_fail_at(nth, 0);
			writers[w](&hunted.report, &buffer);
			asked = lode_memory_asked();
			lode_memory_fail_at(0, 0);
			assert_int_equal(buffer.failed != 0, nth <= asked);
			lode_buffer_release(&buffer);
			if (nth > asked)
				break;
		}
	release(&hunted);
}

static void require_measured(enum lode_hypothesis hypothesis, double value, const char *expected)
{
	struct lode_experiment experiment = { .hypothesis = hypothesis, .value = value };
	struct lode_buffer buffer = { 0 };

	lode_hunt_measured(&experiment, &buffer);
	lode_buffer_byte(&buffer, '\0');
	assert_string_equal(buffer.bytes, expected);
	lode_buffer_release(&buffer);
}

static void more_than_all_of_the_time_says_of_what(void **state)
{
	(void)state;
	require_measured(LODE_IO_BLOCKING, 0.305, "30.5%");
	require_measured(LODE_IO_BLOCKING, 3.305, "330.5% of the time, summed over threads");
	require_measured(LODE_SMALL_IO, 330, "330 bytes");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_change_is_a_line_with_the_fields_of_the_contract),
		cmocka_unit_test(the_last_line_sums_up),
		cmocka_unit_test(the_text_names_the_most_specific_bottleneck_first_and_what_was_not_examined),
		cmocka_unit_test(the_answer_has_ten_lines),
		cmocka_unit_test(what_rests_on_samples_says_so_and_modules_stand_behind_functions),
		cmocka_unit_test(waits_in_common_libraries_are_shown_with_their_callers),
		cmocka_unit_test(small_operations_are_reported_once_at_their_caller),
		cmocka_unit_test(nothing_found_is_said_so),
		cmocka_unit_test(more_than_all_of_the_time_says_of_what),
		cmocka_unit_test(the_page_has_all_experiments_and_their_words),
		cmocka_unit_test(dot_escapes_names),
		cmocka_unit_test(samples_and_results_become_a_stream),
		cmocka_unit_test(memory_that_runs_out_in_a_report_is_remembered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
