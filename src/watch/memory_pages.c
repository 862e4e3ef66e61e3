/* Pages: see memory_pages.h. */
#include "watch/memory_pages.h"

#include <string.h>

void lode_pages_spare(struct lode_pages *pages, size_t count)
{
	while (pages->spare_count > count) {
		struct lode_page *page = pages->spare;

		pages->spare = page->next;
		pages->spare_count--;
		lode_free(page);
	}
}

void lode_pages_release(struct lode_pages *pages)
{
	lode_pages_spare(pages, 0);
	memset(pages, 0, sizeof(*pages));
}

static struct lode_page *allocate_page(struct lode_pages *pages)
{
	struct lode_page *page = pages->spare;

	if (page) {
		pages->spare = page->next;
		pages->spare_count--;
	} else {
		page = lode_alloc(sizeof(*page));
	}
	if (!page)
		return NULL;
	page->next = NULL;
	page->used = 0;
	pages->used_count++;
	return page;
}

unsigned char *lode_chain_room(struct lode_pages *pages, struct lode_chain *chain, size_t size)
{
	struct lode_page *page = chain->last;

	if (size > sizeof(page->bytes))
		return NULL;
	if (!page || sizeof(page->bytes) - page->used < size) {
		page = allocate_page(pages);
		if (!page)
			return NULL;
		if (chain->last)
			chain->last->next = page;
		else
			chain->first = page;
		chain->last = page;
	}
	return page->bytes + page->used;
}

void lode_chain_fill(struct lode_chain *chain, size_t size)
{
	chain->last->used += size;
}

void lode_chain_release(struct lode_pages *pages, struct lode_chain *chain)
{
	while (chain->first) {
		struct lode_page *page = chain->first;

		chain->first = page->next;
		page->next = pages->spare;
		pages->spare = page;
		pages->spare_count++;
		pages->used_count--;
	}
	chain->last = NULL;
}

struct lode_chain_reader lode_chain_read(const struct lode_chain *chain)
{
	return (struct lode_chain_reader){ .next = chain->first };
}

struct lode_cursor *lode_chain_next(struct lode_chain_reader *reader)
{
	while (!lode_cursor_left(&reader->cursor) && reader->next) {
		reader->cursor = lode_cursor(reader->next->bytes, reader->next->used);
		reader->next = reader->next->next;
	}
	return lode_cursor_left(&reader->cursor) ? &reader->cursor : NULL;
}
