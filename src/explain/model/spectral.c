/*
 * Spectral clustering: see spectral.h.
 *
 * The exact kernel takes time cubic in the rows. For more than a few hundred, or
 * for several inputs, where two rows make no plane, it is approximated: functions
 * through random rows, the better half of them by the rows in their tube, and for
 * each row and function a soft "is in the tube". Two rows are alike when they are
 * in the same tubes; with A that rows × functions matrix, scaled by its degrees,
 * the similarity is A·Aᵀ, and its leading eigenvectors follow from those of the
 * small matrix Aᵀ·A. LAPACK solves either problem.
 *
 * The rows' places in the space of the leading eigenvectors are grouped by K-means,
 * and each group gets a function; from these K-linear clustering goes on with all
 * rows.
 */
#include "explain/model/spectral.h"

#include "base/memory.h"
#include "base/random.h"
#include "base/shared_library.h"

#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Functions that are tried, and that are kept; rows that they are applied to. */
#define TRIED 400
#define KEPT  200
#define ROWS  1500
/* Half the width of a tube, in parts of y, or of its deviation. */
#define WIDTH 0.04
/* K-means: starts and rounds. */
#define STARTS 6
#define ROUNDS 30

/* ---- LAPACK ---- */

struct lapack {
	__typeof__(LAPACKE_dsyevr) *dsyevr;
};

static int load_lapack(struct lapack *lapack, struct lode_error *error)
{
	const struct lode_library_function functions[] = { { "LAPACKE_dsyevr", &lapack->dsyevr }, { NULL, NULL } };
	struct lode_error reason;

	if (lode_library_load(LODE_LAPACKE_LIBRARY, functions, &reason) == 0)
		return 0;
	return lode_fail(
		error, LODE_SYSTEM,
		"spectral clustering needs LAPACK: %s; install it ('liblapacke' on Debian), or use --method "
		"klinear",
		reason.text);
}

int lode_spectral_prepare(struct lode_error *error)
{
	/* Only OpenBLAS has it; with another LAPACK there is nothing to do. */
	void (*set_threads)(int count);
	void *found;
	struct lapack lapack;
	int code = load_lapack(&lapack, error);

	found = code == 0 ? lode_library_find(LODE_LAPACKE_LIBRARY, "openblas_set_num_threads") : NULL;
	memcpy(&set_threads, &found, sizeof(set_threads));
	if (set_threads)
		set_threads(1);
	return code;
}

static double tube_width(const struct lode_points *points)
{
	return points->noise == LODE_NOISE_RELATIVE ? WIDTH : WIDTH * points->finest * 1e3;
}

/* ---- the paper's kernel ---- */

static size_t count_aligned(const struct lode_points *points, const struct lode_function *line, size_t i, size_t j,
			    double width)
{
	size_t count = 0;

	for (size_t r = 0; r < points->rows; r++)
		count += r != i && r != j && fabs(lode_residual(points, line, r)) <= width;
	return count;
}

void lode_alignment_kernel(const struct lode_points *points, double width, double *kernel)
{
	for (size_t i = 0; i < points->rows; i++) {
		kernel[i * points->rows + i] = 1;
		for (size_t j = 0; j < i; j++) {
			uint32_t both[2] = { (uint32_t)i, (uint32_t)j };
			struct lode_function line;
			double alike = 0;
			size_t count = 0;

			if (lode_function_through(points, LODE_SHAPE_LINEAR, both, &line) == 0)
				count = count_aligned(points, &line, i, j, width);
			if (count)
				alike = exp(-exp2(-(double)count));
			kernel[i * points->rows + j] = kernel[j * points->rows + i] = alike;
		}
	}
}

/* ---- embedding ---- */

/* Rows in the space of the leading eigenvectors: rows × clusters. */
struct embedding {
	size_t rows;
	unsigned dimensions;
	uint32_t *row_of; /* which of the points' */
	double *place;
};

/* The `wanted` leading eigenvectors of a symmetric matrix, one per column of `vectors`; destroys the matrix. */
static int leading_vectors(double *matrix, size_t size, unsigned wanted, double *values, double *vectors,
			   struct lode_error *error)
{
	lapack_int found = 0, n = (lapack_int)size;
	lapack_int *support;
	lapack_int info;
	struct lapack lapack;
	int code = load_lapack(&lapack, error);

	if (code < 0)
		return code;
	support = lode_calloc(2 * size, sizeof(*support));
	if (!support)
		return lode_fail_memory(error);
	info = lapack.dsyevr(LAPACK_ROW_MAJOR, 'V', 'I', 'U', n, matrix, n, 0, 0, n - (lapack_int)wanted + 1, n, 0,
			     &found, values, vectors, (lapack_int)wanted, support);
	lode_free(support);
	if (info == LAPACK_WORK_MEMORY_ERROR || info == LAPACK_TRANSPOSE_MEMORY_ERROR)
		return lode_fail_memory(error);
	return info || found < (lapack_int)wanted
		       ? lode_fail(error, LODE_SYSTEM, "spectral clustering: no eigenvectors; use --method klinear")
		       : 0;
}

static void normalise_rows(struct embedding *embedding)
{
	for (size_t i = 0; i < embedding->rows; i++) {
		double *place = embedding->place + i * embedding->dimensions, square = 0;

		for (unsigned d = 0; d < embedding->dimensions; d++)
			square += place[d] * place[d];
		for (unsigned d = 0; square > 0 && d < embedding->dimensions; d++)
			place[d] /= sqrt(square);
	}
}

static int embed_exactly(const struct lode_points *points, struct embedding *embedding, struct lode_error *error)
{
	size_t n = points->rows;
	double *kernel = lode_calloc(n * n, sizeof(*kernel)), *degree = lode_calloc(n, sizeof(*degree));
	double *values = lode_calloc(n, sizeof(*values));
	int code;

	if (kernel && degree && values) {
		lode_alignment_kernel(points, tube_width(points), kernel);
		for (size_t i = 0; i < n * n; i++)
			degree[i / n] += kernel[i];
		for (size_t i = 0; i < n * n; i++)
			kernel[i] /= sqrt(degree[i / n] * degree[i % n]);
		for (size_t i = 0; i < n; i++)
			embedding->row_of[i] = (uint32_t)i;
		code = leading_vectors(kernel, n, embedding->dimensions, values, embedding->place, error);
	} else {
		code = lode_fail_memory(error);
	}
	lode_free(kernel);
	lode_free(degree);
	lode_free(values);
	return code;
}

/* ---- the approximation ---- */

struct tube {
	struct lode_function function;
	unsigned score; /* rows inside */
};

static int by_score(const void *a, const void *b)
{
	unsigned x = ((const struct tube *)a)->score, y = ((const struct tube *)b)->score;

	return (x < y) - (x > y);
}

static unsigned score(const struct lode_points *points, const struct embedding *embedding,
		      const struct lode_function *function, double width)
{
	unsigned inside = 0;

	/* Every fourth row is enough to distinguish good tubes from bad ones. */
	for (size_t i = 0; i < embedding->rows; i += 4)
		inside += fabs(lode_residual(points, function, embedding->row_of[i])) <= width;
	return inside;
}

/* Functions through random rows, the best first. Returns how many there are. */
static size_t draw_tubes(const struct lode_points *points, const struct embedding *embedding,
			 struct lode_random *random, struct tube *tubes)
{
	const enum lode_shape *shapes = lode_family_shapes(points->family);
	double width = tube_width(points);
	size_t count = 0;
	unsigned known = 0;

	while (shapes[known] != LODE_SHAPES)
		known++;
	for (unsigned tries = 0; tries < 4 * TRIED && count < TRIED; tries++) {
		enum lode_shape shape = tries % 16 ? shapes[tries % known] : LODE_SHAPE_CONSTANT;
		uint32_t rows[LODE_MAX_TERMS];

		for (unsigned k = 0; k < lode_shape_count(shape, points->inputs); k++)
			rows[k] = embedding->row_of[lode_random_below(random, embedding->rows)];
		if (lode_function_through(points, shape, rows, &tubes[count].function) == 0) {
			tubes[count].score = score(points, embedding, &tubes[count].function, width);
			count++;
		}
	}
	qsort(tubes, count, sizeof(*tubes), by_score);
	return count < KEPT ? count : KEPT;
}

/* The matrix A, scaled by the square roots of the degrees of A·Aᵀ. */
static void fill_inside(const struct lode_points *points, const struct embedding *embedding,
			const struct tube *tubes, size_t count, double *inside)
{
	double width = tube_width(points), sums[KEPT] = { 0 };

	for (size_t i = 0; i < embedding->rows; i++)
		for (size_t t = 0; t < count; t++) {
			double z = lode_residual(points, &tubes[t].function, embedding->row_of[i]) / width;

			inside[i * count + t] = exp(-fmin(z * z / 2, 30));
			sums[t] += inside[i * count + t];
		}
	for (size_t i = 0; i < embedding->rows; i++) {
		double degree = 0;

		for (size_t t = 0; t < count; t++)
			degree += inside[i * count + t] * sums[t];
		for (size_t t = 0; degree > 0 && t < count; t++)
			inside[i * count + t] /= sqrt(degree);
	}
}

static void multiply(const double *inside, size_t rows, size_t count, double *gram)
{
	for (size_t i = 0; i < rows; i++)
		for (size_t s = 0; s < count; s++) {
			double factor = inside[i * count + s];

			if (factor < 1e-9)
				continue;
			for (size_t t = s; t < count; t++)
				gram[s * count + t] += factor * inside[i * count + t];
		}
	for (size_t s = 0; s < count; s++)
		for (size_t t = 0; t < s; t++)
			gram[s * count + t] = gram[t * count + s];
}

static void project(const double *inside, size_t count, const double *vectors, struct embedding *embedding)
{
	unsigned dimensions = embedding->dimensions;

	for (size_t i = 0; i < embedding->rows; i++)
		for (size_t t = 0; t < count; t++)
			for (unsigned d = 0; d < dimensions; d++)
				embedding->place[i * dimensions + d] +=
					inside[i * count + t] * vectors[t * dimensions + d];
}

static int embed_roughly(const struct lode_points *points, struct embedding *embedding, struct lode_random *random,
			 struct lode_error *error)
{
	struct tube *tubes = lode_calloc(TRIED, sizeof(*tubes));
	double *inside = lode_calloc(embedding->rows * KEPT, sizeof(*inside));
	double *gram = lode_calloc(KEPT * KEPT, sizeof(*gram)), *values = lode_calloc(KEPT, sizeof(*values));
	double *vectors = lode_calloc(KEPT, embedding->dimensions * sizeof(*vectors));
	size_t count;
	int code = 0;

	for (size_t i = 0; i < embedding->rows; i++)
		embedding->row_of[i] =
			(uint32_t)(embedding->rows == points->rows ? i : lode_random_below(random, points->rows));
	if (tubes && inside && gram && values && vectors) {
		count = draw_tubes(points, embedding, random, tubes);
		fill_inside(points, embedding, tubes, count, inside);
		multiply(inside, embedding->rows, count, gram);
		if (embedding->dimensions > count)
			embedding->dimensions = (unsigned)count;
		if (embedding->dimensions)
			code = leading_vectors(gram, count, embedding->dimensions, values, vectors, error);
		if (code == 0)
			project(inside, count, vectors, embedding);
	} else {
		code = lode_fail_memory(error);
	}
	lode_free(tubes);
	lode_free(inside);
	lode_free(gram);
	lode_free(values);
	lode_free(vectors);
	return code;
}

/* ---- K-means ---- */

struct means {
	double *centres; /* clusters × dimensions */
	double *least;   /* square of each row's distance to its centre */
	uint32_t *labels;
	size_t *sizes;
	unsigned clusters;
	double loss;
};

static double square_of_distance(const double *a, const double *b, unsigned dimensions)
{
	double square = 0;

	for (unsigned d = 0; d < dimensions; d++)
		square += (a[d] - b[d]) * (a[d] - b[d]);
	return square;
}

/* Centres one after the other, each a row at random, far ones likelier (K-means++). */
static void spread_centres(const struct embedding *embedding, struct lode_random *random, struct means *means)
{
	unsigned dimensions = embedding->dimensions;

	for (size_t i = 0; i < embedding->rows; i++)
		means->least[i] = 1;
	for (unsigned k = 0; k < means->clusters; k++) {
		double total = 0, at;
		size_t row = 0;

		for (size_t i = 0; i < embedding->rows; i++)
			total += means->least[i];
		at = lode_random_unit(random) * total;
		for (; row + 1 < embedding->rows && at >= means->least[row]; row++)
			at -= means->least[row];
		memcpy(means->centres + k * dimensions, embedding->place + row * dimensions,
		       dimensions * sizeof(double));
		for (size_t i = 0; i < embedding->rows; i++) {
			double square = square_of_distance(embedding->place + i * dimensions,
							   means->centres + k * dimensions, dimensions);

			if (k == 0 || square < means->least[i])
				means->least[i] = square;
		}
	}
}

static void assign(const struct embedding *embedding, struct means *means)
{
	means->loss = 0;
	for (size_t i = 0; i < embedding->rows; i++) {
		double least = INFINITY;

		for (unsigned k = 0; k < means->clusters; k++) {
			double square = square_of_distance(embedding->place + i * embedding->dimensions,
							   means->centres + k * embedding->dimensions,
							   embedding->dimensions);

			if (square < least) {
				least = square;
				means->labels[i] = k;
			}
		}
		means->loss += least;
	}
}

static void move_centres(const struct embedding *embedding, struct means *means)
{
	unsigned dimensions = embedding->dimensions;

	memset(means->centres, 0, means->clusters * dimensions * sizeof(double));
	memset(means->sizes, 0, means->clusters * sizeof(*means->sizes));
	for (size_t i = 0; i < embedding->rows; i++) {
		means->sizes[means->labels[i]]++;
		for (unsigned d = 0; d < dimensions; d++)
			means->centres[means->labels[i] * dimensions + d] += embedding->place[i * dimensions + d];
	}
	for (unsigned k = 0; k < means->clusters; k++)
		for (unsigned d = 0; means->sizes[k] && d < dimensions; d++)
			means->centres[k * dimensions + d] /= (double)means->sizes[k];
}

static void run_means(const struct embedding *embedding, struct lode_random *random, struct means *means)
{
	double before = INFINITY;

	spread_centres(embedding, random, means);
	assign(embedding, means);
	for (int round = 0; round < ROUNDS && means->loss < before; round++) {
		before = means->loss;
		move_centres(embedding, means);
		assign(embedding, means);
	}
}

static int group(const struct embedding *embedding, struct lode_random *random, unsigned clusters,
		 uint32_t *labels, struct lode_error *error)
{
	struct means means = { .clusters = clusters };
	double best = INFINITY;
	int code = 0;

	means.centres = lode_calloc(clusters, (embedding->dimensions + 1) * sizeof(*means.centres));
	means.least = lode_calloc(embedding->rows, sizeof(*means.least));
	means.labels = lode_calloc(embedding->rows, sizeof(*means.labels));
	means.sizes = lode_calloc(clusters, sizeof(*means.sizes));
	if (!means.centres || !means.least || !means.labels || !means.sizes)
		code = lode_fail_memory(error);
	for (int start = 0; code == 0 && start < STARTS; start++) {
		run_means(embedding, random, &means);
		if (means.loss < best) {
			best = means.loss;
			memcpy(labels, means.labels, embedding->rows * sizeof(*labels));
		}
	}
	lode_free(means.centres);
	lode_free(means.least);
	lode_free(means.labels);
	lode_free(means.sizes);
	return code;
}

/* ---- all together ---- */

/* A function for each group of rows; an empty one is left to lode_klinear_run. */
static void fit_groups(const struct lode_points *points, const struct embedding *embedding, const uint32_t *labels,
		       uint32_t *rows, struct lode_clustering *clustering)
{
	for (unsigned k = 0; k < clustering->clusters; k++) {
		size_t count = 0;

		for (size_t i = 0; i < embedding->rows; i++)
			if (labels[i] == k)
				rows[count++] = embedding->row_of[i];
		if (count)
			lode_function_choose(points, rows, count, &clustering->functions[k]);
		else
			clustering->functions[k] = clustering->functions[0];
	}
}

int lode_spectral(const struct lode_points *points, unsigned clusters, uint64_t seed,
		  struct lode_clustering *clustering, struct lode_error *error)
{
	int exact = points->rows <= LODE_SPECTRAL_EXACT && points->inputs == 1;
	struct embedding embedding = { exact || points->rows < ROWS ? points->rows : ROWS, clusters, NULL, NULL };
	struct lode_random random = lode_random_piece(seed, clusters);
	uint32_t *labels = lode_calloc(embedding.rows, sizeof(*labels));
	uint32_t *rows = lode_calloc(embedding.rows, sizeof(*rows));
	int code;

	memset(clustering, 0, sizeof(*clustering));
	clustering->clusters = clusters;
	embedding.row_of = lode_calloc(embedding.rows, sizeof(*embedding.row_of));
	embedding.place = lode_calloc(embedding.rows, clusters * sizeof(*embedding.place));
	if (!labels || !rows || !embedding.row_of || !embedding.place)
		code = lode_fail_memory(error);
	else if (exact)
		code = embed_exactly(points, &embedding, error);
	else
		code = embed_roughly(points, &embedding, &random, error);
	if (code == 0) {
		normalise_rows(&embedding);
		code = group(&embedding, &random, clusters, labels, error);
	}
	if (code == 0) {
		fit_groups(points, &embedding, labels, rows, clustering);
		code = lode_klinear_run(points, clustering, error);
	}
	lode_free(embedding.row_of);
	lode_free(embedding.place);
	lode_free(labels);
	lode_free(rows);
	return code;
}
