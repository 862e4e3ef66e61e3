/* Child: see child.h. */
#include "cmd/child.h"

#include "cmd/progress.h"
#include "cmd/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* How long a command has for ending once Lode itself is asked to stop; it is left alone afterwards. */
#define PATIENCE   60000000u
#define LOOK_EVERY 10

/* In the child: waits at the gate, then becomes the command; tells why not. A gate that closes means no. */
static void become(int gate, int failure, char *const *words)
{
	char byte;
	int number;

	lode_signals_restore();
	if (read(gate, &byte, 1) != 1)
		_exit(127);
	execvp(words[0], words);
	number = errno;
	if (write(failure, &number, sizeof(number)) < 0)
		_exit(127);
	_exit(127);
}

int lode_child_prepare(struct lode_child *child, char *const *words, struct lode_error *error)
{
	int gate[2] = { -1, -1 }, failure[2] = { -1, -1 };

	memset(child, 0, sizeof(*child));
	if (pipe2(gate, O_CLOEXEC) < 0 || pipe2(failure, O_CLOEXEC) < 0) {
		if (gate[0] >= 0) {
			close(gate[0]);
			close(gate[1]);
		}
		return lode_fail(error, LODE_SYSTEM, "%s: cannot be started: %s", words[0], strerror(errno));
	}
	child->pid = fork();
	if (child->pid == 0) {
		close(gate[1]);
		close(failure[0]);
		become(gate[0], failure[1], words);
	}
	close(gate[0]);
	close(failure[1]);
	child->gate = gate[1];
	child->failure = failure[0];
	if (child->pid < 0) {
		close(child->gate);
		close(child->failure);
		return lode_fail(error, LODE_SYSTEM, "%s: cannot be started: %s", words[0], strerror(errno));
	}
	child->exit_fd = (int)syscall(SYS_pidfd_open, child->pid, 0);
	return 0;
}

int lode_child_release(struct lode_child *child, char *const *words, struct lode_error *error)
{
	int number;
	ssize_t size;

	/* A child that was killed meanwhile is noticed by whoever waits for it. */
	if (write(child->gate, "", 1) != 1)
		return 0;
	child->released = 1;
	lode_signals_command(child->pid);
	close(child->gate);
	child->gate = -1;
	/* The descriptor closes when the command begins; before, there is nothing but a failure to read. */
	do {
		size = read(child->failure, &number, sizeof(number));
	} while (size < 0 && errno == EINTR);
	if (size != (ssize_t)sizeof(number))
		return 0;
	return lode_fail(error, LODE_USAGE, "%s: cannot be started: %s", words[0], strerror(number));
}

int lode_child_has_ended(struct lode_child *child)
{
	if (!child->ended && waitpid(child->pid, &child->status, WNOHANG) == child->pid) {
		lode_signals_command(0);
		child->ended = 1;
	}
	return child->ended;
}

static void close_once(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* Waits until it has ended, or until it had its time after a wish to stop. */
static void await_end(struct lode_child *child)
{
	struct pollfd end = { child->exit_fd, POLLIN, 0 };
	uint64_t stopped = 0;

	while (!lode_child_has_ended(child)) {
		uint64_t now = lode_now();

		if (!stopped && lode_signals_stop())
			stopped = now;
		if (stopped && now - stopped > PATIENCE)
			return;
		poll(&end, 1, LOOK_EVERY);
	}
}

void lode_child_finish(struct lode_child *child)
{
	if (child->finished)
		return;
	child->finished = 1;
	if (!lode_child_has_ended(child)) {
		kill(child->pid, child->released ? SIGTERM : SIGKILL);
		await_end(child);
	}
	close_once(&child->gate);
	close_once(&child->failure);
	close_once(&child->exit_fd);
}

void lode_child_say(const struct lode_child *child, const char *word, const struct lode_terminal *err)
{
	if (!child->ended)
		lode_say(err, LODE_YELLOW, "%s: goes on as process %ld, though it was asked to end", word,
			 (long)child->pid);
	else if (WIFSIGNALED(child->status))
		lode_say(err, LODE_YELLOW, "%s: ended by signal %d", word, WTERMSIG(child->status));
	else if (WEXITSTATUS(child->status))
		lode_say(err, LODE_YELLOW, "%s: ended with exit status %d", word, WEXITSTATUS(child->status));
}
