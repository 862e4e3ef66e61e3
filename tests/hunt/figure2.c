/*
 * The program of the paper's Fig. 2: A takes all the time, B, C and D, which it calls
 * in turn, a third each, and E, which they all call, all of it. Its time is spent
 * waiting for another thread, so that a busy machine changes nothing.
 *
 *	figure2 [SECONDS]
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NOT_INLINED __attribute__((noinline))

static sem_t asked, answered;

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
	sem_post(&asked);
	sem_wait(&answered);
}

/* Answers after 20 ms. */
static void *answer(void *ignored)
{
	const struct timespec time = { .tv_nsec = 20000000 };

	for (;;) {
		sem_wait(&asked);
		nanosleep(&time, NULL);
		sem_post(&answered);
	}
	return ignored;
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
	pthread_t helper;

	sem_init(&asked, 0, 0);
	sem_init(&answered, 0, 0);
	if (pthread_create(&helper, NULL, answer, NULL))
		return 1;
	A(argc > 1 ? atof(argv[1]) : 10);
	puts("done");
	return 0;
}
