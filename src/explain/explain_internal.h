/* Functions that the files of this folder share. */
#ifndef LODE_EXPLAIN_EXPLAIN_INTERNAL_H
#define LODE_EXPLAIN_EXPLAIN_INTERNAL_H

#include "explain/explain.h"

/* Finds the rows that take part. */
int lode_explain_rows(const struct lode_explain_input *input, const struct lode_explain_options *options,
		      struct lode_explanation *explanation, struct lode_error *error);
/* Leaves out rows that are copies of others; `rows` must be two at least. */
int lode_explain_copies(const struct lode_explain_input *input, struct lode_explanation *explanation,
			struct lode_error *error);
int lode_explain_points(const struct lode_explain_input *input, const struct lode_explanation *explanation,
			enum lode_family family, enum lode_noise noise, struct lode_points *points,
			struct lode_error *error);
/*
 * Searches for the model of the points, given once for each kind of noise that is
 * possible; `*which` of them it is about. It belongs to all of their rows.
 */
int lode_explain_search(const struct lode_points *points, unsigned noises, const struct lode_features *features,
			const struct lode_explain_options *options, struct lode_explain_model *model,
			unsigned *which, struct lode_error *error);
/* Nats that change with the kind of noise only: the density of log y is not that of y. */
double lode_density_of_y(const struct lode_points *points);
/*
 * The number of clusters that x and y show so clearly that telling each row's
 * cluster by itself is shorter than one function, which takes `length`, and the nats
 * that this saves; 1 and 0 when there are none.
 */
int lode_unexplained_count(const struct lode_explain_problem *problem, double length, unsigned *clusters,
			   double *saved, struct lode_error *error);
/*
 * The clustering counts as it is, and the tree explains what it can; unless their
 * number was requested, that is all of them or none (one leaf).
 */
int lode_unexplained_take(const struct lode_explain_problem *all, unsigned clusters, int asked,
			  struct lode_explain_model *model, struct lode_error *error);
/*
 * Compares what the model of a search saves with what the same search saves in tables
 * of chance. Nothing is asked where there are too many rows for chance to matter.
 */
int lode_explain_evidence(const struct lode_points *points, unsigned noises, const struct lode_features *features,
			  const struct lode_explain_options *options, const struct lode_explain_model *model,
			  unsigned which, struct lode_chance *chance, struct lode_error *error);
/* Measures of the explanation: sizes, R², confusion, errors. */
int lode_explain_measure(struct lode_explanation *explanation, struct lode_error *error);
/* How far y is from a function's value; where they agree to twelve digits the rest is rounding. */
double lode_gap_of(double y, double value);
/* Whether every y is above 0, so that noise may be relative. */
int lode_explain_above_zero(const struct lode_explain_input *input, const struct lode_explanation *explanation);
/* The optimal tree in place of the learned one; functions follow its rows. Releases the model where it fails.
 */
int lode_explain_plant_optimal(const struct lode_points *points, const struct lode_features *features,
			       const struct lode_explain_options *options, struct lode_explain_model *model,
			       struct lode_error *error);
/* Gives each row one of the folds, which are of equal size, at random. */
void lode_explain_deal(unsigned char *fold_of, size_t rows, unsigned folds, uint64_t seed);
/*
 * Algorithm 1 of the paper: the smallest number of functions, up to options->clusters, whose
 * error (`*is`) is within the bound, and a tree of their labels. Where there is none, the largest number.
 */
int lode_explain_smallest(const struct lode_points *points, const struct lode_features *features,
			  const struct lode_explain_options *options, struct lode_explain_model *model, double *is,
			  struct lode_error *error);
/* The accuracy of its trees for labels that they have not seen. */
int lode_smallest_validate(const struct lode_explain_options *options, struct lode_explanation *explanation,
			   struct lode_error *error);
/* Cross-validation: accuracy and R² for rows that were not there when everything was looked for. */
int lode_explain_validate(const struct lode_explain_input *input, const struct lode_explain_options *options,
			  struct lode_explanation *explanation, struct lode_error *error);

#endif
