/*
 * A dictionary in a message from one process to another of the same job (base/message.h). The reader checks every number.
 */
#ifndef LODE_TRACE_DICTIONARY_MESSAGE_H
#define LODE_TRACE_DICTIONARY_MESSAGE_H

#include "base/buffer.h"
#include "base/cursor.h"
#include "trace/dictionary.h"

/* Appends it; failure shows in the buffer. */
void lode_dictionary_message_write(const struct lode_dictionary *dictionary, struct lode_buffer *message);
/*
 * Reads what is next into a zeroed dictionary, which can be merged from and nothing else: its arrays and texts are the message's, but
 * frames.strings.items, which the caller frees in either case. What is wrong is marked in the cursor. Returns 0 or LODE_SYSTEM.
 */
int lode_dictionary_message_read(struct lode_cursor *cursor, struct lode_dictionary *dictionary);

#endif
