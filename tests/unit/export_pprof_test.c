/*
 * The pprof export, read back by a separate decoder: unpacked by zlib, taken
 * apart field by field, every reference followed, values summed and compared.
 */
#include "export_fixture.h"

#include "base/cursor.h"
#include "base/json.h"
#include "export/latency_export.h"

#include <zlib.h>

struct slice {
	const unsigned char *bytes;
	size_t size;
};

/* All fields of one number of a message, as bytes or as numbers. */
struct fields {
	struct slice *slices;
	uint64_t *numbers;
	size_t count;
};

static struct fields fields_of(struct slice message, unsigned wanted)
{
	struct lode_cursor cursor = lode_cursor(message.bytes, message.size);
	struct fields fields = { 0 };

	while (lode_cursor_left(&cursor)) {
		uint64_t tag = lode_cursor_varint(&cursor), number = lode_cursor_varint(&cursor);
		const void *bytes = NULL;

		assert_true((tag & 7) == 0 || (tag & 7) == 2);
		if ((tag & 7) == 2)
			bytes = lode_cursor_bytes(&cursor, number);
		assert_false(cursor.failed);
		if (tag >> 3 != wanted)
			continue;
		fields.slices = realloc(fields.slices, (fields.count + 1) * sizeof(*fields.slices));
		fields.numbers = realloc(fields.numbers, (fields.count + 1) * sizeof(*fields.numbers));
		fields.slices[fields.count] = (struct slice){ bytes, bytes ? number : 0 };
		fields.numbers[fields.count++] = number;
	}
	return fields;
}

static void release_fields(struct fields *fields)
{
	free(fields->slices);
	free(fields->numbers);
}

/* The only field of this number; 0 when it is not there. */
static uint64_t number_of(struct slice message, unsigned wanted)
{
	struct fields fields = fields_of(message, wanted);
	uint64_t number = fields.count ? fields.numbers[0] : 0;

	assert_true(fields.count <= 1);
	release_fields(&fields);
	return number;
}

static struct slice slice_of(struct slice message, unsigned wanted)
{
	struct fields fields = fields_of(message, wanted);
	struct slice slice = fields.count ? fields.slices[0] : (struct slice){ NULL, 0 };

	assert_true(fields.count <= 1);
	release_fields(&fields);
	return slice;
}

struct profile {
	unsigned char *bytes;
	struct slice message;
	struct fields types, samples, mappings, locations, functions, strings;
};

static struct slice unpack(const char *packed, size_t size)
{
	z_stream stream = { .next_in = (unsigned char *)(uintptr_t)packed, .avail_in = (unsigned)size };
	size_t capacity = 64u << 20;
	unsigned char *bytes = malloc(capacity);

	assert_int_equal(inflateInit2(&stream, 15 + 16), Z_OK);
	stream.next_out = bytes;
	stream.avail_out = (unsigned)capacity;
	assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
	assert_int_equal(stream.avail_in, 0);
	capacity = stream.total_out;
	inflateEnd(&stream);
	return (struct slice){ bytes, capacity };
}

static void take_apart(char *packed, size_t size, struct profile *profile)
{
	profile->message = unpack(packed, size);
	profile->bytes = (unsigned char *)(uintptr_t)profile->message.bytes;
	free(packed);
	profile->types = fields_of(profile->message, 1);
	profile->samples = fields_of(profile->message, 2);
	profile->mappings = fields_of(profile->message, 3);
	profile->locations = fields_of(profile->message, 4);
	profile->functions = fields_of(profile->message, 5);
	profile->strings = fields_of(profile->message, 6);
	assert_true(profile->strings.count > 0 && profile->strings.slices[0].size == 0);
}

static void read_profile(struct fixture *fixture, struct profile *profile,
			 const struct lode_export_options *options)
{
	size_t size;
	char *packed = export_bytes(fixture, "pprof", options, &size);

	take_apart(packed, size, profile);
}

static void release_profile(struct profile *profile)
{
	release_fields(&profile->types);
	release_fields(&profile->samples);
	release_fields(&profile->mappings);
	release_fields(&profile->locations);
	release_fields(&profile->functions);
	release_fields(&profile->strings);
	free(profile->bytes);
}

static void assert_text(const struct profile *profile, uint64_t string, const char *text)
{
	assert_true(string < profile->strings.count);
	assert_int_equal(profile->strings.slices[string].size, strlen(text));
	assert_memory_equal(profile->strings.slices[string].bytes, text, strlen(text));
}

static void check_tables(const struct profile *profile)
{
	for (size_t i = 0; i < profile->strings.count; i++) {
		struct slice string = profile->strings.slices[i];

		for (size_t at = 0; at < string.size;) {
			size_t step = lode_utf8_length(string.bytes + at, string.size - at);

			assert_true(step > 0);
			at += step;
		}
	}
	for (size_t i = 0; i < profile->mappings.count; i++) {
		assert_int_equal(number_of(profile->mappings.slices[i], 1), i + 1);
		assert_true(number_of(profile->mappings.slices[i], 5) < profile->strings.count);
	}
	assert_int_equal(profile->functions.count, profile->locations.count);
	for (size_t i = 0; i < profile->functions.count; i++) {
		assert_int_equal(number_of(profile->functions.slices[i], 1), i + 1);
		assert_true(number_of(profile->functions.slices[i], 2) < profile->strings.count);
		assert_int_equal(number_of(profile->locations.slices[i], 1), i + 1);
		assert_true(number_of(profile->locations.slices[i], 2) <= profile->mappings.count);
		assert_int_equal(number_of(slice_of(profile->locations.slices[i], 4), 1), i + 1);
	}
}

/* Adds a sample's values to the sums. */
static void add_sample(const struct profile *profile, struct slice sample, int values, uint64_t *sums)
{
	struct slice packed = slice_of(sample, 1);
	struct lode_cursor cursor = lode_cursor(packed.bytes, packed.size);

	while (lode_cursor_left(&cursor)) {
		uint64_t location = lode_cursor_varint(&cursor);

		assert_true(location >= 1 && location <= profile->locations.count);
	}
	packed = slice_of(sample, 2);
	cursor = lode_cursor(packed.bytes, packed.size);
	for (int i = 0; i < values; i++)
		sums[i] += lode_cursor_varint(&cursor);
	assert_false(cursor.failed);
	assert_int_equal(lode_cursor_left(&cursor), 0);
}

static void the_values_of_all_samples_add_up(void **state)
{
	struct fixture *fixture = *state;
	uint64_t seed = 9;

	for (int round = 0; round < 15; round++) {
		uint64_t sums[4] = { 0 }, wanted[4] = { 0 };
		size_t count = round % 3 == 2 ? 2 : 1;
		struct profile profile;

		next_corpus(fixture);
		for (size_t i = 0; i < count; i++) {
			struct whole whole;

			if (round == 0)
				odd_whole(&whole);
			else
				random_whole(&whole, &seed, round == 7 ? 5000 : 60);
			add_stream(fixture, &whole);
			wanted[0] += whole.stream.events[LODE_RUN].count;
			wanted[1] += sum_costs(&whole, LODE_RUN);
			wanted[2] += whole.stream.events[LODE_WAIT].count;
			wanted[3] += sum_costs(&whole, LODE_WAIT);
			release_whole(&whole);
		}
		read_profile(fixture, &profile, NULL);
		check_tables(&profile);
		for (size_t i = 0; i < profile.samples.count; i++)
			add_sample(&profile, profile.samples.slices[i], 4, sums);
		assert_memory_equal(sums, wanted, sizeof(sums));
		release_profile(&profile);
	}
}

static void samples_carry_their_thread_and_their_stack_from_the_leaf(void **state)
{
	static const unsigned char leaf_first[] = { 2, 1 };
	struct fixture *fixture = *state;
	struct profile profile;
	struct fields labels;
	struct whole whole;

	init_whole(&whole, "s");
	add_event(&whole, LODE_RUN, 1, 100, 4, 5, "app!main|libc.so.6!read");
	add_event(&whole, LODE_RUN, 2, 200, 4, 5, "app!main|libc.so.6!read");
	add_event(&whole, LODE_WAIT, 3, 300, 4, 5, "app!main|libc.so.6!read");
	whole.stream.threads[0].name = string_id(&whole, "worker");
	whole.dictionary.frames.modules[2].path = string_id(&whole, "/lib/libc.so.6");
	whole.dictionary.frames.modules[2].build_id = string_id(&whole, "abcd");
	add_stream(fixture, &whole);
	read_profile(fixture, &profile, NULL);
	assert_int_equal(profile.types.count, 4);
	assert_text(&profile, number_of(profile.types.slices[1], 1), "cpu");
	assert_text(&profile, number_of(profile.types.slices[1], 2), "nanoseconds");
	assert_text(&profile, number_of(profile.types.slices[3], 1), "wait");
	assert_text(&profile, number_of(profile.message, 14), "cpu");
	assert_int_equal(profile.samples.count, 1);
	assert_int_equal(slice_of(profile.samples.slices[0], 1).size, 2);
	assert_memory_equal(slice_of(profile.samples.slices[0], 1).bytes, leaf_first, 2);
	assert_text(&profile, number_of(profile.functions.slices[1], 2), "read");
	assert_text(&profile, number_of(profile.mappings.slices[1], 5), "/lib/libc.so.6");
	assert_text(&profile, number_of(profile.mappings.slices[1], 6), "abcd");
	labels = fields_of(profile.samples.slices[0], 3);
	assert_int_equal(labels.count, 3);
	assert_text(&profile, number_of(labels.slices[0], 1), "thread");
	assert_text(&profile, number_of(labels.slices[0], 2), "worker");
	assert_text(&profile, number_of(labels.slices[1], 1), "tid");
	assert_int_equal(number_of(labels.slices[1], 3), 5);
	assert_int_equal(number_of(labels.slices[2], 3), 4);
	release_fields(&labels);
	release_profile(&profile);
	release_whole(&whole);
}

static void only_waits_are_shown_first_where_there_is_nothing_else(void **state)
{
	struct fixture *fixture = *state;
	struct profile profile;
	struct whole whole;

	init_whole(&whole, "s");
	add_event(&whole, LODE_RUN, 1, 100, 4, 5, "a");
	add_event(&whole, LODE_WAIT, 3, 300, 4, 5, "b");
	add_stream(fixture, &whole);
	read_profile(fixture, &profile, &(struct lode_export_options){ .kinds = 1u << LODE_WAIT });
	assert_text(&profile, number_of(profile.message, 14), "wait");
	assert_int_equal(profile.samples.count, 1);
	release_profile(&profile);
	release_whole(&whole);
}

static void calls_that_are_left_out_are_counted(void **state)
{
	struct fixture *fixture = *state;
	struct lode_notes notes;
	struct lode_export_options options = { .notes = &notes };
	struct profile profile;
	struct whole whole;

	lode_notes_init(&notes);
	init_whole(&whole, "s");
	for (int i = 0; i < 5; i++)
		add_event(&whole, LODE_CALL, 1, 0, 4, 5, "a");
	add_stream(fixture, &whole);
	read_profile(fixture, &profile, &options);
	assert_int_equal(profile.samples.count, 0);
	assert_int_equal(notes.count, 1);
	assert_int_equal(notes.items[0].count, 5);
	lode_notes_release(&notes);
	release_profile(&profile);
	release_whole(&whole);
}

/* ---- inferred latencies ---- */

/* The `fail_at`th allocation fails; 0: none. */
static int write_latencies(struct fixture *fixture, struct lode_latency *latency,
			   const struct lode_contexts *contexts, uint64_t fail_at)
{
	struct lode_error error;
	struct lode_output output;
	int code;

	assert_int_equal(lode_output_open(&output, fixture->result, &error), 0);
	lode_memory_fail_at(fail_at, 0);
	code = lode_latency_pprof(latency, contexts, &output, &error);
	lode_memory_fail_at(0, 0);
	if (code)
		lode_output_abandon(&output);
	else
		assert_int_equal(lode_output_finish(&output, &error), 0);
	return code;
}

static void collect(struct fixture *fixture, struct lode_latency *latency, struct lode_contexts *contexts)
{
	struct lode_latency_options options = { .jobs = 1 };
	struct lode_idle_rules *rules;
	struct lode_corpus *corpus;
	struct lode_error error;

	assert_int_equal(lode_corpus_open(&corpus, fixture->corpus, LODE_CORPUS_READ, &error), 0);
	assert_int_equal(lode_idle_rules_load(&rules, NULL, &error), 0);
	options.idle = rules;
	assert_int_equal(lode_latency_collect(corpus, &options, NULL, latency, &error), 0);
	lode_idle_rules_free(rules);
	assert_int_equal(lode_contexts_rank(latency, NULL, NULL, contexts), 0);
	lode_corpus_close(corpus);
}

/* Calls, own latencies and idle waits are those of the contexts. */
static void inferred_latencies_add_up(void **state)
{
	struct fixture *fixture = *state;
	uint64_t seed = 9;

	for (int round = 0; round < 10; round++) {
		struct lode_latency latency;
		struct lode_contexts contexts;
		struct profile profile;
		struct whole whole;
		uint64_t sums[3] = { 0 };
		char *bytes;
		size_t size;

		next_corpus(fixture);
		random_whole(&whole, &seed, 100);
		add_event(&whole, LODE_WAIT, 5, 1ull << 35, 77, 77, "main|epoll_wait");
		add_stream(fixture, &whole);
		release_whole(&whole);
		collect(fixture, &latency, &contexts);
		assert_int_equal(write_latencies(fixture, &latency, &contexts, 0), 0);
		bytes = read_file(fixture->result, &size);
		take_apart(bytes, size, &profile);
		check_tables(&profile);
		assert_int_equal(profile.types.count, 3);
		assert_text(&profile, number_of(profile.types.slices[1], 1), "latency");
		for (size_t i = 0; i < profile.samples.count; i++)
			add_sample(&profile, profile.samples.slices[i], 3, sums);
		assert_true(sums[0] == latency.instances);
		assert_true(sums[1] == contexts.own);
		assert_true(sums[2] == contexts.idle && sums[2] > 0);
		release_profile(&profile);
		lode_contexts_release(&contexts);
		lode_latency_release(&latency);
	}
}

static void memory_that_runs_out_is_an_error(void **state)
{
	struct fixture *fixture = *state;
	struct lode_latency latency;
	struct lode_contexts contexts;
	struct whole whole;
	int code = LODE_SYSTEM;

	init_whole(&whole, "s");
	add_event(&whole, LODE_WAIT, 3, 300, 4, 5, "main|b");
	add_stream(fixture, &whole);
	release_whole(&whole);
	collect(fixture, &latency, &contexts);
	for (uint64_t at = 1; code; at++) {
		code = write_latencies(fixture, &latency, &contexts, at);
		assert_true(code == 0 || code == LODE_SYSTEM);
	}
	lode_contexts_release(&contexts);
	lode_latency_release(&latency);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
		TEST(the_values_of_all_samples_add_up),
		TEST(samples_carry_their_thread_and_their_stack_from_the_leaf),
		TEST(only_waits_are_shown_first_where_there_is_nothing_else),
		TEST(calls_that_are_left_out_are_counted),
		TEST(inferred_latencies_add_up),
		TEST(memory_that_runs_out_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
