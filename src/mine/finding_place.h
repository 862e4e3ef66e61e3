/*
 * The place of a finding: where the stacks of its rows lead (findings.h). Private to mine.
 */
#ifndef LODE_MINE_FINDING_PLACE_H
#define LODE_MINE_FINDING_PLACE_H

#include "mine/findings.h"

/* A node and the one that it is called from. */
struct lode_finding_edge {
	uint32_t caller;
	uint32_t node;
};

/* Memory for places, over one dictionary, used for one finding after the other. */
struct lode_finding_places {
	const struct lode_dictionary *dictionary;
	uint32_t *own;     /* by node: the innermost node above it, or it, of a program's own function; 0: none */
	uint64_t *costs;   /* by node: of the rows in hand, with what it calls */
	uint32_t *touched; /* nodes with a cost, */
	size_t touched_count;
	size_t touched_capacity;
	struct lode_finding_edge *calls; /* the same, sorted by caller */
	size_t call_capacity;
};

/* One stack of a finding and what it costs. */
struct lode_finding_stack {
	uint32_t stack;
	uint64_t cost;
};

/* Release it in either case. Returns 0 or LODE_SYSTEM, as the function below. */
int lode_finding_places_make(struct lode_finding_places *places, const struct lode_dictionary *dictionary,
			     const struct lode_idle_stacks *idle);
void lode_finding_places_release(struct lode_finding_places *places);

/*
 * The node where the stacks lead, 0 where that is nowhere. Where it comes to functions that each cost `large` or more, it
 * stops above them; `*splits` says so.
 */
int lode_finding_place(struct lode_finding_places *places, const struct lode_finding_stack *stacks, size_t count,
		       uint64_t large, uint32_t *node, int *splits);
/* The node on the way from `above`, 0 for the root, to `stack` that `above` calls; 0: the stack does not pass `above`. */
uint32_t lode_finding_callee_of(const struct lode_finding_places *places, uint32_t above, uint32_t stack);

#endif
