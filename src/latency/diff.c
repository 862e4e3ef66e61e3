/*
 * Differential ranking of contexts: see diff.h, and Algorithm 3 of the paper.
 *
 * What a path costs is what its parent's path costs and what its own node takes more, so
 * one pass down the tree gives all of them.
 */
#include "latency/diff.h"

#include "latency/cause.h"
#include "latency/diff_evidence.h"
#include "latency/diff_rows.h"
#include "latency/stack_order.h"
#include "latency/paper_ranking.h"

#include <stdlib.h>
#include <string.h>

struct work {
	struct lode_diff_rows rows;
	struct lode_diff *diff;
};

static int64_t add_signed(int64_t a, int64_t b)
{
	int64_t sum;

	if (!__builtin_add_overflow(a, b, &sum))
		return sum;
	return a < 0 ? INT64_MIN : INT64_MAX;
}

/* ---- both sides on one tree ---- */

/* Half of the largest number is enough for any latency, and keeps differences within 64 bits. */
static uint64_t per_stream(uint64_t own, size_t streams)
{
	uint64_t mean = streams ? own / streams + (own % streams * 2 >= streams) : 0;

	return mean < INT64_MAX ? mean : INT64_MAX;
}

static void project_onto_common_tree(const struct work *work, int side, uint64_t *values)
{
	for (uint32_t i = 1; i < work->rows.tree->count; i++)
		values[i] =
			per_stream(lode_diff_rows_own(&work->rows, side, i), work->rows.sides[side]->stream_count);
}

static void add_up(struct lode_diff *diff)
{
	const struct lode_stack_tree *tree = &diff->dictionary->tree;

	for (uint32_t i = 1; i < tree->count; i++) {
		diff->more[i] = lode_diff_delta(diff, i);
		diff->base_whole = lode_add_saturating(diff->base_whole, diff->base[i]);
	}
	for (size_t i = tree->count; i-- > 1;)
		diff->more[tree->nodes[i].parent] = add_signed(diff->more[tree->nodes[i].parent], diff->more[i]);
	diff->difference = diff->more[0];
}

/* ---- paths ---- */

/* By node of the common tree: 1 for a leaf of the slow side's tree. NULL when memory has run out. */
static uint8_t *find_leaves(const struct work *work)
{
	const struct lode_latency *slow = work->rows.sides[1];
	const struct lode_stack_tree *tree = &slow->dictionary.tree;
	uint8_t *leaves = lode_calloc(work->diff->dictionary->tree.count, 1);

	for (uint32_t i = 1; leaves && i < slow->node_count; i++) {
		if (!slow->nodes[i].count)
			continue;
		leaves[lode_diff_rows_node(&work->rows, 1, i)] = 1;
		leaves[lode_diff_rows_node(&work->rows, 1, tree->nodes[i].parent)] = 0;
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
		ways[i].hottest = !parent->hottest || lode_diff_delta(diff, i) >=
							      lode_diff_delta(diff, parent->hottest)
					  ? i
					  : parent->hottest;
		if (!leaves[i])
			continue;
		code = LODE_GROW(diff->paths, diff->path_capacity, diff->path_count + 1);
		if (!code)
			diff->paths[diff->path_count++] = (struct lode_diff_path){ .leaf = i,
										   .hottest = ways[i].hottest,
										   .is_new = !diff->known[i],
										   .cost = ways[i].cost,
										   .p = 1,
										   .q = 1 };
	}
	lode_free(leaves);
	lode_free(ways);
	return code;
}

/* ---- their order ---- */

int lode_diff_is_sure(const struct lode_diff *diff)
{
	return diff->chance.sure_functions || (diff->difference > 0 && diff->chance.q < LODE_DIFF_LEVEL);
}

/* 2: surely takes more. 1: so it seems, but among so many paths some would by chance. 0: may well be chance. */
static int trust(const struct lode_diff_path *path)
{
	if (path->cost <= 0)
		return 0;
	return lode_diff_path_is_sure(path) ? 2 : path->p < LODE_DIFF_LEVEL;
}

/* Contexts of one function stand together: how they share its time says less than how much it takes in all. */
static int compare_paths(const void *a, const void *b, void *context)
{
	const struct lode_diff_path *left = a, *right = b;
	const struct lode_diff *diff = context;
	int64_t left_weight = lode_diff_function_of(diff, left->hottest)->weight;
	int64_t right_weight = lode_diff_function_of(diff, right->hottest)->weight;

	if (trust(left) != trust(right))
		return trust(right) - trust(left);
	if ((left->cost > 0) != (right->cost > 0))
		return left->cost > 0 ? -1 : 1;
	if (left_weight != right_weight)
		return left_weight > right_weight ? -1 : 1;
	if (left->cost != right->cost)
		return left->cost > right->cost ? -1 : 1;
	return lode_stacks_compare(diff->dictionary, left->leaf, right->leaf);
}

/* ---- the whole ---- */

static void weigh_functions(struct lode_diff *diff)
{
	for (size_t i = 0; i < diff->dictionary->frames.count; i++)
		diff->functions[i].weight = diff->functions[i].more;
	for (size_t i = 0; i < diff->path_count; i++) {
		uint32_t hottest = diff->paths[i].hottest;
		struct lode_diff_function_growth *function = &diff->functions[diff->function_of[hottest]];
		int64_t here = lode_diff_delta(diff, hottest);

		if (here > function->weight)
			function->weight = here;
	}
}

static int compare_sides(struct work *work, const struct lode_diff_options *options)
{
	struct lode_diff *diff = work->diff;
	struct lode_diff_rows *rows = &work->rows;
	size_t nodes = diff->dictionary->tree.count;

	diff->base = lode_calloc(nodes, sizeof(*diff->base));
	diff->slow = lode_calloc(nodes, sizeof(*diff->slow));
	diff->known = lode_calloc(nodes, 1);
	diff->more = lode_calloc(nodes, sizeof(*diff->more));
	if (!diff->base || !diff->slow || !diff->known || !diff->more)
		return LODE_SYSTEM;
	for (size_t i = 1; i < rows->sides[0]->node_count; i++)
		diff->known[i] = rows->sides[0]->nodes[i].count > 0;
	if (lode_diff_rows_order(rows, diff->known) < 0)
		return LODE_SYSTEM;
	project_onto_common_tree(work, 0, diff->base);
	project_onto_common_tree(work, 1, diff->slow);
	add_up(diff);
	if (list_paths(work) < 0 || lode_diff_test(diff, rows, options->jobs) < 0)
		return LODE_SYSTEM;
	weigh_functions(diff);
	if (diff->path_count)
		qsort_r(diff->paths, diff->path_count, sizeof(*diff->paths), compare_paths, diff);
	if (lode_cause_find(diff, rows, options) < 0)
		return LODE_SYSTEM;
	if (options->gate && lode_gate_judge(diff, rows, options->gate, options->jobs, &diff->gate) < 0)
		return LODE_SYSTEM;
	return options->mean || options->whole_new_paths
		       ? lode_paper_rank(diff, rows->sides[0], rows->sides[1], rows->nodes[1], options)
		       : 0;
}

int lode_diff(struct lode_latency *base, const struct lode_latency *slow, const struct lode_diff_options *options,
	      struct lode_diff *diff)
{
	struct work work = { .rows = { .sides = { base, slow }, .tree = &base->dictionary.tree }, .diff = diff };
	struct lode_dictionary_map map = { 0 };
	int code;

	memset(diff, 0, sizeof(*diff));
	diff->dictionary = &base->dictionary;
	code = lode_dictionary_merge(&base->dictionary, &slow->dictionary, &map);
	work.rows.nodes[1] = map.nodes;
	if (!code)
		code = compare_sides(&work, options);
	lode_dictionary_map_release(&map);
	lode_diff_rows_release(&work.rows);
	return code;
}

void lode_diff_release(struct lode_diff *diff)
{
	lode_gate_result_release(&diff->gate);
	lode_free(diff->base);
	lode_free(diff->slow);
	lode_free(diff->known);
	lode_free(diff->more);
	lode_free(diff->function_of);
	lode_free(diff->functions);
	lode_free(diff->paths);
	lode_free(diff->base_means);
	lode_free(diff->slow_means);
	memset(diff, 0, sizeof(*diff));
}
