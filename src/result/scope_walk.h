/*
 * The scopes of many streams: a few are made ready at a time, one per thread, and handed over
 * one after the other in the order of the catalogue, so that results do not depend on the
 * number of threads.
 */
#ifndef LODE_RESULT_SCOPE_WALK_H
#define LODE_RESULT_SCOPE_WALK_H

#include "base/progress.h"
#include "result/scope_report.h"
#include "store/unread_streams.h"

struct lode_scope_walk {
	const char *path; /* what people call the corpus */
	struct lode_scope_options options;
	unsigned jobs; /* threads; 0: one a processor */
	int strict;    /* a stream that cannot be read ends it, instead of being left out */
	const struct lode_progress *progress;
	struct lode_notes *notes; /* NULL: not wanted */
	/* Gets each stream that `where` leaves; a negative code ends the walk. */
	int (*take)(void *context, struct lode_scope_report *report, struct lode_error *error);
	void *context;
	/* What was seen. */
	uint64_t streams; /* that `where` leaves */
	uint64_t without; /* of them, without a symptom */
	uint64_t symptoms;
	struct lode_unread_streams unread; /* streams that were left out; released with the walk's end */
};

/* That no symptom is found is an error. Streams whose files are damaged or gone are left out, with a note. */
int lode_scope_walk(struct lode_scope_walk *walk, const struct lode_corpus_list *list, struct lode_error *error);

#endif
