/*
 * The scopes of many streams: a few are made ready at a time, one a thread, and handed over
 * one after the other in the order of the catalogue, so that results do not depend on the
 * number of threads.
 */
#ifndef LODE_RESULT_SCOPE_WALK_H
#define LODE_RESULT_SCOPE_WALK_H

#include "base/progress.h"
#include "result/scope_report.h"

struct lode_scope_walk {
	struct lode_scope_options options;
	unsigned jobs; /* threads; 0: one a processor */
	const struct lode_progress *progress;
	/* Gets each stream that `where` leaves; a negative code ends the walk. */
	int (*take)(void *context, struct lode_scope_report *report, struct lode_error *error);
	void *context;
};

int lode_scope_walk(const struct lode_scope_walk *walk, const struct lode_corpus_entry *const *entries,
		    size_t count, struct lode_error *error);

#endif
