/*
 * Threads that wait for locks of the kernel:
 *
 *	kernel_locks FOLDER MILLISECONDS
 *
 * `mapper` maps and unmaps much memory, which holds the process's mmap_lock for long, `small` little, and waits for it.
 * Threads called `namer` make and remove files in one folder, whose semaphore all of them need.
 */
#include "truth.h"

#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define NAMERS 6
#define LARGE  (96u << 20)

static uint64_t until;
static const char *folder;

static void *map_much(void *unused)
{
	(void)unused;
	pthread_setname_np(pthread_self(), "mapper");
	while (now() < until) {
		char *memory = mmap(NULL, LARGE, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

		must(memory != MAP_FAILED, "mmap");
		mprotect(memory, LARGE, PROT_READ); /* the whole of it under the lock, as is munmap */
		munmap(memory, LARGE);
	}
	return NULL;
}

static void *map_little(void *unused)
{
	(void)unused;
	pthread_setname_np(pthread_self(), "small");
	while (now() < until) {
		void *memory = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		must(memory != MAP_FAILED, "mmap");
		munmap(memory, 65536);
	}
	return NULL;
}

static void *make_names(void *number)
{
	char path[4096];

	pthread_setname_np(pthread_self(), "namer");
	snprintf(path, sizeof(path), "%s/file%lu", folder, (unsigned long)(uintptr_t)number);
	while (now() < until) {
		int file = open(path, O_CREAT | O_WRONLY, 0600);

		must(file >= 0, path);
		close(file);
		unlink(path);
	}
	return NULL;
}

int main(int count, char **arguments)
{
	pthread_t threads[NAMERS + 2];

	must(count == 3, "kernel_locks FOLDER MILLISECONDS");
	folder = arguments[1];
	until = now() + strtoull(arguments[2], NULL, 10) * 1000000;
	must(!pthread_create(&threads[0], NULL, map_much, NULL), "thread");
	must(!pthread_create(&threads[1], NULL, map_little, NULL), "thread");
	for (uintptr_t i = 0; i < NAMERS; i++)
		must(!pthread_create(&threads[i + 2], NULL, make_names, (void *)i), "thread");
	for (int i = 0; i < NAMERS + 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
