/* Merging the blocks of a stream: in order of time however they overlap. */
#include "cmocka_all.h"
#include "random_stream.h"
#include "temporary.h"

#include "export/merge.h"

#include <string.h>

/* Writes a file in several appends whose events overlap in time at random. */
static void write_file(const char *path, uint64_t *seed)
{
	struct lode_dictionary dictionary;
	struct lode_store_writer *writer;
	struct lode_stream stream;
	uint64_t parts = random_below(seed, 6);

	assert_int_equal(lode_dictionary_init(&dictionary), 0);
	lode_stream_init(&stream, &dictionary);
	assert_true(lode_stream_thread(&stream, 1, 1) == 0);
	assert_int_equal(lode_store_create(&writer, path, 0666, 1, NULL), 0);
	for (uint64_t part = 0; part < parts; part++) {
		uint64_t count = random_below(seed, 20);

		for (uint64_t i = 0; i < count; i++) {
			struct lode_event event = { .t = random_below(seed, 30),
						    .cost = i,
						    .delay = part,
						    .waker = LODE_NONE };

			assert_int_equal(lode_stream_add_event(&stream,
							       (enum lode_event_type)random_below(seed,
												  LODE_EVENT_TYPES),
							       &event),
					 0);
		}
		assert_int_equal(lode_stream_sort(&stream), 0);
		assert_int_equal(lode_store_append(writer, &stream, NULL), 0);
		for (int type = 0; type < LODE_EVENT_TYPES; type++)
			stream.events[type].count = 0;
	}
	assert_int_equal(lode_store_finish(writer, NULL), 0);
	lode_stream_release(&stream);
	lode_dictionary_release(&dictionary);
}

/* The obvious way: all in memory, sorted, the earliest of the three types first. */
static int next_expected(const struct lode_stream *stream, size_t at[LODE_EVENT_TYPES], enum lode_event_type *type,
			 struct lode_event *event)
{
	int best = -1;

	for (int i = 0; i < LODE_EVENT_TYPES; i++)
		if (at[i] < stream->events[i].count &&
		    (best < 0 || stream->events[i].t[at[i]] < stream->events[best].t[at[best]]))
			best = i;
	if (best < 0)
		return 0;
	*type = (enum lode_event_type)best;
	*event = lode_events_get(&stream->events[best], at[best]++);
	return 1;
}

static void compare(const char *path)
{
	struct lode_export_options options = { .kinds = 0 };
	struct lode_export export = { .options = &options, .corpus = "test" };
	struct lode_export_stream source = { 0 };
	struct lode_dictionary one, two;
	struct lode_stream whole;
	struct lode_merge merge;
	size_t at[LODE_EVENT_TYPES] = { 0 };
	int more = 1;

	assert_int_equal(lode_dictionary_init(&one), 0);
	assert_int_equal(lode_dictionary_init(&two), 0);
	lode_stream_init(&whole, &one);
	lode_stream_init(&source.stream, &two);
	assert_int_equal(lode_store_load(path, &whole, NULL), 0);
	assert_int_equal(lode_store_open(&source.store, path, NULL), 0);
	assert_int_equal(lode_store_head(source.store, &source.stream, NULL), 0);
	assert_int_equal(lode_merge_init(&merge, &export, &source, NULL), 0);
	while (more) {
		enum lode_event_type type = LODE_EVENT_TYPES, wanted = LODE_EVENT_TYPES;
		struct lode_event event = { 0 }, expected = { 0 };

		more = next_expected(&whole, at, &wanted, &expected);
		assert_int_equal(lode_merge_next(&merge, &type, &event, NULL), more);
		if (!more)
			break;
		assert_int_equal(type, wanted);
		assert_int_equal(event.t, expected.t);
		assert_int_equal(event.cost, expected.cost);
		assert_int_equal(event.delay, expected.delay);
	}
	lode_merge_release(&merge);
	lode_store_close(source.store);
	lode_stream_release(&source.stream);
	lode_stream_release(&whole);
	lode_dictionary_release(&two);
	lode_dictionary_release(&one);
}

static void blocks_that_overlap_are_merged_by_time(void **state)
{
	uint64_t seed = 1;
	char folder[64], path[96];

	(void)state;
	assert_int_equal(temporary_folder(folder, sizeof(folder)), 0);
	snprintf(path, sizeof(path), "%s/a.lode", folder);
	for (int i = 0; i < 1000; i++) {
		write_file(path, &seed);
		compare(path);
		unlink(path);
	}
	rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_that_overlap_are_merged_by_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
