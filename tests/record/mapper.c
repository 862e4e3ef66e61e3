/*
 * Maps its own file again and again, as servers do that send files, and meanwhile opens one library after the other and
 * starts another program. Writes when each of that began and ended, in nanoseconds of CLOCK_MONOTONIC.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile int sum; /* so that calls are not the last thing that functions do */

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static __attribute__((noinline)) void map_files(const char *path)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);

	for (;;) {
		void *bytes = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE, file, 0);

		if (bytes == MAP_FAILED || munmap(bytes, 8192) < 0)
			exit(1);
	}
}

static void begin(const char *name)
{
	printf("%s %llu ", name, (unsigned long long)now());
}

static void end(void)
{
	printf("%llu\n", (unsigned long long)now());
	fflush(stdout);
}

/* Returns the page where the library was. */
static __attribute__((noinline)) uintptr_t work_in(const char *folder, const char *name, double seconds)
{
	char path[4096];
	void *library, *symbol;
	void (*work)(double);

	snprintf(path, sizeof(path), "%s/%s.so", folder, name);
	library = dlopen(path, RTLD_NOW);
	symbol = library ? dlsym(library, "work") : NULL;
	if (!symbol) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	memcpy(&work, &symbol, sizeof(work));
	begin(name);
	work(seconds);
	end();
	dlclose(library);
	sum++;
	return (uintptr_t)symbol & ~(uintptr_t)4095;
}

static __attribute__((noinline)) void work_of_child(void)
{
	for (uint64_t last = now() + 1500000000u; now() < last;)
		sum++;
}

/* mapper FOLDER WAIT: where the libraries are, and for how many seconds nothing but mapping is done at first; mapper alone is the child. */
int main(int argc, char **argv)
{
	pid_t mapping, child;
	uintptr_t first;
	int status;

	if (argc < 3) {
		work_of_child();
		return 0;
	}
	mapping = fork();
	if (mapping == 0)
		map_files(argv[0]);
	sleep((unsigned)atoi(argv[2]));
	first = work_in(argv[1], "first", 1.5);
	printf("replaced %d\n", first == work_in(argv[1], "second", 9));
	begin("child");
	fflush(stdout);
	child = fork();
	if (child == 0) {
		execl(argv[0], argv[0], (char *)NULL);
		_exit(127);
	}
	waitpid(child, &status, 0);
	end();
	kill(mapping, SIGKILL);
	return !WIFEXITED(status) || WEXITSTATUS(status) || sum < 0;
}
