/* Files made to hurt, where a fuzzer would have to be lucky: each costs little and is refused with a
 * sentence. */
#include "bounded.h"
#include "fault.h"

#include "symbols/symbols.h"
#include "store/corpus_check.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct place place;

static int set_up(void **state)
{
	struct lode_error error = { "" };
	struct lode_corpus *corpus;
	struct whole stream;

	(void)state;
	place_make(&place);
	whole_make(&stream, 1);
	assert_int_equal(lode_corpus_open(&corpus, place.corpus, LODE_CORPUS_CREATE, &error), 0);
	assert_int_equal(lode_corpus_add(corpus, id_of(1), "test", &stream.stream, 0, 1, &error), 1);
	lode_corpus_close(corpus);
	whole_release(&stream);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	place_remove(&place);
	return 0;
}

/* ---- corpora ---- */

static void change_catalogue(const char *sql)
{
	char path[160], *message = NULL;
	sqlite3 *db;

	snprintf(path, sizeof(path), "%s/catalogue.sqlite", place.corpus);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK)
		fail_msg("%s", message);
	sqlite3_close(db);
}

static int list_corpus(const char *path, struct lode_error *error)
{
	struct lode_corpus_list list;
	struct lode_corpus *corpus;
	int code = lode_corpus_open(&corpus, path, LODE_CORPUS_READ, error);

	if (code < 0)
		return code;
	code = lode_corpus_streams(corpus, &list, error);
	if (code == 0)
		lode_corpus_list_release(&list);
	lode_corpus_close(corpus);
	return code;
}

static int check_corpus(const char *path, struct lode_error *error)
{
	struct lode_corpus_check_result result;
	int code = lode_corpus_check(path, 0, &result, NULL, NULL, error);

	return code < 0 || !result.catalogue_bad ? code : lode_fail(error, LODE_BAD_INPUT, "the catalogue is bad");
}

static int repair_corpus(const char *path, struct lode_error *error)
{
	struct lode_corpus_check_result result;

	return lode_corpus_check(path, 1, &result, NULL, NULL, error);
}

/* Puts stream 0 in place of stream 1. */
static int replace_stream(const char *path, struct lode_error *error)
{
	struct lode_corpus *corpus;
	struct whole stream;
	int code = lode_corpus_open(&corpus, path, LODE_CORPUS_CREATE, error);

	if (code < 0)
		return code;
	whole_make(&stream, 0);
	code = lode_corpus_add(corpus, id_of(1), "test", &stream.stream, 1, 1, error);
	whole_release(&stream);
	lode_corpus_close(corpus);
	return code;
}

static void a_catalogue_with_an_endless_view_is_refused(void **state)
{
	(void)state;
	change_catalogue("ALTER TABLE streams RENAME TO others; CREATE VIEW streams AS"
			 " WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r)"
			 " SELECT n AS id, n AS name, n AS host, n AS file, n AS source, n AS runs, n AS "
			 "waits, n AS calls,"
			 " n AS run_ns, n AS wait_ns, n AS first_t, n AS last_t, n AS threads, n AS stacks, "
			 "n AS symptoms,"
			 " n AS file_size FROM r");
	require_bounded(list_corpus, place.corpus, LODE_BAD_INPUT, "fsck --repair", 5, 64);
	require_bounded(check_corpus, place.corpus, LODE_BAD_INPUT, "bad", 5, 64);
	require_bounded(repair_corpus, place.corpus, 0, "", 5, 64);
	require_stream(place.corpus, id_of(1), 1);
}

static void a_catalogue_with_a_trigger_is_refused(void **state)
{
	(void)state;
	change_catalogue("CREATE TRIGGER t AFTER INSERT ON streams BEGIN DELETE FROM streams; END");
	require_bounded(replace_stream, place.corpus, LODE_BAD_INPUT, "fsck --repair", 5, 64);
	require_bounded(repair_corpus, place.corpus, 0, "", 5, 64);
	require_stream(place.corpus, id_of(1), 1);
}

static void a_catalogue_cannot_lead_out_of_its_folder(void **state)
{
	(void)state;
	write_whole(place.file, "mine", 4);
	change_catalogue("UPDATE streams SET file = '../../file'");
	require_bounded(list_corpus, place.corpus, LODE_BAD_INPUT, "not a name of a stream file", 5, 64);
	require_bounded(replace_stream, place.corpus, LODE_BAD_INPUT, "not a name of a stream file", 5, 64);
	assert_int_equal(access(place.file, F_OK), 0);
}

static void a_catalogue_with_holes_is_refused(void **state)
{
	(void)state;
	change_catalogue("PRAGMA ignore_check_constraints = ON; UPDATE streams SET id = NULL");
	require_bounded(list_corpus, place.corpus, LODE_BAD_INPUT, "lacks", 5, 64);
}

static int load_stream(const char *path, struct lode_error *error)
{
	struct whole loaded;
	int code;

	if (whole_init(&loaded) < 0)
		return lode_fail_memory(error);
	code = lode_store_load(path, &loaded.stream, error);
	whole_release(&loaded);
	return code;
}

#define LONG_TEXT (60u << 20)

/* A stream whose name is a single letter, many times. */
static int write_long_name(const char *path, struct lode_error *error)
{
	char *text = malloc(LONG_TEXT);
	struct whole whole;
	int code = text ? whole_init(&whole) : LODE_SYSTEM;

	if (code < 0)
		return lode_fail_memory(error);
	memset(text, 'x', LONG_TEXT);
	whole.stream.name = lode_strings_add(&whole.dictionary.frames.strings, text, LONG_TEXT);
	free(text);
	code = whole.stream.name == LODE_NONE ? lode_fail_memory(error)
					      : lode_store_write(path, 0666, &whole.stream, 1, error);
	whole_release(&whole);
	return code;
}

static int salvage_stream(const char *path, struct lode_error *error)
{
	struct lode_fsck_result result;

	return lode_store_salvage(path, place.other, &result, NULL, error);
}

static void a_small_file_that_claims_much_text_costs_little(void **state)
{
	struct stat status;

	(void)state;
	require_bounded(write_long_name, place.file, 0, "", 10, 512);
	assert_int_equal(stat(place.file, &status), 0);
	assert_true(status.st_size < 100000);
	require_bounded(load_stream, place.file, 0, "", 10, 512);
	require_bounded(salvage_stream, place.file, 0, "", 10, 512);
}

static void a_pipe_in_place_of_a_file_is_not_waited_for(void **state)
{
	char path[160];

	(void)state;
	snprintf(path, sizeof(path), "%s/streams/%s.lode", place.corpus, id_of(2));
	assert_int_equal(mkfifo(path, 0600), 0);
	require_bounded(load_stream, path, LODE_BAD_INPUT, "not a plain file", 5, 64);
	require_bounded(check_corpus, place.corpus, 0, "", 5, 64);
	snprintf(path, sizeof(path), "%s/catalogue.sqlite", place.corpus);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	require_bounded(list_corpus, place.corpus, LODE_BAD_INPUT, "not a corpus", 5, 64);
	require_bounded(check_corpus, place.corpus, LODE_BAD_INPUT, "", 5, 64);
}

/* ---- symbols ---- */

static int symbolise(const char *path, struct lode_error *error)
{
	struct lode_symbols_options options = { .cache = "" };
	struct lode_symbolizer *symbolizer;
	struct lode_symbol symbol;
	struct lode_image *image;
	const char *names[4];
	int code = lode_symbolizer_create(&symbolizer, &options, error);

	if (code < 0)
		return code;
	image = lode_symbolizer_binary(symbolizer, path, "");
	lode_image_find(image, 0x1000, &symbol);
	lode_image_inlines(image, 0x1000, names, 4);
	lode_image_link_register(image, 0x1000);
	image = lode_symbolizer_perf_map(symbolizer, path, 0);
	lode_image_find(image, 0x1000, &symbol);
	image = lode_symbolizer_kernel(symbolizer, "", path, "_text", 0x1000);
	lode_image_find(image, 0x1000, &symbol);
	lode_symbolizer_destroy(symbolizer);
	return 0;
}

static void symbols_are_not_waited_for(void **state)
{
	(void)state;
	assert_int_equal(mkfifo(place.file, 0600), 0);
	require_bounded(symbolise, place.file, 0, "", 5, 64);
	require_bounded(symbolise, "/dev/zero", 0, "", 5, 512);
	require_bounded(symbolise, "/proc/kcore", 0, "", 5, 512);
	require_bounded(symbolise, "/proc/self/mem", 0, "", 5, 512);
	require_bounded(symbolise, place.folder, 0, "", 5, 64);
}

/* ---- long lines ---- */

static const char *format;

static int run_import(const char *path, struct lode_error *error)
{
	return import_file(path, format, place.other, error);
}

static void a_line_of_a_gigabyte_is_refused(void **state)
{
	static const char *const formats[] = { "events", "folded", "perf-script" };
	int fd = open(place.file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 1 << 30), 0); /* holes, read as zeros */
	close(fd);
	format = NULL;
	require_bounded(run_import, place.file, LODE_BAD_INPUT, "unknown format", 10, 64);
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		format = formats[i];
		require_bounded(run_import, place.file, LODE_BAD_INPUT, "line", 10, 512);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_catalogue_with_an_endless_view_is_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_catalogue_with_a_trigger_is_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_catalogue_cannot_lead_out_of_its_folder, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_catalogue_with_holes_is_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_small_file_that_claims_much_text_costs_little, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_pipe_in_place_of_a_file_is_not_waited_for, set_up, tear_down),
		cmocka_unit_test_setup_teardown(symbols_are_not_waited_for, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_line_of_a_gigabyte_is_refused, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
