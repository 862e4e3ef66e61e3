/*
 * A program without frame pointers whose stack is known: main calls outer, outer
 * middle, middle inner, which sleeps ten times for a millisecond, and then computes.
 */
#include <time.h>

static volatile unsigned sum;

static __attribute__((noinline)) void inner(int number)
{
	volatile char room[2000];
	struct timespec time = { 0, 1000000 };

	room[number % 200] = (char)number;
	nanosleep(&time, NULL);
	sum += (unsigned char)room[number % 200];
}

/* A frame whose size is not known beforehand. */
static __attribute__((noinline)) void middle(int number)
{
	volatile char *room = __builtin_alloca((unsigned)number * 16 + 16);

	room[0] = (char)number;
	inner(number);
	sum += (unsigned char)room[0];
}

static __attribute__((noinline)) void outer(int number)
{
	volatile unsigned long room[30];

	room[number] = 1;
	middle(number);
	sum += (unsigned)room[number];
}

int main(void)
{
	for (int i = 0; i < 10; i++)
		outer(i);
	return 0;
}
