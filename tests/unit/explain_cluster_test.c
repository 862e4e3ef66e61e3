/*
 * Functions and clusterings: fits against plain formulas, K-linear clustering against
 * every possible assignment, the alignment kernel against its definition.
 */
#include "cmocka_all.h"
#include "random_stream.h"

#include "base/memory.h"
#include "explain/model/klinear.h"
#include "explain/model/spectral.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double unit(uint64_t *seed)
{
	return (double)random_below(seed, 1u << 30) / (1u << 30);
}

/* About normal, by a sum of twelve. */
static double normal(uint64_t *seed)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += unit(seed);
	return sum;
}

static void make_points(struct lode_points *points, const double *x, const double *y, size_t rows, unsigned inputs,
			enum lode_family family, enum lode_noise noise)
{
	assert_int_equal(lode_points_make(points, x, y, rows, inputs, family, noise, NULL), 0);
}

static void count_up(uint32_t *rows, size_t count)
{
	for (size_t i = 0; i < count; i++)
		rows[i] = (uint32_t)i;
}

/* ---- fits ---- */

static void a_line_is_fitted_as_the_formula_says(void **state)
{
	uint64_t seed = 1;

	(void)state;
	for (int round = 0; round < 500; round++) {
		size_t rows = 3 + random_below(&seed, 40);
		double x[64], y[64], mean_x = 0, mean_y = 0, xy = 0, xx = 0, slope;
		struct lode_function function;
		struct lode_points points;
		uint32_t all[64];

		for (size_t i = 0; i < rows; i++) {
			x[i] = 100 * unit(&seed);
			y[i] = 3 + 2 * x[i] + 20 * unit(&seed);
			mean_x += x[i] / (double)rows;
			mean_y += y[i] / (double)rows;
		}
		for (size_t i = 0; i < rows; i++) {
			xy += (x[i] - mean_x) * (y[i] - mean_y);
			xx += (x[i] - mean_x) * (x[i] - mean_x);
		}
		slope = xy / xx;
		count_up(all, rows);
		make_points(&points, x, y, rows, 1, LODE_FAMILY_LINEAR, LODE_NOISE_ADDITIVE);
		lode_function_fit(&points, LODE_SHAPE_LINEAR, all, rows, &function);
		assert_float_equal(lode_function_coefficient(&points, &function, 1), slope, 1e-6);
		assert_float_equal(lode_function_coefficient(&points, &function, 0), mean_y - slope * mean_x, 1e-4);
		lode_points_release(&points);
	}
}

/* No small step in any direction makes the squares smaller. */
static void planes_have_the_least_squares(void **state)
{
	uint64_t seed = 2;

	(void)state;
	for (int round = 0; round < 200; round++) {
		unsigned inputs = 1 + round % 4;
		enum lode_shape shape = round % 2 ? LODE_SHAPE_CUBIC : LODE_SHAPE_LINEAR;
		double x[60 * 4], y[60], squares[2] = { 0, 0 };
		struct lode_function function, moved;
		struct lode_points points;
		uint32_t all[60];

		for (size_t i = 0; i < 60 * inputs; i++)
			x[i] = 10 * unit(&seed);
		for (size_t i = 0; i < 60; i++)
			y[i] = 5 + 3 * x[i * inputs] - x[i * inputs + inputs - 1] * x[i * inputs] + normal(&seed);
		count_up(all, 60);
		make_points(&points, x, y, 60, inputs, LODE_FAMILY_POLY, LODE_NOISE_ADDITIVE);
		lode_function_fit(&points, shape, all, 60, &function);
		moved = function;
		moved.coefficient[random_below(&seed, function.count)] += (unit(&seed) - 0.5) * 0.1;
		for (size_t i = 0; i < 60; i++) {
			squares[0] += pow(lode_residual(&points, &function, i), 2);
			squares[1] += pow(lode_residual(&points, &moved, i), 2);
		}
		assert_true(squares[0] <= squares[1] + 1e-9);
		lode_points_release(&points);
	}
}

static void equal_x_give_a_constant(void **state)
{
	double x[8] = { 5, 5, 5, 5, 5, 5, 5, 5 }, y[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	struct lode_function function;
	struct lode_points points;
	uint32_t all[8];

	(void)state;
	count_up(all, 8);
	make_points(&points, x, y, 8, 1, LODE_FAMILY_LINEAR, LODE_NOISE_ADDITIVE);
	lode_function_fit(&points, LODE_SHAPE_LINEAR, all, 8, &function);
	assert_float_equal(lode_function_at(&points, &function, 0), 4.5, 1e-9);
	assert_float_equal(function.coefficient[1], 0, 1e-12);
	lode_points_release(&points);
}

static void outliers_do_not_pull_a_robust_fit(void **state)
{
	uint64_t seed = 3;
	double x[200], y[200];
	struct lode_function function;
	struct lode_points points;
	uint32_t all[200];

	(void)state;
	for (int relative = 0; relative < 2; relative++) {
		for (size_t i = 0; i < 200; i++) {
			x[i] = 1 + 100 * unit(&seed);
			y[i] = (30 + 7 * x[i]) * (1 + 0.01 * normal(&seed));
			if (i % 8 == 0)
				y[i] *= 3;
		}
		count_up(all, 200);
		make_points(&points, x, y, 200, 1, LODE_FAMILY_LINEAR,
			    relative ? LODE_NOISE_RELATIVE : LODE_NOISE_ADDITIVE);
		lode_function_fit_robust(&points, LODE_SHAPE_LINEAR, all, 200, &function);
		assert_float_equal(lode_function_coefficient(&points, &function, 1), 7, 0.15);
		lode_points_release(&points);
	}
}

static void the_shape_that_made_the_points_is_chosen(void **state)
{
	static const enum lode_shape made[] = { LODE_SHAPE_CONSTANT, LODE_SHAPE_LINEAR, LODE_SHAPE_NLOGN,
						LODE_SHAPE_SQUARE, LODE_SHAPE_CUBE };
	uint64_t seed = 4;
	int wrong = 0;

	(void)state;
	for (int round = 0; round < 100; round++) {
		enum lode_shape shape = made[round % 5];
		double x[300], y[300];
		struct lode_function function;
		struct lode_points points;
		uint32_t all[300];

		for (size_t i = 0; i < 300; i++) {
			x[i] = 2 + 500 * unit(&seed);
			y[i] = 50;
			if (shape != LODE_SHAPE_CONSTANT)
				y[i] += 3 * lode_term(lode_shape_group(shape, 0), x[i]);
			y[i] *= 1 + 0.02 * normal(&seed);
		}
		count_up(all, 300);
		make_points(&points, x, y, 300, 1, LODE_FAMILY_AUTO, LODE_NOISE_RELATIVE);
		lode_function_choose(&points, all, 300, &function);
		wrong += function.shape != shape;
		lode_points_release(&points);
	}
	/* Noise can look like a slope, rarely. */
	assert_true(wrong <= 3);
}

/* ---- K-linear clustering ---- */

/* The least sum of squares of any assignment of rows to two lines. */
static double least_of_all(const struct lode_points *points)
{
	double least = INFINITY;

	for (uint32_t side = 0; side < 1u << points->rows; side++) {
		uint32_t rows[2][12];
		size_t counts[2] = { 0, 0 };
		double sum = 0;

		for (uint32_t i = 0; i < points->rows; i++)
			rows[side >> i & 1][counts[side >> i & 1]++] = i;
		for (int s = 0; s < 2; s++) {
			struct lode_function function;

			if (!counts[s])
				continue;
			lode_function_fit(points, LODE_SHAPE_LINEAR, rows[s], counts[s], &function);
			for (size_t i = 0; i < counts[s]; i++)
				sum += pow(lode_residual(points, &function, rows[s][i]), 2);
		}
		least = fmin(least, sum);
	}
	return least;
}

static void k_linear_finds_the_best_of_all_assignments(void **state)
{
	struct lode_klinear_options how = { 2, 60, 1 };
	uint64_t seed = 5;

	(void)state;
	for (int round = 0; round < 40; round++) {
		size_t rows = 5 + random_below(&seed, 5);
		double x[12], y[12];
		struct lode_clustering clustering;
		struct lode_points points;

		for (size_t i = 0; i < rows; i++) {
			x[i] = (double)random_below(&seed, 30);
			y[i] = (double)random_below(&seed, 30) + (i % 2 ? 3 * x[i] : -x[i]);
		}
		make_points(&points, x, y, rows, 1, LODE_FAMILY_LINEAR, LODE_NOISE_ADDITIVE);
		assert_int_equal(lode_klinear(&points, &how, &clustering, NULL), 0);
		assert_float_equal(clustering.loss, least_of_all(&points), 1e-6 * (1 + clustering.loss));
		lode_clustering_release(&clustering);
		lode_points_release(&points);
	}
}

static void a_row_is_where_its_residual_is_least(void **state)
{
	struct lode_klinear_options how = { 3, 3, 1 };
	uint64_t seed = 6;
	double x[200], y[200];
	struct lode_clustering clustering;
	struct lode_points points;

	(void)state;
	for (size_t i = 0; i < 200; i++) {
		x[i] = unit(&seed) * 50;
		y[i] = unit(&seed) * 50;
	}
	make_points(&points, x, y, 200, 1, LODE_FAMILY_LINEAR, LODE_NOISE_ADDITIVE);
	assert_int_equal(lode_klinear(&points, &how, &clustering, NULL), 0);
	for (size_t i = 0; i < 200; i++)
		for (unsigned k = 0; k < 3; k++)
			assert_true(fabs(lode_residual(&points, &clustering.functions[clustering.labels[i]], i)) <=
				    fabs(lode_residual(&points, &clustering.functions[k], i)));
	lode_clustering_release(&clustering);
	lode_points_release(&points);
}

/* Three lines with relative noise; which one a row is on goes to `truth`. */
static void three_lines(double *x, double *y, uint32_t *truth, size_t rows, uint64_t *seed)
{
	static const double slopes[] = { 10, 20, 40 };

	for (size_t i = 0; i < rows; i++) {
		truth[i] = (uint32_t)random_below(seed, 3);
		x[i] = 1 + (double)random_below(seed, 100);
		y[i] = slopes[truth[i]] * x[i] * (1 + 0.02 * normal(seed));
	}
}

/* Share of pairs of rows that labels and truth agree on being together or not. */
static double pairs_that_agree(const uint32_t *labels, const uint32_t *truth, size_t rows)
{
	size_t agree = 0;

	for (size_t i = 0; i < rows; i++)
		for (size_t j = 0; j < i; j++)
			agree += (labels[i] == labels[j]) == (truth[i] == truth[j]);
	return (double)agree / ((double)rows * (double)(rows - 1) / 2);
}

static void lines_are_found_by_both_methods(void **state)
{
	static const size_t sizes[] = { 150, 300, 1000, 2500 };
	struct lode_klinear_options how = { 3, 2, 1 };
	uint64_t seed = 7;

	(void)state;
	for (size_t s = 0; s < 4; s++) {
		double *x = malloc(sizes[s] * sizeof(*x)), *y = malloc(sizes[s] * sizeof(*y));
		uint32_t *truth = malloc(sizes[s] * sizeof(*truth));
		struct lode_clustering clustering;
		struct lode_points points;

		three_lines(x, y, truth, sizes[s], &seed);
		make_points(&points, x, y, sizes[s], 1, LODE_FAMILY_LINEAR, LODE_NOISE_RELATIVE);
		assert_int_equal(lode_klinear(&points, &how, &clustering, NULL), 0);
		assert_true(pairs_that_agree(clustering.labels, truth, sizes[s]) > 0.999);
		lode_clustering_release(&clustering);
		assert_int_equal(lode_spectral(&points, 3, 1, &clustering, NULL), 0);
		assert_true(pairs_that_agree(clustering.labels, truth, sizes[s]) > 0.99);
		lode_clustering_release(&clustering);
		lode_points_release(&points);
		free(x);
		free(y);
		free(truth);
	}
}

static void planes_in_three_inputs_are_found(void **state)
{
	struct lode_klinear_options how = { 2, 10, 1 };
	uint64_t seed = 8;
	double x[600 * 3], y[600];
	struct lode_clustering clustering;
	struct lode_points points;
	uint32_t truth[600];

	(void)state;
	for (size_t i = 0; i < 600; i++) {
		truth[i] = (uint32_t)random_below(&seed, 2);
		for (int k = 0; k < 3; k++)
			x[i * 3 + k] = 1 + 9 * unit(&seed);
		y[i] = (truth[i] ? 50 + 20 * x[i * 3] + 3 * x[i * 3 + 1] : 10 + x[i * 3] + 2 * x[i * 3 + 2]) *
		       (1 + 0.01 * normal(&seed));
	}
	make_points(&points, x, y, 600, 3, LODE_FAMILY_LINEAR, LODE_NOISE_RELATIVE);
	assert_int_equal(lode_klinear(&points, &how, &clustering, NULL), 0);
	assert_true(pairs_that_agree(clustering.labels, truth, 600) > 0.999);
	lode_clustering_release(&clustering);
	assert_int_equal(lode_spectral(&points, 2, 1, &clustering, NULL), 0);
	assert_true(pairs_that_agree(clustering.labels, truth, 600) > 0.999);
	lode_clustering_release(&clustering);
	lode_points_release(&points);
}

/* ---- the alignment kernel ---- */

static void the_kernel_is_as_the_paper_defines_it(void **state)
{
	uint64_t seed = 9;

	(void)state;
	for (int round = 0; round < 30; round++) {
		size_t rows = 3 + random_below(&seed, 12);
		double x[16], y[16], kernel[16 * 16], width = 0.5 + unit(&seed);
		struct lode_points points;

		for (size_t i = 0; i < rows; i++) {
			x[i] = (double)random_below(&seed, 8);
			y[i] = (double)random_below(&seed, 8);
		}
		make_points(&points, x, y, rows, 1, LODE_FAMILY_LINEAR, LODE_NOISE_ADDITIVE);
		lode_alignment_kernel(&points, width, kernel);
		for (size_t i = 0; i < rows; i++)
			for (size_t j = 0; j < rows; j++) {
				double expected = 0, slope = x[i] == x[j] ? 0 : (y[i] - y[j]) / (x[i] - x[j]);
				int near = 0;

				for (size_t r = 0; r < rows; r++)
					near += r != i && r != j && x[i] != x[j] &&
						fabs(y[r] - (y[i] + slope * (x[r] - x[i]))) <= width + 1e-9;
				if (near)
					expected = exp(-pow(2, -near));
				assert_float_equal(kernel[i * rows + j], i == j ? 1 : expected, 1e-9);
			}
		lode_points_release(&points);
	}
}

static void memory_that_runs_out_is_a_clean_error(void **state)
{
	uint64_t seed = 10;
	double x[120], y[120];
	uint32_t truth[120];
	struct lode_points points;

	(void)state;
	three_lines(x, y, truth, 120, &seed);
	make_points(&points, x, y, 120, 1, LODE_FAMILY_LINEAR, LODE_NOISE_RELATIVE);
	for (int spectral = 0; spectral < 2; spectral++)
		for (uint64_t nth = 1;; nth++) {
			struct lode_klinear_options how = { 3, 1, 1 };
			struct lode_clustering clustering = { .clusters = 0 };
			struct lode_error error = { "" };
			uint64_t asked;
			int code;

			lode_memory_fail_at(nth, 0);
			code = spectral ? lode_spectral(&points, 3, 1, &clustering, &error)
					: lode_klinear(&points, &how, &clustering, &error);
			asked = lode_memory_asked();
			lode_memory_fail_at(0, 0);
			lode_clustering_release(&clustering);
			if (code == 0 && asked < nth)
				break;
			assert_int_equal(code, LODE_SYSTEM);
			assert_string_not_equal(error.text, "");
		}
	lode_points_release(&points);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_is_fitted_as_the_formula_says),
		cmocka_unit_test(planes_have_the_least_squares),
		cmocka_unit_test(equal_x_give_a_constant),
		cmocka_unit_test(outliers_do_not_pull_a_robust_fit),
		cmocka_unit_test(the_shape_that_made_the_points_is_chosen),
		cmocka_unit_test(k_linear_finds_the_best_of_all_assignments),
		cmocka_unit_test(a_row_is_where_its_residual_is_least),
		cmocka_unit_test(lines_are_found_by_both_methods),
		cmocka_unit_test(planes_in_three_inputs_are_found),
		cmocka_unit_test(the_kernel_is_as_the_paper_defines_it),
		cmocka_unit_test(memory_that_runs_out_is_a_clean_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
