/*
 * A corpus on a failing machine: made, added to, a stream replaced, listed, and
 * repaired, with memory, files and SQLite failing. Whatever was there before is
 * there afterwards, and the same work done again succeeds.
 */
#include "fault.h"
#include "random_stream.h"

#include "store/corpus_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct place shared; /* a corpus with streams 1 and 2; a file for damage */
static struct whole streams[4];

static int make_corpus(void **state)
{
	struct lode_error error = { "" };
	struct lode_corpus *corpus;

	(void)state;
	place_make(&shared);
	for (unsigned i = 0; i < 4; i++)
		whole_make(&streams[i], i);
	assert_int_equal(lode_corpus_open(&corpus, shared.corpus, LODE_CORPUS_CREATE, &error), 0);
	for (unsigned i = 1; i < 3; i++)
		assert_int_equal(lode_corpus_add(corpus, id_of(i), "test", &streams[i].stream, 0, 1, &error), 1);
	lode_corpus_close(corpus);
	return 0;
}

static int remove_corpus(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 4; i++)
		whole_release(&streams[i]);
	place_remove(&shared);
	return 0;
}

static void lay_out(struct place *place)
{
	copy_folder(shared.corpus, place->corpus);
}

/* ---- adding and replacing ---- */

/* Adds stream 3, puts stream 0 in place of stream 2, lists all. */
static int work(struct place *place, struct lode_error *error)
{
	struct lode_corpus_list list;
	struct lode_corpus *corpus;
	int code = lode_corpus_open(&corpus, place->corpus, LODE_CORPUS_CREATE, error);

	if (code < 0)
		return code;
	code = lode_corpus_add(corpus, id_of(3), "test", &streams[3].stream, 0, 1, error);
	if (code >= 0)
		code = lode_corpus_add(corpus, id_of(2), "test", &streams[0].stream, 1, 1, error);
	if (code >= 0) {
		code = lode_corpus_streams(corpus, &list, error);
		if (code == 0) {
			assert_true(list.count >= 2);
			lode_corpus_list_release(&list);
		}
	}
	lode_corpus_close(corpus);
	return code;
}

/* Stream 2 is either what it was or what took its place. */
static void require_one_of_two(const struct place *place)
{
	struct lode_error error = { "" };
	struct lode_corpus_list list;
	struct lode_corpus *corpus;
	struct whole loaded;

	assert_int_equal(lode_corpus_open(&corpus, place->corpus, LODE_CORPUS_READ, &error), 0);
	assert_int_equal(lode_corpus_streams(corpus, &list, &error), 0);
	for (size_t i = 0; i < list.count; i++) {
		if (strcmp(list.items[i].id, id_of(2)) != 0)
			continue;
		assert_int_equal(whole_init(&loaded), 0);
		assert_int_equal(lode_store_load(list.items[i].path, &loaded.stream, &error), 0);
		assert_true(lode_stream_event_count(&loaded.stream) == lode_stream_event_count(&streams[2].stream) ||
			    lode_stream_event_count(&loaded.stream) == lode_stream_event_count(&streams[0].stream));
		whole_release(&loaded);
	}
	lode_corpus_list_release(&list);
	lode_corpus_close(corpus);
}

static void require_nothing_lost(struct place *place, int code)
{
	struct lode_error error = { "" };

	require_sound_corpus(place->corpus);
	require_stream(place->corpus, id_of(1), 1);
	if (code < 0) {
		assert_in_range(count_streams(place->corpus), 2, 3);
		require_one_of_two(place);
		if (work(place, &error) < 0)
			fail_msg("the second time: %s", error.text);
		require_sound_corpus(place->corpus);
	}
	assert_int_equal(count_streams(place->corpus), 3);
	require_stream(place->corpus, id_of(2), 0);
	require_stream(place->corpus, id_of(3), 3);
}

static const struct fault_job changing = { .prepare = lay_out, .run = work, .check = require_nothing_lost };

static void a_corpus_loses_nothing_when_memory_fails(void **state)
{
	(void)state;
	fail_every_allocation(&changing);
}

static void a_corpus_loses_nothing_when_files_fail(void **state)
{
	(void)state;
	fail_every_file_operation(&changing);
}

static void a_corpus_loses_nothing_when_sqlite_fails(void **state)
{
	(void)state;
	fail_every_request_of_sqlite(&changing);
}

/* ---- making a new one ---- */

static int make_new(struct place *place, struct lode_error *error)
{
	struct lode_corpus *corpus;
	int code = lode_corpus_open(&corpus, place->corpus, LODE_CORPUS_CREATE, error);

	if (code < 0)
		return code;
	code = lode_corpus_add(corpus, id_of(1), "test", &streams[1].stream, 0, 1, error);
	lode_corpus_close(corpus);
	return code;
}

static void require_made_or_makeable(struct place *place, int code)
{
	struct lode_error error = { "" };

	if (code < 0 && make_new(place, &error) < 0)
		fail_msg("the second time: %s", error.text);
	require_sound_corpus(place->corpus);
	require_stream(place->corpus, id_of(1), 1);
}

static const struct fault_job making = { .run = make_new, .check = require_made_or_makeable };

static void a_corpus_that_could_not_be_made_is_made_the_second_time(void **state)
{
	(void)state;
	fail_every_allocation(&making);
	fail_every_file_operation(&making);
	fail_every_request_of_sqlite(&making);
}

/* ---- repairing ---- */

/* Stream 2 is damaged, stream 3 has a file and no row, and the catalogue has a row without a file. */
static void lay_out_damage(struct place *place)
{
	struct lode_error error = { "" };
	unsigned char *bytes;
	char path[160];
	size_t size;

	lay_out(place);
	snprintf(path, sizeof(path), "%s/streams/%s.lode", place->corpus, id_of(2));
	bytes = read_whole(path, &size);
	write_whole(path, bytes, size - size / 4);
	free(bytes);
	snprintf(path, sizeof(path), "%s/streams/%s.lode", place->corpus, id_of(3));
	assert_int_equal(lode_store_write(path, 0666, &streams[3].stream, 1, &error), 0);
}

static int repair(struct place *place, struct lode_error *error)
{
	struct lode_corpus_check_result result;

	return lode_corpus_check(place->corpus, 1, &result, NULL, NULL, error);
}

static void require_repaired(struct place *place, int code)
{
	struct lode_error error = { "" };

	require_stream(place->corpus, id_of(1), 1);
	if (code < 0 && repair(place, &error) < 0)
		fail_msg("the second time: %s", error.text);
	require_sound_corpus(place->corpus);
	assert_int_equal(count_streams(place->corpus), 3);
	require_stream(place->corpus, id_of(1), 1);
	require_stream(place->corpus, id_of(3), 3);
}

static const struct fault_job repairing = { .prepare = lay_out_damage, .run = repair, .check = require_repaired };

static void a_repair_harms_nothing_when_memory_fails(void **state)
{
	(void)state;
	fail_every_allocation(&repairing);
}

static void a_repair_harms_nothing_when_files_fail(void **state)
{
	(void)state;
	fail_every_file_operation(&repairing);
}

static void a_repair_harms_nothing_when_sqlite_fails(void **state)
{
	(void)state;
	fail_every_request_of_sqlite(&repairing);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_corpus_loses_nothing_when_memory_fails),
		cmocka_unit_test(a_corpus_loses_nothing_when_files_fail),
		cmocka_unit_test(a_corpus_loses_nothing_when_sqlite_fails),
		cmocka_unit_test(a_corpus_that_could_not_be_made_is_made_the_second_time),
		cmocka_unit_test(a_repair_harms_nothing_when_memory_fails),
		cmocka_unit_test(a_repair_harms_nothing_when_files_fail),
		cmocka_unit_test(a_repair_harms_nothing_when_sqlite_fails),
	};

	return cmocka_run_group_tests(tests, make_corpus, remove_corpus);
}
