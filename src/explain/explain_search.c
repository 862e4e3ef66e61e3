/*
 * The search for a model of a whole table (see explain.h).
 *
 * What takes many tries is done on a sample of the rows, and on few features. Where
 * there are many, those that matter are found first: rough clusterings label all
 * rows, and a tree over all features shows which of them it needs. Then models
 * of the sample are compared (model_selection.h), for each kind of noise that is likely. The best one
 * settles on all rows, its functions are merged where they prove to be one, and at
 * last every feature may be in the tree. Clusters that are plain to see in x and y
 * are reported even where no tree explains them (explain_unexplained.c).
 */
#include "base/id_array.h"
#include "base/random.h"
#include "explain/explain_internal.h"
#include "explain/tree/optimal_tree.h"

#include <string.h>

/* Rows of the sample; features beyond which those that matter are looked for first. */
#define SAMPLE       1500
#define FEW_FEATURES 16
/* Rough clusterings: how many functions each has. */
static const unsigned rough[] = { 3, 6 };

/* ---- samples ---- */

/* All rows when they are few, else an even random choice in order. Returns how many. */
static size_t draw_rows(size_t rows, uint64_t seed, uint32_t *drawn)
{
	struct lode_random random = lode_random_piece(seed, rows);
	size_t count = 0;

	for (size_t i = 0; i < rows && count < SAMPLE; i++)
		if (rows <= SAMPLE || lode_random_below(&random, rows - i) < SAMPLE - count)
			drawn[count++] = (uint32_t)i;
	return count;
}

/* ---- features that matter ---- */

/* Adds the features that the tree asks. */
static size_t add_used(const struct lode_tree *tree, unsigned char *marked, uint32_t *chosen, size_t count)
{
	for (size_t i = 0; i < tree->count; i++) {
		uint32_t feature = tree->nodes[i].feature;

		if (feature != LODE_NONE && !marked[feature]) {
			marked[feature] = 1;
			chosen[count++] = feature;
		}
	}
	return count;
}

/* Labels of all rows by a rough clustering of the sample, then a tree over all features. */
static int look_for_features(const struct lode_explain_problem *all, const struct lode_points *sample,
			     unsigned clusters, struct lode_tree *tree, struct lode_error *error)
{
	struct lode_learn_options how = { all->look_ahead, all->jobs, all->seed };
	struct lode_clustering clustering = { .clusters = 0 };
	struct lode_costs costs = { .rows = 0 };
	int code;

	memset(tree, 0, sizeof(*tree));
	code = lode_klinear_start(sample, clusters, 0, all->seed, &clustering, error);
	if (code == 0)
		code = lode_klinear_run(sample, &clustering, error);
	if (code == 0)
		code = lode_model_costs(all->points, clustering.functions, clusters, &costs, error);
	if (code == 0)
		code = lode_tree_learn(tree, all->features, &costs, &how, error);
	lode_clustering_release(&clustering);
	lode_free(costs.cost);
	return code;
}

static int find_features(const struct lode_explain_problem *all, const struct lode_points *sample,
			 uint32_t *chosen, size_t *count, struct lode_error *error)
{
	unsigned char *marked;
	int code = 0;

	*count = 0;
	if (all->features->count <= FEW_FEATURES) {
		for (; *count < all->features->count; ++*count)
			chosen[*count] = (uint32_t)*count;
		return 0;
	}
	marked = lode_calloc(all->features->count, 1);
	if (!marked)
		return lode_fail_memory(error);
	for (unsigned i = 0; code == 0 && i < sizeof(rough) / sizeof(rough[0]); i++) {
		struct lode_tree tree;
		unsigned clusters = rough[i] < sample->rows ? rough[i] : (unsigned)sample->rows;

		code = look_for_features(all, sample, clusters, &tree, error);
		if (code == 0)
			*count = add_used(&tree, marked, chosen, *count);
		lode_tree_release(&tree);
	}
	lode_free(marked);
	return code;
}

/* ---- the search ---- */

/* Some rows and some features. */
struct part {
	uint32_t *rows;
	size_t row_count;
	uint32_t *features;
	size_t feature_count;
	struct lode_features columns;  /* of the sample */
	struct lode_features all_rows; /* the chosen features, of all rows */
};

static void release_part(struct part *part)
{
	lode_free(part->rows);
	lode_free(part->features);
	lode_features_release(&part->columns);
	lode_features_release(&part->all_rows);
}

static int pick_all_rows(const struct lode_explain_problem *all, struct part *part, struct lode_error *error)
{
	uint32_t *rows = lode_ids_below(all->points->rows);
	int code;

	if (!rows)
		return lode_fail_memory(error);
	code = lode_features_pick(&part->all_rows, all->features, rows, all->points->rows, part->features,
				  part->feature_count, error);
	lode_free(rows);
	return code;
}

static int make_part(const struct lode_explain_problem *all, struct part *part, struct lode_error *error)
{
	struct lode_points sample;
	int code;

	memset(part, 0, sizeof(*part));
	part->rows = lode_calloc(all->points->rows < SAMPLE ? all->points->rows : SAMPLE, sizeof(*part->rows));
	part->features = lode_calloc(all->features->count, sizeof(*part->features));
	if (!part->rows || !part->features)
		return lode_fail_memory(error);
	part->row_count = draw_rows(all->points->rows, all->seed, part->rows);
	code = lode_points_pick(&sample, all->points, part->rows, part->row_count, error);
	if (code < 0)
		return code;
	code = find_features(all, &sample, part->features, &part->feature_count, error);
	lode_points_release(&sample);
	if (code == 0)
		code = lode_features_pick(&part->columns, all->features, part->rows, part->row_count,
					  part->features, part->feature_count, error);
	return code < 0 ? code : pick_all_rows(all, part, error);
}

double lode_density_of_y(const struct lode_points *points)
{
	double sum = 0;

	for (size_t i = 0; i < points->rows; i++)
		sum += points->log_y[i];
	return sum;
}

/* The best model of the sample under one kind of noise; its labels and tree are of no use elsewhere. */
static int search_sample(const struct lode_points *points, const struct part *part,
			 const struct lode_explain_options *options, struct lode_explain_model *model,
			 struct lode_error *error)
{
	struct lode_select_options how = { options->clusters, options->method, options->seed, options->jobs };
	struct lode_model_selection choice;
	struct lode_points sample;
	int code = lode_points_pick(&sample, points, part->rows, part->row_count, error);
	struct lode_explain_problem problem = { &sample, &part->columns, 3, 1, options->seed };

	if (code < 0)
		return code;
	code = lode_select_models(&problem, &how, &choice, error);
	if (code == 0) {
		code = lode_model_selection_take(&problem, &choice, options->clusters, model, error);
		lode_model_selection_release(&choice);
		model->length += lode_density_of_y(&sample);
	}
	lode_points_release(&sample);
	return code;
}

/* ---- from the sample to all rows ---- */

/* Only the functions stay: they settle in another problem. */
static int move(const struct lode_explain_problem *problem, struct lode_explain_model *model,
		struct lode_error *error)
{
	struct lode_explain_model moved = { .clusters = model->clusters };

	memcpy(moved.functions, model->functions, sizeof(moved.functions));
	lode_model_release(model);
	*model = moved;
	return lode_model_settle(problem, model, error);
}

/* What needs its own function may have had too few rows in the sample to show. */
static int settle_number(const struct lode_explain_problem *problem, struct lode_explain_model *model,
			 struct lode_error *error)
{
	int code = lode_model_split(problem, model, error);

	return code < 0 ? code : lode_model_merge_near(problem, model, error);
}

static int settle_on_all(const struct lode_explain_problem *all, const struct part *part,
			 const struct lode_explain_options *options, struct lode_explain_model *model,
			 struct lode_error *error)
{
	struct lode_explain_problem some = *all;
	int code;

	some.features = &part->all_rows;
	code = move(&some, model, error);
	if (code == 0 && !options->clusters)
		code = settle_number(&some, model, error);
	if (code == 0)
		code = move(all, model, error);
	return code < 0 ? code : lode_model_simplify(all, model, error);
}

/* Whether the model that one kind of noise led to is shorter under another kind, as it is. */
static int suits_better(const struct lode_points *points, const struct part *part,
			const struct lode_explain_model *model, uint64_t seed, int *better,
			struct lode_error *error)
{
	struct lode_points sample;
	struct lode_explain_model same;
	int code = lode_points_pick(&sample, points, part->rows, part->row_count, error);
	struct lode_explain_problem problem = { &sample, &part->columns, 0, 1, seed };

	if (code < 0)
		return code;
	code = lode_model_copy(&same, model, error);
	if (code == 0)
		code = lode_model_follow_tree(&problem, &same, error);
	if (code == 0)
		*better = same.length + lode_density_of_y(&sample) < model->length;
	lode_model_release(&same);
	lode_points_release(&sample);
	return code;
}

/* The best model under any kind of noise; later kinds are searched only where they promise something. */
static int search_noises(const struct lode_points *points, unsigned noises, const struct part *part,
			 const struct lode_explain_options *options, struct lode_explain_model *model,
			 unsigned *which, struct lode_error *error)
{
	int code = search_sample(&points[0], part, options, model, error);

	for (unsigned i = 1; code == 0 && i < noises; i++) {
		struct lode_explain_model next = { .clusters = 0 };
		int better = 1;

		if (model->clusters)
			code = suits_better(&points[i], part, model, options->seed, &better, error);
		if (code == 0 && better)
			code = search_sample(&points[i], part, options, &next, error);
		if (code == 0 && next.clusters && (!model->clusters || next.length < model->length)) {
			struct lode_explain_model worse = *model;

			*model = next;
			next = worse;
			*which = i;
		}
		lode_model_release(&next);
	}
	return code;
}

/* Clusters that are requested, or that are plain to see, where the tree makes no use of them. */
static int add_unexplained(const struct lode_explain_problem *all, const struct part *part, unsigned clusters,
			   struct lode_explain_model *model, struct lode_error *error)
{
	struct lode_points sample;
	int code = 0, asked = clusters != 0;
	double saved;

	if (!clusters && model->clusters == 1) {
		struct lode_explain_problem problem = { &sample, &part->columns, 0, 1, all->seed };

		code = lode_points_pick(&sample, all->points, part->rows, part->row_count, error);
		if (code < 0)
			return code;
		code = lode_unexplained_count(&problem,
					      model->length * (double)sample.rows / (double)all->points->rows,
					      &clusters, &saved, error);
		lode_points_release(&sample);
	}
	if (code < 0 || !clusters || clusters == model->clusters)
		return code;
	return lode_unexplained_take(all, clusters, asked, model, error);
}

int lode_explain_search(const struct lode_points *points, unsigned noises, const struct lode_features *features,
			const struct lode_explain_options *options, struct lode_explain_model *model,
			unsigned *which, struct lode_error *error)
{
	struct lode_explain_problem all = { &points[0], features, 3, options->jobs, options->seed };
	struct part part;
	int code = make_part(&all, &part, error);

	memset(model, 0, sizeof(*model));
	*which = 0;
	if (code == 0)
		code = search_noises(points, noises, &part, options, model, which, error);
	all.points = &points[*which];
	if (code == 0 && model->clusters)
		code = settle_on_all(&all, &part, options, model, error);
	if (code == 0)
		code = add_unexplained(&all, &part, options->clusters, model, error);
	release_part(&part);
	if (code < 0)
		lode_model_release(model);
	return code;
}

int lode_explain_plant_optimal(const struct lode_points *points, const struct lode_features *features,
			       const struct lode_explain_options *options, struct lode_explain_model *model,
			       struct lode_error *error)
{
	struct lode_explain_problem problem = { points, features, 3, options->jobs, options->seed };
	struct lode_learn_options how = { 3, options->jobs, options->seed };
	struct lode_tree tree = { .count = 0 };
	struct lode_costs costs;
	int code = lode_model_costs(points, model->functions, model->clusters, &costs, error);

	if (code == 0)
		code = lode_tree_optimal(&tree, features, &costs, options->depth, &how, error);
	lode_free(costs.cost);
	if (code == 0) {
		lode_tree_release(&model->tree);
		model->tree = tree;
		code = lode_model_follow_tree(&problem, model, error);
	}
	if (code < 0)
		lode_model_release(model);
	return code;
}
