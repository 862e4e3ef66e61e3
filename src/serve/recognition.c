/* Recognition: see recognition.h. */
#include "serve/recognition.h"

#include "base/memory.h"
#include "base/worker.h"

#define EVERY_NS 2000000000ull

struct lode_recognition {
	struct lode_worker worker;
	struct lode_jobs *jobs;
	char *corpus;
	uint64_t matched; /* version of the corpus that is matched */
};

/* Starts a run unless the corpus is as it was before one that is over. A run that matches something changes it once more. */
static void match(struct lode_recognition *recognition)
{
	static char command[] = "signatures", json[] = "--json";
	char *const words[] = { command, recognition->corpus, json, NULL };
	uint64_t version = lode_jobs_corpus_version(recognition->jobs);
	struct lode_job_view view = { 0 };

	if (version == recognition->matched)
		return;
	/* What is done is done with the corpus as it was when it was asked for, or the jobs would start it again. */
	if (lode_jobs_ask(recognition->jobs, words, &view, NULL) == 0 &&
	    (view.state == LODE_JOB_DONE || view.state == LODE_JOB_FAILED))
		recognition->matched = version;
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

struct lode_recognition *lode_recognition_start(struct lode_jobs *jobs, const char *corpus)
{
	struct lode_recognition *made = lode_calloc(1, sizeof(*made));

	if (!made)
		return NULL;
	lode_worker_init(&made->worker);
	made->jobs = jobs;
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
