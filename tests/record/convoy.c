/*
 * Threads that contend for locks, for tests/record/objects: eight of them take one of three mutexes, work or rest a little
 * while they hold it, and do the next.
 *
 *	convoy LOG MILLISECONDS
 *
 * Writes a line `LOCK TID BEFORE TAKEN RELEASED AFTER` for each time that a thread had a lock: when it asked for it, had
 * it, was about to give it back, and had done so (CLOCK_MONOTONIC).
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define THREADS 8
#define LOCKS   3
#define HOLDS   200000

struct hold {
	uint64_t before, taken, released, after;
	int lock;
};

struct thread {
	pthread_t id;
	int tid;
	size_t count;
	struct hold *holds;
};

static pthread_mutex_t first_lock = PTHREAD_MUTEX_INITIALIZER, second_lock = PTHREAD_MUTEX_INITIALIZER, third_lock;
static pthread_mutex_t *const locks[LOCKS] = { &first_lock, &second_lock, &third_lock };
static const char *const names[LOCKS] = { "first_lock", "second_lock", "third_lock" };
static uint64_t end;

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void *contend(void *argument)
{
	struct thread *self = argument;
	unsigned random = (unsigned)(uintptr_t)argument;

	self->tid = (int)syscall(SYS_gettid);
	while (self->count < HOLDS && now() < end) {
		struct hold *hold = &self->holds[self->count++];

		hold->lock = (int)(rand_r(&random) % LOCKS);
		hold->before = now();
		pthread_mutex_lock(locks[hold->lock]);
		hold->taken = now();
		if (rand_r(&random) % 4)
			while (now() < hold->taken + rand_r(&random) % 30000)
				;
		else
			nanosleep(&(struct timespec){ .tv_nsec = rand_r(&random) % 200000 }, NULL);
		hold->released = now();
		pthread_mutex_unlock(locks[hold->lock]);
		hold->after = now();
	}
	return NULL;
}

int main(int count, char **arguments)
{
	FILE *file = count == 3 ? fopen(arguments[1], "w") : NULL;
	static struct thread threads[THREADS];
	pthread_mutexattr_t recursive;

	if (!file)
		return 2;
	pthread_mutexattr_init(&recursive);
	pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&third_lock, &recursive);
	end = now() + strtoull(arguments[2], NULL, 10) * 1000000;
	for (int i = 0; i < THREADS; i++) {
		threads[i].holds = calloc(HOLDS, sizeof(struct hold));
		if (!threads[i].holds || pthread_create(&threads[i].id, NULL, contend, &threads[i]) != 0)
			return 1;
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i].id, NULL);
	for (int i = 0; i < THREADS; i++)
		for (size_t j = 0; j < threads[i].count; j++) {
			const struct hold *hold = &threads[i].holds[j];

			fprintf(file, "%s %d %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", names[hold->lock],
				threads[i].tid, hold->before, hold->taken, hold->released, hold->after);
		}
	fclose(file);
	return 0;
}
