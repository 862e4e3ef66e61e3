/*
 * Runs of lode bench: see bench_run.h. The child says through a pipe when it begins, so that neither the time of fork nor
 * that until this process has a processor again is measured, nor the CPU time of either; and then why it cannot, unless the pipe closes by itself
 * because the command is there.
 */
#include "cmd/bench_run.h"

#include "base/buffer.h"
#include "base/clock.h"
#include "base/memory.h"
#include "cmd/signals.h"
#include "tasks/command.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Milliseconds between two looks whether Lode is asked to stop, and whether a program is alone. */
#define LOOK_EVERY  100
#define ALONE_EVERY 1

/* ---- commands ---- */

static char *with_input(const char *command, const char *input)
{
	struct lode_buffer buffer = { 0 };
	const char *rest = command, *place;
	char *text;

	while (input && (place = strstr(rest, "{}"))) {
		lode_buffer_add(&buffer, rest, (size_t)(place - rest));
		lode_buffer_text(&buffer, input);
		rest = place + 2;
	}
	lode_buffer_text(&buffer, rest);
	if (input && rest == command) {
		lode_buffer_byte(&buffer, ' ');
		lode_buffer_text(&buffer, input);
	}
	lode_buffer_byte(&buffer, '\0');
	text = buffer.failed ? NULL : lode_strdup(buffer.bytes);
	lode_buffer_release(&buffer);
	return text;
}

static int needs_shell(const char *text)
{
	return text[strcspn(text, "|&;<>()$`\\\"'*?[]#~=%!{}\n")] != '\0';
}

/* The words point into `text`, whose blanks become ends of them. */
static void split(char *text, char **words)
{
	char *rest = text, *word;

	while ((word = strtok_r(rest, " \t", &rest)))
		*words++ = word;
	*words = NULL;
}

int lode_bench_program_make(struct lode_bench_program *program, const char *name, const char *command,
			    const char *input, struct lode_error *error)
{
	static char shell[] = "/bin/sh", option[] = "-c";

	*program = (struct lode_bench_program){ .name = name, .text = with_input(command, input) };
	program->copy = program->text ? lode_strdup(program->text) : NULL;
	program->words = program->copy ? lode_calloc(strlen(program->copy) + 4, sizeof(*program->words)) : NULL;
	if (!program->words)
		return lode_fail_memory(error);
	if (needs_shell(program->copy)) {
		program->words[0] = shell;
		program->words[1] = option;
		program->words[2] = program->copy;
		return 0;
	}
	split(program->copy, program->words);
	return program->words[0] ? 0 : lode_fail(error, LODE_USAGE, "bench: the command of %s is empty", name);
}

void lode_bench_program_release(struct lode_bench_program *program)
{
	lode_free(program->words);
	lode_free(program->copy);
	lode_free(program->text);
	*program = (struct lode_bench_program){ 0 };
}

int lode_bench_cpus(const char *text, cpu_set_t *cpus, struct lode_error *error)
{
	const char *rest = text;
	cpu_set_t allowed;

	CPU_ZERO(cpus);
	if (sched_getaffinity(0, sizeof(allowed), &allowed) < 0)
		return lode_fail(error, LODE_SYSTEM, "bench: which processors there are is not known: %s",
				 strerror(errno));
	do {
		char *end;
		unsigned long first = strtoul(rest, &end, 10), last = first;

		if (end == rest || *rest < '0' || *rest > '9')
			break;
		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		for (; first <= last && last < CPU_SETSIZE; first++) {
			if (!CPU_ISSET(first, &allowed))
				return lode_fail(
					error, LODE_USAGE,
					"bench: '--cpus %s': there is no processor %lu, or it may not be used",
					text, first);
			CPU_SET(first, cpus);
		}
		rest = end + (*end == ',');
	} while (*rest && rest[-1] == ',');
	if (*rest || !CPU_COUNT(cpus))
		return lode_fail(error, LODE_USAGE, "bench: '--cpus %s' is no list of processors such as '0-3,5'",
				 text);
	return 0;
}

/* ---- a run ---- */

/* What a child reports: once before it becomes the command, and once more if it cannot. */
struct start {
	uint64_t time;
	uint64_t cpu; /* ns that the child had taken until then, which is not the command's */
	int error;
};

static uint64_t own_cpu_time(void)
{
	struct timespec time = { 0 };

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* In the child. */
static void become(const struct lode_bench_program *program, const cpu_set_t *cpus, int reports)
{
	struct start start = { .error = 0 };
	int nothing = open("/dev/null", O_RDWR);

	lode_signals_restore();
	if (cpus)
		sched_setaffinity(0, sizeof(*cpus), cpus);
	if (nothing >= 0) {
		dup2(nothing, STDIN_FILENO);
		dup2(nothing, STDOUT_FILENO);
		dup2(nothing, STDERR_FILENO);
	}
	start.time = lode_now();
	start.cpu = own_cpu_time();
	if (write(reports, &start, sizeof(start)) < 0)
		_exit(127);
	execvp(program->words[0], program->words);
	start.error = errno;
	_exit(write(reports, &start, sizeof(start)) < 0 ? 126 : 127);
}

/* One thread, and no process that it started. */
static int is_alone(pid_t pid)
{
	char path[64], byte;
	struct stat tasks;
	int fd, alone;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	if (stat(path, &tasks) == 0 && tasks.st_nlink > 3)
		return 0;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	alone = fd < 0 || read(fd, &byte, 1) <= 0;
	if (fd >= 0)
		close(fd);
	return alone;
}

static uint64_t nanoseconds(const struct timeval *time)
{
	return (uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_usec * 1000u;
}

/* Waits for its end, unless Lode is asked to stop: then it is ended. */
static int await(const struct lode_bench_program *program, pid_t pid, const struct start *start, int looks,
		 struct lode_bench_run *run, struct lode_error *error)
{
	struct pollfd end = { .fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN };
	struct rusage usage;
	int status;

	run->alone = looks;
	while (end.fd >= 0 && poll(&end, 1, looks ? ALONE_EVERY : LOOK_EVERY) <= 0) {
		if (lode_signals_stop())
			kill(pid, SIGTERM);
		run->alone = run->alone && is_alone(pid);
	}
	while (wait4(pid, &status, 0, &usage) < 0 && errno == EINTR)
		;
	run->time = lode_now() - start->time;
	run->cpu = nanoseconds(&usage.ru_utime) + nanoseconds(&usage.ru_stime);
	run->cpu -= start->cpu < run->cpu ? start->cpu : run->cpu;
	lode_signals_command(0);
	if (end.fd >= 0)
		close(end.fd);
	if (lode_signals_stop())
		return LODE_STOPPED(lode_signals_stop());
	if (WIFSIGNALED(status))
		return lode_fail(error, LODE_BAD_INPUT, "bench: %s was ended by signal %d: %s", program->name,
				 WTERMSIG(status), program->text);
	if (WEXITSTATUS(status))
		return lode_fail(
			error, LODE_BAD_INPUT,
			"bench: %s ended with %d, so its time says nothing: %s; run it by hand to see why",
			program->name, WEXITSTATUS(status), program->text);
	return 0;
}

int lode_bench_run(const struct lode_bench_program *program, const cpu_set_t *cpus, int looks,
		   struct lode_bench_run *run, struct lode_error *error)
{
	struct start starts[2] = { { 0 } };
	int reports[2];
	size_t size = 0;
	ssize_t got;
	pid_t pid;

	if (pipe2(reports, O_CLOEXEC) < 0)
		return lode_fail(error, LODE_SYSTEM, "bench: %s cannot be started: %s", program->name,
				 strerror(errno));
	pid = fork();
	if (pid == 0)
		become(program, cpus, reports[1]);
	close(reports[1]);
	if (pid < 0) {
		close(reports[0]);
		return lode_fail(error, LODE_SYSTEM, "bench: %s cannot be started: %s", program->name,
				 strerror(errno));
	}
	lode_signals_command((int)pid);
	while (size < sizeof(starts) && ((got = read(reports[0], (char *)starts + size, sizeof(starts) - size)) > 0 ||
					 (got < 0 && errno == EINTR)))
		size += got > 0 ? (size_t)got : 0;
	close(reports[0]);
	if (!size)
		starts[0].time = lode_now();
	if (size < sizeof(starts))
		return await(program, pid, &starts[0], looks, run, error);
	waitpid(pid, NULL, 0);
	lode_signals_command(0);
	return lode_fail(error, LODE_USAGE, "bench: %s cannot be started: %s: %s", program->name,
			 program->words[0], strerror(starts[1].error));
}
