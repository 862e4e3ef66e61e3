/*
 * Differential ranking of contexts: see diff.h, and Algorithm 3 of the paper.
 *
 * What a path costs is what its parent's path costs and what its own node takes more, so
 * one pass down the tree gives all of them.
 */
#include "latency/diff.h"

#include "base/parallel.h"
#include "base/permutation.h"
#include "latency/cause.h"
#include "latency/contexts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 9999

/* Fewer ways to split the streams than this, and not even the clearest difference is sure. */
#define LEAST_SPLITS 40

/* Paths that cost less than this share of all differences are not worth a test. */
#define TESTED_SHARE 1000

struct work {
	const struct lode_latency *sides[2]; /* base, slow */
	const uint32_t *nodes[2];	     /* their numbers in the common tree; NULL: the same */
	struct lode_diff *diff;
	size_t *starts[2];		  /* by common node: its first row; one more than nodes */
	struct lode_latency_row *rows[2]; /* with common numbers, by node */
	int64_t least;			  /* costs below this are not tested */
	int failed;
};

static int64_t add_signed(int64_t a, int64_t b)
{
	int64_t sum;

	if (!__builtin_add_overflow(a, b, &sum))
		return sum;
	return a < 0 ? INT64_MIN : INT64_MAX;
}

static uint32_t common_node(const struct work *work, int side, uint32_t node)
{
	return work->nodes[side] ? work->nodes[side][node] : node;
}

/* ---- both sides on one tree ---- */

/* Half of the largest number is enough for any latency, and keeps differences within 64 bits. */
static uint64_t per_stream(uint64_t own, size_t streams)
{
	uint64_t mean = streams ? own / streams + (own % streams * 2 >= streams) : 0;

	return mean < INT64_MAX ? mean : INT64_MAX;
}

/*
 * Whether sleeps count there, which are idle otherwise: who sleeps where nobody slept before
 * was made to. A thread that is new from its root on may well have nothing to do.
 */
static int has_new_sleeps(const struct lode_diff *diff, uint32_t node)
{
	const struct lode_stack_node *nodes = diff->dictionary->tree.nodes;

	if (diff->known[node])
		return 0;
	while (node && !diff->known[node])
		node = nodes[node].parent;
	return node != 0;
}

/*
 * What of a row is compared. Waiting for a processor is not: how busy the machine was beside
 * the program is no part of it, and who keeps processors busy is seen to run.
 */
static uint64_t own_of(const struct work *work, int side, const struct lode_latency_row *row)
{
	uint64_t own = row->own - row->queued;

	if (side && row->slept && has_new_sleeps(work->diff, common_node(work, side, row->node)))
		own = lode_add_saturating(own, row->slept);
	return own;
}

/* Rows stand by node. */
static void lay_over(const struct work *work, int side, uint64_t *values)
{
	const struct lode_latency *latency = work->sides[side];
	size_t at = 0;

	for (uint32_t i = 1; i < latency->node_count; i++) {
		uint64_t own = 0;

		for (; at < latency->row_count && latency->rows[at].node == i; at++)
			own = lode_add_saturating(own, own_of(work, side, &latency->rows[at]));
		values[common_node(work, side, i)] = per_stream(own, latency->stream_count);
	}
}

static void add_up(struct lode_diff *diff)
{
	const struct lode_stack_tree *tree = &diff->dictionary->tree;

	for (uint32_t i = 1; i < tree->count; i++)
		diff->more[i] = lode_diff_delta(diff, i);
	for (size_t i = tree->count; i-- > 1;)
		diff->more[tree->nodes[i].parent] =
			add_signed(diff->more[tree->nodes[i].parent], diff->more[i]);
	diff->difference = diff->more[0];
}

/* ---- paths ---- */

/* By node of the common tree: 1 for a leaf of the slow side's tree. NULL when memory has run out. */
static uint8_t *find_leaves(const struct work *work)
{
	const struct lode_latency *slow = work->sides[1];
	const struct lode_stack_tree *tree = &slow->dictionary.tree;
	uint8_t *leaves = lode_calloc(work->diff->dictionary->tree.count, 1);

	for (uint32_t i = 1; leaves && i < slow->node_count; i++) {
		if (!slow->nodes[i].count)
			continue;
		leaves[common_node(work, 1, i)] = 1;
		leaves[common_node(work, 1, tree->nodes[i].parent)] = 0;
	}
	if (leaves)
		leaves[0] = 0;
	return leaves;
}

/* What of a path is known when its node is: the deepest of the hottest nodes wins. */
struct way {
	int64_t cost;
	uint32_t hottest;
};

static int list_paths(struct work *work)
{
	struct lode_diff *diff = work->diff;
	const struct lode_stack_tree *tree = &diff->dictionary->tree;
	uint8_t *leaves = find_leaves(work);
	struct way *ways = lode_calloc(tree->count, sizeof(*ways));
	int code = leaves && ways ? 0 : LODE_SYSTEM;

	for (uint32_t i = 1; !code && i < tree->count; i++) {
		const struct way *parent = &ways[tree->nodes[i].parent];

		ways[i].cost = add_signed(parent->cost, lode_diff_delta(diff, i));
		ways[i].hottest =
			!parent->hottest || lode_diff_delta(diff, i) >= lode_diff_delta(diff, parent->hottest)
				? i
				: parent->hottest;
		if (!leaves[i])
			continue;
		code = lode_grow(&diff->paths, &diff->path_capacity, diff->path_count + 1,
				 sizeof(*diff->paths));
		if (!code)
			diff->paths[diff->path_count++] =
				(struct lode_diff_path){ i, ways[i].hottest, !diff->known[i], ways[i].cost, 1,
							 1 };
	}
	lode_free(leaves);
	lode_free(ways);
	return code;
}

/* ---- is it chance? ---- */

static uint64_t count_splits(uint64_t a, uint64_t b)
{
	uint64_t ways = 1, smaller = a < b ? a : b;

	for (uint64_t i = 0; i < smaller && ways < LEAST_SPLITS; i++)
		ways = ways * (a + b - i) / (i + 1);
	return ways;
}

/* The rows of a side by node of the common tree. */
static int order_rows(struct work *work, int side)
{
	const struct lode_latency *latency = work->sides[side];
	size_t nodes = work->diff->dictionary->tree.count, *starts;

	work->starts[side] = starts = lode_calloc(nodes + 2, sizeof(*starts));
	work->rows[side] = lode_calloc(latency->row_count + 1, sizeof(*work->rows[side]));
	if (!starts || !work->rows[side])
		return LODE_SYSTEM;
	for (size_t i = 0; i < latency->row_count; i++)
		starts[common_node(work, side, latency->rows[i].node) + 2]++;
	for (size_t i = 2; i < nodes + 2; i++)
		starts[i] += starts[i - 1];
	/* Filling moves each start to the next node's: one place off at first, right in the end. */
	for (size_t i = 0; i < latency->row_count; i++) {
		uint32_t node = common_node(work, side, latency->rows[i].node);
		struct lode_latency_row *row = &work->rows[side][starts[node + 1]++];

		*row = latency->rows[i];
		row->own = own_of(work, side, &latency->rows[i]);
	}
	return 0;
}

/* What a path's functions take in each stream of a side. NULL when memory has run out. */
static uint64_t *costs_of(const struct work *work, int side, uint32_t node)
{
	const struct lode_stack_node *nodes = work->diff->dictionary->tree.nodes;
	uint64_t *costs = lode_calloc(work->sides[side]->stream_count + 1, sizeof(*costs));

	for (; costs && node; node = nodes[node].parent)
		for (size_t i = work->starts[side][node]; i < work->starts[side][node + 1]; i++) {
			uint64_t *cost = &costs[work->rows[side][i].stream];

			*cost = lode_add_saturating(*cost, work->rows[side][i].own);
		}
	return costs;
}

static void test_path(void *context, size_t i)
{
	struct work *work = context;
	struct lode_diff_path *path = &work->diff->paths[i];
	uint64_t *base, *slow;

	if (path->cost < work->least)
		return;
	base = costs_of(work, 0, path->leaf);
	slow = costs_of(work, 1, path->leaf);
	path->p = base && slow ? lode_permutation_p(base, work->sides[0]->stream_count, slow,
						    work->sides[1]->stream_count, ROUNDS)
			       : -1;
	if (path->p < 0)
		__atomic_store_n(&work->failed, 1, __ATOMIC_RELAXED);
	lode_free(base);
	lode_free(slow);
}

static int compare_p(const void *a, const void *b)
{
	const struct lode_diff_path *left = a, *right = b;

	return left->p < right->p ? -1 : left->p > right->p;
}

/* Benjamini and Hochberg: the share of false alarms among all differences at least as sure as this one. */
static void correct(struct lode_diff *diff, int64_t least)
{
	size_t tests = 0;
	double q = 1;

	for (size_t i = 0; i < diff->path_count; i++)
		tests += diff->paths[i].cost >= least;
	qsort(diff->paths, diff->path_count, sizeof(*diff->paths), compare_p);
	/* Those that were not tested have p = 1 and stand last. */
	for (size_t i = tests; i-- > 0;) {
		double own = diff->paths[i].p * (double)tests / (double)(i + 1);

		q = own < q ? own : q;
		diff->paths[i].q = q;
	}
}

static int test_paths(struct work *work, unsigned jobs)
{
	struct lode_diff *diff = work->diff;
	double all = 0;

	diff->tested =
		count_splits(work->sides[0]->stream_count, work->sides[1]->stream_count) >= LEAST_SPLITS;
	if (!diff->tested || !diff->path_count)
		return 0;
	for (uint32_t i = 1; i < diff->dictionary->tree.count; i++)
		all += fabs((double)lode_diff_delta(diff, i));
	work->least = all / TESTED_SHARE < 9e18 ? (int64_t)(all / TESTED_SHARE) + 1 : INT64_MAX;
	if (order_rows(work, 0) < 0 || order_rows(work, 1) < 0)
		return LODE_SYSTEM;
	lode_parallel(jobs, diff->path_count, test_path, work);
	if (work->failed)
		return LODE_SYSTEM;
	correct(diff, work->least);
	return 0;
}

/* 2: surely takes more. 1: so it seems, but among so many paths some would by chance. 0: may well be chance. */
static int trust(const struct lode_diff_path *path)
{
	if (path->cost <= 0)
		return 0;
	return path->q < LODE_DIFF_LEVEL ? 2 : path->p < LODE_DIFF_LEVEL;
}

static int compare_paths(const void *a, const void *b, void *context)
{
	const struct lode_diff_path *left = a, *right = b;

	if (trust(left) != trust(right))
		return trust(right) - trust(left);
	if (left->cost != right->cost)
		return left->cost > right->cost ? -1 : 1;
	return lode_stacks_compare(context, left->leaf, right->leaf);
}

/* ---- the whole ---- */

static int compare_sides(struct work *work, unsigned jobs)
{
	struct lode_diff *diff = work->diff;
	size_t nodes = diff->dictionary->tree.count;

	diff->base = lode_calloc(nodes, sizeof(*diff->base));
	diff->slow = lode_calloc(nodes, sizeof(*diff->slow));
	diff->known = lode_calloc(nodes, 1);
	diff->more = lode_calloc(nodes, sizeof(*diff->more));
	if (!diff->base || !diff->slow || !diff->known || !diff->more)
		return LODE_SYSTEM;
	for (size_t i = 1; i < work->sides[0]->node_count; i++)
		diff->known[i] = work->sides[0]->nodes[i].count > 0;
	lay_over(work, 0, diff->base);
	lay_over(work, 1, diff->slow);
	add_up(diff);
	if (list_paths(work) < 0 || test_paths(work, jobs) < 0)
		return LODE_SYSTEM;
	if (diff->path_count)
		qsort_r(diff->paths, diff->path_count, sizeof(*diff->paths), compare_paths,
			(void *)(uintptr_t)diff->dictionary);
	return lode_cause_find(diff, work->sides[0], work->sides[1], work->nodes[1]);
}

int lode_diff(struct lode_latency *base, const struct lode_latency *slow, unsigned jobs,
	      struct lode_diff *diff)
{
	struct work work = { .sides = { base, slow }, .diff = diff };
	struct lode_dictionary_map map = { 0 };
	int code;

	memset(diff, 0, sizeof(*diff));
	diff->dictionary = &base->dictionary;
	code = lode_dictionary_merge(&base->dictionary, &slow->dictionary, &map);
	work.nodes[1] = map.nodes;
	if (!code)
		code = compare_sides(&work, jobs);
	lode_dictionary_map_release(&map);
	for (int side = 0; side < 2; side++) {
		lode_free(work.starts[side]);
		lode_free(work.rows[side]);
	}
	return code;
}

void lode_diff_release(struct lode_diff *diff)
{
	lode_free(diff->base);
	lode_free(diff->slow);
	lode_free(diff->known);
	lode_free(diff->more);
	lode_free(diff->paths);
	memset(diff, 0, sizeof(*diff));
}
