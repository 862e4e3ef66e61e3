/*
 * Arrays and failures in messages between processes of one job (job_rank.h). Arrays are as they are in memory,
 * with their number in front and filled up to a multiple of 8 bytes, so that they are read in place. Processes
 * are the same program on the same kind of machine; the reader still checks every number.
 */
#ifndef LODE_BASE_MESSAGE_H
#define LODE_BASE_MESSAGE_H

#include "base/buffer.h"
#include "base/cursor.h"
#include "base/error.h"

/* Appends an array of `count` items of `size` bytes. */
void lode_message_add_array(struct lode_buffer *message, const void *items, size_t count, size_t size);
/* Pads behind an array of `bytes` bytes. */
void lode_message_fill_up(struct lode_buffer *message, size_t bytes);

/* The array of `count` items that is next; NULL, and the cursor marked, when it is not there. */
void *lode_message_items(struct lode_cursor *cursor, uint64_t count, size_t size);
/* The same with its number in front; 0 after a failure. */
void *lode_message_array(struct lode_cursor *cursor, size_t *count, size_t size);

/* Appends the code of a failure, in place of a 0, and its sentence, with which the message ends. */
void lode_message_add_failure(struct lode_buffer *message, int code, const struct lode_error *error);
/* Reads the code that is next: returns 0, or the failure with its sentence. */
int lode_message_failure(struct lode_cursor *message, struct lode_error *error);

/* Marks the cursor unless `is_right`. */
static inline void lode_message_expect(struct lode_cursor *cursor, int is_right)
{
	cursor->failed |= !is_right;
}

#endif
