/*
 * How good an explanation is (see explain.h), measured on its own rows; on others:
 * explain_validate.c. Accuracy is agreement with what x and y alone say of a row (the nearest
 * function), not with the tree's own labels.
 */
#include "explain/explain_internal.h"

#include "base/sort_numbers.h"

#include <math.h>
#include <string.h>

/* ---- of all rows ---- */

static void copy_functions(const struct lode_explanation *explanation, struct lode_function *functions)
{
	for (unsigned k = 0; k < explanation->clusters; k++)
		functions[k] = explanation->cluster[k].function;
}

static int count_confusion(struct lode_explanation *explanation, struct lode_error *error)
{
	struct lode_function functions[LODE_MAX_CLUSTERS];
	struct lode_costs costs;
	size_t agree = 0;
	int code;

	copy_functions(explanation, functions);
	code = lode_model_costs(&explanation->points, functions, explanation->clusters, &costs, error);
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
double lode_gap_of(double y, double value)
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
		gap = lode_gap_of(points->y[row], value);
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
		lode_sort_double(sorted, count);
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
		gap = lode_gap_of(points->y[row], value);
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
