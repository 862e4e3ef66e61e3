/* The matcher against a subsequence test of every stack. */
#include "failing_memory.h"
#include "mine/matcher.h"
#include "random_stream.h"

#include <stdlib.h>
#include <string.h>

/* ---- the oracle: frames of one stack from the root, compared one by one ---- */

static int stack_contains(const struct lode_stack_tree *tree, uint32_t node, const uint32_t *pattern,
			  uint32_t length)
{
	uint32_t depth = lode_stack_tree_depth(tree, node), matched = 0;
	uint32_t *frames = calloc(depth + 1, sizeof(*frames));

	lode_stack_tree_frames(tree, node, frames, depth);
	for (uint32_t i = 0; i < depth && matched < length; i++)
		matched += frames[i] == pattern[matched];
	free(frames);
	return matched == length;
}

static int is_found(const struct lode_matcher *matcher, const struct lode_matches *matches, uint32_t node)
{
	for (size_t i = 0; i < matches->count; i++)
		if (matcher->preorder[node] >= matches->items[i].first &&
		    matcher->preorder[node] < matches->items[i].last)
			return 1;
	return 0;
}

static void check_pattern(const struct lode_stack_tree *tree, const struct lode_matcher *matcher,
			  const uint32_t *pattern, uint32_t length, struct lode_matches *matches)
{
	assert_int_equal(lode_matcher_find(matcher, pattern, length, matches), 0);
	for (size_t i = 0; i < matches->count; i++) {
		assert_true(matches->items[i].first < matches->items[i].last);
		assert_true(matches->items[i].last <= matcher->nodes);
		if (i)
			assert_true(matches->items[i - 1].last <= matches->items[i].first);
	}
	for (uint32_t node = 0; node < tree->count; node++)
		assert_int_equal(is_found(matcher, matches, node), stack_contains(tree, node, pattern, length));
}

static void random_tree(struct lode_stack_tree *tree, uint64_t *seed, size_t nodes, uint32_t frames)
{
	assert_int_equal(lode_stack_tree_init(tree), 0);
	for (size_t i = 0; i < nodes; i++) {
		/* Often below the newest node, so that some stacks are deep. */
		uint32_t parent = random_below(seed, 3) ? (uint32_t)random_below(seed, tree->count)
							: (uint32_t)tree->count - 1;

		assert_int_not_equal(lode_stack_tree_child(tree, parent, (uint32_t)random_below(seed, frames)),
				     LODE_NONE);
	}
}

static uint32_t random_pattern(uint64_t *seed, uint32_t frames, uint32_t *pattern, uint32_t limit)
{
	uint32_t length = (uint32_t)random_below(seed, limit + 1);

	for (uint32_t i = 0; i < length; i++)
		pattern[i] = (uint32_t)random_below(seed, frames);
	return length;
}

static void the_matcher_finds_the_stacks_that_contain_the_pattern(void **state)
{
	struct lode_matches matches = { 0 };
	uint64_t seed = 7;

	(void)state;
	for (int round = 0; round < 1500; round++) {
		uint32_t frames = 1 + (uint32_t)random_below(&seed, 6), pattern[6];
		struct lode_stack_tree tree;
		struct lode_matcher matcher;

		random_tree(&tree, &seed, random_below(&seed, 60), frames);
		assert_int_equal(lode_matcher_init(&matcher, &tree, frames), 0);
		for (int i = 0; i < 6; i++) {
			uint32_t length = random_pattern(&seed, frames, pattern, 5);

			check_pattern(&tree, &matcher, pattern, length, &matches);
		}
		lode_matcher_release(&matcher);
		lode_stack_tree_release(&tree);
	}
	lode_matches_release(&matches);
}

static void nodes_are_numbered_in_preorder(void **state)
{
	struct lode_stack_tree tree;
	struct lode_matcher matcher;
	uint64_t seed = 3;

	(void)state;
	random_tree(&tree, &seed, 500, 5);
	assert_int_equal(lode_matcher_init(&matcher, &tree, 5), 0);
	assert_int_equal(matcher.preorder[0], 0);
	assert_int_equal(matcher.end[0], tree.count);
	for (uint32_t node = 1; node < tree.count; node++) {
		uint32_t up = matcher.preorder[tree.nodes[node].parent], own = matcher.preorder[node];

		assert_true(up < own && matcher.end[own] <= matcher.end[up]);
	}
	lode_matcher_release(&matcher);
	lode_stack_tree_release(&tree);
}

static void the_empty_pattern_is_in_every_stack(void **state)
{
	struct lode_matches matches = { 0 };
	struct lode_stack_tree tree;
	struct lode_matcher matcher;

	(void)state;
	assert_int_equal(lode_stack_tree_init(&tree), 0);
	assert_int_equal(lode_matcher_init(&matcher, &tree, 0), 0);
	assert_int_equal(lode_matcher_find(&matcher, NULL, 0, &matches), 0);
	assert_int_equal(matches.count, 1);
	assert_int_equal(matches.items[0].first, 0);
	assert_int_equal(matches.items[0].last, 1);
	lode_matches_release(&matches);
	lode_matcher_release(&matcher);
	lode_stack_tree_release(&tree);
}

static void a_frame_that_the_tree_does_not_know_matches_nothing(void **state)
{
	const uint32_t known = 1, added_later = 9, none = LODE_NONE;
	struct lode_matches matches = { 0 };
	struct lode_stack_tree tree;
	struct lode_matcher matcher;

	(void)state;
	assert_int_equal(lode_stack_tree_init(&tree), 0);
	assert_int_equal(lode_stack_tree_child(&tree, 0, 1), 1);
	assert_int_equal(lode_matcher_init(&matcher, &tree, 3), 0);
	assert_int_equal(lode_matcher_find(&matcher, &known, 1, &matches), 0);
	assert_int_equal(matches.count, 1);
	assert_int_equal(lode_matcher_find(&matcher, &added_later, 1, &matches), 0);
	assert_int_equal(matches.count, 0);
	assert_int_equal(lode_matcher_find(&matcher, &none, 1, &matches), 0);
	assert_int_equal(matches.count, 0);
	lode_matches_release(&matches);
	lode_matcher_release(&matcher);
	lode_stack_tree_release(&tree);
}

/* Recursion: k times the function needs a stack at least k deep, found as one interval. */
static void deep_recursion_is_one_interval(void **state)
{
	enum { DEPTH = 5000 };
	uint32_t *pattern = calloc(DEPTH + 1, sizeof(*pattern)), node = 0;
	struct lode_matches matches = { 0 };
	struct lode_stack_tree tree;
	struct lode_matcher matcher;

	(void)state;
	assert_int_equal(lode_stack_tree_init(&tree), 0);
	for (int i = 0; i < DEPTH; i++)
		node = lode_stack_tree_child(&tree, node, 0);
	assert_int_equal(lode_matcher_init(&matcher, &tree, 1), 0);
	assert_int_equal(lode_matcher_find(&matcher, pattern, DEPTH - 1, &matches), 0);
	assert_int_equal(matches.count, 1);
	assert_int_equal(matches.items[0].first, DEPTH - 1);
	assert_int_equal(matches.items[0].last, DEPTH + 1);
	assert_int_equal(lode_matcher_find(&matcher, pattern, DEPTH + 1, &matches), 0);
	assert_int_equal(matches.count, 0);
	free(pattern);
	lode_matches_release(&matches);
	lode_matcher_release(&matcher);
	lode_stack_tree_release(&tree);
}

static int init_and_find(const struct lode_stack_tree *tree)
{
	const uint32_t pattern[] = { 0, 1 };
	struct lode_matches matches = { 0 };
	struct lode_matcher matcher;
	int code = lode_matcher_init(&matcher, tree, 3);

	if (!code)
		code = lode_matcher_find(&matcher, pattern, 2, &matches);
	if (!code)
		assert_true(matches.count > 16);
	lode_matches_release(&matches);
	lode_matcher_release(&matcher);
	return code;
}

static void memory_that_runs_out_is_a_clean_error(void **state)
{
	struct lode_stack_tree tree;
	uint64_t seed = 11;

	(void)state;
	random_tree(&tree, &seed, 400, 3);
	FAIL_EACH_ALLOCATION(6, init_and_find(&tree));
	lode_stack_tree_release(&tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_matcher_finds_the_stacks_that_contain_the_pattern),
		cmocka_unit_test(nodes_are_numbered_in_preorder),
		cmocka_unit_test(the_empty_pattern_is_in_every_stack),
		cmocka_unit_test(a_frame_that_the_tree_does_not_know_matches_nothing),
		cmocka_unit_test(deep_recursion_is_one_interval),
		cmocka_unit_test(memory_that_runs_out_is_a_clean_error),
	};

	return cmocka_run_group_tests_name("mine_matcher", tests, NULL, NULL);
}
