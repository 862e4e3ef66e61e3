/*
 * Algorithm 1 of the paper on discriminant regression trees (section 3), exactly as
 * written, for comparisons.
 *
 * x and y alone are clustered, with one function, with two, and so on; the first number
 * whose mean-squared error (each row by its nearest function) is within the bound is
 * taken. The rows' clusters are then labels that CART learns a tree of from all other
 * columns, as long as a split makes the description of the labels shorter, and the
 * accuracy is that of such trees for the labels of rows that they have not seen. Nothing
 * is chosen by the length of the description, and there is no test against chance.
 */
#include "explain/explain_internal.h"
#include "explain/model/spectral.h"

#include <math.h>
#include <string.h>

/* Random starts of K-linear besides those from tubes; more where rows are so few that they take no time. */
#define RESTARTS     12
#define RESTARTS_FEW 400
#define FEW_ROWS     100

static double square_of(const struct lode_explain_options *options, const struct lode_points *points,
			const struct lode_function *function, size_t row)
{
	double value = lode_function_at(points, function, row), gap = lode_gap_of(points->y[row], value);

	if (!options->max_error_relative)
		return gap * gap;
	return value > 0 ? gap * gap / (value * value) : INFINITY;
}

/* Labels every row with its nearest function. Returns the error, as --max-error measures it. */
static double label_rows(const struct lode_explain_options *options, const struct lode_points *points,
			 struct lode_clustering *clustering)
{
	double sum = 0;

	for (size_t row = 0; row < points->rows; row++) {
		double least = INFINITY;

		for (uint32_t k = 0; k < clustering->clusters; k++) {
			double square = square_of(options, points, &clustering->functions[k], row);

			if (square < least) {
				least = square;
				clustering->labels[row] = k;
			}
		}
		sum += least / (double)points->rows;
	}
	return options->max_error_relative ? sqrt(sum) : sum;
}

static int cluster(const struct lode_explain_options *options, const struct lode_points *points, unsigned clusters,
		   struct lode_clustering *clustering, struct lode_error *error)
{
	struct lode_klinear_options how = { clusters, points->rows <= FEW_ROWS ? RESTARTS_FEW : RESTARTS,
					    options->seed };

	if (options->method == LODE_METHOD_SPECTRAL && clusters > 1)
		return lode_spectral(points, clusters, options->seed, clustering, error);
	return lode_klinear(points, &how, clustering, error);
}

/* Lines 2 and 3: the smallest number within the bound, or the largest that may be. */
static int find_smallest(const struct lode_explain_options *options, const struct lode_points *points,
			 struct lode_clustering *clustering, double *is, struct lode_error *error)
{
	unsigned most = options->clusters ? options->clusters : LODE_MAX_CLUSTERS;
	int code = options->method == LODE_METHOD_SPECTRAL ? lode_spectral_prepare(error) : 0;

	if (code < 0)
		return code;
	for (unsigned k = 1;; k++) {
		code = cluster(options, points, k, clustering, error);
		if (code < 0)
			return code;
		*is = label_rows(options, points, clustering);
		if (*is <= options->max_error || k == most || k == points->rows)
			return 0;
		lode_clustering_release(clustering);
	}
}

/* One spread for all, so that the likeliest function of a row is the nearest. */
static void share_spread(const struct lode_points *points, struct lode_explain_model *model)
{
	double square = 0, spread;

	for (size_t row = 0; row < points->rows; row++) {
		double residual = lode_residual(points, &model->functions[model->labels[row]], row);

		square += residual * residual / (double)points->rows;
	}
	spread = fmax(sqrt(square), points->finest);
	for (unsigned k = 0; k < model->clusters; k++)
		model->functions[k].spread = spread;
}

static int grow(const struct lode_features *features, const uint32_t *labels, unsigned clusters,
		const struct lode_explain_options *options, struct lode_tree *tree, struct lode_error *error)
{
	struct lode_grow_options how = { .criterion = LODE_GINI,
					 .priced = 1,
					 .look_ahead = 3,
					 .jobs = options->jobs,
					 .seed = options->seed };
	int code = lode_tree_grow(tree, features, labels, clusters, &how, error);

	if (code < 0)
		return code;
	lode_tree_join(tree);
	return lode_tree_tidy(tree, error);
}

int lode_explain_smallest(const struct lode_points *points, const struct lode_features *features,
			  const struct lode_explain_options *options, struct lode_explain_model *model, double *is,
			  struct lode_error *error)
{
	struct lode_clustering clustering = { .clusters = 0 };
	int code = find_smallest(options, points, &clustering, is, error);

	memset(model, 0, sizeof(*model));
	if (code < 0)
		return code;
	model->clusters = clustering.clusters;
	model->labels = clustering.labels;
	memcpy(model->functions, clustering.functions, sizeof(model->functions));
	share_spread(points, model);
	code = grow(features, model->labels, model->clusters, options, &model->tree, error);
	for (size_t row = 0; code == 0 && model->tree.count > 1 && row < points->rows; row++)
		model->labels[row] = model->tree.nodes[lode_tree_leaf(&model->tree, features, row)].cluster;
	if (code < 0)
		lode_model_release(model);
	return code;
}

/* ---- line 6: the tree's accuracy ---- */

/* How many labels of a fold's rows a tree of the other rows predicts correctly. */
static int test_fold(const struct lode_explanation *explanation, const struct lode_explain_options *options,
		     const unsigned char *fold_of, unsigned fold, uint32_t *labels, size_t *right,
		     struct lode_error *error)
{
	struct lode_tree tree = { .count = 0 };
	int code;

	for (size_t row = 0; row < explanation->rows; row++)
		labels[row] = fold_of[row] == fold ? LODE_NONE : explanation->nearest[row];
	code = grow(&explanation->features, labels, explanation->clusters, options, &tree, error);
	for (size_t row = 0; code == 0 && row < explanation->rows; row++)
		if (fold_of[row] == fold)
			*right += tree.nodes[lode_tree_leaf(&tree, &explanation->features, row)].cluster ==
				  explanation->nearest[row];
	lode_tree_release(&tree);
	return code;
}

int lode_smallest_validate(const struct lode_explain_options *options, struct lode_explanation *explanation,
			   struct lode_error *error)
{
	unsigned folds = options->folds < explanation->rows ? options->folds : (unsigned)explanation->rows;
	unsigned char *fold_of;
	uint32_t *labels;
	size_t right = 0;
	int code = 0;

	explanation->accuracy = NAN;
	explanation->validated_r2 = NAN;
	if (folds < 2)
		return 0;
	fold_of = lode_calloc(explanation->rows, 1);
	labels = lode_calloc(explanation->rows, sizeof(*labels));
	if (fold_of && labels)
		lode_explain_deal(fold_of, explanation->rows, folds, options->seed);
	else
		code = lode_fail_memory(error);
	for (unsigned fold = 0; code == 0 && fold < folds; fold++)
		code = test_fold(explanation, options, fold_of, fold, labels, &right, error);
	if (code == 0)
		explanation->accuracy = (double)right / (double)explanation->rows;
	lode_free(fold_of);
	lode_free(labels);
	return code;
}
