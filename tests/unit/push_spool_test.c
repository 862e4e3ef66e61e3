/* The spool of a sender: in order, within its limit, and never half a file; pauses that grow. */
#include "cmocka_all.h"
#include "temporary.h"

#include "base/memory.h"
#include "push/push_spool.h"
#ifdef LODE_CURL_LIBRARY
#include "push/push_sender.h"
#endif

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct fixture {
	char folder[64];
	char spool_folder[100];
	struct lode_push_spool *spool;
	struct lode_error error;
};

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	*state = fixture;
	if (temporary_folder(fixture->folder, sizeof(fixture->folder)) < 0)
		return -1;
	snprintf(fixture->spool_folder, sizeof(fixture->spool_folder), "%s/a/b", fixture->folder);
	return lode_push_spool_open(&fixture->spool, fixture->spool_folder, "http://x", 1000, &fixture->error);
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	lode_push_spool_close(fixture->spool);
	temporary_remove(fixture->folder);
	free(fixture);
	return 0;
}

static int add(struct fixture *fixture, const char *name, size_t size)
{
	char path[128], byte = 'x', *entry;
	FILE *file;
	int code;

	snprintf(path, sizeof(path), "%s/file", fixture->folder);
	file = fopen(path, "w");
	assert_non_null(file);
	for (size_t i = 0; i < size; i++)
		fwrite(&byte, 1, 1, file);
	fclose(file);
	code = lode_push_spool_add(fixture->spool, path, name, &entry, &fixture->error);
	assert_int_equal(code == 0, entry && access(entry, F_OK) == 0);
	lode_free(entry);
	unlink(path);
	return code;
}

static void assert_next(struct fixture *fixture, const char *name, size_t size)
{
	struct lode_push_entry entry;

	assert_int_equal(lode_push_spool_next(fixture->spool, &entry, &fixture->error), 1);
	if (name)
		assert_string_equal(entry.name, name);
	else
		assert_null(entry.name);
	assert_int_equal(entry.size, size);
	lode_push_spool_remove(fixture->spool, &entry);
	lode_push_entry_release(&entry);
}

static void files_come_out_in_their_order_with_their_names(void **state)
{
	struct fixture *fixture = *state;
	struct lode_push_entry entry;

	assert_int_equal(add(fixture, "a b/c%41", 10), 0);
	assert_int_equal(add(fixture, NULL, 20), 0);
	/* Another process finds them again. */
	lode_push_spool_close(fixture->spool);
	assert_int_equal(lode_push_spool_open(&fixture->spool, fixture->spool_folder, "http://x", 1000,
					      &fixture->error),
			 0);
	assert_int_equal(add(fixture, "third", 30), 0);
	assert_next(fixture, "a b/c%41", 10);
	assert_next(fixture, NULL, 20);
	assert_next(fixture, "third", 30);
	assert_int_equal(lode_push_spool_next(fixture->spool, &entry, &fixture->error), 0);
}

static void the_oldest_go_when_there_is_no_room(void **state)
{
	struct lode_push_spool_counts counts;
	struct fixture *fixture = *state;

	assert_int_equal(add(fixture, "1", 400), 0);
	assert_int_equal(add(fixture, "2", 400), 0);
	assert_int_equal(add(fixture, "3", 200), 0);
	assert_int_equal(add(fixture, "4", 500), 0);
	assert_int_equal(lode_push_spool_counts(fixture->spool, &counts, &fixture->error), 0);
	assert_int_equal(counts.files, 2);
	assert_int_equal(counts.bytes, 700);
	assert_int_equal(counts.dropped, 2);
	assert_next(fixture, "3", 200);
	assert_next(fixture, "4", 500);
	assert_true(add(fixture, "5", 1001) < 0);
	assert_non_null(strstr(fixture->error.text, "--spool-size"));
}

static void put_text(const char *path, const char *text, const char *mode)
{
	FILE *file = fopen(path, mode);

	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static void what_is_written_to_a_file_later_does_not_reach_its_copy(void **state)
{
	struct fixture *fixture = *state;
	char path[128], *entry;

	snprintf(path, sizeof(path), "%s/file", fixture->folder);
	put_text(path, "whole", "w");
	assert_int_equal(lode_push_spool_add(fixture->spool, path, "name", &entry, &fixture->error), 0);
	lode_free(entry);
	put_text(path, " and more", "a");
	assert_next(fixture, "name", 5);
}

static void a_finished_stream_file_is_not_copied(void **state)
{
	struct fixture *fixture = *state;
	struct stat original, linked;
	char path[128], *entry;

	snprintf(path, sizeof(path), "%s/file", fixture->folder);
	put_text(path, "whole", "w");
	assert_int_equal(lode_push_spool_add_final(fixture->spool, path, &entry, &fixture->error), 0);
	assert_int_equal(stat(path, &original), 0);
	assert_int_equal(stat(entry, &linked), 0);
	assert_int_equal(original.st_ino, linked.st_ino);
	lode_free(entry);
	unlink(path);
	assert_next(fixture, NULL, 5);
}

#ifdef LODE_CURL_LIBRARY
static void only_what_is_wrong_with_a_file_is_final(void **state)
{
	static const long senders[] = { 401, 403, 404, 405, 407 },
			  moments[] = { 0, 200, 302, 408, 429, 500, 503, 507 },
			  files[] = { 400, 411, 413, 415, 422 };

	(void)state;
	for (size_t i = 0; i < sizeof(senders) / sizeof(*senders); i++)
		assert_false(lode_push_is_final(senders[i]));
	for (size_t i = 0; i < sizeof(moments) / sizeof(*moments); i++)
		assert_false(lode_push_is_final(moments[i]));
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		assert_true(lode_push_is_final(files[i]));
}

static void pauses_grow_and_vary_within_bounds(void **state)
{
	uint64_t random = 7, expected = 1000000000ull, sum = 0;

	(void)state;
	for (unsigned failures = 1; failures < 40; failures++) {
		uint64_t pause = lode_push_pause(failures, 0, &random);

		assert_in_range(pause, expected / 2, expected);
		expected = expected * 2 < 300000000000ull ? expected * 2 : 300000000000ull;
	}
	for (int i = 0; i < 1000; i++)
		sum += lode_push_pause(1, 0, &random);
	assert_in_range(sum, 700000000000ull, 800000000000ull);
	assert_true(lode_push_pause(1, 30, &random) >= 30000000000ull);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(files_come_out_in_their_order_with_their_names, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_oldest_go_when_there_is_no_room, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_written_to_a_file_later_does_not_reach_its_copy, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_finished_stream_file_is_not_copied, set_up, tear_down),
#ifdef LODE_CURL_LIBRARY
		cmocka_unit_test(only_what_is_wrong_with_a_file_is_final),
		cmocka_unit_test(pauses_grow_and_vary_within_bounds),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
