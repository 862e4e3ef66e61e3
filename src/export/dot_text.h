/* Text in graphs for Graphviz. */
#ifndef LODE_EXPORT_DOT_TEXT_H
#define LODE_EXPORT_DOT_TEXT_H

#include "base/buffer.h"

/*
 * Appends text inside double quotes: quotes, backslashes, control characters and what
 * is no UTF-8 made harmless.
 */
void lode_dot_quoted(struct lode_buffer *buffer, const char *text, size_t length);

#endif
