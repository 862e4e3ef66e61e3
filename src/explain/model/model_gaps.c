/*
 * Gaps between functions (see explain_model.h).
 *
 * A number that is correlated with y, such as the samples of a function that takes most of
 * the time, can be split anywhere, and one side is then really slower than the other. That
 * makes two classes only where there are few rows between them. So each pair of functions
 * that a test of a number separates is examined: its rows are put on a scale where the one
 * function is 0 and the other 1. Either they are far from each other in spreads of their
 * noise, or there are clearly fewer rows half-way than around each. Cutting noise of one peak
 * gives neither: halves of an even spread are 3.5 spreads apart, of a normal one 2.7, and
 * most of it, or as much as anywhere, is in between. And on either side of such a split y
 * still varies with the number.
 */
#include "explain/model/explain_model.h"

#include "base/sort_numbers.h"

#include <math.h>
#include <string.h>

/* Spreads from which on functions are far apart. */
#define FAR 5.0
/* The probability of so few rows half-way, where as many would be as around a function. */
#define CLEARLY 0.0626

/* ---- which functions a number separates ---- */

/* Bit k of `below[id]`: a leaf below the node has cluster k. */
static void find_below(const struct lode_tree *tree, uint32_t *below)
{
	for (size_t id = tree->count; id-- > 0;) {
		const struct lode_tree_node *node = &tree->nodes[id];

		below[id] = node->feature == LODE_NONE ? UINT32_C(1) << node->cluster
						       : below[node->left] | below[node->right];
	}
}

/* The feature of the first test of a number that does so; LODE_NONE: there is none. */
static uint32_t separating_number(const struct lode_explain_problem *problem, const struct lode_tree *tree,
				  const uint32_t *below, unsigned a, unsigned b)
{
	uint32_t one = UINT32_C(1) << a, other = UINT32_C(1) << b;

	for (size_t id = 0; id < tree->count; id++) {
		const struct lode_tree_node *node = &tree->nodes[id];

		if (node->feature == LODE_NONE ||
		    problem->features->items[node->feature].kind != LODE_FEATURE_RANKS)
			continue;
		if ((below[node->left] & one && below[node->right] & other) ||
		    (below[node->left] & other && below[node->right] & one))
			return node->feature;
	}
	return LODE_NONE;
}

/* ---- gaps ---- */

/* Rows of two functions. */
struct pair {
	const struct lode_points *points;
	const struct lode_explain_model *model;
	unsigned clusters[2];
	double *distances; /* of the functions in each row, on the scale of the noise */
	double *sorted;
	size_t rows;
};

static double on_scale(const struct lode_points *points, double value)
{
	if (points->noise == LODE_NOISE_ADDITIVE)
		return value;
	return log(value > points->floor ? value : points->floor);
}

static int belongs(const struct pair *pair, size_t row)
{
	uint32_t label = pair->model->labels[row];

	return label == pair->clusters[0] || label == pair->clusters[1];
}

static double value_of(const struct pair *pair, unsigned side, size_t row)
{
	return on_scale(pair->points,
			lode_function_at(pair->points, &pair->model->functions[pair->clusters[side]], row));
}

/* How far apart they are in a quarter of the rows at least: it does not matter where they cross. */
static double typical_distance(struct pair *pair)
{
	pair->rows = 0;
	for (size_t row = 0; row < pair->points->rows; row++)
		if (belongs(pair, row)) {
			pair->distances[row] = value_of(pair, 1, row) - value_of(pair, 0, row);
			pair->sorted[pair->rows++] = fabs(pair->distances[row]);
		}
	lode_sort_double(pair->sorted, pair->rows);
	return pair->rows ? pair->sorted[pair->rows * 3 / 4] : 0;
}

/* The larger deviation of both from their rows, coefficients paid for; 0 where unknown. */
static double spread_of(const struct pair *pair)
{
	double largest = 0;

	for (unsigned side = 0; side < 2; side++) {
		const struct lode_function *function = &pair->model->functions[pair->clusters[side]];
		double square = 0;
		size_t rows = 0;

		for (size_t row = 0; row < pair->points->rows; row++)
			if (pair->model->labels[row] == pair->clusters[side]) {
				double residual = lode_residual(pair->points, function, row);

				square += residual * residual;
				rows++;
			}
		if (rows > function->count)
			largest = fmax(largest, sqrt(square / (double)(rows - function->count)));
	}
	return largest;
}

/* Not lgamma, which writes to a variable that all threads share. */
static double log_factorial(size_t n)
{
	int sign;

	return lgamma_r((double)n + 1, &sign);
}

/* The probability of at most `few` heads in `coins` tosses of a coin. */
static double at_most(size_t few, size_t coins)
{
	double sum = 0;

	for (size_t i = 0; i <= few; i++)
		sum += exp(log_factorial(coins) - log_factorial(i) - log_factorial(coins - i) -
			   (double)coins * log(2));
	return sum;
}

/* Whether there are fewer rows half-way than around either function, where they are not about to cross. */
static int is_thin_between(const struct pair *pair, double distance)
{
	size_t around[2] = { 0, 0 }, between = 0;

	for (size_t row = 0; row < pair->points->rows; row++) {
		double at;

		if (!belongs(pair, row) || fabs(pair->distances[row]) < distance / 2)
			continue;
		at = (on_scale(pair->points, pair->points->y[row]) - value_of(pair, 0, row)) / pair->distances[row];
		around[0] += fabs(at) <= 0.25;
		around[1] += fabs(at - 1) <= 0.25;
		between += at > 0.25 && at < 0.75;
	}
	return at_most(between, between + around[0]) < CLEARLY && at_most(between, between + around[1]) < CLEARLY;
}

static int have_gap(struct pair *pair)
{
	double distance = typical_distance(pair);

	return distance > FAR * spread_of(pair) || is_thin_between(pair, distance);
}

/*
 * Whether what each function leaves of y still goes along with the number, in the
 * direction of its cut: the correlation within both sides, beyond what chance gives in
 * one of twenty. Where it does not, the number is a mark of two classes, and only their noise
 * hides the gap.
 */
static int goes_along(const struct pair *pair, const struct lode_feature *number)
{
	double mean[2] = { 0 }, rest[2] = { 0 }, count[2] = { 0 }, zz = 0, rr = 0, zr = 0, rows, correlation;

	for (int round = 0; round < 2; round++)
		for (size_t row = 0; row < pair->points->rows; row++) {
			unsigned side = pair->model->labels[row] == pair->clusters[1];
			double z = number->codes[row], r;

			if (!belongs(pair, row))
				continue;
			r = lode_residual(pair->points, &pair->model->functions[pair->clusters[side]], row);
			if (!round) {
				mean[side] += z;
				rest[side] += r;
				count[side]++;
				continue;
			}
			z -= mean[side] / count[side];
			r = (r - rest[side] / count[side]) * (pair->distances[row] < 0 ? -1 : 1);
			zz += z * z;
			rr += r * r;
			zr += z * r;
		}
	rows = count[0] + count[1];
	if (!(zz > 0) || !(rr > 0) || rows < 6 || !(count[0] > 0) || !(count[1] > 0))
		return 0;
	correlation = zr / sqrt(zz * rr) * (mean[1] / count[1] < mean[0] / count[0] ? -1 : 1);
	return atanh(fmin(correlation, 0.999999)) * sqrt(rows - 5) > 1.645;
}

/* Finds two functions that a number separates where there is no gap; 0: there are none. */
static int find_cut(const struct lode_explain_problem *problem, const struct lode_explain_model *model,
		    const uint32_t *below, struct pair *pair)
{
	uint32_t feature;

	for (unsigned a = 0; a < model->clusters; a++)
		for (unsigned b = a + 1; b < model->clusters; b++) {
			pair->model = model;
			pair->clusters[0] = a;
			pair->clusters[1] = b;
			feature = separating_number(problem, &model->tree, below, a, b);
			if (feature != LODE_NONE && !have_gap(pair) &&
			    goes_along(pair, &problem->features->items[feature]))
				return 1;
		}
	return 0;
}

/* Merges two functions without a gap between them; 1, or 0 where there are none. */
static int merge_cut(const struct lode_explain_problem *problem, struct lode_explain_model *model,
		     struct pair *pair, struct lode_error *error)
{
	uint32_t *below = lode_calloc(model->tree.count, sizeof(*below));
	struct lode_explain_model merged;
	int found, code;

	if (!below)
		return lode_fail_memory(error);
	find_below(&model->tree, below);
	found = find_cut(problem, model, below, pair);
	lode_free(below);
	if (!found)
		return 0;
	code = lode_model_merge_pair(problem, model, pair->clusters, &merged, error);
	if (code < 0)
		return code;
	lode_model_release(model);
	*model = merged;
	return 1;
}

int lode_model_merge_cuts(const struct lode_explain_problem *problem, struct lode_explain_model *model,
			  struct lode_error *error)
{
	struct pair pair = { .points = problem->points };
	unsigned before = model->clusters;
	int code = 1;

	pair.distances = lode_calloc(problem->points->rows, sizeof(*pair.distances));
	pair.sorted = lode_calloc(problem->points->rows, sizeof(*pair.sorted));
	if (!pair.distances || !pair.sorted)
		code = lode_fail_memory(error);
	while (code > 0 && model->clusters > 1)
		code = merge_cut(problem, model, &pair, error);
	lode_free(pair.distances);
	lode_free(pair.sorted);
	if (code < 0 || model->clusters == before)
		return code < 0 ? code : 0;
	return lode_model_simplify(problem, model, error);
}
