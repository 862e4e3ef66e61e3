/*
 * A worker: one thread next to the caller's, with a lock for what both use and a condition for when it changed. The
 * thread's loop ends when `ending` is set.
 */
#ifndef LODE_BASE_WORKER_H
#define LODE_BASE_WORKER_H

#include <pthread.h>
#include <stdint.h>

struct lode_worker {
	pthread_mutex_t lock;
	pthread_cond_t changed; /* to be broadcast when what the lock protects has changed */
	pthread_t thread;
	int started;
	int ending;
};

void lode_worker_init(struct lode_worker *worker);
/* Starts the thread, if it is not started yet; it gets no signals. Returns whether it is there now. */
int lode_worker_start(struct lode_worker *worker, void *(*loop)(void *context), void *context);
/* Waits for a change, for at most `ns`, with the lock held. Returns 0 or an error number such as ETIMEDOUT. */
int lode_worker_wait(struct lode_worker *worker, uint64_t ns);
/* Asks the thread to end, waits for that, and releases all. */
void lode_worker_release(struct lode_worker *worker);

#endif
