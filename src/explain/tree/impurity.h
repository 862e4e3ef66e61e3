/* Impurity of a set of rows by the sizes of its clusters, times the number of rows. */
#ifndef LODE_EXPLAIN_TREE_IMPURITY_H
#define LODE_EXPLAIN_TREE_IMPURITY_H

#include "explain/tree/tree.h"

#include <math.h>

static inline double lode_entropy_nats(const size_t *sizes, unsigned clusters)
{
	double sum = 0;
	size_t rows = 0;

	for (unsigned k = 0; k < clusters; k++) {
		rows += sizes[k];
		if (sizes[k] > 1)
			sum -= (double)sizes[k] * log((double)sizes[k]);
	}
	return rows > 1 ? sum + (double)rows * log((double)rows) : 0;
}

static inline double lode_gini(const size_t *sizes, unsigned clusters)
{
	double square = 0;
	size_t rows = 0;

	for (unsigned k = 0; k < clusters; k++) {
		rows += sizes[k];
		square += (double)sizes[k] * (double)sizes[k];
	}
	return rows ? (double)rows - square / (double)rows : 0;
}

/* Gini, or entropy in bits, as scikit-learn counts them, times the number of rows. */
static inline double lode_impurity(enum lode_criterion criterion, const size_t *sizes, unsigned clusters)
{
	return criterion == LODE_GINI ? lode_gini(sizes, clusters)
				      : lode_entropy_nats(sizes, clusters) / 0.693147180559945309417;
}

#endif
