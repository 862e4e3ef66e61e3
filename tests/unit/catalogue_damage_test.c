/*
 * No changed byte of the catalogue goes unnoticed: whatever differs afterwards in
 * what SQLite reads from it, fsck says so. Repaired, it says of each stream where it
 * came from, or that this is uncertain or unknown, but nothing that was never true.
 */
#include "cmocka_all.h"
#include "random_stream.h"
#include "temporary.h"

#include "base/buffer.h"
#include "store/corpus_check.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BYTES_LIMIT (1 << 20)
#define STREAMS     8
#define PAGE        ((size_t)4096)

struct fixture {
	char folder[64];
	char path[128]; /* of the catalogue */
	unsigned char *bytes;
	size_t size;
	struct lode_error error;
};

/* Signatures that match; as the catalogue keeps them, so that each table has rows. */
static const char signatures[] =
	"INSERT INTO signatures VALUES(1, 0, 'slow lock', 'https://bugs.example/1', 'open',"
	" '2026-01-31T12:00:00Z', 'wait', '2026-01-30T12:00:00Z', 'pattern' || char(10) || 'app!lock');"
	"INSERT INTO signatures VALUES(2, 1, 'slow read', '', 'fixed', '2026-01-31T12:00:00Z', '',"
	" '2026-01-30T12:00:00Z', 'pattern' || char(10) || 'app!read');"
	"UPDATE signature_file SET digest = '0123456789abcdef0123456789abcdef', newest = 2;"
	"INSERT INTO stream_signatures SELECT id, 1, 1000, 1234567, 17 FROM streams;"
	"INSERT INTO matched_streams SELECT id, 2 FROM streams;";

static void describe(unsigned number, char id[33], char source[64])
{
	snprintf(id, 33, "%032x", number * 77777 + 1);
	snprintf(source, 64, "/var/recordings/host-%u/perf.data.%u", number, number * 7);
}

static void add_streams(struct fixture *fixture)
{
	struct lode_corpus *corpus;

	assert_int_equal(lode_corpus_open(&corpus, fixture->folder, LODE_CORPUS_CREATE, &fixture->error), 0);
	for (unsigned i = 0; i < STREAMS; i++) {
		struct lode_dictionary dictionary;
		struct lode_stream stream;
		uint64_t seed = 100 + i;
		char id[33], source[64];

		describe(i, id, source);
		assert_int_equal(lode_dictionary_init(&dictionary), 0);
		lode_stream_init(&stream, &dictionary);
		assert_int_equal(random_stream(&stream, &seed, 20), 0);
		assert_int_equal(lode_corpus_add(corpus, id, source, &stream, 0, 1, &fixture->error), 1);
		lode_stream_release(&stream);
		lode_dictionary_release(&dictionary);
	}
	lode_corpus_close(corpus);
}

static void run_sql(struct fixture *fixture, const char *sql)
{
	sqlite3 *db;

	assert_int_equal(sqlite3_open(fixture->path, &db), SQLITE_OK);
	if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
		fail_msg("%s", sqlite3_errmsg(db));
	sqlite3_close(db);
}

static void read_bytes(struct fixture *fixture)
{
	int fd = open(fixture->path, O_RDONLY);
	ssize_t size;

	assert_true(fd >= 0);
	fixture->bytes = malloc(BYTES_LIMIT);
	size = read(fd, fixture->bytes, BYTES_LIMIT);
	assert_true(size > 0 && size < BYTES_LIMIT);
	fixture->size = (size_t)size;
	close(fd);
}

static void write_byte(struct fixture *fixture, size_t at, unsigned char byte)
{
	int fd = open(fixture->path, O_WRONLY);

	assert_int_equal(pwrite(fd, &byte, 1, (off_t)at), 1);
	close(fd);
}

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	if (temporary_folder(fixture->folder, sizeof(fixture->folder)) < 0)
		return -1;
	snprintf(fixture->path, sizeof(fixture->path), "%s/catalogue.sqlite", fixture->folder);
	*state = fixture;
	add_streams(fixture);
	run_sql(fixture, signatures);
	read_bytes(fixture);
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	temporary_remove(fixture->folder);
	free(fixture->bytes);
	free(fixture);
	return 0;
}

/* The values of one table, with their types; -1 when SQLite cannot read them. */
static int add_table(sqlite3 *db, const char *sql, struct lode_buffer *buffer)
{
	sqlite3_stmt *statement;
	int status;

	if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
		return -1;
	while ((status = sqlite3_step(statement)) == SQLITE_ROW)
		for (int i = 0; i < sqlite3_column_count(statement); i++) {
			int type = sqlite3_column_type(statement, i);
			const void *text = sqlite3_column_text(statement, i);
			size_t size = (size_t)sqlite3_column_bytes(statement, i);

			lode_buffer_byte(buffer, (char)type);
			lode_buffer_u32(buffer, (uint32_t)size);
			lode_buffer_add(buffer, text, size);
		}
	sqlite3_finalize(statement);
	return status == SQLITE_DONE ? 0 : -1;
}

/* All that the tables hold, read without any index. */
static int read_contents(struct fixture *fixture, struct lode_buffer *buffer)
{
	static const char *const tables[] = {
		"SELECT * FROM streams NOT INDEXED",
		"SELECT * FROM attributes NOT INDEXED",
		"SELECT * FROM symptoms NOT INDEXED",
		"SELECT * FROM signatures NOT INDEXED",
		"SELECT * FROM signature_file NOT INDEXED",
		"SELECT * FROM stream_signatures NOT INDEXED",
		"SELECT * FROM matched_streams NOT INDEXED",
		"PRAGMA user_version",
		"PRAGMA application_id",
	};
	sqlite3 *db;
	int code = sqlite3_open_v2(fixture->path, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK ? 0 : -1;

	for (size_t i = 0; !code && i < sizeof(tables) / sizeof(tables[0]); i++)
		code = add_table(db, tables[i], buffer);
	sqlite3_close(db);
	return code;
}

static int is_noticed(struct fixture *fixture)
{
	struct lode_corpus_check_result result;

	return lode_corpus_check(fixture->folder, 0, &result, NULL, NULL, &fixture->error) != 0 ||
	       result.catalogue_bad || result.rows_wrong || result.rows_without_file || result.files_without_row;
}

static void what_a_changed_byte_changes_is_noticed(void **state)
{
	struct fixture *fixture = *state;
	struct lode_buffer whole = { 0 };
	unsigned differing = 0;
	uint64_t seed = 5;

	assert_false(is_noticed(fixture));
	assert_int_equal(read_contents(fixture, &whole), 0);
	for (size_t at = 0; at < fixture->size; at++) {
		unsigned char change = (unsigned char)(1 + random_below(&seed, 255));
		struct lode_buffer now = { 0 };
		int differs;

		if (random_below(&seed, fixture->bytes[at] ? 4 : 128)) /* zeros are mostly room that nothing uses */
			continue;
		write_byte(fixture, at, fixture->bytes[at] ^ change);
		differs = read_contents(fixture, &now) != 0 || now.size != whole.size ||
			  memcmp(now.bytes, whole.bytes, now.size) != 0;
		differing += (unsigned)differs;
		if (differs && !is_noticed(fixture))
			fail_msg("byte %zu of the catalogue, changed by 0x%02x, goes unnoticed", at, change);
		write_byte(fixture, at, fixture->bytes[at]);
		lode_buffer_release(&now);
	}
	assert_true(differing > 1000);
	assert_false(is_noticed(fixture));
	lode_buffer_release(&whole);
}

/* How many streams have their source no more; one that has another must say that it may be wrong. */
static unsigned count_lost_sources(struct fixture *fixture, const char *what)
{
	struct lode_corpus *corpus;
	struct lode_corpus_list list;
	unsigned lost = 0;

	assert_int_equal(lode_corpus_open(&corpus, fixture->folder, LODE_CORPUS_READ, &fixture->error), 0);
	assert_int_equal(lode_corpus_streams(corpus, &list, &fixture->error), 0);
	assert_int_equal(list.count, STREAMS);
	for (unsigned i = 0; i < STREAMS; i++) {
		char id[33], source[64];
		size_t at = 0;

		describe(i, id, source);
		while (at < list.count && strcmp(list.items[at].id, id) != 0)
			at++;
		assert_true(at < list.count);
		if (strcmp(list.items[at].source, source) == 0)
			continue;
		lost++;
		if (strncmp(list.items[at].source, "found by fsck", 13) != 0)
			fail_msg("%s: stream %u comes from '%s' now", what, i, list.items[at].source);
	}
	lode_corpus_list_release(&list);
	lode_corpus_close(corpus);
	return lost;
}

/* Repairs what is damaged now, counts, and puts the catalogue back as it was. */
static unsigned repair_and_count(struct fixture *fixture, const char *what)
{
	struct lode_corpus_check_result result;
	char aside[160];
	unsigned lost;
	int fd;

	if (lode_corpus_check(fixture->folder, 1, &result, NULL, NULL, &fixture->error) != 0)
		fail_msg("%s: %s", what, fixture->error.text);
	lost = count_lost_sources(fixture, what);
	snprintf(aside, sizeof(aside), "%s.damaged", fixture->path);
	unlink(aside);
	fd = open(fixture->path, O_WRONLY | O_TRUNC);
	assert_int_equal(write(fd, fixture->bytes, fixture->size), fixture->size);
	close(fd);
	return lost;
}

static void a_repair_after_one_changed_byte_keeps_the_sources(void **state)
{
	struct fixture *fixture = *state;
	uint64_t seed = 7;

	for (unsigned round = 0; round < 300; round++) {
		size_t at = random_below(&seed, fixture->size);
		unsigned char change = (unsigned char)(1 + random_below(&seed, 255));
		char what[64];
		unsigned lost;

		if (!fixture->bytes[at])
			continue;
		snprintf(what, sizeof(what), "byte %zu changed by 0x%02x", at, change);
		write_byte(fixture, at, fixture->bytes[at] ^ change);
		lost = repair_and_count(fixture, what);
		/* Page 1 says what is in which page. */
		if (at >= PAGE && lost > 1)
			fail_msg("%s: %u streams have lost their sources", what, lost);
	}
}

static void a_repair_after_a_lost_page_keeps_the_sources(void **state)
{
	struct fixture *fixture = *state;

	for (size_t page = 1; page < fixture->size / PAGE; page++)
		for (int garbage = 0; garbage < 2; garbage++) {
			char what[64];
			unsigned lost;

			snprintf(what, sizeof(what), "page %zu lost", page + 1);
			for (size_t i = 0; i < PAGE; i++)
				write_byte(fixture, page * PAGE + i, garbage ? (unsigned char)(i * 89 + 7) : 0);
			lost = repair_and_count(fixture, what);
			if (lost)
				fail_msg("%s: %u streams have lost their sources", what, lost);
		}
}

static void a_catalogue_of_nothing_but_garbage_is_repaired(void **state)
{
	struct fixture *fixture = *state;
	int fd = open(fixture->path, O_WRONLY | O_TRUNC);

	assert_int_equal(write(fd, "garbage", 7), 7);
	close(fd);
	assert_int_equal(repair_and_count(fixture, "garbage"), STREAMS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
		TEST(what_a_changed_byte_changes_is_noticed),
		TEST(a_repair_after_one_changed_byte_keeps_the_sources),
		TEST(a_repair_after_a_lost_page_keeps_the_sources),
		TEST(a_catalogue_of_nothing_but_garbage_is_repaired),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
