/* Recognition: see recognition.h. */
#include "serve/recognition.h"

#include "base/memory.h"
#include "base/worker.h"

#define EVERY_NS 2000000000ull

struct lode_recognition {
	struct lode_worker worker;
	struct lode_jobs *jobs;
	struct lode_collector *collector;
	char *corpus;
	uint64_t matched; /* streams that had come before the last run */
};

/* Starts a run when streams have come since the last one; a run that was refused is tried again. */
static void match(struct lode_recognition *recognition)
{
	static char command[] = "signatures", json[] = "--json";
	char *const words[] = { command, recognition->corpus, json, NULL };
	struct lode_collector_counts counts;
	struct lode_job_view view = { 0 };

	lode_collector_counts(recognition->collector, &counts);
	if (counts.committed.streams == recognition->matched)
		return;
	if (lode_jobs_ask(recognition->jobs, words, &view, NULL) == 0 && view.state != LODE_JOB_BUSY)
		recognition->matched = counts.committed.streams;
	lode_job_view_release(&view);
}

static void *recognize(void *context)
{
	struct lode_recognition *recognition = context;
	struct lode_worker *worker = &recognition->worker;

	pthread_mutex_lock(&worker->lock);
	while (!worker->ending) {
		pthread_mutex_unlock(&worker->lock);
		match(recognition);
		pthread_mutex_lock(&worker->lock);
		if (!worker->ending)
			lode_worker_wait(worker, EVERY_NS);
	}
	pthread_mutex_unlock(&worker->lock);
	return NULL;
}

struct lode_recognition *lode_recognition_start(struct lode_jobs *jobs, struct lode_collector *collector,
						const char *corpus)
{
	struct lode_recognition *made = lode_calloc(1, sizeof(*made));

	if (!made)
		return NULL;
	lode_worker_init(&made->worker);
	made->jobs = jobs;
	made->collector = collector;
	made->corpus = lode_strdup(corpus);
	if (!made->corpus || !lode_worker_start(&made->worker, recognize, made)) {
		lode_recognition_end(made);
		return NULL;
	}
	return made;
}

void lode_recognition_end(struct lode_recognition *recognition)
{
	if (!recognition)
		return;
	lode_worker_release(&recognition->worker);
	lode_free(recognition->corpus);
	lode_free(recognition);
}
