/*
 * An area in the making as a message from one process to another of the same job. Private to scope.
 *
 * Both run the same program on the same kind of machine, so arrays are sent as they are in memory, and the
 * receiver joins them in place. Still nothing is trusted: every count is checked against the size of the
 * message, and every number against the table it refers to.
 */
#ifndef LODE_SCOPE_AREA_MESSAGE_H
#define LODE_SCOPE_AREA_MESSAGE_H

#include "base/cursor.h"
#include "base/job_rank.h"
#include "scope/area_merge.h"

/* Appends it; failure shows in the buffer. */
void lode_area_message_write(const struct lode_area_merge *merge, struct lode_buffer *message);

/* What was received: arrays in `merge` are the message's, which must outlive it. */
struct lode_area_message {
	struct lode_area_merge merge;
};

/*
 * Reads a message whose bytes begin at a multiple of 8. Returns 0, LODE_BAD_INPUT or LODE_SYSTEM; release in
 * either case, with this and not with lode_area_merge_release.
 */
int lode_area_message_read(struct lode_area_message *received, struct lode_cursor message);
void lode_area_message_release(struct lode_area_message *received);

/*
 * Joins what all processes of a job have, up a tree, so that each joins a few parts only; the first process has
 * all of it in the end. They have consecutive streams, in the order of their numbers. `code` and `error` are what
 * became of this process's own part; returns the first failure in the order of streams.
 */
int lode_area_merge_gather(struct lode_area_merge *merge, const struct lode_job_rank *rank, int code,
			   struct lode_error *error);

#endif
