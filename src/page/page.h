/*
 * The page: self-contained HTML, with results as packed JSON. What it shows and
 * how is decided in web/; here the data goes in.
 */
#ifndef LODE_PAGE_PAGE_H
#define LODE_PAGE_PAGE_H

#include "base/error.h"
#include "base/json.h"

/* Fails with LODE_USAGE, and says what to do, when the program was built without its page. */
int lode_page_is_there(struct lode_error *error);

/* Appends the page's content security policy, for servers that send it as a header, too. */
void lode_page_policy(struct lode_buffer *policy);

/* What the page knows from the start. */
struct lode_page_index {
	struct lode_buffer text;
	struct lode_json json;
};

/*
 * `title` is plain text; `api` the address that blocks are fetched from, NULL when they are in the page; `symptom` the rule
 * that the page asks with at first, or NULL.
 */
void lode_page_index_begin(struct lode_page_index *index, const char *title, const char *api, const char *symptom);
/* Names a block that can be fetched. */
void lode_page_index_block(struct lode_page_index *index, const char *name);
void lode_page_index_end(struct lode_page_index *index);
void lode_page_index_release(struct lode_page_index *index);

/* A page is begun, gets its blocks of data, and is ended. */
void lode_page_begin_with(struct lode_buffer *page, const char *title, const struct lode_page_index *index);
/* The same for a page that will hold all its blocks. */
void lode_page_begin(struct lode_buffer *page, const char *title);
/* `name` says what the block is ("mine"): lower-case letters, digits, `-` and `/`. */
void lode_page_block(struct lode_buffer *page, const char *name, const void *bytes, size_t size);
void lode_page_end(struct lode_buffer *page);

/* A page with one result. */
void lode_page_write(struct lode_buffer *page, const char *title, const char *name, const struct lode_buffer *json);

#endif
