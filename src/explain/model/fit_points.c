/* Points: rows of x and y, with the terms of x scaled, ready for fitting. See function_fit.h. */
#include "explain/model/function_fit.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

static int allocate(struct lode_points *points, struct lode_error *error)
{
	size_t row_size = sizeof(double) * points->groups * points->inputs;

	points->terms = lode_calloc(points->rows, row_size);
	points->y = lode_calloc(points->rows, sizeof(double));
	points->log_y = lode_calloc(points->rows, sizeof(double));
	if (points->terms && points->y && points->log_y)
		return 0;
	lode_points_release(points);
	return lode_fail_memory(error);
}

void lode_points_release(struct lode_points *points)
{
	lode_free(points->terms);
	lode_free(points->y);
	lode_free(points->log_y);
	memset(points, 0, sizeof(*points));
}

static void make_terms(struct lode_points *points, const double *x, unsigned group, unsigned input)
{
	double *term = points->terms + (size_t)group * points->inputs + input, largest = 0;
	size_t step = (size_t)points->groups * points->inputs;

	for (size_t i = 0; i < points->rows; i++) {
		term[i * step] = lode_term(group, x[i * points->inputs + input]);
		largest = fmax(largest, fabs(term[i * step]));
	}
	points->norm[group][input] = largest > 0 ? largest : 1;
	for (size_t i = 0; i < points->rows; i++)
		term[i * step] /= points->norm[group][input];
}

/* A thousandth of the deviation of y is the finest noise that is believed where it is additive. */
static void set_limits(struct lode_points *points)
{
	double mean = 0, square = 0, least = INFINITY;

	for (size_t i = 0; i < points->rows; i++) {
		mean += points->y[i] / (double)points->rows;
		least = fmin(least, points->y[i]);
	}
	for (size_t i = 0; i < points->rows; i++)
		square += (points->y[i] - mean) * (points->y[i] - mean) / (double)points->rows;
	points->finest = points->noise == LODE_NOISE_RELATIVE ? 1e-3 : 1e-3 * sqrt(square);
	if (!(points->finest > 0))
		points->finest = fmax(fabs(mean) * 1e-9, 1e-300);
	points->floor = least * 1e-3;
}

int lode_points_make(struct lode_points *points, const double *x, const double *y, size_t rows, unsigned inputs,
		     enum lode_family family, enum lode_noise noise, struct lode_error *error)
{
	memset(points, 0, sizeof(*points));
	points->rows = rows;
	points->inputs = inputs;
	points->groups = family == LODE_FAMILY_LINEAR ? 1 : 4;
	points->family = family;
	points->noise = noise;
	if (allocate(points, error) < 0)
		return LODE_SYSTEM;
	for (size_t i = 0; i < rows; i++) {
		points->y[i] = y[i];
		points->log_y[i] = noise == LODE_NOISE_RELATIVE ? log(y[i]) : 0;
	}
	for (unsigned group = 0; group < points->groups; group++)
		for (unsigned input = 0; input < inputs; input++)
			make_terms(points, x, group, input);
	set_limits(points);
	return 0;
}

int lode_points_pick(struct lode_points *points, const struct lode_points *from, const uint32_t *rows,
		     size_t count, struct lode_error *error)
{
	size_t width = (size_t)from->groups * from->inputs;

	*points = *from;
	points->rows = count;
	if (allocate(points, error) < 0)
		return LODE_SYSTEM;
	for (size_t i = 0; i < count; i++) {
		memcpy(points->terms + i * width, from->terms + rows[i] * width, width * sizeof(double));
		points->y[i] = from->y[rows[i]];
		points->log_y[i] = from->log_y[rows[i]];
	}
	return 0;
}
