/*
 * Jobs: analyses that run next to the server, each as a separate process of this
 * program (`lode mine CORPUS --json`), so that the output is that of the command line,
 * and a job can be cancelled at any time.
 *
 * A result is kept until the corpus changes, its signatures included; when there are too many results, or they take
 * too much memory, the least recently requested ones are dropped first.
 */
#ifndef LODE_SERVE_JOBS_H
#define LODE_SERVE_JOBS_H

#include "base/buffer.h"
#include "base/error.h"
#include "serve/shared_result.h"

struct lode_jobs;

enum lode_job_state {
	LODE_JOB_RUNNING,
	LODE_JOB_DONE,
	LODE_JOB_FAILED,
	LODE_JOB_BUSY, /* too many are running; it was not started, and `phase` says so */
};

/* The state of a job, the caller's to release. */
struct lode_job_view {
	enum lode_job_state state;
	char phase[128]; /* running: what it does, and how far it is; a total of 0: unknown */
	uint64_t done;
	uint64_t total;
	struct lode_shared_result *result; /* done: what it wrote; held for the caller */
	struct lode_buffer message;        /* failed: what it said; a copy */
};

void lode_job_view_release(struct lode_job_view *view);

/* What jobs may write into the corpus. None of them writes what the user made, such as the last result of a mine. */
enum lode_jobs_keep {
	LODE_JOBS_KEEP_CACHE,   /* work that the next job can use */
	LODE_JOBS_KEEP_NOTHING, /* a corpus that is only read */
};

/* `corpus`: its folder. On success the caller frees it. */
int lode_jobs_make(struct lode_jobs **jobs, const char *corpus, enum lode_jobs_keep keep, struct lode_error *error);
/* Ends what is running. */
void lode_jobs_free(struct lode_jobs *jobs);

/*
 * Says how the job with these words (NULL-terminated, without the program's name)
 * is; starts it if there is none, or none of the corpus as it is now. May be called
 * from several threads.
 */
int lode_jobs_ask(struct lode_jobs *jobs, char *const *words, struct lode_job_view *view, struct lode_error *error);
/* The same, but starts nothing (LODE_JOB_BUSY: there is none), and a result of the corpus as it was will do. */
void lode_jobs_look(struct lode_jobs *jobs, char *const *words, struct lode_job_view *view);
/* Drops the result of a job that is over, so that it is started again when it is asked for. */
void lode_jobs_forget(struct lode_jobs *jobs, char *const *words);
/* A number that changes with the corpus: streams came or went, or signatures are others. */
uint64_t lode_jobs_corpus_version(const struct lode_jobs *jobs);
/* Ends a running job and forgets it. */
void lode_jobs_cancel(struct lode_jobs *jobs, char *const *words);

#endif
