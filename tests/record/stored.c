/*
 * A program that knows which file it waits for, for tests/record/objects: it reads pages of a file that are not in memory,
 * by a fault and by a system call, and writes some.
 *
 *	stored LOG FOLDER ROUNDS
 *
 * Writes a line for each step, `SCENARIO TID T0 T1 0 OBJECT`, as waited.c does; where the file is stored is left out. In
 * the last scenario a thread is stopped while it computes, just after a fault: then it waits for no page.
 */
#include "truth.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Pages that are read, so far from each other that none comes with another. */
#define DISTANCE 262144
#define PAGE     65536 /* or less */

static FILE *log_file;
static char path[512];
static unsigned char *mapped;
static int file;
static volatile unsigned sum;

static void fault_in(int round)
{
	sum += mapped[(size_t)round * DISTANCE];
}

static void read_in(int round)
{
	unsigned char byte;

	must(pread(file, &byte, 1, (off_t)round * DISTANCE) == 1, "pread");
}

static void write_out(int round)
{
	must(pwrite(file, &round, sizeof(round), (off_t)round * DISTANCE) == sizeof(round), "pwrite");
	must(fsync(file) == 0, "fsync");
}

/* Takes all pages out of memory. The kernel may need some time before it lets go of those that were just written. */
static void drop(int rounds)
{
	must(fsync(file) == 0, "fsync");
	for (int i = 0; i < rounds; i++) {
		unsigned char present = 1;

		for (int tries = 0; tries < 1000 && present & 1; tries++) {
			must(posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED) == 0, "fadvise");
			must(mincore(mapped + (size_t)i * DISTANCE, 1, &present) == 0, "mincore");
			if (present & 1)
				rest(5000000);
		}
	}
}

static void run(const char *name, const char *kind, int rounds, void (*step)(int round))
{
	drop(rounds);
	for (int i = 0; i < rounds; i++) {
		uint64_t begun = now();

		step(i);
		fprintf(log_file, "%s %d %" PRIu64 " %" PRIu64 " 0 %s:%s\n", name, getpid(), begun, now(), kind,
			path);
	}
}

static void compute_after_fault(atomic_int *computes)
{
	mapped = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, file, 0);
	must(mapped != MAP_FAILED, "mmap");
	fault_in(0);
	atomic_store(computes, 1);
	while (atomic_load(computes))
		sum++;
	_exit(0);
}

static void run_stopped(int rounds)
{
	atomic_int *computes = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	must(computes != MAP_FAILED, "mmap");
	for (int i = 0; i < rounds; i++) {
		uint64_t begun;
		pid_t child;

		posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
		child = fork();
		must(child >= 0, "fork");
		if (!child)
			compute_after_fault(computes);
		while (!atomic_load(computes))
			rest(100000);
		begun = now();
		kill(child, SIGSTOP);
		rest(5000000);
		kill(child, SIGCONT);
		fprintf(log_file, "stopped %d %" PRIu64 " %" PRIu64 " 0 \n", child, begun, now());
		atomic_store(computes, 0);
		waitpid(child, NULL, 0);
	}
}

int main(int count, char **arguments)
{
	int rounds;

	must(count == 4 && (log_file = fopen(arguments[1], "w")) != NULL, "usage: stored LOG FOLDER ROUNDS");
	rounds = atoi(arguments[3]);
	snprintf(path, sizeof(path), "%s/stored", arguments[2]);
	file = open(path, O_RDWR | O_CREAT, 0600);
	must(file >= 0, path);
	for (int i = 0; i <= rounds; i++) {
		static char bytes[PAGE];

		must(pwrite(file, bytes, sizeof(bytes), (off_t)i * DISTANCE) == sizeof(bytes), path);
	}
	posix_fadvise(file, 0, 0, POSIX_FADV_RANDOM);
	mapped = mmap(NULL, (size_t)rounds * DISTANCE, PROT_READ, MAP_SHARED, file, 0);
	must(mapped != MAP_FAILED && madvise(mapped, (size_t)rounds * DISTANCE, MADV_RANDOM) == 0, "mmap");
	run("read", "file", rounds, read_in);
	run("fsync", "file", rounds, write_out);
	run("fault", "page", rounds, fault_in);
	run_stopped(rounds < 20 ? rounds : 20);
	sleep(1); /* until names have been looked up */
	fclose(log_file);
	return 0;
}
