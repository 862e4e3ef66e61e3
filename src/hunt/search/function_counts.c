/*
 * Function count graph: see function_counts.h. Nodes and edges are found by hash. Each has
 * the number of the sample that touched it last, so that a function or a
 * call counts once per sample without a look back over the stack.
 */
#include "hunt/search/function_counts.h"

#include <math.h>
#include <string.h>

enum level { WHOLE, HOST, PROCESS, THREAD, LEVELS };

struct lode_count_scope {
	enum lode_hypothesis kind;
	enum level level;
	int modules; /* it counts modules */
	uint32_t number;
	struct lode_count_graph graph;
	uint64_t *node_marks; /* number of the sample that touched it last, from 1 */
	size_t node_marks_capacity;
	uint64_t *edge_marks;
	size_t edge_marks_capacity;
};

static void release_scope(struct lode_count_scope *scope)
{
	lode_free(scope->graph.nodes);
	lode_free(scope->graph.edges);
	lode_index_release(&scope->graph.node_index);
	lode_index_release(&scope->graph.edge_index);
	lode_free(scope->node_marks);
	lode_free(scope->edge_marks);
}

void lode_counts_release(struct lode_counts *counts)
{
	for (size_t i = 0; i < counts->count; i++)
		release_scope(&counts->scopes[i]);
	lode_free(counts->scopes);
	lode_index_release(&counts->index);
	memset(counts, 0, sizeof(*counts));
}

/* ---- scopes ---- */

static uint64_t scope_hash(enum lode_hypothesis kind, enum level level, int modules, uint32_t number)
{
	return lode_hash_pair(((uint32_t)kind * LEVELS + (uint32_t)level) * 2 + (uint32_t)modules, number);
}

static struct lode_count_scope *find_scope(const struct lode_counts *counts, enum lode_hypothesis kind,
					   enum level level, int modules, uint32_t number)
{
	uint64_t hash = scope_hash(kind, level, modules, number);
	uint32_t id = LODE_INDEX_FIND(i, &counts->index, hash,
				      counts->scopes[i].kind == kind && counts->scopes[i].level == level &&
					      counts->scopes[i].modules == modules &&
					      counts->scopes[i].number == number);

	return id == LODE_NONE ? NULL : &counts->scopes[id];
}

/* The scope, made if new; NULL when memory has run out. */
static struct lode_count_scope *get_scope(struct lode_counts *counts, enum lode_hypothesis kind, enum level level,
					  int modules, uint32_t number)
{
	struct lode_count_scope *scope = find_scope(counts, kind, level, modules, number);

	if (scope)
		return scope;
	if (LODE_INDEX_APPEND(&counts->index, scope_hash(kind, level, modules, number), counts->scopes,
			      counts->count, counts->capacity,
			      (struct lode_count_scope){ .kind = kind,
							 .level = level,
							 .modules = modules,
							 .number = number }) < 0)
		return NULL;
	return &counts->scopes[counts->count - 1];
}

static const struct lode_count_graph *find_graph(const struct lode_counts *counts, enum lode_hypothesis kind,
						 const struct lode_focus *focus, int modules)
{
	enum level level = focus->thread != LODE_NONE    ? THREAD
			   : focus->process != LODE_NONE ? PROCESS
			   : focus->host != LODE_NONE    ? HOST
							 : WHOLE;
	const uint32_t numbers[LEVELS] = { 0, focus->host, focus->process, focus->thread };
	const struct lode_count_scope *scope = find_scope(counts, kind, level, modules, numbers[level]);

	return scope ? &scope->graph : NULL;
}

const struct lode_count_graph *lode_counts_graph(const struct lode_counts *counts, enum lode_hypothesis kind,
						 const struct lode_focus *focus)
{
	return find_graph(counts, kind, focus, 0);
}

const struct lode_count_graph *lode_counts_modules(const struct lode_counts *counts, enum lode_hypothesis kind,
						   const struct lode_focus *focus)
{
	return find_graph(counts, kind, focus, 1);
}

/* ---- nodes and edges ---- */

uint32_t lode_count_node_find(const struct lode_count_graph *graph, uint32_t function)
{
	return LODE_INDEX_FIND(i, &graph->node_index, lode_hash_pair(function, 0),
			       graph->nodes[i].function == function);
}

static uint32_t get_node(struct lode_count_scope *scope, uint32_t function)
{
	struct lode_count_graph *graph = &scope->graph;
	uint32_t id = lode_count_node_find(graph, function);
	size_t needed = graph->node_count + 1;

	if (id != LODE_NONE)
		return id;
	if (LODE_GROW(graph->nodes, graph->node_capacity, needed) < 0 ||
	    LODE_GROW(scope->node_marks, scope->node_marks_capacity, needed) < 0 ||
	    lode_index_insert(&graph->node_index, lode_hash_pair(function, 0), (uint32_t)graph->node_count) < 0)
		return LODE_NONE;
	id = (uint32_t)graph->node_count++;
	graph->nodes[id] = (struct lode_count_node){ .function = function };
	scope->node_marks[id] = 0;
	return id;
}

static uint32_t get_edge(struct lode_count_scope *scope, uint32_t caller, uint32_t callee)
{
	struct lode_count_graph *graph = &scope->graph;
	uint64_t hash = lode_hash_pair(caller, callee);
	size_t needed = graph->edge_count + 1;
	uint32_t id = LODE_INDEX_FIND(i, &graph->edge_index, hash,
				      graph->edges[i].caller == caller && graph->edges[i].callee == callee);

	if (id != LODE_NONE)
		return id;
	if (LODE_GROW(graph->edges, graph->edge_capacity, needed) < 0 ||
	    LODE_GROW(scope->edge_marks, scope->edge_marks_capacity, needed) < 0 ||
	    lode_index_insert(&graph->edge_index, hash, (uint32_t)graph->edge_count) < 0)
		return LODE_NONE;
	id = (uint32_t)graph->edge_count++;
	graph->edges[id] = (struct lode_count_edge){ .caller = caller, .callee = callee };
	scope->edge_marks[id] = 0;
	return id;
}

/* ---- counting ---- */

/* What is left of a recent weight after some looks. */
static double fade(double recent, uint64_t looks)
{
	return looks ? recent * exp2(-(double)looks / LODE_COUNT_HALVES) : recent;
}

double lode_count_share(const struct lode_count_graph *graph, uint32_t node)
{
	return graph->weight ? (double)graph->nodes[node].weight / (double)graph->weight : 0;
}

double lode_count_recent_share(const struct lode_count_graph *graph, uint32_t node)
{
	const struct lode_count_node *it = &graph->nodes[node];

	return graph->recent > 0 ? fade(it->recent, graph->look - it->look) / graph->recent : 0;
}

static int count_node(struct lode_count_scope *scope, uint32_t function, const struct lode_meter_sample *sample,
		      uint32_t *id)
{
	struct lode_count_node *node;

	*id = get_node(scope, function);
	if (*id == LODE_NONE)
		return LODE_SYSTEM;
	if (scope->node_marks[*id] == scope->graph.samples)
		return 0;
	scope->node_marks[*id] = scope->graph.samples;
	node = &scope->graph.nodes[*id];
	node->count++;
	node->weight += sample->weight;
	node->cut += sample->cut ? sample->weight : 0;
	node->recent = fade(node->recent, scope->graph.look - node->look) + (double)sample->weight;
	node->look = scope->graph.look;
	return 0;
}

static int count_edge(struct lode_count_scope *scope, uint32_t caller, uint32_t callee, uint64_t weight)
{
	uint32_t id = get_edge(scope, caller, callee);

	if (id == LODE_NONE)
		return LODE_SYSTEM;
	if (scope->edge_marks[id] == scope->graph.samples)
		return 0;
	scope->edge_marks[id] = scope->graph.samples;
	scope->graph.edges[id].count++;
	scope->graph.edges[id].weight += weight;
	return 0;
}

static void count_whole(struct lode_count_graph *graph, const struct lode_meter_sample *sample, uint64_t look)
{
	graph->samples++; /* marks are numbers of samples, from 1 */
	graph->weight += sample->weight;
	graph->cut += sample->cut ? sample->weight : 0;
	graph->drawn += sample->drawn != 0;
	graph->drawn_weight += sample->drawn ? sample->weight : 0;
	graph->recent = fade(graph->recent, look - graph->look) + (double)sample->weight;
	graph->look = look;
}

static int count_in_scope(struct lode_count_scope *scope, const struct lode_meter_sample *sample, uint64_t look)
{
	uint32_t caller = LODE_NONE, id;

	count_whole(&scope->graph, sample, look);
	for (size_t i = 0; i < sample->depth; i++) {
		if (count_node(scope, sample->functions[i], sample, &id) < 0)
			return LODE_SYSTEM;
		if (!i)
			scope->graph.nodes[id].starts++;
		else if (count_edge(scope, caller, id, sample->weight) < 0)
			return LODE_SYSTEM;
		caller = id;
	}
	return 0;
}

static int count_in_all(struct lode_counts *counts, const struct lode_meter_sample *sample, int modules)
{
	const uint32_t numbers[LEVELS] = { 0, sample->host, sample->process, sample->thread };

	for (int level = 0; level < LEVELS; level++) {
		struct lode_count_scope *scope =
			get_scope(counts, sample->counts, (enum level)level, modules, numbers[level]);

		if (!scope || count_in_scope(scope, sample, counts->look) < 0)
			return LODE_SYSTEM;
	}
	return 0;
}

int lode_counts_add(struct lode_counts *counts, const struct lode_meter_sample *sample)
{
	struct lode_meter_sample any = *sample;

	counts->samples++;
	any.counts = LODE_COUNT_ALL;
	if (counts->all_kinds && count_in_all(counts, &any, 0) < 0)
		return LODE_SYSTEM;
	return count_in_all(counts, sample, 0);
}

int lode_counts_add_module(struct lode_counts *counts, const struct lode_meter_sample *sample, uint32_t module)
{
	struct lode_meter_sample one = *sample;

	one.functions = &module;
	one.depth = 1;
	one.cut = 0; /* stacks are cut at the other end */
	return count_in_all(counts, &one, 1);
}
