/*
 * Pager: see pager.h. The program runs through the shell, as $PAGER may hold
 * options; less gets the options that keep colours and leave short texts alone.
 */
#include "cmd/pager.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static const char *pager_command(void)
{
	const char *command = getenv("LODE_PAGER");

	if (!command)
		command = getenv("PAGER");
	if (!command)
		command = "less";
	return *command && strcmp(command, "cat") ? command : NULL;
}

/* Starts it with a pipe as its input; returns the pipe's other end or -1. */
static int start(const char *command, pid_t *child)
{
	const char *arguments[] = { "sh", "-c", command, NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t signals;
	int ends[2];
	int failed;

	if (pipe(ends) < 0)
		return -1;
	setenv("LESS", "FRX", 0);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
	posix_spawn_file_actions_addclose(&actions, ends[0]);
	posix_spawn_file_actions_addclose(&actions, ends[1]);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
	sigemptyset(&signals);
	posix_spawnattr_setsigmask(&attributes, &signals);
	sigaddset(&signals, SIGPIPE);
	posix_spawnattr_setsigdefault(&attributes, &signals);
	failed = posix_spawn(child, "/bin/sh", &actions, &attributes, (char *const *)(uintptr_t)arguments, environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	close(ends[0]);
	if (!failed)
		return ends[1];
	close(ends[1]);
	return -1;
}

/* Whether the shell ran it: 127 is its word for a program that is not there. */
static int was_shown(pid_t child)
{
	int status = 0;

	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return !(WIFEXITED(status) && (WEXITSTATUS(status) == 127 || WEXITSTATUS(status) == 126));
}

int lode_pager_show(const char *bytes, size_t size)
{
	const char *command = pager_command();
	void (*before)(int);
	pid_t child;
	int fd = command ? start(command, &child) : -1;

	if (fd < 0)
		return 0;
	/* A person who leaves early closes the pipe, which is no failure. */
	before = signal(SIGPIPE, SIG_IGN);
	while (size) {
		ssize_t written = write(fd, bytes, size);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			break;
		bytes += written;
		size -= (size_t)written;
	}
	close(fd);
	signal(SIGPIPE, before);
	return was_shown(child);
}
