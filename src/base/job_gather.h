/*
 * What the processes of a job have, joined up a tree (job_rank.h): each joins a few parts only, and the first process has all of it in
 * the end. Messages begin with a digest of the program, so that processes of another build are recognized, and with what failed.
 */
#ifndef LODE_BASE_JOB_GATHER_H
#define LODE_BASE_JOB_GATHER_H

#include "base/job_rank.h"

struct lode_job_gathering {
	/* Appends what this process has to a message; failure shows in the buffer. Its bytes begin at a multiple of 8. */
	void (*write)(void *context, struct lode_buffer *message);
	/*
	 * Joins what another process has, which comes behind all of this one. The message is gone afterwards. Returns 0, LODE_BAD_INPUT or
	 * LODE_SYSTEM.
	 */
	int (*join)(void *context, struct lode_cursor message);
	void *context;
};

/*
 * `code` and `error` are what this process has come to by itself. Returns 0, or in every process above one that failed its failure; of
 * several that of the first process.
 */
int lode_job_gather(const struct lode_job_rank *rank, const struct lode_job_gathering *gathering, int code,
		    struct lode_error *error);

#endif
