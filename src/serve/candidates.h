/*
 * Candidates: what no signature covers yet, mined in the background when the corpus changes, and regressions: functions
 * that take more in the last version of a service than in the one before it. The same thread removes what is too old.
 *
 * The work is that of commands: `lode mine --new`, `lode diff --gate`, `lode prune`.
 */
#ifndef LODE_SERVE_CANDIDATES_H
#define LODE_SERVE_CANDIDATES_H

#include "serve/jobs.h"

struct lode_candidate_search;

/* Ages, as `lode prune` has them; NULL: for ever. */
struct lode_candidate_search_keep {
	const char *streams;
	const char *sums;
};

/* The jobs must outlive it. NULL: it could not be started, and nothing is mined by itself. The caller ends it. */
struct lode_candidate_search *lode_candidate_search_start(struct lode_jobs *jobs, const char *corpus,
							  const struct lode_candidate_search_keep *keep);
/* NULL is allowed. */
void lode_candidate_search_end(struct lode_candidate_search *candidates);
/* Appends what was found last, as metrics of Prometheus. NULL is allowed: there is nothing. Any thread. */
void lode_candidate_search_write(struct lode_candidate_search *candidates, struct lode_buffer *text);

#endif
