/*
 * The miner's search divided among all processes of a job: the first calls the others (base/job_rank.h) with the tree of all
 * stacks; each searches its part, by prefix (miner_search.c); the first keeps the maximal ones of what they found.
 */
#ifndef LODE_MINE_MINER_JOB_H
#define LODE_MINE_MINER_JOB_H

#include "base/job_rank.h"
#include "mine/miner_search.h"

/* Nodes of the tree; searching a smaller one takes some milliseconds. */
#define LODE_NODES_WORTH_SHARING 1000

/* As miner_run, in the first process, `input->rank`, while the others serve it. */
int lode_miner_call(const struct lode_miner_input *input, struct miner_tree *root, struct lode_patterns *patterns,
		    struct lode_error *error);
/* In the others. */
int lode_miner_serve(const struct lode_job_rank *rank, struct lode_cursor message, struct lode_error *error);

/* ---- the messages, for tests ---- */

/* Appends what is to be searched; failure shows in the buffer. */
void lode_miner_question_write(const struct lode_miner_input *input, const struct miner_tree *root,
			       struct lode_buffer *message);
/* Reads it into a zeroed input and tree. Returns 0, LODE_BAD_INPUT or LODE_SYSTEM; release the tree in either case. */
int lode_miner_question_read(struct lode_miner_input *input, struct miner_tree *root, struct lode_cursor message);
/*
 * Appends the patterns of an answer, frames of which are below `frames`. Returns 0, LODE_BAD_INPUT or LODE_SYSTEM, or the failure that
 * it reports.
 */
int lode_miner_answer_read(struct lode_cursor message, size_t frames, struct lode_patterns *patterns,
			   struct lode_error *error);

#endif
