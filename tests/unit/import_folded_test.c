/* Folded stacks: values, fractions, annotations, damage; random text against a naive reader. */
#include "text_import.h"

/* ---- folded stacks ---- */

static void folded_stacks_tile_a_line_of_time(void **state)
{
	(void)state;
	assert_import(&lode_importer_folded,
		      "app!main;app!load;libc.so.6!read 10\napp!main 5\n\n# comment 7\r\nmain;x y 1\r\n", NULL,
		      "stream x \n"
		      "run 0+10 0 app!main|app!load|libc.so.6!read\n"
		      "run 10+5 0 app!main\n"
		      "run 15+1 0 main|x y\n");
}

static void python_functions_have_files_for_modules(void **state)
{
	(void)state;
	assert_import(&lode_importer_folded,
		      "<module> (a/x.py:10);T.step (x.py:3);<lambda> (<string>:1) 2\n"
		      "/home/a/x.py:<module>:10;x.py:T.step:4 1\n"
		      "f (x.c:3);(x.py:3);x.py:3;:f:3;f (x.py);f(x.py:3) 1\n",
		      NULL,
		      "stream x \n"
		      "run 0+2 0 x.py!<module>|x.py!T.step|{string}!<lambda>\n"
		      "run 2+1 0 x.py!<module>|x.py!T.step\n"
		      "run 3+1 0 f (x.c:3)|(x.py:3)|x.py:3|:f:3|x.py!f|f(x.py:3)\n");
}

static void the_unit_and_the_kind_can_be_chosen(void **state)
{
	struct lode_import_options options = { .kind_is_wait = 1, .unit_ns = 1e6, .stream_name = "mine", .jobs = 2 };

	(void)state;
	assert_import(&lode_importer_folded, "a 3\nb 0.5\n", &options,
		      "stream mine \nwait 0+3000000 0 a\nwait 3000000+500000 0 b\n");
	options.unit_ns = 0.25;
	assert_import(&lode_importer_folded, "a 3\nb 18446744073709551615\n", &options,
		      "stream mine \nwait 0+1 0 a\nwait 1+4611686018427387904 0 b\n");
}

static void fractions_are_rounded(void **state)
{
	(void)state;
	assert_import(&lode_importer_folded, "a 12.5\nb 0.4\nc .6\nd 7.\ne 18446744073709551000\n", NULL,
		      "stream x \nrun 0+13 0 a\nrun 13+0 0 b\nrun 13+1 0 c\nrun 14+7 0 d\nrun "
		      "21+18446744073709551000 0 e\n");
}

/* Each value is one that the floating numbers of some machine round another way. */
static void fractions_are_exact_however_long_they_are(void **state)
{
	struct lode_import_options options = { .unit_ns = 1e3, .jobs = 1 };

	(void)state;
	assert_import(&lode_importer_folded,
		      "a 9223372036854775809.5\n"
		      "b 1.49999999999999999999999999999999999999999999999999\n"
		      "c 9223372036854775803.4999999999999999999999999999\n",
		      NULL,
		      "stream x \nrun 0+9223372036854775810 0 a\nrun 9223372036854775810+1 0 b\n"
		      "run 9223372036854775811+9223372036854775803 0 c\n");
	assert_import(&lode_importer_folded, "a 0.0005\nb 0.00049999999999999999999999\nc 4611686018427387.9045\n",
		      &options, "stream x \nrun 0+1 0 a\nrun 1+0 0 b\nrun 1+4611686018427387905 0 c\n");
	assert_bad(&lode_importer_folded, "a 18446744073709551615.5\n", "the value is too large");
}

static void count_fractions(const char *text, double unit, uint64_t count)
{
	struct lode_import_options options = { .unit_ns = unit, .jobs = 1 };
	struct imported imported;

	import_bytes(&imported, &lode_importer_folded, text, strlen(text), &options);
	assert_int_equal(imported.code, 0);
	assert_int_equal(note_count(&imported, "with a fraction of a nanosecond"), count);
	release_imported(&imported);
}

static void fractions_that_are_lost_are_reported(void **state)
{
	struct imported imported;
	static const char text[] = "a 1\nb 2.000\nc 0.25\nd 3.5\n";

	(void)state;
	count_fractions(text, 0, 2);
	count_fractions(text, 1e3, 0);
	count_fractions("a 0.0005\nb 1.5\nc 0.123\nd 0.1234\n", 1e3, 2);
	/* A period that is no whole number of nanoseconds loses nothing of a count. */
	count_fractions("a 3\nb 2.0\n", 1e9 / 997, 0);
	count_fractions("a 3.3\n", 1e9 / 997, 1);
	import_bytes(&imported, &lode_importer_folded, text, strlen(text), NULL);
	assert_string_equal(imported.notes.items[0].example, "dir/x.y.gz:3: 0.25");
	release_imported(&imported);
}

static void folded_text_that_is_cut_off_is_reported(void **state)
{
	static const char *const whole = "stream x \nrun 0+1 0 a|b\n";

	(void)state;
	assert_import(&lode_importer_folded, "a;b 1\na;main", NULL, whole);
	assert_note(&lode_importer_folded, "a;b 1\na;main", "a last line that is cut off", 1);
	assert_note(&lode_importer_folded, "a;b 1\na;main ", "a last line that is cut off", 1);
	assert_import(&lode_importer_folded, "a;b 1\na;c 12", NULL, "stream x \nrun 0+1 0 a|b\nrun 1+12 0 a|c\n");
	assert_note(&lode_importer_folded, "a;b 1\na;c 12", "a last line without a line end", 1);
	assert_note(&lode_importer_folded, "a;b 1\na;c 12\n", "a last line", 0);
	assert_note(&lode_importer_folded, "a;b 1\n# end", "a last line", 0);
	assert_bad(&lode_importer_folded, "a;b;c", "does not end in a number");
	assert_bad(&lode_importer_folded, "a;main\nb;main\nc 1", "x.y.gz:1: ");
}

static void the_sniffer_knows_folded_text_that_is_cut_off(void **state)
{
	static const char text[] = "a;b 1\na;main", one[] = "hello world";

	(void)state;
	assert_int_equal(lode_importer_folded.sniff((const unsigned char *)text, strlen(text), "x"), 70);
	assert_int_equal(lode_importer_folded.sniff((const unsigned char *)one, strlen(one), "x"), 0);
}

static void annotations_of_the_stackcollapse_scripts_become_modules(void **state)
{
	(void)state;
	assert_import(&lode_importer_folded, "main;vfs_read_[k];ext4!read_[k];hot_[j];lib.so!tiny_[i];_[k] 1\n",
		      NULL, "stream x \nrun 0+1 0 main|kernel!vfs_read|ext4!read|[jit]!hot|lib.so!tiny|_[k]\n");
}

static void a_stack_may_be_empty_and_frames_may_have_blanks_or_no_name(void **state)
{
	(void)state;
	assert_import(&lode_importer_folded, " 12\n[no stack] 3\na;;b 1\n;a 1\na; 2\noperator new (int);f 3\na\t4",
		      NULL,
		      "stream x \n"
		      "run 0+12 0 \n"
		      "run 12+3 0 \n"
		      "run 15+1 0 a||b\n"
		      "run 16+1 0 |a\n"
		      "run 17+2 0 a|\n"
		      "run 19+3 0 operator new (int)|f\n"
		      "run 22+4 0 a\n");
}

static void a_line_that_ends_in_no_number_is_an_error_with_its_place(void **state)
{
	(void)state;
	assert_bad(&lode_importer_folded, "a 1\n\n\nhello world\nhello\n", "dir/x.y.gz:4: ");
	assert_bad(&lode_importer_folded, "a;b;c\n", "x.y.gz:1: ");
	assert_bad(&lode_importer_folded, "12\n", "x.y.gz:1: ");
	assert_bad(&lode_importer_folded, "a 1e5\n", "does not end in a number");
	assert_bad(&lode_importer_folded, "a -5\n", "does not end in a number");
	assert_bad(&lode_importer_folded, "a 1.2.3\n", "does not end in a number");
	assert_bad(&lode_importer_folded, "a .\n", "does not end in a number");
}

static void values_that_do_not_fit_are_errors(void **state)
{
	(void)state;
	assert_bad(&lode_importer_folded, "a 18446744073709551616\n", "x.y.gz:1: the value is too large");
	assert_bad(&lode_importer_folded, "a 18446744073709551615\nb 1\n", "x.y.gz:2: the costs add up");
}

static void two_columns_of_values_are_refused_only_when_every_line_has_them(void **state)
{
	(void)state;
	assert_bad(&lode_importer_folded, "a;b 10 20\na;c 0 5\n", "two numbers");
	assert_import(&lode_importer_folded, "a;thread 1 20\na;c 5\n", NULL,
		      "stream x \nrun 0+20 0 a|thread 1\nrun 20+5 0 a|c\n");
}

static void a_stack_that_is_too_deep_keeps_its_leaf(void **state)
{
	struct lode_buffer text = { 0 };
	struct imported imported;

	(void)state;
	lode_buffer_text(&text, "z 1\n");
	for (int i = 0; i < LODE_STACK_DEPTH_LIMIT + 5; i++)
		lode_buffer_print(&text, "%sf%d", i ? ";" : "", i);
	lode_buffer_text(&text, " 7\nf0;f1 2\n");
	lode_buffer_byte(&text, '\0');
	import_bytes(&imported, &lode_importer_folded, text.bytes, text.size - 1, NULL);
	assert_int_equal(imported.code, 0);
	assert_int_equal(note_count(&imported, "cut at the root"), 1);
	assert_non_null(strstr(imported.text.bytes, "run 1+7 0 f5|f6|"));
	assert_non_null(strstr(imported.text.bytes, "|f16388\nrun 8+2 0 f0|f1\n"));
	release_imported(&imported);
	lode_buffer_release(&text);
}

static void oracle_frame(struct lode_buffer *reported, char *frame)
{
	struct lode_frames frames;
	size_t length = strlen(frame);
	const char *module = NULL;
	uint32_t id;

	if (length > 4 && strcmp(frame + length - 4, "_[k]") == 0)
		module = "kernel";
	else if (length > 4 && strcmp(frame + length - 4, "_[j]") == 0)
		module = "[jit]";
	if (module || (length > 4 && strcmp(frame + length - 4, "_[i]") == 0))
		frame[length - 4] = '\0';
	assert_int_equal(lode_frames_init(&frames), 0);
	id = lode_frames_parse(&frames, frame, strlen(frame));
	if (module && frames.items[id].module == 0)
		id = lode_frames_add(&frames, lode_frames_module(&frames, module, strlen(module)),
				     lode_frames_function(&frames, id), strlen(lode_frames_function(&frames, id)));
	lode_frames_text(&frames, id, reported);
	lode_frames_release(&frames);
}

/* Line by line with the tools of the C library, remembering nothing. */
static void oracle_folded(struct lode_buffer *reported, const char *text)
{
	char *copy = strdup(text), *line = copy;
	uint64_t t = 0;

	while (line) {
		char *next = strchr(line, '\n'), *space, *frame;

		if (next)
			*next++ = '\0';
		while (*line && strchr(" \r\t", line[strlen(line) - 1]))
			line[strlen(line) - 1] = '\0';
		if (*line && *line != '#') {
			space = strrchr(line, ' ');
			lode_buffer_print(reported, "run %" PRIu64 "+%s 0 ", t, space + 1);
			t += strtoull(space + 1, NULL, 10);
			*space = '\0';
			while (*line && strchr(" \t", line[strlen(line) - 1]))
				line[strlen(line) - 1] = '\0';
			for (int first = 1; *line && (frame = strsep(&line, ";")); first = 0) {
				lode_buffer_text(reported, first ? "" : "|");
				oracle_frame(reported, frame);
				if (!line)
					break;
				if (!*line) {
					lode_buffer_text(reported, "|");
					break;
				}
			}
			lode_buffer_byte(reported, '\n');
		}
		line = next;
	}
	lode_buffer_byte(reported, '\0');
	free(copy);
}

static void random_folded_text_reads_as_a_naive_reader_reads_it(void **state)
{
	uint64_t seed = 11;

	(void)state;
	for (int round = 0; round < TEST_ROUNDS(3000); round++) {
		struct lode_buffer text = { 0 }, reported = { 0 };
		struct imported imported;
		char *expected, *got;

		random_folded(&text, &seed, random_below(&seed, 30));
		lode_buffer_byte(&text, '\0');
		oracle_folded(&reported, text.bytes);
		import_bytes(&imported, &lode_importer_folded, text.bytes, text.size - 1, NULL);
		assert_int_equal(imported.code, 0);
		expected = sorted_lines(reported.bytes);
		got = sorted_lines(strchr(imported.text.bytes, '\n') + 1);
		assert_string_equal(got, expected);
		free(expected);
		free(got);
		release_imported(&imported);
		lode_buffer_release(&text);
		lode_buffer_release(&reported);
	}
}

/* Several chunks, one of them a single line longer than a chunk. */
static void the_number_of_threads_changes_nothing(void **state)
{
	struct lode_buffer text = { 0 };
	struct imported first, other;
	uint64_t seed = 12;

	(void)state;
	random_folded(&text, &seed, 60000);
	lode_buffer_byte(&text, '\n');
	for (int i = 0; i < 15000; i++)
		lode_buffer_print(&text, "%sdeep%d%0*d", i ? ";" : "", i, 300, 0);
	lode_buffer_text(&text, " 1\n");
	random_folded(&text, &seed, 60000);
	import_bytes(&first, &lode_importer_folded, text.bytes, text.size, NULL);
	assert_int_equal(first.code, 0);
	for (unsigned jobs = 2; jobs < 6; jobs += TEST_SANITIZED ? 3 : 1) {
		struct lode_import_options options = { .jobs = jobs };

		import_bytes(&other, &lode_importer_folded, text.bytes, text.size, &options);
		assert_int_equal(other.code, 0);
		assert_true(strcmp(first.text.bytes, other.text.bytes) == 0);
		assert_true(strcmp(first.ids.bytes, other.ids.bytes) == 0);
		release_imported(&other);
	}
	release_imported(&first);
	lode_buffer_release(&text);
}

static void the_first_wrong_line_is_named_whichever_thread_meets_it(void **state)
{
	struct lode_buffer text = { 0 };

	(void)state;
	for (int i = 1; i <= 150000; i++)
		lode_buffer_text(&text,
				 i == 90001 || i == 149999
					 ? "wrong\n"
					 : "a;the_name_of_a_function_that_makes_these_lines_longer_than_b 1\n");
	assert_true(text.size > 9000000); /* several chunks */
	for (unsigned jobs = 1; jobs < 5; jobs += TEST_SANITIZED ? 3 : 1) {
		struct lode_import_options options = { .jobs = jobs };
		struct imported imported;

		import_bytes(&imported, &lode_importer_folded, text.bytes, text.size, &options);
		assert_int_equal(imported.code, 0);
		assert_int_equal(note_count(&imported, "lines that do not end in a number"), 2);
		assert_non_null(strstr(imported.notes.items[0].example, "x.y.gz:90001: "));
		release_imported(&imported);
	}
	lode_buffer_release(&text);
}

static int stop_at_once(void *context, const char *phase, const char *unit, uint64_t done, uint64_t total)
{
	(void)context;
	(void)done;
	(void)total;
	assert_string_equal(phase, "reading x.y.gz");
	assert_string_equal(unit, "bytes");
	return 1;
}

static void reading_stops_when_progress_says_so(void **state)
{
	struct lode_progress progress = { stop_at_once, NULL };
	struct lode_import_options options = { .progress = &progress };
	struct imported imported;

	(void)state;
	import_bytes(&imported, &lode_importer_folded, "a 1\n", 4, &options);
	assert_int_equal(imported.code, LODE_SYSTEM);
	assert_non_null(strstr(imported.error.text, "stopped"));
	release_imported(&imported);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(folded_stacks_tile_a_line_of_time),
		cmocka_unit_test(python_functions_have_files_for_modules),
		cmocka_unit_test(the_unit_and_the_kind_can_be_chosen),
		cmocka_unit_test(fractions_are_rounded),
		cmocka_unit_test(fractions_are_exact_however_long_they_are),
		cmocka_unit_test(fractions_that_are_lost_are_reported),
		cmocka_unit_test(folded_text_that_is_cut_off_is_reported),
		cmocka_unit_test(the_sniffer_knows_folded_text_that_is_cut_off),
		cmocka_unit_test(annotations_of_the_stackcollapse_scripts_become_modules),
		cmocka_unit_test(a_stack_may_be_empty_and_frames_may_have_blanks_or_no_name),
		cmocka_unit_test(a_line_that_ends_in_no_number_is_an_error_with_its_place),
		cmocka_unit_test(values_that_do_not_fit_are_errors),
		cmocka_unit_test(two_columns_of_values_are_refused_only_when_every_line_has_them),
		cmocka_unit_test(a_stack_that_is_too_deep_keeps_its_leaf),
		cmocka_unit_test(random_folded_text_reads_as_a_naive_reader_reads_it),
		cmocka_unit_test(the_number_of_threads_changes_nothing),
		cmocka_unit_test(the_first_wrong_line_is_named_whichever_thread_meets_it),
		cmocka_unit_test(reading_stops_when_progress_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
