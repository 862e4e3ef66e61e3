/* Chrome's trace events: slices, samples, V8's profiles, our own export. */
#include "import_fixture.h"
#include "round_trip.h"

#include "import/slices.h"

extern const struct lode_importer lode_importer_chrome;

/* ---- slices ---- */

static const char nested[] =
	"{\"traceEvents\":["
	"{\"ph\":\"M\",\"pid\":1,\"tid\":2,\"name\":\"thread_name\",\"args\":{\"name\":\"ui\"}},"
	"{\"ph\":\"B\",\"pid\":1,\"tid\":2,\"ts\":0,\"name\":\"a\"},"
	"{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":2.5,\"dur\":1.25,\"name\":\"b\"},"
	"{\"ph\":\"i\",\"pid\":1,\"tid\":2,\"ts\":3,\"name\":\"mark\",\"s\":\"t\"},"
	"{\"ph\":\"E\",\"pid\":1,\"tid\":2,\"ts\":10},"
	"{\"ph\":\"C\",\"pid\":1,\"tid\":2,\"ts\":4,\"name\":\"counter\",\"args\":{\"x\":1}}]}";

static void nested_slices_are_runs_of_their_stack(void **state)
{
	(void)state;
	assert_import(&lode_importer_chrome, nested, NULL,
		      "stream x \nthread 1/2 ui\nrun 0+2500 1/2 a\nrun 2500+500 1/2 a|b\nrun 3000+750 1/2 a|b\n"
		      "run 3750+6250 1/2 a\ncall 3000+0 1/2 name=mark a|b\n");
	assert_note(&lode_importer_chrome, nested, "other than time of a thread", 1);
	assert_note(&lode_importer_chrome, nested, "taken as run time", 1);
}

#define SLICE(phase, rest) "{\"ph\":\"" phase "\",\"pid\":0,\"tid\":0," rest "}"

/* Beginnings and ends in any order of the file; ends of another name; ends that are missing. */
static void ends_close_what_has_their_name(void **state)
{
	(void)state;
	assert_import(&lode_importer_chrome,
		      "[" SLICE("B", "\"name\":\"B\",\"ts\":1") "," SLICE("E", "\"name\":\"B\",\"ts\":9") "," SLICE(
			      "B", "\"name\":\"A\",\"ts\":0") "," SLICE("E", "\"name\":\"A\",\"ts\":10") "]",
		      NULL, "stream x \nrun 0+1000 0/0 A\nrun 1000+8000 0/0 A|B\nrun 9000+1000 0/0 A\n");
	assert_import(&lode_importer_chrome,
		      "[" SLICE("B", "\"name\":\"a\",\"ts\":0") "," SLICE("B", "\"name\":\"b\",\"ts\":1") "," SLICE(
			      "E", "\"name\":\"a\",\"ts\":9") "," SLICE("E", "\"name\":\"b\",\"ts\":10") "]",
		      NULL, "stream x \nrun 0+1000 0/0 a\nrun 1000+8000 0/0 a|b\n");
	assert_note(&lode_importer_chrome,
		    "[" SLICE("B", "\"name\":\"a\",\"ts\":0") "," SLICE("B", "\"name\":\"b\",\"ts\":1") "," SLICE(
			    "E", "\"name\":\"a\",\"ts\":9") "," SLICE("E", "\"name\":\"b\",\"ts\":10") "]",
		    "without having begun", 1);
	assert_import(&lode_importer_chrome,
		      "[" SLICE("B", "\"name\":\"a\",\"ts\":1") "," SLICE("X",
									  "\"name\":\"b\",\"ts\":2,\"dur\":5") "]",
		      NULL, "stream x \nrun 1000+1000 0/0 a\nrun 2000+5000 0/0 a|b\n");
}

/* Tracers that are killed leave no closing bracket, and perhaps half an event. */
static void a_trace_may_end_early(void **state)
{
	(void)state;
	assert_import(&lode_importer_chrome, "[\n" SLICE("X", "\"name\":\"a\",\"ts\":1,\"dur\":2") ",\n", NULL,
		      "stream x \nrun 1000+2000 0/0 a\n");
	assert_import(&lode_importer_chrome,
		      "{\"traceEvents\":[" SLICE(
			      "X",
			      "\"name\":\"a]\\\"\",\"ts\":1,\"dur\":2,\"args\":{\"x\":[1]}") ",{\"ph\":\"X\",\"na",
		      NULL, "stream x \nrun 1000+2000 0/0 a]\"\n");
	assert_note(&lode_importer_chrome, "[" SLICE("X", "\"name\":\"a\",\"ts\":1,\"dur\":2"), "without an end",
		    1);
	assert_bad(&lode_importer_chrome, "[{\"ph\":\"X\"", "cut off");
	assert_bad(&lode_importer_chrome, "{\"traceEvents\":[],\"x\":}", "not JSON");
}

static void ids_need_not_be_numbers(void **state)
{
	(void)state;
	assert_import(&lode_importer_chrome,
		      "[{\"ph\":\"X\",\"pid\":\"app\",\"tid\":\"main\",\"ts\":1,\"dur\":1,\"name\":\"a\"},"
		      "{\"ph\":\"X\",\"pid\":\"app\",\"tid\":140737353971520,\"ts\":1,\"dur\":1,\"name\":\"b\"},"
		      "{\"ph\":\"X\",\"ts\":1,\"dur\":1}]",
		      NULL,
		      "stream x \nthread 1/2 main\nthread 1/3 140737353971520\n"
		      "run 1000+1000 1/2 a\nrun 1000+1000 1/3 b\nrun 1000+1000 0 (unnamed)\n");
}

/* ---- symptoms ---- */

/* clang-format off */
static const char asynchronous[] =
	"[" SLICE("b", "\"cat\":\"c\",\"id\":\"0x1\",\"name\":\"load\",\"ts\":5") ","
	SLICE("b", "\"cat\":\"c\",\"id\":\"0x2\",\"name\":\"load\",\"ts\":6") ","
	SLICE("e", "\"cat\":\"c\",\"id\":\"0x1\",\"name\":\"load\",\"ts\":9") ","
	SLICE("e", "\"cat\":\"c\",\"id\":\"0x2\",\"name\":\"load\",\"ts\":8") ","
	SLICE("S", "\"cat\":\"c\",\"id\":3,\"name\":\"other\",\"ts\":8") ","
	SLICE("X", "\"name\":\"click\",\"ts\":4,\"dur\":6") "]";
/* clang-format on */

static void named_slices_are_symptoms(void **state)
{
	const char *const markers[] = { "lo?d", "click", NULL };
	struct lode_import_options options = { .jobs = 1, .symptom_markers = markers };

	(void)state;
	assert_import(
		&lode_importer_chrome, asynchronous, &options,
		"stream x \nrun 4000+6000 0/0 click\nsymptom 4000-10000 0/0 click\nsymptom 5000-9000 0/0 load\n"
		"symptom 6000-8000 0/0 load\n");
	assert_import(&lode_importer_chrome, asynchronous, NULL, "stream x \nrun 4000+6000 0/0 click\n");
	assert_note(&lode_importer_chrome, asynchronous, "asynchronous slices, left out", 3);
}

/* ---- samples ---- */

#define FRAMES                                                                                                    \
	"\"stackFrames\":{\"1\":{\"category\":\"/usr/lib/libc.so.6\",\"name\":\"read\",\"parent\":\"2\"},"        \
	"\"2\":{\"category\":\"app\",\"name\":\"main\"}}"

static const char samples[] =
	"{" FRAMES ",\"traceEvents\":["
	"{\"ph\":\"P\",\"pid\":1,\"tid\":2,\"ts\":10,\"name\":\"s\",\"sf\":1},"
	"{\"ph\":\"P\",\"pid\":1,\"tid\":2,\"ts\":12,\"name\":\"s\",\"sf\":\"2\",\"weight\":2},"
	"{\"ph\":\"P\",\"pid\":1,\"tid\":2,\"ts\":14,\"name\":\"s\",\"sf\":\"1\"},"
	"{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":9,\"dur\":9,\"name\":\"slice\"},"
	"{\"ph\":\"X\",\"pid\":1,\"tid\":3,\"ts\":9,\"dur\":9,\"name\":\"slice\"}],"
	"\"samples\":[{\"tid\":5,\"ts\":7,\"cpu\":3,\"sf\":9}]}";

/* Slices of a thread with samples would count its time twice. */
static void samples_stand_for_the_usual_gap(void **state)
{
	struct lode_import_options options = { .jobs = 1, .unit_ns = 100 };

	(void)state;
	assert_import(&lode_importer_chrome, samples, NULL,
		      "stream x \nmodule libc.so.6 library /usr/lib/libc.so.6 \nrun 7000+2000 5 cpu=3 \n"
		      "run 9000+9000 1/3 slice\nrun 10000+2000 1/2 app!main|libc.so.6!read\n"
		      "run 12000+4000 1/2 app!main\nrun 14000+2000 1/2 app!main|libc.so.6!read\n");
	assert_import(&lode_importer_chrome, samples, &options,
		      "stream x \nmodule libc.so.6 library /usr/lib/libc.so.6 \nrun 7000+100 5 cpu=3 \n"
		      "run 9000+9000 1/3 slice\nrun 10000+100 1/2 app!main|libc.so.6!read\n"
		      "run 12000+200 1/2 app!main\nrun 14000+100 1/2 app!main|libc.so.6!read\n");
	assert_note(&lode_importer_chrome, samples, "whose time is known from samples", 1);
	assert_note(&lode_importer_chrome, samples, "not in `stackFrames`", 1);
}

#define NODE(id, name) "{\"id\":" id ",\"callFrame\":{\"functionName\":\"" name "\",\"url\":\"\"}"
#define CHUNK                                                                                                     \
	"{\"ph\":\"P\",\"pid\":1,\"tid\":9,\"ts\":5,\"id\":\"0x1\",\"name\":\"ProfileChunk\",\"args\":{\"data\":"

static const char chunks[] =
	"[{\"ph\":\"P\",\"pid\":1,\"tid\":2,\"ts\":4,\"id\":\"0x1\",\"name\":\"Profile\",\"args\":{\"data\":{"
	"\"startTime\":100}}}," CHUNK "{\"cpuProfile\":{\"nodes\":[" NODE("1", "(root)") "}," NODE(
		"2", "f") ",\"parent\":1}],\"samples\":[2,2]},"
			  "\"timeDeltas\":[10,20]}}}," CHUNK
			  "{\"cpuProfile\":{\"nodes\":[" NODE("3", "g") ",\"parent\":2}," NODE(
				  "4",
				  "(idle)") ",\"parent\":1}],"
					    "\"samples\":[3,4,4,2],\"endTime\":300},\"timeDeltas\":[30,5,5,5]}}}]";

static void profiles_of_v8_come_in_chunks(void **state)
{
	(void)state;
	assert_import(&lode_importer_chrome, chunks, NULL,
		      "stream x \nrun 110000+20000 1/2 f\nrun 130000+30000 1/2 f\nrun 160000+5000 1/2 f|g\n"
		      "run 175000+125000 1/2 f\nwait 165000+10000 1/2 (idle)\n");
}

/* Text of ftrace is a separate stream. */
static void blocks_of_systrace_are_joined_into_waits(void **state)
{
	static const char text[] =
		"{\"traceEvents\":[{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":1,\"dur\":1,\"name\":\"a\"}],"
		"\"systemTraceEvents\":\""
		"# tracer: nop\\n#\\n"
		" app-11 [000] d..2 1.000001: sched_switch: prev_comm=app prev_pid=11 prev_prio=120 prev_state=S "
		"==> next_comm=swapper/0 next_pid=0 next_prio=120\\n"
		" b-12 [001] d..2 1.000003: sched_waking: comm=app pid=11 prio=120 target_cpu=000\\n"
		" <idle>-0 [000] d..2 1.000004: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 "
		"prev_state=R ==> next_comm=app next_pid=11 next_prio=120\\n"
		"\"}";
	struct imported imported;

	(void)state;
	import_bytes(&imported, &lode_importer_chrome, text, strlen(text), NULL);
	assert_string_equal(imported.code < 0 ? imported.error.text : "", "");
	assert_int_equal(imported.streams, 2);
	assert_non_null(strstr(imported.text.bytes, "run 1000+1000 1/2 a\n"));
	assert_non_null(strstr(imported.text.bytes, "wait 1000001000+2000 11 delay=1000 cpu=0 waker=12 \n"));
	release_imported(&imported);
}

/* ---- random slices beside a slow reading ---- */

#define SPAN  64
#define LANES 3

struct seen {
	char cells[LANES][SPAN][200]; /* the stack of each thread at each time */
};

static int take_cells(struct seen *seen, const struct lode_stream *stream)
{
	const struct lode_events *runs = &stream->events[LODE_RUN];

	for (size_t i = 0; i < runs->count; i++)
		for (uint64_t t = runs->t[i]; t < runs->t[i] + runs->cost[i]; t++) {
			struct lode_buffer text = { 0 };
			char *cell = seen->cells[stream->threads[runs->thread[i]].tid][t];

			describe_stack(&text, stream, runs->stack[i]);
			if (cell[0]) /* two events at one time */
				return -1;
			snprintf(cell, sizeof(seen->cells[0][0]), "%.*s", (int)text.size,
				 text.size ? text.bytes : "");
			lode_buffer_release(&text);
		}
	return 0;
}

/* Slices that nest, made from the outside in: what is expected comes with them. */
static void make_nested(struct lode_slices *slices, struct lode_stream *stream, struct seen *expected,
			uint64_t *seed, uint32_t lane, uint64_t t0, uint64_t t1, const char *above)
{
	char name[8], stack[190];
	uint64_t inner = t0;
	uint32_t frame, thread = lode_stream_thread(stream, 0, lane);
	int whole = (int)random_below(seed, 2);

	snprintf(name, sizeof(name), "f%u", (unsigned)random_below(seed, 4));
	snprintf(stack, sizeof(stack), "%s%s%s", above, above[0] ? "|" : "", name);
	frame = lode_frames_add(&stream->dictionary->frames, 0, name, strlen(name));
	for (uint64_t t = t0; t < t1; t++)
		snprintf(expected->cells[lane][t], sizeof(expected->cells[0][0]), "%s", stack);
	if (whole)
		assert_int_equal(lode_slices_add(slices, thread, t0, t1, frame), 0);
	else
		assert_int_equal(lode_slices_begin(slices, thread, t0, frame), 0);
	while (strlen(stack) < 150 && inner + 2 < t1 && random_below(seed, 4)) {
		uint64_t from = inner + 1 + random_below(seed, t1 - inner - 2);
		uint64_t until = from + 1 + random_below(seed, t1 - from - 1);

		make_nested(slices, stream, expected, seed, lane, from, until, stack);
		inner = until;
	}
	if (!whole)
		assert_int_equal(lode_slices_end(slices, thread, t1, random_below(seed, 2) ? frame : LODE_NONE), 0);
}

static void random_slices_tile_as_they_nest(void **state)
{
	uint64_t seed = 4711;

	(void)state;
	for (int round = 0; round < 3000; round++) {
		struct lode_import_options options = { 0 };
		struct seen expected = { { { { 0 } } } }, seen = { { { { 0 } } } };
		struct lode_slices slices = { 0 };
		struct whole whole;

		init_whole(&whole, "x");
		for (uint32_t lane = 0; lane < LANES; lane++)
			for (uint64_t t = random_below(&seed, 20); t + 2 < SPAN; t += 1 + random_below(&seed, 10)) {
				uint64_t until = t + 1 + random_below(&seed, SPAN - t - 1);

				make_nested(&slices, &whole.stream, &expected, &seed, lane, t, until, "");
				t = until;
			}
		for (size_t i = slices.count; i > 1; i--) { /* in any order */
			size_t other = random_below(&seed, i);
			struct lode_slice slice = slices.items[i - 1];

			slices.items[i - 1] = slices.items[other];
			slices.items[other] = slice;
		}
		assert_int_equal(lode_slices_finish(&slices, &whole.stream, NULL, &options), 0);
		assert_int_equal(take_cells(&seen, &whole.stream), 0);
		assert_memory_equal(&seen, &expected, sizeof(seen));
		lode_slices_release(&slices);
		release_whole(&whole);
	}
}

/* ---- our own ---- */

static void what_we_export_comes_back(void **state)
{
	uint64_t seed = 99;

	for (int round = 0; round < 60; round++) {
		struct whole whole;

		random_whole(&whole, &seed, 30);
		assert_comes_back(*state, "chrome", &whole);
		release_whole(&whole);
	}
}

/* ---- limits ---- */

static char *repeat(const char *text, size_t times)
{
	size_t length = strlen(text);
	char *all = malloc(length * times + 1);

	for (size_t i = 0; i < times; i++)
		memcpy(all + i * length, text, length);
	all[length * times] = '\0';
	return all;
}

static void depth_is_bounded(void **state)
{
	char *begins = repeat(SLICE("B", "\"name\":\"a\",\"ts\":1") ",", 100000);
	char *ends = repeat(SLICE("E", "\"name\":\"b\",\"ts\":2") ",", 100000);
	char *deep = repeat("[", 100000), *text = malloc(strlen(begins) + strlen(ends) + 200);

	(void)state;
	sprintf(text, "[%s%s%s]", begins, ends, SLICE("X", "\"name\":\"x\",\"ts\":3,\"dur\":1"));
	assert_note(&lode_importer_chrome, text, "deeper than 16384", 100001 - LODE_STACK_DEPTH_LIMIT);
	assert_bad(&lode_importer_chrome, deep, "too deep");
	free(begins);
	free(ends);
	free(deep);
	free(text);
}

static void what_traces_may_not_be(void **state)
{
	(void)state;
	assert_bad(&lode_importer_chrome, "{\"traceEvents\":[]}", "no events");
	assert_bad(&lode_importer_chrome, "{\"traceEvents\":7}", "no array `traceEvents`");
	assert_bad(&lode_importer_chrome,
		   "{\"stackFrames\":{\"1\":{\"name\":\"a\",\"parent\":2},\"2\":{\"name\":\"b\",\"parent\":1}},"
		   "\"traceEvents\":["
		   "{\"ph\":\"P\",\"ts\":1,\"sf\":1}]}",
		   "in a circle");
	assert_bad(&lode_importer_chrome,
		   "{\"stackFrames\":{\"1\":{},\"1\":{}},\"traceEvents\":[{\"ph\":\"P\",\"ts\":1}]}", "same id");
	assert_note(&lode_importer_chrome, "[{\"ph\":\"X\",\"ts\":-5,\"dur\":3},{\"ph\":\"X\",\"dur\":3}]",
		    "plausible time", 2);
}

static void damage_and_want_of_memory_are_survived(void **state)
{
	static const char *const texts[] = { nested, asynchronous, samples, chunks };

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		try_damaged(&lode_importer_chrome, texts[i], strlen(texts[i]), 2000);
		try_without_memory(&lode_importer_chrome, texts[i], strlen(texts[i]));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nested_slices_are_runs_of_their_stack),
		cmocka_unit_test(ends_close_what_has_their_name),
		cmocka_unit_test(a_trace_may_end_early),
		cmocka_unit_test(ids_need_not_be_numbers),
		cmocka_unit_test(named_slices_are_symptoms),
		cmocka_unit_test(samples_stand_for_the_usual_gap),
		cmocka_unit_test(profiles_of_v8_come_in_chunks),
		cmocka_unit_test(blocks_of_systrace_are_joined_into_waits),
		cmocka_unit_test(random_slices_tile_as_they_nest),
		cmocka_unit_test_setup_teardown(what_we_export_comes_back, set_up, tear_down),
		cmocka_unit_test(depth_is_bounded),
		cmocka_unit_test(what_traces_may_not_be),
		cmocka_unit_test(damage_and_want_of_memory_are_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
