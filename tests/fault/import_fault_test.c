/* Imports of every format on a failing machine, into a corpus that holds a stream already. */
#include "fault.h"
#include "random_stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct place shared;
static const char *source; /* the seed that is imported */
static size_t expected;    /* streams of the corpus afterwards */

static int make_corpus(void **state)
{
	struct lode_error error = { "" };
	struct lode_corpus *corpus;
	struct whole stream;

	(void)state;
	place_make(&shared);
	whole_make(&stream, 1);
	assert_int_equal(lode_corpus_open(&corpus, shared.corpus, LODE_CORPUS_CREATE, &error), 0);
	assert_int_equal(lode_corpus_add(corpus, id_of(1), "test", &stream.stream, 0, 1, &error), 1);
	lode_corpus_close(corpus);
	whole_release(&stream);
	return 0;
}

static int remove_corpus(void **state)
{
	(void)state;
	place_remove(&shared);
	return 0;
}

static void lay_out(struct place *place)
{
	copy_folder(shared.corpus, place->corpus);
}

static int run_import(struct place *place, struct lode_error *error)
{
	return import_file(seed_path(source), NULL, place->corpus, error);
}

static void require_imported_or_as_before(struct place *place, int code)
{
	struct lode_error error = { "" };

	require_sound_corpus(place->corpus);
	require_stream(place->corpus, id_of(1), 1);
	if (code < 0) {
		assert_in_range(count_streams(place->corpus), 1, expected);
		if (run_import(place, &error) < 0)
			fail_msg("the second time: %s", error.text);
		require_sound_corpus(place->corpus);
	}
	assert_int_equal(count_streams(place->corpus), expected);
}

static const struct fault_job importing = {
	.prepare = lay_out, .run = run_import, .check = require_imported_or_as_before, .most = 60
};

static void fail_imports_of(const char *name, size_t streams)
{
	source = name;
	expected = 1 + streams;
	fail_every_allocation(&importing);
	fail_every_file_operation(&importing);
}

static void an_import_of_events_succeeds_or_changes_nothing(void **state)
{
	(void)state;
	fail_imports_of("events/plain", 2);
}

static void an_import_of_folded_stacks_succeeds_or_changes_nothing(void **state)
{
	(void)state;
	fail_imports_of("folded/plain", 1);
}

static void an_import_of_packed_text_succeeds_or_changes_nothing(void **state)
{
	(void)state;
	fail_imports_of("unpack/gzip", 1);
	fail_imports_of("unpack/zstd", 1);
	fail_imports_of("unpack/xz", 1);
}

static void an_import_of_perf_script_succeeds_or_changes_nothing(void **state)
{
	(void)state;
	fail_imports_of("perf_script/samples", 1);
}

static void an_import_of_pprof_succeeds_or_changes_nothing(void **state)
{
	(void)state;
	fail_imports_of("pprof/packed", 2);
}

static void an_import_of_perf_data_succeeds_or_changes_nothing(void **state)
{
	(void)state;
	fail_imports_of("perf_data/sched", 1);
}

static void an_import_of_piped_perf_data_succeeds_or_changes_nothing(void **state)
{
	(void)state;
	fail_imports_of("perf_data/pipe", 1);
}

static void an_import_of_compressed_perf_data_succeeds_or_changes_nothing(void **state)
{
	(void)state;
	fail_imports_of("perf_data/compressed", 1);
}

static void an_import_succeeds_or_changes_nothing_when_sqlite_fails(void **state)
{
	(void)state;
	source = "events/plain";
	expected = 3;
	fail_every_request_of_sqlite(&importing);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_import_of_events_succeeds_or_changes_nothing),
		cmocka_unit_test(an_import_of_folded_stacks_succeeds_or_changes_nothing),
		cmocka_unit_test(an_import_of_packed_text_succeeds_or_changes_nothing),
		cmocka_unit_test(an_import_of_perf_script_succeeds_or_changes_nothing),
		cmocka_unit_test(an_import_of_pprof_succeeds_or_changes_nothing),
		cmocka_unit_test(an_import_of_perf_data_succeeds_or_changes_nothing),
		cmocka_unit_test(an_import_of_piped_perf_data_succeeds_or_changes_nothing),
		cmocka_unit_test(an_import_of_compressed_perf_data_succeeds_or_changes_nothing),
		cmocka_unit_test(an_import_succeeds_or_changes_nothing_when_sqlite_fails),
	};

	return cmocka_run_group_tests(tests, make_corpus, remove_corpus);
}
