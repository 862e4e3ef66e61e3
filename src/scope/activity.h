/*
 * What the threads of a corpus did, where nobody asks for more: the states of its processes (states.h), and the requests of
 * its loops (requests.h). Map, merge in the order of the catalogue, finish; the result does not depend on `jobs`.
 */
#ifndef LODE_SCOPE_ACTIVITY_H
#define LODE_SCOPE_ACTIVITY_H

#include "base/progress.h"
#include "scope/request_table.h"
#include "scope/states.h"
#include "store/corpus.h"

struct lode_activity {
	struct lode_state_table states; /* busiest first */
	struct lode_loop_table loops;   /* those with the most time first; streams are numbers in the list */
};

struct lode_activity_options {
	const struct lode_idle_rules *idle; /* NULL: nothing is idle, and there are no requests */
	int states_only;                    /* requests are not asked for */
	const char *const *where;           /* where.h: which streams, and which of their threads; NULL: all */
	int strict;                         /* a stream that cannot be read ends it, instead of being left out */
	unsigned jobs;                      /* 0: one a processor */
	const struct lode_progress *progress;
};

/* Release it in either case. */
int lode_activity_collect(struct lode_activity *activity, const struct lode_corpus_list *list,
			  const struct lode_activity_options *options, struct lode_error *error);
void lode_activity_release(struct lode_activity *activity);

#endif
