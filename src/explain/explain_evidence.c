/*
 * Tests whether an explanation is significant (see explain_internal.h).
 *
 * With few rows a shorter description proves nothing: among many functions, columns and thresholds some fit any data.
 * The search itself is therefore repeated on tables that satisfy the null hypothesis.
 *
 * If a tree explains the clusters, the null hypothesis is that the auxiliary columns say nothing about y. Their rows are
 * shuffled against x and y, which keeps the relation of y to x and of the columns to each other, and everything is
 * searched again (a permutation test). Under the null hypothesis the original table is just another shuffle, so it saves
 * more than all but one in fifty of them with a probability of one in fifty at most.
 *
 * Without a tree there is nothing to shuffle. The null hypothesis is then that y follows one function with unimodal
 * noise, whatever its tails: the residuals on either side of the function are replaced by draws from the closest
 * distribution with a decreasing density (the concave majorant of their empirical distribution function), and clusters
 * are searched for in the tables made this way.
 *
 * Larger tables are not tested: tests/unit/explain_noise_test.c shows that the length of their description is evidence
 * enough.
 */
#include "base/id_array.h"
#include "base/parallel.h"
#include "base/sort_numbers.h"
#include "explain/explain_internal.h"
#include "base/random.h"

#include <math.h>
#include <string.h>

/* Tables that are made, more where a shuffle of so few rows often changes nothing; and how many at a time. */
#define FEW_ROWS           16
#define TABLES_FEW         199
#define TABLES_MANY        49
#define BATCH              20
#define SIGNIFICANCE_LEVEL 0.02
/* Tables with more rows are not tested. */
#define MAX_SHUFFLED  120
#define MAX_SIMULATED 400

/* The distribution of noise on one side of its mode, with a density that decreases. */
struct monotone_density {
	double *sizes; /* 0, then the knots of the majorant */
	double *sums;  /* the distribution function there, up to 1 */
	size_t knots;
	size_t count; /* of residuals */
};

struct evidence {
	const struct lode_points *points; /* one for each kind of noise */
	unsigned noises;
	unsigned which;
	const struct lode_features *features;
	const struct lode_explain_options *options;
	uint32_t *all;                        /* numbers of rows, or of features, whichever are more */
	struct lode_function one;             /* of all rows, without a tree */
	struct monotone_density densities[2]; /* of residuals below 0, and above */
	size_t first;                         /* of the tables that are being made */
	double saved[TABLES_FEW];
	int codes[TABLES_FEW];
};

/* Nats for one function of all rows. */
static double one_length(const struct lode_points *points, const uint32_t *rows, struct lode_function *one)
{
	lode_function_choose(points, rows, points->rows, one);
	return lode_leaf_price(1) + lode_function_price(points, one) +
	       lode_function_length(points, one, rows, points->rows);
}

/* ---- shuffled columns ---- */

/* The mean size of residuals, where every coefficient has cost a row. INFINITY: there are none left. */
static double mean_size(double sum, size_t rows, unsigned coefficients, double finest)
{
	return rows > coefficients ? fmax(sum / (double)(rows - coefficients), finest) : INFINITY;
}

/*
 * Nats that the model's functions save, and its tree does not cost. The description's
 * own length would not do: where rows are few, one small cluster that is on a line by
 * chance saves more than all that is real, in shuffled tables most of all. So the
 * functions share one spread here, and coefficients are paid for.
 */
static double saved_by_tree(const struct evidence *evidence, const struct lode_explain_model *model, unsigned which)
{
	const struct lode_points *points = &evidence->points[which];
	double before = 0, after = 0;
	struct lode_function one;
	unsigned coefficients = 0;

	if (model->clusters < 2 || model->tree.count < 2)
		return 0;
	lode_function_choose(points, evidence->all, points->rows, &one);
	for (unsigned k = 0; k < model->clusters; k++)
		coefficients += model->functions[k].count;
	for (size_t row = 0; row < points->rows; row++) {
		before += fabs(lode_residual(points, &one, row));
		after += fabs(lode_residual(points, &model->functions[model->labels[row]], row));
	}
	after = mean_size(after, points->rows, coefficients, points->finest);
	before = mean_size(before, points->rows, one.count, points->finest);
	if (!isfinite(after) || !isfinite(before))
		return 0;
	return fmax(0, (double)points->rows * log(before / after) -
			       lode_tree_price(&model->tree, evidence->features));
}

static void shuffle(uint32_t *rows, size_t count, struct lode_random random)
{
	for (size_t i = 0; i < count; i++)
		rows[i] = (uint32_t)i;
	for (size_t i = count; i > 1; i--) {
		size_t other = lode_random_below(&random, i);
		uint32_t swap = rows[i - 1];

		rows[i - 1] = rows[other];
		rows[other] = swap;
	}
}

static int search_shuffled(const struct evidence *evidence, const uint32_t *rows, double *saved)
{
	const struct lode_features *from = evidence->features;
	struct lode_explain_options how = *evidence->options;
	struct lode_explain_model model = { .clusters = 0 };
	struct lode_features shuffled;
	unsigned which;
	int code = lode_features_pick(&shuffled, from, rows, from->rows, evidence->all, from->count, NULL);

	if (code < 0)
		return code;
	how.jobs = 1;
	code = lode_explain_search(evidence->points, evidence->noises, &shuffled, &how, &model, &which, NULL);
	if (code == 0)
		*saved = saved_by_tree(evidence, &model, which);
	lode_model_release(&model);
	lode_features_release(&shuffled);
	return code;
}

static void run_shuffled(void *context, size_t piece)
{
	struct evidence *evidence = context;
	size_t count = evidence->features->rows, i = evidence->first + piece;
	uint32_t *rows = lode_calloc(count, sizeof(*rows));

	evidence->codes[i] = LODE_SYSTEM;
	if (!rows)
		return;
	shuffle(rows, count, lode_random_piece(evidence->options->seed + 1, i));
	evidence->codes[i] = search_shuffled(evidence, rows, &evidence->saved[i]);
	lode_free(rows);
}

/* ---- unimodal noise ---- */

/* Keeps the points (size, share that is no larger) on their least concave majorant. */
static void make_majorant(struct monotone_density *density)
{
	size_t kept = 1;

	lode_sort_double(density->sizes + 1, density->count);
	for (size_t i = 1; i <= density->count; i++) {
		double size = density->sizes[i], sum = (double)i / (double)density->count;

		while (kept > 1 &&
		       (density->sums[kept - 1] - density->sums[kept - 2]) * (size - density->sizes[kept - 1]) <=
			       (sum - density->sums[kept - 1]) *
				       (density->sizes[kept - 1] - density->sizes[kept - 2]))
			kept--;
		density->sizes[kept] = size;
		density->sums[kept++] = sum;
	}
	density->knots = kept;
}

static int make_densities(struct evidence *evidence, struct lode_error *error)
{
	const struct lode_points *points = &evidence->points[evidence->which];

	for (unsigned side = 0; side < 2; side++) {
		struct monotone_density *density = &evidence->densities[side];

		density->sizes = lode_calloc(points->rows + 1, sizeof(*density->sizes));
		density->sums = lode_calloc(points->rows + 1, sizeof(*density->sums));
		if (!density->sizes || !density->sums)
			return lode_fail_memory(error);
	}
	for (size_t row = 0; row < points->rows; row++) {
		double residual = lode_residual(points, &evidence->one, row);
		struct monotone_density *density = &evidence->densities[residual > 0];

		density->sizes[++density->count] = fabs(residual);
	}
	make_majorant(&evidence->densities[0]);
	make_majorant(&evidence->densities[1]);
	return 0;
}

static double draw_noise(const struct evidence *evidence, struct lode_random *random)
{
	int above = lode_random_below(random, evidence->features->rows) < evidence->densities[1].count;
	const struct monotone_density *density = &evidence->densities[above];
	double at = lode_random_unit(random), share;
	size_t k = 1;

	while (k + 1 < density->knots && density->sums[k] < at)
		k++;
	share = (at - density->sums[k - 1]) / (density->sums[k] - density->sums[k - 1]);
	at = density->sizes[k - 1] + share * (density->sizes[k] - density->sizes[k - 1]);
	return above ? at : -at;
}

/* Draws y for all rows from one function and noise. */
static void draw_y(const struct evidence *evidence, struct lode_points *points, struct lode_random random)
{
	for (size_t row = 0; row < points->rows; row++) {
		double value = lode_function_at(points, &evidence->one, row), noise = draw_noise(evidence, &random);

		if (points->noise == LODE_NOISE_ADDITIVE) {
			points->y[row] = value + noise;
			continue;
		}
		points->log_y[row] = log(value > points->floor ? value : points->floor) + noise;
		points->y[row] = exp(points->log_y[row]);
	}
}

static int count_in(const struct evidence *evidence, const struct lode_points *points, unsigned *clusters,
		    double *saved)
{
	struct lode_explain_problem problem = { points, evidence->features, 0, 1, evidence->options->seed };
	struct lode_function one;

	return lode_unexplained_count(&problem, one_length(points, evidence->all, &one), clusters, saved, NULL);
}

static void run_simulated(void *context, size_t piece)
{
	struct evidence *evidence = context;
	size_t i = evidence->first + piece;
	const struct lode_points *from = &evidence->points[evidence->which];
	struct lode_points points;
	unsigned clusters;

	evidence->codes[i] = lode_points_pick(&points, from, evidence->all, from->rows, NULL);
	if (evidence->codes[i] < 0)
		return;
	draw_y(evidence, &points, lode_random_piece(evidence->options->seed + 2, i));
	evidence->codes[i] = count_in(evidence, &points, &clusters, &evidence->saved[i]);
	lode_points_release(&points);
}

/* ---- the verdict ---- */

/* Makes tables until the verdict is clear. */
static int compare(struct evidence *evidence, void (*run)(void *context, size_t i), double saved,
		   struct lode_chance *chance, struct lode_error *error)
{
	unsigned tables = evidence->features->rows <= FEW_ROWS ? TABLES_FEW : TABLES_MANY;
	unsigned allowed = (unsigned)(SIGNIFICANCE_LEVEL * (tables + 1) + 0.5) - 1;

	while (chance->tables < tables && chance->as_good <= allowed) {
		unsigned first = chance->tables, count = tables - first < BATCH ? tables - first : BATCH;

		evidence->first = first;
		lode_parallel(evidence->options->jobs, count, run, evidence);
		for (unsigned i = first; i < first + count; i++) {
			if (evidence->codes[i] < 0)
				return lode_fail_memory(error);
			chance->as_good += evidence->saved[i] >= saved - LODE_LENGTHS_DIFFER;
		}
		chance->tables += count;
	}
	chance->doubted = chance->as_good > allowed;
	return 0;
}

static int compare_clusters(struct evidence *evidence, struct lode_chance *chance, struct lode_error *error)
{
	unsigned clusters;
	double saved;
	int code;

	one_length(&evidence->points[evidence->which], evidence->all, &evidence->one);
	code = make_densities(evidence, error);
	if (code == 0)
		code = count_in(evidence, &evidence->points[evidence->which], &clusters, &saved);
	return code < 0 ? lode_fail_memory(error) : compare(evidence, run_simulated, saved, chance, error);
}

int lode_explain_evidence(const struct lode_points *points, unsigned noises, const struct lode_features *features,
			  const struct lode_explain_options *options, const struct lode_explain_model *model,
			  unsigned which, struct lode_chance *chance, struct lode_error *error)
{
	struct evidence evidence = { .points = points,
				     .noises = noises,
				     .which = which,
				     .features = features,
				     .options = options };
	size_t most = features->count > features->rows ? features->count : features->rows;
	int code = 0, tree = model->tree.count > 1;

	memset(chance, 0, sizeof(*chance));
	if (model->clusters < 2 || features->rows > (tree ? MAX_SHUFFLED : MAX_SIMULATED))
		return 0;
	evidence.all = lode_ids_below(most);
	if (!evidence.all)
		return lode_fail_memory(error);
	if (tree)
		code = compare(&evidence, run_shuffled, saved_by_tree(&evidence, model, which), chance, error);
	else
		code = compare_clusters(&evidence, chance, error);
	lode_free(evidence.all);
	for (unsigned side = 0; side < 2; side++) {
		lode_free(evidence.densities[side].sizes);
		lode_free(evidence.densities[side].sums);
	}
	return code;
}
