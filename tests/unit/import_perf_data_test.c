/*
 * perf.data: files made here record by record, against what they must become: samples, stacks, threads and mappings.
 */
#include "perf_import.h"

#include <sys/utsname.h>
#include <unistd.h>

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

static void events_that_are_no_time_are_counted_and_reported(void **state)
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
	assert_int_equal(noted(&imported, "without their user part"), 1);
	release_imported(&imported);
	release(&recording);
}

/* As perf inject --jit leaves it: each function is a separate file. */
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

/* As perf record --threads writes it: one file with a header, and one per thread with records only. */
static void a_folder_is_read_as_one_recording(void **state)
{
	char folder[] = "/tmp/lode-perf-folder-XXXXXX", path[300];
	struct recording recording = { 0 };
	struct lode_buffer file = { 0 };
	struct imported imported = { 0 };
	struct lode_import_options options = { .jobs = 1, .no_symbols = 1 };
	struct lode_import_sink sink = { describe_stream, &imported };
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

int main(void)
{
	const struct CMUnitTest tests[] = {
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
		cmocka_unit_test(events_that_are_no_time_are_counted_and_reported),
		cmocka_unit_test(a_mapping_counts_from_its_time_on_and_a_fork_keeps_it),
		cmocka_unit_test(a_child_has_its_parents_name_until_it_has_its_own),
		cmocka_unit_test(kernel_modules_and_run_time_code_have_names_of_their_own),
		cmocka_unit_test(what_is_marked_as_a_build_id_is_one_only_if_it_can_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
