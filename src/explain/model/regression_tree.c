/*
 * Regression tree: see regression_tree.h.
 *
 * At a node the rows are scaled by the node's own robust function (relative
 * noise) and wild ones are given less weight, by its t distribution. Then for every
 * test the normal equations of the yes side are added up, those of the no side are
 * the difference, and two small solutions give both sums of squares. Numeric
 * features are tested at a few quantiles.
 */
#include "explain/model/regression_tree.h"

#include "base/id_array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Cuts of a numeric feature, rows that a leaf must have, tests on the way to one. */
#define CUTS      7
#define FEWEST    8
#define DEEPEST   10
#define MAX_TERMS (LODE_MAX_INPUTS + 2)

/* Sums for weighted least squares in the linear shape, with y as the last column. */
struct sums {
	double product[MAX_TERMS][MAX_TERMS]; /* lower triangle */
	double rows;
};

struct partition {
	const struct lode_explain_problem *problem;
	unsigned terms; /* constant and inputs; y is one more */
	unsigned most;
	uint32_t *rows;
	uint32_t *scratch;
	double *factors; /* by position in the node: scaled and weighted terms and y */
	struct lode_explain_model *model;
};

static void add_row(struct sums *sums, const double *factors, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		for (unsigned j = 0; j <= i; j++)
			sums->product[i][j] += factors[i] * factors[j];
	sums->rows++;
}

static void subtract(const struct sums *all, const struct sums *part, unsigned count, struct sums *rest)
{
	for (unsigned i = 0; i < count; i++)
		for (unsigned j = 0; j <= i; j++)
			rest->product[i][j] = all->product[i][j] - part->product[i][j];
	rest->rows = all->rows - part->rows;
}

/* What least squares leave: the last pivot of a Cholesky factorisation that has y as its last column. */
static double rest_of_squares(const struct sums *sums, unsigned count)
{
	double factor[MAX_TERMS][MAX_TERMS];
	double pivot = 0;

	for (unsigned j = 0; j < count; j++) {
		pivot = sums->product[j][j];
		for (unsigned k = 0; k < j; k++)
			pivot -= factor[j][k] * factor[j][k];
		factor[j][j] = pivot > 1e-12 * sums->product[j][j] ? sqrt(pivot) : INFINITY;
		for (unsigned i = j + 1; i < count; i++) {
			double sum = sums->product[i][j];

			for (unsigned k = 0; k < j; k++)
				sum -= factor[i][k] * factor[j][k];
			factor[i][j] = sum / factor[j][j];
		}
	}
	return pivot > 0 ? pivot : 0;
}

static double nats(double squares, double rows, double finest)
{
	return rows / 2 * log(squares / rows + finest * finest);
}

/* Terms and y of the node's rows, scaled and weighted. */
static void prepare(struct partition *partition, const struct lode_function *function, const uint32_t *rows,
		    size_t count)
{
	const struct lode_points *points = partition->problem->points;
	unsigned width = partition->terms + 1;

	for (size_t i = 0; i < count; i++) {
		double *factors = partition->factors + i * width;
		double value = lode_function_at(points, function, rows[i]);
		double z = lode_residual(points, function, rows[i]) / function->spread;
		double weight = sqrt(5 / (4 + fmin(z * z, 100)));

		if (points->noise == LODE_NOISE_RELATIVE)
			weight /= fmax(value, points->floor);
		factors[0] = weight;
		for (unsigned k = 0; k < points->inputs; k++)
			factors[1 + k] = weight * points->terms[rows[i] * points->groups * points->inputs + k];
		factors[width - 1] = weight * points->y[rows[i]];
	}
}

struct cut {
	struct lode_test test;
	double gain;
};

static void try_test(struct partition *partition, const uint32_t *rows, size_t count, const struct sums *all,
		     struct lode_test test, struct cut *best)
{
	const struct lode_explain_problem *problem = partition->problem;
	unsigned width = partition->terms + 1;
	double finest = problem->points->finest, gain;
	struct sums yes, no;

	memset(&yes, 0, sizeof(yes));
	for (size_t i = 0; i < count; i++)
		if (lode_test_row(problem->features, test, rows[i]))
			add_row(&yes, partition->factors + i * width, width);
	if (yes.rows < FEWEST || all->rows - yes.rows < FEWEST)
		return;
	subtract(all, &yes, width, &no);
	gain = nats(rest_of_squares(all, width), all->rows, finest) -
	       nats(rest_of_squares(&yes, width), yes.rows, finest) -
	       nats(rest_of_squares(&no, width), no.rows, finest) -
	       lode_test_price(problem->features, test.feature) -
	       (partition->terms + 1) / 2.0 * log((double)problem->points->rows);
	if (gain > best->gain) {
		best->gain = gain;
		best->test = test;
	}
}

static void find_cut(struct partition *partition, const uint32_t *rows, size_t count, struct cut *best)
{
	const struct lode_features *features = partition->problem->features;
	struct sums all;

	memset(&all, 0, sizeof(all));
	for (size_t i = 0; i < count; i++)
		add_row(&all, partition->factors + i * (partition->terms + 1), partition->terms + 1);
	best->gain = 0;
	for (uint32_t f = 0; f < features->count; f++) {
		const struct lode_feature *feature = &features->items[f];
		uint32_t cuts = feature->kind == LODE_FEATURE_BITS ? 1 : CUTS;

		for (uint32_t cut = 0; cut < cuts; cut++) {
			/* Evenly over the rows as they come: quantiles, roughly, and no sorting. */
			struct lode_test test = { f, 0 };

			if (feature->kind != LODE_FEATURE_BITS)
				test.code = feature->codes[rows[(cut + 1) * count / (CUTS + 1)]];
			try_test(partition, rows, count, &all, test, best);
		}
	}
}

static size_t divide(struct partition *partition, uint32_t *rows, size_t count, struct lode_test test)
{
	size_t left = 0, right = 0;

	for (size_t i = 0; i < count; i++) {
		if (lode_test_row(partition->problem->features, test, rows[i]))
			partition->scratch[right++] = rows[i];
		else
			rows[left++] = rows[i];
	}
	memcpy(rows + left, partition->scratch, right * sizeof(*rows));
	return left;
}

static void grow(struct partition *partition, uint32_t *rows, size_t count, unsigned depth)
{
	struct lode_explain_model *model = partition->model;
	struct lode_function function;
	struct cut best = { { 0, 0 }, 0 };
	size_t left;

	lode_function_choose(partition->problem->points, rows, count, &function);
	if (depth < DEEPEST && count >= 2 * FEWEST) {
		prepare(partition, &function, rows, count);
		find_cut(partition, rows, count, &best);
	}
	if (best.gain <= 0) {
		if (model->clusters < partition->most)
			model->functions[model->clusters++] = function;
		return;
	}
	left = divide(partition, rows, count, best.test);
	grow(partition, rows, left, depth + 1);
	grow(partition, rows + left, count - left, depth + 1);
}

int lode_regressions_start(const struct lode_explain_problem *problem, unsigned most,
			   struct lode_explain_model *model, struct lode_error *error)
{
	struct partition partition = { .problem = problem,
				       .terms = 1 + problem->points->inputs,
				       .most = most,
				       .model = model };
	size_t rows = problem->points->rows;

	model->clusters = 0;
	partition.rows = lode_ids_below(rows);
	partition.scratch = lode_calloc(rows, sizeof(*partition.scratch));
	partition.factors = lode_calloc(rows, (partition.terms + 1) * sizeof(*partition.factors));
	if (partition.rows && partition.scratch && partition.factors)
		grow(&partition, partition.rows, rows, 0);
	lode_free(partition.rows);
	lode_free(partition.scratch);
	lode_free(partition.factors);
	return model->clusters ? 0 : lode_fail_memory(error);
}
