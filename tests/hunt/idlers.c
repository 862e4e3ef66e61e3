/*
 * A program to be hunted whose threads only wait, some because they have nothing to do: `idlers ACT PAGE`, with the page of
 * prey.h. What each is says its name.
 *
 *	forever    waits for what never comes
 *	timer      wakes up by itself every 10 ms
 *	worker     gets work from the main thread every 10 ms, which takes it no time
 *	asker      is answered by `helper` after 5 ms, here and there; not idle
 *	helper     sleeps; somebody waits for it
 */
#include "prey.h"

#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>

#define MS           1000000
#define NEVER_INLINE __attribute__((noinline))

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static sem_t work, asked, answered;
static volatile int sink;

static void nap(long time)
{
	nanosleep(&(struct timespec){ .tv_nsec = time }, NULL);
}

static void *forever(void *name)
{
	prctl(PR_SET_NAME, name);
	pthread_mutex_lock(&lock);
	for (;;)
		pthread_cond_wait(&never, &lock);
	return NULL;
}

static void *timer(void *name)
{
	prctl(PR_SET_NAME, name);
	pthread_mutex_lock(&lock);
	for (;;) {
		struct timespec until;

		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += 10 * MS;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		pthread_cond_timedwait(&never, &lock, &until);
	}
	return NULL;
}

static void *worker(void *name)
{
	prctl(PR_SET_NAME, name);
	for (;;) {
		sem_wait(&work);
		sink++;
	}
	return NULL;
}

static NEVER_INLINE void ask_here(void)
{
	sem_post(&asked);
	sem_wait(&answered);
	sink++;
}

static NEVER_INLINE void ask_there(void)
{
	sem_post(&asked);
	sem_wait(&answered);
	sink += 2;
}

static void *asker(void *name)
{
	prctl(PR_SET_NAME, name);
	for (;;) {
		ask_here();
		ask_there();
	}
	return NULL;
}

static void *helper(void *name)
{
	prctl(PR_SET_NAME, name);
	for (;;) {
		sem_wait(&asked);
		nap(5 * MS);
		sem_post(&answered);
	}
	return NULL;
}

int main(int count, char **words)
{
	static struct {
		char name[16];
		void *(*act)(void *name);
	} threads[] = {
		{ "forever", forever }, { "timer", timer },   { "worker", worker },
		{ "asker", asker },     { "helper", helper },
	};
	int fd = count == 3 ? open(words[2], O_RDWR) : -1;
	struct prey_page *page = fd < 0 ? MAP_FAILED
					: mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (page == MAP_FAILED)
		return 2;
	sem_init(&work, 0, 0);
	sem_init(&asked, 0, 0);
	sem_init(&answered, 0, 0);
	for (size_t i = 0; i < sizeof(threads) / sizeof(*threads); i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, threads[i].act, threads[i].name))
			return 2;
	}
	for (;;) {
		nap(10 * MS);
		sem_post(&work);
		__atomic_fetch_add(&page->turns, 1, __ATOMIC_RELEASE);
	}
}
