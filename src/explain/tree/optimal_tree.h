/*
 * Optimal tree: of all trees up to a certain depth the one with the shortest
 * description, exactly, by branch and bound. For few tests.
 */
#ifndef LODE_EXPLAIN_TREE_OPTIMAL_TREE_H
#define LODE_EXPLAIN_TREE_OPTIMAL_TREE_H

#include "explain/tree/tree.h"

#define LODE_OPTIMAL_DEPTH 4
#define LODE_OPTIMAL_TESTS 40

/*
 * The tests are all binary features and, of the others, those that a tree learned
 * in the usual way asks. More than LODE_OPTIMAL_TESTS are LODE_USAGE. `sizes`
 * count rows by their cheapest cluster.
 */
int lode_tree_optimal(struct lode_tree *tree, const struct lode_features *features, const struct lode_costs *costs,
		      unsigned depth, const struct lode_learn_options *options, struct lode_error *error);

#endif
