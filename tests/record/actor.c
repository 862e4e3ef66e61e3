/*
 * Actor: does things whose waits, wakers and durations are known, and reports what
 * it did, for tests/record/run to compare with what was recorded. One line a
 * deed: its name, when it began and ended (CLOCK_MONOTONIC), and a number.
 *
 *	actor [ROUNDS]
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MS 1000000u

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile uint64_t sum; /* so that the work is not optimised away */

static uint64_t clock_now(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static uint64_t now(void)
{
	return clock_now(CLOCK_MONOTONIC);
}

static void report(const char *deed, uint64_t began, uint64_t number)
{
	printf("%s %llu %llu %llu\n", deed, (unsigned long long)began, (unsigned long long)now(),
	       (unsigned long long)number);
	fflush(stdout);
}

static __attribute__((noinline)) void sleep_ms(unsigned milliseconds)
{
	struct timespec time = { milliseconds / 1000, (long)(milliseconds % 1000) * MS };

	nanosleep(&time, NULL);
	sum++;
}

static __attribute__((noinline)) void do_sleep(void)
{
	uint64_t began = now();

	sleep_ms(30);
	report("sleep", began, 0);
}

/* ---- a lock that another thread holds ---- */

static __attribute__((noinline)) void release_lock(void)
{
	pthread_mutex_unlock(&lock);
	sum++;
}

static void *hold_lock(void *ready)
{
	prctl(PR_SET_NAME, "holder");
	pthread_mutex_lock(&lock);
	*(volatile int *)ready = (int)syscall(SYS_gettid);
	sleep_ms(40);
	release_lock();
	sleep_ms(1);
	return NULL;
}

static __attribute__((noinline)) void take_lock(void)
{
	pthread_mutex_lock(&lock);
	sum++;
}

static __attribute__((noinline)) void do_lock(void)
{
	volatile int holder = 0;
	pthread_t thread;
	uint64_t began;

	pthread_create(&thread, NULL, hold_lock, (void *)(uintptr_t)&holder);
	while (!holder)
		sleep_ms(1);
	began = now();
	take_lock();
	report("lock", began, (uint64_t)holder);
	pthread_mutex_unlock(&lock);
	pthread_join(thread, NULL);
}

/* ---- a pipe that another process writes to ---- */

static __attribute__((noinline)) void write_byte(int fd)
{
	if (write(fd, "x", 1) != 1)
		_exit(1);
	sum++;
}

static __attribute__((noinline)) void read_byte(int fd)
{
	char byte;

	if (read(fd, &byte, 1) != 1)
		_exit(1);
	sum++;
}

static __attribute__((noinline)) void do_pipe(void)
{
	int ends[2];
	uint64_t began;
	pid_t child;

	if (pipe(ends) < 0)
		_exit(1);
	child = fork();
	if (child == 0) {
		sleep_ms(25);
		write_byte(ends[1]);
		_exit(0);
	}
	began = now();
	read_byte(ends[0]);
	report("pipe", began, (uint64_t)child);
	waitpid(child, NULL, 0);
	close(ends[0]);
	close(ends[1]);
}

/* ---- a timer ---- */

static __attribute__((noinline)) void wait_for_timer(int fd)
{
	uint64_t count;

	if (read(fd, &count, sizeof(count)) != (ssize_t)sizeof(count))
		_exit(1);
	sum++;
}

static __attribute__((noinline)) void do_timer(void)
{
	struct itimerspec time = { .it_value = { 0, 20 * MS } };
	int fd = timerfd_create(CLOCK_MONOTONIC, 0);
	uint64_t began = now();

	timerfd_settime(fd, 0, &time, NULL);
	wait_for_timer(fd);
	report("timer", began, 0);
	close(fd);
}

/* ---- work ---- */

static __attribute__((noinline)) void burn_cpu(uint64_t nanoseconds)
{
	uint64_t end = clock_now(CLOCK_THREAD_CPUTIME_ID) + nanoseconds;

	while (clock_now(CLOCK_THREAD_CPUTIME_ID) < end)
		for (unsigned i = 0; i < 20000; i++)
			sum += i * i;
}

static __attribute__((noinline)) void do_work(void)
{
	uint64_t began = now(), cpu = clock_now(CLOCK_THREAD_CPUTIME_ID);

	burn_cpu(300 * MS);
	report("work", began, clock_now(CLOCK_THREAD_CPUTIME_ID) - cpu);
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 3;
	uint64_t began, cpu;

	sleep_ms(5); /* a first wait, so that the life that is summed up begins with this thread on its CPU */
	cpu = clock_now(CLOCK_THREAD_CPUTIME_ID);
	began = now();
	for (int i = 0; i < rounds; i++) {
		do_sleep();
		do_lock();
		do_pipe();
		do_timer();
	}
	do_work();
	report("life", began, clock_now(CLOCK_THREAD_CPUTIME_ID) - cpu);
	return 7;
}
