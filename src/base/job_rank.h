/*
 * One of several processes that run the same command (cluster/ starts them): how they share
 * numbers, exchange messages and work for the first of them.
 *
 * First all do the same, each its share. Then the first goes on alone, and the others serve it:
 * it calls tasks, which all of them work on, until it says that this was the last one. Only
 * a process's main thread uses what is here, except `take`.
 */
#ifndef LODE_BASE_JOB_RANK_H
#define LODE_BASE_JOB_RANK_H

#include "base/buffer.h"
#include "base/cursor.h"
#include "base/error.h"

struct lode_job_rank {
	unsigned number; /* from 0 */
	unsigned count;
	/*
	 * The next of the numbers 0, 1, ... that all processes share, each given once until they meet; from any
	 * thread. UINT64_MAX after a failure. NULL: every process takes each `count`-th.
	 */
	uint64_t (*take)(void *context);
	/* In the first process: what is taken until they meet again is UINT64_MAX. Only where `take` is. */
	void (*close)(void *context);
	/* Waits until all processes have come here. As those below: returns 0 or LODE_SYSTEM. */
	int (*meet)(void *context, struct lode_error *error);
	/* Sends a message; returns when the other has received it. */
	int (*send)(void *context, unsigned to, const void *bytes, size_t size, struct lode_error *error);
	/* Waits for a message of this process and makes it the content of the buffer. */
	int (*receive)(void *context, unsigned from, struct lode_buffer *message, struct lode_error *error);
	void *context;
};

/*
 * A binomial tree over the processes, the first one at its root. A process has its numbers in order: below it are
 * itself, then the processes below each of its children, from the first child to the last.
 */
/* The `i`-th child of a process, or UINT_MAX when it has fewer. */
unsigned lode_job_child(const struct lode_job_rank *rank, unsigned i);
/* Not of the first one. */
unsigned lode_job_parent(const struct lode_job_rank *rank);

/* Gives the first process's message to all. Returns 0 or LODE_SYSTEM. */
int lode_job_broadcast(const struct lode_job_rank *rank, struct lode_buffer *message, struct lode_error *error);

/* Numbers that a process takes, one after the other; zeroed before the first. */
struct lode_job_turns {
	_Atomic uint64_t taken; /* by this process, where no other one hands out numbers */
};

/* The next number of this process, from any thread. Numbers that are too large say that nothing is left. */
uint64_t lode_job_take(const struct lode_job_rank *rank, struct lode_job_turns *turns);

/* Whether the first process closed the queue, so that no more numbers are taken. */
int lode_job_is_closed(const struct lode_job_rank *rank);

/* ---- serving the first one ---- */

#define LODE_JOB_END 0 /* the last task */

/* What a process can be called for. */
struct lode_job_service {
	uint64_t task; /* LODE_JOB_END ends a table */
	int (*serve)(const struct lode_job_rank *rank, struct lode_cursor input, struct lode_error *error);
};

/* In the first process: all others begin with a task; afterwards all have met. */
int lode_job_call(const struct lode_job_rank *rank, uint64_t task, const struct lode_buffer *input,
		  struct lode_error *error);
/*
 * In another process: sends the first one the answer to a task, which begins with a 0, or where `code` is not 0 the failure
 * instead (message.h); releases it.
 */
int lode_job_answer(const struct lode_job_rank *rank, struct lode_buffer *message, int code,
		    struct lode_error *error);
/* In another process: works on tasks until the last one. Returns 0 or what failed. */
int lode_job_serve(const struct lode_job_rank *rank, const struct lode_job_service *services,
		   struct lode_error *error);

#endif
