/*
 * The page: HTML that stands by itself, with results as packed JSON. What it shows and
 * how is the business of web/; here the data goes in.
 */
#ifndef LODE_REPORT_PAGE_H
#define LODE_REPORT_PAGE_H

#include "base/buffer.h"
#include "base/error.h"

/* Fails with LODE_USAGE, and says what to do, when the program was built without its page. */
int lode_page_is_there(struct lode_error *error);

/* A page is begun, gets its blocks of data, and is ended. `title` is plain text. */
void lode_page_begin(struct lode_buffer *page, const char *title);
/* `name` tells the page what it is ("mine"): lower-case letters, digits, `-` and `/`. */
void lode_page_block(struct lode_buffer *page, const char *name, const void *bytes, size_t size);
void lode_page_end(struct lode_buffer *page);

/* A page with one result. */
void lode_page_write(struct lode_buffer *page, const char *title, const char *name, const struct lode_buffer *json);

#endif
