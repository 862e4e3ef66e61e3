/*
 * Optimal tree: see optimal_tree.h.
 *
 * A node is a cube: which tests were asked, and what was answered. The cheapest
 * tree below a cube does not depend on the order of the questions, so each cube is
 * solved once and remembered. At a cube, the sums of the rows' costs are taken for
 * both answers of every test at once. No tree below can cost less than the rows
 * under their own best clusters and one leaf per side; if that is not below the
 * best known cost, the test is skipped.
 */
#include "explain/tree/optimal_tree.h"

#include "base/sort_numbers.h"
#include "explain/tree/leaf_sums.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A cube that was looked at. */
struct solved {
	uint64_t asked, answers;
	double cost;   /* of the cheapest tree, or a bound below it */
	uint32_t test; /* its first; LODE_NONE: a leaf */
	int exact;
};

struct search {
	const struct lode_features *features;
	const struct lode_costs *costs;
	unsigned clusters;
	unsigned depth;
	struct lode_test tests[LODE_OPTIMAL_TESTS];
	double thresholds[LODE_OPTIMAL_TESTS];
	double price[LODE_OPTIMAL_TESTS];
	unsigned test_count;
	uint64_t *answers; /* of each row to all tests */
	uint32_t *rows[LODE_OPTIMAL_DEPTH + 1];
	double *sums[LODE_OPTIMAL_DEPTH + 1]; /* a level: of all rows, then of each test's yes */
	struct solved *memo;
	size_t memo_count;
	size_t memo_capacity;
	struct lode_index index;
	int failed;
};

/* ---- memory of cubes ---- */

static uint64_t hash_of(uint64_t asked, uint64_t answers)
{
	return lode_hash_more(lode_hash_u64(asked), answers);
}

static uint32_t recall(const struct search *search, uint64_t asked, uint64_t answers)
{
	return LODE_INDEX_FIND(i, &search->index, hash_of(asked, answers),
			       search->memo[i].asked == asked && search->memo[i].answers == answers);
}

static uint32_t remember(struct search *search, uint64_t asked, uint64_t answers)
{
	uint32_t id = recall(search, asked, answers);

	if (id != LODE_NONE)
		return id;
	if (LODE_INDEX_APPEND(&search->index, hash_of(asked, answers), search->memo, search->memo_count,
			      search->memo_capacity,
			      (struct solved){ .asked = asked, .answers = answers, .test = LODE_NONE }) < 0) {
		search->failed = 1;
		return LODE_NONE;
	}
	return (uint32_t)search->memo_count - 1;
}

/* ---- one cube ---- */

/* Sums over the rows: of all, then of those that answer each test with yes. */
static void add_up(const struct search *search, const uint32_t *rows, size_t count, double *sums)
{
	size_t size = lode_sums_size(search->clusters);

	memset(sums, 0, (search->test_count + 1) * size * sizeof(*sums));
	for (size_t i = 0; i < count; i++) {
		uint64_t answers = search->answers[rows[i]];

		lode_sums_add(search->costs, rows[i], sums);
		for (; answers; answers &= answers - 1)
			lode_sums_add(search->costs, rows[i],
				      sums + (1 + (unsigned)__builtin_ctzll(answers)) * size);
	}
}

/* What asking a test costs when both sides are leaves. */
static double two_leaves(const struct search *search, const double *sums, unsigned test)
{
	size_t size = lode_sums_size(search->clusters);
	const double *yes = sums + (1 + test) * size;
	double no[2 * LODE_MAX_CLUSTERS + 1];
	uint32_t cluster;

	for (size_t k = 0; k < size; k++)
		no[k] = sums[k] - yes[k];
	return search->price[test] + lode_sums_leaf(no, search->costs, &cluster) +
	       lode_sums_leaf(yes, search->costs, &cluster);
}

/* Tests in the order in which they promise most: by what they cost with two leaves. */
static unsigned order_tests(const struct search *search, uint64_t asked, const double *sums,
			    struct lode_ranked *order)
{
	unsigned count = 0;

	for (unsigned t = 0; t < search->test_count; t++)
		if (!(asked >> t & 1))
			order[count++] = (struct lode_ranked){ two_leaves(search, sums, t), t };
	lode_sort_ranked(order, count);
	return count;
}

static double solve(struct search *search, uint64_t asked, uint64_t answers, size_t count, unsigned level,
		    double bound);

/* What asking `test` first costs; INFINITY when that is not below `bound`. */
static double try_test(struct search *search, uint64_t asked, uint64_t answers, size_t count, unsigned level,
		       unsigned test, double bound)
{
	const double *yes = search->sums[level] + (1 + test) * lode_sums_size(search->clusters);
	/* Costs are logarithms and may be below 0: what the other side costs at least must be kept in mind.
	 */
	double least_yes = yes[search->clusters];
	const uint32_t *rows = search->rows[level];
	uint64_t bit = (uint64_t)1 << test;
	double cost = search->price[test];

	for (unsigned side = 0; side < 2; side++) {
		double other = side ? 0 : least_yes + lode_leaf_price(search->clusters) - 1e-9 * fabs(least_yes);
		size_t chosen = 0;

		for (size_t i = 0; i < count; i++)
			if ((search->answers[rows[i]] >> test & 1) == side)
				search->rows[level + 1][chosen++] = rows[i];
		/* A side without rows makes the test a waste. */
		if (!chosen)
			return INFINITY;
		cost += solve(search, asked | bit, side ? answers | bit : answers, chosen, level + 1,
			      bound - cost - other);
		if (cost == INFINITY)
			return INFINITY;
	}
	return cost < bound ? cost : INFINITY;
}

/* The cheapest tree of the cube whose `count` rows are at `level`; INFINITY when it is not below `bound`.
 */
static double solve(struct search *search, uint64_t asked, uint64_t answers, size_t count, unsigned level,
		    double bound)
{
	int last = level + 1 == search->depth;
	struct lode_ranked order[LODE_OPTIMAL_TESTS];
	uint32_t id = recall(search, asked, answers), best_test = LODE_NONE;
	uint32_t cluster;
	unsigned tests;
	double best, floor;
	double *sums = search->sums[level];

	if (id != LODE_NONE && search->memo[id].cost >= bound)
		return INFINITY;
	if (id != LODE_NONE && search->memo[id].exact)
		return search->memo[id].cost;
	add_up(search, search->rows[level], count, sums);
	best = lode_sums_leaf(sums, search->costs, &cluster);
	floor = sums[search->clusters] + 2 * lode_leaf_price(search->clusters);
	tests = level < search->depth ? order_tests(search, asked, sums, order) : 0;
	for (unsigned i = 0; i < tests && !search->failed; i++) {
		unsigned test = order[i].id;
		double cost, limit = best < bound ? best : bound;

		if (floor + search->price[test] >= limit)
			continue;
		cost = last ? order[i].value : try_test(search, asked, answers, count, level, test, limit);
		if (cost < best - 1e-9) {
			best = cost;
			best_test = test;
		}
	}
	id = remember(search, asked, answers);
	if (id == LODE_NONE)
		return best;
	search->memo[id].exact = best < bound;
	search->memo[id].cost = best < bound ? best : bound;
	search->memo[id].test = best_test;
	return best < bound ? best : INFINITY;
}

/* ---- the tree ---- */

static uint32_t leaf_cluster(struct search *search, size_t count, unsigned level)
{
	uint32_t cluster;

	add_up(search, search->rows[level], count, search->sums[level]);
	lode_sums_leaf(search->sums[level], search->costs, &cluster);
	return cluster;
}

/* Writes down what was remembered; cubes below the last test were not, and are leaves. On the way to the
 * cheapest tree every cube was solved exactly. */
static int write_tree(struct search *search, struct lode_tree *tree, uint32_t node, uint64_t asked,
		      uint64_t answers, size_t count, unsigned level)
{
	uint32_t id = recall(search, asked, answers), test = id == LODE_NONE ? LODE_NONE : search->memo[id].test;

	tree->nodes[node].cluster = leaf_cluster(search, count, level);
	if (test == LODE_NONE || level >= LODE_OPTIMAL_DEPTH)
		return 0;
	tree->nodes[node].feature = search->tests[test].feature;
	tree->nodes[node].code = search->tests[test].code;
	tree->nodes[node].threshold = search->thresholds[test];
	for (unsigned side = 0; side < 2; side++) {
		uint64_t bit = (uint64_t)1 << test;
		uint32_t child = lode_tree_add(tree);
		size_t chosen = 0;

		if (child == LODE_NONE)
			return LODE_SYSTEM;
		if (side)
			tree->nodes[node].right = child;
		else
			tree->nodes[node].left = child;
		for (size_t i = 0; i < count; i++)
			if ((search->answers[search->rows[level][i]] >> test & 1) == side)
				search->rows[level + 1][chosen++] = search->rows[level][i];
		if (write_tree(search, tree, child, asked | bit, side ? answers | bit : answers, chosen,
			       level + 1) < 0)
			return LODE_SYSTEM;
	}
	return 0;
}

/* ---- tests ---- */

static int add_test(struct search *search, struct lode_test test, double threshold, struct lode_error *error)
{
	if (search->test_count == LODE_OPTIMAL_TESTS)
		return lode_fail(
			error, LODE_USAGE,
			"an optimal tree is made of at most %d tests, and there are more columns than that; "
			"use '--tree cart'",
			LODE_OPTIMAL_TESTS);
	search->tests[search->test_count] = test;
	search->thresholds[search->test_count] = threshold;
	search->price[search->test_count++] = lode_test_price(search->features, test.feature);
	return 0;
}

static int add_learned(struct search *search, const struct lode_tree *tree, struct lode_error *error)
{
	for (size_t i = 0; i < tree->count; i++) {
		const struct lode_tree_node *node = &tree->nodes[i];
		int known = node->feature == LODE_NONE ||
			    search->features->items[node->feature].kind == LODE_FEATURE_BITS;

		for (unsigned t = 0; !known && t < search->test_count; t++)
			known = search->tests[t].feature == node->feature && search->tests[t].code == node->code;
		if (!known &&
		    add_test(search, (struct lode_test){ node->feature, node->code }, node->threshold, error) < 0)
			return LODE_USAGE;
	}
	return 0;
}

static int collect_tests(struct search *search, const struct lode_learn_options *options, struct lode_error *error)
{
	const struct lode_features *features = search->features;
	struct lode_tree learned;
	size_t bits = 0;
	int code;

	for (uint32_t f = 0; f < features->count; f++)
		if (features->items[f].kind == LODE_FEATURE_BITS) {
			code = add_test(search, (struct lode_test){ f, 0 }, features->items[f].threshold, error);
			if (code < 0)
				return code;
			bits++;
		}
	if (bits == features->count)
		return 0;
	code = lode_tree_learn(&learned, features, search->costs, options, error);
	if (code < 0)
		return code;
	code = add_learned(search, &learned, error);
	lode_tree_release(&learned);
	return code;
}

static int allocate(struct search *search)
{
	size_t rows = search->features->rows;
	int whole = 1;

	search->answers = lode_calloc(rows, sizeof(*search->answers));
	for (unsigned level = 0; level <= search->depth; level++) {
		search->rows[level] = lode_calloc(rows, sizeof(*search->rows[level]));
		search->sums[level] =
			lode_calloc(LODE_OPTIMAL_TESTS + 1, lode_sums_size(search->clusters) * sizeof(double));
		whole = whole && search->rows[level] && search->sums[level];
	}
	return whole && search->answers ? 0 : LODE_SYSTEM;
}

static size_t ask_all(struct search *search)
{
	size_t count = 0;

	for (size_t row = 0; row < search->features->rows; row++) {
		if (search->costs->left_out && lode_bit_get(search->costs->left_out, row))
			continue;
		search->rows[0][count++] = (uint32_t)row;
		for (unsigned t = 0; t < search->test_count; t++)
			search->answers[row] |= (uint64_t)lode_test_row(search->features, search->tests[t], row)
						<< t;
	}
	return count;
}

static int run(struct search *search, struct lode_tree *tree)
{
	size_t count = ask_all(search);

	solve(search, 0, 0, count, 0, INFINITY);
	if (search->failed || lode_tree_add(tree) == LODE_NONE)
		return LODE_SYSTEM;
	return write_tree(search, tree, 0, 0, 0, count, 0);
}

static int count_sizes(struct lode_tree *tree, const struct lode_features *features, const struct lode_costs *costs)
{
	uint32_t *labels = lode_calloc(features->rows, sizeof(*labels));

	if (!labels)
		return LODE_SYSTEM;
	for (size_t row = 0; row < features->rows; row++)
		labels[row] = costs->left_out && lode_bit_get(costs->left_out, row) ? LODE_NONE
										    : lode_costs_best(costs, row);
	lode_tree_count(tree, features, labels);
	lode_free(labels);
	return 0;
}

int lode_tree_optimal(struct lode_tree *tree, const struct lode_features *features, const struct lode_costs *costs,
		      unsigned depth, const struct lode_learn_options *options, struct lode_error *error)
{
	struct search search = { .features = features, .costs = costs, .clusters = costs->clusters, .depth = depth };
	int code;

	memset(tree, 0, sizeof(*tree));
	tree->clusters = costs->clusters;
	code = collect_tests(&search, options, error);
	if (code == 0 && (allocate(&search) < 0 || run(&search, tree) < 0 || count_sizes(tree, features, costs) < 0))
		code = lode_fail_memory(error);
	for (unsigned level = 0; level <= depth; level++) {
		lode_free(search.rows[level]);
		lode_free(search.sums[level]);
	}
	lode_free(search.answers);
	lode_free(search.memo);
	lode_index_release(&search.index);
	if (code < 0)
		lode_tree_release(tree);
	return code;
}
