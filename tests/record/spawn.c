/*
 * Starts other programs in the two ways in which a parent waits in the kernel for its
 * child to become another program: vfork() and posix_spawn(). In the C library both are
 * assembly with stacks of a kind of their own. With a number, it starts as many processes as it can for so many seconds, twice.
 */
#include <spawn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static volatile int sum; /* so that calls are not the last thing that functions do */

static __attribute__((noinline)) int start_by_vfork(void)
{
	struct timespec time = { 0, 20000000 };
	pid_t child = vfork();

	if (child == 0) {
		nanosleep(&time, NULL);
		_exit(0);
	}
	sum++;
	return child;
}

static __attribute__((noinline)) int start_by_spawn(void)
{
	char name[] = "true";
	char *const words[] = { name, NULL };
	pid_t child = -1;

	if (posix_spawn(&child, "/bin/true", NULL, NULL, words, environ))
		return -1;
	sum++;
	return child;
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static __attribute__((noinline)) pid_t start_and_end(void)
{
	pid_t child = vfork();

	if (child == 0)
		_exit(0);
	return child;
}

/* Processes that end at once, one after the other, for twice so many seconds; writes how many there were each time. */
static int start_many(double seconds)
{
	for (int half = 0; half < 2; half++) {
		double end = now() + seconds;
		int count = 0;

		for (; now() < end; count++) {
			if (waitpid(start_and_end(), NULL, 0) < 0)
				return 1;
		}
		printf("%d\n", count);
		fflush(stdout);
	}
	sleep(1);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 1)
		return start_many(strtod(argv[1], NULL));
	for (int i = 0; i < 5; i++)
		if (waitpid(start_by_vfork(), NULL, 0) < 0 || waitpid(start_by_spawn(), NULL, 0) < 0)
			return 1;
	return 0;
}
