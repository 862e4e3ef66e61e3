/*
 * Words of lode scope: threads, frames that matter, wakers. Private to it.
 */
#ifndef LODE_TEXT_SCOPE_WORDS_H
#define LODE_TEXT_SCOPE_WORDS_H

#include "text/scope_text.h"

/* What is being written. */
struct lode_scope_page {
	const struct lode_scope_report *report;
	const struct lode_scope_found *found;
	const struct lode_look *look;
	struct lode_buffer *buffer;
	size_t most;     /* lines, rows; 0: all */
	uint32_t *names; /* by string: tid of the thread called so, plus one; 0: none; LODE_NONE: several */
};

/*
 * What a reader looks for in a stack: the last function of the program itself,
 * and behind it the last of a library, or else of the kernel, without the
 * machinery that all waits and wakings end in. LODE_NONE: there is no such frame.
 */
struct lode_gist {
	uint32_t own;
	uint32_t library;
	uint32_t kernel;
};

/* What a wait was for: a string, 0: unknown; and the thread that held it, or LODE_NONE. */
struct lode_scope_object {
	uint32_t text;
	uint32_t holder;
};

struct lode_scope_object lode_scope_object_of(const struct lode_scope_page *page, uint32_t wait);

/* Learns which threads are known by their names alone. Returns 0 or LODE_SYSTEM; release in either case. */
int lode_scope_page_init(struct lode_scope_page *page);
void lode_scope_page_release(struct lode_scope_page *page);

/* Appends text from outside, safe for a terminal. */
void lode_put_string(struct lode_scope_page *page, uint32_t string);
/* Appends the thread's name; its number where it has none, or another thread has the same. */
void lode_put_thread(struct lode_scope_page *page, uint32_t thread);

struct lode_gist lode_gist_of(const struct lode_scope_page *page, uint32_t stack);
int lode_gist_compare(const struct lode_gist *a, const struct lode_gist *b);
void lode_put_gist(struct lode_scope_page *page, struct lode_gist gist);
/* `THREAD waits in PLACE`, or where it is known what for: `THREAD waits for OBJECT, held by THREAD, in PLACE`. */
void lode_put_wait(struct lode_scope_page *page, uint32_t thread, struct lode_gist gist,
		   struct lode_scope_object object);
/* `THREAD is ready and waits for a processor`, and who has it; `behind` LODE_NONE: not known. */
void lode_put_ready(struct lode_scope_page *page, uint32_t thread, uint32_t behind);
/* A line with the states of a path, the longest first, and one about a quota, if that may be why it was ready. */
void lode_put_states(struct lode_scope_page *page);
/*
 * A line with the requests or queries that the symptom's thread worked on, where some are known; in
 * scope_contexts_text.c.
 */
void lode_put_contexts(struct lode_scope_page *page, const struct lode_scope_lines *lines);
/* `, woken by …`: who ended the wait, and where. */
void lode_put_waker(struct lode_scope_page *page, uint32_t wait);
/* The threads of the scope, busiest first; in scope_threads_text.c. */
void lode_put_scope_threads(struct lode_scope_page *page);

#endif
