/*
 * Importers when an allocation fails: each either says so, or delivers the same as if none had failed. A stream that lacks
 * something and is delivered all the same would go unnoticed.
 */
#include "fault.h"
#include "import_fixture.h"

/* Allocations that are made to fail, spread over all of an import. */
#define MAX_PLACES 400

static void import_failing(struct imported *imported, const struct lode_importer *importer, const void *bytes,
			   size_t size, uint64_t nth)
{
	struct lode_import_options options = { .jobs = 1,
					       .no_symbols = 1,
					       .cache = "",
					       .notes = &imported->notes,
					       .file_name = "x" };
	struct lode_import_sink sink = { disarm_and_describe, imported };
	struct lode_input *input;

	memset(imported, 0, sizeof(*imported));
	lode_notes_init(&imported->notes);
	assert_int_equal(lode_input_memory(&input, "dir/x", bytes, size, &imported->error), 0);
	lode_memory_fail_at(nth, 0);
	imported->code = importer->read(input, &options, &sink, &imported->error);
	lode_memory_fail_at(0, 0);
	lode_input_close(input);
	lode_buffer_byte(&imported->text, '\0');
}

static void fail_allocations_of(const char *format, const char *seed)
{
	const struct lode_importer *const *importer = lode_importers;
	struct imported whole, imported;
	unsigned char *bytes;
	uint64_t step;
	size_t size;

	while (*importer && strcmp((*importer)->name, format) != 0)
		importer++;
	assert_non_null(*importer);
	bytes = read_whole(seed_path(seed), &size);
	import_failing(&whole, *importer, bytes, size, UINT64_MAX);
	assert_string_equal(whole.code < 0 ? whole.error.text : "", "");
	assert_true(whole.streams && whole.asked > 10);
	step = whole.asked / MAX_PLACES + 1;
	for (uint64_t nth = 1; nth <= whole.asked; nth += step) {
		import_failing(&imported, *importer, bytes, size, nth);
		require_all_or_an_error(seed, nth, &whole, &imported);
		release_imported(&imported);
	}
	release_imported(&whole);
	free(bytes);
}

static void texts_are_imported_whole_or_not_at_all(void **state)
{
	(void)state;
	fail_allocations_of("bpftrace", "bpftrace/maps");
	fail_allocations_of("events", "events/plain");
	fail_allocations_of("folded", "folded/plain");
	fail_allocations_of("instruments", "instruments/plain");
	fail_allocations_of("perf-script", "perf_script/samples");
	fail_allocations_of("ftrace", "ftrace/report");
}

static void json_is_imported_whole_or_not_at_all(void **state)
{
	(void)state;
	fail_allocations_of("chrome", "chrome/nested");
	fail_allocations_of("chrome", "chrome/samples");
	fail_allocations_of("chrome", "chrome/exported");
	fail_allocations_of("chrome", "chrome/kineto-other-stream");
	fail_allocations_of("chrome", "chrome/kineto-blocking-copy");
	fail_allocations_of("cpuprofile", "cpuprofile/plain");
	fail_allocations_of("firefox", "firefox/processed");
	fail_allocations_of("firefox", "firefox/gecko");
	fail_allocations_of("speedscope", "speedscope/evented");
	fail_allocations_of("wprof", "wprof/plain");
	fail_allocations_of("wprof", "wprof/cuda-spinning");
}

static void protobuf_is_imported_whole_or_not_at_all(void **state)
{
	(void)state;
	fail_allocations_of("otlp", "otlp/exported");
	fail_allocations_of("otlp", "otlp/json");
	fail_allocations_of("perfetto", "perfetto/exported");
	fail_allocations_of("perfetto", "perfetto/generated1");
	fail_allocations_of("pprof", "pprof/labels");
	fail_allocations_of("pprof", "pprof/plain");
}

static void traces_of_kernels_and_runtimes_are_imported_whole_or_not_at_all(void **state)
{
	(void)state;
	fail_allocations_of("trace.dat", "trace_dat/seven");
	fail_allocations_of("perf.data", "perf_data/sched");
	fail_allocations_of("perf.data", "perf_data/pipe");
	fail_allocations_of("go-trace", "go_trace/new");
	fail_allocations_of("gperftools", "gperftools/little64");
	fail_allocations_of("nsight", "nsight/other-stream");
	fail_allocations_of("nsight", "nsight/spinning");
}

static void traces_of_windows_are_imported_whole_or_not_at_all(void **state)
{
	(void)state;
	fail_allocations_of("etl", "etl/wide");
	fail_allocations_of("perfview", "perfview/plain");
	fail_allocations_of("xperf", "xperf/plain");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_are_imported_whole_or_not_at_all),
		cmocka_unit_test(json_is_imported_whole_or_not_at_all),
		cmocka_unit_test(protobuf_is_imported_whole_or_not_at_all),
		cmocka_unit_test(traces_of_kernels_and_runtimes_are_imported_whole_or_not_at_all),
		cmocka_unit_test(traces_of_windows_are_imported_whole_or_not_at_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
