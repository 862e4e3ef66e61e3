/*
 * Dealing streams to several processes that work on one corpus: largest first, each to
 * the one with the least so far. Every process deals alike, so nothing needs to be told.
 */
#ifndef LODE_TRACE_CORPUS_DEAL_H
#define LODE_TRACE_CORPUS_DEAL_H

#include "trace/corpus.h"

#include <sys/types.h>

/* One of several processes. */
struct lode_job_rank {
	unsigned number; /* from 0 */
	unsigned count;
};

/*
 * The numbers in `list` of the streams that `rank` gets, the largest first, into `mine`,
 * which has room for all. Returns how many they are, or LODE_SYSTEM.
 */
ssize_t lode_corpus_deal(const struct lode_corpus_list *list, struct lode_job_rank rank, uint32_t *mine);

#endif
