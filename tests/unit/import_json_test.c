/* Importers of JSON profiles: speedscope, Firefox Profiler, V8's CPU profiles. */
#include "import_fixture.h"

#include "import/json_profile.h"

#include <string.h>

extern const struct lode_importer lode_importer_cpuprofile;
extern const struct lode_importer lode_importer_firefox;
extern const struct lode_importer lode_importer_speedscope;

#define SCHEMA "\"$schema\":\"https://www.speedscope.app/file-format-schema.json\""
#define FRAMES                                                                                                    \
	"\"shared\":{\"frames\":[{\"name\":\"main\",\"file\":\"/src/"                                             \
	"app.c\"},{\"name\":\"load\"},{\"name\":\"read\"}]}"

/* ---- speedscope ---- */

static const char sampled[] =
	"{" SCHEMA "," FRAMES ",\"profiles\":[{\"type\":\"sampled\",\"name\":\"ui\","
	"\"unit\":\"microseconds\",\"startValue\":2,\"endValue\":9,\"samples\":[[0],[0,1,2],[],[0]],"
	"\"weights\":[1,0.5,3,0]}]}";

static void sampled_profiles_tile_their_time(void **state)
{
	(void)state;
	assert_import(&lode_importer_speedscope, sampled, NULL,
		      "stream x \nthread 1 ui\nmodule app.c user /src/app.c \n"
		      "run 2000+1000 1 app.c!main\nrun 3000+500 1 app.c!main|load|read\nrun 3500+3000 1 \nrun "
		      "6500+0 1 app.c!main\n");
}

static const char evented[] = "{" SCHEMA "," FRAMES ",\"profiles\":[{\"type\":\"evented\",\"name\":\"\","
			      "\"unit\":\"nanoseconds\",\"startValue\":0,\"endValue\":30,\"events\":["
			      "{\"type\":\"O\",\"frame\":0,\"at\":1},{\"type\":\"O\",\"frame\":1,\"at\":4},"
			      "{\"type\":\"C\",\"frame\":1,\"at\":9},{\"type\":\"C\",\"frame\":0,\"at\":9},"
			      "{\"type\":\"O\",\"frame\":2,\"at\":20}]}]}";

static void evented_profiles_are_runs_between_their_events(void **state)
{
	(void)state;
	assert_import(&lode_importer_speedscope, evented, NULL,
		      "stream x \nmodule app.c user /src/app.c \n"
		      "run 1+3 1 app.c!main\nrun 4+5 1 app.c!main|load\nrun 20+10 1 read\n");
	assert_note(&lode_importer_speedscope, evented, "never closed", 1);
}

/* 100,000 frames that are opened and never closed, and as many that are closed and never opened. */
static void frames_that_nobody_closes_take_linear_time(void **state)
{
	struct lode_buffer text = { 0 };

	(void)state;
	lode_buffer_text(&text,
			 "{" SCHEMA "," FRAMES
			 ",\"profiles\":[{\"type\":\"evented\",\"name\":\"\",\"unit\":\"nanoseconds\","
			 "\"startValue\":0,\"endValue\":30,\"events\":[{\"type\":\"O\",\"frame\":0,\"at\":1}");
	for (int i = 1; i < 200000; i++)
		lode_buffer_print(&text, ",{\"type\":\"%c\",\"frame\":%d,\"at\":1}", i < 100000 ? 'O' : 'C',
				  i < 100000 ? 0 : 1);
	lode_buffer_text(&text, "]}]}");
	lode_buffer_byte(&text, '\0');
	assert_note(&lode_importer_speedscope, text.bytes, "never closed", 100000);
	lode_buffer_release(&text);
}

static void what_speedscope_files_may_not_be(void **state)
{
	(void)state;
	assert_bad(&lode_importer_speedscope, "{\"profiles\":[]}", "shared.frames");
	assert_bad(&lode_importer_speedscope, "{" FRAMES ",\"profiles\":[]}", "no profiles");
	assert_bad(&lode_importer_speedscope,
		   "{" FRAMES
		   ",\"profiles\":[{\"type\":\"sampled\",\"unit\":\"bytes\",\"samples\":[[0]],\"weights\":[1]}]}",
		   "count bytes");
	assert_bad(
		&lode_importer_speedscope,
		"{" FRAMES
		",\"profiles\":[{\"type\":\"sampled\",\"unit\":\"seconds\",\"samples\":[[3]],\"weights\":[1]}]}",
		"profile 1: a stack names a frame that is not in");
	assert_bad(&lode_importer_speedscope,
		   "{" FRAMES
		   ",\"profiles\":[{\"type\":\"sampled\",\"unit\":\"seconds\",\"samples\":[[0]],\"weights\":[]}]}",
		   "fewer weights");
	assert_bad(
		&lode_importer_speedscope,
		"{" FRAMES
		",\"profiles\":[{\"type\":\"sampled\",\"unit\":\"seconds\",\"samples\":[[0]],\"weights\":[-1]}]}",
		"below 0");
	assert_bad(&lode_importer_speedscope,
		   "{" FRAMES ",\"profiles\":[{\"type\":\"evented\",\"unit\":\"seconds\",\"events\":["
		   "{\"type\":\"O\",\"frame\":0,\"at\":2},{\"type\":\"C\",\"frame\":0,\"at\":1}]}]}",
		   "not in order");
}

/* ---- V8 ---- */

static const char cpuprofile[] =
	"{\"nodes\":[{\"id\":1,\"callFrame\":{\"functionName\":\"(root)\",\"url\":\"\"},\"children\":[2,4]},"
	"{\"id\":2,\"callFrame\":{\"functionName\":\"\",\"url\":\"file:///srv/app.js?x=1\"},\"children\":[3]},"
	"{\"id\":3,\"callFrame\":{\"functionName\":\"work\",\"url\":\"file:///srv/lib/"
	"work.js\",\"lineNumber\":3},\"children\":[5]},"
	"{\"id\":4,\"callFrame\":{\"functionName\":\"(idle)\",\"url\":\"\",\"lineNumber\":-1}},"
	"{\"id\":5,\"callFrame\":{\"functionName\":\"\",\"url\":\"node:internal/timers\",\"lineNumber\":6}}],"
	"\"startTime\":1000,\"endTime\":1100,\"samples\":[2,3,4,5],\"timeDeltas\":[10,20,30,15]}";

static void a_sample_of_v8_lasts_until_the_next(void **state)
{
	(void)state;
	assert_import(&lode_importer_cpuprofile, cpuprofile, NULL,
		      "stream x \n"
		      "run 10000+20000 0 app.js!(anonymous)\n"
		      "run 30000+30000 0 app.js!(anonymous)|work.js!work\n"
		      "run 75000+25000 0 app.js!(anonymous)|work.js!work|node:internal/timers!(anonymous):7\n"
		      "wait 60000+15000 0 (idle)\n");
}

/* 100 us in four hits: 25 us each, and 40 us where the command line says so. */
static void hits_without_samples_share_the_time(void **state)
{
	static const char hits[] =
		"{\"nodes\":[{\"id\":1,\"callFrame\":{\"functionName\":\"(root)\"},\"hitCount\":0,\"children\":[2]"
		"},"
		"{\"id\":2,\"callFrame\":{\"functionName\":\"a\"},\"hitCount\":3,\"children\":[3]},"
		"{\"id\":3,\"callFrame\":{\"functionName\":\"(idle)\"},\"hitCount\":1}],"
		"\"startTime\":1000,\"endTime\":1100}";
	struct lode_import_options options = { .jobs = 1, .unit_ns = 40000 };

	(void)state;
	assert_import(&lode_importer_cpuprofile, hits, NULL,
		      "stream x \nrun 0+75000 0 a\nwait 75000+25000 0 a|(idle)\n");
	assert_import(&lode_importer_cpuprofile, hits, &options,
		      "stream x \nrun 0+120000 0 a\nwait 120000+40000 0 a|(idle)\n");
	assert_note(&lode_importer_cpuprofile, hits, "hits without a list of samples", 4);
}

static void what_cpu_profiles_may_not_be(void **state)
{
	(void)state;
	assert_bad(&lode_importer_cpuprofile, "{\"head\":{\"callFrame\":{},\"selfSize\":0}}", "profile of memory");
	assert_bad(&lode_importer_cpuprofile, "{\"head\":{}}", "version 57");
	assert_bad(&lode_importer_cpuprofile, "{}", "no `nodes`");
	assert_bad(&lode_importer_cpuprofile, "{\"nodes\":[{\"id\":1}]}", "no `id` or no `functionName`");
	assert_bad(&lode_importer_cpuprofile,
		   "{\"nodes\":[{\"id\":1,\"callFrame\":{\"functionName\":\"a\"},\"children\":[2]},"
		   "{\"id\":2,\"callFrame\":{\"functionName\":\"b\"},\"children\":[1]}],\"samples\":[2],"
		   "\"timeDeltas\":[1]}",
		   "in a circle");
	assert_bad(&lode_importer_cpuprofile,
		   "{\"nodes\":[{\"id\":1,\"callFrame\":{\"functionName\":\"a\"}}],\"samples\":[7],\"timeDeltas\":"
		   "[1]}",
		   "a sample names a node");
	assert_bad(&lode_importer_cpuprofile,
		   "{\"nodes\":[{\"id\":1,\"callFrame\":{\"functionName\":\"a\"}}],\"samples\":[1,1],"
		   "\"timeDeltas\":[1]}",
		   "fewer `timeDeltas`");
}

/* ---- Firefox Profiler ---- */

#define TABLES                                                                                                    \
	"\"stackTable\":{\"length\":3,\"frame\":[0,1,2],\"prefix\":[null,0,0]},"                                  \
	"\"frameTable\":{\"length\":3,\"func\":[0,1,2]},"                                                         \
	"\"funcTable\":{\"length\":3,\"name\":[0,1,2],\"resource\":[0,-1,0],\"fileName\":[null,3,null]},"         \
	"\"resourceTable\":{\"length\":1,\"lib\":[0]},\"stringArray\":[\"main\",\"onClick\",\"0x40\",\"http://h/" \
	"ui.js\"]"
#define LIBS                                                                                                      \
	"\"libs\":[{\"name\":\"app\",\"path\":\"/usr/bin/"                                                        \
	"app\",\"codeId\":\"0123456789abcdef0123456789abcdef01234567\"}]"
#define APP "module app user /usr/bin/app 0123456789abcdef0123456789abcdef01234567\n"

static const char processed[] =
	"{\"meta\":{\"interval\":2,\"product\":\"Firefox\",\"preprocessedProfileVersion\":41}," LIBS
	",\"threads\":[{" TABLES ",\"name\":\"Main\",\"pid\":7,\"tid\":\"9.1\",\"samples\":{\"length\":3,"
	"\"stack\":[1,null,2],\"time\":[5,6,7.5],\"weight\":[1,1,3]}}]}";

static void samples_without_cpu_times_stand_for_the_interval(void **state)
{
	(void)state;
	assert_import(&lode_importer_firefox, processed, NULL,
		      "stream x \nattribute product=Firefox 0\nthread 7/9 Main\n" APP
		      "run 5000000+2000000 7/9 app!main|ui.js!onClick\n"
		      "run 6000000+2000000 7/9 \n"
		      "run 7500000+6000000 7/9 app!main|app!0x40\n");
}

/* Of 1 ms 0.9 on a CPU; then 8 ms without, in one stack, in two samples; then 1 ms of it with 0.4. */
static const char measured[] =
	"{\"meta\":{\"interval\":1,\"sampleUnits\":{\"threadCPUDelta\":\"\xc2\xb5s\"}}," LIBS
	",\"shared\":{" TABLES "},"
	"\"threads\":[{\"name\":\"Main\",\"pid\":7,\"tid\":9,\"samples\":{\"length\":5,\"stack\":[0,1,2,2,1],"
	"\"timeDeltas\":[0,1,3,5,1],\"threadCPUDelta\":[null,900,0,0,400]}}]}";

static void cpu_times_separate_runs_from_waits(void **state)
{
	(void)state;
	assert_import(&lode_importer_firefox, measured, NULL,
		      "stream x \nthread 7/9 Main\n" APP "run 0+1000000 7/9 app!main\n"
		      "run 1000000+900000 7/9 app!main|ui.js!onClick\n"
		      "run 10000000+400000 7/9 app!main|ui.js!onClick\n"
		      "wait 1000000+8000000 7/9 app!main|app!0x40\n"
		      "wait 9000000+600000 7/9 app!main|ui.js!onClick\n");
	assert_note(&lode_importer_firefox, measured, "estimated", 2);
}

/* CPU time in cycles, as Firefox on Android has it, and a sample of a comparison. */
static const char unmeasured[] =
	"{\"meta\":{\"interval\":1,\"sampleUnits\":{\"threadCPUDelta\":\"variable CPU cycles\"}}," LIBS
	",\"shared\":{" TABLES "},"
	"\"threads\":[{\"name\":\"Main\",\"pid\":7,\"tid\":9,\"samples\":{\"length\":3,\"stack\":[0,0,0],"
	"\"timeDeltas\":[0,1,1],\"threadCPUDelta\":[null,900,5],\"weight\":[2,1,-1]}}]}";

static void what_cannot_be_time_is_said(void **state)
{
	(void)state;
	assert_import(&lode_importer_firefox, unmeasured, NULL,
		      "stream x \nthread 7/9 Main\n" APP "run 0+2000000 7/9 app!main\n"
		      "run 1000000+1000000 7/9 app!main\n");
	assert_note(&lode_importer_firefox, unmeasured, "not given in ns or us", 2);
	assert_note(&lode_importer_firefox, unmeasured, "weight below 0", 1);
	assert_note(&lode_importer_firefox, measured, "not given in ns or us", 0);
}

/* A whole one, two halves, an instant, an end without a beginning; and old ones, whose data have the times. */
static const char marked[] =
	"{\"meta\":{\"interval\":1,\"preprocessedProfileVersion\":41},\"threads\":[{" TABLES
	",\"name\":\"Main\",\"pid\":7,\"tid\":9,"
	"\"samples\":{\"length\":1,\"stack\":[0],\"time\":[0]},\"markers\":{\"length\":5,\"name\":[1,2,0,2,0],"
	"\"startTime\":[1,2,3,null,null],\"endTime\":[5.5,null,null,4,9],\"phase\":[1,2,0,3,3]}},"
	"{" TABLES ",\"name\":\"Old\",\"pid\":7,\"tid\":8,\"samples\":{\"length\":0,\"stack\":[],\"time\":[]},"
	"\"markers\":{\"length\":2,\"name\":[1,1],\"time\":[2,3],\"data\":[{\"startTime\":2,\"endTime\":3},null]}}"
	"]}";

static void markers_are_symptoms_on_request(void **state)
{
	const char *const names[] = { "on*", "0x40", NULL };
	struct lode_import_options options = { .jobs = 1, .symptom_markers = names };

	(void)state;
	assert_import(&lode_importer_firefox, marked, &options,
		      "stream x \nthread 7/9 Main\nthread 7/8 Old\nrun 0+1000000 7/9 main\n"
		      "symptom 1000000-5500000 7/9 onClick\nsymptom 2000000-4000000 7/9 0x40\nsymptom "
		      "2000000-3000000 7/8 onClick\n");
	assert_import(&lode_importer_firefox, marked, NULL,
		      "stream x \nthread 7/9 Main\nthread 7/8 Old\nrun 0+1000000 7/9 main\n");
	assert_note(&lode_importer_firefox, marked, "markers with a duration, left out", 3);
	assert_note(&lode_importer_firefox, marked, "one end is missing", 1);
}

/* Intervals and instants alone, whose phases say how many there are. */
static const char intervals[] =
	"{\"meta\":{\"interval\":1,\"preprocessedProfileVersion\":41},\"threads\":[{\"markers\":{\"length\":4,"
	"\"name\":[1,2,1,2],\"startTime\":[1,2,3,4],\"endTime\":[5.5,null,3.5,9],\"phase\":[1,0,1,1]}," TABLES
	",\"name\":\"Main\",\"pid\":7,\"tid\":9,\"samples\":{\"length\":1,\"stack\":[0],\"time\":[0]}}]}";

static void markers_are_counted_by_their_phases(void **state)
{
	const char *const names[] = { "*", NULL };
	struct lode_import_options options = { .jobs = 1, .symptom_markers = names };

	(void)state;
	assert_import(&lode_importer_firefox, intervals, &options,
		      "stream x \nthread 7/9 Main\nrun 0+1000000 7/9 main\n"
		      "symptom 1000000-5500000 7/9 onClick\nsymptom 3000000-3500000 7/9 onClick\n"
		      "symptom 4000000-9000000 7/9 0x40\n");
	assert_note(&lode_importer_firefox, intervals, "markers with a duration, left out", 3);
}

/* The cells of a column must be its values, and nothing behind them. */
static void assert_cells(const char *text)
{
	static const char *const names[] = { "b", "a", "none", "text" };
	struct lode_json_column columns[4];
	struct lode_json_cells cells[4];
	struct lode_json_table table;
	struct lode_json_value root;
	struct lode_error error;

	assert_int_equal(lode_json_check("x", text, strlen(text), &root, &error), 0);
	assert_ptr_equal(lode_json_table_find(root, names, 4, &table).end, text + strlen(text));
	assert_int_equal(lode_json_columns(root, names, columns, 4), 0);
	assert_int_equal(lode_json_table_cells(&table, names, cells, 4), 0);
	for (size_t i = 0; i < 4; i++) {
		for (size_t row = 0; row < columns[i].count; row++) {
			assert_true(lode_json_has_cells(&cells[i]));
			assert_ptr_equal(lode_json_next_cell(&cells[i]).at, columns[i].values[row].at);
		}
		assert_false(lode_json_has_cells(&cells[i]));
		assert_null(lode_json_next_cell(&cells[i]).at);
	}
	lode_json_columns_release(columns, 4);
	lode_json_cells_release(cells, 4);
}

static void cells_of_a_table_are_its_columns(void **state)
{
	(void)state;
	assert_cells(
		"{\"a\":[1,2,3],\"x\":{\"a\":[9]},\"b\":[ null , [1] , {} , \"]\" ],\"text\":\"data\",\"a\":[7]}");
	assert_cells("{\"schema\":{\"a\":1,\"text\":0},\"data\":[[1,2],[],[null],[3,[4],5]]}");
	assert_cells("{\"a\":[],\"b\":{\"c\":[1]}}");
	assert_cells("{}");
}

static const char gecko[] =
	"{\"meta\":{\"interval\":1,\"processType\":0},\"libs\":[],\"threads\":[{\"name\":\"GeckoMain\",\"tid\":3,"
	"\"pid\":2,"
	"\"samples\":{\"schema\":{\"stack\":0,\"time\":1},\"data\":[[1,0.5],[0,2]]},"
	"\"stackTable\":{\"schema\":{\"prefix\":0,\"frame\":1},\"data\":[[null,0],[0,1]]},"
	"\"frameTable\":{\"schema\":{\"location\":0},\"data\":[[0],[1]]},"
	"\"stringTable\":[\"(root)\",\"run/< (resource://devtools/base.js -> resource://a/b.js:12:7)\"]}],"
	"\"processes\":[{\"meta\":{\"interval\":4},\"threads\":[{\"name\":\"tab\",\"tid\":5,\"pid\":4,"
	"\"samples\":{\"schema\":{\"stack\":0,\"time\":1},\"data\":[[0,1]]},"
	"\"stackTable\":{\"schema\":{\"prefix\":0,\"frame\":1},\"data\":[[null,0]]},"
	"\"frameTable\":{\"schema\":{\"location\":0},\"data\":[[0]]},\"stringTable\":[\"f\"]}]}]}";

static void raw_profiles_of_gecko_are_read_with_their_processes(void **state)
{
	(void)state;
	assert_import(&lode_importer_firefox, gecko, NULL,
		      "stream x \nthread 2/3 GeckoMain\nthread 4/5 tab\n"
		      "run 500000+1000000 2/3 (root)|b.js!run/<\n"
		      "run 1000000+4000000 4/5 f\n"
		      "run 2000000+1000000 2/3 (root)\n");
}

static void what_profiles_of_firefox_may_not_be(void **state)
{
	(void)state;
	assert_bad(&lode_importer_firefox, "{\"meta\":{}}", "no `threads`");
	assert_bad(&lode_importer_firefox, "{\"threads\":[{" TABLES ",\"samples\":{\"stack\":[3],\"time\":[0]}}]}",
		   "thread 1: a sample names a stack");
	assert_bad(&lode_importer_firefox,
		   "{\"threads\":[{\"stackTable\":{\"frame\":[0,0],\"prefix\":[1,null]},\"frameTable\":{\"func\":["
		   "0]},"
		   "\"funcTable\":{\"name\":[0]},\"stringArray\":[\"f\"]}]}",
		   "comes before the stack it is called from");
	assert_bad(&lode_importer_firefox, "{\"threads\":[{\"stackTable\":{\"frame\":[0],\"prefix\":[null]}}]}",
		   "names a frame");
	assert_bad(&lode_importer_firefox,
		   "{\"threads\":[{\"stackTable\":{\"frame\":[0]},\"frameTable\":{\"func\":[0]}}]}",
		   "names a function");
}

/* ---- all ---- */

static void each_sniffer_knows_its_own(void **state)
{
	(void)state;
	assert_chosen(&lode_importer_speedscope, sampled);
	assert_chosen(&lode_importer_speedscope, evented);
	assert_chosen(&lode_importer_cpuprofile, cpuprofile);
	assert_chosen(&lode_importer_firefox, processed);
	assert_chosen(&lode_importer_firefox, gecko);
}

static void damage_and_want_of_memory_are_survived(void **state)
{
	(void)state;
	try_damaged(&lode_importer_speedscope, sampled, strlen(sampled), 3000);
	try_damaged(&lode_importer_speedscope, evented, strlen(evented), 3000);
	try_damaged(&lode_importer_cpuprofile, cpuprofile, strlen(cpuprofile), 3000);
	try_damaged(&lode_importer_firefox, processed, strlen(processed), 3000);
	try_damaged(&lode_importer_firefox, gecko, strlen(gecko), 3000);
	try_damaged(&lode_importer_firefox, marked, strlen(marked), 3000);
	try_without_memory(&lode_importer_firefox, marked, strlen(marked));
	try_without_memory(&lode_importer_speedscope, evented, strlen(evented));
	try_without_memory(&lode_importer_cpuprofile, cpuprofile, strlen(cpuprofile));
	try_without_memory(&lode_importer_firefox, measured, strlen(measured));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sampled_profiles_tile_their_time),
		cmocka_unit_test(evented_profiles_are_runs_between_their_events),
		cmocka_unit_test(frames_that_nobody_closes_take_linear_time),
		cmocka_unit_test(what_speedscope_files_may_not_be),
		cmocka_unit_test(a_sample_of_v8_lasts_until_the_next),
		cmocka_unit_test(hits_without_samples_share_the_time),
		cmocka_unit_test(what_cpu_profiles_may_not_be),
		cmocka_unit_test(samples_without_cpu_times_stand_for_the_interval),
		cmocka_unit_test(cpu_times_separate_runs_from_waits),
		cmocka_unit_test(what_cannot_be_time_is_said),
		cmocka_unit_test(markers_are_symptoms_on_request),
		cmocka_unit_test(markers_are_counted_by_their_phases),
		cmocka_unit_test(cells_of_a_table_are_its_columns),
		cmocka_unit_test(raw_profiles_of_gecko_are_read_with_their_processes),
		cmocka_unit_test(what_profiles_of_firefox_may_not_be),
		cmocka_unit_test(each_sniffer_knows_its_own),
		cmocka_unit_test(damage_and_want_of_memory_are_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
