/*
 * Choosing: the theory with the shortest description, for a given number of
 * clusters or for all of them.
 */
#ifndef LODE_EXPLAIN_CHOOSE_H
#define LODE_EXPLAIN_CHOOSE_H

#include "explain/theory.h"

enum lode_method { LODE_METHOD_KLINEAR, LODE_METHOD_SPECTRAL };

struct lode_choose_options {
	unsigned clusters; /* 0: any number */
	enum lode_method method;
	uint64_t seed;
	unsigned jobs;
};

/* The best theory for each number of clusters; `clusters` is 0 where none was found. */
struct lode_choice {
	struct lode_theory theories[LODE_MOST_CLUSTERS + 1];
};

void lode_choice_release(struct lode_choice *choice);
int lode_choose(const struct lode_world *world, const struct lode_choose_options *options,
		struct lode_choice *choice, struct lode_error *error);
/*
 * Takes the theory out of the choice: of `clusters`, or (0) the one with the
 * shortest description, after lode_theory_split and lode_theory_merge_near.
 */
int lode_choice_take(const struct lode_world *world, struct lode_choice *choice, unsigned clusters,
		     struct lode_theory *theory, struct lode_error *error);

#endif
