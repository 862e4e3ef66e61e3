/* Outputs: complete or not there at all; devices and pipes are written straight. */
#include "cmocka_all.h"
#include "temporary.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/output.h"
#include "base/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct fixture {
	char folder[64];
	char path[96];
	char link[96];
};

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	if (!fixture)
		return -1;
	if (temporary_folder(fixture->folder, sizeof(fixture->folder)) < 0)
		return -1;
	snprintf(fixture->path, sizeof(fixture->path), "%s/result", fixture->folder);
	snprintf(fixture->link, sizeof(fixture->link), "%s/link", fixture->folder);
	*state = fixture;
	return 0;
}

/* The folder must be empty except what the test itself made. */
static int tear_down(void **state)
{
	struct fixture *fixture = *state;
	int code;

	unlink(fixture->path);
	unlink(fixture->link);
	code = rmdir(fixture->folder);
	free(fixture);
	return code;
}

static void put(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void assert_holds(const char *path, const char *text)
{
	char bytes[256] = "";
	FILE *file = fopen(path, "r");

	assert_non_null(file);
	assert_true(fread(bytes, 1, sizeof(bytes) - 1, file) < sizeof(bytes));
	fclose(file);
	assert_string_equal(bytes, text);
}

static void a_file_appears_only_when_it_is_finished(void **state)
{
	struct fixture *fixture = *state;
	struct lode_output output;
	struct lode_error error;

	assert_int_equal(lode_output_open(&output, fixture->path, &error), 0);
	lode_buffer_text(&output.buffer, "new");
	assert_int_equal(lode_output_flush(&output, &error), 0);
	assert_int_not_equal(access(fixture->path, F_OK), 0);
	lode_buffer_text(&output.buffer, "er");
	assert_int_equal(lode_output_finish(&output, &error), 0);
	assert_holds(fixture->path, "newer");
}

static void giving_up_leaves_what_was_there(void **state)
{
	struct fixture *fixture = *state;
	struct lode_output output;
	struct lode_error error;

	put(fixture->path, "old");
	assert_int_equal(lode_output_open(&output, fixture->path, &error), 0);
	lode_buffer_text(&output.buffer, "new");
	assert_int_equal(lode_output_flush(&output, &error), 0);
	lode_output_abandon(&output);
	assert_holds(fixture->path, "old");
}

static void a_link_is_followed_and_a_private_file_stays_private(void **state)
{
	struct fixture *fixture = *state;
	struct lode_output output;
	struct lode_error error;
	struct stat status;

	put(fixture->path, "old");
	assert_int_equal(chmod(fixture->path, 0600), 0);
	assert_int_equal(symlink(fixture->path, fixture->link), 0);
	assert_int_equal(lode_output_open(&output, fixture->link, &error), 0);
	lode_buffer_text(&output.buffer, "new");
	assert_int_equal(lode_output_finish(&output, &error), 0);
	assert_holds(fixture->path, "new");
	assert_int_equal(lstat(fixture->link, &status), 0);
	assert_true(S_ISLNK(status.st_mode));
	assert_int_equal(stat(fixture->path, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0600);
}

static void a_link_in_a_corpus_is_replaced(void **state)
{
	struct fixture *fixture = *state;
	struct lode_output output;
	struct lode_error error;
	struct stat status;

	put(fixture->path, "precious");
	assert_int_equal(symlink(fixture->path, fixture->link), 0);
	assert_int_equal(lode_output_replace(&output, fixture->link, &error), 0);
	lode_buffer_text(&output.buffer, "new");
	assert_int_equal(lode_output_finish(&output, &error), 0);
	assert_holds(fixture->path, "precious");
	assert_holds(fixture->link, "new");
	assert_int_equal(lstat(fixture->link, &status), 0);
	assert_true(S_ISREG(status.st_mode));
	/* A pipe is not waited for. */
	assert_int_equal(unlink(fixture->link), 0);
	assert_int_equal(mkfifo(fixture->link, 0600), 0);
	assert_int_equal(lode_output_replace(&output, fixture->link, &error), 0);
	assert_int_equal(lode_output_finish(&output, &error), 0);
	assert_holds(fixture->link, "");
}

static void a_device_stays_a_device(void **state)
{
	struct lode_output output;
	struct lode_error error;
	struct stat status;

	(void)state;
	assert_int_equal(lode_output_open(&output, "/dev/null", &error), 0);
	lode_buffer_text(&output.buffer, "gone");
	assert_int_equal(lode_output_finish(&output, &error), 0);
	assert_int_equal(stat("/dev/null", &status), 0);
	assert_true(S_ISCHR(status.st_mode));
}

static void a_folder_and_a_missing_folder_are_errors(void **state)
{
	struct fixture *fixture = *state;
	struct lode_output output;
	struct lode_error error;

	assert_int_equal(lode_output_open(&output, fixture->folder, &error), LODE_USAGE);
	assert_non_null(strstr(error.text, "is a folder; name a file"));
	assert_int_equal(lode_output_open(&output, "/nowhere/at/all/x", &error), LODE_SYSTEM);
	assert_non_null(strstr(error.text, "/nowhere/at/all/x"));
}

static void a_pipe_that_nobody_reads_is_an_error_and_says_so(void **state)
{
	struct lode_output output;
	struct lode_error error;
	int ends[2];

	(void)state;
	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(pipe(ends), 0);
	close(ends[0]);
	assert_int_equal(lode_output_descriptor(&output, ends[1], "standard output", &error), 0);
	lode_buffer_text(&output.buffer, "hello");
	assert_int_equal(lode_output_flush(&output, &error), LODE_SYSTEM);
	assert_true(output.closed_pipe);
	assert_non_null(strstr(error.text, "standard output"));
	lode_output_abandon(&output);
	assert_true(output.closed_pipe);
	assert_int_equal(fcntl(ends[1], F_GETFD) >= 0, 1); /* the caller's, not closed */
	close(ends[1]);
}

static void what_is_written_leaves_in_pieces(void **state)
{
	struct fixture *fixture = *state;
	struct lode_output output;
	struct lode_error error;
	size_t most = 0;
	struct stat status;

	assert_int_equal(lode_output_open(&output, fixture->path, &error), 0);
	for (int i = 0; i < 1000000; i++) {
		lode_buffer_text(&output.buffer, "0123456789");
		assert_int_equal(lode_output_flow(&output, &error), 0);
		most = output.buffer.capacity > most ? output.buffer.capacity : most;
	}
	assert_true(most <= 2 * LODE_OUTPUT_PIECE);
	assert_int_equal(lode_output_finish(&output, &error), 0);
	assert_int_equal(stat(fixture->path, &status), 0);
	assert_int_equal(status.st_size, 10000000);
}

static void every_failure_on_the_way_leaves_the_old_file_and_no_other(void **state)
{
	struct fixture *fixture = *state;
	struct lode_error error;
	int failures = 0;

	for (uint64_t nth = 1; nth < 20; nth++) {
		for (int memory = 0; memory < 2; memory++) {
			struct lode_output output;
			int code;

			put(fixture->path, "old");
			if (memory)
				lode_memory_fail_at(nth, 0);
			else
				lode_file_fail_at(nth, 0, EIO);
			code = lode_output_open(&output, fixture->path, &error);
			if (code == 0) {
				lode_buffer_text(&output.buffer, "new");
				code = lode_output_finish(&output, &error);
			}
			lode_memory_fail_at(0, 0);
			lode_file_fail_at(0, 0, 0);
			failures += code < 0;
			if (code == 0)
				assert_holds(fixture->path, "new");
			else if (memory || nth <= 5) /* later than the rename: opening and syncing the folder */
				assert_holds(fixture->path, "old");
		}
	}
	assert_true(failures > 8);
}

/* A process that shares the pipe has made it non-blocking. */
static void a_pipe_that_does_not_wait_is_waited_for(void **state)
{
	const size_t size = 1 << 20;
	struct lode_error error;
	char *bytes = malloc(size), piece[1000];
	size_t got = 0;
	int ends[2];
	pid_t child;

	(void)state;
	assert_non_null(bytes);
	assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
	child = fork();
	if (!child) {
		memset(bytes, 'x', size);
		_exit(lode_file_write(ends[1], bytes, size, "pipe", NULL) < 0);
	}
	close(ends[1]);
	for (ssize_t read = 1; read > 0; got += (size_t)read) {
		read = lode_file_read(ends[0], piece, sizeof(piece), "pipe", &error);
		assert_true(read >= 0);
	}
	assert_int_equal(got, size);
	assert_int_equal(waitpid(child, &ends[1], 0), child);
	assert_int_equal(ends[1], 0);
	close(ends[0]);
	free(bytes);
}

/* Without a name from the start, or (the first operation fails) with one that is gone at once. */
static void a_scratch_file_has_no_name(void **state)
{
	struct fixture *fixture = *state;
	struct lode_error error;
	struct stat status;

	setenv("TMPDIR", fixture->folder, 1);
	for (uint64_t failing = 0; failing < 2; failing++) {
		int fd;

		lode_file_fail_at(failing, 0, EOPNOTSUPP);
		fd = lode_scratch_open(&error);
		lode_file_fail_at(0, 0, 0);
		assert_true(fd >= 0);
		assert_int_equal(fstat(fd, &status), 0);
		assert_int_equal(status.st_nlink, 0);
		assert_int_equal(write(fd, "x", 1), 1);
		assert_int_equal(close(fd), 0);
	}
	lode_file_fail_at(1, 1, EIO);
	assert_int_equal(lode_scratch_open(&error), LODE_SYSTEM);
	lode_file_fail_at(0, 0, 0);
	assert_non_null(strstr(error.text, fixture->folder));
	unsetenv("TMPDIR");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
		TEST(a_file_appears_only_when_it_is_finished),
		TEST(giving_up_leaves_what_was_there),
		TEST(a_link_is_followed_and_a_private_file_stays_private),
		TEST(a_link_in_a_corpus_is_replaced),
		TEST(a_device_stays_a_device),
		TEST(a_folder_and_a_missing_folder_are_errors),
		TEST(a_pipe_that_nobody_reads_is_an_error_and_says_so),
		TEST(what_is_written_leaves_in_pieces),
		TEST(every_failure_on_the_way_leaves_the_old_file_and_no_other),
		TEST(a_pipe_that_does_not_wait_is_waited_for),
		TEST(a_scratch_file_has_no_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
