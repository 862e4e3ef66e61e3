/*
 * Explaining a table: see explain.h.
 *
 * The noise may be relative, as it is with times, or additive; where every y is
 * above 0 both are tried, and the shorter description of y wins.
 */
#include "explain/explain_parts.h"
#include "explain/optimal_tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void lode_explanation_release(struct lode_explanation *explanation)
{
	lode_free(explanation->row_of);
	lode_points_release(&explanation->points);
	lode_features_release(&explanation->features);
	lode_tree_release(&explanation->tree);
	lode_free(explanation->assigned);
	lode_free(explanation->nearest);
	lode_free(explanation->confusion);
	memset(explanation, 0, sizeof(*explanation));
}

static int all_above_zero(const struct lode_explain_input *input, const struct lode_explanation *explanation)
{
	for (size_t i = 0; i < explanation->rows; i++)
		if (!(lode_data_column_number(&input->table->columns[input->y], explanation->row_of[i]) > 0))
			return 0;
	return 1;
}

/* ---- order ---- */

struct rank {
	double value;
	unsigned cluster;
};

static int by_value(const void *a, const void *b)
{
	const struct rank *x = a, *y = b;

	if (x->value != y->value)
		return x->value < y->value ? -1 : 1;
	return x->cluster < y->cluster ? -1 : x->cluster > y->cluster;
}

/* Fastest first: by the mean of each function over all rows. */
static void order_clusters(const struct lode_points *points, const struct lode_theory *theory, struct rank *ranks)
{
	for (unsigned k = 0; k < theory->clusters; k++) {
		ranks[k] = (struct rank){ 0, k };
		for (size_t row = 0; row < points->rows; row++)
			ranks[k].value += lode_function_at(points, &theory->functions[k], row) / (double)points->rows;
	}
	qsort(ranks, theory->clusters, sizeof(*ranks), by_value);
}

/* Takes functions, tree and labels over, numbered anew. */
static void take_over(struct lode_explanation *explanation, struct lode_theory *theory)
{
	struct rank ranks[LODE_MOST_CLUSTERS];
	uint32_t number[LODE_MOST_CLUSTERS];

	order_clusters(&explanation->points, theory, ranks);
	explanation->clusters = theory->clusters;
	for (unsigned k = 0; k < theory->clusters; k++) {
		number[ranks[k].cluster] = k;
		explanation->cluster[k].function = theory->functions[ranks[k].cluster];
	}
	for (size_t i = 0; i < theory->tree.count; i++)
		theory->tree.nodes[i].cluster = number[theory->tree.nodes[i].cluster];
	for (size_t row = 0; row < explanation->rows; row++)
		theory->labels[row] = number[theory->labels[row]];
	explanation->tree = theory->tree;
	explanation->assigned = theory->labels;
	explanation->length = theory->length;
	explanation->explained = theory->clusters == 1 || theory->tree.count > 1;
	memset(theory, 0, sizeof(*theory));
}

/* The optimal tree in place of the learned one; functions follow its rows. */
static int plant_optimal(const struct lode_points *points, const struct lode_features *features,
			 const struct lode_explain_options *options, struct lode_theory *theory,
			 struct lode_error *error)
{
	struct lode_world world = { points, features, 3, options->jobs, options->seed };
	struct lode_learn_options how = { 3, options->jobs, options->seed };
	struct lode_tree tree = { .count = 0 };
	struct lode_costs costs;
	int code = lode_theory_costs(points, theory->functions, theory->clusters, &costs, error);

	if (code == 0)
		code = lode_tree_optimal(&tree, features, &costs, options->depth, &how, error);
	lode_free(costs.cost);
	if (code == 0) {
		lode_tree_release(&theory->tree);
		theory->tree = tree;
		code = lode_theory_follow_tree(&world, theory, error);
	}
	if (code < 0)
		lode_theory_release(theory);
	return code;
}

static int explain_rows(const struct lode_explain_input *input, const struct lode_explain_options *options,
			struct lode_explanation *explanation, struct lode_error *error)
{
	struct lode_points points[2];
	struct lode_theory theory = { .clusters = 0 };
	unsigned noises = 0, which = 0;
	int code = lode_features_make(&explanation->features, input->table, input->auxiliary, explanation->row_of,
				      explanation->rows, error);

	if (code == 0 && all_above_zero(input, explanation)) {
		code = lode_explain_points(input, explanation, options->family, LODE_NOISE_RELATIVE, &points[0], error);
		noises += code == 0;
	}
	if (code == 0) {
		code = lode_explain_points(input, explanation, options->family, LODE_NOISE_ADDITIVE, &points[noises],
					   error);
		noises += code == 0;
	}
	if (code == 0)
		code = lode_explain_search(points, noises, &explanation->features, options, &theory, &which, error);
	if (code == 0 && options->tree == LODE_TREE_OPTIMAL && theory.clusters > 1)
		code = plant_optimal(&points[which], &explanation->features, options, &theory, error);
	for (unsigned i = 0; i < noises; i++) {
		if (code == 0 && i == which)
			explanation->points = points[i];
		else
			lode_points_release(&points[i]);
	}
	if (code == 0)
		take_over(explanation, &theory);
	return code;
}

int lode_explain(const struct lode_explain_input *input, const struct lode_explain_options *options,
		 struct lode_explanation *explanation, struct lode_error *error)
{
	int code = lode_explain_check(options, error);

	memset(explanation, 0, sizeof(*explanation));
	if (code == 0)
		code = lode_explain_rows(input, options, explanation, error);
	if (code == 0)
		code = explain_rows(input, options, explanation, error);
	if (code == 0)
		code = lode_explain_measure(explanation, error);
	if (code == 0)
		code = lode_explain_validate(explanation, options, error);
	if (code < 0) {
		lode_explanation_release(explanation);
		return code;
	}
	explanation->within = 1;
	if (options->max_error > 0) {
		double error_is = options->max_error_relative ? explanation->relative_error : explanation->mean_square;

		explanation->within = explanation->explained && error_is <= options->max_error;
	}
	return 0;
}
