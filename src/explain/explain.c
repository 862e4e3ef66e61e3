/*
 * Explaining a table: see explain.h.
 *
 * The noise may be relative, as it is with times, or additive; where every y is
 * above 0 both are tried, and the shorter description of y wins.
 */
#include "base/id_array.h"
#include "base/sort_numbers.h"
#include "explain/explain_internal.h"
#include "explain/tree/optimal_tree.h"

#include <math.h>
#include <string.h>

/* Numbers of clusters that do not make the error smaller before a search for a bound gives up. */
#define PATIENCE 3

void lode_explanation_release(struct lode_explanation *explanation)
{
	lode_free(explanation->row_of);
	lode_free(explanation->copy_of);
	lode_points_release(&explanation->points);
	lode_features_release(&explanation->features);
	lode_tree_release(&explanation->tree);
	lode_free(explanation->assigned);
	lode_free(explanation->nearest);
	lode_free(explanation->confusion);
	memset(explanation, 0, sizeof(*explanation));
}

/* ---- order ---- */

/* Fastest first: by the mean of each function over all rows. */
static void order_clusters(const struct lode_points *points, const struct lode_explain_model *model,
			   struct lode_ranked *ranks)
{
	for (unsigned k = 0; k < model->clusters; k++) {
		ranks[k] = (struct lode_ranked){ 0, k };
		for (size_t row = 0; row < points->rows; row++)
			ranks[k].value +=
				lode_function_at(points, &model->functions[k], row) / (double)points->rows;
	}
	lode_sort_ranked(ranks, model->clusters);
}

/* A term that changes nothing in twelve digits of the function is rounding. Terms are 1 at most. */
static void drop_rounding(struct lode_function *function)
{
	double largest = 0;

	for (unsigned k = 0; k < function->count; k++)
		largest = fmax(largest, fabs(function->coefficient[k]));
	for (unsigned k = 0; k < function->count; k++)
		if (fabs(function->coefficient[k]) < 1e-12 * largest)
			function->coefficient[k] = 0;
}

/* Takes functions, tree and labels over, renumbered. */
static void take_over(struct lode_explanation *explanation, struct lode_explain_model *model)
{
	struct lode_ranked ranks[LODE_MAX_CLUSTERS];
	uint32_t number[LODE_MAX_CLUSTERS];

	order_clusters(&explanation->points, model, ranks);
	explanation->clusters = model->clusters;
	for (unsigned k = 0; k < model->clusters; k++) {
		number[ranks[k].id] = k;
		explanation->cluster[k].function = model->functions[ranks[k].id];
		drop_rounding(&explanation->cluster[k].function);
	}
	for (size_t i = 0; i < model->tree.count; i++)
		model->tree.nodes[i].cluster = number[model->tree.nodes[i].cluster];
	for (size_t row = 0; row < explanation->rows; row++)
		model->labels[row] = number[model->labels[row]];
	explanation->tree = model->tree;
	explanation->assigned = model->labels;
	explanation->length = model->length;
	explanation->explained = model->clusters == 1 || model->tree.count > 1;
	memset(model, 0, sizeof(*model));
}

/* Nats for one curve of any known kind through all rows, under the kind of noise that suits it best. */
static int curve_length(const struct lode_explain_input *input, const struct lode_explanation *explanation,
			unsigned noises, double *least, struct lode_error *error)
{
	static const enum lode_family families[] = { LODE_FAMILY_AUTO, LODE_FAMILY_POLY };
	uint32_t *rows = lode_ids_below(explanation->rows);
	int code = rows ? 0 : lode_fail_memory(error);

	*least = INFINITY;
	for (unsigned i = 0; code == 0 && i < 2 * noises; i++) {
		enum lode_noise noise = i / 2 ? LODE_NOISE_RELATIVE : LODE_NOISE_ADDITIVE;
		struct lode_function curve;
		struct lode_points points;

		code = lode_explain_points(input, explanation, families[i % 2], noise, &points, error);
		if (code < 0)
			break;
		lode_function_choose(&points, rows, points.rows, &curve);
		*least = fmin(*least, lode_function_price(&points, &curve) + lode_density_of_y(&points) +
					      lode_function_length(&points, &curve, rows, points.rows));
		lode_points_release(&points);
	}
	lode_free(rows);
	return code;
}

/* Unless requested, several functions are reported only if there is evidence for them. */
static int require_evidence(const struct lode_explain_input *input, const struct lode_points *points,
			    unsigned noises, const struct lode_explain_options *options,
			    struct lode_explanation *explanation, struct lode_explain_model *model, unsigned which,
			    struct lode_error *error)
{
	struct lode_explain_problem problem = { &points[which], &explanation->features, 3, options->jobs,
						options->seed };
	double curve;
	int code = curve_length(input, explanation, noises, &curve, error);

	if (code == 0 && curve < model->length + lode_density_of_y(&points[which])) {
		explanation->withdrawn = LODE_WITHDRAWN_CURVE;
		return 0;
	}
	if (code == 0 && model->tree.count > 1) {
		explanation->withdrawn_feature = model->tree.nodes[0].feature;
		code = lode_model_merge_cuts(&problem, model, error);
	}
	if (code == 0 && model->clusters == 1) {
		explanation->withdrawn = LODE_WITHDRAWN_CUT;
		return 0;
	}
	if (code == 0)
		code = lode_explain_evidence(points, noises, &explanation->features, options, model, which,
					     &explanation->chance, error);
	if (code == 0 && explanation->chance.doubted)
		explanation->withdrawn = LODE_WITHDRAWN_CHANCE;
	return code;
}

/* The model that is found, or a single function if there is too little evidence for it. */
static int find_model(const struct lode_explain_input *input, const struct lode_points *points, unsigned noises,
		      const struct lode_explain_options *options, struct lode_explanation *explanation,
		      struct lode_explain_model *model, unsigned *which, struct lode_error *error)
{
	struct lode_explain_options one = *options;
	int code = lode_explain_search(points, noises, &explanation->features, options, model, which, error);

	if (code < 0 || options->clusters || model->clusters == 1)
		return code;
	code = require_evidence(input, points, noises, options, explanation, model, *which, error);
	if (code == 0 && explanation->withdrawn) {
		one.clusters = 1;
		lode_model_release(model);
		code = lode_explain_search(points, noises, &explanation->features, &one, model, which, error);
	}
	if (code < 0)
		lode_model_release(model);
	return code;
}

static int explain_rows(const struct lode_explain_input *input, const struct lode_explain_options *options,
			struct lode_explanation *explanation, struct lode_error *error)
{
	struct lode_points points[2];
	struct lode_explain_model model = { .clusters = 0 };
	unsigned noises = 0, which = 0;
	int code = lode_features_make(&explanation->features, input->table, input->auxiliary, explanation->row_of,
				      explanation->rows, error);

	if (code == 0 && lode_explain_above_zero(input, explanation)) {
		code = lode_explain_points(input, explanation, options->family, LODE_NOISE_RELATIVE, &points[0],
					   error);
		noises += code == 0;
	}
	if (code == 0) {
		code = lode_explain_points(input, explanation, options->family, LODE_NOISE_ADDITIVE,
					   &points[noises], error);
		noises += code == 0;
	}
	if (code == 0)
		code = find_model(input, points, noises, options, explanation, &model, &which, error);
	if (code == 0 && options->tree == LODE_TREE_OPTIMAL && model.clusters > 1)
		code = lode_explain_plant_optimal(&points[which], &explanation->features, options, &model, error);
	for (unsigned i = 0; i < noises; i++) {
		if (code == 0 && i == which)
			explanation->points = points[i];
		else
			lode_points_release(&points[i]);
	}
	if (code == 0)
		take_over(explanation, &model);
	return code;
}

/* The same by the paper's algorithm. */
static int explain_smallest(const struct lode_explain_input *input, const struct lode_explain_options *options,
			    struct lode_explanation *explanation, struct lode_error *error)
{
	int relative = options->max_error_relative && lode_explain_above_zero(input, explanation);
	struct lode_explain_model model;
	int code = lode_features_make(&explanation->features, input->table, input->auxiliary, explanation->row_of,
				      explanation->rows, error);

	if (code == 0)
		code = lode_explain_points(input, explanation, options->family,
					   relative ? LODE_NOISE_RELATIVE : LODE_NOISE_ADDITIVE,
					   &explanation->points, error);
	if (code == 0)
		code = lode_explain_smallest(&explanation->points, &explanation->features, options, &model,
					     &explanation->clustering_error, error);
	if (code == 0)
		take_over(explanation, &model);
	return code;
}

/* One search with its measures, not yet cross-validated. */
static int attempt(const struct lode_explain_input *input, const struct lode_explain_options *options,
		   struct lode_explanation *explanation, struct lode_error *error)
{
	int code;

	memset(explanation, 0, sizeof(*explanation));
	explanation->clustering_error = NAN;
	code = lode_explain_rows(input, options, explanation, error);
	if (code == 0)
		code = (options->smallest ? explain_smallest : explain_rows)(input, options, explanation, error);
	if (code == 0)
		code = lode_explain_measure(explanation, error);
	if (code < 0)
		lode_explanation_release(explanation);
	return code;
}

/* ---- the bound ---- */

static double error_of(const struct lode_explain_options *options, const struct lode_explanation *explanation)
{
	double error = options->max_error_relative ? explanation->relative_error : explanation->mean_square;

	return isnan(error) ? INFINITY : error;
}

static int is_within(const struct lode_explain_options *options, const struct lode_explanation *explanation)
{
	if (options->smallest)
		return explanation->clustering_error <= options->max_error;
	return options->max_error <= 0 ||
	       (explanation->explained && error_of(options, explanation) <= options->max_error);
}

/* Tries another number of clusters: takes it over and returns 1 when it is within the bound. */
static int try_number(const struct lode_explain_input *input, const struct lode_explain_options *options,
		      unsigned clusters, struct lode_explanation *explanation, double *least,
		      struct lode_error *error)
{
	struct lode_explain_options how = *options;
	struct lode_explanation other;
	int code, within;

	how.clusters = clusters;
	how.notes = NULL;
	code = attempt(input, &how, &other, error);
	if (code < 0)
		return code;
	within = is_within(options, &other);
	if (error_of(options, &other) < *least)
		*least = error_of(options, &other);
	if (within) {
		lode_explanation_release(explanation);
		*explanation = other;
	} else {
		lode_explanation_release(&other);
	}
	return within;
}

/*
 * The description that is shortest need not be within the bound: others are then
 * tried, more functions first, as long as more of them make the error smaller, then
 * fewer, but not one: it would explain nothing that was seen. A number that was asked
 * for is the most that may be (the paper's bound on size).
 */
static int search_bound(const struct lode_explain_input *input, const struct lode_explain_options *options,
			struct lode_explanation *explanation, struct lode_error *error)
{
	unsigned found = explanation->clusters, useless = 0;
	unsigned most = options->clusters ? options->clusters : LODE_MAX_CLUSTERS;
	double least = error_of(options, explanation), before;
	int code = 0;

	if (most > explanation->rows)
		most = (unsigned)explanation->rows;
	for (unsigned k = found + 1; code == 0 && k <= most && useless < PATIENCE; k++) {
		before = least;
		code = try_number(input, options, k, explanation, &least, error);
		useless = least < before ? 0 : useless + 1;
	}
	for (unsigned k = found; code == 0 && k-- > 2;)
		code = try_number(input, options, k, explanation, &least, error);
	return code < 0 ? code : 0;
}

/* What a person must know of how it came about. */
static void add_notes(const struct lode_explain_options *options, const struct lode_explanation *explanation)
{
	lode_notes_add(options->notes, explanation->tree.not_looked,
		       "nodes of the tree, where no column by itself says more, were not looked at with pairs or "
		       "triples of all columns: there are too many",
		       NULL);
}

int lode_explain(const struct lode_explain_input *input, const struct lode_explain_options *options,
		 struct lode_explanation *explanation, struct lode_error *error)
{
	int code = lode_explain_check(options, error);

	memset(explanation, 0, sizeof(*explanation));
	if (code == 0)
		code = attempt(input, options, explanation, error);
	if (code == 0 && !options->smallest && !is_within(options, explanation))
		code = search_bound(input, options, explanation, error);
	if (code == 0)
		code = options->smallest ? lode_smallest_validate(options, explanation, error)
					 : lode_explain_validate(input, options, explanation, error);
	if (code < 0) {
		lode_explanation_release(explanation);
		return code;
	}
	explanation->within = is_within(options, explanation);
	add_notes(options, explanation);
	return 0;
}
