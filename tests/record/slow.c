/*
 * Slow: quick most of the time, and slow once, for tests/record/watch. What it
 * reports is, for each slow deed, its name, when it began and ended (CLOCK_MONOTONIC),
 * and the thread.
 *
 *	slow once		quick for a while, an answer of 400 ms, by a thread that
 *				is called `answering` then, quick for a moment
 *	slow storm		waits of 8 ms, one after the other
 *	slow long		a thread `sleeper` waits for 2.5 s while main is quick
 *	slow convoy		four threads `worker` take turns with one lock, three times,
 *				each for 60 ms, while a thread `idler` waits for events
 *	slow forever		quick until it is killed
 */
#include "lode_mark.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile uint64_t sum; /* so that calls are no jumps */

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void report(const char *deed, uint64_t began)
{
	printf("%s %llu %llu %ld\n", deed, (unsigned long long)began, (unsigned long long)now(),
	       syscall(SYS_gettid));
	fflush(stdout);
}

static __attribute__((noinline)) void sleep_ms(unsigned milliseconds)
{
	struct timespec time = { milliseconds / 1000, (long)(milliseconds % 1000) * 1000000 };

	nanosleep(&time, NULL);
	sum++;
}

static __attribute__((noinline)) void quick(void)
{
	for (unsigned i = 0; i < 100000; i++)
		sum += i;
	sleep_ms(3);
	sum++;
}

/* Calls itself; only the outermost call counts. */
static __attribute__((noinline)) void answer(unsigned milliseconds, int depth)
{
	if (depth)
		answer(milliseconds, depth - 1);
	else
		sleep_ms(milliseconds);
	sum++;
}

static void answer_marked(unsigned milliseconds)
{
	LODE_MARK_BEGIN("answer");
	answer(milliseconds, 2);
	LODE_MARK_END("answer");
}

/* A process that is long gone when it becomes interesting. */
static void fork_early(void)
{
	pid_t child = fork();

	if (child == 0) {
		prctl(PR_SET_NAME, "early");
		for (int i = 0; i < 5; i++)
			quick();
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

static void once(void)
{
	uint64_t began;

	fork_early();
	for (int i = 0; i < 120; i++) {
		quick();
		LODE_MARK_SCOPE("short")
		{
			answer_marked(1);
		}
	}
	prctl(PR_SET_NAME, "answering");
	began = now();
	answer_marked(400);
	report("answer", began);
	prctl(PR_SET_NAME, "slow");
	for (int i = 0; i < 20; i++)
		quick();
}

static __attribute__((noinline)) void long_sleep(void)
{
	sleep_ms(2500);
	sum++;
}

static void *be_sleeper(void *unused)
{
	uint64_t began;

	prctl(PR_SET_NAME, "sleeper");
	began = now();
	long_sleep();
	report("sleep", began);
	return unused;
}

static void be_long(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, be_sleeper, NULL);
	for (int i = 0; i < 800; i++)
		quick();
	pthread_join(thread, NULL);
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static __attribute__((noinline)) void take_turn(void)
{
	struct timespec begin, time;

	pthread_mutex_lock(&lock);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	do
		clock_gettime(CLOCK_MONOTONIC, &time);
	while ((time.tv_sec - begin.tv_sec) * 1000 + (time.tv_nsec - begin.tv_nsec) / 1000000 < 60);
	pthread_mutex_unlock(&lock);
	sum++;
}

static void *be_worker(void *start)
{
	prctl(PR_SET_NAME, "worker");
	pthread_barrier_wait(start);
	for (int i = 0; i < 3; i++) {
		take_turn();
		sleep_ms(30);
	}
	return NULL;
}

/* Waits long, by all means of waiting for something to do. */
static void *be_idler(void *unused)
{
	struct epoll_event event;
	int fd = epoll_create1(0);

	prctl(PR_SET_NAME, "idler");
	for (int i = 0; i < 3; i++) {
		epoll_wait(fd, &event, 1, 80);
		sleep_ms(80);
	}
	close(fd);
	return unused;
}

static void be_convoy(void)
{
	pthread_t threads[5];
	pthread_barrier_t start;

	pthread_barrier_init(&start, NULL, 4);
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, be_worker, &start);
	pthread_create(&threads[4], NULL, be_idler, NULL);
	for (int i = 0; i < 5; i++)
		pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "once";

	if (!strcmp(way, "once"))
		once();
	else if (!strcmp(way, "long"))
		be_long();
	else if (!strcmp(way, "convoy"))
		be_convoy();
	for (int i = 0; !strcmp(way, "storm") && i < 120; i++)
		sleep_ms(8);
	while (!strcmp(way, "forever"))
		quick();
	return 0;
}
