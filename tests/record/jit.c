/*
 * A program that makes code as it runs, and lists it in a perf map: a loop of
 * some tenths of a second, called `counted_down`. With an argument, others list it.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#if defined(__aarch64__)
/* 1: subs x0, x0, 1; b.ne 1b; ret */
static const unsigned char code[] = { 0x00, 0x04, 0x00, 0xf1, 0xe1, 0xff, 0xff, 0x54, 0xc0, 0x03, 0x5f, 0xd6 };
#elif defined(__x86_64__)
/* 1: dec rdi; jne 1b; ret */
static const unsigned char code[] = { 0x48, 0xff, 0xcf, 0x75, 0xfb, 0xc3 };
#else
static const unsigned char code[1];
#endif

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Writes the perf map. */
static int list(const void *page)
{
	char path[64];
	FILE *map;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	map = fopen(path, "w");
	if (!map)
		return -1;
	fprintf(map, "%lx %zx counted_down\n", (unsigned long)page, sizeof(code));
	return fclose(map);
}

int main(int count, char **words)
{
	void (*made)(unsigned long);
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED || sizeof(code) == 1)
		return 1;
	memcpy(page, code, sizeof(code));
	if (mprotect(page, 4096, PROT_READ | PROT_EXEC) < 0)
		return 1;
	__builtin___clear_cache(page, (char *)page + sizeof(code));
	(void)words;
	if (count == 1 && list(page) < 0)
		return 1;
	memcpy(&made, &page, sizeof(made));
	for (double end = now() + 0.2; now() < end;)
		made(1000000);
	return 0;
}
