/*
 * Learning a tree from costs, as `lode explain` does (see tree.h).
 *
 * Each row is labelled with the cluster that costs it least. Rows where the second
 * best costs hardly more, as where two functions cross, would only mislead and do not
 * vote. CART grows a tree from the labels, split by split as long as that makes the
 * description shorter; then every leaf gets its cluster by what that costs its rows
 * (those without a vote included, see leaf_sums.h), what does not pay is pruned, and
 * the rest is put in its shortest form. If there are few binary features, that form
 * is found over all of them directly, and no tree is grown.
 */
#include "explain/tree/leaf_sums.h"

#include <string.h>

/* A row votes when its second best cluster makes it this much less likely (nats). */
#define CLEAR 1.0f
/* Nobody understands deeper trees. */
#define DEEPEST 40

static int takes_part(const struct lode_costs *costs, size_t row)
{
	return !costs->left_out || !lode_bit_get(costs->left_out, row);
}

/* ---- leaves ---- */

/* Adds up the rows of each leaf, and from the leaves those of each node. */
static void add_up(const struct lode_tree *tree, const struct lode_features *features,
		   const struct lode_costs *costs, double *sums)
{
	size_t size = lode_sums_size(costs->clusters);

	for (size_t row = 0; row < features->rows; row++)
		if (takes_part(costs, row))
			lode_sums_add(costs, row, sums + lode_tree_leaf(tree, features, row) * size);
	for (size_t i = tree->count; i-- > 0;) {
		const struct lode_tree_node *node = &tree->nodes[i];

		for (size_t k = 0; node->feature != LODE_NONE && k < size; k++)
			sums[i * size + k] = sums[node->left * size + k] + sums[node->right * size + k];
	}
}

static void settle(struct lode_tree *tree, const struct lode_features *features, const struct lode_costs *costs,
		   const double *sums, double *lengths)
{
	size_t size = lode_sums_size(tree->clusters);

	for (size_t i = tree->count; i-- > 0;) {
		struct lode_tree_node *node = &tree->nodes[i];
		double below;

		lengths[i] = lode_sums_leaf(sums + i * size, costs, &node->cluster);
		if (node->feature == LODE_NONE)
			continue;
		below = lengths[node->left] + lengths[node->right] + lode_test_price(features, node->feature);
		if (below < lengths[i])
			lengths[i] = below;
		else
			node->feature = LODE_NONE;
	}
}

/* Gives each leaf the cluster that costs its rows least and prunes what does not pay. Leaves `sizes` alone. */
static int fit_leaves(struct lode_tree *tree, const struct lode_features *features, const struct lode_costs *costs,
		      struct lode_error *error)
{
	double *sums = lode_calloc(tree->count, lode_sums_size(tree->clusters) * sizeof(*sums));
	double *lengths = lode_calloc(tree->count, sizeof(*lengths));

	if (!sums || !lengths) {
		lode_free(sums);
		lode_free(lengths);
		return lode_fail_memory(error);
	}
	add_up(tree, features, costs, sums);
	settle(tree, features, costs, sums, lengths);
	lode_free(sums);
	lode_free(lengths);
	lode_tree_join(tree);
	return lode_tree_tidy(tree, error);
}

/* ---- learning ---- */

/* Labels of all rows, or (with `votes`) LODE_NONE where the choice is not clear. */
static void label_rows(const struct lode_costs *costs, int votes, uint32_t *labels)
{
	for (size_t row = 0; row < costs->rows; row++) {
		const float *cost = costs->cost + row * costs->clusters;
		uint32_t best = lode_costs_best(costs, row);

		labels[row] = takes_part(costs, row) ? best : LODE_NONE;
		for (uint32_t k = 0; votes && k < costs->clusters; k++)
			if (k != best && cost[k] < cost[best] + CLEAR)
				labels[row] = LODE_NONE;
	}
}

static int all_bits(const struct lode_features *features)
{
	for (size_t i = 0; i < features->count; i++)
		if (features->items[i].kind != LODE_FEATURE_BITS)
			return 0;
	return features->count > 0;
}

/* A tree that asks every feature once, one below the other: all that lode_tree_shorten needs to know. */
static int chain(struct lode_tree *tree, const struct lode_features *features, unsigned clusters)
{
	memset(tree, 0, sizeof(*tree));
	tree->clusters = clusters;
	if (lode_tree_add(tree) == LODE_NONE)
		return LODE_SYSTEM;
	for (uint32_t f = 0, last = 0; f < features->count; f++) {
		uint32_t left = lode_tree_add(tree), right = lode_tree_add(tree);

		if (left == LODE_NONE || right == LODE_NONE)
			return LODE_SYSTEM;
		tree->nodes[last].feature = f;
		tree->nodes[last].threshold = features->items[f].threshold;
		tree->nodes[last].left = left;
		tree->nodes[last].right = right;
		last = right;
	}
	return 0;
}

static int grow(struct lode_tree *tree, const struct lode_features *features, const struct lode_costs *costs,
		const struct lode_learn_options *options, uint32_t *labels, struct lode_error *error)
{
	struct lode_grow_options how = { .criterion = LODE_GINI,
					 .deepest = DEEPEST,
					 .priced = 1,
					 .look_ahead = options->look_ahead,
					 .jobs = options->jobs,
					 .seed = options->seed };
	int code;

	label_rows(costs, 1, labels);
	code = lode_tree_grow(tree, features, labels, costs->clusters, &how, error);
	return code < 0 ? code : fit_leaves(tree, features, costs, error);
}

int lode_tree_learn(struct lode_tree *tree, const struct lode_features *features, const struct lode_costs *costs,
		    const struct lode_learn_options *options, struct lode_error *error)
{
	uint32_t *labels = lode_calloc(features->rows, sizeof(*labels));
	int code;

	memset(tree, 0, sizeof(*tree));
	if (!labels)
		return lode_fail_memory(error);
	if (all_bits(features) && features->count <= LODE_MAX_TESTS)
		code = chain(tree, features, costs->clusters) < 0 ? lode_fail_memory(error) : 0;
	else
		code = grow(tree, features, costs, options, labels, error);
	if (code == 0)
		code = lode_tree_shorten(tree, features, costs, error);
	if (code == 0) {
		label_rows(costs, 0, labels);
		lode_tree_count(tree, features, labels);
	} else {
		lode_tree_release(tree);
	}
	lode_free(labels);
	return code;
}
