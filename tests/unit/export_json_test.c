/*
 * Exports as JSON for other tools: each is read back by an independent parser,
 * has the fields that the tool demands, numbers that stay within their tables,
 * and weights that add up to the costs of the stream.
 */
#include "export_fixture.h"
#include "json_tree.h"

/* A number exactly, in units of 10^-decimals: `12.345000` with 6 is 12345000. */
static uint64_t exact(yajl_val value, unsigned decimals)
{
	const char *text;
	uint64_t number = 0;
	int behind = -1;

	assert_true(YAJL_IS_NUMBER(value));
	for (text = YAJL_GET_NUMBER(value); *text; text++) {
		if (*text == '.') {
			behind = 0;
			continue;
		}
		assert_true(*text >= '0' && *text <= '9');
		number = number * 10 + (uint64_t)(*text - '0');
		behind += behind >= 0;
	}
	assert_true(behind < 0 ? decimals == 0 || number == 0 : behind == (int)decimals);
	return number;
}

static uint64_t number_at(yajl_val object, const char *key)
{
	return exact(get(object, key), 0);
}

/* An index that is null or stays below `limit`. */
static void assert_index(yajl_val value, uint64_t limit, int may_be_null)
{
	if (may_be_null && YAJL_IS_NULL(value))
		return;
	assert_true(exact(value, 0) < limit);
}

/* The streams that every format is tried on: of all sorts, then two at once. */
static size_t next_streams(struct fixture *fixture, int round, struct whole *wholes, uint64_t *seed)
{
	size_t count = round % 4 == 3 ? 2 : 1;

	next_corpus(fixture);
	for (size_t i = 0; i < count; i++) {
		if (round == 0)
			odd_whole(&wholes[i]);
		else
			random_whole(&wholes[i], seed, round == 5 ? 3000 : 40);
		add_stream(fixture, &wholes[i]);
	}
	return count;
}

static uint64_t sum_all(const struct whole *wholes, size_t count, enum lode_event_type type)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += sum_costs(&wholes[i], type);
	return sum;
}

#define ROUNDS 12

/* ---- speedscope ---- */

static uint64_t check_speedscope_profile(yajl_val profile, size_t frames)
{
	yajl_val samples = get(profile, "samples"), weights = get(profile, "weights");
	uint64_t sum = 0;

	assert_string_equal(text_at(profile, "type"), "sampled");
	assert_string_equal(text_at(profile, "unit"), "nanoseconds");
	assert_int_equal(length_of(samples), length_of(weights));
	assert_true(length_of(samples) > 0);
	for (size_t i = 0; i < length_of(samples); i++) {
		for (size_t at = 0; at < length_of(item(samples, i)); at++)
			assert_index(item(item(samples, i), at), frames, 0);
		sum += exact(item(weights, i), 0);
	}
	assert_int_equal(number_at(profile, "startValue"), 0);
	assert_true(number_at(profile, "endValue") == sum);
	return sum;
}

static void speedscope_has_a_profile_for_each_thread_running_and_waiting(void **state)
{
	struct fixture *fixture = *state;
	uint64_t seed = 3;

	for (int round = 0; round < ROUNDS; round++) {
		struct whole wholes[2];
		size_t count = next_streams(fixture, round, wholes, &seed);
		char *text = export_text(fixture, "speedscope", NULL);
		yajl_val tree = parse(text), profiles = get(tree, "profiles");
		size_t frames = length_of(get(get(tree, "shared"), "frames"));
		uint64_t sums[2] = { 0 };

		assert_string_equal(text_at(tree, "$schema"),
				    "https://www.speedscope.app/file-format-schema.json");
		for (size_t i = 0; i < frames; i++)
			text_at(item(get(get(tree, "shared"), "frames"), i), "name");
		for (size_t i = 0; i < length_of(profiles); i++) {
			const char *name = text_at(item(profiles, i), "name");

			sums[strstr(name, ", waiting") != NULL] +=
				check_speedscope_profile(item(profiles, i), frames);
		}
		assert_true(number_at(tree, "activeProfileIndex") <= length_of(profiles));
		assert_true(sums[0] == sum_all(wholes, count, LODE_RUN));
		assert_true(sums[1] == sum_all(wholes, count, LODE_WAIT));
		yajl_tree_free(tree);
		free(text);
		while (count)
			release_whole(&wholes[--count]);
	}
}

static void a_speedscope_sample_names_its_frames_from_the_root(void **state)
{
	struct fixture *fixture = *state;
	struct whole whole;
	yajl_val tree, profile, sample, frames;
	char *text;

	init_whole(&whole, "s");
	add_event(&whole, LODE_RUN, 1, 10, 4, 5, "app!main|app!load|libc.so.6!read");
	whole.stream.threads[0].name = string_id(&whole, "worker");
	add_stream(fixture, &whole);
	text = export_text(fixture, "speedscope", NULL);
	tree = parse(text);
	profile = item(get(tree, "profiles"), 0);
	assert_string_equal(text_at(profile, "name"), "worker (5), running");
	sample = item(get(profile, "samples"), 0);
	frames = get(get(tree, "shared"), "frames");
	assert_int_equal(length_of(sample), 3);
	assert_string_equal(text_at(item(frames, exact(item(sample, 0), 0)), "name"), "main");
	assert_string_equal(text_at(item(frames, exact(item(sample, 2), 0)), "name"), "read");
	assert_string_equal(text_at(item(frames, exact(item(sample, 2), 0)), "file"), "libc.so.6");
	yajl_tree_free(tree);
	free(text);
	release_whole(&whole);
}

/* ---- the Firefox Profiler ---- */

static void assert_columns(yajl_val table, const char *const *keys)
{
	uint64_t length = number_at(table, "length");

	for (; *keys; keys++)
		assert_int_equal(length_of(get(table, *keys)), length);
}

static void check_firefox_tables(yajl_val thread, uint64_t strings, uint64_t libraries, uint64_t categories)
{
	static const char *const stack_keys[] = { "frame", "prefix", NULL };
	static const char *const frame_keys[] = {
		"address",      "inlineDepth",   "category", "subcategory", "func",
		"nativeSymbol", "innerWindowID", "line",     "column",      NULL
	};
	static const char *const function_keys[] = { "name",     "isJS",       "relevantForJS", "resource",
						     "fileName", "lineNumber", "columnNumber",  NULL };
	static const char *const resource_keys[] = { "lib", "name", "host", "type", NULL };
	static const char *const symbol_keys[] = { "libIndex", "address", "name", "functionSize", NULL };
	yajl_val stacks = get(thread, "stackTable"), frames = get(thread, "frameTable");
	yajl_val functions = get(thread, "funcTable"), resources = get(thread, "resourceTable");

	assert_columns(stacks, stack_keys);
	assert_columns(frames, frame_keys);
	assert_columns(functions, function_keys);
	assert_columns(resources, resource_keys);
	assert_columns(get(thread, "nativeSymbols"), symbol_keys);
	for (size_t i = 0; i < number_at(stacks, "length"); i++) {
		assert_index(item(get(stacks, "frame"), i), number_at(frames, "length"), 0);
		assert_index(item(get(stacks, "prefix"), i), i, 1); /* parents come first */
	}
	for (size_t i = 0; i < number_at(frames, "length"); i++) {
		assert_index(item(get(frames, "func"), i), number_at(functions, "length"), 0);
		assert_index(item(get(frames, "category"), i), categories, 0);
	}
	for (size_t i = 0; i < number_at(functions, "length"); i++) {
		yajl_val resource = item(get(functions, "resource"), i);

		assert_index(item(get(functions, "name"), i), strings, 0);
		if (strcmp(YAJL_GET_NUMBER(resource), "-1") != 0)
			assert_index(resource, number_at(resources, "length"), 0);
	}
	for (size_t i = 0; i < number_at(resources, "length"); i++) {
		assert_index(item(get(resources, "lib"), i), libraries, 0);
		assert_index(item(get(resources, "name"), i), strings, 0);
	}
}

static uint64_t check_firefox_samples(yajl_val thread)
{
	static const char *const keys[] = { "stack", "time", "weight", NULL };
	yajl_val samples = get(thread, "samples");
	uint64_t stacks = number_at(get(thread, "stackTable"), "length"), sum = 0, last = 0;

	assert_columns(samples, keys);
	assert_string_equal(text_at(samples, "weightType"), "tracing-ms");
	for (size_t i = 0; i < number_at(samples, "length"); i++) {
		uint64_t t = exact(item(get(samples, "time"), i), 6);

		assert_index(item(get(samples, "stack"), i), stacks, 1);
		assert_true(t >= last);
		last = t;
		sum += exact(item(get(samples, "weight"), i), 6);
	}
	return sum;
}

static void check_firefox_markers(yajl_val thread, uint64_t strings, uint64_t categories, uint64_t *counts,
				  uint64_t *wait_sum)
{
	static const char *const keys[] = { "data", "name", "startTime", "endTime", "phase", "category", NULL };
	yajl_val markers = get(thread, "markers");
	uint64_t stacks = number_at(get(thread, "stackTable"), "length");

	assert_columns(markers, keys);
	for (size_t i = 0; i < number_at(markers, "length"); i++) {
		yajl_val data = item(get(markers, "data"), i), end = item(get(markers, "endTime"), i);
		const char *cause[] = { "cause", "stack", NULL };
		const char *type = text_at(data, "type");
		yajl_val stack = yajl_tree_get(data, cause, yajl_t_any);
		uint64_t start = exact(item(get(markers, "startTime"), i), 6);

		if (stack)
			assert_index(stack, stacks, 0);
		assert_index(item(get(markers, "name"), i), strings, 0);
		assert_index(item(get(markers, "category"), i), categories, 0);
		assert_int_equal(exact(item(get(markers, "phase"), i), 0), YAJL_IS_NULL(end) ? 0 : 1);
		counts[type[0] == 'W' ? 0 : type[0] == 'C' ? 1 : 2]++;
		if (type[0] == 'W' && !YAJL_IS_NULL(end))
			*wait_sum += exact(end, 6) - start;
	}
}

static void firefox_has_all_its_tables_and_every_index_stays_inside(void **state)
{
	struct fixture *fixture = *state;
	uint64_t seed = 4;

	for (int round = 0; round < ROUNDS; round++) {
		struct whole wholes[2];
		size_t count = next_streams(fixture, round, wholes, &seed);
		char *text = export_text(fixture, "firefox", NULL);
		yajl_val tree = parse(text), threads = get(tree, "threads"), meta = get(tree, "meta");
		uint64_t strings = length_of(get(get(tree, "shared"), "stringArray"));
		uint64_t libraries = length_of(get(tree, "libs")), categories = length_of(get(meta, "categories"));
		uint64_t sums[2] = { 0 }, counts[3] = { 0 }, wait_sum = 0, wanted[3] = { 0 };

		assert_int_equal(number_at(meta, "preprocessedProfileVersion"), 57);
		assert_string_equal(text_at(item(get(meta, "categories"), 0), "color"), "grey");
		for (size_t i = 0; i < length_of(threads); i++) {
			yajl_val thread = item(threads, i);
			int waiting = strstr(text_at(thread, "name"), ", waiting") != NULL;

			text_at(thread, "pid");
			get(thread, "tid");
			get(thread, "isMainThread");
			check_firefox_tables(thread, strings, libraries, categories);
			sums[waiting] += check_firefox_samples(thread);
			check_firefox_markers(thread, strings, categories, counts, &wait_sum);
		}
		for (size_t i = 0; i < count; i++) {
			wanted[0] += wholes[i].stream.events[LODE_WAIT].count;
			wanted[1] += wholes[i].stream.events[LODE_CALL].count;
			wanted[2] += wholes[i].stream.symptom_count;
		}
		assert_memory_equal(counts, wanted, sizeof(counts));
		assert_true(sums[0] == sum_all(wholes, count, LODE_RUN));
		assert_true(sums[1] == sum_all(wholes, count, LODE_WAIT));
		assert_true(wait_sum == sum_all(wholes, count, LODE_WAIT));
		yajl_tree_free(tree);
		free(text);
		while (count)
			release_whole(&wholes[--count]);
	}
}

/* The text of a sample's stack, followed through all tables to the strings. */
static void assert_firefox_stack(yajl_val tree, yajl_val thread, size_t sample, const char *wanted)
{
	yajl_val strings = get(get(tree, "shared"), "stringArray");
	yajl_val at = item(get(get(thread, "samples"), "stack"), sample);
	char text[256] = "";

	while (!YAJL_IS_NULL(at)) {
		size_t stack = exact(at, 0);
		size_t frame = exact(item(get(get(thread, "stackTable"), "frame"), stack), 0);
		size_t function = exact(item(get(get(thread, "frameTable"), "func"), frame), 0);
		size_t name = exact(item(get(get(thread, "funcTable"), "name"), function), 0);
		char rest[256];

		memcpy(rest, text, sizeof(text));
		assert_true((size_t)snprintf(text, sizeof(text), "%s|%s", YAJL_GET_STRING(item(strings, name)),
					     rest) < sizeof(text));
		at = item(get(get(thread, "stackTable"), "prefix"), stack);
	}
	assert_string_equal(text, wanted);
}

static void a_firefox_sample_leads_to_its_functions(void **state)
{
	struct fixture *fixture = *state;
	struct whole whole;
	yajl_val tree, thread;
	char *text;

	init_whole(&whole, "s");
	add_event(&whole, LODE_RUN, 1000000, 10, 4, 5, "app!main|app!load|libc.so.6!read");
	add_event(&whole, LODE_RUN, 3500000, 10, 4, 5, "app!main|app!idle");
	add_event(&whole, LODE_WAIT, 4000000, 250000, 4, 6, "kernel!schedule");
	add_stream(fixture, &whole);
	text = export_text(fixture, "firefox", NULL);
	tree = parse(text);
	assert_int_equal(length_of(get(tree, "threads")), 3);
	thread = item(get(tree, "threads"), 0);
	assert_firefox_stack(tree, thread, 0, "main|load|read|");
	assert_firefox_stack(tree, thread, 1, "main|idle|");
	assert_string_equal(YAJL_GET_NUMBER(item(get(get(thread, "samples"), "time"), 1)), "2.500000");
	assert_firefox_stack(tree, item(get(tree, "threads"), 2), 0, "schedule|");
	assert_string_equal(text_at(item(get(tree, "threads"), 2), "name"), "thread 6, waiting");
	yajl_tree_free(tree);
	free(text);
	release_whole(&whole);
}

/* ---- trace events ---- */

struct chrome_sums {
	uint64_t runs, run_cost, waits, wait_cost, calls, begins, ends;
};

static void add_chrome_event(yajl_val event, yajl_val frames, struct chrome_sums *sums)
{
	const char *phase = text_at(event, "ph"), *category = text_at(event, "cat");
	const char *path[] = { "sf", NULL };
	yajl_val stack = yajl_tree_get(event, path, yajl_t_any);

	text_at(event, "name");
	assert_true(number_at(event, "pid") <= INT32_MAX);
	get(event, "tid");
	exact(get(event, "ts"), 3);
	if (stack)
		get(frames, YAJL_GET_STRING(stack));
	if (strcmp(category, "run") == 0) {
		assert_string_equal(phase, "X");
		sums->runs++;
		sums->run_cost += number_at(get(event, "args"), "weight_ns");
		assert_true(exact(get(event, "dur"), 3) <= number_at(get(event, "args"), "weight_ns"));
	} else if (strcmp(category, "wait") == 0) {
		sums->waits++;
		sums->wait_cost += exact(get(event, "dur"), 3);
	} else if (strcmp(category, "call") == 0) {
		sums->calls++;
	}
	sums->begins += phase[0] == 'b';
	sums->ends += phase[0] == 'e';
}

static void trace_events_add_up_and_their_stacks_are_there(void **state)
{
	struct fixture *fixture = *state;
	uint64_t seed = 5;

	for (int round = 0; round < ROUNDS; round++) {
		struct whole wholes[2];
		size_t count = next_streams(fixture, round, wholes, &seed), symptoms = 0, calls = 0;
		char *text = export_text(fixture, "chrome", NULL);
		yajl_val tree = parse(text), events = get(tree, "traceEvents"), frames = get(tree, "stackFrames");
		struct chrome_sums sums = { 0 };

		/* One look-up in an object takes as long as the object, so the long round is left to the
		 * sums. */
		for (size_t i = 0; i < length_of(events) && (round != 5 || i < 500); i++)
			add_chrome_event(item(events, i), frames, &sums);
		for (size_t i = 0; i < YAJL_GET_OBJECT(frames)->len; i++) {
			const char *path[] = { "parent", NULL };
			yajl_val parent = yajl_tree_get(YAJL_GET_OBJECT(frames)->values[i], path, yajl_t_any);

			text_at(YAJL_GET_OBJECT(frames)->values[i], "name");
			if (parent && YAJL_IS_STRING(parent))
				assert_true(strtoull(parent->u.string, NULL, 10) <
					    strtoull(YAJL_GET_OBJECT(frames)->keys[i], NULL, 10));
		}
		for (size_t i = 0; i < count; i++) {
			symptoms += wholes[i].stream.symptom_count;
			calls += wholes[i].stream.events[LODE_CALL].count;
		}
		if (round != 5) {
			assert_true(sums.run_cost == sum_all(wholes, count, LODE_RUN));
			assert_true(sums.wait_cost == sum_all(wholes, count, LODE_WAIT));
			assert_int_equal(sums.calls, calls);
			assert_int_equal(sums.begins, symptoms);
			assert_int_equal(sums.ends, symptoms);
		}
		yajl_tree_free(tree);
		free(text);
		while (count)
			release_whole(&wholes[--count]);
	}
}

static void trace_events_name_processes_and_threads(void **state)
{
	struct fixture *fixture = *state;
	struct whole whole;
	char *text;

	init_whole(&whole, "s");
	add_event(&whole, LODE_WAIT, 1500, 2250, 4, 5, "app!main|app!lock");
	add_event(&whole, LODE_WAIT, 1500, 2250, 4, 4, "app!main");
	whole.stream.threads[0].name = string_id(&whole, "worker");
	whole.stream.threads[1].name = string_id(&whole, "browser");
	add_stream(fixture, &whole);
	text = export_text(fixture, "chrome", NULL);
	assert_non_null(strstr(text, "\"name\":\"process_name\",\"pid\":4,\"tid\":4,\"ts\":0.000,\"args\":{"
				     "\"name\":\"browser\"}"));
	assert_non_null(strstr(
		text, "\"name\":\"thread_name\",\"pid\":4,\"tid\":5,\"ts\":0.000,\"args\":{\"name\":\"worker\"}"));
	assert_non_null(strstr(text,
			       "{\"ph\":\"X\",\"cat\":\"wait\",\"name\":\"lock\",\"pid\":4,\"tid\":5,\"ts\":0.000,"
			       "\"dur\":2.250,\"sf\":\"2\",\"args\":{\"stack\":\"app!main;app!lock\"}}"));
	free(text);
	release_whole(&whole);
}

static void slices_of_a_thread_do_not_overlap(void **state)
{
	struct fixture *fixture = *state;
	struct whole whole;
	char *text;

	init_whole(&whole, "s");
	add_event(&whole, LODE_RUN, 1000000, 1000, 4, 5, "app!main|app!work"); /* the next one begins earlier */
	add_event(&whole, LODE_RUN, 1000700, 1000, 4, 5, "app!main");
	add_event(&whole, LODE_WAIT, 1001200, 2250, 4, 5, "app!main|app!lock");
	add_event(&whole, LODE_RUN, 1000100, 1000, 4, 6, "app!main");
	add_event(&whole, LODE_RUN, 1000100, 1000, 4, 7, "app!main");
	add_event(&whole, LODE_CALL, 1000400, 0, 4, 7, "app!main"); /* a preemption is a slice too */
	whole.stream.events[LODE_CALL].delay[0] = 300;
	add_stream(fixture, &whole);
	text = export_text(fixture, "chrome", NULL);
	assert_non_null(strstr(text, "\"name\":\"main\",\"pid\":4,\"tid\":7,\"ts\":0.100,\"dur\":0.300,"));
	assert_non_null(strstr(text, "\"name\":\"work\",\"pid\":4,\"tid\":5,\"ts\":0.000,\"dur\":0.700,"));
	assert_non_null(strstr(text, "\"name\":\"main\",\"pid\":4,\"tid\":5,\"ts\":0.700,\"dur\":0.500,"));
	assert_non_null(strstr(text, "\"name\":\"main\",\"pid\":4,\"tid\":6,\"ts\":0.100,\"dur\":1.000,"));
	assert_non_null(strstr(text, "\"weight_ns\":1000"));
	free(text);
	release_whole(&whole);
}

/* ---- all ---- */

static void plain_events_are_json_whatever_the_texts_hold(void **state)
{
	struct fixture *fixture = *state;
	struct whole whole;
	char *text, *line, *end;
	size_t lines = 0;

	odd_whole(&whole);
	add_stream(fixture, &whole);
	text = export_text(fixture, "events", NULL);
	for (line = text; *line; line = end + 1, lines++) {
		end = strchr(line, '\n');
		assert_non_null(end);
		*end = '\0';
		yajl_tree_free(parse(line));
	}
	assert_true(lines > 40);
	free(text);
	release_whole(&whole);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
		TEST(speedscope_has_a_profile_for_each_thread_running_and_waiting),
		TEST(a_speedscope_sample_names_its_frames_from_the_root),
		TEST(firefox_has_all_its_tables_and_every_index_stays_inside),
		TEST(a_firefox_sample_leads_to_its_functions),
		TEST(trace_events_add_up_and_their_stacks_are_there),
		TEST(trace_events_name_processes_and_threads),
		TEST(slices_of_a_thread_do_not_overlap),
		TEST(plain_events_are_json_whatever_the_texts_hold),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
