/*
 * Similar pairs of many patterns, found by all processes of a job: the first calls the others (base/job_rank.h) with
 * the patterns and what their similarity depends on; each compares blocks of rows; the first collects what they found.
 */
#ifndef LODE_MINE_SIMILARITY_JOB_H
#define LODE_MINE_SIMILARITY_JOB_H

#include "mine/similarities.h"

/* Patterns; comparing fewer takes some milliseconds. */
#define LODE_WORTH_SHARING 256

/*
 * As lode_similarities_compare, in the first process, `input->rank`, while the others serve it. `similarities` are those of
 * `input`.
 */
int lode_similarities_call(const struct lode_clusters_input *input, const struct lode_similarities *similarities,
			   uint32_t least, const struct lode_similarities_sink *sink, struct lode_error *error);
/* In the others. */
int lode_similarities_serve(const struct lode_job_rank *rank, struct lode_cursor message, struct lode_error *error);

/* ---- the messages, for tests ---- */

/* What is to be compared, as it was received; patterns are the message's. Their frames are numbered from 0. */
struct lode_similarity_question {
	uint32_t least;
	unsigned jobs;
	struct lode_patterns patterns;
	struct lode_words *words;
	struct lode_call_counts *counts;
};

/* Appends it; failure shows in the buffer. */
void lode_similarity_question_write(const struct lode_clusters_input *input, uint32_t least,
				    struct lode_buffer *message);
/* Returns 0, LODE_BAD_INPUT or LODE_SYSTEM; release in either case. */
int lode_similarity_question_read(struct lode_similarity_question *question, struct lode_cursor message);
void lode_similarity_question_release(struct lode_similarity_question *question);

/*
 * Gives the rows of an answer to the sink; `seen`, by row of `count` patterns, says which were there before and now.
 * Returns 0, LODE_BAD_INPUT, or the failure that the answer reports.
 */
int lode_similarity_answer_read(struct lode_cursor message, size_t count, uint8_t *seen,
				const struct lode_similarities_sink *sink, struct lode_error *error);

#endif
