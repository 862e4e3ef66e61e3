/* Plain events (docs/formats): lines of JSON, read and refused. */
#include "text_import.h"

/* ---- folded stacks ---- */

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
	/* An object shows by itself that it is whole. */
	snprintf(text, sizeof(text), "%s\n%s", run, run);
	assert_import(&lode_importer_events, text, NULL, "stream x \nrun 1+2 3 a|b\nrun 1+2 3 a|b\n");
	assert_note(&lode_importer_events, text, "a last line", 0);
	snprintf(text, sizeof(text), "%s\n{\"type\" run", run);
	assert_bad(&lode_importer_events, text, "x.y.gz:2: ");
	snprintf(text, sizeof(text), "%s\n12", run);
	assert_bad(&lode_importer_events, text, "x.y.gz:2: ");
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

static void a_waker_is_the_first_thread_with_its_tid_wherever_it_is(void **state)
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
		{ "{\"type\":\"run\",\"stack\":\"a\"}\n", "`stack` must be an array of strings" },
		{ "{\"type\":\"run\",\"stack\":[1]}\n", "`stack` must contain only strings" },
		{ "{\"type\":\"run\",\"stack\":[null]}\n", "`stack` must contain only strings" },
		{ "{\"type\":\"run\",\"stack\":[[]]}\n", "`stack` must contain only strings" },
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
		    "unknown fields", 3);
	assert_note(&lode_importer_events, "{\"type\":\"odd\",\"t\":1}\n{\"type\":\"odder\"}\n", "unknown type", 2);
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

/* One random event as JSON with its fields shuffled, and as the fixture prints it. */
static void random_event_line(struct lode_buffer *json, char **reported, uint64_t *seed)
{
	static const char *const types[] = { "run", "wait", "call" };
	static const char *const frames[] = { "a", "app!b", "\\u0041", "q\\\"q", "" };
	static const char *const frames_reported[] = { "a", "app!b", "A", "q\"q", "" };
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
		lode_buffer_print(&line, "%s%s", i ? "|" : "", frames_reported[frame]);
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
	*reported = line.bytes;
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
			char *reported;

			random_event_line(&json, &reported, &seed);
			lode_buffer_text(&all, reported);
			lode_buffer_byte(&all, '\n');
			free(reported);
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

/* ---- the sniffer ---- */

static void a_few_lines_without_a_number_are_left_out_and_reported(void **state)
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_few_lines_without_a_number_are_left_out_and_reported),
		cmocka_unit_test(events_that_are_cut_off_are_reported),
		cmocka_unit_test(the_example_of_the_contract_is_read),
		cmocka_unit_test(fields_come_in_any_order_and_the_last_of_two_wins),
		cmocka_unit_test(streams_follow_one_another),
		cmocka_unit_test(a_waker_is_the_first_thread_with_its_tid_wherever_it_is),
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
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
