/*
 * Pipeline: the reader fills one batch while the replay works on the one before.
 * Batches are worked on in the order they were handed over, one at a time.
 */
#ifndef LODE_IMPORT_PERF_DATA_PIPELINE_H
#define LODE_IMPORT_PERF_DATA_PIPELINE_H

#include "base/error.h"
#include "import/kernel/perf_data/batch.h"

#include <pthread.h>

#define LODE_PERF_BATCHES 3

struct lode_perf_pipeline {
	int (*work)(void *context, struct lode_perf_batch *batch);
	void *context;
	struct lode_perf_batch batches[LODE_PERF_BATCHES];
	/* Batches handed over and done with so far; batch number n is batches[n % LODE_PERF_BATCHES]. */
	uint64_t handed;
	uint64_t done;
	int code;   /* the first failure of `work`; it is not called again */
	int closed; /* nothing more will be handed over */
	int threaded;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
};

/*
 * `work` returns 0 or a negative code. With `threaded` it is called on a thread of
 * its own, unless none can be started; else in lode_perf_pipeline_hand.
 */
void lode_perf_pipeline_init(struct lode_perf_pipeline *pipeline,
			     int (*work)(void *context, struct lode_perf_batch *batch), void *context,
			     int threaded);
/* Waits for the work that was handed over and releases all. */
void lode_perf_pipeline_release(struct lode_perf_pipeline *pipeline);
/* The empty batch to fill. */
struct lode_perf_batch *lode_perf_pipeline_batch(struct lode_perf_pipeline *pipeline);
/*
 * Hands that batch over; returns 0, or the code of work that failed. Afterwards the next batch is to be
 * filled.
 */
int lode_perf_pipeline_hand(struct lode_perf_pipeline *pipeline);
/* Waits until all is done; returns 0 or the code of the work that failed. */
int lode_perf_pipeline_finish(struct lode_perf_pipeline *pipeline);

#endif
