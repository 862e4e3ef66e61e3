/*
 * Model: functions of x and the tree that says which rows follow which. Its
 * worth is the length of its description in nats: the functions' coefficients, the
 * tree, and what y still holds beyond both. The shorter, the better (minimum
 * description length); fits, trees and the number of clusters are all judged by it.
 */
#ifndef LODE_EXPLAIN_MODEL_EXPLAIN_MODEL_H
#define LODE_EXPLAIN_MODEL_EXPLAIN_MODEL_H

#include "explain/model/klinear.h"
#include "explain/tree/tree.h"

/* Nats by which two descriptions must differ for one to be shorter: less is rounding. */
#define LODE_LENGTHS_DIFFER 1e-6

/* What a model is about. The features' rows are the points' rows. */
struct lode_explain_problem {
	const struct lode_points *points;
	const struct lode_features *features;
	unsigned look_ahead;
	unsigned jobs;
	uint64_t seed;
};

struct lode_explain_model {
	unsigned clusters; /* 0: there is none */
	struct lode_function functions[LODE_MAX_CLUSTERS];
	struct lode_tree tree;
	uint32_t *labels; /* each row's cluster by the tree */
	double length;
};

/* A zeroed struct is no model. */
void lode_model_release(struct lode_explain_model *model);
/* A copy with memory of its own, of functions and tree; `labels` are not copied. */
int lode_model_copy(struct lode_explain_model *model, const struct lode_explain_model *from,
		    struct lode_error *error);

/* Nats for a function's coefficients. */
double lode_function_price(const struct lode_points *points, const struct lode_function *function);
/* What rows cost under each function; `costs->cost` is the caller's to free. */
int lode_model_costs(const struct lode_points *points, const struct lode_function *functions, unsigned clusters,
		     struct lode_costs *costs, struct lode_error *error);
/*
 * Drops functions that no leaf of the tree uses, labels the rows by the tree, fits
 * the functions to them and takes the length again.
 */
int lode_model_follow_tree(const struct lode_explain_problem *problem, struct lode_explain_model *model,
			   struct lode_error *error);
/*
 * From the functions in `model`: learns the tree, fits the functions to the rows
 * that it gives them, and so on as long as the description gets shorter. Functions
 * that no leaf uses go.
 */
int lode_model_settle(const struct lode_explain_problem *problem, struct lode_explain_model *model,
		      struct lode_error *error);
/*
 * The two functions whose merging lengthens the description least become one, and
 * the result settles. There must be two at least.
 */
int lode_model_merge(const struct lode_explain_problem *problem, const struct lode_explain_model *model,
		     struct lode_explain_model *merged, struct lode_error *error);
/* The same with two functions that the caller has chosen. */
int lode_model_merge_pair(const struct lode_explain_problem *problem, const struct lode_explain_model *model,
			  const unsigned pair[2], struct lode_explain_model *merged, struct lode_error *error);
/*
 * Gives rows with the same answers to all tests their own function where that makes
 * the description shorter, again and again. Needs `labels`.
 */
int lode_model_split(const struct lode_explain_problem *problem, struct lode_explain_model *model,
		     struct lode_error *error);
/*
 * The shortest tree over the same tests that labels all rows as they are: what made
 * leaves mixed while it was learned may have cost it a test too many.
 */
int lode_model_simplify(const struct lode_explain_problem *problem, struct lode_explain_model *model,
			struct lode_error *error);
/*
 * How far apart the two nearest functions are in a quarter of their rows at least, so
 * that it does not matter where they cross, in spreads of their noise; INFINITY when
 * there is only one. Needs `labels`.
 */
int lode_model_distance(const struct lode_explain_problem *problem, const struct lode_explain_model *model,
			double *least, struct lode_error *error);
/*
 * Merges functions that are so close to each other, measured by their noise, that
 * no reader would call them two, regardless of what the description gains by separating
 * them: with many rows every small difference is significant, and not every
 * significant difference matters.
 */
int lode_model_merge_near(const struct lode_explain_problem *problem, struct lode_explain_model *model,
			  struct lode_error *error);
/*
 * Merges functions that a test of a number separates though there is no gap between
 * their rows: any other number would do as well (model_gaps.c).
 */
int lode_model_merge_cuts(const struct lode_explain_problem *problem, struct lode_explain_model *model,
			  struct lode_error *error);

#endif
