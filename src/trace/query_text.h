/* Queries as the text of a context: short, on one line, and the same for queries that differ only in their values. */
#ifndef LODE_TRACE_QUERY_TEXT_H
#define LODE_TRACE_QUERY_TEXT_H

#include <stddef.h>

/* Bytes of a query's text, with its NUL. */
#define LODE_QUERY_TEXT 120

/*
 * The query, up to its NUL or of `length` bytes, which it was cut to then. Comments are left out, blanks are single, strings
 * and numbers become `?`, and so do lists of them in parentheses. Names in double quotes or backticks stay. What does not
 * fit is cut before a word and marked by `…`.
 */
void lode_query_text(const char *query, size_t length, char text[LODE_QUERY_TEXT]);

#endif
