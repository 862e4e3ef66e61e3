/*
 * A program with a delay that can be taken out: how much faster it gets is known by running it without (bench/gain).
 *
 *	delays SHAPE PERCENT ROUNDS
 *
 * SHAPE is how threads depend on the delay, which is in the function planted_delay() and lasts PERCENT of what it can. Prints how many
 * nanoseconds the rounds took.
 */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static long percent;
static int rounds;

static uint64_t now(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void sleep_us(long us)
{
	struct timespec time = { us / 1000000, us % 1000000 * 1000 };

	if (us)
		nanosleep(&time, NULL);
}

/* Computes; a look at the clock now and then costs little. */
static void compute_us(long us)
{
	uint64_t end = now(CLOCK_THREAD_CPUTIME_ID) + (uint64_t)us * 1000;

	while (us && now(CLOCK_THREAD_CPUTIME_ID) < end)
		for (volatile int i = 0; i < 20000; i++)
			;
}

__attribute__((noinline)) static void planted_delay(long us)
{
	sleep_us(us * percent / 100);
	__asm__ volatile("");
}

__attribute__((noinline)) static void planted_work(long us)
{
	compute_us(us * percent / 100);
	__asm__ volatile("");
}

/* ---- queues ---- */

#define CAPACITY 4

struct queue {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int count;
	int most;
};

#define QUEUE(most)                                                                                               \
	{                                                                                                         \
		PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, most                                      \
	}

static void put(struct queue *queue)
{
	pthread_mutex_lock(&queue->lock);
	while (queue->count == queue->most)
		pthread_cond_wait(&queue->changed, &queue->lock);
	queue->count++;
	pthread_cond_signal(&queue->changed);
	pthread_mutex_unlock(&queue->lock);
}

static void take(struct queue *queue)
{
	pthread_mutex_lock(&queue->lock);
	while (!queue->count)
		pthread_cond_wait(&queue->changed, &queue->lock);
	queue->count--;
	pthread_cond_signal(&queue->changed);
	pthread_mutex_unlock(&queue->lock);
}

/* ---- shapes: what main does, and what another thread does meanwhile ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;
static struct queue work = QUEUE(CAPACITY), other_work = QUEUE(CAPACITY), done = QUEUE(CAPACITY),
		    other_done = QUEUE(CAPACITY);

static void serial(void)
{
	compute_us(2000);
	planted_delay(10000);
}

static void lock_owner(void)
{
	pthread_mutex_lock(&lock);
	planted_delay(8000);
	compute_us(1000);
	pthread_mutex_unlock(&lock);
	sleep_us(3000);
}

static void lock_waiter(void)
{
	sleep_us(1000);
	pthread_mutex_lock(&lock);
	compute_us(1000);
	pthread_mutex_unlock(&lock);
	sleep_us(2000);
}

static void working_owner(void)
{
	pthread_mutex_lock(&lock);
	planted_work(8000);
	pthread_mutex_unlock(&lock);
	sleep_us(3000);
}

static void producer(void)
{
	sleep_us(3000);
	put(&work);
}

static void slow_consumer(void)
{
	take(&work);
	planted_delay(9000);
}

static void slow_producer(void)
{
	planted_delay(9000);
	put(&work);
}

static void consumer(void)
{
	take(&work);
	sleep_us(3000);
}

static void slow_member(void)
{
	sleep_us(2000);
	planted_delay(10000);
	pthread_barrier_wait(&barrier);
}

static void fast_member(void)
{
	sleep_us(6000);
	pthread_barrier_wait(&barrier);
}

/* Two things at once, the slower of which is not the one with the delay. */
static void ask_both(void)
{
	put(&work);
	put(&other_work);
	take(&done);
	take(&other_done);
}

static void answer(void)
{
	take(&work);
	planted_delay(8000);
	put(&done);
}

static void answer_slowly(void)
{
	take(&other_work);
	sleep_us(9000);
	put(&other_done);
}

/* On one processor. */
static void compete(void)
{
	put(&work);
	compute_us(8000);
	sleep_us(10000);
}

static void hog(void)
{
	take(&work);
	planted_work(8000);
}

static struct shape {
	const char *name;
	void (*main)(void);
	void (*others[2])(void);
	int one_processor;
} shapes[] = {
	{ "serial", serial, { NULL, NULL }, 0 },
	{ "lock", lock_waiter, { lock_owner, NULL }, 0 },
	{ "lock-work", lock_waiter, { working_owner, NULL }, 0 },
	{ "consumer", slow_consumer, { producer, NULL }, 0 },
	{ "producer", consumer, { slow_producer, NULL }, 0 },
	{ "barrier", fast_member, { slow_member, fast_member }, 0 },
	{ "parallel", ask_both, { answer, answer_slowly }, 0 },
	{ "processor", compete, { hog, NULL }, 1 },
};

static void *repeat(void *of)
{
	void (*turn)(void) = *(void (**)(void))of;

	for (int i = 0; i < rounds; i++)
		turn();
	return NULL;
}

static struct shape *find_shape(const char *name)
{
	for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++)
		if (!strcmp(shapes[i].name, name))
			return &shapes[i];
	return NULL;
}

int main(int count, char **arguments)
{
	struct shape *shape = count == 4 ? find_shape(arguments[1]) : NULL;
	pthread_t threads[2];
	cpu_set_t one;
	uint64_t start;
	int started = 0;

	if (!shape) {
		fprintf(stderr, "usage: delays SHAPE PERCENT ROUNDS; shapes:");
		for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++)
			fprintf(stderr, " %s", shapes[i].name);
		fprintf(stderr, "\n");
		return 2;
	}
	percent = atol(arguments[2]);
	rounds = atoi(arguments[3]);
	CPU_ZERO(&one);
	CPU_SET(0, &one);
	if (shape->one_processor)
		sched_setaffinity(0, sizeof(one), &one);
	pthread_barrier_init(&barrier, NULL, 3);
	start = now(CLOCK_MONOTONIC);
	for (; started < 2 && shape->others[started]; started++)
		pthread_create(&threads[started], NULL, repeat, &shape->others[started]);
	repeat(&shape->main);
	while (started)
		pthread_join(threads[--started], NULL);
	printf("%llu\n", (unsigned long long)(now(CLOCK_MONOTONIC) - start));
	return 0;
}
