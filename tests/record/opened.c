/* A library that is opened while a recording runs. The name of its function says which one it is. */
#include <time.h>

static volatile unsigned sum; /* so that the call is not the last thing that the function does */

static __attribute__((noinline)) void turn(unsigned times)
{
	for (unsigned i = 0; i < times; i++)
		sum += i;
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

void work(double seconds);
void work_of_first(double seconds);
void work_of_second(double seconds);

#ifdef SECOND
/* Has another frame than the first. */
__attribute__((noinline)) void work_of_second(double seconds)
{
	volatile unsigned room[64] = { 0 };

	for (double end = now() + seconds; now() < end; room[0]++)
		turn(100000);
	sum += room[0];
}
#define WORK work_of_second
#else
__attribute__((noinline)) void work_of_first(double seconds)
{
	for (double end = now() + seconds; now() < end;)
		turn(100000);
	sum++;
}
#define WORK work_of_first
#endif

void work(double seconds)
{
	WORK(seconds);
	sum++;
}
