/*
 * How good an explanation is (see explain.h).
 *
 * Accuracy and R² of the tree's own rows flatter it, so both are also measured on
 * rows that it has not seen: the rows are divided into folds at random, and for
 * each fold tree and functions are learned from the others. Accuracy is agreement
 * with what x and y alone say of a row (the nearest function), not with the tree's
 * own labels.
 */
#include "base/parallel.h"
#include "explain/explain_parts.h"
#include "explain/optimal_tree.h"
#include "explain/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- of all rows ---- */

static int by_number(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void copy_functions(const struct lode_explanation *explanation, struct lode_function *functions)
{
	for (unsigned k = 0; k < explanation->clusters; k++)
		functions[k] = explanation->cluster[k].function;
}

static int count_confusion(struct lode_explanation *explanation, struct lode_error *error)
{
	struct lode_function functions[LODE_MOST_CLUSTERS];
	struct lode_costs costs;
	size_t agree = 0;
	int code;

	copy_functions(explanation, functions);
	code = lode_theory_costs(&explanation->points, functions, explanation->clusters, &costs, error);
	if (code < 0)
		return code;
	explanation->nearest = lode_calloc(explanation->rows, sizeof(*explanation->nearest));
	explanation->confusion =
		lode_calloc(explanation->clusters, explanation->clusters * sizeof(*explanation->confusion));
	if (!explanation->nearest || !explanation->confusion) {
		lode_free(costs.cost);
		return lode_fail_memory(error);
	}
	for (size_t row = 0; row < explanation->rows; row++) {
		uint32_t nearest = lode_costs_best(&costs, row), assigned = explanation->assigned[row];

		explanation->nearest[row] = nearest;
		explanation->confusion[nearest * explanation->clusters + assigned]++;
		agree += nearest == assigned;
	}
	explanation->agreement = (double)agree / (double)explanation->rows;
	lode_tree_count(&explanation->tree, &explanation->features, explanation->nearest);
	lode_free(costs.cost);
	return 0;
}

/* How far y is from the function's value; where they agree to twelve digits the rest is rounding. */
static double gap_of(double y, double value)
{
	double gap = y - value;

	return fabs(gap) > 1e-12 * fmax(fabs(y), fabs(value)) ? gap : 0;
}

/* R² of values against y over the rows of one cluster, or (LODE_NONE) of all. */
struct squares {
	double rows, mean, deviation, rest, relative;
};

static void add_squares(const struct lode_explanation *explanation, uint32_t cluster, struct squares *squares)
{
	const struct lode_points *points = &explanation->points;

	memset(squares, 0, sizeof(*squares));
	for (size_t row = 0; row < explanation->rows; row++)
		if (cluster == LODE_NONE || explanation->assigned[row] == cluster) {
			squares->rows++;
			squares->mean += points->y[row];
		}
	squares->mean /= squares->rows > 0 ? squares->rows : 1;
	for (size_t row = 0; row < explanation->rows; row++) {
		uint32_t own = explanation->assigned[row];
		double value, gap;

		if (cluster != LODE_NONE && own != cluster)
			continue;
		value = lode_function_at(points, &explanation->cluster[own].function, row);
		gap = gap_of(points->y[row], value);
		squares->rest += gap * gap;
		squares->deviation += (points->y[row] - squares->mean) * (points->y[row] - squares->mean);
		squares->relative += value > 0 ? gap * gap / (value * value) : NAN;
	}
}

static double r2_of(const struct squares *squares)
{
	if (squares->deviation > 0)
		return 1 - squares->rest / squares->deviation;
	return squares->rest > 0 ? 0 : 1;
}

static int find_typical(struct lode_explanation *explanation, struct lode_error *error)
{
	double *sorted = lode_calloc(explanation->rows, sizeof(*sorted));

	if (!sorted)
		return lode_fail_memory(error);
	for (unsigned k = 0; k < explanation->clusters; k++) {
		size_t count = 0;

		for (size_t row = 0; row < explanation->rows; row++)
			if (explanation->assigned[row] == k)
				sorted[count++] = explanation->points.y[row];
		qsort(sorted, count, sizeof(*sorted), by_number);
		explanation->cluster[k].size = count;
		explanation->cluster[k].share = (double)count / (double)explanation->rows;
		explanation->cluster[k].typical_y = count ? sorted[count / 2] : NAN;
	}
	lode_free(sorted);
	return 0;
}

/*
 * The mean-squared error of the paper (section 3): a leaf predicts what its functions
 * say, each by the share of the leaf's rows that are nearest to it.
 */
static double distribution_error(const struct lode_explanation *explanation)
{
	const struct lode_points *points = &explanation->points;
	const struct lode_tree *tree = &explanation->tree;
	double sum = 0;

	for (size_t row = 0; row < explanation->rows; row++) {
		uint32_t leaf = lode_tree_leaf(tree, &explanation->features, row);
		double rows = (double)lode_tree_rows(tree, leaf), value = 0, gap;

		for (unsigned k = 0; k < explanation->clusters; k++)
			value += (double)tree->sizes[leaf * tree->clusters + k] / rows *
				 lode_function_at(points, &explanation->cluster[k].function, row);
		gap = gap_of(points->y[row], value);
		sum += gap * gap;
	}
	return sum / (double)explanation->rows;
}

int lode_explain_measure(struct lode_explanation *explanation, struct lode_error *error)
{
	struct squares squares;
	int code = count_confusion(explanation, error);

	if (code == 0)
		code = find_typical(explanation, error);
	for (unsigned k = 0; code == 0 && k < explanation->clusters; k++) {
		add_squares(explanation, k, &squares);
		explanation->cluster[k].r2 = r2_of(&squares);
	}
	add_squares(explanation, LODE_NONE, &squares);
	explanation->r2 = r2_of(&squares);
	explanation->mean_square = squares.rest / squares.rows;
	if (code == 0)
		explanation->distribution_error = distribution_error(explanation);
	explanation->relative_error = sqrt(squares.relative / squares.rows);
	return code;
}

/* ---- cross-validation ---- */

struct fold {
	size_t rows;
	size_t right; /* rows whose cluster the tree told right */
	double rest;  /* sum of squares */
	int code;
};

struct validation {
	struct lode_explanation *explanation;
	struct lode_costs costs;
	unsigned char *fold_of; /* row's fold */
	unsigned folds;
	struct fold *results;
	const struct lode_explain_options *options;
};

/* Folds of equal size, rows dealt out at random. */
static void deal(struct validation *validation, uint64_t seed)
{
	size_t rows = validation->explanation->rows;
	struct lode_random random = lode_random_piece(seed, rows);

	for (size_t i = 0; i < rows; i++)
		validation->fold_of[i] = (unsigned char)(i % validation->folds);
	for (size_t i = rows; i > 1; i--) {
		size_t other = lode_random_below(&random, i);
		unsigned char swap = validation->fold_of[i - 1];

		validation->fold_of[i - 1] = validation->fold_of[other];
		validation->fold_of[other] = swap;
	}
}

/* Functions anew from the rows outside the fold, as the fold's tree gives them. */
static int refit(const struct validation *validation, size_t fold, const struct lode_tree *tree,
		 struct lode_function *functions)
{
	const struct lode_explanation *explanation = validation->explanation;
	uint32_t *rows = lode_calloc(explanation->rows, sizeof(*rows));
	uint32_t *label = lode_calloc(explanation->rows, sizeof(*label));

	if (!rows || !label) {
		lode_free(rows);
		lode_free(label);
		return LODE_SYSTEM;
	}
	for (size_t row = 0; row < explanation->rows; row++)
		label[row] = tree->nodes[lode_tree_leaf(tree, &explanation->features, row)].cluster;
	for (unsigned k = 0; k < explanation->clusters; k++) {
		size_t count = 0;

		for (size_t row = 0; row < explanation->rows; row++)
			if (label[row] == k && validation->fold_of[row] != fold)
				rows[count++] = (uint32_t)row;
		if (count)
			lode_function_refit(&explanation->points, rows, count, &functions[k]);
	}
	lode_free(rows);
	lode_free(label);
	return 0;
}

static void test_fold(const struct validation *validation, size_t fold, const struct lode_tree *tree,
		      const struct lode_function *functions, struct fold *result)
{
	const struct lode_explanation *explanation = validation->explanation;

	for (size_t row = 0; row < explanation->rows; row++) {
		uint32_t cluster;
		double gap;

		if (validation->fold_of[row] != fold)
			continue;
		cluster = tree->nodes[lode_tree_leaf(tree, &explanation->features, row)].cluster;
		gap = gap_of(explanation->points.y[row],
			     lode_function_at(&explanation->points, &functions[cluster], row));
		result->rows++;
		result->right += cluster == explanation->nearest[row];
		result->rest += gap * gap;
	}
}

static int learn(const struct validation *validation, const struct lode_costs *costs, struct lode_tree *tree)
{
	const struct lode_features *features = &validation->explanation->features;
	struct lode_learn_options how = { 3, 1, validation->options->seed };

	if (validation->options->tree == LODE_TREE_OPTIMAL)
		return lode_tree_optimal(tree, features, costs, validation->options->depth, &how, NULL);
	return lode_tree_learn(tree, features, costs, &how, NULL);
}

static void run_fold(void *context, size_t fold)
{
	struct validation *validation = context;
	struct lode_explanation *explanation = validation->explanation;
	struct lode_function functions[LODE_MOST_CLUSTERS];
	struct fold *result = &validation->results[fold];
	struct lode_costs costs = validation->costs;
	struct lode_tree tree = { .count = 0 };

	result->code = LODE_SYSTEM;
	costs.left_out = lode_calloc(lode_bit_words(explanation->rows), sizeof(*costs.left_out));
	if (!costs.left_out)
		return;
	for (size_t row = 0; row < explanation->rows; row++)
		if (validation->fold_of[row] == fold)
			lode_bit_set(costs.left_out, row);
	copy_functions(explanation, functions);
	if (learn(validation, &costs, &tree) == 0 &&
	    refit(validation, fold, &tree, functions) == 0) {
		test_fold(validation, fold, &tree, functions, result);
		result->code = 0;
	}
	lode_tree_release(&tree);
	lode_free(costs.left_out);
}

static int add_folds(struct validation *validation, struct lode_error *error)
{
	struct lode_explanation *explanation = validation->explanation;
	double right = 0, rest = 0;
	struct squares squares;

	for (unsigned i = 0; i < validation->folds; i++) {
		if (validation->results[i].code < 0)
			return lode_fail_memory(error);
		right += (double)validation->results[i].right;
		rest += validation->results[i].rest;
	}
	add_squares(explanation, LODE_NONE, &squares);
	squares.rest = rest;
	explanation->accuracy = right / (double)explanation->rows;
	explanation->validated_r2 = r2_of(&squares);
	return 0;
}

int lode_explain_validate(struct lode_explanation *explanation, const struct lode_explain_options *options,
			  struct lode_error *error)
{
	struct validation validation = { .explanation = explanation, .options = options };
	struct lode_function functions[LODE_MOST_CLUSTERS];
	int code;

	explanation->accuracy = NAN;
	explanation->validated_r2 = NAN;
	validation.folds = options->folds < 255 ? options->folds : 255;
	if (validation.folds > explanation->rows)
		validation.folds = (unsigned)explanation->rows;
	if (validation.folds < 2)
		return 0;
	copy_functions(explanation, functions);
	code = lode_theory_costs(&explanation->points, functions, explanation->clusters, &validation.costs, error);
	validation.fold_of = lode_calloc(explanation->rows, 1);
	validation.results = lode_calloc(validation.folds, sizeof(*validation.results));
	if (code == 0 && (!validation.fold_of || !validation.results))
		code = lode_fail_memory(error);
	if (code == 0) {
		deal(&validation, options->seed);
		lode_parallel(options->jobs, validation.folds, run_fold, &validation);
		code = add_folds(&validation, error);
	}
	lode_free(validation.costs.cost);
	lode_free(validation.fold_of);
	lode_free(validation.results);
	return code;
}
