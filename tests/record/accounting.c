/*
 * A program whose threads compute, sleep, hand a byte to each other and compete for a processor, and log what the kernel
 * counted for them; for tests/record/accounting.
 *
 *	accounting LOG MILLISECONDS
 *
 * Writes `NAME TID T0 T1 RUN QUEUED ALL_RUN ALL_QUEUED` for each thread: between T0 and T1 (CLOCK_MONOTONIC) it ran and was queued
 * for RUN and QUEUED nanoseconds (/proc/thread-self/schedstat), from its birth to T1 for ALL_RUN and ALL_QUEUED.
 */
#include "truth.h"

#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static FILE *log_file;
static uint64_t span; /* ns */
static int there[2], back[2];
static volatile uint64_t sum;

static void compute_for(uint64_t ns)
{
	for (uint64_t begun = now(); now() - begun < ns;)
		for (int i = 0; i < 1000; i++)
			sum++;
}

static void spin(void)
{
	compute_for(span);
}

static void nap(void)
{
	for (uint64_t begun = now(); now() - begun < span;) {
		compute_for(1000000);
		rest(1000000);
	}
}

static void compete(void)
{
	cpu_set_t first;

	CPU_ZERO(&first);
	CPU_SET(0, &first);
	sched_setaffinity(0, sizeof(first), &first);
	compute_for(span);
}

static void throw_ball(void)
{
	char ball = 1;

	for (uint64_t begun = now(); now() - begun < span;) {
		compute_for(200000);
		must(write(there[1], &ball, 1) == 1 && read(back[0], &ball, 1) == 1, "pipe");
	}
	ball = 0;
	must(write(there[1], &ball, 1) == 1, "pipe");
}

static void return_ball(void)
{
	char ball;

	while (read(there[0], &ball, 1) == 1 && ball) {
		compute_for(100000);
		must(write(back[1], &ball, 1) == 1, "pipe");
	}
}

struct role {
	const char *name;
	void (*play)(void);
};

/* The kernel adds up what a thread ran when it stops running. */
static void read_counts(uint64_t counts[2], uint64_t *t)
{
	FILE *file;

	rest(20000);
	*t = now();
	file = fopen("/proc/thread-self/schedstat", "r");
	must(file && fscanf(file, "%" SCNu64 " %" SCNu64, &counts[0], &counts[1]) == 2, "schedstat");
	fclose(file);
}

static void *run(void *context)
{
	const struct role *role = context;
	uint64_t before[2], after[2], t0, t1;

	prctl(PR_SET_NAME, role->name);
	read_counts(before, &t0);
	role->play();
	read_counts(after, &t1);
	fprintf(log_file, "%s %ld %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
		role->name, syscall(SYS_gettid), t0, t1, after[0] - before[0], after[1] - before[1], after[0],
		after[1]);
	return NULL;
}

int main(int count, char **arguments)
{
	static const struct role roles[] = { { "spin", spin },        { "nap", nap },
					     { "compete", compete },  { "compete", compete },
					     { "throw", throw_ball }, { "return", return_ball } };
	pthread_t threads[sizeof(roles) / sizeof(roles[0])];

	must(count == 3 && (log_file = fopen(arguments[1], "w")) != NULL, "usage: accounting LOG MILLISECONDS");
	span = (uint64_t)atoi(arguments[2]) * 1000000;
	must(pipe(there) == 0 && pipe(back) == 0, "pipe");
	for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++)
		must(!pthread_create(&threads[i], NULL, run, (void *)(uintptr_t)&roles[i]), "pthread_create");
	for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++)
		pthread_join(threads[i], NULL);
	fclose(log_file);
	return 0;
}
