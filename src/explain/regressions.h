/*
 * Regressions: the other way round. A tree is grown whose leaves have functions
 * of their own, split where two functions describe the rows shorter than one (as
 * model-based recursive partitioning does); its leaves' functions are a start for
 * a theory, in which equal ones are merged. It finds what clustering cannot: noisy
 * functions that overlap so much that only the features tell them apart.
 */
#ifndef LODE_EXPLAIN_REGRESSIONS_H
#define LODE_EXPLAIN_REGRESSIONS_H

#include "explain/theory.h"

/* Sets `clusters` (at most `most`) and `functions` of the theory. */
int lode_regressions_start(const struct lode_world *world, unsigned most, struct lode_theory *theory,
			   struct lode_error *error);

#endif
