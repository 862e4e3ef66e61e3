/*
 * Cross-validation: how good an explanation is for rows that it has not seen (see
 * explain_internal.h).
 *
 * The rows are divided into folds at random, and for each fold everything is searched for
 * again in the other rows: the kind of noise, the number of functions, the functions, the
 * tree. Numbers that were chosen using all rows would make any choice look better than it is.
 * Only the verdict that there is no evidence for several functions is that of all rows: asking
 * chance again in each fold would take as many times as long.
 *
 * A fold's functions differ from the reported ones, so each is matched with the reported one
 * that most of its rows are nearest to. Accuracy is the share of unseen rows where that is the
 * one they are nearest to themselves. A fold that finds only one function predicts it for
 * every row, and is right as often as that function occurs.
 */
#include "base/id_array.h"
#include "base/parallel.h"
#include "explain/explain_internal.h"
#include "explain/model/spectral.h"

#include <math.h>
#include <string.h>

struct fold {
	size_t right; /* rows whose cluster the tree predicted correctly */
	double rest;  /* sum of squares */
	int code;
};

struct validation {
	const struct lode_explanation *explanation;
	struct lode_points points[2]; /* one for each kind of noise */
	unsigned noises;
	unsigned char *fold_of; /* row's fold */
	unsigned folds;
	struct fold *results;
	struct lode_explain_options options; /* of the search in a fold */
};

/* What a fold learns from. */
struct seen {
	uint32_t *rows;
	size_t count;
	uint32_t *columns;
	struct lode_points points[2];
	unsigned noises; /* points that there are */
	struct lode_features features;
};

/* ---- one fold ---- */

static void release_seen(struct seen *seen)
{
	for (unsigned i = 0; i < seen->noises; i++)
		lode_points_release(&seen->points[i]);
	lode_features_release(&seen->features);
	lode_free(seen->rows);
	lode_free(seen->columns);
}

/* Release it in either case. */
static int pick_seen(const struct validation *validation, size_t fold, struct seen *seen)
{
	const struct lode_features *features = &validation->explanation->features;
	int code = 0;

	memset(seen, 0, sizeof(*seen));
	seen->rows = lode_calloc(features->rows, sizeof(*seen->rows));
	seen->columns = lode_ids_below(features->count);
	if (!seen->rows || !seen->columns)
		return LODE_SYSTEM;
	for (size_t row = 0; row < features->rows; row++)
		if (validation->fold_of[row] != fold)
			seen->rows[seen->count++] = (uint32_t)row;
	while (code == 0 && seen->noises < validation->noises) {
		code = lode_points_pick(&seen->points[seen->noises], &validation->points[seen->noises], seen->rows,
					seen->count, NULL);
		seen->noises += code == 0;
	}
	if (code == 0)
		code = lode_features_pick(&seen->features, features, seen->rows, seen->count, seen->columns,
					  features->count, NULL);
	return code;
}

static int learn(const struct validation *validation, const struct seen *seen, struct lode_explain_model *model,
		 unsigned *which)
{
	int code = lode_explain_search(seen->points, seen->noises, &seen->features, &validation->options, model,
				       which, NULL);

	if (code == 0 && !validation->options.clusters && model->clusters > 1 && model->tree.count > 1) {
		struct lode_explain_problem problem = { &seen->points[*which], &seen->features, 3, 1,
							validation->options.seed };

		code = lode_model_merge_cuts(&problem, model, NULL);
	}
	if (code == 0 && validation->options.tree == LODE_TREE_OPTIMAL && model->clusters > 1)
		code = lode_explain_plant_optimal(&seen->points[*which], &seen->features, &validation->options,
						  model, NULL);
	return code;
}

/* For each of the fold's functions, the reported one that most of its rows are nearest to. */
static void translate(const struct lode_explanation *explanation, const struct seen *seen,
		      const struct lode_explain_model *model, uint32_t *reported)
{
	size_t counts[LODE_MAX_CLUSTERS][LODE_MAX_CLUSTERS] = { { 0 } };

	for (size_t i = 0; i < seen->count; i++)
		counts[model->labels[i]][explanation->nearest[seen->rows[i]]]++;
	for (unsigned k = 0; k < model->clusters; k++) {
		reported[k] = 0;
		for (uint32_t other = 1; other < explanation->clusters; other++)
			if (counts[k][other] > counts[k][reported[k]])
				reported[k] = other;
	}
}

static void test_fold(const struct validation *validation, size_t fold, const struct lode_explain_model *model,
		      const struct lode_points *points, const uint32_t *reported, struct fold *result)
{
	const struct lode_explanation *explanation = validation->explanation;

	for (size_t row = 0; row < explanation->rows; row++) {
		uint32_t cluster;
		double gap;

		if (validation->fold_of[row] != fold)
			continue;
		cluster = model->tree.nodes[lode_tree_leaf(&model->tree, &explanation->features, row)].cluster;
		gap = lode_gap_of(points->y[row], lode_function_at(points, &model->functions[cluster], row));
		result->right += reported[cluster] == explanation->nearest[row];
		result->rest += gap * gap;
	}
}

static void run_fold(void *context, size_t fold)
{
	struct validation *validation = context;
	struct fold *result = &validation->results[fold];
	struct lode_explain_model model = { .clusters = 0 };
	uint32_t reported[LODE_MAX_CLUSTERS];
	struct seen seen;
	unsigned which = 0;

	result->code = pick_seen(validation, fold, &seen);
	if (result->code == 0)
		result->code = learn(validation, &seen, &model, &which);
	if (result->code == 0) {
		translate(validation->explanation, &seen, &model, reported);
		test_fold(validation, fold, &model, &validation->points[which], reported, result);
	}
	lode_model_release(&model);
	release_seen(&seen);
}

/* ---- all folds ---- */

static int add_folds(const struct validation *validation, struct lode_explanation *explanation,
		     struct lode_error *error)
{
	double right = 0, rest = 0, mean = 0, deviation = 0;

	for (unsigned i = 0; i < validation->folds; i++) {
		if (validation->results[i].code < 0)
			return lode_fail_memory(error);
		right += (double)validation->results[i].right;
		rest += validation->results[i].rest;
	}
	for (size_t row = 0; row < explanation->rows; row++)
		mean += explanation->points.y[row] / (double)explanation->rows;
	for (size_t row = 0; row < explanation->rows; row++)
		deviation += (explanation->points.y[row] - mean) * (explanation->points.y[row] - mean);
	explanation->accuracy = right / (double)explanation->rows;
	explanation->validated_r2 = deviation > 0 ? 1 - rest / deviation : rest > 0 ? 0 : 1;
	return 0;
}

/* A fold takes the number of functions of all rows over only where something else than length led to it. */
static void set_options(const struct lode_explain_options *options, const struct lode_explanation *explanation,
			struct lode_explain_options *how)
{
	*how = *options;
	how->jobs = 1;
	how->notes = NULL;
	if (explanation->withdrawn || options->max_error > 0)
		how->clusters = explanation->clusters;
}

static int make_points(const struct lode_explain_input *input, struct validation *validation,
		       struct lode_error *error)
{
	static const enum lode_noise kinds[] = { LODE_NOISE_RELATIVE, LODE_NOISE_ADDITIVE };
	int code = 0;

	for (unsigned i = lode_explain_above_zero(input, validation->explanation) ? 0 : 1; code == 0 && i < 2; i++) {
		code = lode_explain_points(input, validation->explanation, validation->options.family, kinds[i],
					   &validation->points[validation->noises], error);
		validation->noises += code == 0;
	}
	return code;
}

int lode_explain_validate(const struct lode_explain_input *input, const struct lode_explain_options *options,
			  struct lode_explanation *explanation, struct lode_error *error)
{
	struct validation validation = { .explanation = explanation, .folds = options->folds };
	int code;

	explanation->accuracy = NAN;
	explanation->validated_r2 = NAN;
	if (validation.folds > explanation->rows)
		validation.folds = (unsigned)explanation->rows;
	set_options(options, explanation, &validation.options);
	/* Without a tree nothing is said of rows that are not known; nor can folds be too small for their
	 * functions. */
	if (validation.folds < 2 || !explanation->explained ||
	    validation.options.clusters > explanation->rows - explanation->rows / validation.folds - 1)
		return 0;
	validation.fold_of = lode_calloc(explanation->rows, 1);
	validation.results = lode_calloc(validation.folds, sizeof(*validation.results));
	code = validation.fold_of && validation.results ? make_points(input, &validation, error)
							: lode_fail_memory(error);
	if (code == 0 && options->method == LODE_METHOD_SPECTRAL)
		code = lode_spectral_prepare(error);
	if (code == 0) {
		lode_explain_deal(validation.fold_of, explanation->rows, validation.folds, options->seed);
		lode_parallel(options->jobs, validation.folds, run_fold, &validation);
		code = add_folds(&validation, explanation, error);
	}
	for (unsigned i = 0; i < validation.noises; i++)
		lode_points_release(&validation.points[i]);
	lode_free(validation.fold_of);
	lode_free(validation.results);
	return code;
}
