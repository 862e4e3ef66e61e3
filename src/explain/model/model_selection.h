/*
 * Model selection: the model with the shortest description, for a given number of
 * clusters or for all of them.
 */
#ifndef LODE_EXPLAIN_MODEL_MODEL_SELECTION_H
#define LODE_EXPLAIN_MODEL_MODEL_SELECTION_H

#include "explain/model/explain_model.h"

enum lode_method { LODE_METHOD_KLINEAR, LODE_METHOD_SPECTRAL };

struct lode_select_options {
	unsigned clusters; /* 0: any number */
	enum lode_method method;
	uint64_t seed;
	unsigned jobs;
};

/* The best model for each number of clusters; `clusters` is 0 where none was found. */
struct lode_model_selection {
	struct lode_explain_model models[LODE_MAX_CLUSTERS + 1];
};

void lode_model_selection_release(struct lode_model_selection *choice);
int lode_select_models(const struct lode_explain_problem *problem, const struct lode_select_options *options,
		       struct lode_model_selection *choice, struct lode_error *error);
/*
 * Takes the model out of the choice: of `clusters`, or (0) the one with the
 * shortest description, after lode_model_split and lode_model_merge_near.
 */
int lode_model_selection_take(const struct lode_explain_problem *problem, struct lode_model_selection *choice,
			      unsigned clusters, struct lode_explain_model *model, struct lode_error *error);

#endif
