/*
 * HTML and XML: text from outside made harmless.
 */
#ifndef LODE_BASE_MARKUP_H
#define LODE_BASE_MARKUP_H

#include "base/buffer.h"

/*
 * Appends `length` bytes as text of HTML or XML: `<`, `>`, `&` and quotes as entities, control
 * characters and what is no valid UTF-8 as U+FFFD.
 */
void lode_markup_text(struct lode_buffer *buffer, const char *text, size_t length);

#endif
