/*
 * Clusters that no tree explains (see explain_internal.h): x and y alone show them, so
 * clearly that encoding the cluster of each row individually still saves nats. Pieces of one
 * curve are no such clusters: there x says which piece it is.
 */
#include "base/id_array.h"
#include "base/sort_numbers.h"
#include "explain/explain_internal.h"

#include <math.h>
#include <string.h>

/* Clusters that are reported without a tree: how many at most, and how many spreads of their noise apart. */
#define MAX_UNEXPLAINED 6
#define FAR             5
/* Rows that each of them must have to itself, on average. */
#define MIN_ROWS 6
/* Nats a row that must be saved, by one more as well: chance saves some where rows are few. */
#define MIN_SAVED 0.2

/* Gives every function the rows that it is nearest to, and fits it to them. */
static void fit_nearest(const struct lode_points *points, struct lode_explain_model *model, uint32_t *rows)
{
	for (unsigned k = 0; k < model->clusters; k++) {
		size_t count = 0;

		for (size_t row = 0; row < points->rows; row++)
			if (model->labels[row] == k)
				rows[count++] = (uint32_t)row;
		if (count)
			lode_function_choose(points, rows, count, &model->functions[k]);
	}
}

/* Length of a description that encodes each row's cluster individually. */
static double length_without_tree(const struct lode_points *points, const struct lode_explain_model *model)
{
	double length = 0, sizes[LODE_MAX_CLUSTERS] = { 0 };

	for (size_t row = 0; row < points->rows; row++) {
		sizes[model->labels[row]]++;
		length += lode_function_cost(points, &model->functions[model->labels[row]], row);
	}
	for (unsigned k = 0; k < model->clusters; k++) {
		length += lode_function_price(points, &model->functions[k]);
		length -= sizes[k] > 0 ? sizes[k] * log(sizes[k] / (double)points->rows) : 0;
	}
	return length;
}

/* A model without a tree: the best clustering, as it is. */
static int cluster_alone(const struct lode_points *points, unsigned clusters, uint64_t seed,
			 struct lode_explain_model *model, struct lode_error *error)
{
	struct lode_klinear_options how = { clusters, 4, seed };
	struct lode_clustering clustering;
	uint32_t *rows;
	int code = lode_klinear(points, &how, &clustering, error);

	memset(model, 0, sizeof(*model));
	if (code < 0)
		return code;
	model->clusters = clusters;
	model->labels = clustering.labels;
	memcpy(model->functions, clustering.functions, sizeof(model->functions));
	rows = lode_calloc(points->rows, sizeof(*rows));
	if (!rows) {
		lode_model_release(model);
		return lode_fail_memory(error);
	}
	fit_nearest(points, model, rows);
	model->length = length_without_tree(points, model);
	lode_free(rows);
	return 0;
}

/*
 * Whether x alone separates the clusters: rows are put in order of x (by the function of
 * all rows, where there are several inputs), and then neighbours are in the same
 * cluster more often than half-way between chance and always.
 */
static int follow_x(const struct lode_points *points, const struct lode_explain_model *model, int *follow,
		    struct lode_error *error)
{
	struct lode_ranked *order = lode_calloc(points->rows, sizeof(*order));
	uint32_t *rows = lode_ids_below(points->rows);
	double same = 0, chance = 0, sizes[LODE_MAX_CLUSTERS] = { 0 };
	struct lode_function all;

	if (!order || !rows) {
		lode_free(order);
		lode_free(rows);
		return lode_fail_memory(error);
	}
	for (size_t i = 0; i < points->rows; i++)
		sizes[model->labels[i]] += 1.0 / (double)points->rows;
	lode_function_fit(points, LODE_SHAPE_LINEAR, rows, points->rows, &all);
	for (size_t i = 0; i < points->rows; i++)
		order[i] = (struct lode_ranked){ lode_function_at(points, &all, i), (uint32_t)i };
	lode_sort_ranked(order, points->rows);
	for (size_t i = 1; i < points->rows; i++)
		same += model->labels[order[i].id] == model->labels[order[i - 1].id];
	for (unsigned k = 0; k < model->clusters; k++)
		chance += sizes[k] * sizes[k];
	*follow = same / (double)(points->rows - 1) > (1 + chance) / 2;
	lode_free(order);
	lode_free(rows);
	return 0;
}

/* Whether each function has rows beyond those that any function could be drawn through, and one that agrees.
 */
static int all_have_rows(const struct lode_points *points, const struct lode_explain_model *model)
{
	size_t sizes[LODE_MAX_CLUSTERS] = { 0 };

	for (size_t row = 0; row < points->rows; row++)
		sizes[model->labels[row]]++;
	for (unsigned k = 0; k < model->clusters; k++)
		if (sizes[k] < model->functions[k].count + 2)
			return 0;
	return 1;
}

int lode_unexplained_count(const struct lode_explain_problem *problem, double length, unsigned *clusters,
			   double *saved, struct lode_error *error)
{
	double margin = MIN_SAVED * (double)problem->points->rows, least = length - margin;

	*clusters = 1;
	*saved = 0;
	for (unsigned k = 2; k <= MAX_UNEXPLAINED && k * MIN_ROWS <= problem->points->rows; k++) {
		struct lode_explain_model model;
		double distance;
		int follow = 0;
		int code = cluster_alone(problem->points, k, problem->seed, &model, error);

		if (code == 0)
			code = lode_model_distance(problem, &model, &distance, error);
		if (code == 0)
			code = follow_x(problem->points, &model, &follow, error);
		if (code == 0 && model.length < least && distance > FAR && !follow &&
		    all_have_rows(problem->points, &model)) {
			least = model.length - margin;
			*clusters = k;
			*saved = length - model.length;
		}
		lode_model_release(&model);
		if (code < 0)
			return code;
	}
	return 0;
}

/* Whether a leaf of the tree leads to every function. */
static int all_used(const struct lode_tree *tree)
{
	unsigned used = 0;
	int seen[LODE_MAX_CLUSTERS] = { 0 };

	for (size_t i = 0; i < tree->count; i++)
		if (tree->nodes[i].feature == LODE_NONE && !seen[tree->nodes[i].cluster]) {
			seen[tree->nodes[i].cluster] = 1;
			used++;
		}
	return used == tree->clusters;
}

/* A single leaf in place of the tree. */
static int cut_down(struct lode_tree *tree, struct lode_error *error)
{
	tree->nodes[0].feature = LODE_NONE;
	return lode_tree_tidy(tree, error);
}

int lode_unexplained_take(const struct lode_explain_problem *all, unsigned clusters, int asked,
			  struct lode_explain_model *model, struct lode_error *error)
{
	struct lode_learn_options learn = { all->look_ahead, all->jobs, all->seed };
	struct lode_costs costs;
	int code;

	lode_model_release(model);
	code = cluster_alone(all->points, clusters, all->seed, model, error);
	if (code < 0)
		return code;
	code = lode_model_costs(all->points, model->functions, clusters, &costs, error);
	if (code == 0)
		code = lode_tree_learn(&model->tree, all->features, &costs, &learn, error);
	/* Functions that no test leads to are not explained by those that one does; who requested them sees
	 * both. */
	if (code == 0 && !asked && !all_used(&model->tree))
		code = cut_down(&model->tree, error);
	/* Where the tree separates nothing, what x and y say is all there is. */
	for (size_t row = 0; code == 0 && model->tree.count > 1 && row < all->points->rows; row++)
		model->labels[row] = model->tree.nodes[lode_tree_leaf(&model->tree, all->features, row)].cluster;
	lode_free(costs.cost);
	return code;
}
