/*
 * Dealing streams to several processes that work on one corpus: they are in one queue, the
 * largest first, and an idle process takes the next. So no process waits for another while
 * there is work, even if some streams take much longer than others.
 */
#ifndef LODE_STORE_CORPUS_DEAL_H
#define LODE_STORE_CORPUS_DEAL_H

#include "base/job_rank.h"
#include "store/corpus.h"

/*
 * Calls `keep(context, i)` for the streams `list->items[i]` that this process takes, on up
 * to `jobs` threads (0: one a processor). Returns 0 when none is left to take, or LODE_SYSTEM.
 */
int lode_corpus_deal(const struct lode_corpus_list *list, const struct lode_job_rank *rank, unsigned jobs,
		     void (*keep)(void *context, size_t i), void *context);

/*
 * The streams that a process puts together: consecutive, so that processes take about the same number of stacks in all. A stream is
 * that process's in whose part of all stacks its middle is. The items are those of `list`.
 */
struct lode_corpus_list lode_corpus_part(const struct lode_corpus_list *list, const struct lode_job_rank *rank);

#endif
