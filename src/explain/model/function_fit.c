/*
 * Function fit: see function_fit.h.
 *
 * Fits are weighted least squares by the normal equations and a Cholesky
 * factorisation. Every term is divided by its largest value, so that the matrix
 * is as well conditioned as the data allow; a pivot that vanishes means that the
 * rows do not differ in that direction, and its coefficient is 0 (all x equal
 * gives a constant).
 *
 * The noise's t distribution is fitted by expectation maximisation: each row gets
 * the weight (v + 1) / (v + (r/s)²), the function and the spread s follow by least
 * squares, and so on, as long as the likelihood grows. Relative noise divides each row
 * by the function's own value there, not by y: dividing by y would favour
 * functions that are too low.
 */
#include "explain/model/function_fit.h"

#include "base/random.h"

#include <math.h>
#include <string.h>

/* Degrees of freedom of the noise, and the constant part of its density's logarithm. */
#define FREEDOM 4.0
#define DENSITY 0.980829253011726

/* Rounds of weighting, at most. */
#define ROUNDS 25
/* Functions through random rows, and rows that they are compared on. */
#define GUESSES       12
#define COMPARED_ROWS 64

static const struct {
	unsigned groups;
	unsigned group[3];
} shapes[LODE_SHAPES] = {
	[LODE_SHAPE_CONSTANT] = { 0, { 0 } },    [LODE_SHAPE_LINEAR] = { 1, { 0 } },
	[LODE_SHAPE_NLOGN] = { 1, { 1 } },       [LODE_SHAPE_SQUARE] = { 1, { 2 } },
	[LODE_SHAPE_CUBE] = { 1, { 3 } },        [LODE_SHAPE_QUADRATIC] = { 2, { 0, 2 } },
	[LODE_SHAPE_CUBIC] = { 3, { 0, 2, 3 } },
};

const enum lode_shape *lode_family_shapes(enum lode_family family)
{
	static const enum lode_shape lists[LODE_FAMILIES][6] = {
		[LODE_FAMILY_LINEAR] = { LODE_SHAPE_LINEAR, LODE_SHAPES },
		[LODE_FAMILY_POLY] = { LODE_SHAPE_CONSTANT, LODE_SHAPE_LINEAR, LODE_SHAPE_QUADRATIC,
				       LODE_SHAPE_CUBIC, LODE_SHAPES },
		[LODE_FAMILY_NLOGN] = { LODE_SHAPE_CONSTANT, LODE_SHAPE_LINEAR, LODE_SHAPE_NLOGN, LODE_SHAPES },
		[LODE_FAMILY_AUTO] = { LODE_SHAPE_CONSTANT, LODE_SHAPE_LINEAR, LODE_SHAPE_NLOGN, LODE_SHAPE_SQUARE,
				       LODE_SHAPE_CUBE, LODE_SHAPES },
	};

	return lists[family];
}

const char *lode_family_name(enum lode_family family)
{
	static const char *const names[LODE_FAMILIES] = { "linear", "poly", "nlogn", "auto" };

	return family < LODE_FAMILIES ? names[family] : NULL;
}

unsigned lode_shape_count(enum lode_shape shape, unsigned inputs)
{
	return 1 + shapes[shape].groups * inputs;
}

unsigned lode_shape_group(enum lode_shape shape, unsigned k)
{
	return shapes[shape].group[k];
}

double lode_term(unsigned group, double x)
{
	switch (group) {
	case 0:
		return x;
	case 1:
		return x > 1 ? x * log2(x) : 0;
	case 2:
		return x * x;
	default:
		return x * x * x;
	}
}

/* ---- values ---- */

static inline double value_of(const struct lode_points *points, const struct lode_function *function, size_t row)
{
	unsigned inputs = points->inputs;
	const double *terms = points->terms + row * points->groups * inputs;
	double value = function->coefficient[0];
	unsigned k = 1;

	for (unsigned g = 0; g < shapes[function->shape].groups; g++)
		for (unsigned i = 0; i < inputs; i++)
			value += function->coefficient[k++] * terms[shapes[function->shape].group[g] * inputs + i];
	return value;
}

double lode_function_at(const struct lode_points *points, const struct lode_function *function, size_t row)
{
	return value_of(points, function, row);
}

static inline double residual_of(const struct lode_points *points, double value, size_t row)
{
	if (points->noise == LODE_NOISE_ADDITIVE)
		return points->y[row] - value;
	return points->log_y[row] - log(value > points->floor ? value : points->floor);
}

double lode_residual(const struct lode_points *points, const struct lode_function *function, size_t row)
{
	return residual_of(points, value_of(points, function, row), row);
}

/* The part of a row's cost that depends on the row; the rest is log(spread) + DENSITY. */
static inline double cost_of(double z)
{
	return (FREEDOM + 1) / 2 * log(1 + z * z / FREEDOM);
}

double lode_function_cost(const struct lode_points *points, const struct lode_function *function, size_t row)
{
	return cost_of(lode_residual(points, function, row) / function->spread) + log(function->spread) + DENSITY;
}

/*
 * Sums of logarithms, a few factors at a time: logarithms are what fits spend most of
 * their time on.
 */
struct log_sum {
	double product;
	double sum;
};

static inline void log_sum_add(struct log_sum *logs, double factor)
{
	logs->product *= factor;
	if (logs->product > 1e100) {
		logs->sum += log(logs->product);
		logs->product = 1;
	}
}

static inline double cost_of_all(const struct log_sum *logs, size_t count, double spread)
{
	return (FREEDOM + 1) / 2 * (logs->sum + log(logs->product)) + (double)count * (log(spread) + DENSITY);
}

double lode_function_length(const struct lode_points *points, const struct lode_function *function,
			    const uint32_t *rows, size_t count)
{
	struct log_sum logs = { 1, 0 };

	for (size_t i = 0; i < count; i++) {
		double z = lode_residual(points, function, rows[i]) / function->spread;

		log_sum_add(&logs, 1 + z * z / FREEDOM);
	}
	return cost_of_all(&logs, count, function->spread);
}

void lode_function_costs(const struct lode_points *points, const struct lode_function *function, float *costs,
			 size_t step)
{
	double base = log(function->spread) + DENSITY;

	for (size_t row = 0; row < points->rows; row++)
		costs[row * step] =
			(float)(base + cost_of(residual_of(points, value_of(points, function, row), row) /
					       function->spread));
}

double lode_function_coefficient(const struct lode_points *points, const struct lode_function *function, unsigned k)
{
	unsigned group;

	if (!k)
		return function->coefficient[0];
	group = shapes[function->shape].group[(k - 1) / points->inputs];
	return function->coefficient[k] / points->norm[group][(k - 1) % points->inputs];
}

/* ---- linear algebra ---- */

/* Normal equations, the lower triangle of a symmetric matrix. */
struct equations {
	unsigned count;
	double matrix[LODE_MAX_TERMS][LODE_MAX_TERMS];
	double right[LODE_MAX_TERMS];
};

static void start_equations(struct equations *equations, unsigned count)
{
	equations->count = count;
	for (unsigned i = 0; i < count; i++) {
		memset(equations->matrix[i], 0, count * sizeof(double));
		equations->right[i] = 0;
	}
}

/* The numbers that the coefficients of a shape are multiplied with in a row. */
static void factors_of(const struct lode_points *points, enum lode_shape shape, size_t row, double *factors)
{
	unsigned inputs = points->inputs, k = 1;
	const double *terms = points->terms + row * points->groups * inputs;

	factors[0] = 1;
	for (unsigned g = 0; g < shapes[shape].groups; g++)
		for (unsigned i = 0; i < inputs; i++)
			factors[k++] = terms[shapes[shape].group[g] * inputs + i];
}

static void add_row(struct equations *equations, const double *factors, double y, double weight)
{
	for (unsigned i = 0; i < equations->count; i++) {
		double scaled = factors[i] * weight;

		equations->right[i] += scaled * y;
		for (unsigned j = 0; j <= i; j++)
			equations->matrix[i][j] += scaled * factors[j];
	}
}

/* In place: the factor L of L·Lᵀ. A direction without a pivot gets an empty column. */
static void factorise(struct equations *equations, int *used)
{
	for (unsigned j = 0; j < equations->count; j++) {
		double diagonal = equations->matrix[j][j], pivot = diagonal;

		for (unsigned k = 0; k < j; k++)
			pivot -= equations->matrix[j][k] * equations->matrix[j][k];
		used[j] = diagonal > 0 && pivot > 1e-12 * diagonal;
		equations->matrix[j][j] = used[j] ? sqrt(pivot) : 1;
		for (unsigned i = j + 1; i < equations->count; i++) {
			double sum = equations->matrix[i][j];

			for (unsigned k = 0; k < j; k++)
				sum -= equations->matrix[i][k] * equations->matrix[j][k];
			equations->matrix[i][j] = used[j] ? sum / equations->matrix[j][j] : 0;
		}
	}
}

static void solve(struct equations *equations, double *solution)
{
	int used[LODE_MAX_TERMS];

	factorise(equations, used);
	for (unsigned i = 0; i < equations->count; i++) {
		double sum = equations->right[i];

		for (unsigned k = 0; k < i; k++)
			sum -= equations->matrix[i][k] * solution[k];
		solution[i] = used[i] ? sum / equations->matrix[i][i] : 0;
	}
	for (unsigned i = equations->count; i-- > 0;) {
		double sum = solution[i];

		for (unsigned k = i + 1; k < equations->count; k++)
			sum -= equations->matrix[k][i] * solution[k];
		solution[i] = used[i] ? sum / equations->matrix[i][i] : 0;
	}
}

/* ---- fits ---- */

int lode_function_through(const struct lode_points *points, enum lode_shape shape, const uint32_t *rows,
			  struct lode_function *function)
{
	unsigned count = lode_shape_count(shape, points->inputs);
	double matrix[LODE_MAX_TERMS][LODE_MAX_TERMS + 1];

	for (unsigned i = 0; i < count; i++) {
		factors_of(points, shape, rows[i], matrix[i]);
		matrix[i][count] = points->y[rows[i]];
	}
	for (unsigned j = 0; j < count; j++) {
		unsigned best = j;

		for (unsigned i = j + 1; i < count; i++)
			if (fabs(matrix[i][j]) > fabs(matrix[best][j]))
				best = i;
		if (fabs(matrix[best][j]) < 1e-9)
			return -1;
		for (unsigned k = 0; k <= count; k++) {
			double swap = matrix[j][k];

			matrix[j][k] = matrix[best][k];
			matrix[best][k] = swap;
		}
		for (unsigned i = 0; i < count; i++) {
			double times = matrix[i][j] / matrix[j][j];

			for (unsigned k = j; i != j && k <= count; k++)
				matrix[i][k] -= times * matrix[j][k];
		}
	}
	function->shape = shape;
	function->count = count;
	for (unsigned i = 0; i < count; i++)
		function->coefficient[i] = matrix[i][count] / matrix[i][i];
	return 0;
}

/* What y is divided by before squares are added up: the function's own value where noise is relative. */
static double scale_of(const struct lode_points *points, const struct lode_function *function, size_t row)
{
	double value;

	if (points->noise == LODE_NOISE_ADDITIVE)
		return 1;
	value = function ? value_of(points, function, row) : points->y[row];
	return value > points->floor ? value : points->floor;
}

/* One step of weighted least squares. `before` gives the scales; NULL: y itself. */
static void fit_step(const struct lode_points *points, enum lode_shape shape, const uint32_t *rows, size_t count,
		     const struct lode_function *before, struct lode_function *function)
{
	double factors[LODE_MAX_TERMS];
	struct equations equations;

	start_equations(&equations, lode_shape_count(shape, points->inputs));
	for (size_t i = 0; i < count; i++) {
		double scale = scale_of(points, before, rows[i]);

		factors_of(points, shape, rows[i], factors);
		add_row(&equations, factors, points->y[rows[i]], 1 / (scale * scale));
	}
	function->shape = shape;
	function->count = equations.count;
	solve(&equations, function->coefficient);
}

static double sum_of_squares(const struct lode_points *points, const struct lode_function *function,
			     const uint32_t *rows, size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++) {
		double residual = lode_residual(points, function, rows[i]);

		sum += residual * residual;
	}
	return sum;
}

static void set_spread(const struct lode_points *points, struct lode_function *function, double square)
{
	function->spread = fmax(sqrt(square), points->finest);
}

void lode_function_fit(const struct lode_points *points, enum lode_shape shape, const uint32_t *rows, size_t count,
		       struct lode_function *function)
{
	struct lode_function next;
	double best, sum;

	fit_step(points, shape, rows, count, NULL, function);
	best = sum_of_squares(points, function, rows, count);
	for (int round = 0; points->noise == LODE_NOISE_RELATIVE && round < 4; round++) {
		fit_step(points, shape, rows, count, function, &next);
		sum = sum_of_squares(points, &next, rows, count);
		if (!(sum < best))
			break;
		*function = next;
		best = sum;
	}
	set_spread(points, function, best / (double)count);
}

/*
 * One round of expectation maximisation: what the rows cost under `function`, and
 * the function and spread that follow from its weights.
 */
static double robust_step(const struct lode_points *points, const uint32_t *rows, size_t count,
			  const struct lode_function *function, struct lode_function *next)
{
	double factors[LODE_MAX_TERMS], square = 0;
	struct log_sum logs = { 1, 0 };
	struct equations equations;

	start_equations(&equations, function->count);
	for (size_t i = 0; i < count; i++) {
		double value = value_of(points, function, rows[i]);
		double residual = residual_of(points, value, rows[i]), z = residual / function->spread;
		double tail = 1 + z * z / FREEDOM, weight = (FREEDOM + 1) / FREEDOM / tail, scale = 1;

		if (points->noise == LODE_NOISE_RELATIVE)
			scale = value > points->floor ? value : points->floor;
		log_sum_add(&logs, tail);
		square += weight * residual * residual;
		factors_of(points, function->shape, rows[i], factors);
		add_row(&equations, factors, points->y[rows[i]], weight / (scale * scale));
	}
	next->shape = function->shape;
	next->count = function->count;
	solve(&equations, next->coefficient);
	set_spread(points, next, square / (double)count);
	return cost_of_all(&logs, count, function->spread);
}

/* Rounds of expectation maximisation from `function` on. Returns what the rows cost. */
static double maximise(const struct lode_points *points, const uint32_t *rows, size_t count,
		       struct lode_function *function)
{
	struct lode_function now = *function, next;
	double best = INFINITY;

	for (int round = 0; round < ROUNDS; round++) {
		double cost = robust_step(points, rows, count, &now, &next);

		if (!(cost < best))
			break;
		*function = now;
		if (cost > best - 1e-4 * (double)count) {
			best = cost;
			break;
		}
		best = cost;
		now = next;
	}
	return best;
}

/* The mean logarithm of residuals: it is low for a function that many rows are on, regardless of the others. */
static double closeness(const struct lode_points *points, const struct lode_function *function,
			const uint32_t *rows, size_t count)
{
	size_t compared = count < COMPARED_ROWS ? count : COMPARED_ROWS;
	double sum = 0;

	for (size_t i = 0; i < compared; i++)
		sum += log(fabs(lode_residual(points, function, rows[i * count / compared])) + points->finest);
	return sum / (double)compared;
}

/*
 * A second start, because least squares may begin too far off where outliers are
 * many: of functions through a few random rows the one that is closest to most.
 * Returns 0, or -1 when there is none.
 */
static int guess(const struct lode_points *points, enum lode_shape shape, const uint32_t *rows, size_t count,
		 struct lode_function *function)
{
	struct lode_random random = lode_random_piece(count, rows[0]);
	double best = INFINITY;

	for (int tries = 0; tries < GUESSES; tries++) {
		uint32_t through[LODE_MAX_TERMS];
		struct lode_function next;
		double close;

		for (unsigned k = 0; k < lode_shape_count(shape, points->inputs); k++)
			through[k] = rows[lode_random_below(&random, count)];
		if (lode_function_through(points, shape, through, &next) < 0)
			continue;
		close = closeness(points, &next, rows, count);
		if (close < best) {
			best = close;
			*function = next;
		}
	}
	set_spread(points, function, exp(2 * best));
	return best < INFINITY ? 0 : -1;
}

double lode_function_fit_robust(const struct lode_points *points, enum lode_shape shape, const uint32_t *rows,
				size_t count, struct lode_function *function)
{
	struct lode_function other = { .count = 0 };
	double cost, second;

	lode_function_fit(points, shape, rows, count, function);
	cost = maximise(points, rows, count, function);
	if (guess(points, shape, rows, count, &other) < 0)
		return cost;
	second = maximise(points, rows, count, &other);
	if (!(second < cost))
		return cost;
	*function = other;
	return second;
}

void lode_function_choose(const struct lode_points *points, const uint32_t *rows, size_t count,
			  struct lode_function *function)
{
	const enum lode_shape *shape = lode_family_shapes(points->family);
	struct lode_function next;
	double best = INFINITY;

	for (; *shape != LODE_SHAPES; shape++) {
		double length;

		length = lode_function_fit_robust(points, *shape, rows, count, &next) +
			 next.count / 2.0 * log((double)count + 1);
		if (length < best - 1e-6 || shape == lode_family_shapes(points->family)) {
			best = length;
			*function = next;
		}
	}
}
