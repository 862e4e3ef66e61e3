/*
 * Dictionary: what the numbers in events mean. Strings, modules and frames, and
 * the stack tree over them. A stream under construction has one of its own; an
 * analysis over many streams loads them all into one, and then equal stacks of
 * different streams are the same node.
 */
#ifndef LODE_TRACE_DICTIONARY_H
#define LODE_TRACE_DICTIONARY_H

#include "trace/frames.h"
#include "trace/stack_tree.h"

struct lode_dictionary {
	struct lode_frames frames;
	struct lode_stack_tree tree;
};

/* Returns 0 or LODE_SYSTEM. */
int lode_dictionary_init(struct lode_dictionary *dictionary);
void lode_dictionary_release(struct lode_dictionary *dictionary);

/* Writes the frames of a stack as an array, root first; memory that runs out marks the buffer. */
void lode_stack_json(const struct lode_dictionary *dictionary, uint32_t node, struct lode_json *json);

/* How the ids of one dictionary translate into another's. */
struct lode_dictionary_map {
	uint32_t *strings;
	uint32_t *frames;
	uint32_t *nodes;
};

/* Adds all of `from` to `to` and fills `map`, which the caller releases. Returns 0 or LODE_SYSTEM. */
int lode_dictionary_merge(struct lode_dictionary *to, const struct lode_dictionary *from,
			  struct lode_dictionary_map *map);
void lode_dictionary_map_release(struct lode_dictionary_map *map);

#endif
