/*
 * The program of the paper's Fig. 2: A takes all the time, B, C and D, which it calls
 * in turn, a third each, and E, which they all call, all of it. Its time is spent
 * waiting, so that a busy machine changes nothing.
 *
 *	figure2 [SECONDS]
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NOT_INLINED __attribute__((noinline))

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;

void A(double seconds);
void B(void);
void C(void);
void D(void);
void E(void);

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

NOT_INLINED void E(void)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += 20000000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_mutex_lock(&lock);
	pthread_cond_timedwait(&never, &lock, &until);
	pthread_mutex_unlock(&lock);
}

NOT_INLINED void B(void)
{
	E();
}

NOT_INLINED void C(void)
{
	E();
}

NOT_INLINED void D(void)
{
	E();
}

NOT_INLINED void A(double seconds)
{
	double end = now() + seconds;

	while (now() < end) {
		B();
		C();
		D();
	}
}

int main(int argc, char **argv)
{
	A(argc > 1 ? atof(argv[1]) : 10);
	puts("done");
	return 0;
}
