/*
 * Sums over the rows of a leaf, from which follows what a leaf costs. Private to
 * the tree.
 *
 * A leaf can be pure: all its rows follow the cluster that costs them least in sum. Or it
 * is mixed, and the cluster of each row is encoded individually, in as many nats as the
 * entropy of the clusters in it. Without the second way a tree would chase chance: where
 * two clusters are mixed at random, labelling each handful of rows with its majority
 * would seem to save much.
 */
#ifndef LODE_EXPLAIN_TREE_LEAF_SUMS_H
#define LODE_EXPLAIN_TREE_LEAF_SUMS_H

#include "explain/tree/tree.h"

#include <math.h>

/* Numbers that make up the sums: costs under each cluster, the least costs, rows by their cheapest cluster.
 */
static inline size_t lode_sums_size(unsigned clusters)
{
	return 2 * (size_t)clusters + 1;
}

static inline void lode_sums_add(const struct lode_costs *costs, size_t row, double *sums)
{
	const float *cost = costs->cost + row * costs->clusters;
	uint32_t best = lode_costs_best(costs, row);

	for (unsigned k = 0; k < costs->clusters; k++)
		sums[k] += (double)cost[k];
	sums[costs->clusters] += (double)cost[best];
	sums[costs->clusters + 1 + best]++;
}

/* What the rows cost as one leaf, its price included, and the leaf's cluster. */
static inline double lode_sums_leaf(const double *sums, const struct lode_costs *costs, uint32_t *cluster)
{
	unsigned clusters = costs->clusters;
	const double *sizes = sums + clusters + 1;
	double rows = 0, mixed = sums[clusters];
	uint32_t most = 0;

	*cluster = 0;
	for (uint32_t k = 0; k < clusters; k++) {
		if (sums[k] < sums[*cluster])
			*cluster = k;
		if (sizes[k] > sizes[most])
			most = k;
		if (sizes[k] > 1)
			mixed -= sizes[k] * log(sizes[k]);
		rows += sizes[k];
	}
	if (rows > 1)
		mixed += rows * log(rows) + (clusters - 1) / 2.0 * log(rows);
	if (costs->labels_count || mixed >= sums[*cluster])
		return sums[*cluster] + lode_leaf_price(clusters);
	*cluster = most;
	return mixed + lode_leaf_price(clusters);
}

#endif
