/*
 * Alike: sleeps in two functions that leave the same registers behind, for tests of recording
 * with a budget. Both sleep for a moment each time, and short_and_long() now and then for long.
 */
#include <time.h>

static volatile unsigned sum; /* so that calls are no jumps */

__attribute__((noinline)) static void sleep_for(long nanoseconds)
{
	struct timespec time = { 0, nanoseconds };

	nanosleep(&time, NULL);
	sum++;
}

__attribute__((noinline)) static void always_short(unsigned i)
{
	sleep_for(40000 + (i & 1));
	sum++;
}

__attribute__((noinline)) static void short_and_long(unsigned i)
{
	sleep_for(i % 400 == 399 ? 30000000 : 40000);
	sum++;
}

int main(void)
{
	for (unsigned i = 0; i < 16000; i++) {
		if (i % 2)
			short_and_long(i);
		else
			always_short(i);
	}
	return 0;
}
