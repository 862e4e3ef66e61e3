/*
 * Model selection: see model_selection.h.
 *
 * Clustering x and y alone can split one noisy function in two and miss the difference
 * between two quiet ones; only together with the tree is it clear what belongs together.
 * So each start has more functions than are wanted. They settle together with the tree,
 * and then the two that are most alike are merged, again and again, down to one; on the
 * way each number of clusters gets a model. Starts are K-linear clusterings from tubes
 * of several widths (or the spectral clustering), the number of clusters itself where it
 * is given, and the leaves of a tree of regressions. The final model may still be split,
 * if the rows of a leaf need their own function. Starts are processed in parallel, each
 * with its own results, which are compared in a fixed order.
 */
#include "explain/model/model_selection.h"

#include "base/parallel.h"
#include "explain/model/regression_tree.h"
#include "explain/model/spectral.h"

#include <string.h>

/* Functions to start with beyond those that are wanted, and where any number is. */
#define MORE      3
#define START_ALL 8
#define LEAVES    12

void lode_model_selection_release(struct lode_model_selection *choice)
{
	for (unsigned k = 0; k <= LODE_MAX_CLUSTERS; k++)
		lode_model_release(&choice->models[k]);
}

/* Takes the model over when it is shorter than what is there, or releases it. */
static void keep(struct lode_model_selection *choice, struct lode_explain_model *model)
{
	struct lode_explain_model *place = &choice->models[model->clusters];

	if (!place->clusters || model->length < place->length - LODE_LENGTHS_DIFFER) {
		lode_model_release(place);
		*place = *model;
	} else {
		lode_model_release(model);
	}
}

/* Merges down to one cluster and keeps every step. */
static int merge_down(const struct lode_explain_problem *problem, struct lode_explain_model *model, unsigned least,
		      struct lode_model_selection *choice, struct lode_error *error)
{
	int code = 0;

	while (code == 0 && model->clusters > least) {
		struct lode_explain_model merged;

		code = lode_model_merge(problem, model, &merged, error);
		keep(choice, model);
		if (code < 0)
			return code;
		*model = merged;
	}
	keep(choice, model);
	return code;
}

/* ---- starts ---- */

struct start {
	enum { FROM_TUBE, FROM_SPECTRAL, FROM_REGRESSIONS, FROM_NOTHING } kind;
	unsigned clusters;
	unsigned tube;
	int merge; /* down, or as it is */
};

struct search {
	const struct lode_explain_problem *problem;
	const struct lode_select_options *options;
	struct start starts[2 * LODE_TUBES + 6];
	size_t count;
	struct lode_model_selection *found; /* one a start */
	int *codes;
	struct lode_error *errors;
};

static int cluster(const struct search *search, const struct start *start, struct lode_explain_model *model,
		   struct lode_error *error)
{
	const struct lode_points *points = search->problem->points;
	struct lode_clustering clustering = { .clusters = 0 };
	int code;

	if (start->kind == FROM_SPECTRAL) {
		code = lode_spectral(points, start->clusters, search->options->seed + start->tube, &clustering,
				     error);
	} else {
		code = lode_klinear_start(points, start->clusters, start->tube, search->options->seed, &clustering,
					  error);
		if (code == 0)
			code = lode_klinear_run(points, &clustering, error);
	}
	model->clusters = clustering.clusters;
	memcpy(model->functions, clustering.functions, sizeof(model->functions));
	lode_clustering_release(&clustering);
	return code;
}

static int begin(const struct search *search, const struct start *start, struct lode_explain_model *model,
		 struct lode_error *error)
{
	memset(model, 0, sizeof(*model));
	switch (start->kind) {
	case FROM_NOTHING:
		model->clusters = 1;
		return lode_regressions_start(search->problem, 1, model, error);
	case FROM_REGRESSIONS:
		return lode_regressions_start(search->problem, start->clusters, model, error);
	default:
		return cluster(search, start, model, error);
	}
}

static void run_start(void *context, size_t i)
{
	struct search *search = context;
	const struct start *start = &search->starts[i];
	unsigned least = search->options->clusters ? search->options->clusters : 1;
	struct lode_explain_model model;
	int code = begin(search, start, &model, &search->errors[i]);

	if (code == 0)
		code = lode_model_settle(search->problem, &model, &search->errors[i]);
	if (code == 0) {
		if (start->merge)
			code = merge_down(search->problem, &model, least, &search->found[i], &search->errors[i]);
		else
			keep(&search->found[i], &model);
	}
	search->codes[i] = code;
}

static void add_start(struct search *search, struct start start)
{
	if (start.clusters > search->problem->points->rows)
		start.clusters = (unsigned)search->problem->points->rows;
	search->starts[search->count++] = start;
}

static void plan(struct search *search)
{
	unsigned clusters = search->options->clusters, many = clusters ? clusters + MORE : START_ALL;
	int spectral = search->options->method == LODE_METHOD_SPECTRAL;

	if (many > LODE_MAX_CLUSTERS)
		many = LODE_MAX_CLUSTERS;
	if (clusters == 1) {
		add_start(search, (struct start){ FROM_NOTHING, 1, 0, 0 });
		return;
	}
	for (unsigned tube = 0; tube < (spectral ? 2 : LODE_TUBES); tube++) {
		add_start(search, (struct start){ spectral ? FROM_SPECTRAL : FROM_TUBE, many, tube, 1 });
		if (clusters)
			add_start(search,
				  (struct start){ spectral ? FROM_SPECTRAL : FROM_TUBE, clusters, tube, 0 });
	}
	add_start(search, (struct start){ FROM_REGRESSIONS, LEAVES > many ? LEAVES : many, 0, 1 });
}

static int collect(struct search *search, struct lode_model_selection *choice, struct lode_error *error)
{
	int code = 0;

	for (size_t i = 0; i < search->count; i++) {
		if (search->codes[i] < 0 && code == 0) {
			code = search->codes[i];
			if (error)
				*error = search->errors[i];
		}
		for (unsigned k = 1; k <= LODE_MAX_CLUSTERS; k++)
			if (search->found[i].models[k].clusters)
				keep(choice, &search->found[i].models[k]);
		memset(&search->found[i], 0, sizeof(search->found[i]));
	}
	return code;
}

int lode_select_models(const struct lode_explain_problem *problem, const struct lode_select_options *options,
		       struct lode_model_selection *choice, struct lode_error *error)
{
	struct search search = { .problem = problem, .options = options };
	int code = 0;

	memset(choice, 0, sizeof(*choice));
	if (options->method == LODE_METHOD_SPECTRAL)
		code = lode_spectral_prepare(error);
	if (code < 0)
		return code;
	plan(&search);
	search.found = lode_calloc(search.count, sizeof(*search.found));
	search.codes = lode_calloc(search.count, sizeof(*search.codes));
	search.errors = lode_calloc(search.count, sizeof(*search.errors));
	if (search.found && search.codes && search.errors) {
		lode_parallel(options->jobs, search.count, run_start, &search);
		code = collect(&search, choice, error);
	} else {
		code = lode_fail_memory(error);
	}
	lode_free(search.found);
	lode_free(search.codes);
	lode_free(search.errors);
	if (code < 0)
		lode_model_selection_release(choice);
	return code;
}

/* ---- taking ---- */

/* Moves the labels of a model of this problem along. */
static void take(struct lode_model_selection *choice, unsigned k, struct lode_explain_model *model)
{
	*model = choice->models[k];
	memset(&choice->models[k], 0, sizeof(choice->models[k]));
}

int lode_model_selection_take(const struct lode_explain_problem *problem, struct lode_model_selection *choice,
			      unsigned clusters, struct lode_explain_model *model, struct lode_error *error)
{
	unsigned best = 0;
	int code;

	memset(model, 0, sizeof(*model));
	for (unsigned k = 1; k <= LODE_MAX_CLUSTERS; k++) {
		const struct lode_explain_model *other = &choice->models[k];

		if (other->clusters && (!best || other->length < choice->models[best].length - LODE_LENGTHS_DIFFER))
			best = k;
	}
	if (clusters) {
		if (choice->models[clusters].clusters)
			take(choice, clusters, model);
		return 0;
	}
	take(choice, best, model);
	code = lode_model_split(problem, model, error);
	if (code == 0)
		code = lode_model_merge_near(problem, model, error);
	if (code < 0)
		lode_model_release(model);
	return code;
}
