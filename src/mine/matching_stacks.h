/*
 * Marks: which stacks of a tree contain any of some patterns.
 */
#ifndef LODE_MINE_MATCHING_STACKS_H
#define LODE_MINE_MATCHING_STACKS_H

#include "mine/matcher.h"
#include "mine/miner.h"

/*
 * Sets `marks` (by node) to 1 where the stack contains one of the patterns `first`
 * to `first + count - 1`; other marks stay. Returns 0 or LODE_SYSTEM.
 */
int lode_matching_stacks_add(const struct lode_matcher *matcher, const struct lode_patterns *patterns,
			     size_t first, size_t count, uint8_t *marks);

#endif
