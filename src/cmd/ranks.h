/*
 * Under a launcher of MPI: all processes run the same command and divide the streams among
 * them. Those behind the first keep what they make of their streams (store/map_cache.h) and
 * end; the first one takes it from there and goes on alone.
 */
#ifndef LODE_CMD_RANKS_H
#define LODE_CMD_RANKS_H

#include "base/error.h"
#include "store/corpus_deal.h"

/* Whether a launcher started this process with others; nothing is joined yet. */
int lode_ranks_launched(void);
/* The command divides its work so many times, not once. */
void lode_ranks_expect(unsigned times);
/* Whether this is one of those that only help. */
int lode_ranks_helps(void);
/*
 * Makes this process's share, by `keep`, and waits for all others. Does not return in one
 * that helps, after the last time. Nothing happens where there is no launcher.
 */
int lode_ranks_share(struct lode_corpus *corpus,
		     int (*keep)(void *context, struct lode_job_rank rank, struct lode_error *error),
		     void *context, struct lode_error *error);
/* Before the program ends with `code`: a failure ends the whole job. */
void lode_ranks_end(int code);

#endif
