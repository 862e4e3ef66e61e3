/* Sending in a process of its own: see push_process.h. */
#include "cmd/push_process.h"

#include "base/starts_with.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SEND_PATIENCE "10s"

extern char **environ;

int lode_push_process_check(const char *url, struct lode_error *error)
{
#ifndef LODE_HAVE_PUSH
	return lode_fail(error, LODE_SYSTEM,
			 "--push %s: this lode was built without 'push', since libcurl was missing", url);
#endif
	if (!lode_starts_with(url, "http://") && !lode_starts_with(url, "https://") &&
	    !lode_starts_with(url, "unix:"))
		return lode_fail(error, LODE_USAGE,
				 "--push %s: is not the address of a collector, such as http://HOST:7070", url);
	return 0;
}

/* In a group of its own: Ctrl-C is for who records. Its output goes nowhere; what goes wrong is seen by its status. */
static pid_t start(const char *const *words, struct lode_error *error)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t how;
	sigset_t all, none;
	pid_t process;
	int number;

	sigfillset(&all);
	sigemptyset(&none);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawnattr_init(&how);
	posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
	posix_spawnattr_setsigdefault(&how, &all);
	posix_spawnattr_setsigmask(&how, &none);
	number = posix_spawn(&process, "/proc/self/exe", &files, &how, (char *const *)(uintptr_t)words, environ);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&how);
	return number ? lode_fail(error, LODE_SYSTEM, "cannot start 'lode push': %s", strerror(number)) : process;
}

static int await(pid_t process)
{
	int status;

	while (waitpid(process, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

pid_t lode_push_process_follow(const char *corpus, const char *url, struct lode_error *error)
{
	const char *const words[] = { "lode", "push", "--quiet", "--follow", "--", corpus, url, NULL };

	return start(words, error);
}

void lode_push_process_end(pid_t process)
{
	kill(process, SIGTERM);
	await(process);
}

int lode_push_process_send(const char *corpus, const char *url, struct lode_error *error)
{
	const char *const words[] = { "lode", "push", "--quiet", "--patience", SEND_PATIENCE,
				      "--",   corpus, url,       NULL };
	pid_t process = start(words, error);

	if (process < 0)
		return process;
	return await(process) == 0
		       ? 0
		       : lode_fail(error, LODE_SYSTEM,
				   "not all streams could be sent; 'lode push %s %s' tries again", corpus, url);
}
