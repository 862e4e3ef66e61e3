/* The importer of pprof profiles, fed by a small writer of profile.proto of its own. */
#include "import_fixture.h"

#include <zlib.h>

static const struct lode_importer *const pprof = &lode_importer_pprof;

/* ---- a writer ---- */

static void put_number(struct lode_buffer *buffer, unsigned field, uint64_t number)
{
	lode_buffer_varint(buffer, field << 3);
	lode_buffer_varint(buffer, number);
}

static void put_bytes(struct lode_buffer *buffer, unsigned field, const void *bytes, size_t size)
{
	lode_buffer_varint(buffer, field << 3 | 2);
	lode_buffer_varint(buffer, size);
	lode_buffer_add(buffer, bytes, size);
}

/* Adds `message` as a field and empties it. */
static void put_message(struct lode_buffer *buffer, unsigned field, struct lode_buffer *message)
{
	put_bytes(buffer, field, message->bytes, message->size);
	lode_buffer_clear(message);
}

/* A repeated number field, packed or one by one. */
static void put_numbers(struct lode_buffer *buffer, unsigned field, const uint64_t *numbers, size_t count,
			int packed)
{
	struct lode_buffer inner = { 0 };

	for (size_t i = 0; i < count; i++) {
		if (packed)
			lode_buffer_varint(&inner, numbers[i]);
		else
			put_number(buffer, field, numbers[i]);
	}
	if (packed)
		put_bytes(buffer, field, inner.bytes, inner.size);
	lode_buffer_release(&inner);
}

/* A profile under construction: strings are interned as they are named. */
struct profile {
	struct lode_buffer bytes;
	struct lode_buffer message;
	char *strings[64];
	size_t count;
};

static uint64_t string_number(struct profile *profile, const char *text)
{
	if (!profile->count)
		profile->strings[profile->count++] = strdup("");
	for (size_t i = 0; i < profile->count; i++)
		if (strcmp(profile->strings[i], text) == 0)
			return i;
	assert_true(profile->count < 64);
	profile->strings[profile->count] = strdup(text);
	return profile->count++;
}

static void add_type(struct profile *profile, unsigned field, const char *type, const char *unit)
{
	put_number(&profile->message, 1, string_number(profile, type));
	put_number(&profile->message, 2, string_number(profile, unit));
	put_message(&profile->bytes, field, &profile->message);
}

static void add_mapping(struct profile *profile, uint64_t id, const char *file, const char *build_id)
{
	put_number(&profile->message, 1, id);
	put_number(&profile->message, 2, 0x1000 * id);
	put_number(&profile->message, 3, 0x1000 * id + 0x1000);
	put_number(&profile->message, 4, 0x10);
	put_number(&profile->message, 5, string_number(profile, file));
	put_number(&profile->message, 6, string_number(profile, build_id));
	put_message(&profile->bytes, 3, &profile->message);
}

static void add_function(struct profile *profile, uint64_t id, const char *name, const char *system_name)
{
	put_number(&profile->message, 1, id);
	if (*name)
		put_number(&profile->message, 2, string_number(profile, name));
	put_number(&profile->message, 3, string_number(profile, system_name));
	put_message(&profile->bytes, 5, &profile->message);
}

/* Lines are functions, innermost first, ended by 0. */
static void add_location(struct profile *profile, uint64_t id, uint64_t mapping, uint64_t address,
			 const uint64_t *lines)
{
	struct lode_buffer line = { 0 };

	put_number(&profile->message, 1, id);
	put_number(&profile->message, 2, mapping);
	put_number(&profile->message, 3, address);
	for (; *lines; lines++) {
		put_number(&line, 1, *lines);
		put_number(&line, 2, 17);
		put_message(&profile->message, 4, &line);
	}
	lode_buffer_release(&line);
	put_message(&profile->bytes, 4, &profile->message);
}

static void add_sample(struct profile *profile, const uint64_t *locations, size_t count, const uint64_t *values,
		       size_t value_count, int packed)
{
	put_numbers(&profile->message, 1, locations, count, packed);
	put_numbers(&profile->message, 2, values, value_count, packed);
	put_message(&profile->bytes, 2, &profile->message);
}

static void finish_profile(struct profile *profile)
{
	string_number(profile, "");
	for (size_t i = 0; i < profile->count; i++)
		put_bytes(&profile->bytes, 6, profile->strings[i], strlen(profile->strings[i]));
}

static void release_profile(struct profile *profile)
{
	for (size_t i = 0; i < profile->count; i++)
		free(profile->strings[i]);
	lode_buffer_release(&profile->bytes);
	lode_buffer_release(&profile->message);
}

#define LIST(...) ((const uint64_t[]){ __VA_ARGS__ })

/* Two functions, one inlined into the other, in one program; `main` calls them. */
static void add_program(struct profile *profile)
{
	add_mapping(profile, 1, "/usr/bin/app", "abcd");
	add_mapping(profile, 2, "[kernel.kallsyms]", "");
	add_function(profile, 7, "main", "main");
	add_function(profile, 8, "", "_Zouter");
	add_function(profile, 9, "inner", "x");
	add_location(profile, 1, 1, 0x1100, LIST(7, 0));
	add_location(profile, 2, 1, 0x1200, LIST(9, 8, 0));
	add_location(profile, 3, 2, 0x2300, LIST(0));
	add_location(profile, 4, 0, 0x99, LIST(0));
}

static void assert_profile(struct profile *profile, const char *expected)
{
	struct imported imported;

	finish_profile(profile);
	import_bytes(&imported, pprof, profile->bytes.bytes, profile->bytes.size, NULL);
	assert_string_equal(imported.code < 0 ? imported.error.text : "", "");
	assert_string_equal(imported.text.bytes, expected);
	release_imported(&imported);
	release_profile(profile);
}

static void assert_bad_profile(struct profile *profile, const char *part)
{
	struct imported imported;

	finish_profile(profile);
	import_bytes(&imported, pprof, profile->bytes.bytes, profile->bytes.size, NULL);
	if (imported.code != LODE_BAD_INPUT || !strstr(imported.error.text, part))
		fail_msg("%d `%s` has no `%s`", imported.code, imported.error.text, part);
	release_imported(&imported);
	release_profile(profile);
}

/* ---- tests ---- */

static void a_cpu_profile_becomes_runs_that_tile_time(void **state)
{
	struct profile profile = { 0 };

	(void)state;
	add_type(&profile, 1, "samples", "count");
	add_type(&profile, 1, "cpu", "nanoseconds");
	add_sample(&profile, LIST(3, 2, 1), 3, LIST(2, 20), 2, 1);
	add_sample(&profile, LIST(4, 1), 2, LIST(1, 10), 2, 0);
	add_sample(&profile, NULL, 0, LIST(1, 0), 2, 1);
	add_program(&profile);
	put_number(&profile.bytes, 9, 1000);
	put_number(&profile.bytes, 10, 5000);
	add_type(&profile, 11, "cpu", "nanoseconds");
	put_number(&profile.bytes, 12, 10);
	put_number(&profile.bytes, 13, string_number(&profile, "hello"));
	put_numbers(&profile.bytes, 13, LIST(string_number(&profile, "you")), 1, 1);
	assert_profile(&profile, "stream x \n"
				 "attribute sample_type=cpu/nanoseconds 0\n"
				 "attribute duration_ns=5000 1\n"
				 "attribute period=10 1\n"
				 "attribute period_type=cpu/nanoseconds 0\n"
				 "attribute comment=hello\nyou 0\nattribute addresses=file offsets 0\n"
				 "module app user /usr/bin/app abcd\n"
				 "run 1000+20 0 app!main|app!_Zouter|app!inner|kernel!0x310\n"
				 "run 1020+10 0 app!main|0x99\n"
				 "run 1030+0 0 \n");
}

static void contention_becomes_waits(void **state)
{
	struct profile profile = { 0 };

	(void)state;
	add_type(&profile, 1, "contentions", "count");
	add_type(&profile, 1, "delay", "microseconds");
	add_program(&profile);
	add_sample(&profile, LIST(1), 1, LIST(2, 20), 2, 1);
	assert_profile(&profile,
		       "stream x \nattribute sample_type=delay/microseconds 0\nmodule app user /usr/bin/app abcd\n"
		       "wait 0+20000 0 app!main\n");
}

static void counts_are_taken_times_the_period(void **state)
{
	struct profile profile = { 0 };

	(void)state;
	add_type(&profile, 1, "samples", "count");
	add_program(&profile);
	add_type(&profile, 11, "cpu", "milliseconds");
	put_number(&profile.bytes, 12, 3);
	add_sample(&profile, LIST(1), 1, LIST(5), 1, 0);
	assert_profile(&profile, "stream x \nattribute sample_type=samples/count 0\nattribute period=3 1\n"
				 "attribute period_type=cpu/milliseconds 0\nmodule app user /usr/bin/app abcd\n"
				 "run 0+15000000 0 app!main\n");
}

/* Counts of 5 and 2^20, with `period` milliseconds each, in a profile of `duration` nanoseconds. */
static void import_counts(struct imported *imported, uint64_t period, uint64_t duration, double unit)
{
	struct lode_import_options options = { .unit_ns = unit, .jobs = 1 };
	struct profile profile = { 0 };

	add_type(&profile, 1, "samples", "count");
	add_program(&profile);
	add_type(&profile, 11, "cpu", "milliseconds");
	put_number(&profile.bytes, 12, period);
	put_number(&profile.bytes, 10, duration);
	add_sample(&profile, LIST(1), 1, LIST(5), 1, 0);
	add_sample(&profile, LIST(2), 1, LIST(1 << 20), 1, 0);
	finish_profile(&profile);
	import_bytes(imported, pprof, profile.bytes.bytes, profile.bytes.size, &options);
	release_profile(&profile);
}

static void assert_counts(uint64_t period, uint64_t duration, double unit, uint64_t notes, const char *run)
{
	struct imported imported;

	import_counts(&imported, period, duration, unit);
	assert_string_equal(imported.code < 0 ? imported.error.text : "", "");
	assert_int_equal(note_count(&imported, "period is implausible"), notes);
	if (!strstr(imported.text.bytes, run))
		fail_msg("`%s` has no `%s`", imported.text.bytes, run);
	release_imported(&imported);
}

/* Some profilers write a billion milliseconds. */
static void a_period_that_makes_no_sense_leaves_the_counts(void **state)
{
	(void)state;
	assert_counts(1000000000, 0, 0, 2, "run 0+5 0 app!main\nrun 5+1048576 0 ");
	assert_counts(1000000000, 30000000000, 0, 2, "run 0+5 0 app!main\nrun 5+1048576 0 ");
	assert_counts(UINT64_MAX / 2, 0, 0, 2, "run 0+5 0 app!main\nrun 5+1048576 0 ");
	/* What could be, is believed: a long one of a profile of days. */
	assert_counts(60000, 0, 0, 0, "run 0+300000000000 0 ");
	assert_counts(61000, 0, 0, 2, "run 0+5 0 ");
	assert_counts(61000, 86400000000000, 0, 0, "run 0+305000000000 0 ");
	/* The user knows better. */
	assert_counts(1000000000, 0, 1e7, 0, "run 0+50000000 0 ");
}

static void wall_time_beyond_cpu_time_is_a_wait(void **state)
{
	struct profile profile = { 0 };

	(void)state;
	add_type(&profile, 1, "wall", "nanoseconds");
	add_type(&profile, 1, "cpu", "nanoseconds");
	put_number(&profile.bytes, 14, string_number(&profile, "wall"));
	add_program(&profile);
	add_sample(&profile, LIST(1), 1, LIST(9, 6), 2, 0);
	add_sample(&profile, LIST(1), 1, LIST(5, 6), 2, 0);
	assert_profile(&profile, "stream x \nattribute sample_type=wall/nanoseconds 0\n"
				 "attribute sample_type_2=cpu/nanoseconds 0\nmodule app user /usr/bin/app abcd\n"
				 "run 0+6 0 app!main\nrun 9+6 0 app!main\nwait 6+3 0 app!main\n");
}

static void the_default_type_is_preferred_among_times(void **state)
{
	struct profile profile = { 0 };

	(void)state;
	add_type(&profile, 1, "a_time", "nanoseconds");
	add_type(&profile, 1, "b_time", "nanoseconds");
	put_number(&profile.bytes, 14, string_number(&profile, "a_time"));
	add_program(&profile);
	add_sample(&profile, LIST(1), 1, LIST(5, 6), 2, 0);
	assert_profile(&profile,
		       "stream x \nattribute sample_type=a_time/nanoseconds 0\nmodule app user /usr/bin/app abcd\n"
		       "run 0+5 0 app!main\n");
}

/* As a .NET profiler writes it: CPU samples as counts, and the time that threads waited for locks. */
static void each_sample_may_be_runs_and_waits(void **state)
{
	struct profile profile = { 0 };

	(void)state;
	add_type(&profile, 1, "cpu", "microseconds");
	add_type(&profile, 1, "lock_count", "count");
	add_type(&profile, 1, "lock_time", "nanoseconds");
	add_type(&profile, 1, "alloc_size", "bytes");
	add_program(&profile);
	add_sample(&profile, LIST(1), 1, LIST(5, 0, 0, 77), 4, 0);
	add_sample(&profile, LIST(1), 1, LIST(0, 2, 300, 0), 4, 0);
	add_sample(&profile, LIST(1), 1, LIST(0, 0, 0, 12), 4, 0);
	assert_profile(&profile,
		       "stream x \nattribute sample_type=cpu/microseconds 0\n"
		       "attribute sample_type_2=lock_time/nanoseconds 0\nmodule app user /usr/bin/app abcd\n"
		       "run 0+5000 0 app!main\nwait 5000+300 0 app!main\n");
}

static void counts_beside_waits_are_runs(void **state)
{
	struct profile profile = { 0 };

	(void)state;
	add_type(&profile, 1, "samples", "count");
	add_type(&profile, 1, "lock_count", "count");
	add_type(&profile, 1, "lock_time", "nanoseconds");
	add_type(&profile, 11, "cpu", "nanoseconds");
	put_number(&profile.bytes, 12, 100);
	add_program(&profile);
	add_sample(&profile, LIST(1), 1, LIST(3, 0, 0), 3, 0);
	add_sample(&profile, LIST(1), 1, LIST(0, 2, 40), 3, 0);
	assert_profile(&profile, "stream x \nattribute sample_type=samples/count 0\n"
				 "attribute sample_type_2=lock_time/nanoseconds 0\nattribute period=100 1\n"
				 "attribute period_type=cpu/nanoseconds 0\nmodule app user /usr/bin/app abcd\n"
				 "run 0+300 0 app!main\nwait 300+40 0 app!main\n");
}

static void put_label(struct profile *profile, const char *key, const char *text, uint64_t number)
{
	struct lode_buffer label = { 0 };

	put_number(&label, 1, string_number(profile, key));
	if (*text)
		put_number(&label, 2, string_number(profile, text));
	else
		put_number(&label, 3, number);
	put_message(&profile->message, 3, &label);
	lode_buffer_release(&label);
}

static void put_labelled(struct profile *profile, uint64_t value)
{
	put_numbers(&profile->message, 1, LIST(1), 1, 1);
	put_numbers(&profile->message, 2, LIST(value), 1, 1);
	put_message(&profile->bytes, 2, &profile->message);
}

static void labels_become_threads_and_attributes(void **state)
{
	struct profile profile = { 0 };
	struct imported imported;

	(void)state;
	add_type(&profile, 1, "cpu", "nanoseconds");
	add_program(&profile);
	for (uint64_t i = 0; i < 4; i++) {
		put_label(&profile, "service", "shop", 0);
		put_label(&profile, "shard", "", 7);
		put_label(&profile, "trace_id", i & 1 ? "a" : "b", 0);
		if (i == 0) { /* by numbers, by a number in words, by a name alone, and with a time stamp */
			put_label(&profile, "tid", "", 12);
			put_label(&profile, "pid", "", 10);
			put_label(&profile, "thread", "worker", 0);
		} else if (i == 1) {
			put_label(&profile, "thread id", "12", 0);
			put_label(&profile, "process_id", "10", 0);
		} else if (i == 2) {
			put_label(&profile, "thread name", "main", 0);
		} else {
			put_label(&profile, "thread_id", "", 13);
			put_label(&profile, "end_timestamp_ns", "", 1000);
		}
		put_labelled(&profile, 4 + i);
	}
	finish_profile(&profile);
	import_bytes(&imported, pprof, profile.bytes.bytes, profile.bytes.size, NULL);
	assert_string_equal(imported.text.bytes,
			    "stream x \nattribute sample_type=cpu/nanoseconds 0\nattribute service=shop 0\n"
			    "attribute shard=7 1\nthread 10/12 worker\nthread 1 main\n"
			    "module app user /usr/bin/app abcd\nrun 0+4 10/12 app!main\nrun 0+6 1 app!main\n"
			    "run 4+5 10/12 app!main\nrun 993+7 13 app!main\n");
	assert_int_equal(note_count(&imported, "labels that differ"), 4);
	assert_non_null(strstr(imported.notes.items[0].example, "trace_id"));
	release_imported(&imported);
	release_profile(&profile);
}

/* One sample with its fields in random order; what it must become is added to `expected` with its own cost. */
static void put_random(struct profile *profile, uint64_t *seed, uint64_t cost, uint64_t *sums,
		       struct lode_buffer *expected)
{
	static const char *const frames[] = { "", "app!main", "app!_Zouter|app!inner" };
	uint64_t tid = random_below(seed, 5), locations[4], depth = random_below(seed, 5),
		 first = random_below(seed, 3);
	int stamped = tid && random_below(seed, 8) == 0;

	lode_buffer_print(expected, "+%llu %llu ", (unsigned long long)cost, (unsigned long long)tid);
	for (uint64_t i = 0; i < depth; i++)
		locations[i] = 1 + random_below(seed, 2);
	for (uint64_t i = depth; i-- > 0;)
		lode_buffer_print(expected, "%s%s", frames[locations[i]], i ? "|" : "");
	lode_buffer_text(expected, "\n");
	for (uint64_t part = first; part < first + 3; part++) {
		if (part % 3 == 0)
			put_numbers(&profile->message, 1, locations, depth, random_below(seed, 4) != 0);
		if (part % 3 == 1)
			put_numbers(&profile->message, 2, &cost, 1, random_below(seed, 2) != 0);
		if (part % 3 == 2 && tid)
			put_label(profile, "tid", "", tid);
		if (part % 3 == 2 && random_below(seed, 8) == 0)
			put_label(profile, "request", "", cost);
		if (part % 3 == 2 && stamped)
			put_label(profile, "end_timestamp_ns", "", 1000000 + cost);
	}
	put_message(&profile->bytes, 2, &profile->message);
	sums[tid] += cost;
}

/* Samples are looked up several at a time, and labels that were met before are not read again. */
static void samples_are_the_same_whatever_came_before_them(void **state)
{
	struct profile profile = { 0 };
	struct lode_buffer expected = { 0 };
	struct imported imported;
	uint64_t seed = 5, sums[5] = { 0 };

	(void)state;
	add_type(&profile, 1, "cpu", "nanoseconds");
	add_program(&profile);
	for (uint64_t cost = 1000; cost < 3000; cost++)
		put_random(&profile, &seed, cost, sums, &expected);
	lode_buffer_byte(&expected, '\0');
	finish_profile(&profile);
	import_bytes(&imported, pprof, profile.bytes.bytes, profile.bytes.size, NULL);
	assert_int_equal(imported.code, 0);
	for (char *line = expected.bytes, *end; *line; line = end + 1) {
		end = strchr(line, '\n');
		*end = '\0';
		if (!strstr(imported.text.bytes, line))
			fail_msg("no event `%s`", line);
	}
	for (int tid = 0; tid < 5; tid++)
		assert_true(sums[tid] > 1000 * 300);
	release_imported(&imported);
	release_profile(&profile);
	lode_buffer_release(&expected);
}

static void a_profile_of_memory_is_refused(void **state)
{
	struct profile profile = { 0 };

	(void)state;
	add_type(&profile, 1, "alloc_objects", "count");
	add_type(&profile, 1, "alloc_space", "bytes");
	add_type(&profile, 11, "space", "bytes");
	put_number(&profile.bytes, 12, 524288);
	assert_bad_profile(&profile, "none of its values is a time");
}

static void labels_and_negative_values_are_counted(void **state)
{
	struct profile profile = { 0 };
	struct imported imported;

	(void)state;
	add_type(&profile, 1, "cpu", "nanoseconds");
	add_program(&profile);
	add_sample(&profile, LIST(1), 1, LIST((uint64_t)-5), 1, 0);
	put_numbers(&profile.message, 2, LIST(4), 1, 1);
	put_label(&profile, "request", "", 12);
	put_message(&profile.bytes, 2, &profile.message);
	finish_profile(&profile);
	import_bytes(&imported, pprof, profile.bytes.bytes, profile.bytes.size, NULL);
	assert_int_equal(imported.code, 0);
	assert_int_equal(note_count(&imported, "negative"), 1);
	assert_int_equal(note_count(&imported, "labels"), 1);
	assert_non_null(strstr(imported.notes.items[0].example, "request"));
	assert_non_null(strstr(imported.text.bytes, "run 0+4 0 \n"));
	release_imported(&imported);
	release_profile(&profile);
}

static void what_is_named_and_not_there_is_an_error(void **state)
{
	struct profile profile;

	(void)state;
	profile = (struct profile){ 0 };
	add_type(&profile, 1, "cpu", "nanoseconds");
	add_sample(&profile, LIST(1), 1, LIST(5), 1, 0);
	assert_bad_profile(&profile, "a sample names a location that is missing");

	profile = (struct profile){ 0 };
	add_type(&profile, 1, "cpu", "nanoseconds");
	add_location(&profile, 1, 0, 0, LIST(3, 0));
	add_sample(&profile, LIST(1), 1, LIST(5), 1, 0);
	assert_bad_profile(&profile, "a location names a function that is missing");

	profile = (struct profile){ 0 };
	add_type(&profile, 1, "cpu", "nanoseconds");
	add_location(&profile, 1, 0, 0, LIST(0));
	add_location(&profile, 1, 0, 0, LIST(0));
	assert_bad_profile(&profile, "an id occurs twice");

	profile = (struct profile){ 0 };
	add_type(&profile, 1, "cpu", "nanoseconds");
	add_sample(&profile, NULL, 0, LIST(5, 6), 2, 0);
	assert_bad_profile(&profile, "one value for each type");

	profile = (struct profile){ 0 };
	add_type(&profile, 1, "cpu", "nanoseconds");
	put_number(&profile.message, 1, 99);
	put_message(&profile.bytes, 1, &profile.message);
	assert_bad_profile(&profile, "string 99 is used");

	profile = (struct profile){ 0 };
	add_type(&profile, 1, "cpu", "seconds");
	add_sample(&profile, NULL, 0, LIST(1ull << 62), 1, 0);
	assert_bad_profile(&profile, "too large");

	profile = (struct profile){ 0 };
	add_type(&profile, 1, "cpu", "nanoseconds");
	for (int i = 0; i < 3; i++)
		add_sample(&profile, NULL, 0, LIST(INT64_MAX), 1, 0);
	assert_bad_profile(&profile, "add up to more");
}

static void a_profile_that_is_cut_off_is_an_error(void **state)
{
	struct profile profile = { 0 };

	(void)state;
	add_type(&profile, 1, "cpu", "nanoseconds");
	add_program(&profile);
	add_sample(&profile, LIST(2, 1), 2, LIST(5), 1, 1);
	finish_profile(&profile);
	for (size_t size = 0; size < profile.bytes.size; size++) {
		unsigned char *exact = malloc(size ? size : 1);

		memcpy(exact, profile.bytes.bytes, size);
		/* The last three bytes are a string that nothing uses: without it all is well. */
		assert_int_equal(import_and_drop(pprof, exact, size, 1),
				 size == profile.bytes.size - 3 ? 0 : LODE_BAD_INPUT);
		free(exact);
	}
	release_profile(&profile);
}

static void gzip_is_unpacked_on_the_way(void **state)
{
	struct profile profile = { 0 };
	unsigned char packed[4096];
	z_stream stream = { 0 };
	struct imported imported;

	(void)state;
	add_type(&profile, 1, "cpu", "nanoseconds");
	add_program(&profile);
	add_sample(&profile, LIST(2, 1), 2, LIST(5), 1, 1);
	finish_profile(&profile);
	assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	stream.next_in = (Bytef *)profile.bytes.bytes;
	stream.avail_in = (uInt)profile.bytes.size;
	stream.next_out = packed;
	stream.avail_out = sizeof(packed);
	assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
	import_bytes(&imported, pprof, packed, stream.total_out, NULL);
	assert_int_equal(imported.code, 0);
	assert_non_null(strstr(imported.text.bytes, "run 0+5 0 app!main|app!_Zouter|app!inner\n"));
	release_imported(&imported);
	deflateEnd(&stream);
	release_profile(&profile);
}

static void deep_stacks_keep_their_leaf_and_cost_no_square(void **state)
{
	struct profile profile = { 0 };
	uint64_t *lines = calloc(20000, sizeof(*lines));
	uint64_t *locations = calloc(5000, sizeof(*locations));
	struct imported imported;

	(void)state;
	add_type(&profile, 1, "cpu", "nanoseconds");
	add_function(&profile, 1, "f", "");
	add_function(&profile, 2, "leaf", "");
	for (int i = 0; i < 19999; i++)
		lines[i] = i ? 1 : 2;
	add_location(&profile, 1, 0, 0, lines);
	add_location(&profile, 2, 0, 0, LIST(2, 0));
	for (int i = 0; i < 5000; i++)
		locations[i] = i ? 1 : 2;
	/* Many samples, each naming the huge location many times. */
	for (int i = 0; i < 2000; i++)
		add_sample(&profile, locations, 1 + (size_t)i % 3 * 2400, LIST(1), 1, 1);
	finish_profile(&profile);
	import_bytes(&imported, pprof, profile.bytes.bytes, profile.bytes.size, NULL);
	assert_int_equal(imported.code, 0);
	/* A location that is too deep by itself is cut once; a stack that is, each time. */
	assert_int_equal(note_count(&imported, "cut at the root"), 1 + 1333);
	assert_non_null(strstr(imported.text.bytes, "run 0+1 0 leaf\nrun 1+1 0 leaf\n"));
	release_imported(&imported);
	release_profile(&profile);
	free(lines);
	free(locations);
}

/* ---- random profiles ---- */

/*
 * Locations 1..6, location i with the functions i and, when i is even, i + 10
 * inlined into it. Each sample is reported as the fixture prints it.
 */
static void random_profile(struct profile *profile, struct lode_buffer *reported, uint64_t *seed)
{
	uint64_t t = random_below(seed, 100), samples = random_below(seed, 12), start = t;
	int types_first = (int)random_below(seed, 2);

	if (types_first)
		add_type(profile, 1, "cpu", "nanoseconds");
	for (uint64_t i = 0; i < samples; i++) {
		uint64_t locations[8], depth = random_below(seed, 8), value = random_number(seed) >> 12;
		int packed = (int)random_below(seed, 2);

		lode_buffer_print(reported, "run %" PRIu64 "+%" PRIu64 " 0 ", t, value);
		t += value;
		for (uint64_t j = 0; j < depth; j++)
			locations[j] = 1 + random_below(seed, 6);
		for (uint64_t j = depth; j-- > 0;) {
			lode_buffer_print(reported, "%sm!f%" PRIu64, j + 1 < depth ? "|" : "", locations[j]);
			if (locations[j] % 2 == 0)
				lode_buffer_print(reported, "|m!f%" PRIu64, locations[j] + 10);
		}
		lode_buffer_byte(reported, '\n');
		add_sample(profile, locations, depth, &value, 1, packed);
		if (random_below(seed, 3) == 0)
			put_bytes(&profile->bytes, 99, "unknown", 7);
	}
	if (!types_first)
		add_type(profile, 1, "cpu", "nanoseconds");
	for (uint64_t i = 6; i >= 1; i--) {
		char name[32];

		add_location(profile, i, 5, i, i % 2 ? LIST(i, 0) : LIST(i + 10, i, 0));
		snprintf(name, sizeof(name), "f%" PRIu64, i);
		add_function(profile, i, name, "");
		snprintf(name, sizeof(name), "f%" PRIu64, i + 10);
		add_function(profile, i + 10, name, "");
	}
	add_mapping(profile, 5, "m", "");
	put_number(&profile->bytes, 9, start);
	finish_profile(profile);
}

static void random_profiles_read_as_they_were_written(void **state)
{
	uint64_t seed = 31;

	(void)state;
	for (int round = 0; round < 3000; round++) {
		struct profile profile = { 0 };
		struct lode_buffer reported = { 0 };
		struct imported imported;

		random_profile(&profile, &reported, &seed);
		lode_buffer_byte(&reported, '\0');
		import_bytes(&imported, pprof, profile.bytes.bytes, profile.bytes.size, NULL);
		assert_string_equal(imported.code < 0 ? imported.error.text : "", "");
		assert_string_equal(strchr(strchr(imported.text.bytes, '\n') + 1, '\n') + 1, reported.bytes);
		assert_true(pprof->sniff((const unsigned char *)profile.bytes.bytes, profile.bytes.size, "x") >= 0);
		release_imported(&imported);
		release_profile(&profile);
		lode_buffer_release(&reported);
	}
}

static void the_sniffer_knows_a_profile(void **state)
{
	struct profile profile = { 0 };

	(void)state;
	add_type(&profile, 1, "cpu", "nanoseconds");
	add_program(&profile);
	finish_profile(&profile);
	assert_true(pprof->sniff((const unsigned char *)profile.bytes.bytes, profile.bytes.size, "x") >= 60);
	assert_true(pprof->sniff((const unsigned char *)profile.bytes.bytes, profile.bytes.size - 1, "x") == 0);
	assert_true(pprof->sniff((const unsigned char *)"\n\nhello world, this is text\n", 28, "x") == 0);
	release_profile(&profile);
}

static void damaged_profiles_never_crash(void **state)
{
	struct profile profile = { 0 };

	(void)state;
	add_type(&profile, 1, "cpu", "nanoseconds");
	add_sample(&profile, LIST(3, 2, 1), 3, LIST(20), 1, 1);
	add_sample(&profile, LIST(4, 1), 2, LIST(10), 1, 0);
	add_program(&profile);
	put_number(&profile.bytes, 13, 1);
	finish_profile(&profile);
	try_damaged(pprof, profile.bytes.bytes, profile.bytes.size, 30000);
	try_without_memory(pprof, profile.bytes.bytes, profile.bytes.size);
	release_profile(&profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_cpu_profile_becomes_runs_that_tile_time),
		cmocka_unit_test(contention_becomes_waits),
		cmocka_unit_test(counts_are_taken_times_the_period),
		cmocka_unit_test(a_period_that_makes_no_sense_leaves_the_counts),
		cmocka_unit_test(the_default_type_is_preferred_among_times),
		cmocka_unit_test(wall_time_beyond_cpu_time_is_a_wait),
		cmocka_unit_test(each_sample_may_be_runs_and_waits),
		cmocka_unit_test(counts_beside_waits_are_runs),
		cmocka_unit_test(labels_become_threads_and_attributes),
		cmocka_unit_test(samples_are_the_same_whatever_came_before_them),
		cmocka_unit_test(a_profile_of_memory_is_refused),
		cmocka_unit_test(labels_and_negative_values_are_counted),
		cmocka_unit_test(what_is_named_and_not_there_is_an_error),
		cmocka_unit_test(a_profile_that_is_cut_off_is_an_error),
		cmocka_unit_test(gzip_is_unpacked_on_the_way),
		cmocka_unit_test(deep_stacks_keep_their_leaf_and_cost_no_square),
		cmocka_unit_test(random_profiles_read_as_they_were_written),
		cmocka_unit_test(the_sniffer_knows_a_profile),
		cmocka_unit_test(damaged_profiles_never_crash),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
