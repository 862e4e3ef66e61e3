/*
 * Under a launcher of MPI: all processes run the same command and divide the streams among them. All but
 * the first cache what they compute from their streams (store/map_cache.h), merge their part and send it
 * on; then they serve the first one (base/job_rank.h) until it is done.
 */
#ifndef LODE_CMD_RANKS_H
#define LODE_CMD_RANKS_H

#include "base/error.h"
#include "tasks/host.h"

/* Whether a launcher started this process with others; nothing need be joined yet. */
int lode_ranks_launched(void);
/* The command divides its work `times` times, not once. */
void lode_ranks_expect(unsigned times);
/* Whether this process only works for another one. */
int lode_ranks_helps(void);
/*
 * Makes this process's share, waits for all others and joins what they made. Does not return in
 * one that helps, after the last time. Where there is no launcher, or after the last time, a process has it all to itself.
 */
int lode_ranks_share(struct lode_corpus *corpus, const struct lode_shared_work *work, struct lode_error *error);
/* The first process, while the others serve it; else NULL. */
const struct lode_job_rank *lode_ranks_served(void);
/* Warns where the launcher would take long to pass on the result of an analysis. Before this process joins others. */
void lode_ranks_warn(const struct lode_call *call);
/* Before the program ends with `code`: a failure ends the whole job. */
void lode_ranks_end(int code);

#endif
