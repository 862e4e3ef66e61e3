/* Work on hostile input in a separate process: see bounded.h. */
#include "bounded.h"

#include "cmocka_all.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* What the child sends back. */
struct answer {
	int code;
	struct lode_error error;
};

static void work_in_child(int (*work)(const char *, struct lode_error *), const char *path, unsigned seconds,
			  int to)
{
	struct answer answer = { 0 };

	alarm(seconds); /* ends the process */
	answer.code = work(path, &answer.error);
	_exit(write(to, &answer, sizeof(answer)) == (ssize_t)sizeof(answer) ? 0 : 1);
}

void require_bounded(int (*work)(const char *path, struct lode_error *error), const char *path, int code,
		     const char *words, unsigned seconds, long mebibytes)
{
	struct answer answer = { 0 };
	struct rusage usage;
	int ends[2], status;
	pid_t child;

	assert_int_equal(pipe(ends), 0);
	child = fork();
	assert_true(child >= 0);
	if (!child)
		work_in_child(work, path, seconds, ends[1]);
	close(ends[1]);
	assert_int_equal(wait4(child, &status, 0, &usage), child);
	if (WIFSIGNALED(status))
		fail_msg("%s: %s", path,
			 WTERMSIG(status) == SIGALRM ? "takes too long" : strsignal(WTERMSIG(status)));
	assert_int_equal(read(ends[0], &answer, sizeof(answer)), sizeof(answer));
	close(ends[0]);
	if (answer.code != code || (code < 0 && !strstr(answer.error.text, words)))
		fail_msg("%s: result %d, '%s'", path, answer.code, answer.error.text);
	if (!BOUNDED_SANITIZED && usage.ru_maxrss / 1024 > mebibytes)
		fail_msg("%s: takes %ld MiB", path, usage.ru_maxrss / 1024);
}
