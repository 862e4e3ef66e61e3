/*
 * A server that knows its requests, for tests/record/requests. Its client, another process, asks COUNT times and waits for
 * each answer; most take some microseconds, every hundredth calls answer_slowly for milliseconds. A thread beside it has
 * nothing to do: it looks every now and then whether that has changed.
 *
 *	requests LOG COUNT
 *
 * Writes `ready` to standard output, begins when a line comes in, and writes `done`. Then LOG has a line `START END SLOW` for each request,
 * in ns of the monotonic clock, and a last one `schedstat RUN QUEUED`: what the kernel counted for the server's thread
 * meanwhile.
 */
#include "truth.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define SLOW_EVERY 100
#define SLOW_MS    20
#define PAUSE_NS   300000

static volatile uint64_t sum;

/* Additions in a millisecond. */
static uint64_t speed;

static void calibrate(void)
{
	uint64_t began = now();

	for (int i = 0; i < 10000000; i++)
		sum += (uint64_t)i;
	speed = 10000000 * 1000000ull / (now() - began);
}

__attribute__((noinline)) static void answer_slowly(void)
{
	uint64_t began = now();

	/* By the clock as well: on a busy machine the speed is measured too low. */
	for (uint64_t i = speed * SLOW_MS; i || now() - began<SLOW_MS * 1000000ull; i -= i> 0)
		sum += i;
}

__attribute__((noinline)) static void answer(void)
{
	for (uint64_t i = speed / 50; i; i--)
		sum += i;
}

static void *look_now_and_then(void *unused)
{
	pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t never = PTHREAD_COND_INITIALIZER;

	prctl(PR_SET_NAME, "background");
	pthread_mutex_lock(&lock);
	for (;;) {
		struct timespec until;

		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += 50000000;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		pthread_cond_timedwait(&never, &lock, &until);
	}
	return unused;
}

static void ask(int server, int count)
{
	const struct timespec pause = { 0, PAUSE_NS };
	char byte = 0;

	prctl(PR_SET_NAME, "client");
	for (int i = 0; i < count; i++) {
		byte = i % SLOW_EVERY == SLOW_EVERY / 2;
		must(write(server, &byte, 1) == 1 && read(server, &byte, 1) == 1, "client");
		nanosleep(&pause, NULL);
	}
	exit(0);
}

__attribute__((noinline)) static void serve(int client, int count, FILE *log)
{
	char byte;

	for (int i = 0; i < count; i++) {
		uint64_t began;

		must(read(client, &byte, 1) == 1, "server");
		began = now();
		if (byte)
			answer_slowly();
		else
			answer();
		fprintf(log, "%" PRIu64 " %" PRIu64 " %d\n", began, now(), byte);
		must(write(client, &byte, 1) == 1, "server");
	}
}

static void read_schedstat(uint64_t counts[2])
{
	FILE *file = fopen("/proc/thread-self/schedstat", "r");

	must(file && fscanf(file, "%" SCNu64 " %" SCNu64, &counts[0], &counts[1]) == 2, "schedstat");
	fclose(file);
}

int main(int argc, char **argv)
{
	int count = argc == 3 ? atoi(argv[2]) : 0, ends[2];
	FILE *log = count > 0 ? fopen(argv[1], "w") : NULL;
	uint64_t before[2], after[2];
	pthread_t background;
	pid_t client;

	must(log && !socketpair(AF_UNIX, SOCK_STREAM, 0, ends), "requests LOG COUNT");
	setvbuf(log, NULL, _IOFBF, 1 << 20);
	must(!pthread_create(&background, NULL, look_now_and_then, NULL), "pthread_create");
	calibrate();
	puts("ready");
	fflush(stdout);
	must(getchar() == '\n', "standard input");
	read_schedstat(before);
	client = fork();
	must(client >= 0, "fork");
	if (!client)
		ask(ends[1], count);
	serve(ends[0], count, log);
	read_schedstat(after);
	fprintf(log, "schedstat %" PRIu64 " %" PRIu64 "\n", after[0] - before[0], after[1] - before[1]);
	fclose(log);
	puts("done");
	fflush(stdout);
	must(getchar() == '\n', "standard input");
	return 0;
}
