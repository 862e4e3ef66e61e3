/*
 * Deep starters: see deep_start.h. Both questions are walks in breadth over the
 * function count graph: forward from its roots for distances, backward from a
 * function for the way to it. The edges are laid out by caller or callee first, in
 * an order that does not depend on when samples came in.
 */
#include "hunt/search/deep_start.h"

#include <stdlib.h>
#include <string.h>

/* The edges of a graph by one of their ends: those of node n are at[first[n]] up to at[first[n + 1]]. */
struct adjacency {
	uint32_t *first;
	uint32_t *at; /* edges */
};

struct layout {
	const struct lode_count_graph *graph;
	const struct lode_program *program;
};

/* Which functions count as often seen. */
struct bar {
	double threshold;
	int recently;
};

static const char *name_of(const struct layout *layout, uint32_t node)
{
	return lode_program_function(layout->program, layout->graph->nodes[node].function)->name;
}

static int by_weight_and_caller(const void *a, const void *b, void *context)
{
	const struct layout *layout = context;
	const struct lode_count_edge *x = &layout->graph->edges[*(const uint32_t *)a];
	const struct lode_count_edge *y = &layout->graph->edges[*(const uint32_t *)b];

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return strcmp(name_of(layout, x->caller), name_of(layout, y->caller));
}

static void release(struct adjacency *adjacency)
{
	lode_free(adjacency->first);
	lode_free(adjacency->at);
}

/* Lays the edges out by their caller or, `backward`, by their callee; counting sort. */
static int lay_out(struct adjacency *adjacency, const struct lode_count_graph *graph, int backward)
{
	size_t nodes = graph->node_count;

	adjacency->first = lode_calloc(nodes + 2, sizeof(*adjacency->first));
	adjacency->at = lode_calloc(graph->edge_count + 1, sizeof(*adjacency->at));
	if (!adjacency->first || !adjacency->at) {
		release(adjacency);
		return LODE_SYSTEM;
	}
	for (size_t i = 0; i < graph->edge_count; i++)
		adjacency->first[(backward ? graph->edges[i].callee : graph->edges[i].caller) + 2]++;
	for (size_t n = 2; n < nodes + 2; n++)
		adjacency->first[n] += adjacency->first[n - 1];
	for (size_t i = 0; i < graph->edge_count; i++) {
		uint32_t end = backward ? graph->edges[i].callee : graph->edges[i].caller;

		adjacency->at[adjacency->first[end + 1]++] = (uint32_t)i;
	}
	return 0;
}

/* ---- deep starters ---- */

/* The least number of calls from a root to each node; LODE_NONE where none leads. */
static int measure_depths(const struct lode_count_graph *graph, uint32_t *depths, uint32_t *queue)
{
	struct adjacency calls;
	size_t head = 0, tail = 0;

	if (lay_out(&calls, graph, 0) < 0)
		return LODE_SYSTEM;
	for (uint32_t n = 0; n < graph->node_count; n++) {
		depths[n] = graph->nodes[n].starts ? 0 : LODE_NONE;
		if (graph->nodes[n].starts)
			queue[tail++] = n;
	}
	while (head < tail) {
		uint32_t node = queue[head++];

		for (uint32_t i = calls.first[node]; i < calls.first[node + 1]; i++) {
			uint32_t callee = graph->edges[calls.at[i]].callee;

			if (depths[callee] != LODE_NONE)
				continue;
			depths[callee] = depths[node] + 1;
			queue[tail++] = callee;
		}
	}
	release(&calls);
	return 0;
}

static uint32_t find_set(uint32_t *sets, uint32_t node)
{
	while (sets[node] != node)
		node = sets[node] = sets[sets[node]];
	return node;
}

static int is_above(const struct lode_count_graph *graph, uint32_t node, const struct bar *bar)
{
	return lode_count_share(graph, node) > bar->threshold ||
	       (bar->recently && lode_count_recent_share(graph, node) > bar->threshold);
}

/* Joins callers and callees that are both above the threshold. */
static void join(const struct lode_count_graph *graph, const struct bar *bar, uint32_t *sets)
{
	for (uint32_t n = 0; n < graph->node_count; n++)
		sets[n] = n;
	for (size_t i = 0; i < graph->edge_count; i++) {
		const struct lode_count_edge *edge = &graph->edges[i];

		if (is_above(graph, edge->caller, bar) && is_above(graph, edge->callee, bar))
			sets[find_set(sets, edge->caller)] = find_set(sets, edge->callee);
	}
}

static int is_deeper(const struct layout *layout, const uint32_t *depths, uint32_t node, uint32_t than)
{
	const struct lode_count_node *a = &layout->graph->nodes[node], *b = &layout->graph->nodes[than];

	if (depths[node] != depths[than])
		return depths[node] > depths[than];
	if (a->weight != b->weight)
		return a->weight > b->weight;
	return strcmp(name_of(layout, node), name_of(layout, than)) < 0;
}

static int by_node_weight(const void *a, const void *b, void *context)
{
	const struct layout *layout = context;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (layout->graph->nodes[x].weight != layout->graph->nodes[y].weight)
		return layout->graph->nodes[x].weight > layout->graph->nodes[y].weight ? -1 : 1;
	return strcmp(name_of(layout, x), name_of(layout, y));
}

/* Puts the best node of each set into `best`, by set, and then the sets' bests together at its front. */
static size_t choose(const struct layout *layout, const struct bar *bar, lode_function_test *may, void *context,
		     const uint32_t *depths, uint32_t *sets, uint32_t *best)
{
	const struct lode_count_graph *graph = layout->graph;
	size_t count = 0;

	for (uint32_t n = 0; n < graph->node_count; n++)
		best[n] = LODE_NONE;
	for (uint32_t n = 0; n < graph->node_count; n++) {
		uint32_t set = find_set(sets, n);

		if (!is_above(graph, n, bar) || !may(context, graph->nodes[n].function))
			continue;
		if (best[set] == LODE_NONE || is_deeper(layout, depths, n, best[set]))
			best[set] = n;
	}
	for (uint32_t n = 0; n < graph->node_count; n++)
		if (best[n] != LODE_NONE)
			best[count++] = best[n];
	return count;
}

int lode_deep_starters(const struct lode_count_graph *graph, const struct lode_program *program, double threshold,
		       int recently, lode_function_test *may, void *context, uint32_t **functions, size_t *count)
{
	struct layout layout = { graph, program };
	struct bar bar = { threshold, recently };
	size_t nodes = graph->node_count;
	uint32_t *depths = lode_calloc(nodes + 1, sizeof(*depths)), *sets = lode_calloc(nodes + 1, sizeof(*sets));
	uint32_t *best = lode_calloc(nodes + 1, sizeof(*best));
	int code = depths && sets && best ? measure_depths(graph, depths, sets) : LODE_SYSTEM;

	*functions = NULL;
	*count = 0;
	if (!code) {
		join(graph, &bar, sets);
		*count = choose(&layout, &bar, may, context, depths, sets, best);
		qsort_r(best, *count, sizeof(*best), by_node_weight, &layout);
		for (size_t i = 0; i < *count; i++)
			best[i] = graph->nodes[best[i]].function;
		*functions = best;
		best = NULL;
	}
	lode_free(depths);
	lode_free(sets);
	lode_free(best);
	return code;
}

/* ---- what roots lead to ---- */

/* Puts the roots that were seen into the queue and marks them. Returns how many. */
static size_t enter_roots(const struct lode_count_graph *graph, const uint32_t *roots, size_t count, char *marks,
			  uint32_t *queue)
{
	size_t tail = 0;

	for (size_t i = 0; i < count; i++) {
		uint32_t node = lode_count_node_find(graph, roots[i]);

		if (node == LODE_NONE || marks[node])
			continue;
		marks[node] = 1;
		queue[tail++] = node;
	}
	return tail;
}

char *lode_deep_reach(const struct lode_count_graph *graph, const uint32_t *roots, size_t count)
{
	struct adjacency calls = { 0 };
	char *marks = lode_calloc(graph->node_count + 1, 1);
	uint32_t *queue = lode_calloc(graph->node_count + 1, sizeof(*queue));
	size_t head = 0, tail;

	if (!marks || !queue || lay_out(&calls, graph, 0) < 0) {
		lode_free(marks);
		lode_free(queue);
		return NULL;
	}
	tail = enter_roots(graph, roots, count, marks, queue);
	if (!tail)
		memset(marks, 1, graph->node_count);
	while (head < tail) {
		uint32_t node = queue[head++];

		for (uint32_t i = calls.first[node]; i < calls.first[node + 1]; i++) {
			uint32_t callee = graph->edges[calls.at[i]].callee;

			if (marks[callee])
				continue;
			marks[callee] = 1;
			queue[tail++] = callee;
		}
	}
	release(&calls);
	lode_free(queue);
	return marks;
}

/* ---- the way to one ---- */

/* Walks backward from `start` until `known` is found; `next[n]` is the node behind n. Returns where it ended.
 */
static uint32_t walk_back(const struct layout *layout, struct adjacency *callers, uint32_t start,
			  lode_function_test *known, void *context, uint32_t *next, uint32_t *queue)
{
	const struct lode_count_graph *graph = layout->graph;
	uint32_t root = LODE_NONE;
	size_t head = 0, tail = 0;

	for (uint32_t n = 0; n < graph->node_count; n++)
		next[n] = LODE_NONE;
	next[start] = start;
	queue[tail++] = start;
	while (head < tail) {
		uint32_t node = queue[head++], first = callers->first[node], end = callers->first[node + 1];

		if (node != start && known(context, graph->nodes[node].function))
			return node;
		if (root == LODE_NONE && graph->nodes[node].starts)
			root = node;
		qsort_r(callers->at + first, end - first, sizeof(*callers->at), by_weight_and_caller,
			&(struct layout){ graph, layout->program });
		for (uint32_t i = first; i < end; i++) {
			uint32_t caller = graph->edges[callers->at[i]].caller;

			if (next[caller] != LODE_NONE)
				continue;
			next[caller] = node;
			queue[tail++] = caller;
		}
	}
	return root;
}

int lode_deep_path(const struct lode_count_graph *graph, const struct lode_program *program, uint32_t function,
		   lode_function_test *known, void *context, uint32_t **path, size_t *count)
{
	struct layout layout = { graph, program };
	uint32_t start = lode_count_node_find(graph, function), node;
	size_t nodes = graph->node_count;
	uint32_t *next, *queue;
	struct adjacency callers;

	*path = NULL;
	*count = 0;
	if (start == LODE_NONE)
		return 0;
	if (lay_out(&callers, graph, 1) < 0)
		return LODE_SYSTEM;
	next = lode_calloc(nodes, sizeof(*next));
	queue = lode_calloc(nodes, sizeof(*queue));
	if (next && queue) {
		node = walk_back(&layout, &callers, start, known, context, next, queue);
		for (; node != start && node != LODE_NONE; node = next[node])
			queue[(*count)++] = graph->nodes[node].function;
		queue[(*count)++] = function;
		*path = queue;
	} else {
		lode_free(queue);
	}
	lode_free(next);
	release(&callers);
	return *path ? 0 : LODE_SYSTEM;
}
