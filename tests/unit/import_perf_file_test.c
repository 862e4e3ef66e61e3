/* How perf.data is stored: order of records, pipes, compression, damage, and recordings of perf itself (tests/data/perf). */
#include "perf_import.h"

#include "import/kernel/perf_data/time_order.h"

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

static void a_record_with_a_false_size_ends_the_reading_with_a_note(void **state)
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

static void samples_with_false_fields_are_counted(void **state)
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
struct reported {
	char **lines;
	size_t count;
	size_t capacity;
};

static void add_line(struct reported *reported, const char *line, size_t length)
{
	assert_int_equal(lode_grow(&reported->lines, &reported->capacity, reported->count + 1,
				   sizeof(*reported->lines)),
			 0);
	reported->lines[reported->count++] = lode_strndup(line, length);
}

static int compare_lines(const void *left, const void *right)
{
	return strcmp(*(char *const *)left, *(char *const *)right);
}

static void report_modules(struct lode_buffer *buffer, const struct lode_stream *stream, uint32_t node)
{
	uint32_t depth = lode_stack_tree_depth(&stream->dictionary->tree, node);
	uint32_t *frames = calloc(depth + 1, sizeof(*frames));

	lode_stack_tree_frames(&stream->dictionary->tree, node, frames, depth);
	for (uint32_t i = 0; i < depth; i++)
		lode_buffer_print(buffer, "%s%s", i ? ";" : "",
				  lode_frames_module_name(&stream->dictionary->frames, frames[i]));
	free(frames);
}

static int report_lines(void *context, struct lode_stream *stream, unsigned ordinal, struct lode_error *error)
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
			report_modules(&line, stream, event.stack);
			add_line(context, line.bytes, line.size);
		}
	}
	lode_buffer_release(&line);
	return 0;
}

static void release_reported(struct reported *reported)
{
	for (size_t i = 0; i < reported->count; i++)
		lode_free(reported->lines[i]);
	lode_free(reported->lines);
}

static void read_expected(struct reported *reported, const char *name)
{
	char *path = data_path(name, "expected");
	struct lode_input *input;
	struct lode_error error;
	const char *line;
	size_t length;

	assert_int_equal(lode_input_open(&input, path, &error), 0);
	while (lode_input_line(input, 1 << 20, &line, &length, &error) > 0)
		add_line(reported, line, length);
	lode_input_close(input);
	lode_free(path);
}

static void recordings_of_perf_become_what_perf_script_says(void **state)
{
	static const char *const names[] = { "file", "packed", "pipe", "packed-pipe", "build-id-mmap", "plain" };

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct reported reported = { 0 }, expected = { 0 };
		struct lode_import_sink sink = { report_lines, &reported };
		char *path = data_path(names[i], "data");
		struct lode_input *input;
		struct lode_error error = { { 0 } };

		assert_int_equal(lode_input_open(&input, path, &error), 0);
		assert_int_equal(lode_importer_perf_data.read(input, &plain_options, &sink, &error), 0);
		read_expected(&expected, names[i]);
		assert_true(reported.count > 30);
		assert_int_equal(reported.count, expected.count);
		qsort(reported.lines, reported.count, sizeof(*reported.lines), compare_lines);
		qsort(expected.lines, expected.count, sizeof(*expected.lines), compare_lines);
		for (size_t k = 0; k < reported.count; k++)
			assert_string_equal(reported.lines[k], expected.lines[k]);
		lode_input_close(input);
		release_reported(&reported);
		release_reported(&expected);
		lode_free(path);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_of_several_cpus_are_replayed_in_order_of_time),
		cmocka_unit_test(ordering_is_stable_and_lets_go_what_is_safe),
		cmocka_unit_test(files_pipes_and_compressed_records_say_the_same),
		cmocka_unit_test(two_threads_give_the_same_as_one),
		cmocka_unit_test(what_describes_a_recording_may_come_late_and_threads_do_not_matter),
		cmocka_unit_test(what_cannot_be_read_is_refused_with_a_reason),
		cmocka_unit_test(a_record_with_a_false_size_ends_the_reading_with_a_note),
		cmocka_unit_test(samples_with_false_fields_are_counted),
		cmocka_unit_test(compressed_records_that_unpack_without_bound_are_refused),
		cmocka_unit_test(files_cut_off_or_with_wrong_bytes_do_no_harm),
		cmocka_unit_test(memory_that_runs_out_anywhere_is_reported),
		cmocka_unit_test(recordings_of_perf_become_what_perf_script_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
