/*
 * Clusters that no tree explains (see explain_parts.h): x and y alone show them, so
 * plainly that telling each row's cluster by itself is worth its nats.
 */
#include "explain/explain_parts.h"

#include <math.h>
#include <string.h>

/* Clusters that are told without a tree: how many at most, and how many spreads of their noise apart. */
#define MOST_UNEXPLAINED 6
#define FAR		 4

/* Gives every function the rows that it is nearest to, and fits it to them. */
static void fit_nearest(const struct lode_points *points, struct lode_theory *theory, uint32_t *rows)
{
	for (unsigned k = 0; k < theory->clusters; k++) {
		size_t count = 0;

		for (size_t row = 0; row < points->rows; row++)
			if (theory->labels[row] == k)
				rows[count++] = (uint32_t)row;
		if (count)
			lode_function_choose(points, rows, count, &theory->functions[k]);
	}
}

/* Length of a description that tells each row's cluster by itself. */
static double length_without_tree(const struct lode_points *points, const struct lode_theory *theory)
{
	double length = 0, sizes[LODE_MOST_CLUSTERS] = { 0 };

	for (size_t row = 0; row < points->rows; row++) {
		sizes[theory->labels[row]]++;
		length += lode_function_cost(points, &theory->functions[theory->labels[row]], row);
	}
	for (unsigned k = 0; k < theory->clusters; k++) {
		length += lode_function_price(points, &theory->functions[k]);
		length -= sizes[k] > 0 ? sizes[k] * log(sizes[k] / (double)points->rows) : 0;
	}
	return length;
}

/* A theory without a tree: the best clustering, as it is. */
static int cluster_alone(const struct lode_points *points, unsigned clusters, uint64_t seed,
			 struct lode_theory *theory, struct lode_error *error)
{
	struct lode_klinear_options how = { clusters, 4, seed };
	struct lode_clustering clustering;
	uint32_t *rows;
	int code = lode_klinear(points, &how, &clustering, error);

	memset(theory, 0, sizeof(*theory));
	if (code < 0)
		return code;
	theory->clusters = clusters;
	theory->labels = clustering.labels;
	memcpy(theory->functions, clustering.functions, sizeof(theory->functions));
	rows = lode_calloc(points->rows, sizeof(*rows));
	if (!rows) {
		lode_theory_release(theory);
		return lode_fail_memory(error);
	}
	fit_nearest(points, theory, rows);
	theory->length = length_without_tree(points, theory);
	lode_free(rows);
	return 0;
}

int lode_unexplained_count(const struct lode_world *world, double length, unsigned *clusters,
			   struct lode_error *error)
{
	*clusters = 1;
	for (unsigned k = 2; k <= MOST_UNEXPLAINED && k < world->points->rows / 4; k++) {
		struct lode_theory theory;
		double distance;
		int code = cluster_alone(world->points, k, world->seed, &theory, error);

		if (code == 0)
			code = lode_theory_distance(world, &theory, &distance, error);
		if (code == 0 && theory.length < length && distance > FAR) {
			length = theory.length;
			*clusters = k;
		}
		lode_theory_release(&theory);
		if (code < 0)
			return code;
	}
	return 0;
}

int lode_unexplained_take(const struct lode_world *all, unsigned clusters, struct lode_theory *theory,
			  struct lode_error *error)
{
	struct lode_learn_options learn = { all->look_ahead, all->jobs, all->seed };
	struct lode_costs costs;
	int code;

	lode_theory_release(theory);
	code = cluster_alone(all->points, clusters, all->seed, theory, error);
	if (code < 0)
		return code;
	code = lode_theory_costs(all->points, theory->functions, clusters, &costs, error);
	if (code == 0)
		code = lode_tree_learn(&theory->tree, all->features, &costs, &learn, error);
	/* Where the tree tells nothing apart, what x and y say is all there is. */
	for (size_t row = 0; code == 0 && theory->tree.count > 1 && row < all->points->rows; row++)
		theory->labels[row] = theory->tree.nodes[lode_tree_leaf(&theory->tree, all->features, row)].cluster;
	lode_free(costs.cost);
	return code;
}
