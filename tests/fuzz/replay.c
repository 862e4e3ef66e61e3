/*
 * Replays inputs through a fuzz target without libFuzzer: `TARGET FILE-OR-FOLDER...`.
 * Used by `make check` with the seeds and with inputs that once broke something. Of each small input come also
 * versions with false lengths (lies.h), at LODE_LIES places of each kind (default 40).
 *
 * Each input may take a second of processor time (ten of the clock, so that a
 * busy machine does no harm and a hang is found), and all of them together 512
 * MiB of memory; LODE_TIMES gives it so many times as long. Sanitizers slow things down and reserve address space: with
 * them the times are ten times as long and memory is not limited.
 */
#include "fuzz.h"
#include "lies.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

#define SECONDS (SANITIZED ? 10 : 1)
#define MEMORY  (512ull << 20)

/* Larger inputs are not given false lengths: these are copies of whole programs. */
#define LYING_SIZE 8192

static char current[4096];
static unsigned replayed;
static unsigned lies;
static size_t lying_places = 40;
static int times = 1;

static void too_slow(int signal)
{
	(void)signal;
	if (write(STDERR_FILENO, current, strlen(current)) > 0 && write(STDERR_FILENO, ": takes too long\n", 17) > 0)
		_exit(1);
	_exit(1);
}

static void set_clocks(int seconds)
{
	struct itimerval processor = { .it_value.tv_sec = seconds };
	struct itimerval wall = { .it_value.tv_sec = seconds * 10 };

	setitimer(ITIMER_PROF, &processor, NULL);
	setitimer(ITIMER_REAL, &wall, NULL);
}

static void check_memory(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	if (SANITIZED || (uint64_t)usage.ru_maxrss * 1024 <= MEMORY)
		return;
	fprintf(stderr, "%s: takes %ld MiB\n", current, usage.ru_maxrss / 1024);
	exit(1);
}

/* A copy on the heap of exactly the right size, so that reading past the end shows. */
static uint8_t *read_file(const char *path, size_t *size)
{
	FILE *file = fopen(path, "rb");
	struct stat status;
	uint8_t *bytes;

	if (!file || fstat(fileno(file), &status) < 0) {
		perror(path);
		exit(1);
	}
	bytes = malloc(status.st_size ? (size_t)status.st_size : 1);
	*size = bytes ? fread(bytes, 1, (size_t)status.st_size, file) : 0;
	fclose(file);
	return bytes;
}

static void try_input(const uint8_t *bytes, size_t size)
{
	set_clocks(SECONDS * times);
	LLVMFuzzerTestOneInput(bytes, size);
	set_clocks(0);
	check_memory();
}

static void try_lie(const uint8_t *bytes, size_t size)
{
	lies++;
	try_input(bytes, size);
}

static void replay_file(const char *path)
{
	size_t size;
	uint8_t *bytes = read_file(path, &size);

	snprintf(current, sizeof(current), "%s", path);
	try_input(bytes, size);
	replayed++;
	if (size <= LYING_SIZE && lying_places) {
		snprintf(current, sizeof(current), "%s, with a length that is not true", path);
		fuzz_lies(bytes, size, lying_places, try_lie);
	}
	free(bytes);
}

static void replay(const char *path)
{
	DIR *folder = opendir(path);
	struct dirent *entry;
	char inside[4096];

	if (!folder) {
		replay_file(path);
		return;
	}
	while ((entry = readdir(folder))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(inside, sizeof(inside), "%s/%s", path, entry->d_name);
		replay(inside);
	}
	closedir(folder);
}

int main(int count, char **arguments)
{
	struct rlimit limit = { MEMORY * 4, MEMORY * 4 };

	if (count < 2) {
		fprintf(stderr, "usage: %s FILE-OR-FOLDER...\n", arguments[0]);
		return 2;
	}
	if (getenv("LODE_LIES"))
		lying_places = strtoul(getenv("LODE_LIES"), NULL, 10);
	if (getenv("LODE_TIMES"))
		times = atoi(getenv("LODE_TIMES"));
	signal(SIGPROF, too_slow);
	signal(SIGALRM, too_slow);
	if (!SANITIZED)
		setrlimit(RLIMIT_AS, &limit);
	LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
	for (int i = 1; i < count; i++)
		replay(arguments[i]);
	printf("%u inputs replayed, and %u that lie about a length\n", replayed, lies);
	return 0;
}
