/* Child: see child.h. */
#include "tasks/live/child.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* How long a command has for ending once Lode itself is asked to stop; it is left alone afterwards. */
#define PATIENCE   60000000u
#define LOOK_EVERY 10
/* Milliseconds between two looks whether Lode is asked to stop, while a command runs that is no longer recorded. */
#define AWAIT_EVERY 100

/* In the child: waits at the gate, then runs the command, or reports why it cannot. A gate that closes means: do not run it. */
static void become(const struct lode_host *host, int gate, int failure, char *const *words)
{
	char byte;
	int number;

	if (host->commands)
		host->commands->restore(host);
	if (read(gate, &byte, 1) != 1)
		_exit(127);
	execvp(words[0], words);
	number = errno;
	if (write(failure, &number, sizeof(number)) < 0)
		_exit(127);
	_exit(127);
}

static void tell_host(const struct lode_child *child, pid_t pid)
{
	if (child->host->commands)
		child->host->commands->started(pid);
}

int lode_child_prepare(struct lode_child *child, struct lode_host *host, char *const *words,
		       struct lode_error *error)
{
	int gate[2] = { -1, -1 }, failure[2] = { -1, -1 };

	*child = (struct lode_child){ .host = host };
	/* A socket, for writing to a pipe whose reader was killed raises SIGPIPE. */
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, gate) < 0 || pipe2(failure, O_CLOEXEC) < 0) {
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
		become(host, gate[0], failure[1], words);
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

	/* A child that was killed meanwhile is noticed by the code that waits for it. */
	if (send(child->gate, "", 1, MSG_NOSIGNAL) != 1)
		return 0;
	child->released = 1;
	tell_host(child, child->pid);
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
	pid_t pid = child->ended ? 0 : waitpid(child->pid, &child->status, WNOHANG);

	/* If SIGCHLD is ignored, its exit status is lost; we only know that it has ended. */
	if (pid == child->pid || (pid < 0 && errno == ECHILD)) {
		tell_host(child, 0);
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

/* Waits until it has ended, or until it had its time after a request to stop. */
static void await_end(struct lode_child *child)
{
	struct pollfd end = { child->exit_fd, POLLIN, 0 };
	uint64_t stopped = 0;

	while (!lode_child_has_ended(child)) {
		uint64_t now = lode_now();

		if (!stopped && child->host->stopped(child->host))
			stopped = now;
		if (stopped && now - stopped > PATIENCE)
			return;
		poll(&end, 1, LOOK_EVERY);
	}
}

void lode_child_await(struct lode_child *child, uint64_t until)
{
	struct pollfd end = { child->exit_fd, POLLIN, 0 };

	if (!child->released)
		return;
	while (!lode_child_has_ended(child) && !child->host->stopped(child->host) && (!until || lode_now() < until))
		poll(&end, 1, AWAIT_EVERY);
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

void lode_child_say(const struct lode_child *child, const struct lode_call *call)
{
	const char *word = call->operands[0];

	if (!child->ended)
		lode_call_say(call, LODE_YELLOW, "%s: still runs as process %ld after SIGTERM", word,
			      (long)child->pid);
	else if (WIFSIGNALED(child->status))
		lode_call_say(call, LODE_YELLOW, "%s: ended by signal %d", word, WTERMSIG(child->status));
	else if (WEXITSTATUS(child->status))
		lode_call_say(call, LODE_YELLOW, "%s: ended with exit status %d", word, WEXITSTATUS(child->status));
}
