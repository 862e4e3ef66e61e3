/* Importers of text: the sniffer, folded stacks, plain events. */
#include "import_fixture.h"

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

static void events_that_are_cut_off_are_reported(void **state)
{
	static const char run[] = "{\"type\":\"run\",\"t\":1,\"cost\":2,\"tid\":3,\"stack\":[\"a\",\"b\"]}";
	char text[300];

	(void)state;
	for (size_t length = 1; length < strlen(run); length++) {
		snprintf(text, sizeof(text), "%s\n%.*s", run, (int)length, run);
		assert_import(&lode_importer_events, text, NULL, "stream x \nrun 1+2 3 a|b\n");
		assert_note(&lode_importer_events, text, "a last line that is cut off", 1);
		assert_bad(&lode_importer_events, strchr(text, '\n') + 1, "x.y.gz:1: ");
		strcat(text, "\n");
		assert_bad(&lode_importer_events, text, "x.y.gz:2: ");
	}
	/* An object tells by itself that it is whole. */
	snprintf(text, sizeof(text), "%s\n%s", run, run);
	assert_import(&lode_importer_events, text, NULL, "stream x \nrun 1+2 3 a|b\nrun 1+2 3 a|b\n");
	assert_note(&lode_importer_events, text, "a last line", 0);
	snprintf(text, sizeof(text), "%s\n{\"type\" run", run);
	assert_bad(&lode_importer_events, text, "x.y.gz:2: ");
	snprintf(text, sizeof(text), "%s\n12", run);
	assert_bad(&lode_importer_events, text, "x.y.gz:2: ");
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

/* Words that share prefixes, so that the memory of the line before is put to the test. */
static void random_folded(struct lode_buffer *text, uint64_t *seed, size_t lines)
{
	static const char *const words[] = {
		"a",     "aa", "ab", "app!main",   "app!mai", "libc.so.6!read", "x y",     "f_[k]", "f_[j]",
		"f_[i]", "f",  "",   "operator!=", "!b",      "a(b)!c",         "\xff\xfe"
	};
	static const char *const ends[] = { "\n", "\n", "\n", "\r\n", " \n", "\n\n", "\n#c 1\n", "\n  \n" };
	char last[64][20];
	size_t depth = 0;

	for (size_t i = 0; i < lines; i++) {
		size_t keep = random_below(seed, depth + 1);

		depth = keep;
		while (depth < 60 && random_below(seed, 3))
			snprintf(last[depth++], 20, "%s",
				 words[random_below(seed, sizeof(words) / sizeof(words[0]))]);
		for (size_t j = 0; j < depth; j++) {
			lode_buffer_text(text, j ? ";" : "");
			lode_buffer_text(text, last[j]);
		}
		lode_buffer_print(text, " %" PRIu64, random_below(seed, random_below(seed, 2) ? 3 : 1000000));
		lode_buffer_text(text, i + 1 == lines && random_below(seed, 2)
					       ? ""
					       : ends[random_below(seed, sizeof(ends) / sizeof(ends[0]))]);
	}
}

static void oracle_frame(struct lode_buffer *told, char *frame)
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
	lode_frames_text(&frames, id, told);
	lode_frames_release(&frames);
}

/* Line by line with the tools of the C library, remembering nothing. */
static void oracle_folded(struct lode_buffer *told, const char *text)
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
			lode_buffer_print(told, "run %" PRIu64 "+%s 0 ", t, space + 1);
			t += strtoull(space + 1, NULL, 10);
			*space = '\0';
			while (*line && strchr(" \t", line[strlen(line) - 1]))
				line[strlen(line) - 1] = '\0';
			for (int first = 1; *line && (frame = strsep(&line, ";")); first = 0) {
				lode_buffer_text(told, first ? "" : "|");
				oracle_frame(told, frame);
				if (!line)
					break;
				if (!*line) {
					lode_buffer_text(told, "|");
					break;
				}
			}
			lode_buffer_byte(told, '\n');
		}
		line = next;
	}
	lode_buffer_byte(told, '\0');
	free(copy);
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Events of one time may stand in any order: compare as sorted lines. */
static char *sorted_lines(const char *text)
{
	char *copy = strdup(text), *rest = copy, *line, *result = calloc(1, strlen(text) + 2), *at = result;
	size_t count = 0;
	char **lines = calloc(strlen(text) + 1, sizeof(*lines));

	while ((line = strsep(&rest, "\n")))
		if (*line)
			lines[count++] = line;
	qsort(lines, count, sizeof(*lines), compare_texts);
	for (size_t i = 0; i < count; i++)
		at += sprintf(at, "%s\n", lines[i]);
	free(lines);
	free(copy);
	return result;
}

static void random_folded_text_reads_as_a_naive_reader_reads_it(void **state)
{
	uint64_t seed = 11;

	(void)state;
	for (int round = 0; round < TEST_ROUNDS(3000); round++) {
		struct lode_buffer text = { 0 }, told = { 0 };
		struct imported imported;
		char *expected, *got;

		random_folded(&text, &seed, random_below(&seed, 30));
		lode_buffer_byte(&text, '\0');
		oracle_folded(&told, text.bytes);
		import_bytes(&imported, &lode_importer_folded, text.bytes, text.size - 1, NULL);
		assert_int_equal(imported.code, 0);
		expected = sorted_lines(told.bytes);
		got = sorted_lines(strchr(imported.text.bytes, '\n') + 1);
		assert_string_equal(got, expected);
		free(expected);
		free(got);
		release_imported(&imported);
		lode_buffer_release(&text);
		lode_buffer_release(&told);
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
	for (unsigned jobs = 2; jobs < 6; jobs++) {
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
	for (int i = 1; i <= 1500000; i++)
		lode_buffer_text(&text, i == 900001 || i == 1499999 ? "wrong\n" : "a;b 1\n");
	for (unsigned jobs = 1; jobs < 5; jobs++) {
		struct lode_import_options options = { .jobs = jobs };
		struct imported imported;

		import_bytes(&imported, &lode_importer_folded, text.bytes, text.size, &options);
		assert_int_equal(imported.code, 0);
		assert_int_equal(note_count(&imported, "lines that do not end in a number"), 2);
		assert_non_null(strstr(imported.notes.items[0].example, "x.y.gz:900001: "));
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

/* ---- plain events ---- */

static void the_example_of_the_contract_is_read(void **state)
{
	(void)state;
	assert_import(
		&lode_importer_events,
		"{\"stream\":\"laptop-17\",\"host\":\"h17\",\"attrs\":{\"version\":\"4.2\",\"files\":1200,"
		"\"ok\":true}}\n"
		"{\"type\":\"run\",\"t\":1000,\"cost\":1000000,\"pid\":10,\"tid\":11,\"stack\":[\"app!main\","
		"\"app!load\",\"libc!read\"]}\n"
		"{\"type\":\"wait\",\"t\":5000,\"cost\":300000000,\"pid\":10,\"tid\":11,\"waker\":12,"
		"\"stack\":[\"app!main\",\"app!lock\"],"
		"\"waker_stack\":[\"app!worker\",\"app!unlock\"]}\n"
		"{\"type\":\"call\",\"t\":6000,\"tid\":11,\"name\":\"openat\",\"stack\":[\"app!main\",\"app!"
		"load\"]}\n"
		"{\"type\":\"symptom\",\"tid\":11,\"t0\":0,\"t1\":400000000,\"name\":\"open folder\"}\n",
		NULL,
		"stream laptop-17 h17\n"
		"attribute version=4.2 0\n"
		"attribute files=1200 1\n"
		"attribute ok=true 2\n"
		"run 1000+1000000 10/11 app!main|app!load|libc!read\n"
		"wait 5000+300000000 10/11 waker=12 app!main|app!lock < app!worker|app!unlock\n"
		"call 6000+0 11 name=openat app!main|app!load\n"
		"symptom 0-400000000 11 open folder\n");
}

static void fields_come_in_any_order_and_the_last_of_two_wins(void **state)
{
	(void)state;
	assert_import(&lode_importer_events,
		      "\n  { \"stack\" : [ \"x\" ], \"stack\":[\"a\",\"b\"],\"cost\":2, "
		      "\"tid\":1,\"cpu\":3,\"pid\":null,\"t\":9,\"t\":5, \"type\":\"run\" }  \r\n\n",
		      NULL, "stream x \nrun 5+2 1 cpu=3 a|b\n");
}

static void streams_follow_one_another(void **state)
{
	struct lode_import_options named = { .stream_name = "given" };

	(void)state;
	assert_import(&lode_importer_events,
		      "{\"type\":\"call\",\"t\":1,\"tid\":1}\n{\"stream\":\"b\"}\n{\"stream\":\"c\"}\n{"
		      "\"type\":\"call\",\"t\":2,\"tid\":1}\n",
		      &named, "stream given \ncall 1+0 1 \nstream b \nstream c \ncall 2+0 1 \n");
	assert_import(&lode_importer_events, "{\"stream\":\"b\"}\n", &named, "stream given \n");
	assert_import(&lode_importer_events, "{\"stream\":\"b\",\"attrs\":{}}\n", NULL, "stream b \n");
	assert_import(&lode_importer_events, "\n", NULL, "");
	assert_import(&lode_importer_events, "{\"type\":\"new\",\"stack\":[\"a\"]}\n{\"stream\":\"b\"}\n", NULL,
		      "stream b \n");
}

static void a_waker_is_the_first_thread_with_its_tid_wherever_it_stands(void **state)
{
	(void)state;
	assert_import(&lode_importer_events,
		      "{\"type\":\"wait\",\"t\":1,\"cost\":1,\"tid\":13,\"waker\":12}\n"
		      "{\"type\":\"wait\",\"t\":2,\"cost\":1,\"pid\":7,\"tid\":13,\"waker\":11}\n"
		      "{\"type\":\"run\",\"t\":3,\"cost\":1,\"pid\":10,\"tid\":11}\n"
		      "{\"type\":\"run\",\"t\":4,\"cost\":1,\"pid\":20,\"tid\":11}\n",
		      NULL,
		      "stream x \n"
		      "run 3+1 10/11 \n"
		      "run 4+1 20/11 \n"
		      "wait 1+1 13 waker=12 \n"
		      "wait 2+1 7/13 waker=10/11 \n");
}

static void modules_and_delays_are_read(void **state)
{
	(void)state;
	assert_import(&lode_importer_events,
		      "{\"type\":\"module\",\"name\":\"ext4\",\"kind\":\"kernel\",\"path\":\"/lib/"
		      "ext4.ko\",\"build_id\":\"00ff\"}\n"
		      "{\"type\":\"wait\",\"t\":1,\"cost\":1,\"tid\":1,\"delay\":9,\"name\":\"futex\"}\n"
		      "{\"type\":\"call\",\"t\":1,\"tid\":1,\"delay\":8,\"name\":\"preempt\"}\n",
		      NULL,
		      "stream x \nmodule ext4 kernel /lib/ext4.ko 00ff\nwait 1+1 1 delay=9 name=futex \ncall "
		      "1+0 1 delay=8 name=preempt \n");
}

static void numbers_are_exact(void **state)
{
	(void)state;
	assert_import(
		&lode_importer_events,
		"{\"type\":\"run\",\"t\":18446744073709551615,\"cost\":9007199254740993,\"tid\":1}\n"
		"{\"type\":\"run\",\"t\":1e9,\"cost\":1.0,\"tid\":1}\n"
		"{\"type\":\"run\",\"t\":1.5e1,\"cost\":120e-1,\"tid\":1}\n"
		"{\"type\":\"run\",\"t\":1844674407370955161400e-2,\"cost\":-0,\"tid\":1}\n"
		"{\"type\":\"run\",\"t\":0.0000000000000000000000000000001e31,\"cost\":0e999999999,\"tid\":1}"
		"\n",
		NULL,
		"stream x \nrun 1+0 1 \nrun 15+12 1 \nrun 1000000000+1 1 \nrun 18446744073709551614+0 1 \n"
		"run 18446744073709551615+9007199254740993 1 \n");
}

static void numbers_that_do_not_fit_are_errors_that_name_the_field(void **state)
{
	(void)state;
	assert_bad(&lode_importer_events, "\n{\"type\":\"run\",\"t\":18446744073709551616,\"cost\":1,\"tid\":1}\n",
		   "x.y.gz:2: `t` is too large");
	assert_bad(&lode_importer_events, "{\"type\":\"run\",\"t\":1e20,\"cost\":1,\"tid\":1}\n",
		   "`t` is too large");
	assert_bad(&lode_importer_events, "{\"type\":\"run\",\"t\":1e999999999999,\"cost\":1,\"tid\":1}\n",
		   "`t` is too large");
	assert_bad(&lode_importer_events, "{\"type\":\"run\",\"t\":1,\"cost\":-1,\"tid\":1}\n",
		   "`cost` is negative");
	assert_bad(&lode_importer_events, "{\"type\":\"run\",\"t\":1.5,\"cost\":1,\"tid\":1}\n",
		   "`t` is not a whole number");
	assert_bad(&lode_importer_events, "{\"type\":\"run\",\"t\":1,\"cost\":1,\"tid\":4294967295}\n",
		   "`tid` is too large");
	assert_bad(&lode_importer_events, "{\"type\":\"run\",\"t\":1,\"cost\":1,\"tid\":1,\"cpu\":65535}\n",
		   "`cpu` is too large");
}

/* Digits and power at random, against plain arithmetic. */
static void random_numbers_read_as_their_value(void **state)
{
	uint64_t seed = 5;

	(void)state;
	for (int round = 0; round < TEST_ROUNDS(4000); round++) {
		uint64_t mantissa = random_number(&seed);
		int shift = (int)random_below(&seed, 12), point = (int)random_below(&seed, 10);
		uint64_t value = mantissa;
		char digits[64], line[200], expected[200];
		size_t length;
		int exact = 1, too_large = 0;

		/* digits with a point `point` places from the right, times ten to the `shift` */
		length = (size_t)snprintf(digits, sizeof(digits), "%0*" PRIu64, point + 1, mantissa);
		for (int i = 0; i < shift - point; i++)
			too_large |= __builtin_mul_overflow(value, 10, &value);
		for (int i = 0; i < point - shift; i++) {
			exact &= value % 10 == 0;
			value /= 10;
		}
		snprintf(line, sizeof(line), "{\"type\":\"call\",\"tid\":1,\"t\":%.*s%s%se%s%d}\n",
			 (int)(length - (size_t)point), digits, point ? "." : "", digits + length - point,
			 shift % 2 ? "+" : "", shift);
		if (!exact) {
			assert_bad(&lode_importer_events, line, "`t` is not a whole number");
		} else if (too_large) {
			assert_bad(&lode_importer_events, line, "`t` is too large");
		} else {
			snprintf(expected, sizeof(expected), "stream x \ncall %" PRIu64 "+0 1 \n", value);
			assert_import(&lode_importer_events, line, NULL, expected);
		}
	}
}

static void wrong_lines_are_errors_with_their_place(void **state)
{
	static const char *const wrong[][2] = {
		{ "{\"type\":\"run\",\"t\":1}\n", "x.y.gz:1: a `run` line needs `cost`" },
		{ "{\"type\":\"wait\",\"t\":1,\"cost\":1}\n", "a `wait` line needs `tid`" },
		{ "{\"type\":\"call\",\"tid\":1}\n", "a `call` line needs `t`" },
		{ "{\"type\":\"symptom\",\"tid\":1,\"t0\":5}\n", "needs `t1`" },
		{ "{\"type\":\"symptom\",\"tid\":1,\"t0\":5,\"t1\":4}\n", "before it begins" },
		{ "{\"type\":\"module\"}\n", "needs `name`" },
		{ "{\"type\":\"module\",\"name\":\"a\",\"kind\":\"odd\"}\n", "user, library, kernel or jit" },
		{ "{}\n", "neither `type` nor `stream`" },
		{ "{\"t\":1}\n", "neither" },
		{ "\n\n{\"type\":5}\n", "x.y.gz:3: `type` must be a text" },
		{ "{\"type\":\"run\",\"t\":\"1\"}\n", "`t` must be a number" },
		{ "{\"type\":\"run\",\"t\":true}\n", "`t` must be a number" },
		{ "{\"type\":\"run\",\"t\":[1]}\n", "`t` must be a number" },
		{ "{\"type\":\"run\",\"stack\":\"a\"}\n", "`stack` must be an array of texts" },
		{ "{\"type\":\"run\",\"stack\":[1]}\n", "`stack` must hold only texts" },
		{ "{\"type\":\"run\",\"stack\":[null]}\n", "`stack` must hold only texts" },
		{ "{\"type\":\"run\",\"stack\":[[]]}\n", "`stack` must hold only texts" },
		{ "{\"stream\":\"a\",\"attrs\":5}\n", "`attrs` must be an object" },
		{ "[1]\n", "is not a JSON object" },
		{ "5\n", "is not a JSON object" },
		{ "null\n", "is not a JSON object" },
		{ "hello\n", "is not a JSON object" },
		{ "{\"type\":\"run\",}\n", "is not a JSON object" },
		{ "{\"type\":\"run\"\n", "does not end on its line" },
		{ "{\"type\":\"run\"", "does not end on its line" },
		{ "{\"a\":\"text that\n ends elsewhere\"}\n", "x.y.gz:1: " },
		{ "{\"stream\":\"a\"}{\"stream\":\"b\"}\n", "more than one object" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_bad(&lode_importer_events, wrong[i][0], wrong[i][1]);
}

static void what_is_not_known_is_counted(void **state)
{
	(void)state;
	assert_note(&lode_importer_events,
		    "{\"type\":\"run\",\"t\":1,\"cost\":1,\"tid\":1,\"odd\":{\"a\":[1,{\"b\":null}]},\"\":[],"
		    "\"t00\":true}\n",
		    "fields that are not known", 3);
	assert_note(&lode_importer_events, "{\"type\":\"odd\",\"t\":1}\n{\"type\":\"odder\"}\n",
		    "type that is not known", 2);
	assert_note(&lode_importer_events, "{\"type\":\"call\",\"t\":1,\"cost\":1,\"tid\":1,\"t0\":5}\n",
		    "do not belong", 2);
	assert_note(&lode_importer_events, "{\"stream\":\"a\",\"attrs\":{\"a\":[1],\"b\":{\"c\":1},\"d\":null}}\n",
		    "arrays or objects", 2);
	assert_note(&lode_importer_events, "{\"stream\":\"a\\u0000b\"}\n", "NUL", 1);
}

static void attributes_keep_their_numbers_as_written(void **state)
{
	(void)state;
	assert_import(&lode_importer_events,
		      "{\"stream\":\"a\",\"attrs\":{\"x\":1.50,\"y\":-2e5,\"x\":\"last\",\"\":false}}\n", NULL,
		      "stream a \nattribute x=last 0\nattribute y=-2e5 1\nattribute =false 2\n");
}

static void escapes_are_read_and_wrong_bytes_are_kept(void **state)
{
	(void)state;
	assert_import(&lode_importer_events, "{\"stream\":\"\\u00e4\\n\xff\\\"\"}\n", NULL,
		      "stream \xc3\xa4\n\xff\" \n");
	assert_import(&lode_importer_events, "\xef\xbb\xbf{\"stream\":\"a\"}\n", NULL, "stream a \n");
}

static void stacks_of_events_that_are_too_deep_keep_their_leaf(void **state)
{
	struct lode_buffer text = { 0 };
	struct imported imported;

	(void)state;
	lode_buffer_text(&text, "{\"type\":\"call\",\"t\":1,\"tid\":1,\"stack\":[");
	for (int i = 0; i < LODE_STACK_DEPTH_LIMIT + 3; i++)
		lode_buffer_print(&text, "%s\"f%d\"", i ? "," : "", i);
	lode_buffer_text(&text, "]}\n");
	import_bytes(&imported, &lode_importer_events, text.bytes, text.size, NULL);
	assert_int_equal(imported.code, 0);
	assert_int_equal(note_count(&imported, "cut at the root"), 1);
	assert_non_null(strstr(imported.text.bytes, "call 1+0 1 f3|f4|"));
	release_imported(&imported);
	lode_buffer_release(&text);
}

static void deep_nesting_is_refused(void **state)
{
	char text[1000] = "{\"odd\":";

	(void)state;
	memset(text + strlen(text), '[', 500);
	assert_bad(&lode_importer_events, text, "nested");
}

/* One random event as JSON with its fields shuffled, and as the fixture tells it. */
static void random_event_line(struct lode_buffer *json, char **told, uint64_t *seed)
{
	static const char *const types[] = { "run", "wait", "call" };
	static const char *const frames[] = { "a", "app!b", "\\u0041", "q\\\"q", "" };
	static const char *const frames_told[] = { "a", "app!b", "A", "q\"q", "" };
	uint64_t type = random_below(seed, 3), t = random_number(seed), cost = type == 2 ? 0 : random_number(seed);
	uint64_t delay = random_below(seed, 3) ? 0 : random_number(seed), cpu = random_below(seed, 9);
	uint64_t tid = random_below(seed, 5), depth = random_below(seed, 6);
	struct lode_buffer parts[8] = { { 0 } }, line = { 0 };
	size_t count = 0;

	lode_buffer_print(&parts[count++], "\"type\":\"%s\"", types[type]);
	lode_buffer_print(&parts[count++], "\"t\":%" PRIu64, t);
	if (type != 2)
		lode_buffer_print(&parts[count++], "\"cost\" : %" PRIu64, cost);
	lode_buffer_print(&parts[count++], "\"tid\":%" PRIu64, tid);
	lode_buffer_print(&line, "%s %" PRIu64 "+%" PRIu64 " %" PRIu64, types[type], t, cost, tid);
	if (delay) {
		lode_buffer_print(&parts[count++], "\"delay\":%" PRIu64, delay);
		lode_buffer_print(&line, " delay=%" PRIu64, delay);
	}
	if (cpu) {
		lode_buffer_print(&parts[count++], "\"cpu\":%" PRIu64, cpu);
		lode_buffer_print(&line, " cpu=%" PRIu64, cpu);
	}
	lode_buffer_text(&parts[count], "\"stack\":[");
	lode_buffer_byte(&line, ' ');
	for (uint64_t i = 0; i < depth; i++) {
		uint64_t frame = random_below(seed, 5);

		lode_buffer_print(&parts[count], "%s\"%s\"", i ? "," : "", frames[frame]);
		lode_buffer_print(&line, "%s%s", i ? "|" : "", frames_told[frame]);
	}
	lode_buffer_text(&parts[count++], "]");
	lode_buffer_byte(&line, '\0');
	lode_buffer_byte(json, '{');
	for (size_t left = count; left; left--) {
		size_t pick = random_below(seed, left);
		struct lode_buffer part = parts[pick];

		lode_buffer_add(json, part.bytes, part.size);
		lode_buffer_text(json, left > 1 ? "," : "}\n");
		parts[pick] = parts[left - 1];
		lode_buffer_release(&part);
	}
	*told = line.bytes;
}

static void random_events_read_as_they_were_written(void **state)
{
	uint64_t seed = 3;

	(void)state;
	for (int round = 0; round < TEST_ROUNDS(1500); round++) {
		struct lode_buffer json = { 0 }, all = { 0 };
		struct imported imported;
		char *got, *expected;

		for (uint64_t lines = 1 + random_below(&seed, 20); lines; lines--) {
			char *told;

			random_event_line(&json, &told, &seed);
			lode_buffer_text(&all, told);
			lode_buffer_byte(&all, '\n');
			free(told);
		}
		lode_buffer_byte(&all, '\0');
		import_bytes(&imported, &lode_importer_events, json.bytes, json.size, NULL);
		assert_int_equal(imported.code, 0);
		expected = sorted_lines(all.bytes);
		got = sorted_lines(strchr(imported.text.bytes, '\n') + 1);
		assert_string_equal(got, expected);
		free(got);
		free(expected);
		release_imported(&imported);
		lode_buffer_release(&json);
		lode_buffer_release(&all);
	}
}

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

static void the_sniffer_tells_formats_apart(void **state)
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

static void a_few_lines_without_a_number_are_left_out_and_told(void **state)
{
	static const char text[] = "main;a 5\nmain;b\nmain;c 7\nmain;c 7\nmain;c 7\nmain;d -3\n"
				   "main;a 5\nmain;a 5\nmain;a 5\nmain;a 5\n";
	struct imported imported;

	(void)state;
	assert_note(&lode_importer_folded, text, "lines that do not end in a number, left out", 2);
	import_bytes(&imported, &lode_importer_folded, text, strlen(text), NULL);
	assert_non_null(strstr(imported.text.bytes, "run 5+7 0 main|c"));
	release_imported(&imported);
	assert_bad(&lode_importer_folded, "main;a\nmain;b\nmain;c 7\n", "does not end in a number");
	assert_true(lode_importer_folded.sniff((const unsigned char *)text, strlen(text), "x") >= 50);
	assert_int_equal(lode_importer_folded.sniff((const unsigned char *)"a;b 1\na;b\n", 10, "x"), 0);
}

static void formats_without_an_importer_are_named(void **state)
{
	static const unsigned char zip[8] = { 'P', 'K', 3, 4 };
	static const struct {
		const unsigned char *bytes;
		size_t size;
		const char *told;
	} files[] = { { zip, sizeof(zip), "is a ZIP archive" } };
	struct lode_import_options options = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct lode_error error = { "" };
		struct lode_input *input;

		assert_int_equal(lode_input_memory(&input, "file.json", files[i].bytes, files[i].size, NULL), 0);
		assert_null(lode_import_choose(input, &options, &error));
		assert_non_null(strstr(error.text, files[i].told));
		lode_input_close(input);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(folders_are_put_in_front_of_names_as_far_as_there_are_any),
		cmocka_unit_test(a_few_lines_without_a_number_are_left_out_and_told),
		cmocka_unit_test(formats_without_an_importer_are_named),
		cmocka_unit_test(folded_stacks_tile_a_line_of_time),
		cmocka_unit_test(the_unit_and_the_kind_can_be_chosen),
		cmocka_unit_test(fractions_are_rounded),
		cmocka_unit_test(fractions_are_exact_however_long_they_are),
		cmocka_unit_test(fractions_that_are_lost_are_reported),
		cmocka_unit_test(folded_text_that_is_cut_off_is_reported),
		cmocka_unit_test(the_sniffer_knows_folded_text_that_is_cut_off),
		cmocka_unit_test(events_that_are_cut_off_are_reported),
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
		cmocka_unit_test(the_example_of_the_contract_is_read),
		cmocka_unit_test(fields_come_in_any_order_and_the_last_of_two_wins),
		cmocka_unit_test(streams_follow_one_another),
		cmocka_unit_test(a_waker_is_the_first_thread_with_its_tid_wherever_it_stands),
		cmocka_unit_test(modules_and_delays_are_read),
		cmocka_unit_test(numbers_are_exact),
		cmocka_unit_test(numbers_that_do_not_fit_are_errors_that_name_the_field),
		cmocka_unit_test(random_numbers_read_as_their_value),
		cmocka_unit_test(wrong_lines_are_errors_with_their_place),
		cmocka_unit_test(what_is_not_known_is_counted),
		cmocka_unit_test(attributes_keep_their_numbers_as_written),
		cmocka_unit_test(escapes_are_read_and_wrong_bytes_are_kept),
		cmocka_unit_test(stacks_of_events_that_are_too_deep_keep_their_leaf),
		cmocka_unit_test(deep_nesting_is_refused),
		cmocka_unit_test(random_events_read_as_they_were_written),
		cmocka_unit_test(damaged_text_never_crashes),
		cmocka_unit_test(text_importers_survive_every_failing_allocation),
		cmocka_unit_test(threads_survive_failing_allocations_too),
		cmocka_unit_test(the_sniffer_tells_formats_apart),
		cmocka_unit_test(the_sniffers_take_any_bytes),
		cmocka_unit_test(an_unknown_format_is_answered_with_the_known_ones),
		cmocka_unit_test(streams_are_named_after_their_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
