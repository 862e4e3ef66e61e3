/*
 * K-linear clustering: see klinear.h.
 *
 * It depends on good starts. Candidates are functions through a few random
 * rows. A candidate's tube holds the rows whose residual is below some width;
 * greedily the candidate whose tube holds most rows that no chosen tube holds
 * is taken. What width fits depends on the noise, which is not known yet, so
 * several are tried.
 */
#include "explain/model/klinear.h"

#include "base/memory.h"
#include "base/random.h"

#include <math.h>
#include <string.h>

/* Parts of the finest noise that count as nothing. */
#define ROUNDING 1e-6
/* Candidates for starts, and sampled rows that they are compared on. */
#define CANDIDATES   320
#define SAMPLE_ROWS  768
#define SAMPLE_WORDS (SAMPLE_ROWS / 64)

/* Widths of tubes, in parts of y (relative) or of its deviation (additive). */
static const double widths[LODE_TUBES] = { 0.03, 0.1, 0.01, 0.3 };

void lode_clustering_release(struct lode_clustering *clustering)
{
	lode_free(clustering->labels);
	clustering->labels = NULL;
}

/* ---- Algorithm 2 ---- */

/* Rows by cluster: `order` holds them one cluster after the other. */
static void sort_rows(const struct lode_points *points, const struct lode_clustering *clustering, uint32_t *order,
		      size_t *starts)
{
	size_t next[LODE_MAX_CLUSTERS] = { 0 };

	memset(starts, 0, (clustering->clusters + 1) * sizeof(*starts));
	for (size_t i = 0; i < points->rows; i++)
		starts[clustering->labels[i] + 1]++;
	for (unsigned k = 0; k < clustering->clusters; k++) {
		starts[k + 1] += starts[k];
		next[k] = starts[k];
	}
	for (size_t i = 0; i < points->rows; i++)
		order[next[clustering->labels[i]]++] = (uint32_t)i;
}

/* How far off a row is; anything far below plausible noise is rounding. */
static double gap_of(const struct lode_points *points, const struct lode_function *function, size_t row)
{
	double gap = fabs(lode_residual(points, function, row));

	return gap > ROUNDING * points->finest ? gap : 0;
}

/* Rows go to where their residual is strictly smaller. Returns how many moved. */
static size_t assign(const struct lode_points *points, struct lode_clustering *clustering)
{
	size_t moved = 0;

	clustering->loss = 0;
	for (size_t i = 0; i < points->rows; i++) {
		uint32_t own = clustering->labels[i], best = own;
		double least = own == LODE_NONE ? INFINITY : gap_of(points, &clustering->functions[own], i);

		for (uint32_t k = 0; k < clustering->clusters; k++) {
			double residual = k == own ? INFINITY : gap_of(points, &clustering->functions[k], i);

			if (residual < least) {
				least = residual;
				best = k;
			}
		}
		if (best == LODE_NONE)
			best = 0;
		clustering->labels[i] = best;
		clustering->loss += least * least;
		moved += best != own;
	}
	return moved;
}

/* Gives an empty cluster the row that fits worst where it is. Returns how many were empty. */
static unsigned fill_empty(const struct lode_points *points, struct lode_clustering *clustering)
{
	size_t sizes[LODE_MAX_CLUSTERS] = { 0 };
	unsigned empty = 0;

	for (size_t i = 0; i < points->rows; i++)
		sizes[clustering->labels[i]]++;
	for (unsigned k = 0; k < clustering->clusters; k++) {
		double worst = -1;
		size_t row = 0;

		for (size_t i = 0; !sizes[k] && i < points->rows; i++) {
			uint32_t own = clustering->labels[i];
			double residual = gap_of(points, &clustering->functions[own], i);

			if (sizes[own] > 1 && residual > worst) {
				worst = residual;
				row = i;
			}
		}
		if (worst < 0)
			continue;
		sizes[clustering->labels[row]]--;
		clustering->labels[row] = k;
		sizes[k] = 1;
		clustering->functions[k] = (struct lode_function){ .count = 1, .spread = points->finest };
		clustering->functions[k].coefficient[0] = points->y[row];
		empty++;
	}
	return empty;
}

/* Least squares in the shape of the family that leaves the least, richer shapes only where they halve it. */
static void refit_one(const struct lode_points *points, const uint32_t *rows, size_t count,
		      struct lode_function *function)
{
	const enum lode_shape *shapes = lode_family_shapes(points->family);
	struct lode_function next;
	double best = INFINITY;

	for (unsigned i = 0; shapes[i] != LODE_SHAPES; i++) {
		double length;

		lode_function_fit(points, shapes[i], rows, count, &next);
		length = (double)count * log(next.spread) + next.count / 2.0 * log((double)count + 1);
		if (i == 0 || length < best) {
			best = length;
			*function = next;
		}
	}
}

static void refit(const struct lode_points *points, struct lode_clustering *clustering, uint32_t *order)
{
	size_t starts[LODE_MAX_CLUSTERS + 1];

	sort_rows(points, clustering, order, starts);
	for (unsigned k = 0; k < clustering->clusters; k++)
		if (starts[k + 1] > starts[k])
			refit_one(points, order + starts[k], starts[k + 1] - starts[k], &clustering->functions[k]);
}

int lode_klinear_run(const struct lode_points *points, struct lode_clustering *clustering, struct lode_error *error)
{
	uint32_t *order = lode_calloc(points->rows, sizeof(*order));
	struct lode_clustering before = *clustering;
	double loss = INFINITY;

	lode_free(clustering->labels);
	clustering->labels = lode_alloc(points->rows * sizeof(*clustering->labels));
	if (!order || !clustering->labels) {
		lode_free(order);
		return lode_fail_memory(error);
	}
	memset(clustering->labels, 0xff, points->rows * sizeof(*clustering->labels));
	for (;;) {
		size_t moved = assign(points, clustering);

		if (!(clustering->loss < loss)) {
			/* Shapes are chosen by more than squares, so that a step can make them worse. */
			memcpy(clustering->functions, before.functions, sizeof(before.functions));
			assign(points, clustering);
			break;
		}
		loss = clustering->loss;
		if (!moved && loss < INFINITY && !fill_empty(points, clustering))
			break;
		fill_empty(points, clustering);
		memcpy(before.functions, clustering->functions, sizeof(before.functions));
		refit(points, clustering, order);
	}
	lode_free(order);
	return 0;
}

/* ---- starts ---- */

struct candidates {
	struct lode_function functions[CANDIDATES];
	uint64_t tube[CANDIDATES][SAMPLE_WORDS]; /* which of the sample are inside */
	unsigned count;
	uint32_t sample[SAMPLE_ROWS];
	size_t sample_count;
	double width;
};

static int draw(const struct lode_points *points, struct lode_random *random, struct lode_function *function)
{
	const enum lode_shape *shapes = lode_family_shapes(points->family);
	uint32_t rows[LODE_MAX_TERMS];
	unsigned known = 0;
	enum lode_shape shape;

	while (shapes[known] != LODE_SHAPES)
		known++;
	shape = shapes[lode_random_below(random, known)];
	if (lode_random_below(random, 16) == 0)
		shape = LODE_SHAPE_CONSTANT; /* where all x are equal nothing else goes through two rows */
	for (unsigned i = 0; i < lode_shape_count(shape, points->inputs); i++)
		rows[i] = (uint32_t)lode_random_below(random, points->rows);
	return lode_function_through(points, shape, rows, function);
}

/* Residuals are compared without a logarithm: y within a factor of the function, or a distance of it. */
static void mark_near(const struct lode_points *points, struct candidates *candidates, unsigned c)
{
	const struct lode_function *function = &candidates->functions[c];
	double width = candidates->width, factor = exp(width);

	memset(candidates->tube[c], 0, sizeof(candidates->tube[c]));
	for (size_t i = 0; i < candidates->sample_count; i++) {
		uint32_t row = candidates->sample[i];
		double value = lode_function_at(points, function, row), y = points->y[row];
		int inside;

		if (points->noise == LODE_NOISE_RELATIVE)
			inside = value > 0 && y < value * factor && y * factor > value;
		else
			inside = fabs(y - value) < width;
		candidates->tube[c][i / 64] |= (uint64_t)inside << (i % 64);
	}
}

static void make_candidates(const struct lode_points *points, struct lode_random *random, unsigned tube,
			    struct candidates *candidates)
{
	candidates->sample_count = points->rows < SAMPLE_ROWS ? points->rows : SAMPLE_ROWS;
	candidates->width = widths[tube];
	if (points->noise == LODE_NOISE_ADDITIVE)
		candidates->width *= points->finest * 1e3;
	for (size_t i = 0; i < candidates->sample_count; i++)
		candidates->sample[i] =
			(uint32_t)(points->rows <= SAMPLE_ROWS ? i : lode_random_below(random, points->rows));
	candidates->count = 0;
	for (unsigned tries = 0; tries < 4 * CANDIDATES && candidates->count < CANDIDATES; tries++)
		if (draw(points, random, &candidates->functions[candidates->count]) == 0)
			mark_near(points, candidates, candidates->count++);
}

static unsigned count_new(const uint64_t *tube, const uint64_t *held)
{
	unsigned count = 0;

	for (unsigned i = 0; i < SAMPLE_WORDS; i++)
		count += (unsigned)__builtin_popcountll(tube[i] & ~held[i]);
	return count;
}

static void pick_greedily(const struct candidates *candidates, struct lode_clustering *clustering)
{
	uint64_t held[SAMPLE_WORDS] = { 0 };

	for (unsigned k = 0; k < clustering->clusters; k++) {
		unsigned best = 0, most = 0;

		for (unsigned c = 0; c < candidates->count; c++) {
			unsigned count = count_new(candidates->tube[c], held);

			if (count > most) {
				most = count;
				best = c;
			}
		}
		clustering->functions[k] = candidates->functions[best];
		for (unsigned i = 0; i < SAMPLE_WORDS; i++)
			held[i] |= candidates->tube[best][i];
	}
}

static void pick_constants(const struct lode_points *points, struct lode_random *random,
			   struct lode_clustering *clustering)
{
	for (unsigned k = 0; k < clustering->clusters; k++) {
		struct lode_function *function = &clustering->functions[k];

		*function = (struct lode_function){ .shape = LODE_SHAPE_CONSTANT, .count = 1 };
		function->coefficient[0] = points->y[lode_random_below(random, points->rows)];
	}
}

static void pick_at_random(const struct lode_points *points, struct lode_random *random,
			   struct lode_clustering *clustering)
{
	pick_constants(points, random, clustering);
	for (unsigned k = 0; k < clustering->clusters; k++)
		for (unsigned tries = 0; tries < 8; tries++)
			if (draw(points, random, &clustering->functions[k]) == 0)
				break;
}

int lode_klinear_start(const struct lode_points *points, unsigned clusters, unsigned tube, uint64_t seed,
		       struct lode_clustering *clustering, struct lode_error *error)
{
	struct lode_random random = lode_random_piece(seed, tube);
	struct candidates *candidates;

	clustering->clusters = clusters;
	if (tube >= LODE_TUBES) {
		pick_at_random(points, &random, clustering);
		return 0;
	}
	candidates = lode_alloc(sizeof(*candidates));
	if (!candidates)
		return lode_fail_memory(error);
	make_candidates(points, &random, tube, candidates);
	if (candidates->count)
		pick_greedily(candidates, clustering);
	else
		pick_constants(points, &random, clustering);
	lode_free(candidates);
	return 0;
}

int lode_klinear(const struct lode_points *points, const struct lode_klinear_options *options,
		 struct lode_clustering *clustering, struct lode_error *error)
{
	struct lode_clustering next;
	int code = 0;

	memset(clustering, 0, sizeof(*clustering));
	for (unsigned start = 0; code == 0 && start < LODE_TUBES + options->restarts; start++) {
		memset(&next, 0, sizeof(next));
		code = lode_klinear_start(points, options->clusters, start, options->seed, &next, error);
		if (code == 0)
			code = lode_klinear_run(points, &next, error);
		if (code == 0 && (!clustering->labels || next.loss < clustering->loss)) {
			struct lode_clustering worse = *clustering;

			*clustering = next;
			next = worse;
		}
		lode_clustering_release(&next);
	}
	if (code < 0)
		lode_clustering_release(clustering);
	return code;
}
