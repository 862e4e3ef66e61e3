/*
 * HTML: text from outside made harmless.
 */
#ifndef LODE_PAGE_HTML_H
#define LODE_PAGE_HTML_H

#include "base/buffer.h"

/*
 * Appends `length` bytes as HTML text: `<`, `>`, `&` and quotes as entities, control
 * characters and what is no valid UTF-8 as U+FFFD.
 */
void lode_html_text(struct lode_buffer *buffer, const char *text, size_t length);

#endif
