/* The importer of what perf script prints. */
#include "import_fixture.h"

#include "import/kernel/perf_script_line.h"

static const struct lode_importer *const script = &lode_importer_perf_script;

static void samples_become_runs_with_their_stacks_turned_round(void **state)
{
	(void)state;
	assert_import(script,
		      "my app 12 [003]  2214.688161:     250000 cpu-clock: \n"
		      "\tffff8000800c7214 try_to_wake_up+0x3cc ([kernel.kallsyms])\n"
		      "\tffff80007b21 ext4_read+0x10 ([ext4])\n"
		      "\t           d411c std::operator<< <char>(int, a)+0xc (/usr/lib/x/libc++ (v2).so.1)\n"
		      "\t          183ba7 [unknown] (/usr/bin/app)\n"
		      "\t          103778 main (/usr/bin/app (deleted))\n"
		      "\n",
		      NULL,
		      "stream x \n"
		      "thread 12 my app\n"
		      "module ext4 kernel  \n"
		      "module libc++ {v2}.so.1 library /usr/lib/x/libc++ (v2).so.1 \n"
		      "module app user /usr/bin/app \n"
		      "run 2214688161000+250000 12 cpu=3 app!main|app!0x183ba7|libc++ "
		      "{v2}.so.1!std::operator<< <char>(int, a)|"
		      "ext4!ext4_read|kernel!try_to_wake_up\n");
}

static void modules_are_named_as_the_rest_of_lode_names_them(void **state)
{
	(void)state;
	assert_import(script,
		      "a 1 1.000000: 5 cpu-clock:\n"
		      "\t1 a ([vdso])\n\t2 b (/tmp/perf-12.map)\n\t3 c ([unknown])\n\t4 [unknown] ([unknown])\n"
		      "\t5 e (/lib/modules/6.1/kernel/nf-tables.ko.xz)\n\t6 f (/boot/vmlinux-6.1)\n\t7 g\n\t8\n"
		      "\t9 h+0x5 (//anon)\n\ta i ([guest.kernel.kallsyms])\n\n",
		      NULL,
		      "stream x \n"
		      "thread 1 a\n"
		      "module nf_tables kernel /lib/modules/6.1/kernel/nf-tables.ko.xz \n"
		      "module kernel kernel /boot/vmlinux-6.1 \n"
		      "module anon user //anon \n"
		      "run 1000000000+5 1 "
		      "kernel!i|anon!h|0x8|g|kernel!f|nf_tables!e|0x4|c|[jit]!b|[vdso]!a\n");
}

static void headers_come_with_and_without_their_parts(void **state)
{
	(void)state;
	assert_import(script,
		      "  a 12/34 [001] 1.5:  bad\n"
		      "  a 12/34 [001] 1.500000001: 7 cpu-clock:u: \n"
		      "\t1 f (x)\n\n"
		      "b c:d  5 2.000000: 8 task-clock:ppp:\n"
		      "    1 g (x)\n"
		      "9 3.000000: 9 cpu-clock/freq=999/: ffff f+0x1 (y)\n"
		      "e 0 [000] 4.000000:          1 task-clock:  1 f (x)\n"
		      ":77 77 5.000000: 3 cpu-clock:\n",
		      NULL,
		      "stream x \n"
		      "thread 12/34 a\n"
		      "thread 5 b c:d\n"
		      "thread 0 e\n"
		      "run 1500000001+7 12/34 cpu=1 x!f\n"
		      "run 2000000000+8 5 x!g\n"
		      "run 3000000000+9 9 y!f\n"
		      "run 4000000000+1 0 cpu=0 x!f\n"
		      "run 5000000000+3 77 \n");
}

static void inlined_functions_belong_to_the_module_they_were_inlined_into(void **state)
{
	(void)state;
	assert_import(script,
		      "a 1 1.000000: 5 cpu-clock:\n\t1 in1 (inlined)\n\t1 in2 (inlined)\n\t1 f+0x5 "
		      "(/x/app)\n\t2 in3 (inlined)\n\t2 g (lib)\n"
		      "\t3 last (inlined)\n\n",
		      NULL,
		      "stream x \nthread 1 a\nmodule app user /x/app \nrun 1000000000+5 1 "
		      "last|lib!g|lib!in3|app!f|app!in2|app!in1\n");
}

static void system_calls_and_other_events_become_calls(void **state)
{
	static const char text[] =
		"a 1 [000] 1.000000: syscalls:sys_enter_openat: dfd: 0xff, filename: 0xaa\n\t1 f (x)\n\n"
		"a 1 [000] 2.000000: syscalls:sys_exit_openat: 0x3\n\t1 f (x)\n\n"
		"a 1 [000] 3.000000: raw_syscalls:sys_enter: NR 214 (0, 0)\n\n"
		"a 1 [000] 4.000000: raw_syscalls:sys_exit: NR 214 = 5\n\n"
		"a 1 [000] 5.000000:      1 page-faults:u:  1 f (x)\n"
		"a 1 [000] 6.000000: block:block_rq_issue: 8,0 R 4096 () 12 + 8 [a]\n\t2 g (x)\n";

	(void)state;
	assert_import(script, text, NULL,
		      "stream x \nthread 1 a\n"
		      "call 1000000000+0 1 cpu=0 name=openat x!f\n"
		      "call 3000000000+0 1 cpu=0 name=syscall_214 \n"
		      "call 5000000000+0 1 cpu=0 name=page-faults:u x!f\n"
		      "call 6000000000+0 1 cpu=0 name=block:block_rq_issue x!g\n");
	assert_note(script, text, "system call exits", 2);
}

static void switches_and_wakings_are_joined_into_waits(void **state)
{
	/* Out of order, with a comm that holds blanks and one that looks like a field. */
	static const char text[] =
		"my app 10/11 [000] 1.000000: sched:sched_switch: prev_comm=my app prev_pid=11 prev_prio=120 "
		"prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120\n"
		"\t1 wait (app)\n\t2 main (app)\n\n"
		"swapper 0/0 [000] 3.000000: sched:sched_switch: prev_comm=swapper/0 prev_pid=0 "
		"prev_prio=120 prev_state=R ==> next_comm=my app next_pid=11 next_prio=120\n\n"
		"b pid=9 x 20/21 [001] 2.500000: sched:sched_waking: comm=my app pid=11 prio=120 "
		"target_cpu=000\n"
		"\t3 wake (lib)\n\n";

	(void)state;
	assert_import(script, text, NULL,
		      "stream x \nthread 10/11 my app\nthread 0/0 swapper\nthread 20/21 b pid=9 x\n"
		      "wait 1000000000+1500000000 10/11 delay=500000000 cpu=0 waker=20/21 app!main|app!wait "
		      "< lib!wake\n");
}

static void the_short_form_of_scheduler_events_is_read_too(void **state)
{
	(void)state;
	assert_import(script,
		      "a 11 [000] 1.000000: sched:sched_switch: a:b:11 [120] D ==> swapper/0:0 [120]\n\n"
		      "c 12 [001] 2.000000: sched:sched_wakeup: a:b:11 [120] success=1 CPU:000\n\n"
		      "swapper 0 [000] 3.000000: sched:sched_switch: swapper/0:0 [120] R ==> a:b:11 [120]\n\n"
		      "a 11 [000] 4.000000: sched:sched_switch: a:b:11 [120] R+ ==> d:13 [120]\n\n"
		      "d 13 [000] 6.000000: sched:sched_switch: d:13 [120] X ==> a:b:11 [120]\n\n",
		      NULL,
		      "stream x \nthread 11 a\nthread 12 c\nthread 0 swapper\nthread 13 d\n"
		      "wait 1000000000+1000000000 11 delay=1000000000 cpu=0 waker=12 \n"
		      "call 4000000000+0 11 delay=2000000000 cpu=0 name=preempt \n");
}

static void the_cost_of_cycles_is_estimated_from_the_distance_between_neighbours(void **state)
{
	static const char text[] = "a 1 [000] 1.000000: cycles:ppp: 1 f (x)\n"
				   "a 1 [000] 1.001000: cycles:ppp: 1 f (x)\n"
				   "b 2 [001] 1.001500: cycles:ppp: 1 f (x)\n"
				   "b 2 [001] 1.002500: cpu_core/cycles/P: 1 f (x)\n"
				   "a 1 [000] 9.000000: cycles: 1 f (x)\n"
				   "a 1 [001] 9.000100: cycles: 1 f (x)\n";

	(void)state;
	assert_import(script, text, NULL,
		      "stream x \nthread 1 a\nthread 2 b\n"
		      "run 1000000000+1000000 1 cpu=0 x!f\n"
		      "run 1001000000+1000000 1 cpu=0 x!f\n"
		      "run 1001500000+1000000 2 cpu=1 x!f\n"
		      "run 1002500000+1000000 2 cpu=1 x!f\n"
		      "run 9000000000+1000000 1 cpu=0 x!f\n"
		      "run 9000100000+1000000 1 cpu=1 x!f\n");
	assert_note(script, text, "guessed", 6);
}

/* `perf record -F 99 -a`: each CPU is looked at 99 times a second and has work a part of the time. */
static void the_cost_of_samples_is_the_period_of_busy_cpus(void **state)
{
	uint64_t seed = 23;

	(void)state;
	for (int round = 0; round < 60; round++) {
		uint64_t period = 1000000 + random_below(&seed, 20000000), busy = 10 + random_below(&seed, 91);
		struct lode_buffer text = { 0 };
		struct imported imported;
		unsigned long long t, cost;

		for (uint64_t tick = 1; tick < 1500; tick++)
			for (unsigned cpu = 0; cpu < 3; cpu++) {
				char line[100];
				unsigned tid = 1 + (unsigned)random_below(&seed, 4);

				t = tick * period + cpu * (period / 3) + random_below(&seed, period / 100);
				snprintf(line, sizeof(line), "a %u [%03u] %llu.%09llu: cycles: 1 f (x)\n", tid,
					 cpu, t / 1000000000, t % 1000000000);
				if (random_below(&seed, 100) < busy)
					lode_buffer_add(&text, line, strlen(line));
			}
		import_bytes(&imported, script, text.bytes, text.size, NULL);
		assert_string_equal(imported.code < 0 ? imported.error.text : "", "");
		assert_int_equal(sscanf(strstr(imported.text.bytes, "run "), "run %llu+%llu", &t, &cost), 2);
		if (cost < period - period / 30 || cost > period + period / 30)
			fail_msg("%llu ns instead of %llu, busy %llu %%", cost, (unsigned long long)period,
				 (unsigned long long)busy);
		release_imported(&imported);
		lode_buffer_release(&text);
	}
}

static void the_header_or_the_caller_says_what_a_sample_costs(void **state)
{
	static const char text[] =
		"# event : name = cycles:P, , type = 0, { sample_period, sample_freq } = 250, "
		"sample_type = IP|TID|TIME, disabled = 1, freq = 1, sample_id_all = 1\n"
		"# event : name = dummy:u, , { sample_period, sample_freq } = 1, sample_type = IP\n"
		"a 1 [000] 1.000000: cycles:P: 1 f (x)\n"
		"a 1 [000] 3.000000: cycles:P: 1 f (x)\n";
	struct lode_import_options options = { .jobs = 1, .unit_ns = 7e6 };

	(void)state;
	assert_import(script, text, NULL,
		      "stream x \nthread 1 a\nrun 1000000000+4000000 1 cpu=0 x!f\n"
		      "run 3000000000+4000000 1 cpu=0 x!f\n");
	assert_note(script, text, "what the header's frequency says", 2);
	assert_import(script, text, &options,
		      "stream x \nthread 1 a\nrun 1000000000+7000000 1 cpu=0 x!f\n"
		      "run 3000000000+7000000 1 cpu=0 x!f\n");
}

static void the_period_of_cycles_is_time_at_the_rate_of_the_counter(void **state)
{
	static const char text[] = "a 1 [000] 1.000000: 1 cycles:ppp: 1 f (x)\n"
				   "a 1 [000] 1.001000: 2000000 cycles:ppp: 1 f (x)\n"
				   "a 1 [000] 1.002000: 2000000 cycles:ppp: 1 f (x)\n"
				   "a 1 [000] 9.000000: 1000000 cycles:ppp: 1 f (x)\n";

	(void)state;
	assert_import(&lode_importer_perf_script, text, NULL,
		      "stream x \nthread 1 a\n"
		      "run 1000000000+1 1 cpu=0 x!f\nrun 1001000000+1000000 1 cpu=0 x!f\n"
		      "run 1002000000+1000000 1 cpu=0 x!f\nrun 9000000000+500000 1 cpu=0 x!f\n");
	assert_note(&lode_importer_perf_script, text, "at the rate at which their counter ran", 4);
}

static const char header_line[] = "a 1 [000] 1.000000: 5 cpu-clock:\n";
static const char frame_lines[] = "\t1 leaf (app)\n\t2 main (app)\n";

static void two_samples(char *buffer, size_t size, const char *first, const char *second, const char *third)
{
	snprintf(buffer, size, "%s%s\n%s%s%s%s", header_line, frame_lines, header_line, first, second, third);
}

/* Wherever the text ends, the whole samples come in, and a note reports the one that is not. */
static void a_sample_that_is_cut_off_is_left_out_and_reported(void **state)
{
	static const char one[] = "stream x \nthread 1 a\nrun 1000000000+5 1 cpu=0 app!main|app!leaf\n";
	static const char *const ends[][3] = {
		{ "", "", "" },                       /* behind the header */
		{ "\t1 leaf (app)\n", "", "" },       /* between two frames */
		{ "\t1 leaf (app)\n", "\t2 ma", "" }, /* in a frame */
		{ frame_lines, "", "" },              /* before the empty line */
	};
	char bytes[400];

	(void)state;
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		two_samples(bytes, sizeof(bytes), ends[i][0], ends[i][1], ends[i][2]);
		assert_import(script, bytes, NULL, one);
		assert_note(script, bytes, "a last sample", 1);
	}
	snprintf(bytes, sizeof(bytes), "%s%s\n%.20s", header_line, frame_lines, header_line);
	assert_import(script, bytes, NULL, one);
	assert_note(script, bytes, "a last line that is cut off", 1);
	assert_note(script, bytes, "not understood", 0);
}

static void a_script_that_is_whole_is_not_called_cut(void **state)
{
	char bytes[400];

	(void)state;
	two_samples(bytes, sizeof(bytes), frame_lines, "\n", "");
	assert_note(script, bytes, "a last", 0);
	two_samples(bytes, sizeof(bytes), frame_lines, "\n", "# done");
	assert_note(script, bytes, "a last", 0);
	/* Without call chains there are no empty lines. */
	assert_note(script, "a 1 1.000000: 5 cpu-clock: 1 f (x)\na 1 2.000000: 5 cpu-clock: 1 f (x)\n", "a last",
		    0);
	assert_import(script, "a 1 1.000000: 5 cpu-clock: 1 f (x)\na 1 2.000000: 5 cpu-cl", NULL,
		      "stream x \nthread 1 a\nrun 1000000000+5 1 x!f\n");
	snprintf(bytes, sizeof(bytes), "%s%s", header_line, frame_lines);
	assert_bad(script, bytes, "its only sample may be cut off");
}

static const char *chosen(const char *bytes, size_t size)
{
	struct lode_import_options options = { 0 };
	const struct lode_importer *importer;
	struct lode_input *input;
	struct lode_error error;

	assert_int_equal(lode_input_memory(&input, "x.txt", bytes, size, &error), 0);
	importer = lode_import_choose(input, &options, &error);
	lode_input_close(input);
	return importer ? importer->name : "none";
}

/* The header that perf script --header prints of a large machine is longer than what a sniffer sees. */
static void a_header_of_comments_does_not_hide_the_samples(void **state)
{
	struct lode_buffer bytes = { 0 };

	(void)state;
	lode_buffer_text(&bytes, "# ========\n# captured on    : Sun Oct 25 23:31:43 2015\n# pmu mappings: ");
	for (int i = 0; i < 40000; i++) {
		if (i == 1 || i == 400 || i == 39999) {
			size_t size = bytes.size;

			lode_buffer_print(&bytes, "\n# ========\n#\n\n%s%s\n", header_line, frame_lines);
			assert_string_equal(chosen(bytes.bytes, bytes.size), "perf-script");
			bytes.size = size;
		}
		lode_buffer_print(&bytes, "uncore_cha_%d = %d, ", i, i);
	}
	/* Only comments, or one without an end, are nothing. */
	assert_string_equal(chosen(bytes.bytes, bytes.size), "none");
	lode_buffer_text(&bytes, "\n# ========\n");
	assert_string_equal(chosen(bytes.bytes, bytes.size), "none");
	lode_buffer_release(&bytes);
}

static void what_is_no_sample_is_counted(void **state)
{
	(void)state;
	assert_note(script,
		    "# captured on: today\nodd line\na 1 1.000000: 5 cpu-clock:\n\t1 f "
		    "(x)\nfile.c:12\n\n\tafter (x)\n",
		    "not understood", 3);
	assert_note(script,
		    "a 0 [000] 0.000000: PERF_RECORD_FORK(1:1):(0:0)\na 1 1.000000: PERF_RECORD_COMM: a:1/1\n"
		    "a 1 1.000000: 5 cpu-clock:\n",
		    "other than samples", 2);
	assert_note(script, "a 1 1.000000: sched:sched_switch: nonsense\n",
		    "scheduler events that are not understood", 1);
	assert_bad(script, "nothing of this\nis a sample\n", "no sample was found");
	assert_bad(script, "\n", "no sample was found");
}

static void a_chain_that_is_too_deep_keeps_its_leaf(void **state)
{
	struct lode_buffer text = { 0 };
	struct imported imported;

	(void)state;
	lode_buffer_text(&text, "a 1 1.000000: 5 cpu-clock:\n");
	for (int i = 0; i < LODE_STACK_DEPTH_LIMIT + 5; i++)
		lode_buffer_print(&text, "\t1 f%d (x)\n", i);
	lode_buffer_byte(&text, '\n');
	import_bytes(&imported, script, text.bytes, text.size, NULL);
	assert_int_equal(imported.code, 0);
	assert_int_equal(note_count(&imported, "cut at the root"), 1);
	assert_non_null(strstr(imported.text.bytes, " 1 x!f16383|x!f16382|"));
	assert_non_null(strstr(imported.text.bytes, "|x!f1|x!f0\n"));
	release_imported(&imported);
	lode_buffer_release(&text);
}

/* One random sample as perf would print it, and as the fixture prints it. */
static void random_sample(struct lode_buffer *text, struct lode_buffer *reported, uint64_t *seed, int with_pid)
{
	static const char *const symbols[] = { "f", "g(int, char*)", "operator new (unsigned long)", "a+b",
					       "ns::{lambda()#1}" };
	static const char *const files[] = { "/usr/lib/libc.so.6", "/opt/my app/bin (x)/app", "[kernel.kallsyms]",
					     "[ext4]", "[vdso]" };
	static const char *const modules[] = { "libc.so.6", "app", "kernel", "ext4", "[vdso]" };
	uint64_t seconds = random_below(seed, 100), fraction = random_below(seed, 1000000),
		 period = random_below(seed, 1000000);
	uint64_t tid = random_below(seed, 5), cpu = random_below(seed, 3), depth = random_below(seed, 8);
	char *frames = strdup("");

	lode_buffer_print(text, "%s ", tid % 2 ? "comm" : "two words");
	if (with_pid)
		lode_buffer_print(text, "%" PRIu64 "/", tid / 2);
	lode_buffer_print(text, "%-5" PRIu64 " ", tid);
	if (cpu)
		lode_buffer_print(text, "[%03" PRIu64 "] ", cpu);
	lode_buffer_print(text, "%5" PRIu64 ".%06" PRIu64 ": %10" PRIu64 " cpu-clock/freq=999/: \n", seconds,
			  fraction, period);
	for (uint64_t i = 0; i < depth; i++) {
		uint64_t symbol = random_below(seed, 6), file = random_below(seed, 5);
		char *longer;

		if (symbol == 5) {
			lode_buffer_print(text, "\t%16x [unknown] (%s)\n", 0xabc0 + (unsigned)i, files[file]);
			assert_true(asprintf(&longer, "%s!0x%x%s%s", modules[file], 0xabc0 + (unsigned)i,
					     i ? "|" : "", frames) > 0);
		} else {
			lode_buffer_print(text, "\t%16x %s%s (%s)\n", 0x1000 + (unsigned)i, symbols[symbol],
					  i % 2 ? "+0x1f" : "", files[file]);
			assert_true(asprintf(&longer, "%s!%s%s%s", modules[file], symbols[symbol], i ? "|" : "",
					     frames) > 0);
		}
		free(frames);
		frames = longer;
	}
	lode_buffer_byte(text, '\n');
	lode_buffer_print(reported, "run %" PRIu64 "+%" PRIu64 " ", (seconds * 1000000 + fraction) * 1000, period);
	if (with_pid)
		lode_buffer_print(reported, "%" PRIu64 "/", tid / 2);
	lode_buffer_print(reported, "%" PRIu64, tid);
	if (cpu)
		lode_buffer_print(reported, " cpu=%" PRIu64, cpu);
	lode_buffer_print(reported, " %s\n", frames);
	free(frames);
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The runs of a description in the order of their text. */
static char *sorted_runs(const char *text)
{
	char *copy = strdup(text), *rest = copy, *line, *result = calloc(1, strlen(text) + 2), *at = result;
	char **lines = calloc(strlen(text) + 1, sizeof(*lines));
	size_t count = 0;

	while ((line = strsep(&rest, "\n")))
		if (strncmp(line, "run ", 4) == 0)
			lines[count++] = line;
	qsort(lines, count, sizeof(*lines), compare_texts);
	for (size_t i = 0; i < count; i++)
		at += sprintf(at, "%s\n", lines[i]);
	free(lines);
	free(copy);
	return result;
}

static void random_samples_read_as_they_were_printed(void **state)
{
	uint64_t seed = 21;

	(void)state;
	for (int round = 0; round < TEST_ROUNDS(1500); round++) {
		struct lode_buffer text = { 0 }, reported = { 0 };
		struct imported imported;
		char *expected, *got;

		for (uint64_t samples = 1 + random_below(&seed, 15); samples; samples--)
			random_sample(&text, &reported, &seed, round % 2);
		lode_buffer_byte(&reported, '\0');
		import_bytes(&imported, script, text.bytes, text.size, NULL);
		assert_int_equal(imported.code, 0);
		assert_int_equal(imported.notes.count, 0);
		expected = sorted_runs(reported.bytes);
		got = sorted_runs(imported.text.bytes);
		assert_string_equal(got, expected);
		free(expected);
		free(got);
		release_imported(&imported);
		lode_buffer_release(&text);
		lode_buffer_release(&reported);
	}
}

static const char some_script[] =
	"my app 10/11 [000] 1.000000: sched:sched_switch: prev_comm=my app prev_pid=11 prev_prio=120 "
	"prev_state=S ==> next_comm=sw next_pid=0 next_prio=120\n"
	"\t1 wait+0x12 (/usr/bin/app)\n\t2 [unknown] ([ext4])\n\n"
	"swapper 0/0 [000] 3.000000: sched:sched_switch: swapper/0:0 [120] R ==> a:11 [120]\n\n"
	"b 20/21 [001] 2.500000: sched:sched_waking: comm=my app pid=11 prio=120 target_cpu=000\n"
	"\t3 wake (inlined)\n\t3 wake2 (/lib/x.ko)\n\n"
	"a 1 [000] 1.000000: 12345 cycles:ppp: 1 f (x)\na 1 [000] 1.001000: 99 cycles:ppp: 1 f (x)\n"
	"a 1 [000] 3.000000: raw_syscalls:sys_enter: NR 214 (0, 0)\n\n";

static void damaged_script_never_crashes(void **state)
{
	(void)state;
	try_damaged(script, some_script, strlen(some_script), TEST_ROUNDS(20000));
}

static void the_script_importer_survives_every_failing_allocation(void **state)
{
	(void)state;
	try_without_memory(script, some_script, strlen(some_script));
}

/* Lines made to cost the square of their length must not. */
static void hostile_lines_cost_no_more_than_others(void **state)
{
	static const char *const pieces[] = { ":",  ": ",        "1.000000: ", " [",  "(",   ") ",
					      " (", "prev_pid=", "==> ",       "+0x", "[1] " };
	size_t size = 4u << 20;

	(void)state;
	for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		struct lode_buffer text = { 0 };

		lode_buffer_text(&text, "a 1 1.000000: sched:sched_switch: ");
		while (text.size < size)
			lode_buffer_text(&text, pieces[i]);
		lode_buffer_text(&text, "\n\tff ");
		while (text.size < 2 * size)
			lode_buffer_text(&text, pieces[i]);
		lode_buffer_byte(&text, '\n');
		while (text.size < 3 * size)
			lode_buffer_text(&text, pieces[i]);
		lode_buffer_byte(&text, '\n');
		import_and_drop(script, text.bytes, text.size, 1);
		lode_buffer_release(&text);
	}
}

static void samples_without_times_follow_one_another(void **state)
{
	static const char clocks[] = "burn  1886     250000 cpu-clock:pppH: \n\t1 f (/x)\n\t2 main (/x)\n\n"
				     "burn  1887     250000 cpu-clock:pppH: \n\t3 g (/x)\n\t2 main (/x)\n\n";
	static const char counted[] = "a b 12/34 [001] cycles:u: \n\t1 f (/x)\n\n"
				      "a b 12/34 [001] sched:sched_switch: prev_comm=a prev_pid=34 prev_prio=120 "
				      "prev_state=S ==> next_comm=c next_pid=7 next_prio=120\n\t1 f (/x)\n\n";
	struct lode_import_options options = { .jobs = 1, .unit_ns = 1000 };

	(void)state;
	assert_import(&lode_importer_perf_script, clocks, NULL,
		      "stream x \nthread 1886 burn\nthread 1887 burn\nmodule x user /x \n"
		      "run 0+250000 1886 x!main|x!f\nrun 250000+250000 1887 x!main|x!g\n");
	assert_note(&lode_importer_perf_script, clocks, "samples without a time", 2);
	assert_note(&lode_importer_perf_script, clocks, "taken as 1 ns", 0);
	assert_note(&lode_importer_perf_script, counted, "taken as 1 ns", 1);
	assert_import(&lode_importer_perf_script, counted, &options,
		      "stream x \nthread 12/34 a b\nmodule x user /x \n"
		      "run 0+1000 12/34 cpu=1 x!f\ncall 1000+0 12/34 cpu=1 name=sched:sched_switch x!f\n");
	assert_true(lode_importer_perf_script.sniff((const unsigned char *)clocks, strlen(clocks), "x") > 80);
}

static void source_lines_are_no_frames(void **state)
{
	const char text[] =
		"a 2 [000] 4.000000: 1000 cpu-clock: \n\t1 g (x)\n  g.c:12\n\t2 main (x)\n  main.c:7\n\n";

	(void)state;
	assert_import(&lode_importer_perf_script, text, NULL,
		      "stream x \nthread 2 a\nrun 4000000000+1000 2 cpu=0 x!main|x!g\n");
	assert_note(&lode_importer_perf_script, text, "source lines", 2);
	assert_note(&lode_importer_perf_script, text, "not understood", 0);
}

static void off_cpu_samples_are_waits(void **state)
{
	static const char text[] = "a 1 [000] 5.000000: 250000 cpu-clock:pppH: \n\t1 f (x)\n\n"
				   "a 2 [000] 4.000000: 1000000000 offcpu-time: \n\t1 g (x)\n\t2 main (x)\n\n"
				   "a 3 [000] 18446744069.414584320: 2000000000 offcpu-time: \n\t1 h (x)\n\n";

	(void)state;
	assert_import(&lode_importer_perf_script, text, NULL,
		      "stream x \nthread 1 a\nthread 2 a\nthread 3 a\nrun 5000000000+250000 1 cpu=0 x!f\n"
		      "wait 3000000000+1000000000 2 cpu=0 x!main|x!g\nwait 3000000000+2000000000 3 cpu=0 x!h\n");
	assert_note(&lode_importer_perf_script, text, "add up many waits", 1);
}

static void modes_of_samples_are_passed_over(void **state)
{
	(void)state;
	assert_import(&lode_importer_perf_script,
		      "burn  1886 K     1.000000:     250000 cpu-clock:pppH: \n\t1 f (/x)\n\n"
		      "burn  1886 [003] U     2.000000:     250000 cpu-clock:pppH: \n\t1 f (/x)\n\n",
		      NULL,
		      "stream x \nthread 1886 burn\nmodule x user /x \n"
		      "run 1000000000+250000 1886 x!f\nrun 2000000000+250000 1886 cpu=3 x!f\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_without_times_follow_one_another),
		cmocka_unit_test(modes_of_samples_are_passed_over),
		cmocka_unit_test(source_lines_are_no_frames),
		cmocka_unit_test(off_cpu_samples_are_waits),
		cmocka_unit_test(samples_become_runs_with_their_stacks_turned_round),
		cmocka_unit_test(modules_are_named_as_the_rest_of_lode_names_them),
		cmocka_unit_test(headers_come_with_and_without_their_parts),
		cmocka_unit_test(inlined_functions_belong_to_the_module_they_were_inlined_into),
		cmocka_unit_test(system_calls_and_other_events_become_calls),
		cmocka_unit_test(switches_and_wakings_are_joined_into_waits),
		cmocka_unit_test(the_short_form_of_scheduler_events_is_read_too),
		cmocka_unit_test(the_period_of_cycles_is_time_at_the_rate_of_the_counter),
		cmocka_unit_test(the_cost_of_cycles_is_estimated_from_the_distance_between_neighbours),
		cmocka_unit_test(the_cost_of_samples_is_the_period_of_busy_cpus),
		cmocka_unit_test(the_header_or_the_caller_says_what_a_sample_costs),
		cmocka_unit_test(a_sample_that_is_cut_off_is_left_out_and_reported),
		cmocka_unit_test(a_script_that_is_whole_is_not_called_cut),
		cmocka_unit_test(a_header_of_comments_does_not_hide_the_samples),
		cmocka_unit_test(what_is_no_sample_is_counted),
		cmocka_unit_test(a_chain_that_is_too_deep_keeps_its_leaf),
		cmocka_unit_test(random_samples_read_as_they_were_printed),
		cmocka_unit_test(damaged_script_never_crashes),
		cmocka_unit_test(the_script_importer_survives_every_failing_allocation),
		cmocka_unit_test(hostile_lines_cost_no_more_than_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
