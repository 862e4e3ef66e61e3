/*
 * Splits: the best single test for the rows of one node. Private to the tree.
 */
#ifndef LODE_EXPLAIN_TREE_SPLITS_H
#define LODE_EXPLAIN_TREE_SPLITS_H

#include "explain/tree/tree.h"

/* The rows of one node, grouped by cluster: those of cluster k are sizes[k] many, behind those before it. */
struct lode_node_rows {
	const struct lode_features *features;
	const uint32_t *labels;
	unsigned clusters;
	const uint32_t *rows;
	size_t count;
	const size_t *sizes; /* by cluster */
};

struct lode_split {
	struct lode_test test; /* test.feature is LODE_NONE: none */
	double threshold;
	double impurity;                /* of both sides, times their rows */
	size_t left[LODE_MAX_CLUSTERS]; /* sizes of the left side by cluster */
};

/* Memory that the search for splits uses again and again. */
struct lode_split_space {
	size_t *histogram; /* for the feature with most values */
	uint32_t *counts;  /* clusters × features: bits that are set */
	uint64_t *planes;  /* for counting them */
};

/* Returns 0 or LODE_SYSTEM; release it in either case. */
int lode_split_space_make(struct lode_split_space *space, const struct lode_features *features, unsigned clusters);
void lode_split_space_release(struct lode_split_space *space);
/*
 * The split with the least impurity; of equal ones the first feature's, then the
 * smallest value's. Both sides have rows.
 */
void lode_split_find(const struct lode_node_rows *node, enum lode_criterion criterion,
		     struct lode_split_space *space, struct lode_split *split);

#endif
