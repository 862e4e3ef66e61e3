/*
 * What the demo programs share: options, time, threads, and ways of waiting that
 * also go into the truth file (truth_log.h). None of it knows a bug.
 *
 * Ways of waiting are inlined, so that a recorded stack goes from the function
 * that waits straight to the C library.
 */
#ifndef DEMO_DEMO_H
#define DEMO_DEMO_H

#include "truth_log.h"

#include <poll.h>
#include <pthread.h>
#include <time.h>

/* A function that every stack shows under its own name. */
#if defined(__GNUC__) && !defined(__clang__)
#define OWN_FRAME __attribute__((noipa))
#else
#define OWN_FRAME __attribute__((noinline))
#endif
#define INLINED static inline __attribute__((always_inline))

struct demo {
	const char *program;
	const char *about; /* what it does and what size and threads count, for --help */
	unsigned size;     /* the default until options are read */
	unsigned smallest;
	unsigned largest;
	unsigned threads;
	int bad;
	const char *truth; /* file for what was done; NULL: not wanted */
	/* Filled by demo_start and demo_stop: nanoseconds. */
	uint64_t start;
	uint64_t end;
	uint64_t cpu; /* of all threads */
};

/* Reads --good|--bad, --size, --threads, --truth; ends the program with 2 when they are wrong. */
void demo_options(struct demo *demo, int argc, char **argv);
/* From here on time counts: the calling thread, named `thread`, begins what somebody waits for. */
void demo_start(struct demo *demo, const char *thread);
/* No thread waits any longer. */
void demo_stop(struct demo *demo);
/* After all threads ended: prints the time it took and `result`, and writes the truth file. */
void demo_finish(struct demo *demo, const char *result);
/* Says what failed (with errno) and ends the program with 4. */
void demo_fail(const char *what) __attribute__((noreturn));
void *demo_room(size_t count, size_t size);
/* Nanoseconds. */
uint64_t demo_clock(clockid_t clock);

/* Work for a processor: about a nanosecond a step. The result depends on all of it. */
INLINED uint64_t demo_work(uint64_t seed, unsigned steps)
{
	for (unsigned i = 0; i < steps; i++)
		seed = seed * 6364136223846793005u + i;
	return seed;
}

/* ---- ways of waiting ---- */

/* Waits for a device that takes so long to answer; no other thread ends the wait. */
INLINED void demo_await_device(unsigned microseconds)
{
	struct timespec time = { microseconds / 1000000, (long)(microseconds % 1000000) * 1000 };
	uint64_t begin = truth_wait_begin();

	ppoll(NULL, 0, &time, NULL);
	truth_wait_end(begin, "libc.so.6!ppoll;kernel!do_sys_poll", NULL);
}

/* Has nothing to do for so long. */
INLINED void demo_rest(unsigned milliseconds)
{
	struct timespec time = { milliseconds / 1000, (long)(milliseconds % 1000) * 1000000 };
	uint64_t begin = truth_wait_begin();

	nanosleep(&time, NULL);
	truth_wait_end(begin, "libc.so.6!nanosleep;kernel!do_nanosleep", NULL);
}

struct demo_lock {
	pthread_mutex_t mutex;
	struct truth_waker last; /* who let it go */
};

struct demo_signal {
	pthread_cond_t condition;
	struct truth_waker last; /* who gave it */
};

#define DEMO_LOCK                                                                                                 \
	{                                                                                                         \
		.mutex = PTHREAD_MUTEX_INITIALIZER                                                                \
	}
#define DEMO_SIGNAL                                                                                               \
	{                                                                                                         \
		.condition = PTHREAD_COND_INITIALIZER                                                             \
	}

INLINED void demo_acquire(struct demo_lock *lock)
{
	uint64_t begin = truth_wait_begin();

	pthread_mutex_lock(&lock->mutex);
	truth_wait_end(begin, "libc.so.6!pthread_mutex_lock;kernel!futex_wait", &lock->last);
}

INLINED void demo_release(struct demo_lock *lock)
{
	truth_waker_set(&lock->last);
	pthread_mutex_unlock(&lock->mutex);
}

/* Called with the lock held, as is demo_give. */
INLINED void demo_await(struct demo_signal *signal, struct demo_lock *lock)
{
	uint64_t begin = truth_wait_begin();

	truth_waker_set(&lock->last);
	pthread_cond_wait(&signal->condition, &lock->mutex);
	truth_wait_end(begin, "libc.so.6!pthread_cond_wait;kernel!futex_wait", &signal->last);
}

INLINED void demo_give(struct demo_signal *signal)
{
	truth_waker_set(&signal->last);
	pthread_cond_broadcast(&signal->condition);
}

/* ---- threads ---- */

struct demo_thread {
	pthread_t handle;
	char name[16];
	void (*work)(void *argument);
	void *argument;
	struct truth_waker last; /* itself, at its end */
};

/* Runs work(argument) in a thread called `name`. `thread` must live until demo_join. */
void demo_thread_start(struct demo_thread *thread, const char *name, void (*work)(void *argument), void *argument);

INLINED void demo_join(struct demo_thread *thread)
{
	uint64_t begin = truth_wait_begin();

	pthread_join(thread->handle, NULL);
	truth_wait_end(begin, "libc.so.6!pthread_join;kernel!futex_wait", &thread->last);
}

#endif
