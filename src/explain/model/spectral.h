/*
 * Spectral clustering with the alignment kernel (section 4.2 of the paper on
 * discriminant regression trees): two rows are alike when the line through them
 * passes near many others.
 */
#ifndef LODE_EXPLAIN_MODEL_SPECTRAL_H
#define LODE_EXPLAIN_MODEL_SPECTRAL_H

#include "explain/model/klinear.h"

/* With at most this many rows of one input the kernel is exactly the paper's. */
#define LODE_SPECTRAL_EXACT 300

/*
 * The paper's similarity of each two rows, rows × rows: exp(-2^-n), where n counts
 * the other rows within `width` of the line through both; 0 where there is none;
 * 1 on the diagonal. Residuals are measured as the points' noise says. The points
 * have one input.
 */
void lode_alignment_kernel(const struct lode_points *points, double width, double *kernel);

/*
 * To be called once, before threads cluster: loads LAPACK, and keeps it from starting
 * threads of its own. They wait by spinning, which takes a busy machine many times as
 * long as the small problems here take one thread. LODE_SYSTEM where there is no LAPACK.
 */
int lode_spectral_prepare(struct lode_error *error);
/*
 * Clusters the points and lets K-linear clustering finish. There must be at least
 * as many rows as clusters. The labels are the caller's to release.
 */
int lode_spectral(const struct lode_points *points, unsigned clusters, uint64_t seed,
		  struct lode_clustering *clustering, struct lode_error *error);

#endif
