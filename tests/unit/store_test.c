/* The stream file: what is written is read back; every damage is found and costs only its block. */
#include "cmocka_all.h"
#include "random_stream.h"
#include "temporary.h"

#include "store/store.h"
#include "store/store_codec.h"
#include "store/store_format.h"
#include "store/store_tables.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct fixture {
	char folder[64];
	char path[96];
	char other[96];
};

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	if (temporary_folder(fixture->folder, sizeof(fixture->folder)) < 0)
		return -1;
	snprintf(fixture->path, sizeof(fixture->path), "%s/a.lode", fixture->folder);
	snprintf(fixture->other, sizeof(fixture->other), "%s/b.lode", fixture->folder);
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	unlink(fixture->path);
	unlink(fixture->other);
	rmdir(fixture->folder);
	free(fixture);
	return 0;
}

/* A stream and its dictionary, together. */
struct whole {
	struct lode_dictionary dictionary;
	struct lode_stream stream;
};

static void init_whole(struct whole *whole)
{
	assert_int_equal(lode_dictionary_init(&whole->dictionary), 0);
	lode_stream_init(&whole->stream, &whole->dictionary);
}

static void release_whole(struct whole *whole)
{
	lode_stream_release(&whole->stream);
	lode_dictionary_release(&whole->dictionary);
}

static unsigned char *read_file(const char *path, size_t *size)
{
	FILE *file = fopen(path, "rb");
	unsigned char *bytes;

	assert_non_null(file);
	fseek(file, 0, SEEK_END);
	*size = (size_t)ftell(file);
	rewind(file);
	bytes = malloc(*size ? *size : 1);
	assert_int_equal(fread(bytes, 1, *size, file), *size);
	fclose(file);
	return bytes;
}

static void write_file(const char *path, const unsigned char *bytes, size_t size)
{
	FILE *file = fopen(path, "wb");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	fclose(file);
}

static void columns_of_any_shape_are_unpacked_as_they_were_packed(void **state)
{
	struct lode_codec *codec = lode_codec_create();
	uint64_t seed = 7;

	(void)state;
	for (int round = 0; round < 3000; round++) {
		size_t count = random_below(&seed, round % 50 == 0 ? 5000 : 60);
		unsigned width = 1u << random_below(&seed, 4);
		unsigned plus_one = (unsigned)random_below(&seed, 2);
		unsigned char *values = calloc(count + 1, width), *back = calloc(count + 1, width);
		uint64_t value = random_next(&seed), shape = random_below(&seed, 4);
		struct lode_column_view view = { values,
						 count,
						 width,
						 plus_one,
						 random_below(&seed, 1000),
						 (unsigned)random_below(&seed, 2),
						 (unsigned)random_below(&seed, 2) };
		struct lode_buffer buffer = { 0 };
		struct lode_packed packed;
		struct lode_cursor cursor;

		for (size_t i = 0; i < count; i++) {
			value = shape == 0   ? random_next(&seed)
				: shape == 1 ? value + random_below(&seed, 300)
				: shape == 2 ? view.first_row + i - random_below(&seed, 5)
					     : value;
			memcpy(values + i * width, &value, width);
		}
		lode_codec_pack(codec, &buffer, 3, &view);
		assert_int_equal(buffer.failed, 0);
		cursor = lode_cursor(buffer.bytes, buffer.size);
		assert_int_equal(lode_codec_next(&cursor, &packed), 0);
		assert_int_equal(lode_cursor_left(&cursor), 0);
		assert_int_equal(packed.number, 3);
		assert_int_equal(lode_codec_unpack(codec, &packed, back, count, width, plus_one), 0);
		assert_memory_equal(values, back, count * width);
		if (shape == 3 && count) /* equal values cost no bytes */
			assert_int_equal(packed.size, 0);
		lode_buffer_release(&buffer);
		free(values);
		free(back);
	}
	lode_codec_destroy(codec);
}

static void random_streams_are_read_back_as_they_were_written(void **state)
{
	struct fixture *fixture = *state;
	uint64_t seed = 11;

	for (int round = 0; round < 300; round++) {
		struct whole written, loaded;
		struct lode_error error = { "" };

		init_whole(&written);
		init_whole(&loaded);
		assert_int_equal(random_stream(&written.stream, &seed, round % 30 ? 60 : 3000), 0);
		unlink(fixture->path);
		assert_int_equal(lode_store_write(fixture->path, 0666, &written.stream, 2, &error), 0);
		assert_int_equal(lode_store_load(fixture->path, &loaded.stream, &error), 0);
		assert_true(streams_equal(&written.stream, &loaded.stream));
		release_whole(&written);
		release_whole(&loaded);
	}
}

static void a_stream_of_more_than_one_block_is_read_back_whole(void **state)
{
	struct fixture *fixture = *state;
	struct whole written, loaded;
	uint64_t seed = 5;

	init_whole(&written);
	init_whole(&loaded);
	for (size_t i = 0; i < 3 * LODE_BLOCK_EVENTS + 17; i++) {
		struct lode_event event = { .t = i * 1000 + random_below(&seed, 900),
					    .cost = 1000,
					    .thread = lode_stream_thread(&written.stream, 1, (uint32_t)(i % 9)),
					    .waker = LODE_NONE,
					    .cpu = (uint16_t)(i % 4) };
		char text[32];

		snprintf(text, sizeof(text), "m!f%u", (unsigned)random_below(&seed, 100000));
		event.stack =
			lode_stack_tree_child(&written.dictionary.tree, 0,
					      lode_frames_parse(&written.dictionary.frames, text, strlen(text)));
		lode_stream_add_event(&written.stream, i % 2 ? LODE_RUN : LODE_WAIT, &event);
	}
	assert_int_equal(lode_stream_sort(&written.stream), 0);
	assert_int_equal(lode_store_write(fixture->path, 0666, &written.stream, 0, NULL), 0);
	assert_int_equal(lode_store_load(fixture->path, &loaded.stream, NULL), 0);
	assert_true(streams_equal(&written.stream, &loaded.stream));
	release_whole(&written);
	release_whole(&loaded);
}

#define NODES 150000 /* in three blocks */

/* What node `i` must be, without a tree: wide at the start, then deeper and deeper. */
static struct lode_stack_node node_of(uint32_t i)
{
	uint64_t seed = i;

	return (struct lode_stack_node){ i < 100 ? 0 : (uint32_t)random_below(&seed, i), i };
}

static void make_nodes(struct whole *whole)
{
	char name[32];

	for (uint32_t i = 1; i < NODES; i++) {
		uint32_t frame = lode_frames_add(&whole->dictionary.frames, 0, name,
						 (size_t)snprintf(name, sizeof(name), "f%u", i));

		assert_int_equal(lode_stack_tree_append(&whole->dictionary.tree, node_of(i).parent, frame), i);
	}
}

static void a_tree_of_several_blocks_is_read_back(void **state)
{
	struct fixture *fixture = *state;
	struct whole whole, loaded;

	init_whole(&whole);
	make_nodes(&whole);
	assert_int_equal(lode_store_write(fixture->path, 0666, &whole.stream, 2, NULL), 0);
	for (int shared = 0; shared < 2; shared++) {
		init_whole(&loaded);
		/* A stack of another stream, so that all others have other numbers. */
		if (shared)
			lode_stack_tree_child(&loaded.dictionary.tree, 0,
					      lode_frames_add(&loaded.dictionary.frames, 0, "other", 5));
		assert_int_equal(lode_store_load(fixture->path, &loaded.stream, NULL), 0);
		assert_int_equal(loaded.dictionary.tree.count, NODES + shared);
		for (uint32_t i = 1; i < NODES; i++) {
			const struct lode_stack_node *node = &loaded.dictionary.tree.nodes[i + (uint32_t)shared];
			const struct lode_frame *frame = &loaded.dictionary.frames.items[node->frame];
			uint32_t parent = node_of(i).parent;
			char name[32];

			snprintf(name, sizeof(name), "f%u", i);
			assert_int_equal(node->parent, parent ? parent + (uint32_t)shared : 0);
			assert_string_equal(lode_strings_get(&loaded.dictionary.frames.strings, frame->function),
					    name);
		}
		release_whole(&loaded);
	}
	release_whole(&whole);
}

static void the_bytes_do_not_depend_on_the_number_of_threads(void **state)
{
	struct fixture *fixture = *state;
	struct whole whole;
	unsigned char *one, *many;
	size_t one_size, many_size;
	uint64_t seed = 3;

	init_whole(&whole);
	assert_int_equal(random_stream(&whole.stream, &seed, 5000), 0);
	assert_int_equal(lode_store_write(fixture->path, 0666, &whole.stream, 1, NULL), 0);
	assert_int_equal(lode_store_write(fixture->other, 0666, &whole.stream, 7, NULL), 0);
	one = read_file(fixture->path, &one_size);
	many = read_file(fixture->other, &many_size);
	assert_int_equal(one_size, many_size);
	assert_memory_equal(one, many, one_size);
	free(one);
	free(many);
	release_whole(&whole);
}

static void streams_loaded_into_one_dictionary_share_their_stacks(void **state)
{
	struct fixture *fixture = *state;
	struct whole written, shared;
	struct lode_stream second;
	uint64_t seed = 99;
	size_t nodes;

	init_whole(&written);
	init_whole(&shared);
	assert_int_equal(random_stream(&written.stream, &seed, 200), 0);
	assert_int_equal(lode_store_write(fixture->path, 0666, &written.stream, 1, NULL), 0);
	lode_stack_tree_child(&shared.dictionary.tree, 0,
			      lode_frames_parse(&shared.dictionary.frames, "other!one", 9));
	assert_int_equal(lode_store_load(fixture->path, &shared.stream, NULL), 0);
	nodes = shared.dictionary.tree.count;
	lode_stream_init(&second, &shared.dictionary);
	assert_int_equal(lode_store_load(fixture->path, &second, NULL), 0);
	assert_int_equal(shared.dictionary.tree.count, nodes);
	assert_true(streams_equal(&written.stream, &second));
	assert_true(streams_equal(&written.stream, &shared.stream));
	lode_stream_release(&second);
	release_whole(&written);
	release_whole(&shared);
}

static void a_file_written_in_steps_equals_the_whole(void **state)
{
	struct fixture *fixture = *state;
	struct whole all, part, loaded;
	struct lode_store_writer *writer;
	uint64_t seed = 21;

	init_whole(&all);
	init_whole(&part);
	init_whole(&loaded);
	assert_int_equal(lode_store_create(&writer, fixture->path, 0666, 2, NULL), 0);
	for (int step = 0; step < 5; step++) {
		uint64_t again = seed;

		assert_int_equal(random_stream(&all.stream, &seed, 0), 0);
		assert_int_equal(random_stream(&part.stream, &again, 0), 0);
		for (int i = 0; i < 50; i++) {
			struct lode_event event = { .t = random_number(&seed), .cost = 5, .waker = LODE_NONE };
			char text[16];

			snprintf(text, sizeof(text), "f%d", step * 10 + i % 10);
			for (int which = 0; which < 2; which++) {
				struct whole *whole = which ? &part : &all;

				event.thread = lode_stream_thread(&whole->stream, 7, (uint32_t)(step + i % 3));
				event.stack = lode_stack_tree_child(&whole->dictionary.tree, 0,
								    lode_frames_parse(&whole->dictionary.frames,
										      text, strlen(text)));
				assert_int_equal(lode_stream_add_event(&whole->stream, LODE_WAIT, &event), 0);
			}
		}
		lode_stream_sort(&part.stream);
		assert_int_equal(lode_store_append(writer, &part.stream, NULL), 0);
		part.stream.events[LODE_WAIT].count = 0;
	}
	assert_int_equal(lode_store_finish(writer, NULL), 0);
	lode_stream_sort(&all.stream);
	assert_int_equal(lode_store_load(fixture->path, &loaded.stream, NULL), 0);
	assert_true(streams_equal(&all.stream, &loaded.stream));
	release_whole(&all);
	release_whole(&part);
	release_whole(&loaded);
}

static void every_flipped_bit_is_found(void **state)
{
	struct fixture *fixture = *state;
	struct whole whole;
	unsigned char *bytes;
	uint64_t seed = 17;
	size_t size;

	init_whole(&whole);
	assert_int_equal(random_stream(&whole.stream, &seed, 30), 0);
	assert_int_equal(lode_store_write(fixture->path, 0666, &whole.stream, 1, NULL), 0);
	bytes = read_file(fixture->path, &size);
	for (size_t i = 0; i < size; i++) {
		struct lode_fsck_result result;
		struct lode_error error;
		int code;

		bytes[i] ^= (unsigned char)(1u << (i % 8));
		write_file(fixture->other, bytes, size);
		code = lode_store_check(fixture->other, &result, NULL, &error);
		assert_int_equal(code, 0);
		if (!result.blocks_bad && !result.footer_bad)
			fail_msg("flipped bit in byte %zu of %zu was not found", i, size);
		bytes[i] ^= (unsigned char)(1u << (i % 8));
	}
	free(bytes);
	release_whole(&whole);
}

static void every_truncation_is_found(void **state)
{
	struct fixture *fixture = *state;
	struct whole whole;
	unsigned char *bytes;
	uint64_t seed = 18;
	size_t size;

	init_whole(&whole);
	assert_int_equal(random_stream(&whole.stream, &seed, 30), 0);
	assert_int_equal(lode_store_write(fixture->path, 0666, &whole.stream, 1, NULL), 0);
	bytes = read_file(fixture->path, &size);
	for (size_t i = 0; i < size; i++) {
		struct lode_fsck_result result;
		struct lode_error error;
		struct lode_store *store;

		write_file(fixture->other, bytes, i);
		assert_int_equal(lode_store_open(&store, fixture->other, &error), LODE_BAD_INPUT);
		if (lode_store_check(fixture->other, &result, NULL, &error) == 0)
			assert_true(result.footer_bad);
	}
	free(bytes);
	release_whole(&whole);
}

static void a_damaged_block_of_events_costs_only_itself(void **state)
{
	struct fixture *fixture = *state;
	struct whole whole, saved;
	struct lode_fsck_result result;
	unsigned char *bytes;
	size_t size;

	init_whole(&whole);
	init_whole(&saved);
	for (size_t i = 0; i < 4 * LODE_BLOCK_EVENTS; i++) {
		struct lode_event event = { .t = i * i % 1000003 + i * 1000000, .cost = i, .waker = LODE_NONE };

		event.thread = lode_stream_thread(&whole.stream, 1, 1);
		event.stack = lode_stack_tree_child(&whole.dictionary.tree, 0,
						    lode_frames_parse(&whole.dictionary.frames, "a!b", 3));
		lode_stream_add_event(&whole.stream, LODE_RUN, &event);
	}
	assert_int_equal(lode_store_write(fixture->path, 0666, &whole.stream, 1, NULL), 0);
	bytes = read_file(fixture->path, &size);
	bytes[size / 2] ^= 1;
	write_file(fixture->path, bytes, size);
	assert_int_equal(lode_store_salvage(fixture->path, fixture->other, &result, NULL, NULL), 0);
	assert_int_equal(result.blocks_bad, 1);
	assert_int_equal(result.events_good, 3 * LODE_BLOCK_EVENTS);
	assert_int_equal(lode_store_load(fixture->other, &saved.stream, NULL), 0);
	assert_int_equal(saved.stream.events[LODE_RUN].count, 3 * LODE_BLOCK_EVENTS);
	free(bytes);
	release_whole(&whole);
	release_whole(&saved);
}

/* Whatever byte is damaged, a repair gives a good file, and at most one block is missing. */
static void any_damaged_byte_can_be_repaired(void **state)
{
	struct fixture *fixture = *state;
	struct whole whole;
	unsigned char *bytes;
	uint64_t seed = 23;
	size_t size;

	init_whole(&whole);
	assert_int_equal(random_stream(&whole.stream, &seed, 40), 0);
	assert_int_equal(lode_store_write(fixture->path, 0666, &whole.stream, 1, NULL), 0);
	bytes = read_file(fixture->path, &size);
	for (size_t i = 0; i < size; i += 3) {
		struct lode_fsck_result result;
		struct lode_error error = { "" };
		struct whole saved;
		size_t lost = 0;

		init_whole(&saved);
		bytes[i] ^= 0x55;
		write_file(fixture->path, bytes, size);
		unlink(fixture->other);
		if (lode_store_salvage(fixture->path, fixture->other, &result, NULL, &error) != 0)
			fail_msg("byte %zu: %s", i, error.text);
		assert_int_equal(lode_store_check(fixture->other, &result, NULL, &error), 0);
		assert_int_equal(result.blocks_bad, 0);
		assert_int_equal(lode_store_load(fixture->other, &saved.stream, &error), 0);
		for (int type = 0; type < LODE_EVENT_TYPES; type++)
			lost += saved.stream.events[type].count != whole.stream.events[type].count;
		assert_true(lost <= 1);
		bytes[i] ^= 0x55;
		release_whole(&saved);
	}
	free(bytes);
	release_whole(&whole);
}

/* A whole file, checksums and all, whose footer names one block at `offset`. */
static void forge_footer(const char *path, uint64_t offset)
{
	uint64_t numbers[] = { offset, LODE_BLOCK_THREADS, 0, 1, 0, 0 };
	struct lode_codec *codec = lode_codec_create();
	struct lode_buffer payload = { 0 }, file = { 0 };
	struct lode_block_header header = { .kind = LODE_BLOCK_FOOTER, .columns = 6, .rows = 1 };
	unsigned char bytes[LODE_BLOCK_HEADER_SIZE];

	for (uint8_t i = 0; i < 6; i++) {
		struct lode_column_view view = {
			&numbers[i], 1, lode_table_columns(LODE_BLOCK_FOOTER)[i].width, 0, 0, 0, 0
		};

		lode_codec_pack(codec, &payload, i, &view);
	}
	header.size = (uint32_t)payload.size;
	lode_block_header_write(&header, payload.bytes, bytes);
	lode_buffer_add(&file, LODE_FILE_MAGIC, 8);
	lode_buffer_u32(&file, LODE_STORE_VERSION);
	lode_buffer_u32(&file, LODE_FILE_HEADER_SIZE);
	lode_buffer_u64(&file, 0);
	lode_buffer_u64(&file, lode_checksum(file.bytes, 24, 0));
	lode_buffer_add(&file, bytes, sizeof(bytes));
	lode_buffer_add(&file, payload.bytes, payload.size);
	lode_buffer_u64(&file, LODE_FILE_HEADER_SIZE);
	lode_buffer_add(&file, LODE_TAIL_MAGIC, 8);
	lode_buffer_u64(&file, lode_checksum(file.bytes + file.size - 16, 16, 0));
	write_file(path, (unsigned char *)file.bytes, file.size);
	lode_buffer_release(&payload);
	lode_buffer_release(&file);
	lode_codec_destroy(codec);
}

static void a_footer_that_points_where_no_block_can_be_is_refused(void **state)
{
	static const uint64_t offsets[] = { 0, 31, 32, 33, 72, 1000, 1ull << 40, UINT64_MAX - 8, UINT64_MAX };
	struct fixture *fixture = *state;

	for (size_t i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++) {
		struct lode_error error = { "" };
		struct lode_store *store;

		forge_footer(fixture->path, offsets[i]);
		assert_int_equal(lode_store_open(&store, fixture->path, &error), LODE_BAD_INPUT);
		assert_non_null(strstr(error.text, "the footer is damaged"));
	}
}

static void a_file_of_something_else_is_refused_with_a_sentence(void **state)
{
	struct fixture *fixture = *state;
	struct lode_error error = { "" };
	struct lode_store *store;

	write_file(fixture->path, (const unsigned char *)"hello, world\n", 13);
	assert_int_equal(lode_store_open(&store, fixture->path, &error), LODE_BAD_INPUT);
	assert_non_null(strstr(error.text, "is not a Lode stream"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(columns_of_any_shape_are_unpacked_as_they_were_packed, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(random_streams_are_read_back_as_they_were_written, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_stream_of_more_than_one_block_is_read_back_whole, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_tree_of_several_blocks_is_read_back, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_bytes_do_not_depend_on_the_number_of_threads, set_up, tear_down),
		cmocka_unit_test_setup_teardown(streams_loaded_into_one_dictionary_share_their_stacks, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_file_written_in_steps_equals_the_whole, set_up, tear_down),
		cmocka_unit_test_setup_teardown(every_flipped_bit_is_found, set_up, tear_down),
		cmocka_unit_test_setup_teardown(every_truncation_is_found, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_damaged_block_of_events_costs_only_itself, set_up, tear_down),
		cmocka_unit_test_setup_teardown(any_damaged_byte_can_be_repaired, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_footer_that_points_where_no_block_can_be_is_refused, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_file_of_something_else_is_refused_with_a_sentence, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
