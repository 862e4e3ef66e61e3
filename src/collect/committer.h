/*
 * The committer: one thread that puts streams into a corpus for many. While it makes some durable, others gather, and
 * are made durable together (lode_corpus_place_all).
 */
#ifndef LODE_COLLECT_COMMITTER_H
#define LODE_COLLECT_COMMITTER_H

#include "store/corpus.h"

struct lode_committer;

/* What it did so far. */
struct lode_committer_counts {
	uint64_t streams;  /* put into the corpus */
	uint64_t repeated; /* that were there already */
	uint64_t commits;
	uint64_t failures; /* streams that could not be put there */
	uint64_t waiting;  /* now */
};

/* Opens the corpus, which must be there. The caller ends it, when nobody waits any more. */
int lode_committer_start(struct lode_committer **committer, const char *corpus, struct lode_error *error);
void lode_committer_end(struct lode_committer *committer);

/* Waits until the streams are in the corpus, durable. Returns 0 or a negative code: then none of them is. Any thread. */
int lode_committer_add(struct lode_committer *committer, struct lode_corpus_arrival *arrivals, size_t count,
		       struct lode_error *error);
/* A name for a stream file that is to be committed, for the caller to free; NULL: no memory. Any thread. */
char *lode_committer_draft(const struct lode_committer *committer);
void lode_committer_counts(struct lode_committer *committer, struct lode_committer_counts *counts);

#endif
