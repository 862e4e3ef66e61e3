/*
 * Starts other programs in the two ways in which a parent waits in the kernel for its
 * child to become another program: vfork() and posix_spawn(). In the C library both are
 * assembly with stacks of a kind of their own.
 */
#include <spawn.h>
#include <stddef.h>
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

int main(void)
{
	for (int i = 0; i < 5; i++)
		if (waitpid(start_by_vfork(), NULL, 0) < 0 || waitpid(start_by_spawn(), NULL, 0) < 0)
			return 1;
	return 0;
}
