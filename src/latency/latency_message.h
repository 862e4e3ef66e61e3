/*
 * Latencies in the making as a message from one process to another of the same job, as scope/area_message.h. Private to latency.
 */
#ifndef LODE_LATENCY_LATENCY_MESSAGE_H
#define LODE_LATENCY_LATENCY_MESSAGE_H

#include "base/cursor.h"
#include "base/job_rank.h"
#include "latency/latency_merge.h"

/* Appends it; failure shows in the buffer. */
void lode_latency_message_write(const struct lode_latency_merge *merge, struct lode_buffer *message);

/* What was received: arrays in `merge` are the message's, which must outlive it, but those that are freed here. */
struct lode_latency_message {
	struct lode_latency_merge merge;
};

/*
 * Reads a message whose bytes begin at a multiple of 8. Returns 0, LODE_BAD_INPUT or LODE_SYSTEM; release in
 * either case, with this and not with lode_latency_merge_release.
 */
int lode_latency_message_read(struct lode_latency_message *received, struct lode_cursor message);
void lode_latency_message_release(struct lode_latency_message *received);

/* As lode_area_merge_gather: the first process has the latencies of all streams in the end. */
int lode_latency_merge_gather(struct lode_latency_merge *merge, const struct lode_job_rank *rank, int code,
			      struct lode_error *error);

#endif
