/*
 * The paper's ranking: see paper_ranking.h.
 *
 * Algorithm 3 subtracts means of own latencies, and counts a path that the base does not have
 * with all its functions, those included which the base has on other paths (line 24). A path is
 * one from the root to a leaf, so one that the base has, but goes on from there, is new, too.
 *
 * The paper does not say in which path f_min is measured, if several have a patched function;
 * here it is the path of p_min.
 */
#include "latency/paper_ranking.h"

#include "latency/stack_order.h"

#include <math.h>
#include <stdlib.h>

/* ---- means ---- */

/* Own means of a side by node of the common tree. NULL when memory has run out. */
static double *means_of(const struct lode_diff *diff, const struct lode_latency *latency, const uint32_t *nodes,
			enum lode_latency_rule rule)
{
	double *own = lode_latency_own_means(latency, rule);
	double *means = lode_calloc(diff->dictionary->tree.count, sizeof(*means));

	for (uint32_t i = 1; own && means && i < latency->node_count; i++)
		means[nodes ? nodes[i] : i] = own[i];
	lode_free(own);
	if (own)
		return means;
	lode_free(means);
	return NULL;
}

/* ---- paths ---- */

/* By node: 1 where the base has it and calls nothing from it. NULL when memory has run out. */
static uint8_t *leaves_of_base(const struct lode_diff *diff, const struct lode_latency *base)
{
	const struct lode_stack_node *nodes = diff->dictionary->tree.nodes;
	uint8_t *leaves = lode_calloc(diff->dictionary->tree.count, 1);

	for (uint32_t i = 1; leaves && i < base->node_count; i++) {
		if (!base->nodes[i].count)
			continue;
		leaves[i] = 1;
		leaves[nodes[i].parent] = 0;
	}
	return leaves;
}

static void measure_path(const struct lode_diff *diff, struct lode_diff_path *path)
{
	double cost = 0;

	path->hottest = path->leaf;
	for (uint32_t node = path->leaf; node; node = diff->dictionary->tree.nodes[node].parent) {
		cost += lode_diff_gain(diff, path, node);
		if (lode_diff_gain(diff, path, node) > lode_diff_gain(diff, path, path->hottest))
			path->hottest = node;
	}
	path->cost = fabs(cost) < 9e18 ? llround(cost) : cost < 0 ? INT64_MIN : INT64_MAX;
}

static int by_cost(const void *a, const void *b, void *context)
{
	const struct lode_diff_path *left = a, *right = b;

	if (left->cost != right->cost)
		return left->cost > right->cost ? -1 : 1;
	return lode_stacks_compare(context, left->leaf, right->leaf);
}

int lode_paper_rank(struct lode_diff *diff, const struct lode_latency *base, const struct lode_latency *slow,
		    const uint32_t *slow_nodes, const struct lode_diff_options *options)
{
	uint8_t *leaves = leaves_of_base(diff, base);
	int code = leaves ? 0 : LODE_SYSTEM;

	if (options->mean) {
		diff->base_means = means_of(diff, base, NULL, options->rule);
		diff->slow_means = means_of(diff, slow, slow_nodes, options->rule);
		if (!diff->base_means || !diff->slow_means)
			code = LODE_SYSTEM;
	}
	for (size_t i = 0; !code && i < diff->path_count; i++) {
		diff->paths[i].whole = options->whole_new_paths && !leaves[diff->paths[i].leaf];
		measure_path(diff, &diff->paths[i]);
	}
	if (!code && diff->path_count)
		qsort_r(diff->paths, diff->path_count, sizeof(*diff->paths), by_cost,
			(void *)(uintptr_t)diff->dictionary);
	lode_free(leaves);
	return code;
}

/* ---- distances ---- */

struct lode_diff_distance lode_diff_distance_of(const struct lode_diff *diff, const uint8_t *at_fault)
{
	const struct lode_stack_tree *tree = &diff->dictionary->tree;
	struct lode_diff_distance distance = { 0, 0 };

	for (size_t i = 0; !distance.path && i < diff->path_count; i++) {
		const struct lode_diff_path *path = &diff->paths[i];
		uint32_t hottest = lode_stack_tree_depth(tree, path->hottest);

		for (uint32_t node = path->leaf; node; node = tree->nodes[node].parent) {
			uint32_t depth = lode_stack_tree_depth(tree, node);
			size_t calls = depth > hottest ? depth - hottest : hottest - depth;

			if (!at_fault[tree->nodes[node].frame] || (distance.path && calls >= distance.function))
				continue;
			distance = (struct lode_diff_distance){ i + 1, calls };
		}
	}
	return distance;
}
