/* Model: see explain_model.h. */
#include "explain/model/explain_model.h"

#include "base/sort_order.h"
#include "base/sort_numbers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rounds of tree and functions, at most. */
#define ROUNDS 12
/* Functions that are closer than this many spreads in most rows look like one. */
#define NEAREST 2.0
/* Rows by which a merger is judged before it is tried. */
#define MERGE_SAMPLE_ROWS 300

void lode_model_release(struct lode_explain_model *model)
{
	lode_tree_release(&model->tree);
	lode_free(model->labels);
	memset(model, 0, sizeof(*model));
}

static int copy_tree(struct lode_tree *tree, const struct lode_tree *from)
{
	memset(tree, 0, sizeof(*tree));
	tree->clusters = from->clusters;
	tree->not_looked = from->not_looked;
	while (tree->count < from->count)
		if (lode_tree_add(tree) == LODE_NONE)
			return LODE_SYSTEM;
	memcpy(tree->nodes, from->nodes, from->count * sizeof(*tree->nodes));
	memcpy(tree->sizes, from->sizes, from->count * from->clusters * sizeof(*tree->sizes));
	return 0;
}

int lode_model_copy(struct lode_explain_model *model, const struct lode_explain_model *from,
		    struct lode_error *error)
{
	*model = *from;
	model->labels = NULL;
	memset(&model->tree, 0, sizeof(model->tree));
	if (!from->tree.count || copy_tree(&model->tree, &from->tree) == 0)
		return 0;
	lode_model_release(model);
	return lode_fail_memory(error);
}

int lode_model_costs(const struct lode_points *points, const struct lode_function *functions, unsigned clusters,
		     struct lode_costs *costs, struct lode_error *error)
{
	memset(costs, 0, sizeof(*costs));
	costs->rows = points->rows;
	costs->clusters = clusters;
	costs->cost = lode_calloc(points->rows, clusters * sizeof(*costs->cost));
	if (!costs->cost)
		return lode_fail_memory(error);
	for (unsigned k = 0; k < clusters; k++)
		lode_function_costs(points, &functions[k], costs->cost + k, clusters);
	return 0;
}

/* ---- rows of clusters ---- */

/* Rows grouped by cluster. */
struct groups {
	uint32_t *rows;
	size_t starts[LODE_MAX_CLUSTERS + 1];
};

static int group_rows(struct groups *groups, const uint32_t *labels, size_t rows, unsigned clusters)
{
	size_t next[LODE_MAX_CLUSTERS];

	groups->rows = lode_calloc(rows, sizeof(*groups->rows));
	if (!groups->rows)
		return LODE_SYSTEM;
	memset(groups->starts, 0, sizeof(groups->starts));
	for (size_t i = 0; i < rows; i++)
		groups->starts[labels[i] + 1]++;
	for (unsigned k = 0; k < clusters; k++) {
		groups->starts[k + 1] += groups->starts[k];
		next[k] = groups->starts[k];
	}
	for (size_t i = 0; i < rows; i++)
		groups->rows[next[labels[i]]++] = (uint32_t)i;
	return 0;
}

/* ---- settling ---- */

double lode_function_price(const struct lode_points *points, const struct lode_function *function)
{
	const enum lode_shape *shapes = lode_family_shapes(points->family);
	unsigned known = 0;

	while (shapes[known] != LODE_SHAPES)
		known++;
	return (function->count + 1) / 2.0 * log((double)points->rows) + log(known);
}

/* Functions that no leaf uses go; the others keep their order. */
static int drop_unused(struct lode_explain_model *model, struct lode_error *error)
{
	struct lode_tree fewer = { .clusters = 0 };
	uint32_t number[LODE_MAX_CLUSTERS];
	unsigned kept = 0;
	int used[LODE_MAX_CLUSTERS] = { 0 };

	for (size_t i = 0; i < model->tree.count; i++)
		if (model->tree.nodes[i].feature == LODE_NONE)
			used[model->tree.nodes[i].cluster] = 1;
	for (unsigned k = 0; k < model->clusters; k++) {
		number[k] = used[k] ? kept : 0;
		if (used[k])
			model->functions[kept++] = model->functions[k];
	}
	if (kept == model->clusters)
		return 0;
	fewer.clusters = kept;
	fewer.not_looked = model->tree.not_looked;
	for (size_t i = 0; i < model->tree.count; i++) {
		if (lode_tree_add(&fewer) == LODE_NONE) {
			lode_tree_release(&fewer);
			return lode_fail_memory(error);
		}
		fewer.nodes[i] = model->tree.nodes[i];
		fewer.nodes[i].cluster = number[fewer.nodes[i].cluster];
	}
	lode_tree_release(&model->tree);
	model->tree = fewer;
	model->clusters = kept;
	return 0;
}

static int label_by_tree(const struct lode_explain_problem *problem, struct lode_explain_model *model,
			 struct lode_error *error)
{
	if (!model->labels)
		model->labels = lode_calloc(problem->points->rows, sizeof(*model->labels));
	if (!model->labels)
		return lode_fail_memory(error);
	for (size_t row = 0; row < problem->points->rows; row++)
		model->labels[row] =
			model->tree.nodes[lode_tree_leaf(&model->tree, problem->features, row)].cluster;
	return 0;
}

/* Fits the functions to their rows and takes the length. */
static int refit(const struct lode_explain_problem *problem, struct lode_explain_model *model,
		 struct lode_error *error)
{
	struct groups groups;

	if (group_rows(&groups, model->labels, problem->points->rows, model->clusters) < 0)
		return lode_fail_memory(error);
	model->length = lode_tree_price(&model->tree, problem->features);
	for (unsigned k = 0; k < model->clusters; k++) {
		size_t count = groups.starts[k + 1] - groups.starts[k];
		const uint32_t *rows = groups.rows + groups.starts[k];

		if (count)
			lode_function_choose(problem->points, rows, count, &model->functions[k]);
		model->length += lode_function_price(problem->points, &model->functions[k]) +
				 lode_function_length(problem->points, &model->functions[k], rows, count);
	}
	lode_free(groups.rows);
	return 0;
}

int lode_model_follow_tree(const struct lode_explain_problem *problem, struct lode_explain_model *model,
			   struct lode_error *error)
{
	int code = drop_unused(model, error);

	if (code == 0)
		code = label_by_tree(problem, model, error);
	return code < 0 ? code : refit(problem, model, error);
}

/* One round: functions → tree → functions. */
static int improve(const struct lode_explain_problem *problem, struct lode_explain_model *model,
		   struct lode_error *error)
{
	struct lode_learn_options how = { problem->look_ahead, problem->jobs, problem->seed };
	struct lode_costs costs;
	int code = lode_model_costs(problem->points, model->functions, model->clusters, &costs, error);

	if (code < 0)
		return code;
	lode_tree_release(&model->tree);
	code = lode_tree_learn(&model->tree, problem->features, &costs, &how, error);
	lode_free(costs.cost);
	return code < 0 ? code : lode_model_follow_tree(problem, model, error);
}

int lode_model_settle(const struct lode_explain_problem *problem, struct lode_explain_model *model,
		      struct lode_error *error)
{
	struct lode_explain_model next;
	int code = improve(problem, model, error);

	for (int round = 1; code == 0 && round < ROUNDS; round++) {
		code = lode_model_copy(&next, model, error);
		if (code == 0)
			code = improve(problem, &next, error);
		if (code == 0 && next.length < model->length - 1e-6 * (double)problem->points->rows) {
			struct lode_explain_model worse = *model;

			*model = next;
			lode_model_release(&worse);
			continue;
		}
		lode_model_release(&next);
		break;
	}
	if (code < 0)
		lode_model_release(model);
	return code;
}

/* ---- merging ---- */

/* Rows picked evenly from two clusters, at most MERGE_SAMPLE_ROWS of each. */
static size_t pick_sample(const struct groups *groups, unsigned a, unsigned b, uint32_t *sample)
{
	unsigned both[2] = { a, b };
	size_t count = 0;

	for (unsigned side = 0; side < 2; side++) {
		size_t start = groups->starts[both[side]], rows = groups->starts[both[side] + 1] - start;
		size_t taken = rows < MERGE_SAMPLE_ROWS ? rows : MERGE_SAMPLE_ROWS;

		for (size_t i = 0; i < taken; i++)
			sample[count++] = groups->rows[start + i * rows / taken];
	}
	return count;
}

/* About how much longer the rows' description gets when clusters a and b share one function. */
static double merger_cost(const struct lode_explain_problem *problem, const struct lode_explain_model *model,
			  const struct groups *groups, unsigned a, unsigned b)
{
	const unsigned both[2] = { a, b };
	uint32_t sample[2 * MERGE_SAMPLE_ROWS];
	size_t count = pick_sample(groups, a, b, sample), at = 0;
	struct lode_function merged;
	double more = 0;

	if (!count)
		return -INFINITY;
	lode_function_choose(problem->points, sample, count, &merged);
	for (unsigned side = 0; side < 2; side++) {
		const struct lode_function *own = &model->functions[both[side]];
		size_t rows = groups->starts[both[side] + 1] - groups->starts[both[side]];
		size_t taken = rows < MERGE_SAMPLE_ROWS ? rows : MERGE_SAMPLE_ROWS;
		double scale = taken ? (double)rows / (double)taken : 0;

		more += scale * (lode_function_length(problem->points, &merged, sample + at, taken) -
				 lode_function_length(problem->points, own, sample + at, taken));
		at += taken;
	}
	return more;
}

static void find_merger(const struct lode_explain_problem *problem, const struct lode_explain_model *model,
			const struct groups *groups, unsigned pair[2])
{
	double least = INFINITY;

	for (unsigned a = 0; a < model->clusters; a++)
		for (unsigned b = a + 1; b < model->clusters; b++) {
			double more = merger_cost(problem, model, groups, a, b);

			if (more < least - LODE_LENGTHS_DIFFER || (a == 0 && b == 1)) {
				least = more;
				pair[0] = a;
				pair[1] = b;
			}
		}
}

static int join_pair(const struct lode_explain_problem *problem, const struct lode_explain_model *model,
		     struct groups *groups, const unsigned pair[2], struct lode_explain_model *merged)
{
	uint32_t *rows = lode_calloc(problem->points->rows, sizeof(*rows));
	size_t count = 0;

	if (!rows)
		return LODE_SYSTEM;
	for (unsigned side = 0; side < 2; side++)
		for (size_t i = groups->starts[pair[side]]; i < groups->starts[pair[side] + 1]; i++)
			rows[count++] = groups->rows[i];
	for (unsigned k = 0; k < model->clusters; k++)
		if (k != pair[1])
			merged->functions[merged->clusters++] = model->functions[k];
	if (count)
		lode_function_choose(problem->points, rows, count, &merged->functions[pair[0]]);
	lode_free(rows);
	return 0;
}

int lode_model_merge(const struct lode_explain_problem *problem, const struct lode_explain_model *model,
		     struct lode_explain_model *merged, struct lode_error *error)
{
	struct groups groups;
	unsigned pair[2] = { 0, 1 };
	int code;

	memset(merged, 0, sizeof(*merged));
	if (group_rows(&groups, model->labels, problem->points->rows, model->clusters) < 0)
		return lode_fail_memory(error);
	find_merger(problem, model, &groups, pair);
	code = join_pair(problem, model, &groups, pair, merged);
	lode_free(groups.rows);
	return code < 0 ? lode_fail_memory(error) : lode_model_settle(problem, merged, error);
}

int lode_model_merge_pair(const struct lode_explain_problem *problem, const struct lode_explain_model *model,
			  const unsigned pair[2], struct lode_explain_model *merged, struct lode_error *error)
{
	struct groups groups;
	int code;

	memset(merged, 0, sizeof(*merged));
	if (group_rows(&groups, model->labels, problem->points->rows, model->clusters) < 0)
		return lode_fail_memory(error);
	code = join_pair(problem, model, &groups, pair, merged);
	lode_free(groups.rows);
	return code < 0 ? lode_fail_memory(error) : lode_model_settle(problem, merged, error);
}

/* ---- splitting ---- */

/*
 * Rows with the same answers to all tests are a cell: the row's answers to the tests of the tree, or, where the features are few and
 * binary, to all there are: a small cluster may hide in a leaf. With more tests than
 * bits it is the leaf.
 */
static uint64_t cell_of(const struct lode_explain_problem *problem, const struct lode_tree *tree, size_t row)
{
	const struct lode_features *features = problem->features;
	uint64_t cell = 0;

	if (features->row_words == 1 && features->count <= LODE_MAX_TESTS)
		return features->by_row[row];
	if (tree->count > 2 * 64)
		return lode_tree_leaf(tree, features, row);
	for (size_t i = 0, bit = 0; i < tree->count; i++)
		if (tree->nodes[i].feature != LODE_NONE) {
			struct lode_test test = { tree->nodes[i].feature, tree->nodes[i].code };

			cell |= (uint64_t)lode_test_row(features, test, row) << bit++;
		}
	return cell;
}

/* A function for the rows of one cell, and how many nats it saves. */
static double try_cell(const struct lode_explain_problem *problem, const struct lode_explain_model *model,
		       const uint32_t *rows, size_t count, struct lode_function *own)
{
	const struct lode_points *points = problem->points;

	lode_function_choose(points, rows, count, own);
	return lode_function_length(points, &model->functions[model->labels[rows[0]]], rows, count) -
	       lode_function_length(points, own, rows, count) - lode_function_price(points, own);
}

/* Finds the cell whose rows would gain most from their own function, and that function; the gain in
 * nats. */
static int find_split(const struct lode_explain_problem *problem, const struct lode_explain_model *model,
		      struct lode_function *function, double *gain)
{
	size_t count = problem->points->rows;
	uint64_t *cells = lode_calloc(count, sizeof(*cells));
	uint32_t *rows = lode_calloc(count, sizeof(*rows)); /* by cell */
	int code = cells && rows ? 0 : LODE_SYSTEM;

	*gain = 0;
	for (size_t row = 0; code == 0 && row < count; row++)
		cells[row] = cell_of(problem, &model->tree, row);
	if (code == 0)
		code = lode_sort_order(cells, count, rows);
	for (size_t begin = 0, end; code == 0 && begin < count; begin = end) {
		struct lode_function own;
		double saved;

		for (end = begin; end < count && cells[rows[end]] == cells[rows[begin]];)
			end++;
		saved = try_cell(problem, model, rows + begin, end - begin, &own);
		if (saved > *gain + LODE_LENGTHS_DIFFER) {
			*gain = saved;
			*function = own;
		}
	}
	lode_free(cells);
	lode_free(rows);
	return code;
}

int lode_model_split(const struct lode_explain_problem *problem, struct lode_explain_model *model,
		     struct lode_error *error)
{
	int code = 0;

	while (code == 0 && model->clusters < LODE_MAX_CLUSTERS) {
		struct lode_explain_model next = { .clusters = model->clusters };
		double gain;

		memcpy(next.functions, model->functions, sizeof(next.functions));
		if (find_split(problem, model, &next.functions[next.clusters++], &gain) < 0)
			return lode_fail_memory(error);
		if (gain <= LODE_LENGTHS_DIFFER)
			break;
		code = lode_model_settle(problem, &next, error);
		if (code < 0)
			break;
		if (!(next.length < model->length - LODE_LENGTHS_DIFFER)) {
			lode_model_release(&next);
			break;
		}
		lode_model_release(model);
		*model = next;
	}
	return code;
}

/* ---- the same in fewer words ---- */

/* What rows cost when their labels are taken for granted. */
static int label_costs(const struct lode_explain_model *model, size_t rows, struct lode_costs *costs)
{
	memset(costs, 0, sizeof(*costs));
	costs->rows = rows;
	costs->clusters = model->clusters;
	costs->labels_count = 1;
	costs->cost = lode_calloc(rows, model->clusters * sizeof(*costs->cost));
	for (size_t row = 0; costs->cost && row < rows; row++)
		for (unsigned k = 0; k < model->clusters; k++)
			costs->cost[row * model->clusters + k] = k == model->labels[row] ? 0 : 1e6f;
	return costs->cost ? 0 : LODE_SYSTEM;
}

int lode_model_simplify(const struct lode_explain_problem *problem, struct lode_explain_model *model,
			struct lode_error *error)
{
	double before = lode_tree_price(&model->tree, problem->features);
	struct lode_costs costs;
	int code = label_costs(model, problem->points->rows, &costs) < 0 ? lode_fail_memory(error) : 0;

	if (code == 0)
		code = lode_tree_shorten(&model->tree, problem->features, &costs, error);
	if (code == 0)
		model->length += lode_tree_price(&model->tree, problem->features) - before;
	lode_free(costs.cost);
	return code;
}

/* ---- distance ---- */

static double log_or_value(const struct lode_points *points, double value)
{
	if (points->noise == LODE_NOISE_ADDITIVE)
		return value;
	return log(value > points->floor ? value : points->floor);
}

static double distance(const struct lode_explain_problem *problem, const struct lode_explain_model *model,
		       const struct groups *groups, unsigned a, unsigned b)
{
	double gaps[2 * MERGE_SAMPLE_ROWS], spread = fmax(model->functions[a].spread, model->functions[b].spread);
	uint32_t sample[2 * MERGE_SAMPLE_ROWS];
	size_t count = pick_sample(groups, a, b, sample);

	for (size_t i = 0; i < count; i++)
		gaps[i] = fabs(log_or_value(problem->points,
					    lode_function_at(problem->points, &model->functions[a], sample[i])) -
			       log_or_value(problem->points,
					    lode_function_at(problem->points, &model->functions[b], sample[i])));
	lode_sort_double(gaps, count);
	return count ? gaps[count * 3 / 4] / spread : 0;
}

int lode_model_distance(const struct lode_explain_problem *problem, const struct lode_explain_model *model,
			double *least, struct lode_error *error)
{
	struct groups groups;

	*least = INFINITY;
	if (group_rows(&groups, model->labels, problem->points->rows, model->clusters) < 0)
		return lode_fail_memory(error);
	for (unsigned a = 0; a < model->clusters; a++)
		for (unsigned b = a + 1; b < model->clusters; b++)
			*least = fmin(*least, distance(problem, model, &groups, a, b));
	lode_free(groups.rows);
	return 0;
}

int lode_model_merge_near(const struct lode_explain_problem *problem, struct lode_explain_model *model,
			  struct lode_error *error)
{
	double distance;
	int code;

	while ((code = lode_model_distance(problem, model, &distance, error)) == 0 && distance < NEAREST) {
		struct lode_explain_model merged;

		code = lode_model_merge(problem, model, &merged, error);
		if (code < 0)
			return code;
		lode_model_release(model);
		*model = merged;
	}
	return code;
}
