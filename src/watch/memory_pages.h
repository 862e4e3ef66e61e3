/*
 * Pages: memory in pieces of one size, chained together and freed as a whole, so
 * that data that grows at one end and is dropped at the other does not fragment
 * memory.
 */
#ifndef LODE_WATCH_MEMORY_PAGES_H
#define LODE_WATCH_MEMORY_PAGES_H

#include "base/cursor.h"
#include "base/memory.h"

/* Bytes of a page with its head. */
#define LODE_PAGE 8192

struct lode_page {
	struct lode_page *next;
	size_t used;
	unsigned char bytes[LODE_PAGE - sizeof(struct lode_page *) - sizeof(size_t)];
};

/* A zeroed struct is empty, of both. */
struct lode_pages {
	struct lode_page *spare;
	size_t spare_count;
	size_t used_count;
};

struct lode_chain {
	struct lode_page *first;
	struct lode_page *last;
};

/* Frees the spare pages; chains are released before. */
void lode_pages_release(struct lode_pages *pages);
/* Frees spare pages until at most `count` are left. */
void lode_pages_spare(struct lode_pages *pages, size_t count);
/* Room for `size` bytes in a row at the end, at most a page's; NULL when memory has run out. */
unsigned char *lode_chain_room(struct lode_pages *pages, struct lode_chain *chain, size_t size);
/* So many bytes of the room were filled. */
void lode_chain_fill(struct lode_chain *chain, size_t size);
/* Gives its pages back. */
void lode_chain_release(struct lode_pages *pages, struct lode_chain *chain);

/*
 * Reads a chain from its start: a cursor over what was filled since the last call
 * that gave a new page. The caller takes whole items from it.
 */
struct lode_chain_reader {
	const struct lode_page *next;
	struct lode_cursor cursor;
};

struct lode_chain_reader lode_chain_read(const struct lode_chain *chain);
/* The cursor, with something left; NULL at the end. */
struct lode_cursor *lode_chain_next(struct lode_chain_reader *reader);

#endif
