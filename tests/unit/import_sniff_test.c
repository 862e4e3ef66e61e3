/* Which format a file is of, how its streams are called, and what happens to what no importer takes. */
#include "text_import.h"

#include "import/import_names.h"

/* ---- damage and want of memory ---- */

static const char some_events[] =
	"{\"stream\":\"s\",\"host\":\"h\",\"attrs\":{\"a\":1,\"b\":\"x\",\"c\":[{}]}}\n"
	"{\"type\":\"run\",\"t\":1,\"cost\":2,\"pid\":1,\"tid\":3,\"cpu\":0,\"stack\":[\"app!main\","
	"\"\\u0041\"],\"odd\":[[1]]}\n"
	"{\"type\":\"wait\",\"t\":1,\"cost\":2,\"tid\":3,\"waker\":4,\"waker_stack\":[\"b\"],\"delay\":5}\n"
	"{\"type\":\"module\",\"name\":\"b\",\"kind\":\"jit\",\"path\":\"/b\",\"build_id\":\"12\"}\n"
	"{\"type\":\"thread\",\"tid\":3,\"name\":\"n\"}\n"
	"{\"type\":\"symptom\",\"tid\":3,\"t0\":1,\"t1\":2,\"name\":\"slow\"}\n"
	"{\"stream\":\"t\"}\n{\"type\":\"call\",\"t\":1e3,\"tid\":3,\"name\":\"openat\"}\n";

static const char some_folded[] = "app!main;f_[k];g_[j] 12\napp!main;f_[k];h 3.5\n\n# x\nz 1\n 4\na;b;c;d 5\n";

static void damaged_text_never_crashes(void **state)
{
	(void)state;
	try_damaged(&lode_importer_events, some_events, strlen(some_events), 20000);
	try_damaged(&lode_importer_folded, some_folded, strlen(some_folded), 5000);
}

static void text_importers_survive_every_failing_allocation(void **state)
{
	(void)state;
	try_without_memory(&lode_importer_events, some_events, strlen(some_events));
	try_without_memory(&lode_importer_folded, some_folded, strlen(some_folded));
}

/* With threads, the count of allocations differs from run to run: only the outcome is looked at. */
static void threads_survive_failing_allocations_too(void **state)
{
	struct lode_buffer text = { 0 };
	uint64_t seed = 4;

	(void)state;
	random_folded(&text, &seed, 60000);
	for (uint64_t nth = 1; nth < 400; nth += 7) {
		lode_memory_fail_at(nth, nth % 2 != 0);
		import_and_drop(&lode_importer_folded, text.bytes, text.size, 3);
	}
	lode_memory_fail_at(0, 0);
	lode_buffer_release(&text);
}

/* ---- the sniffer ---- */

static const char *chosen(const char *text, const char *name)
{
	struct lode_import_options options = { 0 };
	struct lode_error error;
	struct lode_input *input;
	const struct lode_importer *importer;

	assert_int_equal(lode_input_memory(&input, name, text, strlen(text), &error), 0);
	importer = lode_import_choose(input, &options, &error);
	lode_input_close(input);
	return importer ? importer->name : strstr(error.text, name) ? "none" : "no sentence";
}

static void the_sniffer_distinguishes_formats(void **state)
{
	char *long_line = calloc(1, 20000);

	(void)state;
	assert_string_equal(chosen(some_events, "x"), "events");
	assert_string_equal(chosen("\n\n  {\"t\":1,\"type\":\"run\"}\n", "x"), "events");
	assert_string_equal(chosen(some_folded, "x"), "folded");
	assert_string_equal(chosen("main 12\n", "x"), "folded");
	assert_string_equal(chosen("perf 15853 [000]  2214.688161:     250000 cpu-clock: "
				   "\n\tffff8000800c7214 f+0x3cc ([kernel.kallsyms])\n\n",
				   "x"),
			    "perf-script");
	assert_string_equal(chosen("swapper     0 [000]     0.000000: PERF_RECORD_MMAP -1/0: [0xffff(0x7fff) "
				   "@ 0xffff]: x y\n",
				   "x"),
			    "perf-script");
	assert_string_equal(
		chosen("# comment\nmy comm  7/8 1.000000123: sched:sched_switch: a:1 [2] S ==> b:2 [3]\n", "x"),
		"perf-script");
	assert_string_equal(chosen("Dear reader,\nthis is a letter.\n", "x"), "none");
	assert_string_equal(chosen("\x7f"
				   "ELF\x02\x01\x01",
				   "x"),
			    "none");
	assert_string_equal(chosen("", "x"), "none");
	for (int i = 0; i < 2000; i++)
		strcat(long_line + 6 * i, "frame;");
	assert_string_equal(chosen(long_line, "x.folded"), "folded");
	free(long_line);
}

static void the_sniffers_take_any_bytes(void **state)
{
	static const char marks[] = "{}[]\":;, \n\t\\0123.ab";
	uint64_t seed = 9;

	(void)state;
	for (int round = 0; round < TEST_ROUNDS(20000); round++) {
		size_t size = random_below(&seed, round % 100 ? 60 : LODE_SNIFF_BYTES + 1);
		unsigned char *bytes = malloc(size + 1);

		for (size_t i = 0; i < size; i++)
			bytes[i] = (unsigned char)(round % 3 ? (uint64_t)marks[random_below(&seed, 20)]
							     : random_next(&seed));
		for (size_t i = 0; lode_importers[i]; i++) {
			int sure = lode_importers[i]->sniff(bytes, size, "x");

			assert_in_range(sure, 0, 100);
		}
		free(bytes);
	}
}

static void an_unknown_format_is_answered_with_the_known_ones(void **state)
{
	struct lode_import_options options = { .format = "odd" };
	struct lode_error error;
	struct lode_input *input;

	(void)state;
	assert_int_equal(lode_input_memory(&input, "x", "a 1\n", 4, &error), 0);
	assert_null(lode_import_choose(input, &options, &error));
	assert_non_null(strstr(error.text, "odd"));
	for (size_t i = 0; lode_importers[i]; i++)
		assert_non_null(strstr(error.text, lode_importers[i]->name));
	options.format = "events";
	assert_ptr_equal(lode_import_choose(input, &options, &error), &lode_importer_events);
	lode_input_close(input);
}

static void streams_are_named_after_their_files(void **state)
{
	static const char *const names[][2] = {
		{ "a/b/run.jsonl.gz", "run" },
		{ "run.jsonl", "run" },
		{ "run.zst", "run" },
		{ "run.tar.xz", "run" },
		{ "a.b.c", "a.b" },
		{ "run", "run" },
		{ ".hidden", ".hidden" },
		{ "dir.d/run", "run" },
		{ ".gz", ".gz" },
		{ "standard input", "standard input" },
		{ "x.gz.gz", "x" },
	};
	struct lode_import_options options = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct lode_input *input;
		char *name;

		assert_int_equal(lode_input_memory(&input, names[i][0], "", 0, NULL), 0);
		name = lode_import_default_name(input, &options);
		assert_string_equal(name, names[i][1]);
		lode_free(name);
		lode_input_close(input);
	}
}

static void folders_are_put_in_front_of_names_as_far_as_there_are_any(void **state)
{
	static const struct {
		const char *path;
		unsigned folders;
		const char *name;
	} names[] = {
		{ "a/perf.data", 1, "a/perf" },
		{ "a/perf.data", 5, "a/perf" },
		{ "/a/b/perf.data.gz", 1, "b/perf" },
		{ "/a/b/perf.data.gz", 2, "a/b/perf" },
		{ "/a/b/perf.data", 3, "/a/b/perf" },
		{ "x.d/run", 1, "x.d/run" },
		{ "x.d/.run", 1, "x.d/.run" },
		{ "a/perf.data/", 0, "perf" },
		{ "a/perf.data/", 1, "a/perf" },
		{ "/perf.data", 0, "perf" },
		{ "/", 0, "/" },
		{ "", 0, "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char *name = lode_import_name(names[i].path, names[i].folders);

		assert_string_equal(name, names[i].name);
		lode_free(name);
	}
}

static void formats_without_an_importer_are_named(void **state)
{
	static const unsigned char zip[8] = { 'P', 'K', 3, 4 };
	static const struct {
		const unsigned char *bytes;
		size_t size;
		const char *reported;
	} files[] = { { zip, sizeof(zip), "is a ZIP archive" } };
	struct lode_import_options options = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct lode_error error = { "" };
		struct lode_input *input;

		assert_int_equal(lode_input_memory(&input, "file.json", files[i].bytes, files[i].size, NULL), 0);
		assert_null(lode_import_choose(input, &options, &error));
		assert_non_null(strstr(error.text, files[i].reported));
		lode_input_close(input);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(folders_are_put_in_front_of_names_as_far_as_there_are_any),
		cmocka_unit_test(formats_without_an_importer_are_named),
		cmocka_unit_test(damaged_text_never_crashes),
		cmocka_unit_test(text_importers_survive_every_failing_allocation),
		cmocka_unit_test(threads_survive_failing_allocations_too),
		cmocka_unit_test(the_sniffer_distinguishes_formats),
		cmocka_unit_test(the_sniffers_take_any_bytes),
		cmocka_unit_test(an_unknown_format_is_answered_with_the_known_ones),
		cmocka_unit_test(streams_are_named_after_their_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
