/* Cases of threads, of processes that live for a moment, and of libraries that come and go. */
#include "cases.h"
#include "library.h"
#include "truth.h"

#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#ifndef TRUTH_STATIC
#include <dlfcn.h>
#include <libgen.h>
#endif

extern char **environ;

#define THREADS            4
#define CHILDREN           200
#define CHILDREN_AT_A_TIME 2

static void fail(const char *sentence)
{
	fprintf(stderr, "truth: %s\n", sentence);
	_exit(3);
}

/* ---- threads ---- */

TRUTH_FUNCTION void *truth_thread(void *argument)
{
	truth_start(__func__);
	for (unsigned i = 0; i < 6; i++)
		truth_recurse(5 + i, 3);
	return argument;
}

void truth_case_threads(void)
{
	pthread_t threads[THREADS];

	truth_push(__func__);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, truth_thread, NULL) != 0)
			fail("no thread");
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	truth_pop();
}

#define TURNS 200

static int to_waker[2], to_main[2];

TRUTH_FUNCTION void truth_send(int fd)
{
	uint64_t began;

	truth_push(__func__);
	began = truth_begin();
	if (write(fd, "", 1) != 1)
		fail("no writing");
	truth_end(began);
	truth_pop();
}

TRUTH_FUNCTION void truth_receive(int fd)
{
	uint64_t began;
	char byte;

	truth_push(__func__);
	began = truth_begin();
	if (read(fd, &byte, 1) != 1)
		fail("no reading");
	truth_end(began);
	truth_pop();
}

TRUTH_FUNCTION void *truth_waker(void *argument)
{
	truth_start(__func__);
	for (int i = 0; i < TURNS; i++) {
		truth_receive(to_waker[0]);
		truth_send(to_main[1]);
	}
	return argument;
}

/* Two threads that wake each other: the wakers have their windows, too. */
void truth_case_wakers(void)
{
	pthread_t thread;

	truth_push(__func__);
	if (pipe(to_waker) < 0 || pipe(to_main) < 0 || pthread_create(&thread, NULL, truth_waker, NULL) != 0)
		fail("no pipe or thread");
	for (int i = 0; i < TURNS; i++) {
		truth_send(to_waker[1]);
		truth_receive(to_main[0]);
	}
	pthread_join(thread, NULL);
	truth_pop();
}

/* ---- processes ---- */

/* Shares the memory of its parent, which waits: it notes for both. */
TRUTH_FUNCTION void truth_vfork(void)
{
	pid_t pid;

	truth_push(__func__);
	pid = vfork();
	if (pid < 0)
		fail("no process");
	if (!pid) {
		truth_linger();
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	truth_pop();
}

void truth_case_vfork(void)
{
	truth_push(__func__);
	for (int i = 0; i < 30; i++)
		truth_vfork();
	truth_pop();
}

TRUTH_FUNCTION void truth_fork(void)
{
	pid_t pid;

	truth_push(__func__);
	pid = fork();
	if (pid < 0)
		fail("no process");
	if (!pid) {
		truth_forget();
		truth_linger();
		truth_write();
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	truth_pop();
}

void truth_case_fork(void)
{
	truth_push(__func__);
	for (int i = 0; i < 40; i++)
		truth_fork();
	truth_pop();
}

/* What a child of `spawn` does; no case of its own. */
void truth_case_child(void)
{
	truth_push(__func__);
	truth_recurse(4, 2);
	truth_pop();
}

/* The child is this program, asked for its case `child`. While it is started the parent waits in the C library. */
TRUTH_FUNCTION pid_t truth_spawn(char *const *words)
{
	uint64_t began;
	pid_t pid;

	truth_push(__func__);
	began = truth_begin();
	if (posix_spawn(&pid, "/proc/self/exe", NULL, NULL, words, environ) != 0)
		fail("no process");
	truth_end(began);
	truth_pop();
	return pid;
}

/* Where the log is: the first argument of this process. */
static char *own_log(void)
{
	static char words[4096];
	FILE *file = fopen("/proc/self/cmdline", "r");
	size_t size = file ? fread(words, 1, sizeof(words) - 1, file) : 0;
	char *second = words + strlen(words) + 1;

	if (file)
		fclose(file);
	if ((size_t)(second - words) >= size)
		fail("no command line");
	return second;
}

void truth_case_spawn(void)
{
	char program[] = "truth", name[] = "child";
	char *words[] = { program, own_log(), name, NULL };

	truth_push(__func__);
	for (int i = 0; i < CHILDREN; i++) {
		truth_spawn(words);
		if (i >= CHILDREN_AT_A_TIME - 1)
			wait(NULL);
	}
	while (wait(NULL) > 0)
		;
	truth_pop();
}

/* ---- libraries ---- */

#ifndef TRUTH_STATIC

static volatile unsigned kept;

/* Calls a library all the time through the procedure linkage table. */
TRUTH_FUNCTION void truth_calls_library(unsigned number)
{
	uint64_t began;

	truth_push(__func__);
	began = truth_begin();
	for (unsigned i = 0; i < 200000; i++)
		number = truth_library_step(number);
	kept += number;
	truth_end(began);
	truth_pop();
}

/* Functions of the program on top of one of the library. */
void truth_case_plt(void)
{
	truth_push(__func__);
	for (unsigned i = 0; i < 100; i++)
		truth_calls_library(i);
	truth_push("libtruth_linked.so!truth_library_call");
	for (int i = 0; i < 20; i++)
		truth_library_call(truth_linger);
	truth_pop();
	truth_pop();
}

/* Two libraries in turn: the second is mapped where the first one was. */
TRUTH_FUNCTION void truth_opens(const char *folder, int which)
{
	char path[4200];
	void (*call)(void (*inside)(void));
	void *library;

	truth_push(__func__);
	snprintf(path, sizeof(path), "%s/truth_opened_%s.so", folder, which ? "second" : "first");
	library = dlopen(path, RTLD_NOW);
	call = library ? (void (*)(void (*)(void)))(uintptr_t)dlsym(library, "truth_library_call") : NULL;
	if (!call)
		fail(dlerror());
	truth_push(which ? "truth_opened_second.so!truth_library_call"
			 : "truth_opened_first.so!truth_library_call");
	call(truth_linger);
	truth_pop();
	dlclose(library);
	truth_pop();
}

void truth_case_dlopen(void)
{
	char path[4096];
	ssize_t size = readlink("/proc/self/exe", path, sizeof(path) - 1);
	char *folder;

	if (size < 0)
		fail("the program does not know where it is");
	path[size] = '\0';
	folder = dirname(path);
	truth_push(__func__);
	for (int i = 0; i < 40; i++)
		truth_opens(folder, i % 2);
	truth_pop();
}

#endif
