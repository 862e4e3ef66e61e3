/*
 * A function whose lines take time in different ways. At its end the program prints for each line what it took: a name, and
 * nanoseconds of CPU time, of the sleep of the clock. Names are those in the comments of the lines.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#define ROUNDS 20
#define TURNS  2000000ul

static volatile unsigned long sum;
static uint64_t taken[4];

static uint64_t now(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static inline __attribute__((always_inline)) void inlined(void)
{
	for (unsigned long i = 0; i < TURNS; i++) /* @within */
		sum ^= i;                         /* @within */
}

static __attribute__((noinline)) void called(void)
{
	for (unsigned long i = 0; i < 2 * TURNS; i++)
		sum -= i;
}

static __attribute__((noinline)) void work(void)
{
	const struct timespec rest = { 0, 30000000 };
	uint64_t at[6];

	at[0] = now(CLOCK_THREAD_CPUTIME_ID);
	for (unsigned long i = 0; i < 3 * TURNS; i++) /* @loop */
		sum += i;                             /* @loop */
	at[1] = now(CLOCK_THREAD_CPUTIME_ID);
	inlined(); /* @inlined */
	at[2] = now(CLOCK_THREAD_CPUTIME_ID);
	called(); /* @called */
	at[3] = now(CLOCK_THREAD_CPUTIME_ID);
	at[4] = now(CLOCK_MONOTONIC);
	nanosleep(&rest, NULL); /* @sleep */
	at[5] = now(CLOCK_MONOTONIC);
	for (int i = 0; i < 3; i++)
		taken[i] += at[i + 1] - at[i];
	taken[3] += at[5] - at[4];
}

int main(void)
{
	static const char *const names[] = { "loop", "inlined", "called", "sleep" };

	for (int i = 0; i < ROUNDS; i++)
		work();
	for (int i = 0; i < 4; i++)
		printf("%s %" PRIu64 "\n", names[i], taken[i]);
	return 0;
}
