/*
 * Function fit: how the measured value y follows from the inputs x.
 *
 * A function is a constant plus terms in each input: x, x log x, x², x³ or
 * several of these; with n inputs it is a plane (in these terms) in n + 1
 * dimensions. Noise is either additive, y = f(x) + e, or relative, y = f(x)·(1 + e),
 * as it is with times: then what counts is log(y / f(x)). In both cases e has the
 * tails of Student's t distribution with four degrees of freedom, so that a few
 * wild values pull a function less than many quiet ones.
 *
 * Nothing here allocates but lode_points_make and lode_points_pick.
 */
#ifndef LODE_EXPLAIN_MODEL_FUNCTION_FIT_H
#define LODE_EXPLAIN_MODEL_FUNCTION_FIT_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

/* Inputs at most, and coefficients that they make at most. */
#define LODE_MAX_INPUTS 8
#define LODE_MAX_TERMS  (1 + 3 * LODE_MAX_INPUTS)

enum lode_shape {
	LODE_SHAPE_CONSTANT,
	LODE_SHAPE_LINEAR,
	LODE_SHAPE_NLOGN,
	LODE_SHAPE_SQUARE,
	LODE_SHAPE_CUBE,
	LODE_SHAPE_QUADRATIC, /* x and x² */
	LODE_SHAPE_CUBIC,     /* x, x² and x³ */
	LODE_SHAPES,
};

/* Which shapes may be used: --functions. */
enum lode_family {
	LODE_FAMILY_LINEAR, /* c + x */
	LODE_FAMILY_POLY,   /* c, c + x, c + x + x², c + x + x² + x³ */
	LODE_FAMILY_NLOGN,  /* c, c + x, c + x log x */
	LODE_FAMILY_AUTO,   /* c, c + x, c + x log x, c + x², c + x³ */
	LODE_FAMILIES,
};

enum lode_noise { LODE_NOISE_ADDITIVE, LODE_NOISE_RELATIVE };

/* Rows of x and y, ready for fitting. */
struct lode_points {
	size_t rows;
	unsigned inputs;
	unsigned groups; /* kinds of terms that are kept: x alone, or x, x log x, x², x³ */
	enum lode_family family;
	enum lode_noise noise;
	double *terms; /* rows × groups × inputs, each divided by its norm */
	double *y;
	double *log_y; /* where the noise is relative */
	double norm[4][LODE_MAX_INPUTS];
	double finest; /* spreads below this are not believed */
	double floor;  /* relative noise: a function counts as no less than this */
};

struct lode_function {
	enum lode_shape shape;
	unsigned count;                     /* coefficients */
	double coefficient[LODE_MAX_TERMS]; /* the constant, then group by group */
	double spread;                      /* of the noise */
};

/* `x` has `inputs` numbers per row. Relative noise needs every y above 0. */
int lode_points_make(struct lode_points *points, const double *x, const double *y, size_t rows, unsigned inputs,
		     enum lode_family family, enum lode_noise noise, struct lode_error *error);
/* Points of their own for some rows of others; norms and limits are the same. */
int lode_points_pick(struct lode_points *points, const struct lode_points *from, const uint32_t *rows,
		     size_t count, struct lode_error *error);
void lode_points_release(struct lode_points *points);

/* The shapes of a family, simplest first; LODE_SHAPES behind the last. */
const enum lode_shape *lode_family_shapes(enum lode_family family);
const char *lode_family_name(enum lode_family family);
/* Coefficients of a shape for so many inputs. */
unsigned lode_shape_count(enum lode_shape shape, unsigned inputs);
/* The group (0: x, 1: x log x, 2: x², 3: x³) of the k-th group of terms of a shape. */
unsigned lode_shape_group(enum lode_shape shape, unsigned k);
/* The value of one group for one input. */
double lode_term(unsigned group, double x);

double lode_function_at(const struct lode_points *points, const struct lode_function *function, size_t row);
/* What the noise was: y - f(x), or log(y / f(x)). */
double lode_residual(const struct lode_points *points, const struct lode_function *function, size_t row);
/* Minus the logarithm of the likelihood of a row's y (additive) or log y (relative), in nats. */
double lode_function_cost(const struct lode_points *points, const struct lode_function *function, size_t row);
/* The same, added up over `count` rows. */
double lode_function_length(const struct lode_points *points, const struct lode_function *function,
			    const uint32_t *rows, size_t count);
/* The same for all rows; that of row i goes to costs[i × step]. */
void lode_function_costs(const struct lode_points *points, const struct lode_function *function, float *costs,
			 size_t step);
/* The coefficient of x itself, without the norm; `k` counts as in `coefficient`. */
double lode_function_coefficient(const struct lode_points *points, const struct lode_function *function,
				 unsigned k);

/*
 * The function of this shape through `lode_shape_count` rows; 0, or -1 when they
 * do not determine one. The spread is left alone.
 */
int lode_function_through(const struct lode_points *points, enum lode_shape shape, const uint32_t *rows,
			  struct lode_function *function);
/*
 * Least squares over `count` rows (at least one): of y - f, or of (y - f) / f.
 * Directions in which the rows do not differ get the coefficient 0. Sets the
 * spread to the root of the mean square.
 */
void lode_function_fit(const struct lode_points *points, enum lode_shape shape, const uint32_t *rows, size_t count,
		       struct lode_function *function);
/* The likeliest function under the t distribution, from least squares on. Returns what the rows cost with it. */
double lode_function_fit_robust(const struct lode_points *points, enum lode_shape shape, const uint32_t *rows,
				size_t count, struct lode_function *function);
/* The shape of the family, and its robust fit, with the shortest description of these rows. */
void lode_function_choose(const struct lode_points *points, const uint32_t *rows, size_t count,
			  struct lode_function *function);

#endif
