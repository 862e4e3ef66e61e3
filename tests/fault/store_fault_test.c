/* Stream files on a failing machine: written, read, checked and salvaged. */
#include "fault.h"
#include "random_stream.h"

#include "store/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define NUMBER 5

static struct whole original;
static struct place shared; /* holds a whole file and a damaged one */

static int make_files(void **state)
{
	struct lode_error error = { "" };
	unsigned char *bytes;
	size_t size;

	(void)state;
	whole_make(&original, NUMBER);
	place_make(&shared);
	assert_int_equal(lode_store_write(shared.file, 0666, &original.stream, 1, &error), 0);
	bytes = read_whole(shared.file, &size);
	bytes[size / 3] ^= 0xff;
	write_whole(shared.other, bytes, size - 10);
	free(bytes);
	return 0;
}

static int remove_files(void **state)
{
	(void)state;
	whole_release(&original);
	place_remove(&shared);
	return 0;
}

/* ---- writing ---- */

static int write_file(struct place *place, struct lode_error *error)
{
	return lode_store_write(place->file, 0666, &original.stream, 2, error);
}

static void require_file_or_none(struct place *place, int code)
{
	struct lode_error error = { "" };
	struct whole loaded;

	if (code < 0) {
		assert_int_not_equal(access(place->file, F_OK), 0);
		return;
	}
	assert_int_equal(whole_init(&loaded), 0);
	assert_int_equal(lode_store_load(place->file, &loaded.stream, &error), 0);
	assert_true(streams_equal(&original.stream, &loaded.stream));
	whole_release(&loaded);
}

static const struct fault_job writing = { .run = write_file, .check = require_file_or_none };

static void a_file_is_written_whole_or_not_at_all_when_memory_fails(void **state)
{
	(void)state;
	fail_every_allocation(&writing);
}

static void a_file_is_written_whole_or_not_at_all_when_files_fail(void **state)
{
	(void)state;
	fail_every_file_operation(&writing);
}

/* ---- reading ---- */

static int read_file(struct place *place, struct lode_error *error)
{
	struct whole loaded;
	int code = whole_init(&loaded);

	(void)place;
	if (code < 0)
		return lode_fail_memory(error);
	code = lode_store_load(shared.file, &loaded.stream, error);
	if (code == 0)
		assert_true(streams_equal(&original.stream, &loaded.stream));
	whole_release(&loaded);
	return code;
}

static const struct fault_job reading = { .run = read_file };

static void a_file_is_read_right_or_not_at_all_when_memory_fails(void **state)
{
	(void)state;
	fail_every_allocation(&reading);
}

static void a_file_is_read_right_or_not_at_all_when_files_fail(void **state)
{
	(void)state;
	fail_every_file_operation(&reading);
}

/* ---- checking and salvaging ---- */

static int check_file(struct place *place, struct lode_error *error)
{
	struct lode_fsck_result result;
	struct lode_notes notes;
	int code;

	(void)place;
	lode_notes_init(&notes);
	code = lode_store_check(shared.other, &result, &notes, error);
	if (code == 0)
		assert_true(result.footer_bad && result.blocks_bad);
	if (code == 0)
		code = lode_store_check(shared.file, &result, &notes, error);
	if (code == 0)
		assert_true(!result.footer_bad && !result.blocks_bad);
	lode_notes_release(&notes);
	return code;
}

static const struct fault_job checking = { .run = check_file };

static void damage_is_never_taken_for_health_when_memory_fails(void **state)
{
	(void)state;
	fail_every_allocation(&checking);
}

static void damage_is_never_taken_for_health_when_files_fail(void **state)
{
	(void)state;
	fail_every_file_operation(&checking);
}

static int salvage_file(struct place *place, struct lode_error *error)
{
	struct lode_fsck_result result;
	struct lode_notes notes;
	int code;

	lode_notes_init(&notes);
	code = lode_store_salvage(shared.other, place->file, &result, &notes, error);
	lode_notes_release(&notes);
	return code;
}

static void require_salvaged_or_none(struct place *place, int code)
{
	struct lode_fsck_result result;
	struct lode_error error = { "" };

	if (code < 0) {
		assert_int_not_equal(access(place->file, F_OK), 0);
		return;
	}
	assert_int_equal(lode_store_check(place->file, &result, NULL, &error), 0);
	assert_int_equal(result.blocks_bad + (unsigned)result.footer_bad, 0);
}

static const struct fault_job salvaging = { .run = salvage_file, .check = require_salvaged_or_none };

static void salvaging_gives_a_sound_file_or_none_when_memory_fails(void **state)
{
	(void)state;
	fail_every_allocation(&salvaging);
}

static void salvaging_gives_a_sound_file_or_none_when_files_fail(void **state)
{
	(void)state;
	fail_every_file_operation(&salvaging);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_is_written_whole_or_not_at_all_when_memory_fails),
		cmocka_unit_test(a_file_is_written_whole_or_not_at_all_when_files_fail),
		cmocka_unit_test(a_file_is_read_right_or_not_at_all_when_memory_fails),
		cmocka_unit_test(a_file_is_read_right_or_not_at_all_when_files_fail),
		cmocka_unit_test(damage_is_never_taken_for_health_when_memory_fails),
		cmocka_unit_test(damage_is_never_taken_for_health_when_files_fail),
		cmocka_unit_test(salvaging_gives_a_sound_file_or_none_when_memory_fails),
		cmocka_unit_test(salvaging_gives_a_sound_file_or_none_when_files_fail),
	};

	return cmocka_run_group_tests(tests, make_files, remove_files);
}
