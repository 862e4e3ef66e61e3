/*
 * Two processes on one CPU that wake each other in turn, and how fast they are, millisecond by millisecond:
 *
 *	turns SECONDS CPU [PAUSE]
 *
 * With PAUSE the first one computes for so many nanoseconds before each turn.
 * Writes a line for each millisecond at its end: when it was over (seconds, CLOCK_MONOTONIC) and how many turns there
 * were in it. For bench/slots, which compares them inside and between slots of a recording.
 */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MILLISECONDS_AT_MOST 1000000
#define BIN                  0.001

struct bin {
	double end;
	unsigned turns;
};

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void stay_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) < 0)
		perror("turns: sched_setaffinity");
}

/* The other process: gives back what it gets. */
static void answer(int in, int out)
{
	char byte;

	while (read(in, &byte, 1) == 1 && write(out, &byte, 1) == 1)
		continue;
	_exit(0);
}

static void compute(double seconds)
{
	double end = now() + seconds;

	while (now() < end)
		continue;
}

static size_t take_turns(int out, int in, double seconds, double pause, struct bin *bins)
{
	double start = now(), t = start, end = start + BIN;
	size_t count = 0;
	unsigned turns = 0;
	char byte = 0;

	while (t - start < seconds && count < MILLISECONDS_AT_MOST) {
		if (pause > 0)
			compute(pause);
		if (write(out, &byte, 1) != 1 || read(in, &byte, 1) != 1)
			break;
		turns++;
		t = now();
		if (t < end)
			continue;
		bins[count++] = (struct bin){ t, turns };
		turns = 0;
		end = t + BIN;
	}
	return count;
}

int main(int count, char *words[])
{
	struct bin *bins = calloc(MILLISECONDS_AT_MOST, sizeof(*bins));
	int there[2], back[2];
	size_t bin_count;
	pid_t child;

	if (count < 3 || count > 4 || !bins || pipe(there) < 0 || pipe(back) < 0) {
		fprintf(stderr, "usage: turns SECONDS CPU [PAUSE]\n");
		return 2;
	}
	stay_on(atoi(words[2]));
	child = fork();
	if (child < 0)
		return 4;
	if (child == 0)
		answer(there[0], back[1]);
	bin_count = take_turns(there[1], back[0], strtod(words[1], NULL),
			       count > 3 ? strtod(words[3], NULL) / 1e9 : 0, bins);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	for (size_t i = 0; i < bin_count; i++)
		printf("%.6f %u\n", bins[i].end, bins[i].turns);
	free(bins);
	return 0;
}
