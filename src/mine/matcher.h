/*
 * Matcher: which stacks of a tree contain a pattern as a subsequence.
 *
 * The tree is numbered in preorder once; then the stacks below a node are one
 * interval, and a pattern is matched frame by frame over the topmost nodes of
 * each frame inside the intervals reached so far.
 */
#ifndef LODE_MINE_MATCHER_H
#define LODE_MINE_MATCHER_H

#include "trace/stack_tree.h"

struct lode_matcher {
	size_t nodes;
	size_t frames;
	uint32_t *preorder; /* by node: its preorder number */
	uint32_t *end;      /* by preorder number: one past its subtree */
	uint32_t *starts;   /* by frame, one more than frames: its occurrences in `places` */
	uint32_t *places;   /* preorder numbers, rising for each frame */
};

/* The preorder numbers [first, last) of the stacks below one topmost match. */
struct lode_match {
	uint32_t first;
	uint32_t last;
};

struct lode_matches {
	struct lode_match *items; /* rising, apart from one another */
	size_t count;
	size_t capacity;
	struct lode_match *spare; /* room for the next step */
	size_t spare_capacity;
};

/*
 * The tree (with frames below `frames`) must not change afterwards. Returns 0 or
 * LODE_SYSTEM; release in either case.
 */
int lode_matcher_init(struct lode_matcher *matcher, const struct lode_stack_tree *tree, size_t frames);
void lode_matcher_release(struct lode_matcher *matcher);
/*
 * Sets `matches` (zeroed before the first use; reused) to the stacks that contain
 * the pattern; the empty pattern is in all. Threads share a matcher, each with
 * matches of its own. Returns 0 or LODE_SYSTEM.
 */
int lode_matcher_find(const struct lode_matcher *matcher, const uint32_t *pattern, uint32_t length,
		      struct lode_matches *matches);
void lode_matches_release(struct lode_matches *matches);

#endif
