/*
 * perf.data: files made here record by record, against what they must become;
 * parts of the importer against slow oracles; and recordings of perf itself
 * (tests/data/perf) against what perf script says of them.
 */
#include "perf_recording.h"

#include "import/perf_data/time_order.h"
#include "process/address_spaces.h"
#include "symbols/syscalls.h"

#include <sys/utsname.h>
#include <unistd.h>

static const struct lode_import_options plain_options = { .jobs = 1, .no_symbols = 1, .cache = "" };

/* ---- importing them ---- */

static void import_recording(struct imported *imported, const struct recording *recording, int pipe)
{
	struct lode_buffer file = { 0 };

	if (pipe)
		make_pipe(recording, &file);
	else
		make_file(recording, &file);
	import_bytes(imported, &lode_importer_perf_data, file.bytes, file.size, &plain_options);
	lode_buffer_release(&file);
}

/* The lines of what was imported that begin with `start`, one behind the other. */
static char *lines_of(const struct imported *imported, const char *start)
{
	struct lode_buffer lines = { 0 };
	const char *line = imported->text.bytes;

	for (; *line; line += strcspn(line, "\n") + 1)
		if (!strncmp(line, start, strlen(start)))
			lode_buffer_add(&lines, line, strcspn(line, "\n") + 1);
	lode_buffer_byte(&lines, '\0');
	return lines.bytes;
}

/* Imports and compares the lines that begin with `start`. */
static void assert_becomes(const struct recording *recording, const char *start, const char *expected)
{
	struct imported imported;
	char *lines;

	import_recording(&imported, recording, 0);
	assert_string_equal(imported.code < 0 ? imported.error.text : "", "");
	lines = lines_of(&imported, start);
	assert_string_equal(lines, expected);
	lode_free(lines);
	release_imported(&imported);
}

/* ---- samples ---- */

static void a_sample_becomes_a_run_with_its_stack_root_first(void **state)
{
	struct recording recording = { 0 };

	(void)state;
	add_clock(&recording);
	put_map(&recording, 0, 10, 0x400000, 0x10000, 0x1000, "/usr/bin/app");
	put_sample(&recording,
		   (struct sample){ .time = 5000,
				    .pid = 10,
				    .tid = 11,
				    .cpu = 2,
				    .period = 250000,
				    CHAIN(KERNEL, 0xffff800000001000, USER, 0x400500, 0x401000, 0x9990000) });
	assert_becomes(&recording, "run",
		       "run 5000+250000 10/11 cpu=2 0x9990000|app!0x2000|app!0x1500|kernel!0xffff800000001000\n");
	release(&recording);
}

/* The offset in this program's file of an address in it. */
static uint64_t offset_in_own_file(uint64_t address)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long long from, to, offset;
	uint64_t found = 0;
	char line[4200];

	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps))
		if (sscanf(line, "%llx-%llx %*s %llx", &from, &to, &offset) == 3 && from <= address && address < to)
			found = address - from + offset;
	fclose(maps);
	return found;
}

/* What a run in this test program becomes when a machine of kind `arch` recorded it, without build-ids. */
static void import_own_code(struct imported *imported, const char *arch)
{
	struct lode_import_options options = { .jobs = 1, .cache = "" };
	uint64_t address = 0x400001 + offset_in_own_file((uint64_t)(uintptr_t)import_own_code);
	struct recording recording = { .arch = arch };
	struct lode_buffer file = { 0 };
	char path[4096] = "";

	assert_true(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0);
	add_clock(&recording);
	put_map(&recording, 0, 10, 0x400000, 0x10000000, 0, path);
	put_sample(&recording,
		   (struct sample){ .time = 5000, .pid = 10, .tid = 11, .period = 1, CHAIN(USER, address) });
	make_file(&recording, &file);
	import_bytes(imported, &lode_importer_perf_data, file.bytes, file.size, &options);
	assert_int_equal(imported->code, 0);
	lode_buffer_release(&file);
	release(&recording);
}

static void files_here_give_no_names_to_a_recording_of_another_kind_of_machine(void **state)
{
	struct imported imported;
	struct utsname own;

	(void)state;
	uname(&own);
	import_own_code(&imported, own.machine);
	assert_non_null(strstr(imported.text.bytes, "!import_own_code\n"));
	assert_int_equal(noted(&imported, "of another machine"), 0);
	release_imported(&imported);
	import_own_code(&imported, "sparc64");
	assert_null(strstr(imported.text.bytes, "import_own_code"));
	assert_non_null(strstr(imported.text.bytes, "!0x"));
	assert_int_equal(noted(&imported, "of another machine"), 1);
	release_imported(&imported);
}

static void fields_of_a_sample_that_are_of_no_use_are_stepped_over(void **state)
{
	struct recording recording = { 0 };
	struct perf_event_attr *attr = add_clock(&recording);

	(void)state;
	attr->sample_type |= PERF_SAMPLE_ADDR | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_ID | PERF_SAMPLE_READ |
			     PERF_SAMPLE_RAW | PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_WEIGHT;
	attr->read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING |
			    PERF_FORMAT_ID;
	put_map(&recording, 0, 10, 0x400000, 0x10000, 0, "/usr/bin/app");
	put_sample(&recording, (struct sample){ .time = 5000,
						.pid = 10,
						.tid = 11,
						.cpu = 2,
						.period = 7,
						CHAIN(USER, 0x400500),
						.raw = "raw bytes",
						.raw_size = 9 });
	assert_becomes(&recording, "run", "run 5000+7 10/11 cpu=2 app!0x500\n");
	release(&recording);
}

static void events_are_distinguished_by_id_in_both_layouts(void **state)
{
	(void)state;
	for (int old = 0; old < 2; old++) {
		struct recording recording = { 0 };
		uint64_t type = old ? (USUAL | PERF_SAMPLE_ID) & ~(uint64_t)PERF_SAMPLE_IDENTIFIER : USUAL;

		add_clock(&recording)->sample_type = type;
		add_event(&recording, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS)->sample_type = type;
		put_sample(&recording,
			   (struct sample){ .event = 1, .time = 10, .pid = 1, .tid = 1, CHAIN(USER, 0x1) });
		put_sample(&recording, (struct sample){ .event = 0,
							.time = 20,
							.pid = 1,
							.tid = 1,
							.period = 5,
							CHAIN(USER, 0x2) });
		assert_becomes(&recording, "run", "run 20+5 1/1 cpu=0 0x2\n");
		assert_becomes(&recording, "call", "call 10+0 1/1 cpu=0 name=page-faults 0x1\n");
		release(&recording);
	}
}

static void a_recording_without_ids_or_trailers_is_of_its_only_event(void **state)
{
	struct recording recording = { 0 };
	struct perf_event_attr *attr = add_clock(&recording);

	(void)state;
	attr->sample_type &= ~(uint64_t)PERF_SAMPLE_IDENTIFIER;
	attr->sample_id_all = 0;
	put_map(&recording, 0, 10, 0x400000, 0x10000, 0, "/usr/bin/app");
	put_sample(&recording,
		   (struct sample){ .time = 5000, .pid = 10, .tid = 11, .period = 7, CHAIN(USER, 0x400500) });
	put_map(&recording, 0, 10, 0x400000, 0x10000, 0, "/usr/bin/other");
	put_sample(&recording,
		   (struct sample){ .time = 6000, .pid = 10, .tid = 11, .period = 7, CHAIN(USER, 0x400500) });
	assert_becomes(&recording, "run", "run 5000+7 10/11 cpu=0 app!0x500\nrun 6000+7 10/11 cpu=0 other!0x500\n");
	release(&recording);
}

static void attributes_may_have_any_size(void **state)
{
	static const size_t sizes[] = { 64, 72, 96, 112, 136, 400 };

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		for (int pipe = 0; pipe < 2; pipe++) {
			struct recording recording = { .attr_size = sizes[i] };
			struct imported imported;

			add_clock(&recording);
			put_sample(&recording,
				   (struct sample){ .time = 5, .pid = 1, .tid = 1, .period = 9, CHAIN(USER, 0x2) });
			import_recording(&imported, &recording, pipe);
			assert_non_null(strstr(imported.text.bytes, "run 5+9 1/1 cpu=0 0x2\n"));
			release_imported(&imported);
			release(&recording);
		}
	}
}

static void a_sample_without_a_chain_is_where_it_was_taken(void **state)
{
	struct recording recording = { 0 };

	(void)state;
	add_clock(&recording)->sample_type &= ~(uint64_t)PERF_SAMPLE_CALLCHAIN;
	put_map(&recording, 0, 10, 0x400000, 0x10000, 0, "/usr/bin/app");
	put_sample(&recording,
		   (struct sample){ .time = 5, .pid = 10, .tid = 10, .period = 9, CHAIN(USER, 0x400200) });
	assert_becomes(&recording, "run", "run 5+9 10/10 cpu=0 app!0x200\n");
	release(&recording);
}

static void cycles_become_time_at_the_rate_of_their_counter(void **state)
{
	struct recording often = { 0 }, seldom = { 0 };
	struct perf_event_attr *attr = add_event(&often, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	static const uint64_t times[] = { 1000, 1100, 1190, 5000, 5100 };
	struct imported imported;

	(void)state;
	attr->freq = 1;
	attr->sample_freq = 4000;
	put_sample(&often, (struct sample){ .time = 5, .pid = 1, .tid = 1, .period = 123456, CHAIN(USER, 0x2) });
	put_sample(&often, (struct sample){ .time = 9, .pid = 2, .tid = 2, .period = 1, CHAIN(USER, 0x2) });
	import_recording(&imported, &often, 0);
	assert_non_null(strstr(imported.text.bytes, "run 5+250000 1/1 cpu=0 0x2\nrun 9+2 2/2 cpu=0 0x2\n"));
	assert_int_equal(noted(&imported, "at a rate that is assumed"), 2);
	release_imported(&imported);
	release(&often);

	add_event(&seldom, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES)->sample_period = 100000;
	for (size_t i = 0; i < 5; i++) /* gaps of 90, 100, 100 and 3810 on one CPU; the other has none */
		put_sample(&seldom, (struct sample){ .time = times[i],
						     .pid = 1,
						     .tid = 1,
						     .cpu = 1,
						     .period = 100000,
						     CHAIN(USER, 0x2) });
	put_sample(&seldom,
		   (struct sample){ .time = 1001, .pid = 1, .tid = 1, .cpu = 2, .period = 100000, CHAIN(USER, 0x2) });
	import_recording(&imported, &seldom, 0);
	assert_non_null(strstr(imported.text.bytes, "run 5000+100 1/1 cpu=1 0x2\n"));
	assert_non_null(strstr(imported.text.bytes, "run 1001+100 1/1 cpu=2 0x2\n"));
	assert_int_equal(noted(&imported, "at the rate at which their counter ran"), 6);
	release_imported(&imported);
	release(&seldom);
}

/*
 * As perf records many short threads at 4 kHz: each begins with a period of 1 that grows, the
 * long one has periods of 650000 at 2.6 GHz and idles now and then. Its share is that of its cycles.
 */
static void short_threads_weigh_no_more_than_their_cycles(void **state)
{
	struct recording recording = { 0 };
	struct perf_event_attr *attr = add_event(&recording, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	uint64_t time = 1000000, cycles = 0;
	const char *line;
	struct imported imported;
	double cost = 0, others = 0;

	(void)state;
	attr->freq = 1;
	attr->sample_freq = 4000;
	for (int i = 0; i < 100; i++) {
		time += i % 4 == 3 ? 900000 : 250000;
		put_sample(&recording,
			   (struct sample){ .time = time, .pid = 1, .tid = 1, .period = 650000, CHAIN(USER, 0x2) });
		for (uint64_t period = 1; period < 20000; period *= 5) {
			put_sample(&recording, (struct sample){ .time = time + period / 3 + 5,
								.pid = 1,
								.tid = 100 + (uint32_t)i,
								.cpu = 1,
								.period = period,
								CHAIN(USER, 0x4) });
			cycles += period;
		}
	}
	import_recording(&imported, &recording, 0);
	for (line = strstr(imported.text.bytes, "\nrun "); line; line = strstr(line + 1, "\nrun ")) {
		uint64_t start, each;
		unsigned pid, tid;

		assert_int_equal(sscanf(line, "\nrun %" SCNu64 "+%" SCNu64 " %u/%u", &start, &each, &pid, &tid), 4);
		*(tid == 1 ? &cost : &others) += (double)each;
	}
	assert_true(cost > 100 * 249000.0 && cost < 100 * 251000.0);
	assert_true(others > (double)cycles / 2.6 * 0.98 && others < (double)cycles / 2.6 * 1.05);
	release_imported(&imported);
	release(&recording);
}

static void events_that_are_no_time_are_counted_and_told(void **state)
{
	struct recording recording = { 0 };
	struct imported imported;

	(void)state;
	add_event(&recording, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES)->sample_period = 1000;
	put_sample(&recording, (struct sample){ .time = 5, .pid = 1, .tid = 1, .period = 1000, CHAIN(USER, 0x2) });
	put_sample(&recording, (struct sample){ .time = 9, .pid = 1, .tid = 1, .period = 1000, CHAIN(USER, 0x2) });
	import_recording(&imported, &recording, 0);
	assert_non_null(strstr(imported.text.bytes, "run 5+1000 1/1 cpu=0 0x2\nrun 9+1000 1/1 cpu=0 0x2\n"));
	assert_non_null(strstr(imported.text.bytes, "attribute cost_unit=cache-misses"));
	assert_int_equal(noted(&imported, "other than CPU time"), 2);
	release_imported(&imported);
	release(&recording);
}

/* ---- stacks that come in other ways ---- */

static void calls_kept_by_the_processor_are_the_users_stack(void **state)
{
	static const uint64_t branches[] = { 0x400310, 0x400400, 0, 0x400220, 0x400300, 0 };
	struct recording recording = { 0 };
	struct perf_event_attr *attr = add_clock(&recording);
	struct sample sample = { .time = 5,
				 .pid = 10,
				 .tid = 10,
				 .period = 9,
				 CHAIN(KERNEL, 0xffff800080000100, USER, 0x400410, 0xbad) };

	(void)state;
	attr->sample_type |= PERF_SAMPLE_BRANCH_STACK;
	attr->branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK;
	put_map(&recording, 0, 10, 0x400000, 0x10000, 0, "/usr/bin/app");
	sample.branches = branches;
	sample.branch_count = 2;
	put_sample(&recording, sample);
	sample.branch_count = 0; /* nothing was kept: frame pointers are better than nothing */
	put_sample(&recording, sample);
	assert_becomes(&recording, "run",
		       "run 5+9 10/10 cpu=0 app!0x220|app!0x310|app!0x400|kernel!0xffff800080000100\n"
		       "run 5+9 10/10 cpu=0 0xbad|app!0x410|kernel!0xffff800080000100\n");
	release(&recording);
}

static void off_cpu_samples_are_waits(void **state)
{
	struct recording recording = { 0 };
	struct perf_event_attr *attr;
	struct imported imported;
	uint64_t raw[6] = { (uint64_t)12 << 32 | 10, 300, 2, USER, 0x400500, 0 };

	(void)state;
	add_clock(&recording)->sample_type |= PERF_SAMPLE_RAW;
	attr = add_event(&recording, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_BPF_OUTPUT);
	attr->sample_type |= PERF_SAMPLE_RAW;
	put_event_name(&recording, 1, "offcpu-time");
	put_map(&recording, 0, 10, 0x400000, 0x10000, 0, "/usr/bin/app");
	put_sample(&recording,
		   (struct sample){ .time = 1000, .pid = 10, .tid = 10, .period = 9, CHAIN(USER, 0x400200) });
	/* One that perf 6.16 writes as it ends, and one that was added up, with a time that is none. */
	put_sample(&recording, (struct sample){ .event = 1,
						.time = 2000,
						.pid = 1,
						.tid = 1,
						.raw = raw,
						.raw_size = sizeof(raw) });
	put_sample(&recording,
		   (struct sample){ .time = 3000, .pid = 10, .tid = 10, .period = 9, CHAIN(USER, 0x400200) });
	put_sample(&recording, (struct sample){ .event = 1,
						.time = (uint64_t)UINT32_MAX << 32,
						.pid = 10,
						.tid = 11,
						.period = 500,
						CHAIN(USER, 0x400600, 0x400700) });
	import_recording(&imported, &recording, 0);
	assert_non_null(strstr(imported.text.bytes, "wait 1700+300 10/12 cpu=0 app!0x500\n"));
	assert_non_null(strstr(imported.text.bytes, "wait 2500+500 10/11 cpu=0 app!0x700|app!0x600\n"));
	assert_null(strstr(imported.text.bytes, "call"));
	assert_int_equal(noted(&imported, "add up many waits"), 1);
	release_imported(&imported);
	release(&recording);
}

static void the_users_part_joins_its_samples_by_cookie(void **state)
{
	const uint64_t later = (uint64_t)-640, user[] = { USER, 0x400500, 0x400600 }, other[] = { USER, 0x400800 };
	struct recording recording = { 0 };
	struct imported imported;

	(void)state;
	add_clock(&recording);
	put_map(&recording, 0, 10, 0x400000, 0x10000, 0, "/usr/bin/app");
	for (uint64_t i = 0; i < 2; i++) /* two samples of one stay in the kernel */
		put_sample(&recording, (struct sample){ .time = 5 + i,
							.pid = 10,
							.tid = 10,
							.period = 9,
							CHAIN(KERNEL, 0xffff800080000100 + i, later, 77) });
	put_sample(&recording, (struct sample){ .time = 7, .pid = 10, .tid = 11, .period = 9, CHAIN(later, 78) });
	put_deferred(&recording, 8, 10, 10, 77, user, 3);
	put_deferred(&recording, 9, 10, 11, 78, other, 2);
	put_sample(&recording, (struct sample){ .time = 10,
						.pid = 10,
						.tid = 10,
						.period = 9,
						CHAIN(KERNEL, 0xffff800080000100, later, 79) });
	put_deferred(&recording, 11, 10, 10, 80, user, 3);
	import_recording(&imported, &recording, 0);
	assert_non_null(strstr(imported.text.bytes,
			       "run 5+9 10/10 cpu=0 app!0x600|app!0x500|kernel!0xffff800080000100\n"
			       "run 6+9 10/10 cpu=0 app!0x600|app!0x500|kernel!0xffff800080000101\n"
			       "run 7+9 10/11 cpu=0 app!0x800\n"
			       "run 10+9 10/10 cpu=0 kernel!0xffff800080000100\n"));
	assert_int_equal(noted(&imported, "without their user's part"), 1);
	release_imported(&imported);
	release(&recording);
}

/* As perf inject --jit leaves it: each function is a file of its own. */
static void code_made_at_run_time_is_one_module(void **state)
{
	struct recording recording = { 0 };

	(void)state;
	add_clock(&recording);
	put_map(&recording, 0, 10, 0x400000, 0x1000, 0x80, "/tmp/jitted-10-1.so");
	put_map(&recording, 0, 10, 0x500000, 0x1000, 0x80, "/tmp/.debug/jit/java-jit/jitted-10-22.so");
	put_map(&recording, 0, 10, 0x600000, 0x1000, 0, "//anon");
	put_map(&recording, 0, 10, 0x700000, 0x1000, 0, "/tmp/jitted-notes.so");
	put_sample(&recording, (struct sample){ .time = 5,
						.pid = 10,
						.tid = 10,
						.period = 9,
						CHAIN(USER, 0x400010, 0x500020, 0x600030, 0x700040) });
	assert_becomes(&recording, "run",
		       "run 5+9 10/10 cpu=0 jitted-notes.so!0x40|[jit]!0x600030|[jit]!0xa0|[jit]!0x90\n");
	release(&recording);
}

static void write_bytes(const char *folder, const char *name, const struct lode_buffer *bytes)
{
	char path[300];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes->bytes, 1, bytes->size, file), bytes->size);
	fclose(file);
}

/* As perf record --threads writes it: one file with a header, and one a thread with records only. */
static void a_folder_is_read_as_one_recording(void **state)
{
	char folder[] = "/tmp/lode-perf-folder-XXXXXX", path[300];
	struct recording recording = { 0 };
	struct lode_buffer file = { 0 };
	struct imported imported = { 0 };
	struct lode_import_options options = { .jobs = 1, .no_symbols = 1 };
	struct lode_import_sink sink = { tell_stream, &imported };
	struct lode_input *input;
	char *name;

	(void)state;
	assert_non_null(mkdtemp(folder));
	add_clock(&recording);
	put_map(&recording, 0, 10, 0x400000, 0x10000, 0, "/usr/bin/app");
	make_file(&recording, &file);
	file.bytes[72 + 24 / 8] = 1; /* the feature that says that it is a folder; its section is empty */
	write_bytes(folder, "data", &file);
	for (uint64_t i = 0; i < 2; i++) {
		char number[8] = { 'd', 'a', 't', 'a', '.', (char)('0' + i) };

		lode_buffer_clear(&recording.records);
		put_sample(&recording, (struct sample){ .time = 30 - 10 * i,
							.pid = 10,
							.tid = 10,
							.period = 9,
							CHAIN(USER, 0x400500 + i) });
		put_sample(&recording, (struct sample){ .time = 50 - 10 * i,
							.pid = 10,
							.tid = 10,
							.period = 9,
							CHAIN(USER, 0x400500 + i) });
		write_bytes(folder, number, &recording.records);
	}
	name = lode_import_file(folder);
	snprintf(path, sizeof(path), "%s/data", folder);
	assert_string_equal(name, path);
	lode_notes_init(&imported.notes);
	options.notes = &imported.notes;
	assert_int_equal(lode_input_open(&input, name, &imported.error), 0);
	assert_int_equal(lode_importer_perf_data.read(input, &options, &sink, &imported.error), 0);
	lode_buffer_byte(&imported.text, '\0');
	assert_non_null(strstr(imported.text.bytes,
			       "run 20+9 10/10 cpu=0 app!0x501\nrun 30+9 10/10 cpu=0 app!0x500\n"
			       "run 40+9 10/10 cpu=0 app!0x501\nrun 50+9 10/10 cpu=0 app!0x500\n"));
	assert_int_equal(imported.notes.count, 0);
	lode_input_close(input);
	lode_free(name);
	for (int i = 0; i < 3; i++) {
		static const char *const names[] = { "data", "data.0", "data.1" };

		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		unlink(path);
	}
	rmdir(folder);
	release_imported(&imported);
	lode_buffer_release(&file);
	release(&recording);
}

/* ---- threads and mappings ---- */

static void a_mapping_counts_from_its_time_on_and_a_fork_keeps_it(void **state)
{
	struct recording recording = { 0 };
	struct sample sample = { .pid = 10, .tid = 10, .period = 1, CHAIN(USER, 0x400500) };

	(void)state;
	add_clock(&recording);
	put_map(&recording, 0, 10, 0x400000, 0x1000, 0, "/bin/one");
	sample.time = 100;
	put_sample(&recording, sample);
	put_fork(&recording, 150, 20, 10);
	put_map(&recording, 200, 10, 0x400400, 0x200, 0, "/lib/libtwo.so.2 (deleted)");
	sample.time = 250;
	put_sample(&recording, sample);
	sample.time = 300;
	sample.pid = sample.tid = 20;
	put_sample(&recording, sample);
	assert_becomes(&recording, "run",
		       "run 100+1 10/10 cpu=0 one!0x500\n"
		       "run 250+1 10/10 cpu=0 libtwo.so.2!0x100\n"
		       "run 300+1 20/20 cpu=0 one!0x500\n");
	assert_becomes(&recording, "module libtwo", "module libtwo.so.2 library /lib/libtwo.so.2 (deleted) \n");
	release(&recording);
}

static void a_child_has_its_parents_name_until_it_has_its_own(void **state)
{
	struct recording recording = { 0 };

	(void)state;
	add_clock(&recording);
	put_comm(&recording, 0, 10, 10, "parent");
	put_fork(&recording, 10, 20, 10);
	put_fork(&recording, 11, 30, 10);
	put_comm(&recording, 12, 30, 30, "child");
	put_comm(&recording, 13, 40, 40, "never seen");
	for (uint32_t pid = 10; pid < 40; pid += 10)
		put_sample(&recording,
			   (struct sample){ .time = 50 + pid, .pid = pid, .tid = pid, CHAIN(USER, 0x2) });
	assert_becomes(&recording, "thread", "thread 10/10 parent\nthread 20/20 parent\nthread 30/30 child\n");
	release(&recording);
}

static void kernel_modules_and_run_time_code_have_names_of_their_own(void **state)
{
	struct recording recording = { 0 };

	(void)state;
	add_clock(&recording);
	put_map(&recording, 0, UINT32_MAX, 0xffff800080000000, 0x2000000, 0xffff800080000000,
		"[kernel.kallsyms]_text");
	put_map(&recording, 0, UINT32_MAX, 0xffff800001000000, 0x10000, 0,
		"/lib/modules/6.1/kernel/net/nf_tables.ko.xz");
	put_map(&recording, 0, 10, 0x700000, 0x1000, 0x700000, "//anon");
	put_map(&recording, 0, 10, 0x800000, 0x1000, 0, "[vdso]");
	put_sample(&recording, (struct sample){ .time = 1,
						.pid = 10,
						.tid = 10,
						.period = 1,
						CHAIN(KERNEL, 0xffff800080000100, 0xffff800001000200, USER,
						      0x700010, 0x800020) });
	assert_becomes(&recording, "run",
		       "run 1+1 10/10 cpu=0 "
		       "[vdso]!0x20|[jit]!0x700010|nf_tables!0x200|kernel!0xffff800080000100\n");
	release(&recording);
}

/* MMAP2: the file's numbers, or in their place the size and the bytes of its build-id. */
static void put_second_map(struct recording *recording, uint64_t start, const uint8_t numbers[24], const char *path)
{
	struct lode_buffer body = { 0 };

	lode_buffer_u64(&body, 10ull << 32 | 10);
	lode_buffer_u64(&body, start);
	lode_buffer_u64(&body, 0x1000);
	lode_buffer_u64(&body, 0);
	lode_buffer_add(&body, numbers, 24);
	lode_buffer_u64(&body, 5); /* rights */
	put_text(&body, path);
	put_trailer(&body, recording, 0);
	put_record(&recording->records, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER | 1 << 14, &body);
	lode_buffer_release(&body);
}

/* A kernel may set the mark of build-ids for all recorders when one of them asks for it. */
static void what_is_marked_as_a_build_id_is_one_only_if_it_can_be(void **state)
{
	static const uint8_t device[24] = { 254, 0, 0, 0, 1 }, disk[24] = { 8, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8 };
	static const uint8_t usual[24] = { 20, 0, 0, 0, 0xab, [23] = 0xcd };

	(void)state;
	for (int asked = 0; asked < 2; asked++) {
		struct recording recording = { 0 };

		add_clock(&recording)->build_id = (unsigned)asked;
		put_second_map(&recording, 0x400000, device, "/bin/device");
		put_second_map(&recording, 0x500000, disk, "/bin/disk");
		put_second_map(&recording, 0x600000, usual, "/bin/usual");
		put_sample(&recording, (struct sample){ .time = 1,
							.pid = 10,
							.tid = 10,
							.period = 1,
							CHAIN(USER, 0x400010, 0x500010, 0x600010) });
		assert_becomes(&recording, "module",
			       asked ? "module usual user /bin/usual ab000000000000000000000000000000000000cd\n"
				       "module disk user /bin/disk 0102030405060708\n"
				       "module device user /bin/device \n"
				     : "module usual user /bin/usual ab000000000000000000000000000000000000cd\n"
				       "module disk user /bin/disk \n"
				       "module device user /bin/device \n");
		release(&recording);
	}
}

/* ---- order ---- */

static int compare_times(const void *left, const void *right)
{
	const struct sample *a = left, *b = right;

	return a->time < b->time ? -1 : a->time > b->time;
}

/* What is mapped changes every 500 nanoseconds. */
static void put_maps_until(struct recording *recording, uint64_t *next, uint64_t time)
{
	for (; *next <= time; *next += 500)
		put_map(recording, *next, 1, 0x400000, 0x1000, 0, *next / 500 % 2 ? "/bin/odd" : "/bin/even");
}

/*
 * Records in rounds: each CPU's in order, one CPU after the other, and each round
 * may reach into the next. The first CPU maps.
 */
static size_t make_rounds(struct recording *recording, struct sample *samples)
{
	static const uint64_t chain[] = { USER, 0x400500 };
	uint64_t reached[3] = { 1, 1, 1 }, next_map = 500;
	size_t count = 0;

	for (uint64_t round = 1; round <= 20; round++) {
		for (uint32_t cpu = 0; cpu < 3; cpu++) {
			while (reached[cpu] < round * 1000 + (uint64_t)(rand() % 300)) {
				struct sample sample = { .time = reached[cpu] * 3 + cpu,
							 .pid = 1,
							 .tid = 1,
							 .cpu = cpu,
							 .chain = chain,
							 .chain_count = 2 };

				if (cpu == 0)
					put_maps_until(recording, &next_map, sample.time);
				put_sample(recording, sample);
				samples[count++] = sample;
				reached[cpu] += 1 + (uint64_t)(rand() % 200);
			}
		}
		put_round(recording);
	}
	put_maps_until(recording, &next_map, 100000);
	return count;
}

static void records_of_several_cpus_are_replayed_in_order_of_time(void **state)
{
	static struct sample samples[20000];

	(void)state;
	for (unsigned seed = 1; seed <= 20; seed++) {
		struct recording recording = { 0 }, sorted = { 0 };
		struct imported imported, expected;
		uint64_t next_map = 500;
		size_t count;

		srand(seed);
		add_clock(&recording);
		add_clock(&sorted);
		count = make_rounds(&recording, samples);
		qsort(samples, count, sizeof(*samples), compare_times);
		for (size_t i = 0; i < count; i++) {
			put_maps_until(&sorted, &next_map, samples[i].time);
			put_sample(&sorted, samples[i]);
		}
		put_maps_until(&sorted, &next_map, 100000);
		import_recording(&imported, &recording, 0);
		import_recording(&expected, &sorted, 0);
		assert_int_equal(imported.code, 0);
		assert_string_equal(imported.text.bytes, expected.text.bytes);
		assert_int_equal(noted(&imported, "too late"), 0);
		release_imported(&imported);
		release_imported(&expected);
		release(&recording);
		release(&sorted);
	}
}

static void ordering_is_stable_and_lets_go_what_is_safe(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= 50; seed++) {
		struct lode_perf_order order = { 0 };
		uint64_t last = 0, last_value = 0, total = 0, gone = 0;

		srand(seed);
		for (uint64_t round = 0; round < 30; round++) {
			size_t count = (size_t)rand() % 200, ready;

			for (size_t i = 0; i < count; i++) {
				struct lode_perf_entry entry = { .time = round * 50 + (uint64_t)(rand() % 100),
								 .value = total++ };

				assert_int_equal(lode_perf_order_add(&order, &entry, 1), 0);
			}
			assert_int_equal(lode_perf_order_ready(&order, round == 29, &ready), 0);
			for (size_t i = 0; i < ready; i++, gone++) {
				assert_true(order.entries[i].time >= last);
				assert_true(order.entries[i].time > last || !gone ||
					    order.entries[i].value > last_value);
				last = order.entries[i].time;
				last_value = order.entries[i].value;
			}
			lode_perf_order_remove(&order, ready);
		}
		assert_int_equal(gone, total);
		assert_int_equal(order.late, 0);
		lode_perf_order_release(&order);
	}
}

/* ---- address spaces, against an array of pages ---- */

#define PAGES  64
#define SPACES 5

struct page {
	uint32_t image; /* 0: not mapped */
	uint64_t offset;
};

/* Mappings in the order that a fixed generator of priorities would turn into a list. */
static void no_order_of_mappings_makes_a_deep_tree(void **state)
{
	enum { COUNT = 20000 };
	uint64_t random = 0x2545f4914f6cdd1d;
	uint32_t *priorities = calloc(COUNT, sizeof(*priorities));
	struct lode_spaces spaces;
	struct lode_space spaces_of[3];

	(void)state;
	assert_int_equal(lode_spaces_init(&spaces), 0);
	for (size_t i = 0; i < COUNT; i++) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		priorities[i] = (uint32_t)(random >> 16);
	}
	for (int order = 0; order < 3; order++) {
		spaces_of[order] = lode_space_empty(&spaces);
		for (size_t i = 0; i < COUNT; i++) {
			/* By the rank of the priority, upwards, or downwards. */
			uint64_t rank = order == 0 ? priorities[i] : order == 1 ? i : COUNT - i;
			struct lode_mapping mapping = { rank * 16, rank * 16 + 8, 0, 1 };

			assert_int_equal(lode_space_map(&spaces, &spaces_of[order], &mapping), 0);
		}
		assert_true(lode_space_depth(&spaces, &spaces_of[order]) < 100);
	}
	lode_spaces_release(&spaces);
	free(priorities);
}

static void check_space(const struct lode_spaces *spaces, const struct lode_space *space, const struct page *pages)
{
	for (uint64_t i = 0; i < PAGES; i++) {
		const struct lode_mapping *mapping = lode_space_find(spaces, space, i * 10 + 5);

		assert_int_equal(mapping ? mapping->image : 0, pages[i].image);
		if (mapping)
			assert_int_equal(i * 10 - mapping->start + mapping->offset, pages[i].offset);
	}
}

static void map_pages(struct lode_spaces *spaces, struct lode_space *space, struct page *pages, uint32_t image)
{
	uint64_t start = (uint64_t)rand() % PAGES, end = start + 1 + (uint64_t)rand() % (PAGES - start),
		 offset = (uint64_t)rand();
	struct lode_mapping mapping = { start * 10, end * 10, offset, image };

	if (image)
		assert_int_equal(lode_space_map(spaces, space, &mapping), 0);
	else
		assert_int_equal(lode_space_unmap(spaces, space, start * 10, end * 10), 0);
	for (uint64_t i = start; i < end; i++)
		pages[i] = (struct page){ image, image ? offset + (i - start) * 10 : 0 };
}

static void address_spaces_agree_with_an_array_of_pages(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= 20; seed++) {
		struct page pages[SPACES][PAGES] = { 0 };
		struct lode_space space[SPACES];
		struct lode_spaces spaces;

		srand(seed);
		assert_int_equal(lode_spaces_init(&spaces), 0);
		for (int i = 0; i < SPACES; i++)
			space[i] = lode_space_empty(&spaces);
		for (uint32_t step = 1; step < 600; step++) {
			int i = rand() % SPACES, j = rand() % SPACES;

			if (step % 7 == 0 && i != j) {
				lode_space_clear(&spaces, &space[j]);
				space[j] = lode_space_fork(&spaces, &space[i]);
				memcpy(pages[j], pages[i], sizeof(pages[i]));
				assert_int_equal(space[i].version, space[j].version);
			} else {
				map_pages(&spaces, &space[i], pages[i], step % 5 ? step : 0);
			}
			for (i = 0; i < SPACES; i++)
				check_space(&spaces, &space[i], pages[i]);
		}
		assert_true(spaces.live < SPACES * PAGES * 20);
		for (int i = 0; i < SPACES; i++)
			lode_space_clear(&spaces, &space[i]);
		lode_spaces_release(&spaces);
	}
}

static void millions_of_forks_and_mappings_take_no_more_than_their_share(void **state)
{
	struct lode_space parent, child;
	struct lode_spaces spaces;

	(void)state;
	assert_int_equal(lode_spaces_init(&spaces), 0);
	parent = lode_space_empty(&spaces);
	child = lode_space_empty(&spaces);
	for (uint64_t i = 0; i < 1000000 / ONE_IN; i++) {
		struct lode_mapping mapping = { (i * 7919 % 1000003) * 16, (i * 7919 % 1000003) * 16 + 16, 0, 1 };

		assert_int_equal(lode_space_map(&spaces, &parent, &mapping), 0);
		if (i % 3 == 0) {
			lode_space_clear(&spaces, &child);
			child = lode_space_fork(&spaces, &parent);
		}
	}
	assert_true(spaces.live <= LODE_MAPPINGS_LIMIT + 100);
	lode_spaces_release(&spaces);
}

/* ---- tracepoints ---- */

static void put_sized(struct lode_buffer *buffer, const char *text)
{
	lode_buffer_u64(buffer, strlen(text));
	lode_buffer_text(buffer, text);
}

/* Fields stand elsewhere than in any kernel, so that a guess would be wrong. */
static void add_tracing(struct recording *recording)
{
	struct lode_buffer *tracing = &recording->tracing;

	lode_buffer_add(tracing,
			"\x17\x08\x44tracing"
			"0.6",
			14);
	lode_buffer_add(tracing, "\0\x08\0\x10\0\0", 6);
	lode_buffer_add(tracing, "header_page", 12);
	put_sized(tracing, "nothing");
	lode_buffer_add(tracing, "header_event", 13);
	put_sized(tracing, "nothing");
	lode_buffer_u32(tracing, 1);
	put_sized(tracing, "name: ftrace\nID: 1\n");
	lode_buffer_u32(tracing, 3);
	lode_buffer_add(tracing, "sched", 6);
	lode_buffer_u32(tracing, 2);
	put_sized(tracing, "name: sched_switch\nID: 301\nformat:\n"
			   "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
			   "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
			   "\tfield:pid_t next_pid;\toffset:8;\tsize:8;\tsigned:1;\n"
			   "\tfield:long prev_state;\toffset:16;\tsize:2;\tsigned:1;\n"
			   "\tfield:char prev_comm[16];\toffset:24;\tsize:16;\tsigned:0;\n"
			   "\tfield:pid_t prev_pid;\toffset:40;\tsize:4;\tsigned:1;\n"
			   "\tfield:char next_comm[16];\toffset:44;\tsize:4;\tsigned:0;\n"
			   "\nprint fmt: \"field:pid_t next_pid; offset:0; size:4;\"\n");
	put_sized(tracing, "name: sched_waking\nID: 302\nformat:\n"
			   "\tfield:pid_t pid;\toffset:12;\tsize:4;\tsigned:1;\n");
	lode_buffer_add(tracing, "syscalls", 9);
	lode_buffer_u32(tracing, 1);
	put_sized(tracing, "name: sys_enter_openat\nID: 303\nformat:\n");
	lode_buffer_add(tracing, "raw_syscalls", 13);
	lode_buffer_u32(tracing, 2);
	put_sized(tracing, "name: sys_enter\nID: 304\nformat:\n\tfield:long id;\toffset:8;\tsize:8;\tsigned:1;\n");
	put_sized(tracing, "name: sys_exit\nID: 305\nformat:\n\tfield:long id;\toffset:8;\tsize:8;\tsigned:1;\n");
	lode_buffer_u32(tracing, 0);
}

static void add_tracepoint(struct recording *recording, uint64_t id)
{
	add_event(recording, PERF_TYPE_TRACEPOINT, id)->sample_type |= PERF_SAMPLE_RAW;
}

static void put_switch(struct recording *recording, uint64_t time, uint32_t previous, uint16_t state_bits,
		       uint64_t next, uint64_t ip)
{
	unsigned char raw[48] = { 0 };

	memcpy(raw + 8, &next, 8);
	memcpy(raw + 16, &state_bits, 2);
	strcpy((char *)raw + 24, "before");
	memcpy(raw + 40, &previous, 4);
	strcpy((char *)raw + 44, "aft");
	put_sample(recording, (struct sample){ .event = 0,
					       .time = time,
					       .pid = 7,
					       .tid = previous,
					       .cpu = 1,
					       CHAIN(USER, ip),
					       .raw = raw,
					       .raw_size = sizeof(raw) });
}

static void put_waking(struct recording *recording, uint64_t time, uint32_t waker, uint32_t target, uint64_t ip)
{
	unsigned char raw[16] = { 0 };

	memcpy(raw + 12, &target, 4);
	put_sample(recording, (struct sample){ .event = 1,
					       .time = time,
					       .pid = 7,
					       .tid = waker,
					       CHAIN(USER, ip),
					       .raw = raw,
					       .raw_size = sizeof(raw) });
}

static void switches_and_wakings_become_waits_by_the_formats_of_the_file(void **state)
{
	struct recording recording = { 0 };

	(void)state;
	add_tracing(&recording);
	add_tracepoint(&recording, 301);
	add_tracepoint(&recording, 302);
	put_switch(&recording, 1000, 70, 1, 71, 0xa);
	put_waking(&recording, 3000, 71, 70, 0xb);
	put_switch(&recording, 3500, 71, 0x100, 70, 0xc); /* preempted */
	put_switch(&recording, 4000, 70, 0x20, 71, 0xd);  /* a zombie */
	put_switch(&recording, 5000, 71, 2, 0, 0xe);      /* to the idle thread */
	put_switch(&recording, 6000, 0, 0, 71, 0xf);      /* and from it */
	assert_becomes(&recording, "wait",
		       "wait 1000+2000 7/70 delay=500 cpu=1 waker=7/71 0xa < 0xb\n"
		       "wait 5000+1000 7/71 cpu=1 0xe\n");
	assert_becomes(&recording, "call", "call 3500+0 7/71 delay=500 cpu=1 name=preempt 0xc\n");
	assert_becomes(&recording, "thread", "thread 7/70 before\nthread 7/71 aft\n");
	release(&recording);
}

static void system_calls_are_named_by_tracepoint_or_number(void **state)
{
	unsigned char raw[16] = { 0 };
	struct recording recording = { 0 };
	struct imported imported;

	(void)state;
	add_tracing(&recording);
	add_tracepoint(&recording, 303);
	add_tracepoint(&recording, 304);
	add_tracepoint(&recording, 305);
	for (unsigned i = 0; i < 3; i++) {
		raw[8] = 63; /* read on aarch64, uname on x86-64 */
		put_sample(&recording, (struct sample){ .event = i,
							.time = 10 + i,
							.pid = 1,
							.tid = 1,
							CHAIN(USER, 0x1),
							.raw = raw,
							.raw_size = 16 });
	}
	raw[9] = 0xff;
	put_sample(&recording, (struct sample){ .event = 1,
						.time = 20,
						.pid = 1,
						.tid = 1,
						CHAIN(USER, 0x1),
						.raw = raw,
						.raw_size = 16 });
	assert_becomes(&recording, "call",
		       "call 10+0 1/1 cpu=0 name=openat 0x1\ncall 11+0 1/1 cpu=0 name=read 0x1\n"
		       "call 20+0 1/1 cpu=0 name=syscall_65343 0x1\n");
	import_recording(&imported, &recording, 0);
	assert_int_equal(noted(&imported, "ends of system calls"), 1);
	release_imported(&imported);
	recording.arch = "x86_64";
	assert_becomes(&recording, "call 11", "call 11+0 1/1 cpu=0 name=uname 0x1\n");
	release(&recording);
}

static void tables_of_system_calls_have_the_right_numbers(void **state)
{
	(void)state;
	assert_string_equal(lode_syscall_name("aarch64", 0), "io_setup");
	assert_string_equal(lode_syscall_name("aarch64", 98), "futex");
	assert_string_equal(lode_syscall_name("aarch64", 222), "mmap");
	assert_string_equal(lode_syscall_name("aarch64", 293), "rseq");
	assert_string_equal(lode_syscall_name("x86_64", 0), "read");
	assert_string_equal(lode_syscall_name("x86_64", 202), "futex");
	assert_string_equal(lode_syscall_name("x86_64", 334), "rseq");
	assert_string_equal(lode_syscall_name("x86_64", 435), "clone3");
	assert_string_equal(lode_syscall_name("aarch64", 449), "futex_waitv");
	assert_null(lode_syscall_name("aarch64", 250));
	assert_null(lode_syscall_name("x86_64", 400));
	assert_null(lode_syscall_name("x86_64", UINT64_MAX));
	assert_null(lode_syscall_name("riscv64", 63));
	assert_null(lode_syscall_name(NULL, 63));
}

/* ---- ways to store ---- */

static void make_mixture(struct recording *recording)
{
	add_tracing(recording);
	add_tracepoint(recording, 301);
	add_tracepoint(recording, 302);
	add_clock(recording);
	put_comm(recording, 0, 7, 70, "main");
	put_map(recording, 0, 7, 0x400000, 0x10000, 0, "/usr/bin/app");
	for (uint64_t i = 1; i <= 300; i++) {
		uint64_t t = i * 1000;

		put_switch(recording, t, 70, 1, 71, 0x400000 + i % 16);
		put_waking(recording, t + 300, 71, 70, 0x400100 + i % 4);
		put_sample(recording,
			   (struct sample){ .event = 2,
					    .time = t + 400,
					    .pid = 7,
					    .tid = 71,
					    .period = 9,
					    CHAIN(KERNEL, 0xffff800000000000 + i, USER, 0x400200 + i, 0x400300) });
		put_switch(recording, t + 500, 71, 0x100, 70, 0x400400 + i % 8);
		if (i % 20 == 0)
			put_round(recording);
		if (i % 50 == 0)
			put_map(recording, t + 600, 7, 0x400200, 0x20, 0,
				i % 100 ? "/lib/libone.so" : "/lib/libtwo.so");
	}
}

static void files_pipes_and_compressed_records_say_the_same(void **state)
{
	struct recording recording = { 0 };
	struct imported plain, other;

	(void)state;
	make_mixture(&recording);
	import_recording(&plain, &recording, 0);
	assert_int_equal(plain.code, 0);
	assert_non_null(strstr(plain.text.bytes, "wait 300000+300 7/70 delay=200"));
	for (int way = 1; way < 6; way++) {
		struct recording packed = { 0 };

		make_mixture(&packed);
		if (way > 1)
			compress(&packed, way > 3 ? 83 : 81);
		import_recording(&other, &packed, way % 2);
		assert_string_equal(other.code < 0 ? other.error.text : "", "");
		assert_string_equal(other.text.bytes, plain.text.bytes);
		release_imported(&other);
		release(&packed);
	}
	release_imported(&plain);
	release(&recording);
}

static void two_threads_give_the_same_as_one(void **state)
{
	struct lode_import_options options = plain_options;
	struct recording recording = { 0 };
	struct lode_buffer file = { 0 };
	struct imported one, two;

	(void)state;
	make_mixture(&recording);
	make_file(&recording, &file);
	import_bytes(&one, &lode_importer_perf_data, file.bytes, file.size, &options);
	options.jobs = 2;
	import_bytes(&two, &lode_importer_perf_data, file.bytes, file.size, &options);
	assert_string_equal(one.text.bytes, two.text.bytes);
	assert_string_equal(one.ids.bytes, two.ids.bytes);
	release_imported(&one);
	release_imported(&two);
	lode_buffer_release(&file);
	release(&recording);
}

/* HEADER_BUILD_ID: the build-id of a path is 20 times `byte`. */
static void put_build_id(struct recording *recording, unsigned char byte, const char *path)
{
	struct lode_buffer body = { 0 };
	unsigned char id[24] = { 0 };

	memset(id, byte, 20);
	id[20] = 20;
	lode_buffer_u32(&body, UINT32_MAX);
	lode_buffer_add(&body, id, sizeof(id));
	put_text(&body, path);
	put_record(&recording->records, 67, PERF_RECORD_MISC_USER | 0x8000, &body);
	lode_buffer_release(&body);
}

static void put_arch(struct recording *recording, const char *arch)
{
	struct lode_buffer body = { 0 };
	char text[12] = "";

	strncpy(text, arch, sizeof(text) - 1);
	lode_buffer_u64(&body, 6);
	lode_buffer_u32(&body, sizeof(text));
	lode_buffer_add(&body, text, sizeof(text));
	put_record(&recording->records, 80, 0, &body);
	lode_buffer_release(&body);
}

/* Mappings are handed over in rounds, and what describes them goes on behind each. */
static void make_late_facts(struct recording *recording)
{
	char path[32];

	add_clock(recording);
	for (unsigned round = 0; round < 4; round++) {
		for (unsigned i = 0; i < 1500; i++) {
			snprintf(path, sizeof(path), "/x/%u", i);
			put_map(recording, 0, 10, 0x400000 + i * 0x2000, 0x1000, 0, path);
		}
		put_round(recording);
		put_arch(recording, "sparc64");
		for (unsigned i = 0; i < 1500; i++) {
			snprintf(path, sizeof(path), "/x/%u", round * 1500 + i);
			put_build_id(recording, (unsigned char)(round + 1), path);
		}
	}
	put_sample(recording, (struct sample){ .time = 5000,
					       .pid = 10,
					       .tid = 11,
					       .period = 1,
					       CHAIN(USER, 0x400500, 0x402500, 0x9990000) });
	put_build_id(recording, 9, "/x/0");
}

static void what_describes_a_recording_may_come_late_and_threads_do_not_matter(void **state)
{
	(void)state;
	for (unsigned jobs = 1; jobs <= 3; jobs++) {
		struct lode_import_options options = plain_options;
		struct recording recording = { 0 };
		struct lode_buffer file = { 0 };
		struct imported imported;
		char *modules;

		options.jobs = jobs;
		make_late_facts(&recording);
		make_pipe(&recording, &file);
		import_bytes(&imported, &lode_importer_perf_data, file.bytes, file.size, &options);
		assert_string_equal(imported.code < 0 ? imported.error.text : "", "");
		modules = lines_of(&imported, "module");
		assert_string_equal(modules, "module 1 user /x/1 0101010101010101010101010101010101010101\n"
					     "module 0 user /x/0 0101010101010101010101010101010101010101\n");
		assert_non_null(strstr(imported.text.bytes, "arch=aarch64"));
		assert_int_equal(noted(&imported, "after its first records"), 4);
		lode_free(modules);
		release_imported(&imported);
		lode_buffer_release(&file);
		release(&recording);
	}
}

/* ---- damage ---- */

static void assert_refused(const void *bytes, size_t size, const char *part)
{
	struct imported imported;

	import_bytes(&imported, &lode_importer_perf_data, bytes, size, &plain_options);
	assert_int_equal(imported.code, LODE_BAD_INPUT);
	assert_non_null(strstr(imported.error.text, part));
	release_imported(&imported);
}

static void what_cannot_be_read_is_refused_with_a_reason(void **state)
{
	char header[104] = "PERFILE2";

	(void)state;
	assert_refused("2ELIFREP\0\0\0\0\0\0\0\0", 16, "big-endian");
	assert_refused("PERFFILE\0\0\0\0\0\0\0\0", 16, "perf script");
	assert_refused("something else..", 16, "not a perf.data");
	assert_refused("PERFILE2", 8, "not a perf.data");
	header[8] = 104;
	assert_refused(header, 50, "cut off");
	assert_refused(header, sizeof(header), "list of events");
}

static void a_record_whose_size_is_a_lie_ends_the_reading_with_a_note(void **state)
{
	static const uint16_t sizes[] = { 0, 7, 65535 };

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct recording recording = { 0 };
		struct imported imported;

		add_clock(&recording);
		put_sample(&recording,
			   (struct sample){ .time = 5, .pid = 1, .tid = 1, .period = 9, CHAIN(USER, 0x2) });
		lode_buffer_u32(&recording.records, 9);
		put_u16(&recording.records, 0);
		put_u16(&recording.records, sizes[i]);
		import_recording(&imported, &recording, 0);
		assert_int_equal(imported.code, 0);
		assert_non_null(strstr(imported.text.bytes, "run 5+9"));
		assert_int_equal(noted(&imported, sizes[i] < 8 ? "damaged record" : "cut off"), 8);
		release_imported(&imported);
		release(&recording);
	}
}

static void samples_that_lie_about_their_fields_are_counted(void **state)
{
	struct recording recording = { 0 };
	struct lode_buffer body = { 0 };
	struct imported imported;

	(void)state;
	add_clock(&recording);
	put_sample_head(&body, &recording, &(struct sample){ .time = 5 });
	lode_buffer_u64(&body, 0x2000000000000001); /* so many addresses */
	lode_buffer_u64(&body, 1);
	put_record(&recording.records, PERF_RECORD_SAMPLE, 0, &body);
	put_header(&recording.records, PERF_RECORD_SAMPLE, 0, 0);
	put_header(&recording.records, PERF_RECORD_MMAP2, 0, 0);
	put_header(&recording.records, PERF_RECORD_COMM, 0, 0);
	put_header(&recording.records, PERF_RECORD_FORK, 0, 0);
	put_header(&recording.records, 63, 0, 0);
	import_recording(&imported, &recording, 0);
	assert_int_equal(imported.code, 0);
	assert_int_equal(noted(&imported, "damaged samples"), 2);
	assert_int_equal(noted(&imported, "damaged records"), 3);
	assert_int_equal(noted(&imported, "unknown types"), 1);
	release_imported(&imported);
	lode_buffer_release(&body);
	release(&recording);
}

static void compressed_records_that_unpack_without_bound_are_refused(void **state)
{
	struct recording recording = { 0 };
	struct lode_buffer zeros = { 0 };
	struct imported imported;

	(void)state;
	add_clock(&recording);
	for (int i = 0; i < 3000000; i++) /* records of an unknown type: 24 MB that pack to nothing */
		put_header(&recording.records, 60, 0, 0);
	compress(&recording, 81);
	import_recording(&imported, &recording, 0);
	assert_int_equal(imported.code, LODE_BAD_INPUT);
	assert_non_null(strstr(imported.error.text, "500 times"));
	release_imported(&imported);
	release(&recording);
	add_clock(&recording);
	put_header(&recording.records, 81, 0, 16);
	lode_buffer_text(&recording.records, "this is not zstd");
	recording.event_count = 1;
	import_recording(&imported, &recording, 0);
	assert_int_equal(imported.code, LODE_BAD_INPUT);
	assert_non_null(strstr(imported.error.text, "compressed record is damaged"));
	release_imported(&imported);
	lode_buffer_release(&zeros);
	lode_buffer_release(&recording.records);
}

static void import_damaged(const struct lode_buffer *file, size_t size)
{
	struct lode_import_sink sink = { drop_stream, NULL };
	struct lode_import_options options = plain_options;
	struct lode_error error;
	struct lode_input *input;
	struct lode_notes notes;
	int code;

	lode_notes_init(&notes);
	options.notes = &notes;
	if (lode_input_memory(&input, "damaged", file->bytes, size, &error) == 0) {
		options.jobs = 1 + (unsigned)size % 2;
		code = lode_importer_perf_data.read(input, &options, &sink, &error);
		assert_true(code == 0 || code == LODE_BAD_INPUT);
		lode_input_close(input);
	}
	lode_notes_release(&notes);
}

static void files_cut_off_or_with_wrong_bytes_do_no_harm(void **state)
{
	(void)state;
	for (int pipe = 0; pipe < 2; pipe++) {
		struct recording recording = { 0 };
		struct lode_buffer file = { 0 };

		make_mixture(&recording);
		if (pipe)
			make_pipe(&recording, &file);
		else
			make_file(&recording, &file);
		for (size_t size = 0; size < file.size; size += size < 3000 ? ONE_IN : 997)
			import_damaged(&file, size);
		srand(1);
		for (int i = 0; i < 1500 / ONE_IN; i++) {
			size_t at = (size_t)rand() % (i % 2 ? 2000 : file.size);
			char kept = file.bytes[at];

			file.bytes[at] = (char)(rand() % 2 ? rand() : kept ^ 1 << rand() % 8);
			import_damaged(&file, file.size);
			file.bytes[at] = kept;
		}
		lode_buffer_release(&file);
		release(&recording);
	}
}

/*
 * Imports with allocation number `nth` failing, and with `for_good` all after it; says how many were asked
 * for.
 */
static int import_without_memory(const struct lode_buffer *file, uint64_t nth, int for_good, unsigned jobs,
				 uint64_t *asked)
{
	struct lode_import_options options = plain_options;
	struct lode_import_sink sink = { drop_stream, NULL };
	struct lode_input *input;
	struct lode_error error;
	int code;

	assert_int_equal(lode_input_memory(&input, "x", file->bytes, file->size, &error), 0);
	lode_memory_fail_at(nth, for_good);
	options.jobs = jobs;
	code = lode_importer_perf_data.read(input, &options, &sink, &error);
	*asked = lode_memory_asked();
	lode_memory_fail_at(0, 0);
	assert_true(code == 0 || code == LODE_SYSTEM);
	lode_input_close(input);
	return code;
}

static void memory_that_runs_out_anywhere_is_reported(void **state)
{
	struct recording recording = { 0 };
	struct lode_buffer file = { 0 };
	uint64_t asked, ignored;

	(void)state;
	make_mixture(&recording);
	compress(&recording, 81);
	make_file(&recording, &file);
	assert_int_equal(import_without_memory(&file, 0, 0, 1, &asked), 0);
	assert_true(asked > 50 && asked < 5000);
	for (uint64_t nth = 1; nth <= asked; nth += ONE_IN) {
		assert_int_equal(import_without_memory(&file, nth, 1, 1, &ignored), LODE_SYSTEM);
		assert_int_equal(import_without_memory(&file, nth, 1, 2, &ignored), LODE_SYSTEM);
		import_without_memory(&file, nth, 0, 1, &ignored);
		import_without_memory(&file, nth, 0, 2, &ignored);
	}
	lode_buffer_release(&file);
	release(&recording);
}

/* ---- recordings of perf ---- */

static char *data_path(const char *name, const char *extension)
{
	return lode_format("%s/perf/%s.%s.zst", TEST_DATA, name, extension);
}

/* A line an event, as tests/perf/compare-with-perf --expected writes it. */
struct told {
	char **lines;
	size_t count;
	size_t capacity;
};

static void add_line(struct told *told, const char *line, size_t length)
{
	assert_int_equal(lode_grow(&told->lines, &told->capacity, told->count + 1, sizeof(*told->lines)), 0);
	told->lines[told->count++] = lode_strndup(line, length);
}

static int compare_lines(const void *left, const void *right)
{
	return strcmp(*(char *const *)left, *(char *const *)right);
}

static void tell_modules(struct lode_buffer *buffer, const struct lode_stream *stream, uint32_t node)
{
	uint32_t depth = lode_stack_tree_depth(&stream->dictionary->tree, node);
	uint32_t *frames = calloc(depth + 1, sizeof(*frames));

	lode_stack_tree_frames(&stream->dictionary->tree, node, frames, depth);
	for (uint32_t i = 0; i < depth; i++)
		lode_buffer_print(buffer, "%s%s", i ? ";" : "",
				  lode_frames_module_name(&stream->dictionary->frames, frames[i]));
	free(frames);
}

static int tell_lines(void *context, struct lode_stream *stream, unsigned ordinal, struct lode_error *error)
{
	struct lode_buffer line = { 0 };

	(void)ordinal;
	(void)error;
	for (int type = 0; type < LODE_EVENT_TYPES; type++) {
		for (size_t i = 0; i < stream->events[type].count; i++) {
			struct lode_event event = lode_events_get(&stream->events[type], i);
			const char *name = string_text(stream, event.name);

			lode_buffer_clear(&line);
			lode_buffer_print(&line, "%s %u %" PRIu64 " ",
					  strcmp(name, "preempt") ? lode_event_type_name((enum lode_event_type)type)
								  : name,
					  stream->threads[event.thread].tid, event.t);
			tell_modules(&line, stream, event.stack);
			add_line(context, line.bytes, line.size);
		}
	}
	lode_buffer_release(&line);
	return 0;
}

static void release_told(struct told *told)
{
	for (size_t i = 0; i < told->count; i++)
		lode_free(told->lines[i]);
	lode_free(told->lines);
}

static void read_expected(struct told *told, const char *name)
{
	char *path = data_path(name, "expected");
	struct lode_input *input;
	struct lode_error error;
	const char *line;
	size_t length;

	assert_int_equal(lode_input_open(&input, path, &error), 0);
	while (lode_input_line(input, 1 << 20, &line, &length, &error) > 0)
		add_line(told, line, length);
	lode_input_close(input);
	lode_free(path);
}

static void recordings_of_perf_become_what_perf_script_says(void **state)
{
	static const char *const names[] = { "file", "packed", "pipe", "packed-pipe", "build-id-mmap", "plain" };

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct told told = { 0 }, expected = { 0 };
		struct lode_import_sink sink = { tell_lines, &told };
		char *path = data_path(names[i], "data");
		struct lode_input *input;
		struct lode_error error = { { 0 } };

		assert_int_equal(lode_input_open(&input, path, &error), 0);
		assert_int_equal(lode_importer_perf_data.read(input, &plain_options, &sink, &error), 0);
		read_expected(&expected, names[i]);
		assert_true(told.count > 30);
		assert_int_equal(told.count, expected.count);
		qsort(told.lines, told.count, sizeof(*told.lines), compare_lines);
		qsort(expected.lines, expected.count, sizeof(*expected.lines), compare_lines);
		for (size_t k = 0; k < told.count; k++)
			assert_string_equal(told.lines[k], expected.lines[k]);
		lode_input_close(input);
		release_told(&told);
		release_told(&expected);
		lode_free(path);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_order_of_mappings_makes_a_deep_tree),
		cmocka_unit_test(a_sample_becomes_a_run_with_its_stack_root_first),
		cmocka_unit_test(files_here_give_no_names_to_a_recording_of_another_kind_of_machine),
		cmocka_unit_test(fields_of_a_sample_that_are_of_no_use_are_stepped_over),
		cmocka_unit_test(events_are_distinguished_by_id_in_both_layouts),
		cmocka_unit_test(a_recording_without_ids_or_trailers_is_of_its_only_event),
		cmocka_unit_test(attributes_may_have_any_size),
		cmocka_unit_test(a_sample_without_a_chain_is_where_it_was_taken),
		cmocka_unit_test(calls_kept_by_the_processor_are_the_users_stack),
		cmocka_unit_test(off_cpu_samples_are_waits),
		cmocka_unit_test(the_users_part_joins_its_samples_by_cookie),
		cmocka_unit_test(a_folder_is_read_as_one_recording),
		cmocka_unit_test(code_made_at_run_time_is_one_module),
		cmocka_unit_test(cycles_become_time_at_the_rate_of_their_counter),
		cmocka_unit_test(short_threads_weigh_no_more_than_their_cycles),
		cmocka_unit_test(events_that_are_no_time_are_counted_and_told),
		cmocka_unit_test(a_mapping_counts_from_its_time_on_and_a_fork_keeps_it),
		cmocka_unit_test(a_child_has_its_parents_name_until_it_has_its_own),
		cmocka_unit_test(kernel_modules_and_run_time_code_have_names_of_their_own),
		cmocka_unit_test(what_is_marked_as_a_build_id_is_one_only_if_it_can_be),
		cmocka_unit_test(records_of_several_cpus_are_replayed_in_order_of_time),
		cmocka_unit_test(ordering_is_stable_and_lets_go_what_is_safe),
		cmocka_unit_test(address_spaces_agree_with_an_array_of_pages),
		cmocka_unit_test(millions_of_forks_and_mappings_take_no_more_than_their_share),
		cmocka_unit_test(switches_and_wakings_become_waits_by_the_formats_of_the_file),
		cmocka_unit_test(system_calls_are_named_by_tracepoint_or_number),
		cmocka_unit_test(tables_of_system_calls_have_the_right_numbers),
		cmocka_unit_test(files_pipes_and_compressed_records_say_the_same),
		cmocka_unit_test(two_threads_give_the_same_as_one),
		cmocka_unit_test(what_describes_a_recording_may_come_late_and_threads_do_not_matter),
		cmocka_unit_test(what_cannot_be_read_is_refused_with_a_reason),
		cmocka_unit_test(a_record_whose_size_is_a_lie_ends_the_reading_with_a_note),
		cmocka_unit_test(samples_that_lie_about_their_fields_are_counted),
		cmocka_unit_test(compressed_records_that_unpack_without_bound_are_refused),
		cmocka_unit_test(files_cut_off_or_with_wrong_bytes_do_no_harm),
		cmocka_unit_test(memory_that_runs_out_anywhere_is_reported),
		cmocka_unit_test(recordings_of_perf_become_what_perf_script_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
