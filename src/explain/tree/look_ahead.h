/*
 * Look-ahead: two or three tests that together separate clusters where none of
 * them does so alone, as the parity of three bits does. Private to the tree.
 */
#ifndef LODE_EXPLAIN_TREE_LOOK_AHEAD_H
#define LODE_EXPLAIN_TREE_LOOK_AHEAD_H

#include "explain/tree/splits.h"

struct lode_look_ahead {
	struct lode_test tests[3];
	double thresholds[3];
	unsigned count; /* 0: nothing was found */
	double gain;    /* nats that the clusters' entropy falls by when all are asked */
	double price;   /* nats that the full tree of these tests costs more than a leaf */
};

/* About how many words are compared for groups of `size` tests of `features` features. */
double lode_look_ahead_work(const struct lode_node_rows *node, size_t features, unsigned size);
/*
 * The best group of `size` tests (2 or 3) whose gain is above its price, of the
 * features that `only` names (`count` of them; NULL: all).
 */
int lode_look_ahead(const struct lode_node_rows *node, const uint32_t *only, size_t count, unsigned size,
		    uint64_t seed, unsigned jobs, struct lode_look_ahead *found);

#endif
