/*
 * Safe text: names of streams, threads and functions come from untrusted files.
 * Control sequences in them, which could move the cursor or change the title bar, and
 * invisible characters that change the order of a line are made harmless here.
 */
#ifndef LODE_BASE_SAFE_TEXT_H
#define LODE_BASE_SAFE_TEXT_H

#include "base/buffer.h"

/* Appends text from outside with control characters escaped, so that it cannot drive a terminal. */
void lode_text_safe(struct lode_buffer *buffer, const char *text);
/* The same, followed by spaces up to `width` columns; longer text is cut and ends in `~`. */
void lode_text_column(struct lode_buffer *buffer, const char *text, size_t width);
/* Columns that `text` fills once it is safe. */
size_t lode_text_width(const char *text);
/* Makes what the buffer holds from `start` on safe. */
void lode_text_escape(struct lode_buffer *buffer, size_t start);
/*
 * The last barrier before a terminal, for what consists of lines already, such as JSON: appends `raw` to `safe` with
 * everything escaped but line ends, tabs and, if it `has_colours`, escape sequences. Returns 1, or 0 where nothing had
 * to be, and then `safe` is left alone.
 */
int lode_text_for_terminal(const struct lode_buffer *raw, int has_colours, struct lode_buffer *safe);

#endif
