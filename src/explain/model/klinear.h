/*
 * K-linear clustering: K-means with functions of x in place of points (section
 * 4.1 and Algorithm 2 of the paper on discriminant regression trees).
 *
 * Squares of residuals are added up: of y - f(x) where the points' noise is
 * additive, as in the paper, of log(y / f(x)) where it is relative.
 */
#ifndef LODE_EXPLAIN_MODEL_KLINEAR_H
#define LODE_EXPLAIN_MODEL_KLINEAR_H

#include "explain/model/function_fit.h"
#include "explain/tree/tree.h"

struct lode_clustering {
	unsigned clusters;
	struct lode_function functions[LODE_MAX_CLUSTERS];
	uint32_t *labels; /* one per row */
	double loss;      /* sum of squares of residuals */
};

struct lode_klinear_options {
	unsigned clusters;
	unsigned restarts; /* random starts besides those from tubes */
	uint64_t seed;
};

void lode_clustering_release(struct lode_clustering *clustering);

/*
 * Algorithm 2 starting with the functions in `clustering`: a row changes its
 * cluster only for a strictly smaller residual, functions follow by least squares,
 * until nothing changes. Fills in labels and loss. A cluster that loses all its
 * rows takes the row with the largest residual.
 */
int lode_klinear_run(const struct lode_points *points, struct lode_clustering *clustering,
		     struct lode_error *error);
/* Number of different starts from tubes that lode_klinear_start knows. */
#define LODE_TUBES 4
/*
 * The functions to start with: `tube` (below LODE_TUBES) picks those through
 * random rows around which a tube of a certain width holds many rows that none
 * before it holds; LODE_TUBES and above picks functions at random.
 */
int lode_klinear_start(const struct lode_points *points, unsigned clusters, unsigned tube, uint64_t seed,
		       struct lode_clustering *clustering, struct lode_error *error);
/* The best of all starts. There must be at least as many rows as clusters. */
int lode_klinear(const struct lode_points *points, const struct lode_klinear_options *options,
		 struct lode_clustering *clustering, struct lode_error *error);

#endif
