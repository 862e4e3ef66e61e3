/*
 * The committer: see committer.h.
 *
 * Requests are in a list under the worker's lock; the thread takes all that are there, up to a number. A batch fails as
 * a whole: what makes a commit fail is the disk, not a stream.
 */
#include "collect/committer.h"

#include "base/memory.h"
#include "base/worker.h"

#include <errno.h>
#include <semaphore.h>
#include <string.h>

#define MAX_BATCH 256 /* streams in one commit */
#define IDLE_NS   1000000000ull
#define DRAFT_ID  "00000000000000000000000000000000"

struct request {
	struct request *next;
	struct lode_corpus_arrival *arrivals;
	size_t count;
	int code;
	struct lode_error *error;
	sem_t done;
};

struct lode_committer {
	struct lode_corpus *corpus;
	struct lode_worker worker;
	struct request *first, **last; /* with the lock */
	struct lode_committer_counts counts;
};

/* ---- the thread ---- */

/* Takes the first requests off the list, as many as fit into a batch, at least one. The lock is held. */
static struct request *take_requests(struct lode_committer *committer)
{
	struct request *taken = committer->first, **end = &committer->first;
	size_t count = 0;

	while (*end && (!count || count + (*end)->count <= MAX_BATCH)) {
		count += (*end)->count;
		end = &(*end)->next;
	}
	committer->first = *end;
	if (!committer->first)
		committer->last = &committer->first;
	*end = NULL;
	return taken;
}

static void place_alone(struct lode_committer *committer, struct request *request)
{
	request->code = lode_corpus_place_all(committer->corpus, request->arrivals, request->count, request->error);
}

/* All in one transaction. Their arrivals are joined in `batch`, and go back with what became of them. */
static void place_together(struct lode_committer *committer, struct request *requests,
			   struct lode_corpus_arrival *batch)
{
	struct lode_error error;
	size_t count = 0;
	int code;

	for (struct request *request = requests; request; request = request->next) {
		memcpy(batch + count, request->arrivals, request->count * sizeof(*batch));
		count += request->count;
	}
	code = lode_corpus_place_all(committer->corpus, batch, count, &error);
	count = 0;
	for (struct request *request = requests; request; request = request->next) {
		memcpy(request->arrivals, batch + count, request->count * sizeof(*batch));
		count += request->count;
		request->code = code;
		if (code)
			*request->error = error;
	}
}

static void count_outcome(struct lode_committer *committer, const struct request *request)
{
	struct lode_committer_counts *counts = &committer->counts;

	counts->waiting -= request->count;
	for (size_t i = 0; i < request->count; i++) {
		counts->failures += request->code != 0;
		counts->streams += !request->code && request->arrivals[i].is_new;
		counts->repeated += !request->code && !request->arrivals[i].is_new;
	}
}

static void finish(struct lode_committer *committer, struct request *requests)
{
	pthread_mutex_lock(&committer->worker.lock);
	committer->counts.commits++;
	for (struct request *request = requests; request; request = request->next)
		count_outcome(committer, request);
	pthread_mutex_unlock(&committer->worker.lock);
	while (requests) {
		struct request *next = requests->next; /* it is gone once its owner goes on */

		sem_post(&requests->done);
		requests = next;
	}
}

static void *commit(void *context)
{
	static struct lode_corpus_arrival batch[MAX_BATCH];
	struct lode_committer *committer = context;
	struct lode_worker *worker = &committer->worker;

	pthread_mutex_lock(&worker->lock);
	while (!worker->ending || committer->first) {
		struct request *requests = take_requests(committer);

		if (!requests) {
			lode_worker_wait(worker, IDLE_NS);
			continue;
		}
		pthread_mutex_unlock(&worker->lock);
		if (requests->next)
			place_together(committer, requests, batch);
		else
			place_alone(committer, requests);
		finish(committer, requests);
		pthread_mutex_lock(&worker->lock);
	}
	pthread_mutex_unlock(&worker->lock);
	return NULL;
}

/* ---- callers ---- */

int lode_committer_start(struct lode_committer **committer, const char *corpus, struct lode_error *error)
{
	struct lode_committer *made = lode_calloc(1, sizeof(*made));
	int code;

	*committer = NULL;
	if (!made)
		return lode_fail_memory(error);
	lode_worker_init(&made->worker);
	made->last = &made->first;
	code = lode_corpus_open(&made->corpus, corpus, LODE_CORPUS_WRITE, error);
	if (!code && !lode_worker_start(&made->worker, commit, made))
		code = lode_fail(error, LODE_SYSTEM, "cannot start a thread");
	if (code)
		lode_committer_end(made);
	else
		*committer = made;
	return code;
}

void lode_committer_end(struct lode_committer *committer)
{
	if (!committer)
		return;
	lode_worker_release(&committer->worker);
	lode_corpus_close(committer->corpus);
	lode_free(committer);
}

int lode_committer_add(struct lode_committer *committer, struct lode_corpus_arrival *arrivals, size_t count,
		       struct lode_error *error)
{
	struct request request = { .arrivals = arrivals, .count = count, .error = error };

	sem_init(&request.done, 0, 0);
	pthread_mutex_lock(&committer->worker.lock);
	/* The request lives until it is done: that is waited for below. */
	*committer->last = &request;     /* cppcheck-suppress autoVariables */
	committer->last = &request.next; /* cppcheck-suppress autoVariables */
	committer->counts.waiting += count;
	pthread_cond_signal(&committer->worker.changed);
	pthread_mutex_unlock(&committer->worker.lock);
	while (sem_wait(&request.done) < 0 && errno == EINTR)
		;
	sem_destroy(&request.done);
	return request.code;
}

char *lode_committer_draft(const struct lode_committer *committer)
{
	return lode_corpus_draft(committer->corpus, DRAFT_ID);
}

void lode_committer_counts(struct lode_committer *committer, struct lode_committer_counts *counts)
{
	pthread_mutex_lock(&committer->worker.lock);
	*counts = committer->counts;
	pthread_mutex_unlock(&committer->worker.lock);
}
