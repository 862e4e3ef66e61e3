/*
 * Shortening a tree: the shortest description over a few tests, exactly.
 *
 * T tests divide the rows into 2^T patterns, and every node of every tree over
 * these tests is a cube: each test answered no, yes, or not asked yet. There are 3^T
 * cubes, numbered in base 3 with 2 for "not asked", so that the two halves of a
 * cube have smaller numbers than itself and one pass in ascending order finds, for
 * each cube, the sums over its rows (those of its halves, added) and the cheapest
 * tree below it: a leaf, or the best test that is not asked yet.
 */
#include "explain/tree/leaf_sums.h"

#include <string.h>

struct cubes {
	const struct lode_features *features;
	const struct lode_costs *costs;
	struct lode_test tests[LODE_MAX_TESTS];
	double thresholds[LODE_MAX_TESTS];
	double price[LODE_MAX_TESTS];
	unsigned test_count;
	size_t powers[LODE_MAX_TESTS + 1]; /* of three */
	unsigned clusters;
	size_t size;            /* numbers in the sums of a cube */
	double *sums;           /* one a cube */
	double *best;           /* of the cheapest tree */
	unsigned char *choice;  /* its first test; test_count: a leaf */
	unsigned char *cluster; /* its cluster as a leaf */
};

static int allocate(struct cubes *cubes)
{
	size_t count;

	cubes->powers[0] = 1;
	for (unsigned t = 0; t < cubes->test_count; t++)
		cubes->powers[t + 1] = cubes->powers[t] * 3;
	count = cubes->powers[cubes->test_count];
	cubes->size = lode_sums_size(cubes->clusters);
	cubes->sums = lode_calloc(count, cubes->size * sizeof(*cubes->sums));
	cubes->best = lode_calloc(count, sizeof(*cubes->best));
	cubes->choice = lode_calloc(count, 1);
	cubes->cluster = lode_calloc(count, 1);
	return cubes->sums && cubes->best && cubes->choice && cubes->cluster ? 0 : LODE_SYSTEM;
}

static void release(struct cubes *cubes)
{
	lode_free(cubes->sums);
	lode_free(cubes->best);
	lode_free(cubes->choice);
	lode_free(cubes->cluster);
}

static void add_row(struct cubes *cubes, size_t row)
{
	size_t cube = 0;

	for (unsigned t = 0; t < cubes->test_count; t++)
		if (lode_test_row(cubes->features, cubes->tests[t], row))
			cube += cubes->powers[t];
	lode_sums_add(cubes->costs, row, cubes->sums + cube * cubes->size);
}

/* A cube with a test not asked: its halves, of the first such test, have the sums. */
static void add_halves(struct cubes *cubes, size_t cube, const unsigned char *digits)
{
	double *sum = cubes->sums + cube * cubes->size;
	const double *no, *yes;
	unsigned t = 0;

	while (t < cubes->test_count && digits[t] != 2)
		t++;
	if (t == cubes->test_count)
		return;
	no = sum - 2 * cubes->powers[t] * cubes->size;
	yes = sum - cubes->powers[t] * cubes->size;
	for (size_t k = 0; k < cubes->size; k++)
		sum[k] = no[k] + yes[k];
}

static void choose(struct cubes *cubes, size_t cube, const unsigned char *digits)
{
	uint32_t cluster;

	cubes->best[cube] = lode_sums_leaf(cubes->sums + cube * cubes->size, cubes->costs, &cluster);
	cubes->cluster[cube] = (unsigned char)cluster;
	cubes->choice[cube] = (unsigned char)cubes->test_count;
	for (unsigned t = 0; t < cubes->test_count; t++) {
		double length;

		if (digits[t] != 2)
			continue;
		length = cubes->best[cube - 2 * cubes->powers[t]] + cubes->best[cube - cubes->powers[t]] +
			 cubes->price[t];
		if (length < cubes->best[cube] - 1e-9) {
			cubes->best[cube] = length;
			cubes->choice[cube] = (unsigned char)t;
		}
	}
}

static void fill(struct cubes *cubes)
{
	unsigned char digits[LODE_MAX_TESTS + 1] = { 0 };

	for (size_t cube = 0; cube < cubes->powers[cubes->test_count]; cube++) {
		add_halves(cubes, cube, digits);
		choose(cubes, cube, digits);
		for (unsigned t = 0; ++digits[t] == 3 && t < cubes->test_count; t++)
			digits[t] = 0;
	}
}

/* Writes the cheapest tree below `cube` into `node`. */
static int write_tree(const struct cubes *cubes, size_t cube, struct lode_tree *tree, uint32_t node)
{
	unsigned t = cubes->choice[cube];
	uint32_t left, right;

	tree->nodes[node].cluster = cubes->cluster[cube];
	tree->nodes[node].feature = LODE_NONE;
	if (t == cubes->test_count)
		return 0;
	left = lode_tree_add(tree);
	right = lode_tree_add(tree);
	if (left == LODE_NONE || right == LODE_NONE)
		return LODE_SYSTEM;
	tree->nodes[node].feature = cubes->tests[t].feature;
	tree->nodes[node].code = cubes->tests[t].code;
	tree->nodes[node].threshold = cubes->thresholds[t];
	tree->nodes[node].left = left;
	tree->nodes[node].right = right;
	if (write_tree(cubes, cube - 2 * cubes->powers[t], tree, left) < 0)
		return LODE_SYSTEM;
	return write_tree(cubes, cube - cubes->powers[t], tree, right);
}

/* ---- which tests ---- */

/* Adds a test unless it is there; 0 when there are too many. */
static int add_test(struct cubes *cubes, const struct lode_tree_node *node)
{
	for (unsigned t = 0; t < cubes->test_count; t++)
		if (cubes->tests[t].feature == node->feature && cubes->tests[t].code == node->code)
			return 1;
	if (cubes->test_count == LODE_MAX_TESTS)
		return 0;
	cubes->tests[cubes->test_count] = (struct lode_test){ node->feature, node->code };
	cubes->thresholds[cubes->test_count] = node->threshold;
	cubes->price[cubes->test_count++] = lode_test_price(cubes->features, node->feature);
	return 1;
}

static int collect(struct cubes *cubes, const struct lode_tree *tree, uint32_t id)
{
	const struct lode_tree_node *node = &tree->nodes[id];

	if (node->feature == LODE_NONE)
		return 1;
	return add_test(cubes, node) && collect(cubes, tree, node->left) && collect(cubes, tree, node->right);
}

/* What it works on: ids of nodes and leaves are those before anything was rewritten. */
struct shortener {
	struct lode_tree *tree;
	const struct lode_features *features;
	const struct lode_costs *costs;
	size_t count;         /* nodes of the tree, before */
	uint32_t *leaf_of;    /* where each row ended; LODE_NONE: it takes no part */
	unsigned char *below; /* which nodes are below the one that is rewritten */
};

static void mark_below(struct shortener *shortener, uint32_t id)
{
	const struct lode_tree_node *nodes = shortener->tree->nodes;

	memset(shortener->below, 0, shortener->count);
	shortener->below[id] = 1;
	for (size_t i = id; i < shortener->count; i++)
		if (shortener->below[i] && nodes[i].feature != LODE_NONE)
			shortener->below[nodes[i].left] = shortener->below[nodes[i].right] = 1;
}

static int rewrite(struct shortener *shortener, struct cubes *cubes, uint32_t id)
{
	int code = allocate(cubes);

	if (code == 0) {
		mark_below(shortener, id);
		for (size_t row = 0; row < shortener->features->rows; row++)
			if (shortener->leaf_of[row] != LODE_NONE && shortener->below[shortener->leaf_of[row]])
				add_row(cubes, row);
		fill(cubes);
		code = write_tree(cubes, cubes->powers[cubes->test_count] - 1, shortener->tree, id);
	}
	release(cubes);
	return code;
}

static int shorten_below(struct shortener *shortener, uint32_t id)
{
	struct cubes cubes = { .features = shortener->features,
			       .costs = shortener->costs,
			       .clusters = shortener->costs->clusters };
	const struct lode_tree_node *node = &shortener->tree->nodes[id];
	uint32_t left = node->left, right = node->right;
	int code;

	if (node->feature == LODE_NONE)
		return 0;
	if (collect(&cubes, shortener->tree, id))
		return rewrite(shortener, &cubes, id);
	code = shorten_below(shortener, left);
	return code < 0 ? code : shorten_below(shortener, right);
}

int lode_tree_shorten(struct lode_tree *tree, const struct lode_features *features, const struct lode_costs *costs,
		      struct lode_error *error)
{
	struct shortener shortener = { tree, features, costs, tree->count, NULL, NULL };
	int code = LODE_SYSTEM;

	shortener.leaf_of = lode_calloc(features->rows, sizeof(*shortener.leaf_of));
	shortener.below = lode_calloc(tree->count, 1);
	if (shortener.leaf_of && shortener.below) {
		for (size_t row = 0; row < features->rows; row++)
			shortener.leaf_of[row] = costs->left_out && lode_bit_get(costs->left_out, row)
							 ? LODE_NONE
							 : lode_tree_leaf(tree, features, row);
		code = shorten_below(&shortener, 0);
	}
	lode_free(shortener.leaf_of);
	lode_free(shortener.below);
	return code < 0 ? lode_fail_memory(error) : lode_tree_tidy(tree, error);
}
