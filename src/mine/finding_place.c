/* The place of a finding: see finding_place.h. */
#include "mine/finding_place.h"

#include "scope/own_frames.h"

#include <stdlib.h>
#include <string.h>

int lode_finding_places_make(struct lode_finding_places *places, const struct lode_dictionary *dictionary,
			     const struct lode_idle_stacks *idle)
{
	*places = (struct lode_finding_places){
		.dictionary = dictionary,
		.own = lode_own_nodes(dictionary, idle),
		.costs = lode_calloc(dictionary->tree.count + 1, sizeof(*places->costs)),
	};
	return places->own && places->costs ? 0 : LODE_SYSTEM;
}

void lode_finding_places_release(struct lode_finding_places *places)
{
	lode_free(places->own);
	lode_free(places->costs);
	lode_free(places->touched);
	lode_free(places->calls);
	lode_free(places->functions);
	memset(places, 0, sizeof(*places));
}

/* ---- costs ---- */

static int add_stack(struct lode_finding_places *places, uint32_t stack, uint64_t cost)
{
	for (uint32_t node = stack; node; node = places->dictionary->tree.nodes[node].parent) {
		if (!places->costs[node] &&
		    LODE_APPEND(places->touched, places->touched_count, places->touched_capacity, node) < 0)
			return LODE_SYSTEM;
		places->costs[node] = lode_add_saturating(places->costs[node], cost);
	}
	return 0;
}

static int compare_calls(const void *left, const void *right)
{
	const struct lode_finding_edge *a = left, *b = right;

	if (a->caller != b->caller)
		return a->caller < b->caller ? -1 : 1;
	return a->node < b->node ? -1 : a->node > b->node;
}

static int sort_calls(struct lode_finding_places *places)
{
	if (LODE_GROW(places->calls, places->call_capacity, places->touched_count + 1) < 0)
		return LODE_SYSTEM;
	for (size_t i = 0; i < places->touched_count; i++)
		places->calls[i] =
			(struct lode_finding_edge){ places->dictionary->tree.nodes[places->touched[i]].parent,
						    places->touched[i] };
	qsort(places->calls, places->touched_count, sizeof(*places->calls), compare_calls);
	return 0;
}

static void clear(struct lode_finding_places *places)
{
	for (size_t i = 0; i < places->touched_count; i++)
		places->costs[places->touched[i]] = 0;
	places->touched_count = 0;
}

/* ---- the way down ---- */

/* What one node calls: the costliest, and how many of its callees are large. */
struct branches {
	uint32_t first;
	unsigned large;
};

/* The first of the calls by `node`; those that follow it are sorted in. */
static size_t first_call(const struct lode_finding_places *places, uint32_t node)
{
	size_t low = 0, high = places->touched_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (places->calls[middle].caller < node)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct branches look_at(const struct lode_finding_places *places, uint32_t node, uint64_t large)
{
	struct branches found = { 0 };

	for (size_t i = first_call(places, node); i < places->touched_count && places->calls[i].caller == node;
	     i++) {
		uint32_t callee = places->calls[i].node;

		found.large += places->costs[callee] >= large;
		if (!found.first || places->costs[callee] > places->costs[found.first])
			found.first = callee;
	}
	return found;
}

static void walk(const struct lode_finding_places *places, uint64_t total, uint64_t large, uint32_t *node,
		 int *splits)
{
	for (;;) {
		struct branches found = look_at(places, *node, large);

		if (found.large > 1) {
			*splits = 1;
			return;
		}
		if (!found.first || places->costs[found.first] < total / 2)
			return;
		*node = found.first;
	}
}

int lode_finding_place(struct lode_finding_places *places, const struct lode_finding_stack *stacks, size_t count,
		       uint64_t large, uint32_t *node, int *splits)
{
	uint64_t total = 0;
	int code = 0;

	*splits = 0;
	*node = 0;
	for (size_t i = 0; !code && i < count; i++) {
		uint32_t own = places->own[stacks[i].stack];

		code = add_stack(places, own ? own : stacks[i].stack, stacks[i].cost);
		total = lode_add_saturating(total, stacks[i].cost);
	}
	if (!code)
		code = sort_calls(places);
	if (!code)
		walk(places, total, large, node, splits);
	clear(places);
	return code;
}

uint32_t lode_finding_callee_of(const struct lode_finding_places *places, uint32_t above, uint32_t stack)
{
	uint32_t node = stack;

	while (node && places->dictionary->tree.nodes[node].parent != above)
		node = places->dictionary->tree.nodes[node].parent;
	return node;
}

/* ---- functions, whoever calls them ---- */

static uint32_t depth_of(const struct lode_finding_places *places, uint32_t node)
{
	uint32_t depth = 0;

	for (; node; node = places->dictionary->tree.nodes[node].parent)
		depth++;
	return depth;
}

/* Adds a stack to its own functions, each once. */
static void add_functions(struct lode_finding_places *places, const struct lode_finding_stack *stack)
{
	const struct lode_stack_tree *tree = &places->dictionary->tree;
	uint32_t node = places->own[stack->stack], depth = depth_of(places, node);

	places->number++;
	for (; node; node = tree->nodes[node].parent, depth--) {
		struct lode_finding_function *function = &places->functions[tree->nodes[node].frame];

		if (places->own[node] != node || function->seen == places->number)
			continue;
		function->seen = places->number;
		function->cost = lode_add_saturating(function->cost, stack->cost);
		function->depth = lode_add_saturating(function->depth, lode_weighted(stack->cost, depth));
	}
}

/* The one that is called deepest on average, of those with at least half of the cost. Clears what it looks at. */
static void choose(struct lode_finding_places *places, uint32_t stack, uint64_t total, uint32_t *frame,
		   double *depth)
{
	const struct lode_stack_tree *tree = &places->dictionary->tree;

	for (uint32_t node = places->own[stack]; node; node = tree->nodes[node].parent) {
		struct lode_finding_function *function = &places->functions[tree->nodes[node].frame];
		double mean = function->cost ? (double)function->depth / (double)function->cost : 0;

		if (function->cost && function->cost >= total - function->cost &&
		    (mean > *depth || (mean == *depth && tree->nodes[node].frame < *frame))) {
			*depth = mean;
			*frame = tree->nodes[node].frame;
		}
		*function = (struct lode_finding_function){ 0 };
	}
}

int lode_finding_frame(struct lode_finding_places *places, const struct lode_finding_stack *stacks, size_t count,
		       uint32_t node, uint32_t *frame)
{
	uint64_t total = 0;
	double depth = 0;

	*frame = node ? places->dictionary->tree.nodes[node].frame : LODE_NONE;
	if (!places->functions)
		places->functions = lode_calloc(places->dictionary->frames.count + 1, sizeof(*places->functions));
	if (!places->functions)
		return LODE_SYSTEM;
	places->number = 0;
	for (size_t i = 0; i < count; i++) {
		add_functions(places, &stacks[i]);
		total = lode_add_saturating(total, stacks[i].cost);
	}
	for (size_t i = 0; i < count; i++)
		choose(places, stacks[i].stack, total, frame, &depth);
	return 0;
}

uint32_t lode_finding_occurrence(const struct lode_finding_places *places, uint32_t stack, uint32_t frame,
				 uint32_t *callee)
{
	const struct lode_stack_tree *tree = &places->dictionary->tree;
	uint32_t node = stack;

	*callee = 0;
	for (; node && tree->nodes[node].frame != frame; node = tree->nodes[node].parent)
		*callee = node;
	return node;
}
