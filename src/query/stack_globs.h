/*
 * Which stacks have a frame that fits a glob: for each glob a byte per node of the stack tree. Trees
 * and frames only grow, so what is known of older nodes stays. Private to src/query/.
 */
#ifndef LODE_QUERY_STACK_GLOBS_H
#define LODE_QUERY_STACK_GLOBS_H

#include "base/array.h"
#include "trace/dictionary.h"

struct lode_stack_glob {
	char *text;
	uint8_t *frames; /* 1: fits */
	size_t frame_count;
	size_t frame_capacity;
	uint8_t *nodes;
	size_t node_count;
	size_t node_capacity;
};

struct lode_stack_globs {
	LODE_ARRAY(struct lode_stack_glob *) all;
	size_t next; /* the one that was replaced last */
};

void lode_stack_globs_release(struct lode_stack_globs *globs);
/* The glob `text`, valid until the next call, and kept as long as few others come; NULL when memory has run out. */
struct lode_stack_glob *lode_stack_globs_get(struct lode_stack_globs *globs, const char *text);
/* Brings it up to the dictionary, so that `nodes` has a byte for each node. Returns 0 or LODE_SYSTEM. */
int lode_stack_glob_extend(struct lode_stack_glob *glob, const struct lode_dictionary *dictionary);

#endif
