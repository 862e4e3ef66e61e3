/*
 * Processes that die in the middle of an import, and several that import at once:
 * the corpus stays whole, each stream is in it once, and importing again succeeds.
 */
#include "fault.h"
#include "random_stream.h"

#include "store/corpus_check.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 100
#define LINES  1500

/* Plain events that no other number gives. */
static void write_events(const char *path, unsigned number)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fprintf(file, "{\"stream\":\"stream %u\"}\n", number);
	for (unsigned i = 0; i < LINES; i++)
		fprintf(file,
			"{\"type\":\"run\",\"t\":%u,\"cost\":%u,\"tid\":%u,\"stack\":[\"app!main\",\"app!f%"
			"u\",\"app!g%u\"]}\n",
			i * 10, number, i % 7, i % 91, i % 13);
	assert_int_equal(fclose(file), 0);
}

static pid_t start_import(const char *path, const char *corpus)
{
	struct lode_error error = { "" };
	pid_t child = fork();

	assert_true(child >= 0);
	if (child)
		return child;
	_exit(import_file(path, NULL, corpus, &error) < 0 ? 1 : 0);
}

static void require_success(pid_t child)
{
	int status;

	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void sleep_for(uint64_t nanoseconds)
{
	struct timespec time = { (time_t)(nanoseconds / 1000000000u), (long)(nanoseconds % 1000000000u) };

	nanosleep(&time, NULL);
}

static void require_no_leftovers_after_repair(const char *corpus)
{
	struct lode_corpus_check_result result;
	struct lode_error error = { "" };

	assert_int_equal(lode_corpus_check(corpus, 1, &result, NULL, NULL, &error), 0);
	assert_int_equal(lode_corpus_check(corpus, 0, &result, NULL, NULL, &error), 0);
	assert_int_equal(result.leftovers, 0);
	assert_int_equal(result.files_without_row, 0);
}

static void an_import_that_is_killed_leaves_the_corpus_whole(void **state)
{
	struct lode_error error = { "" };
	uint64_t seed = 3, took, killed = 0;
	struct place place;

	(void)state;
	place_make(&place);
	write_events(place.file, 0);
	took = now();
	require_success(start_import(place.file, place.corpus));
	took = now() - took;
	for (unsigned round = 1; round <= ROUNDS; round++) {
		pid_t child;
		int status;

		write_events(place.file, round);
		child = start_import(place.file, place.corpus);
		sleep_for(random_below(&seed, took));
		kill(child, SIGKILL);
		assert_int_equal(waitpid(child, &status, 0), child);
		killed += WIFSIGNALED(status);
		/* Too late: the first import was slower than the others are. */
		if (!WIFSIGNALED(status))
			took -= took / 8;
		require_sound_corpus(place.corpus);
		assert_in_range(count_streams(place.corpus), round, round + 1);
		if (import_file(place.file, NULL, place.corpus, &error) < 0)
			fail_msg("the second time: %s", error.text);
		assert_int_equal(count_streams(place.corpus), round + 1);
	}
	assert_true(killed > ROUNDS / 4);
	require_no_leftovers_after_repair(place.corpus);
	assert_int_equal(count_streams(place.corpus), ROUNDS + 1);
	place_remove(&place);
}

/* A replacement that was cut off leaves two files of one stream; the catalogue's is the one that counts. */
static void a_replacement_that_was_cut_off_is_cleared_away(void **state)
{
	struct lode_corpus_check_result result;
	struct lode_error error = { "" };
	struct lode_corpus *corpus;
	struct whole stream;
	struct place place;
	char path[160];

	(void)state;
	place_make(&place);
	whole_make(&stream, 1);
	assert_int_equal(lode_corpus_open(&corpus, place.corpus, LODE_CORPUS_CREATE, &error), 0);
	assert_int_equal(lode_corpus_add(corpus, id_of(1), "test", &stream.stream, 0, 1, &error), 1);
	lode_corpus_close(corpus);
	whole_release(&stream);
	whole_make(&stream, 2);
	snprintf(path, sizeof(path), "%s/streams/%s.2.lode", place.corpus, id_of(1));
	assert_int_equal(lode_store_write(path, 0666, &stream.stream, 1, &error), 0);
	whole_release(&stream);
	assert_int_equal(lode_corpus_check(place.corpus, 0, &result, NULL, NULL, &error), 0);
	assert_int_equal(result.leftovers, 1);
	assert_int_equal(result.files_without_row, 0);
	require_no_leftovers_after_repair(place.corpus);
	assert_int_not_equal(access(path, F_OK), 0);
	require_stream(place.corpus, id_of(1), 1);
	place_remove(&place);
}

/* `processes` at once, each importing every file, in its own order, into a corpus that is not there
 * yet. */
static void import_at_once(unsigned processes, unsigned files)
{
	struct place place;
	pid_t children[8];
	char path[8][96];

	place_make(&place);
	for (unsigned i = 0; i < files; i++) {
		snprintf(path[i], sizeof(path[i]), "%s/%u", place.folder, i);
		write_events(path[i], i);
	}
	for (unsigned child = 0; child < processes; child++) {
		struct lode_error error = { "" };

		children[child] = fork();
		assert_true(children[child] >= 0);
		if (children[child])
			continue;
		for (unsigned i = 0; i < files; i++) {
			if (import_file(path[(i + child) % files], NULL, place.corpus, &error) < 0) {
				fprintf(stderr, "%s\n", error.text);
				_exit(1);
			}
		}
		_exit(0);
	}
	for (unsigned child = 0; child < processes; child++)
		require_success(children[child]);
	require_sound_corpus(place.corpus);
	assert_int_equal(count_streams(place.corpus), files);
	require_no_leftovers_after_repair(place.corpus);
	assert_int_equal(count_streams(place.corpus), files);
	place_remove(&place);
}

static void two_imports_at_once_store_each_stream_once(void **state)
{
	(void)state;
	for (int round = 0; round < 5; round++) {
		import_at_once(2, 1);
		import_at_once(2, 6);
	}
}

static void four_imports_at_once_store_each_stream_once(void **state)
{
	(void)state;
	for (int round = 0; round < 5; round++) {
		import_at_once(4, 1);
		import_at_once(4, 6);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_import_that_is_killed_leaves_the_corpus_whole),
		cmocka_unit_test(a_replacement_that_was_cut_off_is_cleared_away),
		cmocka_unit_test(two_imports_at_once_store_each_stream_once),
		cmocka_unit_test(four_imports_at_once_store_each_stream_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
