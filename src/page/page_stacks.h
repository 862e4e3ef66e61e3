/*
 * The stacks of a page: the stack tree as columns, and the names of its frames.
 *
 * From a server each block of columns has the stacks that it needs. In a file all blocks
 * share one tree, in a separate block (`stacks`): streams of a corpus have most stacks in
 * common.
 */
#ifndef LODE_PAGE_PAGE_STACKS_H
#define LODE_PAGE_PAGE_STACKS_H

#include "page/page_columns.h"
#include "scope/idle.h"
#include "trace/dictionary.h"

/*
 * Adds the columns `node_parent` and `node_frame` of the nodes that have a number, `count` of them, in order
 * (NULL: of all, by their ids), and to the head the names and facts of their frames. Node 0, the empty stack,
 * is always there.
 */
void lode_page_stacks_write(const struct lode_dictionary *dictionary, const uint32_t *numbers, size_t count,
			    const struct lode_idle_stacks *idle, struct lode_page_columns *columns,
			    struct lode_json *head);

/* The tree that the blocks of a file share. A zeroed struct is empty. */
struct lode_page_stacks {
	struct lode_dictionary dictionary;
	int begun;
};

/* Adds the stacks of a block, whose numbers from now on are map->nodes. */
int lode_page_stacks_share(struct lode_page_stacks *stacks, const struct lode_dictionary *from,
			   struct lode_dictionary_map *map, struct lode_error *error);
/* Appends the block `stacks`, after all others. */
int lode_page_stacks_block(const struct lode_page_stacks *stacks, const struct lode_idle_rules *rules,
			   struct lode_buffer *out, struct lode_error *error);
void lode_page_stacks_release(struct lode_page_stacks *stacks);

#endif
