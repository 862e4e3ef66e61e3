/*
 * The place of a finding: see finding_place.h.
 *
 * Of a library the innermost function with half of the time may be a detail: of a loop that calls two functions in turn, the
 * larger one. So a caller whose time is divided between two functions of a similar size is preferred there, if it is
 * near. Of the program itself it is what can be changed.
 */
#include "mine/finding_place.h"

#include "base/hash.h"
#include "base/starts_with.h"
#include "scope/own_frames.h"
#include "scope/plumbing.h"
#include "trace/gpu_threads.h"

#include <stdlib.h>
#include <string.h>

/* How far above the innermost function a caller may be that is preferred. */
#define NEAR_CALLS 4

/* How exceptions of a processor come to the kernel's functions that handle them. */
static const char *const entries[] = { "el0_", "el0t_", "el1_", "el1h_", "do_mem_abort", "do_translation_fault",
				       "asm_" };

static int is_means(const struct lode_frames *frames, const struct lode_idle_stacks *idle, uint32_t frame)
{
	const char *function = lode_frames_function(frames, frame);

	if (lode_starts_with(function, "0x") || lode_idle_ignores(idle, frame) ||
	    lode_module_is_interpreter(lode_frames_module_name(frames, frame)))
		return 1;
	if (frames->modules[frames->items[frame].module].kind != LODE_KIND_KERNEL)
		return 0;
	for (size_t i = 0; i < sizeof(entries) / sizeof(*entries); i++)
		if (lode_starts_with(function, entries[i]))
			return 1;
	return 0;
}

int lode_finding_places_make(struct lode_finding_places *places, const struct lode_dictionary *dictionary,
			     const struct lode_idle_stacks *idle)
{
	*places = (struct lode_finding_places){
		.dictionary = dictionary,
		.own = lode_own_nodes(dictionary, idle),
		.costs = lode_calloc(dictionary->tree.count + 1, sizeof(*places->costs)),
		.is_means = lode_calloc(dictionary->frames.count + 1, 1),
	};
	for (uint32_t i = 0; places->is_means && i < dictionary->frames.count; i++)
		places->is_means[i] = (uint8_t)is_means(&dictionary->frames, idle, i);
	return places->own && places->costs && places->is_means
		       ? lode_wait_wrappers_make(&places->wrappers, dictionary, places->own)
		       : LODE_SYSTEM;
}

void lode_finding_places_release(struct lode_finding_places *places)
{
	lode_free(places->own);
	lode_free(places->costs);
	lode_free(places->touched);
	lode_free(places->calls);
	lode_free(places->functions);
	lode_free(places->call_costs);
	lode_index_release(&places->call_index);
	lode_free(places->is_means);
	lode_wait_wrappers_release(&places->wrappers);
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

/*
 * A stack without functions of the program: up to where it enters the kernel, whose scheduler is the end of all waits. What a GPU
 * does in a gap is no place.
 */
static uint32_t outside_kernel(const struct lode_finding_places *places, uint32_t stack)
{
	const struct lode_frames *frames = &places->dictionary->frames;
	const struct lode_stack_node *nodes = places->dictionary->tree.nodes;
	uint32_t node = stack;

	if (node && lode_gpu_frame_of(frames, nodes[node].frame) == LODE_GPU_GAP)
		return nodes[node].parent;

	while (node && frames->modules[frames->items[nodes[node].frame].module].kind == LODE_KIND_KERNEL)
		node = nodes[node].parent;
	return node ? node : stack;
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

		code = add_stack(places, own ? own : outside_kernel(places, stacks[i].stack), stacks[i].cost);
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

/* Whether it is what a GPU runs, with the stack of who launched it. */
static int is_work_of_gpu(const struct lode_finding_places *places, uint32_t stack)
{
	uint32_t frame = places->dictionary->tree.nodes[stack].frame;

	return stack && lode_gpu_frame_of(&places->dictionary->frames, frame) == LODE_GPU_WORK;
}

/* Adds a stack to its own functions, each once. Functions without a name say nothing of what a GPU runs, others do. */
static void add_functions(struct lode_finding_places *places, const struct lode_finding_stack *stack)
{
	const struct lode_stack_tree *tree = &places->dictionary->tree;
	uint32_t node = places->own[stack->stack], depth = depth_of(places, node);
	int is_gpus = is_work_of_gpu(places, stack->stack);

	places->number++;
	for (; node; node = tree->nodes[node].parent, depth--) {
		struct lode_finding_function *function = &places->functions[tree->nodes[node].frame];

		if (places->own[node] != node || function->seen == places->number ||
		    (is_gpus && places->is_means[tree->nodes[node].frame]))
			continue;
		function->seen = places->number;
		function->cost = lode_add_saturating(function->cost, stack->cost);
		function->depth = lode_add_saturating(function->depth, lode_weighted(stack->cost, depth));
	}
}

/* ---- callers that divide their time ---- */

static int has_half(const struct lode_finding_function *function, uint64_t total)
{
	return function->cost && function->cost >= total - function->cost;
}

static int add_call_cost(struct lode_finding_places *places, uint32_t caller, uint32_t callee, uint64_t cost)
{
	uint64_t hash = lode_hash_pair(caller, callee);
	uint32_t found =
		LODE_INDEX_FIND(i, &places->call_index, hash,
				places->call_costs[i].caller == caller && places->call_costs[i].callee == callee);

	if (found == LODE_NONE)
		return LODE_INDEX_APPEND(&places->call_index, hash, places->call_costs, places->call_cost_count,
					 places->call_cost_capacity,
					 ((struct lode_finding_call_cost){ caller, callee, cost }));
	places->call_costs[found].cost = lode_add_saturating(places->call_costs[found].cost, cost);
	return 0;
}

/* Adds a stack to what its functions with half of the time call, each of these once. */
static int add_call_costs(struct lode_finding_places *places, const struct lode_finding_stack *stack,
			  uint64_t total)
{
	const struct lode_stack_tree *tree = &places->dictionary->tree;
	uint32_t callee = LODE_NONE;

	places->number++;
	for (uint32_t node = places->own[stack->stack]; node; node = tree->nodes[node].parent) {
		uint32_t frame = tree->nodes[node].frame;
		struct lode_finding_function *function = &places->functions[frame];

		if (places->own[node] != node)
			continue;
		if (callee != LODE_NONE && function->seen != places->number && has_half(function, total) &&
		    add_call_cost(places, frame, callee, stack->cost) < 0)
			return LODE_SYSTEM;
		function->seen = places->number;
		callee = frame;
	}
	return 0;
}

static int compare_call_costs(const void *left, const void *right)
{
	const struct lode_finding_call_cost *a = left, *b = right;

	if (a->caller != b->caller)
		return a->caller < b->caller ? -1 : 1;
	if (a->cost != b->cost)
		return a->cost > b->cost ? -1 : 1;
	return a->callee < b->callee ? -1 : a->callee > b->callee;
}

static double mean_depth(const struct lode_finding_function *function)
{
	return (double)function->depth / (double)function->cost;
}

/* Whether a function divides its time: the costliest that it calls does not have nearly all of it, and the next has half as much. */
static int divides(const struct lode_finding_call_cost *first, const struct lode_finding_call_cost *second,
		   uint64_t total)
{
	return second->caller == first->caller && first->cost < total / 4 * 3 && second->cost >= first->cost / 2 &&
	       first->cost + second->cost >= total / 4 * 3;
}

static int is_of_library(const struct lode_frames *frames, uint32_t frame)
{
	return frames->modules[frames->items[frame].module].kind == LODE_KIND_LIBRARY;
}

/* In place of `*frame`, which is at `depth`: the innermost near caller that divides its time, if there is one. */
static int prefer_caller(struct lode_finding_places *places, const struct lode_finding_stack *stacks, size_t count,
			 uint64_t total, double depth, uint32_t *frame)
{
	const struct lode_frames *frames = &places->dictionary->frames;
	double deepest = depth - NEAR_CALLS - 1;
	int code = 0;

	for (size_t i = 0; !code && i < count; i++)
		code = add_call_costs(places, &stacks[i], total);
	if (!code && places->call_cost_count)
		qsort(places->call_costs, places->call_cost_count, sizeof(*places->call_costs), compare_call_costs);
	for (size_t i = 0; !code && i + 1 < places->call_cost_count; i++) {
		const struct lode_finding_call_cost *first = &places->call_costs[i];
		double mean = mean_depth(&places->functions[first->caller]);

		if ((i && first[-1].caller == first->caller) || !divides(first, &first[1], total) ||
		    mean <= deepest || mean >= depth ||
		    lode_function_starts_program(lode_frames_function(frames, first->caller)))
			continue;
		deepest = mean;
		*frame = first->caller;
	}
	lode_index_release(&places->call_index);
	memset(&places->call_index, 0, sizeof(places->call_index));
	places->call_cost_count = 0;
	return code;
}

/* The one that is called deepest on average, of those with at least half of the cost. */
static void choose(struct lode_finding_places *places, uint32_t stack, uint64_t total, uint32_t *frame,
		   double *depth)
{
	const struct lode_stack_tree *tree = &places->dictionary->tree;

	for (uint32_t node = places->own[stack]; node; node = tree->nodes[node].parent) {
		const struct lode_finding_function *function = &places->functions[tree->nodes[node].frame];
		double mean = function->cost ? mean_depth(function) : 0;

		if (has_half(function, total) &&
		    (mean > *depth || (mean == *depth && tree->nodes[node].frame < *frame))) {
			*depth = mean;
			*frame = tree->nodes[node].frame;
		}
	}
}

static void clear_functions(struct lode_finding_places *places, uint32_t stack)
{
	const struct lode_stack_tree *tree = &places->dictionary->tree;

	for (uint32_t node = places->own[stack]; node; node = tree->nodes[node].parent)
		places->functions[tree->nodes[node].frame] = (struct lode_finding_function){ 0 };
}

/* Whether most of it is what a GPU runs, of which several kernels have parts worth naming, and none has half. */
static int are_kernels(const struct lode_finding_places *places, const struct lode_finding_stack *stacks,
		       size_t count, uint64_t total)
{
	const struct lode_stack_node *nodes = places->dictionary->tree.nodes;
	uint64_t most = 0, sum = 0;

	for (size_t i = 0; i < count; i++) {
		const struct lode_finding_function *kernel = &places->functions[nodes[stacks[i].stack].frame];

		if (!is_work_of_gpu(places, stacks[i].stack))
			continue;
		sum = lode_add_saturating(sum, stacks[i].cost);
		most = kernel->cost > most ? kernel->cost : most;
	}
	return sum > total / 2 && most >= total / 10 && most < total - most;
}

int lode_finding_frame(struct lode_finding_places *places, const struct lode_finding_stack *stacks, size_t count,
		       uint32_t node, uint32_t *frame)
{
	uint64_t total = 0;
	double depth = 0;
	int code = 0;

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
	if (are_kernels(places, stacks, count, total))
		*frame = LODE_NONE;
	if (*frame != LODE_NONE && is_of_library(&places->dictionary->frames, *frame))
		code = prefer_caller(places, stacks, count, total, depth, frame);
	for (size_t i = 0; i < count; i++)
		clear_functions(places, stacks[i].stack);
	return code;
}

uint32_t lode_finding_occurrence(const struct lode_finding_places *places, uint32_t stack, uint32_t frame,
				 uint32_t *callee)
{
	const struct lode_stack_tree *tree = &places->dictionary->tree;
	uint32_t node = stack, nearest = 0;

	*callee = 0;
	for (; node && tree->nodes[node].frame != frame; node = tree->nodes[node].parent) {
		nearest = node;
		if (!places->is_means[tree->nodes[node].frame])
			*callee = node;
	}
	if (is_work_of_gpu(places, stack) && tree->nodes[stack].frame != frame && (node || frame == LODE_NONE))
		*callee = stack;
	else if (!node)
		*callee = 0;
	else if (!*callee)
		*callee = nearest;
	return node;
}
