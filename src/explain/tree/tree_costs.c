/* Prices of tests and leaves in nats, and the cheapest cluster of a row: see tree.h. */
#include "explain/tree/tree.h"

#include <math.h>

double lode_test_price(const struct lode_features *features, uint32_t feature)
{
	const struct lode_feature *item = &features->items[feature];
	double values = 1;

	if (item->kind == LODE_FEATURE_RANKS)
		values = item->value_count - 1;
	else if (item->kind == LODE_FEATURE_CATEGORY)
		values = item->value_count;
	return log((double)features->count) + log(values) + log(2);
}

double lode_leaf_price(unsigned clusters)
{
	return log(clusters) + log(2);
}

double lode_tree_price(const struct lode_tree *tree, const struct lode_features *features)
{
	double price = 0;

	for (size_t i = 0; i < tree->count; i++)
		price += tree->nodes[i].feature == LODE_NONE ? lode_leaf_price(tree->clusters)
							     : lode_test_price(features, tree->nodes[i].feature);
	return price;
}

uint32_t lode_costs_best(const struct lode_costs *costs, size_t row)
{
	const float *cost = costs->cost + row * costs->clusters;
	uint32_t best = 0;

	for (uint32_t k = 1; k < costs->clusters; k++)
		if (cost[k] < cost[best])
			best = k;
	return best;
}
