/*
 * The place of a finding: where the stacks of its rows lead (findings.h). Private to mine.
 */
#ifndef LODE_MINE_FINDING_PLACE_H
#define LODE_MINE_FINDING_PLACE_H

#include "base/hash_index.h"
#include "mine/findings.h"
#include "mine/wait_wrappers.h"

/* A node and the one that it is called from. */
struct lode_finding_edge {
	uint32_t caller;
	uint32_t node;
};

/* What the stacks in hand have of a function. */
struct lode_finding_function {
	uint64_t cost;  /* of stacks that have it */
	uint64_t depth; /* sum of its depths in these, weighted by cost, in units of `cost` */
	uint32_t seen;  /* number of the last stack that has it */
};

/* What the stacks in hand have of a function called by another. */
struct lode_finding_call_cost {
	uint32_t caller; /* frames */
	uint32_t callee;
	uint64_t cost;
};

/* Memory for places, over one dictionary, used for one finding after the other. */
struct lode_finding_places {
	const struct lode_dictionary *dictionary;
	uint32_t *own;     /* by node: the innermost node above it, or it, of a program's own function; 0: none */
	uint64_t *costs;   /* by node: of the rows in hand, with what it calls */
	uint32_t *touched; /* nodes with a cost, */
	size_t touched_count;
	size_t touched_capacity;
	struct lode_finding_function *functions; /* by frame: of the rows in hand */
	uint32_t number;                         /* of the stack that is looked at, from 1 */
	struct lode_finding_edge *calls;         /* the same, sorted by caller */
	size_t call_capacity;
	struct lode_finding_call_cost *call_costs; /* of the rows in hand, by function */
	size_t call_cost_count;
	size_t call_cost_capacity;
	struct lode_index call_index;
	struct lode_wait_wrappers wrappers;
	uint8_t *is_means; /* by frame: a function without a name, one that runs a script, or the way into the kernel */
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
/*
 * The innermost function that at least half of the time passes, whoever calls it, or a caller a few calls above that has the
 * rest in another function; `node`: where the stacks lead, in case there is none. LODE_NONE: unknown, or several kernels of a GPU.
 */
int lode_finding_frame(struct lode_finding_places *places, const struct lode_finding_stack *stacks, size_t count,
		       uint32_t node, uint32_t *frame);
/*
 * The innermost node of `stack` that is a call of `frame`; 0: there is none. `*callee`: what that calls, by the way of an
 * interpreter, of functions without a name or of the way into the kernel, 0: nothing; of what a GPU runs the kernel.
 */
uint32_t lode_finding_occurrence(const struct lode_finding_places *places, uint32_t stack, uint32_t frame,
				 uint32_t *callee);
/* The node on the way from `above`, 0 for the root, to `stack` that `above` calls; 0: the stack does not pass `above`. */
uint32_t lode_finding_callee_of(const struct lode_finding_places *places, uint32_t above, uint32_t stack);

#endif
