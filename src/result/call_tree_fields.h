/*
 * A call tree (call_tree.h) as a part of results: a field `tree`, or, for a page, a field `page` that has it beside the
 * facts of frames. Items follow their callers; an item's depth says whose it is. With two sides each number is there
 * twice.
 */
#ifndef LODE_RESULT_CALL_TREE_FIELDS_H
#define LODE_RESULT_CALL_TREE_FIELDS_H

#include "result/call_tree.h"
#include "result/frame_facts.h"

struct lode_call_tree_values {
	uint64_t least_ns;
	uint64_t contexts;
	uint64_t shown;
	uint64_t whole_ns;
	uint64_t base_whole_ns; /* of two sides */
	uint64_t hidden_ns;
	uint64_t base_hidden_ns; /* of two sides */
	struct lode_list items;
};

struct lode_call_tree_page {
	struct lode_call_tree_values tree;
	struct lode_frame_facts facts;
};

/* Does not move once it was made: its lists point to it. */
struct lode_call_tree_part {
	int for_page;
	int not_for_page;
	struct lode_call_tree_values tree;
	struct lode_call_tree_page page;
	struct lode_call_tree made; /* the rest is what they are made from */
	struct lode_idle_stacks *idle;
	uint8_t *marks;
};

extern const struct lode_fields lode_call_tree_part_fields;  /* of one side */
extern const struct lode_fields lode_call_trees_part_fields; /* of two */

/*
 * Takes ownership of `tree`. `rules` is NULL unless it is for a page, and so is `marks`, one per frame, whose ownership
 * is taken, too: facts are for all frames that the tree shows and those that have a mark already. Returns 0 or
 * LODE_SYSTEM; release in either case.
 */
int lode_call_tree_part_make(struct lode_call_tree_part *part, struct lode_call_tree *tree,
			     const struct lode_idle_rules *rules, uint8_t *marks);
/* The same where there is no tree for want of memory: releases all, leaves an empty part, returns LODE_SYSTEM. */
int lode_call_tree_part_fail(struct lode_call_tree_part *part, struct lode_call_tree *tree, uint8_t *marks);
void lode_call_tree_part_release(struct lode_call_tree_part *part);

#endif
