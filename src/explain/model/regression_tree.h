/*
 * Regression tree: grows a tree whose leaves have their own functions, split
 * where two functions describe the rows shorter than one (as
 * model-based recursive partitioning does); its leaves' functions are a start for
 * a model, in which equal ones are merged. It finds what clustering cannot: noisy
 * functions that overlap so much that only the features separate them.
 */
#ifndef LODE_EXPLAIN_MODEL_REGRESSION_TREE_H
#define LODE_EXPLAIN_MODEL_REGRESSION_TREE_H

#include "explain/model/explain_model.h"

/* Sets `clusters` (at most `most`) and `functions` of the model. */
int lode_regressions_start(const struct lode_explain_problem *problem, unsigned most,
			   struct lode_explain_model *model, struct lode_error *error);

#endif
