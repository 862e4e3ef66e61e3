/*
 * Tree: a binary decision tree over features, with a cluster at each leaf.
 *
 * Ways to get one: lode_tree_grow is CART, with the splits of scikit-learn up to
 * ties; lode_tree_learn is what `lode explain` uses, which also knows what each
 * row would cost under each cluster, looks ahead where no single split helps and
 * makes the result as small as it can; optimal_tree.h tries every tree.
 */
#ifndef LODE_EXPLAIN_TREE_TREE_H
#define LODE_EXPLAIN_TREE_TREE_H

#include "explain/tree/features.h"

/* Clusters at most. */
#define LODE_MAX_CLUSTERS 32

struct lode_tree_node {
	uint32_t feature; /* LODE_NONE at a leaf */
	uint32_t code;    /* of the test, see features.h */
	double threshold; /* left when the feature's value is at most this; category: 0.5 */
	uint32_t left;    /* where the test says no */
	uint32_t right;   /* yes */
	uint32_t cluster; /* what most of its rows are, or what serves them best */
};

struct lode_tree {
	struct lode_tree_node *nodes; /* the root is 0; children come after their parents */
	size_t count;
	size_t capacity;
	unsigned clusters;
	size_t *sizes; /* count × clusters: rows of each cluster that come by */
	size_t size_capacity;
	size_t not_looked; /* nodes where looking at pairs or triples of all features would have taken too
			      long */
};

/* A zeroed struct is an empty tree. */
void lode_tree_release(struct lode_tree *tree);
/* A new node, a leaf; its number, or LODE_NONE when memory has run out. */
uint32_t lode_tree_add(struct lode_tree *tree);
/* The leaf that a row of the features ends at. */
uint32_t lode_tree_leaf(const struct lode_tree *tree, const struct lode_features *features, size_t row);
size_t lode_tree_leaves(const struct lode_tree *tree);
/* Tests on the longest path from the root. */
unsigned lode_tree_height(const struct lode_tree *tree);
/* Counts again the rows that reach each node. Rows whose label is LODE_NONE do not count. */
void lode_tree_count(struct lode_tree *tree, const struct lode_features *features, const uint32_t *labels);
/* Rows that reach a node. */
size_t lode_tree_rows(const struct lode_tree *tree, uint32_t id);
/* Turns splits between leaves of one cluster into leaves. */
void lode_tree_join(struct lode_tree *tree);
/* Leaves out what no way from the root leads to, and renumbers: children behind their parents. */
int lode_tree_tidy(struct lode_tree *tree, struct lode_error *error);

enum lode_criterion { LODE_GINI, LODE_ENTROPY };

struct lode_grow_options {
	enum lode_criterion criterion;
	unsigned deepest;    /* 0: no limit */
	int priced;          /* split only where the description gets shorter */
	unsigned look_ahead; /* priced: tests to try together where one alone does not help (2 or 3) */
	unsigned jobs;
	uint64_t seed;
};

/*
 * CART. `labels` below `clusters`; rows whose label is LODE_NONE take no part.
 * Not priced, it splits until all leaves are pure or cannot be split.
 */
int lode_tree_grow(struct lode_tree *tree, const struct lode_features *features, const uint32_t *labels,
		   unsigned clusters, const struct lode_grow_options *options, struct lode_error *error);

/* ---- by description length ---- */

/* What rows cost under each cluster, in nats. */
struct lode_costs {
	size_t rows;
	unsigned clusters;
	float *cost;        /* rows × clusters */
	uint64_t *left_out; /* NULL, or a bit for each row that takes no part */
	int labels_count;   /* leaves are never mixed (leaf_sums.h) */
};

/* Nats to name a test: which feature, which of its values, and that it is no leaf. */
double lode_test_price(const struct lode_features *features, uint32_t feature);
/* Nats for a leaf: which cluster, and that it is one. */
double lode_leaf_price(unsigned clusters);
/* Nats for the whole tree without the rows. */
double lode_tree_price(const struct lode_tree *tree, const struct lode_features *features);

/* The cluster that costs a row least. */
uint32_t lode_costs_best(const struct lode_costs *costs, size_t row);
/*
 * Puts, in place of each largest subtree with at most LODE_MAX_TESTS different
 * tests, the tree over the same tests with the shortest description: exact.
 */
#define LODE_MAX_TESTS 10
int lode_tree_shorten(struct lode_tree *tree, const struct lode_features *features, const struct lode_costs *costs,
		      struct lode_error *error);

struct lode_learn_options {
	unsigned look_ahead;
	unsigned jobs;
	uint64_t seed;
};

/* The whole way from costs to a small tree. `sizes` count rows by their cheapest cluster. */
int lode_tree_learn(struct lode_tree *tree, const struct lode_features *features, const struct lode_costs *costs,
		    const struct lode_learn_options *options, struct lode_error *error);

#endif
