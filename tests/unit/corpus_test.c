/* The corpus: one stream once, all or nothing, and a checker that finds and mends. */
#include "cmocka_all.h"
#include "random_stream.h"
#include "temporary.h"

#include "store/corpus_check.h"
#include "store/corpus_readers.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct fixture {
	char path[64];
	struct lode_dictionary dictionary;
	struct lode_stream stream;
	struct lode_error error;
};

static const char *const id_a = "0123456789abcdef0123456789abcdef";
static const char *const id_b = "ffffffffffffffff0123456789abcdef";

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	uint64_t seed = 41;

	if (temporary_folder(fixture->path, sizeof(fixture->path)) < 0 ||
	    lode_dictionary_init(&fixture->dictionary) < 0)
		return -1;
	lode_stream_init(&fixture->stream, &fixture->dictionary);
	*state = fixture;
	return random_stream(&fixture->stream, &seed, 100);
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	temporary_remove(fixture->path);
	lode_stream_release(&fixture->stream);
	lode_dictionary_release(&fixture->dictionary);
	free(fixture);
	return 0;
}

static struct lode_corpus *open_corpus(struct fixture *fixture, enum lode_corpus_mode mode)
{
	struct lode_corpus *corpus;
	int code = lode_corpus_open(&corpus, fixture->path, mode, &fixture->error);

	if (code)
		fail_msg("%s", fixture->error.text);
	return corpus;
}

static void add(struct fixture *fixture, const char *id, int replace, int expected)
{
	struct lode_corpus *corpus = open_corpus(fixture, LODE_CORPUS_CREATE);

	assert_int_equal(lode_corpus_add(corpus, id, "test", &fixture->stream, replace, 1, &fixture->error),
			 expected);
	lode_corpus_close(corpus);
}

static size_t count_streams(struct fixture *fixture)
{
	struct lode_corpus *corpus = open_corpus(fixture, LODE_CORPUS_READ);
	struct lode_corpus_list list;
	size_t count;

	assert_int_equal(lode_corpus_streams(corpus, &list, &fixture->error), 0);
	count = list.count;
	lode_corpus_list_release(&list);
	lode_corpus_close(corpus);
	return count;
}

/* Path of the only file of a kind in the streams folder. */
static void find_file(struct fixture *fixture, const char *ending, char path[512])
{
	char folder[128];
	struct dirent *entry;
	DIR *open_folder;

	snprintf(folder, sizeof(folder), "%s/streams", fixture->path);
	open_folder = opendir(folder);
	assert_non_null(open_folder);
	path[0] = '\0';
	while ((entry = readdir(open_folder)))
		if (strlen(entry->d_name) > strlen(ending) &&
		    strcmp(entry->d_name + strlen(entry->d_name) - strlen(ending), ending) == 0)
			snprintf(path, 512, "%s/%s", folder, entry->d_name);
	closedir(open_folder);
}

/* The slow way: for each stack, whether some event has it. */
static size_t count_distinct_stacks(const struct lode_stream *stream)
{
	size_t count = 0;

	for (uint32_t node = 1; node < stream->dictionary->tree.count; node++) {
		int used = 0;

		for (int type = 0; type < LODE_EVENT_TYPES; type++)
			for (size_t i = 0; i < stream->events[type].count; i++)
				used |= stream->events[type].stack[i] == node;
		count += used;
	}
	return count;
}

static void a_stream_added_is_listed_with_its_numbers_and_reads_back(void **state)
{
	struct fixture *fixture = *state;
	struct lode_corpus *corpus;
	struct lode_corpus_list list;
	struct lode_dictionary dictionary;
	struct lode_stream loaded;
	uint64_t cost = 0;

	add(fixture, id_a, 0, 1);
	corpus = open_corpus(fixture, LODE_CORPUS_READ);
	assert_int_equal(lode_corpus_streams(corpus, &list, &fixture->error), 0);
	assert_int_equal(list.count, 1);
	assert_string_equal(list.items[0].id, id_a);
	assert_string_equal(list.items[0].name, "str\"eam");
	assert_string_equal(list.items[0].source, "test");
	for (size_t i = 0; i < fixture->stream.events[LODE_WAIT].count; i++)
		cost = lode_add_saturating(cost, fixture->stream.events[LODE_WAIT].cost[i]);
	assert_true(list.items[0].cost[LODE_WAIT] == cost);
	for (int type = 0; type < LODE_EVENT_TYPES; type++)
		assert_int_equal(list.items[0].events[type], fixture->stream.events[type].count);
	assert_int_equal(list.items[0].stacks, count_distinct_stacks(&fixture->stream));
	assert_int_equal(lode_dictionary_init(&dictionary), 0);
	lode_stream_init(&loaded, &dictionary);
	assert_int_equal(lode_store_load(list.items[0].path, &loaded, &fixture->error), 0);
	assert_true(streams_equal(&fixture->stream, &loaded));
	lode_stream_release(&loaded);
	lode_dictionary_release(&dictionary);
	lode_corpus_list_release(&list);
	lode_corpus_close(corpus);
}

static void the_same_id_twice_is_one_stream(void **state)
{
	struct fixture *fixture = *state;

	add(fixture, id_a, 0, 1);
	add(fixture, id_a, 0, 0);
	assert_int_equal(count_streams(fixture), 1);
	add(fixture, id_b, 0, 1);
	assert_int_equal(count_streams(fixture), 2);
}

static void replacing_leaves_one_row_and_one_file(void **state)
{
	struct fixture *fixture = *state;
	struct lode_corpus_check_result result;

	add(fixture, id_a, 0, 1);
	for (int i = 0; i < 4; i++)
		add(fixture, id_a, 1, 1);
	assert_int_equal(count_streams(fixture), 1);
	assert_int_equal(lode_corpus_check(fixture->path, 0, &result, NULL, NULL, &fixture->error), 0);
	assert_int_equal(result.streams_good, 1);
	assert_int_equal(result.files_without_row, 0);
	assert_int_equal(result.rows_without_file, 0);
}

static void a_folder_that_is_no_corpus_is_not_touched(void **state)
{
	struct fixture *fixture = *state;
	struct lode_corpus *corpus;
	char path[128];

	assert_int_equal(lode_corpus_open(&corpus, fixture->path, LODE_CORPUS_READ, &fixture->error),
			 LODE_BAD_INPUT);
	assert_non_null(strstr(fixture->error.text, "is not a corpus"));
	snprintf(path, sizeof(path), "%s/thesis.txt", fixture->path);
	close(open(path, O_CREAT | O_WRONLY, 0600));
	assert_int_equal(lode_corpus_open(&corpus, fixture->path, LODE_CORPUS_CREATE, &fixture->error), LODE_USAGE);
	assert_int_not_equal(access(path, F_OK), -1);
}

static void imports_at_once_leave_each_stream_once(void **state)
{
	struct fixture *fixture = *state;
	struct lode_corpus_check_result result;

	for (int child = 0; child < 6; child++) {
		if (fork() == 0) {
			struct lode_corpus *corpus;
			int failed = lode_corpus_open(&corpus, fixture->path, LODE_CORPUS_CREATE, &fixture->error);

			for (int i = 0; !failed && i < 20; i++) {
				char id[33];

				snprintf(id, sizeof(id), "%032x",
					 (child / 2) * 100 + i); /* pairs of children collide */
				failed = lode_corpus_add(corpus, id, "test", &fixture->stream, 0, 1,
							 &fixture->error) < 0;
			}
			_exit(failed);
		}
	}
	for (int child = 0; child < 6; child++) {
		int status;

		wait(&status);
		assert_int_equal(status, 0);
	}
	assert_int_equal(count_streams(fixture), 60);
	assert_int_equal(lode_corpus_check(fixture->path, 0, &result, NULL, NULL, &fixture->error), 0);
	assert_int_equal(result.streams_good, 60);
	assert_int_equal(result.files_without_row + result.leftovers, 0);
}

static void an_import_killed_at_any_time_leaves_a_whole_corpus(void **state)
{
	struct fixture *fixture = *state;
	struct lode_corpus_check_result result;

	add(fixture, id_a, 0, 1);
	for (int round = 0; round < 60; round++) {
		pid_t child = fork();
		int status;

		if (child == 0) {
			struct lode_corpus *corpus;

			if (lode_corpus_open(&corpus, fixture->path, LODE_CORPUS_CREATE, &fixture->error) == 0)
				for (int i = 0;; i++) {
					char id[33];

					snprintf(id, sizeof(id), "%032x", round * 1000 + i);
					lode_corpus_add(corpus, id, "test", &fixture->stream, i % 2, 1,
							&fixture->error);
				}
			_exit(1);
		}
		usleep((useconds_t)(rand() % 8000));
		kill(child, SIGKILL);
		waitpid(child, &status, 0);
		assert_int_equal(lode_corpus_check(fixture->path, 0, &result, NULL, NULL, &fixture->error), 0);
		assert_int_equal(result.streams_bad, 0);
		assert_int_equal(result.catalogue_bad, 0);
		assert_int_equal(result.rows_without_file, 0);
		assert_true(result.files_without_row <= 1);
		assert_int_equal(lode_corpus_check(fixture->path, 1, &result, NULL, NULL, &fixture->error), 0);
	}
	add(fixture, id_a, 0, 0);
}

static void damage(const char *path)
{
	int fd = open(path, O_RDWR);
	unsigned char byte;

	assert_true(fd >= 0);
	assert_int_equal(pread(fd, &byte, 1, 300), 1);
	byte ^= 0xff;
	assert_int_equal(pwrite(fd, &byte, 1, 300), 1);
	close(fd);
}

static void a_damaged_stream_is_found_repaired_and_its_original_kept(void **state)
{
	struct fixture *fixture = *state;
	struct lode_corpus_check_result result;
	char path[512];

	add(fixture, id_a, 0, 1);
	find_file(fixture, ".lode", path);
	damage(path);
	assert_int_equal(lode_corpus_check(fixture->path, 0, &result, NULL, NULL, &fixture->error), 0);
	assert_int_equal(result.streams_bad, 1);
	assert_int_equal(lode_corpus_check(fixture->path, 1, &result, NULL, NULL, &fixture->error), 0);
	assert_int_equal(result.streams_repaired, 1);
	find_file(fixture, ".damaged", path);
	assert_int_not_equal(path[0], '\0');
	assert_int_equal(lode_corpus_check(fixture->path, 0, &result, NULL, NULL, &fixture->error), 0);
	assert_int_equal(result.streams_bad, 0);
	assert_int_equal(result.streams_good, 1);
	assert_int_equal(count_streams(fixture), 1);
}

static void a_lost_catalogue_is_made_anew_from_the_streams(void **state)
{
	struct fixture *fixture = *state;
	struct lode_corpus_check_result result;
	char path[128];
	FILE *file;

	add(fixture, id_a, 0, 1);
	add(fixture, id_b, 0, 1);
	snprintf(path, sizeof(path), "%s/catalogue.sqlite", fixture->path);
	file = fopen(path, "wb");
	fputs("this is not a database, it only is where one was, long enough to be read", file);
	fclose(file);
	assert_int_equal(lode_corpus_check(fixture->path, 0, &result, NULL, NULL, &fixture->error), 0);
	assert_int_equal(result.catalogue_bad, 1);
	assert_int_equal(lode_corpus_check(fixture->path, 1, &result, NULL, NULL, &fixture->error), 0);
	assert_int_equal(count_streams(fixture), 2);
	unlink(path);
	assert_int_equal(lode_corpus_check(fixture->path, 1, &result, NULL, NULL, &fixture->error), 0);
	assert_int_equal(count_streams(fixture), 2);
}

static void change_catalogue(struct fixture *fixture, const char *sql)
{
	char path[128];
	sqlite3 *db;

	snprintf(path, sizeof(path), "%s/catalogue.sqlite", fixture->path);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_changes(db), 1);
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* All that a row says but where the stream came from, and when, which only the catalogue knows. */
static void what_the_catalogue_says_of_a_stream_is_compared_with_its_file(void **state)
{
	static const char *const changes[] = {
		"UPDATE streams SET name = 'another'",
		"UPDATE streams SET host = 'another'",
		"UPDATE streams SET runs = runs + 1",
		"UPDATE streams SET waits = waits - 1",
		"UPDATE streams SET calls = calls + 256",
		"UPDATE streams SET run_ns = run_ns + 1",
		"UPDATE streams SET wait_ns = wait_ns + 1",
		"UPDATE streams SET first_t = first_t + 1",
		"UPDATE streams SET last_t = last_t + 1",
		"UPDATE streams SET threads = threads + 1",
		"UPDATE streams SET stacks = stacks + 1",
		"UPDATE streams SET symptoms = symptoms + 1",
		"UPDATE streams SET file_size = file_size + 1",
		"UPDATE streams SET added = '2026-13-01T00:00:00Z'",
		"UPDATE attributes SET key = 'another' WHERE key = (SELECT min(key) FROM attributes)",
		"UPDATE attributes SET value = 'another' WHERE key = (SELECT min(key) FROM attributes)",
		"UPDATE attributes SET type = 'bool' WHERE key = (SELECT min(key) FROM attributes)",
		"DELETE FROM attributes WHERE key = (SELECT max(key) FROM attributes)",
		"INSERT INTO attributes SELECT id, 'more', 'text', 'of it' FROM streams",
		"UPDATE symptoms SET pid = 4711 WHERE rowid = 1",
		"UPDATE symptoms SET tid = tid + 1 WHERE rowid = 1",
		"UPDATE symptoms SET name = 'another' WHERE rowid = 1",
		"UPDATE symptoms SET t0 = t0 + 1 WHERE rowid = 1",
		"UPDATE symptoms SET t1 = t1 + 1 WHERE rowid = 1",
		"DELETE FROM symptoms WHERE rowid = 1",
		"INSERT INTO symptoms SELECT id, 1, 1, 'more', 1, 2 FROM streams",
	};
	struct fixture *fixture = *state;
	struct lode_corpus_check_result result;

	assert_int_equal(lode_stream_set_attribute(&fixture->stream, "a key", "text", LODE_ATTRIBUTE_TEXT), 0);
	assert_int_equal(lode_stream_set_attribute(&fixture->stream, "zz", "12", LODE_ATTRIBUTE_NUMBER), 0);
	assert_int_equal(lode_stream_add_symptom(&fixture->stream,
						 &(struct lode_symptom){ .thread = 0, .t0 = 5, .t1 = 9 }),
			 0);
	add(fixture, id_a, 0, 1);
	for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
		for (int repair = 0; repair < 2; repair++) {
			if (!repair)
				change_catalogue(fixture, changes[i]);
			assert_int_equal(lode_corpus_check(fixture->path, repair, &result, NULL, NULL,
							   &fixture->error),
					 0);
			if (result.rows_wrong != 1)
				fail_msg("not noticed: %s", changes[i]);
		}
		assert_int_equal(lode_corpus_check(fixture->path, 0, &result, NULL, NULL, &fixture->error), 0);
		assert_int_equal(result.rows_wrong + result.catalogue_bad + result.files_without_row, 0);
		assert_int_equal(count_streams(fixture), 1);
	}
	/* Rows about what is not there. */
	change_catalogue(fixture, "INSERT INTO symptoms VALUES('x', 1, 1, 'of no stream', 1, 2)");
	assert_int_equal(lode_corpus_check(fixture->path, 0, &result, NULL, NULL, &fixture->error), 0);
	assert_int_equal(result.catalogue_bad, 1);
}

static size_t count_files(struct fixture *fixture)
{
	char folder[128];
	struct dirent *entry;
	size_t count = 0;
	DIR *open_folder;

	snprintf(folder, sizeof(folder), "%s/streams", fixture->path);
	open_folder = opendir(folder);
	assert_non_null(open_folder);
	while ((entry = readdir(open_folder)))
		count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
	closedir(open_folder);
	return count;
}

static void cut_off(struct fixture *fixture, long bytes)
{
	struct stat status;
	char path[512];

	find_file(fixture, ".lode", path);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(truncate(path, status.st_size - bytes), 0);
}

static void each_damaged_original_is_kept(void **state)
{
	struct fixture *fixture = *state;
	struct lode_corpus_check_result result;

	add(fixture, id_a, 0, 1);
	for (unsigned round = 1; round <= 3; round++) {
		cut_off(fixture, 5);
		assert_int_equal(lode_corpus_check(fixture->path, 1, &result, NULL, NULL, &fixture->error), 0);
		assert_int_equal(result.streams_repaired, 1);
		assert_int_equal(count_files(fixture), 1 + round);
	}
	assert_int_equal(lode_corpus_check(fixture->path, 0, &result, NULL, NULL, &fixture->error), 0);
	assert_int_equal(result.streams_good, 1);
}

static void assert_readable(struct fixture *fixture, const struct lode_corpus_list *list)
{
	struct lode_store *store;

	for (size_t i = 0; i < list->count; i++) {
		assert_int_equal(lode_store_open(&store, list->items[i].path, &fixture->error), 0);
		lode_store_close(store);
	}
}

static void remove_stream(struct fixture *fixture, const char *id)
{
	struct lode_corpus *corpus = open_corpus(fixture, LODE_CORPUS_WRITE);

	assert_int_equal(lode_corpus_remove(corpus, id, &fixture->error), 1);
	lode_corpus_close(corpus);
}

static void what_a_reader_has_listed_can_be_read_until_it_is_done(void **state)
{
	struct fixture *fixture = *state;
	struct lode_corpus_check_result result;
	struct lode_corpus_list list;
	struct lode_corpus *reader;

	add(fixture, id_a, 0, 1);
	add(fixture, id_b, 0, 1);
	reader = open_corpus(fixture, LODE_CORPUS_READ);
	assert_int_equal(lode_corpus_streams(reader, &list, &fixture->error), 0);
	add(fixture, id_a, 1, 1);
	add(fixture, id_a, 1, 1);
	remove_stream(fixture, id_b);
	assert_readable(fixture, &list);
	/* Nothing is wrong with such a corpus, and a repair takes nothing away from the reader. */
	for (int repair = 0; repair < 2; repair++) {
		assert_int_equal(lode_corpus_check(fixture->path, repair, &result, NULL, NULL, &fixture->error), 0);
		assert_int_equal(result.leftovers, 3);
		assert_int_equal(result.streams_bad + result.files_without_row + result.rows_without_file, 0);
		assert_int_equal(count_streams(fixture), 1);
	}
	assert_readable(fixture, &list);
	lode_corpus_list_release(&list);
	lode_corpus_close(reader);
	add(fixture, id_a, 0, 0);
	assert_int_equal(count_files(fixture), 1);
}

static void a_stream_that_is_removed_and_added_again_is_not_swept_away(void **state)
{
	struct fixture *fixture = *state;
	struct lode_corpus_list list;
	struct lode_corpus *reader;

	add(fixture, id_a, 0, 1);
	reader = open_corpus(fixture, LODE_CORPUS_READ);
	assert_int_equal(lode_corpus_streams(reader, &list, &fixture->error), 0);
	remove_stream(fixture, id_a);
	assert_int_equal(count_files(fixture), 2); /* it, and the mark */
	add(fixture, id_a, 0, 1);
	assert_readable(fixture, &list);
	lode_corpus_list_release(&list);
	lode_corpus_close(reader);
	add(fixture, id_a, 0, 0);
	assert_int_equal(count_files(fixture), 1);
	assert_int_equal(count_streams(fixture), 1);
}

static void where_hosts_share_files_a_replaced_one_stays_for_an_hour(void **state)
{
	struct fixture *fixture = *state;
	struct lode_corpus *corpus = open_corpus(fixture, LODE_CORPUS_CREATE);
	const struct timespec long_ago[2] = { { time(NULL) - 4000, 0 }, { time(NULL) - 4000, 0 } };
	struct lode_corpus_readers readers;
	char folder[128], file[256], mark[256];

	snprintf(folder, sizeof(folder), "%s/streams", fixture->path);
	snprintf(file, sizeof(file), "%s/%s.lode", folder, id_a);
	snprintf(mark, sizeof(mark), "%s/.%s.lode.replaced", folder, id_a);
	close(open(file, O_CREAT | O_WRONLY, 0600));
	lode_corpus_readers_init(&readers, folder);
	readers.remote = 1;
	assert_int_equal(lode_corpus_discard(&readers, lode_corpus_catalogue(corpus), strrchr(file, '/') + 1,
					     &fixture->error),
			 0);
	lode_corpus_sweep(&readers, lode_corpus_catalogue(corpus));
	assert_int_equal(access(file, F_OK), 0);
	assert_int_equal(utimensat(AT_FDCWD, mark, long_ago, 0), 0);
	lode_corpus_sweep(&readers, lode_corpus_catalogue(corpus));
	assert_int_equal(access(file, F_OK), -1);
	assert_int_equal(access(mark, F_OK), -1);
	lode_corpus_readers_release(&readers);
	lode_corpus_close(corpus);
}

/* How many leftovers a check finds. */
static uint64_t leftovers_of(const char *path, int repair)
{
	struct lode_corpus_check_result result;
	struct lode_error error;

	assert_int_equal(lode_corpus_check(path, repair, &result, NULL, NULL, &error), 0);
	return result.leftovers;
}

/* A process that writes a stream, and waits for its end; `*fd` is read when it writes. */
static pid_t start_writer(struct lode_corpus *corpus, int *fd)
{
	struct lode_store_writer *writer;
	int ready[2];
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		char *draft = lode_corpus_draft(corpus, id_b);

		if (draft && !lode_store_create(&writer, draft, 0666, 1, NULL) && write(ready[1], "", 1) == 1)
			pause();
		_exit(1);
	}
	assert_true(pid > 0);
	close(ready[1]);
	*fd = ready[0];
	return pid;
}

static void files_of_a_killed_import_are_leftovers_and_those_of_a_running_one_are_not(void **state)
{
	struct fixture *fixture = *state;
	struct lode_corpus *corpus;
	siginfo_t end;
	char byte;
	pid_t pid;
	int fd;

	assert_int_equal(lode_corpus_open(&corpus, fixture->path, LODE_CORPUS_CREATE, &fixture->error), 0);
	pid = start_writer(corpus, &fd);
	assert_int_equal(read(fd, &byte, 1), 1);
	assert_int_equal(leftovers_of(fixture->path, 1), 0);
	/* It is not waited for, so its number is still in use. */
	kill(pid, SIGKILL);
	assert_int_equal(waitid(P_PID, (id_t)pid, &end, WEXITED | WNOWAIT), 0);
	assert_int_equal(leftovers_of(fixture->path, 0), 1);
	assert_int_equal(leftovers_of(fixture->path, 1), 1);
	assert_int_equal(leftovers_of(fixture->path, 0), 0);
	waitpid(pid, NULL, 0);
	close(fd);
	lode_corpus_close(corpus);
}

static void put_file(const char *path, time_t written)
{
	struct timespec times[2] = { { written, 0 }, { written, 0 } };
	int fd = open(path, O_WRONLY | O_CREAT, 0600);

	assert_true(fd >= 0);
	assert_int_equal(futimens(fd, times), 0);
	close(fd);
}

static void a_process_id_that_is_used_again_hides_no_leftover(void **state)
{
	struct fixture *fixture = *state;
	struct lode_corpus *corpus;
	char path[256];

	assert_int_equal(lode_corpus_open(&corpus, fixture->path, LODE_CORPUS_CREATE, &fixture->error), 0);
	lode_corpus_close(corpus);
	/* This process is between closing its file and renaming it. */
	snprintf(path, sizeof(path), "%s/streams/.%s.%ld.0.lode.tmp", fixture->path, id_b, (long)getpid());
	put_file(path, time(NULL));
	assert_int_equal(leftovers_of(fixture->path, 0), 0);
	/* A file from before it was started, and one that is old while process 1 is older. */
	put_file(path, time(NULL) - 600);
	snprintf(path, sizeof(path), "%s/streams/.%s.1.0.lode.tmp", fixture->path, id_a);
	put_file(path, time(NULL) - 7200);
	assert_int_equal(leftovers_of(fixture->path, 0), 2);
	/* Beside the streams. */
	snprintf(path, sizeof(path), "%s/mined.txt.999999999-123456789.part", fixture->path);
	put_file(path, time(NULL));
	snprintf(path, sizeof(path), "%s/cache", fixture->path);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/cache/.%s.999999999.0.tmp", fixture->path, id_a);
	put_file(path, time(NULL));
	assert_int_equal(leftovers_of(fixture->path, 1), 4);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(leftovers_of(fixture->path, 0), 0);
}

static void a_missing_file_and_a_leftover_are_found_and_cleared(void **state)
{
	struct fixture *fixture = *state;
	struct lode_corpus_check_result result;
	char path[512];

	add(fixture, id_a, 0, 1);
	find_file(fixture, ".lode", path);
	unlink(path);
	snprintf(path, sizeof(path), "%s/streams/.%s.999999999.0.lode.tmp", fixture->path, id_b);
	close(open(path, O_CREAT | O_WRONLY, 0600));
	assert_int_equal(lode_corpus_check(fixture->path, 0, &result, NULL, NULL, &fixture->error), 0);
	assert_int_equal(result.rows_without_file, 1);
	assert_int_equal(result.leftovers, 1);
	assert_int_equal(lode_corpus_check(fixture->path, 1, &result, NULL, NULL, &fixture->error), 0);
	assert_int_equal(count_streams(fixture), 0);
	assert_int_equal(access(path, F_OK), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_stream_added_is_listed_with_its_numbers_and_reads_back, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(the_same_id_twice_is_one_stream, set_up, tear_down),
		cmocka_unit_test_setup_teardown(replacing_leaves_one_row_and_one_file, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_the_catalogue_says_of_a_stream_is_compared_with_its_file,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(each_damaged_original_is_kept, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_a_reader_has_listed_can_be_read_until_it_is_done, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_stream_that_is_removed_and_added_again_is_not_swept_away, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_folder_that_is_no_corpus_is_not_touched, set_up, tear_down),
		cmocka_unit_test_setup_teardown(imports_at_once_leave_each_stream_once, set_up, tear_down),
		cmocka_unit_test_setup_teardown(an_import_killed_at_any_time_leaves_a_whole_corpus, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_damaged_stream_is_found_repaired_and_its_original_kept, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_lost_catalogue_is_made_anew_from_the_streams, set_up, tear_down),
		cmocka_unit_test_setup_teardown(where_hosts_share_files_a_replaced_one_stays_for_an_hour, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(files_of_a_killed_import_are_leftovers_and_those_of_a_running_one_are_not,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_process_id_that_is_used_again_hides_no_leftover, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_missing_file_and_a_leftover_are_found_and_cleared, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
