/*
 * Theory: functions of x and the tree that says which rows follow which. Its
 * worth is the length of its description in nats: the functions' coefficients, the
 * tree, and what y still holds beyond both. The shorter, the better (minimum
 * description length); fits, trees and the number of clusters are all judged by it.
 */
#ifndef LODE_EXPLAIN_THEORY_H
#define LODE_EXPLAIN_THEORY_H

#include "explain/klinear.h"
#include "explain/tree.h"

/* Nats by which two descriptions must differ for one to be shorter: less is rounding. */
#define LODE_LENGTHS_DIFFER 1e-6

/* What a theory is about. The features' rows are the points' rows. */
struct lode_world {
	const struct lode_points *points;
	const struct lode_features *features;
	unsigned look_ahead;
	unsigned jobs;
	uint64_t seed;
};

struct lode_theory {
	unsigned clusters; /* 0: there is none */
	struct lode_function functions[LODE_MOST_CLUSTERS];
	struct lode_tree tree;
	uint32_t *labels; /* each row's cluster by the tree */
	double length;
};

/* A zeroed struct is no theory. */
void lode_theory_release(struct lode_theory *theory);
/* A copy with memory of its own, of functions and tree; `labels` are not copied. */
int lode_theory_copy(struct lode_theory *theory, const struct lode_theory *from, struct lode_error *error);

/* Nats for a function's coefficients. */
double lode_function_price(const struct lode_points *points, const struct lode_function *function);
/* What rows cost under each function; `costs->cost` is the caller's to free. */
int lode_theory_costs(const struct lode_points *points, const struct lode_function *functions,
		      unsigned clusters, struct lode_costs *costs, struct lode_error *error);
/*
 * Drops functions that no leaf of the tree uses, labels the rows by the tree, fits
 * the functions to them and takes the length anew.
 */
int lode_theory_follow_tree(const struct lode_world *world, struct lode_theory *theory,
			    struct lode_error *error);
/*
 * From the functions in `theory`: learns the tree, fits the functions to the rows
 * that it gives them, and so on as long as the description gets shorter. Functions
 * that no leaf uses go.
 */
int lode_theory_settle(const struct lode_world *world, struct lode_theory *theory, struct lode_error *error);
/*
 * The two functions whose merging lengthens the description least become one, and
 * the result settles. There must be two at least.
 */
int lode_theory_merge(const struct lode_world *world, const struct lode_theory *theory,
		      struct lode_theory *merged, struct lode_error *error);
/* The same with two functions that the caller has chosen. */
int lode_theory_merge_pair(const struct lode_world *world, const struct lode_theory *theory, const unsigned pair[2],
			   struct lode_theory *merged, struct lode_error *error);
/*
 * Gives the rows that all tests tell alike a function of their own where that makes
 * the description shorter, again and again. Needs `labels`.
 */
int lode_theory_split(const struct lode_world *world, struct lode_theory *theory, struct lode_error *error);
/*
 * The shortest tree over the same tests that labels all rows as they are: what made
 * leaves mixed while it was learned may have cost it a test too many.
 */
int lode_theory_simplify(const struct lode_world *world, struct lode_theory *theory, struct lode_error *error);
/*
 * How far apart the two nearest functions are in a quarter of their rows at least, so
 * that it does not matter where they cross, in spreads of their noise; INFINITY when
 * there is only one. Needs `labels`.
 */
int lode_theory_distance(const struct lode_world *world, const struct lode_theory *theory, double *least,
			 struct lode_error *error);
/*
 * Merges functions that lie so near each other, measured by their noise, that
 * nobody would call them two, whatever the description gains by telling them
 * apart: with many rows every small difference is significant, and not every
 * significant difference matters.
 */
int lode_theory_merge_near(const struct lode_world *world, struct lode_theory *theory,
			   struct lode_error *error);
/*
 * Merges functions that a test of a number tells apart though no gap lies between their
 * rows: any other number would do as well (theory_gaps.c).
 */
int lode_theory_merge_cuts(const struct lode_world *world, struct lode_theory *theory,
			   struct lode_error *error);

#endif
