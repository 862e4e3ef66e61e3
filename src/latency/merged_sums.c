/*
 * Sums of many streams: see merged_sums.h.
 *
 * This is partition refinement: the nodes of a chain meet some classes. A class that is
 * in the chain with all its nodes takes the chain's sums; of any other the nodes in the
 * chain become a class of their own first, which begins with the sums so far. Sums are added
 * in the order of streams for each node, as if it were alone.
 */
#include "latency/merged_sums.h"

#include <string.h>

struct lode_sums_class {
	struct lode_latency_node sums;
	uint32_t size;   /* nodes */
	uint32_t taken;  /* of them in the chain of `turn` */
	uint32_t target; /* the class that takes the sums of this chain; 0: not settled */
	uint64_t turn;
};

void lode_merged_sums_release(struct lode_merged_sums *sums)
{
	lode_free(sums->class_of);
	lode_free(sums->classes);
	lode_free(sums->unsure);
	lode_sketch_release(&sums->sketch);
	memset(sums, 0, sizeof(*sums));
}

static void add_sums(struct lode_latency_node *to, const struct lode_latency_node *from)
{
	to->count += from->count;
	to->conservative = lode_add_saturating(to->conservative, from->conservative);
	to->aggressive = lode_add_saturating(to->aggressive, from->aggressive);
	to->estimate = lode_add_saturating(to->estimate, from->estimate);
	to->waited = lode_add_saturating(to->waited, from->waited);
	to->idle = lode_add_saturating(to->idle, from->idle);
	if (from->longest > to->longest)
		to->longest = from->longest;
	to->variance += from->variance;
	if (from->gap > to->gap)
		to->gap = from->gap;
}

/* ---- room ---- */

static int cover_nodes(struct lode_merged_sums *sums, size_t count)
{
	if (lode_grow(&sums->class_of, &sums->node_capacity, count, sizeof(*sums->class_of)) < 0)
		return LODE_SYSTEM;
	if (count > sums->node_count) {
		memset(sums->class_of + sums->node_count, 0, (count - sums->node_count) * sizeof(*sums->class_of));
		sums->node_count = count;
	}
	return 0;
}

/* A class without nodes that begins as `like`. Returns 0 when memory has run out. */
static uint32_t new_class(struct lode_merged_sums *sums, uint32_t like)
{
	uint32_t cls = (uint32_t)(sums->class_count ? sums->class_count : 1);

	if (lode_grow(&sums->classes, &sums->class_capacity, (size_t)cls + 1, sizeof(*sums->classes)) < 0 ||
	    lode_sketch_reserve(&sums->sketch, (size_t)cls + 1) < 0)
		return 0;
	if (!sums->class_count)
		memset(sums->classes, 0, sizeof(*sums->classes)); /* class 0: nodes without instances */
	sums->classes[cls] = sums->classes[like];
	sums->classes[cls].size = 0;
	sums->class_count = (size_t)cls + 1;
	if (like && lode_sketch_merge_row(&sums->sketch, cls, &sums->sketch.rows[like]) < 0)
		return 0;
	return cls;
}

/* ---- one chain ---- */

/* Begins a turn: counts how many nodes of each class the chain has. Returns how many it has itself. */
static uint32_t count_taken(struct lode_merged_sums *sums, const struct lode_latency_partial *partial,
			    uint32_t chain, const uint32_t *nodes)
{
	const struct lode_call_chains *chains = &partial->chains;
	uint32_t length = 0;

	sums->turn++;
	for (uint32_t node = chains->ends[chain]; chains->of[node] == chain;
	     node = partial->dictionary.tree.nodes[node].parent, length++) {
		struct lode_sums_class *cls = &sums->classes[sums->class_of[nodes[node]]];

		if (cls->turn != sums->turn) {
			cls->turn = sums->turn;
			cls->taken = 0;
			cls->target = 0;
		}
		cls->taken++;
	}
	return length;
}

/* The class that takes the chain's sums for nodes of `cls` is settled, and has taken them. */
static int settle(struct lode_merged_sums *sums, const struct lode_latency_partial *partial, uint32_t chain,
		  uint32_t cls)
{
	uint32_t target = cls;

	if (!cls || sums->classes[cls].taken < sums->classes[cls].size)
		target = new_class(sums, cls);
	if (!target)
		return LODE_SYSTEM;
	sums->classes[cls].target = target;
	add_sums(&sums->classes[target].sums, &partial->nodes[chain]);
	return lode_sketch_merge_row(&sums->sketch, target, &partial->sketch.rows[chain]);
}

static int add_chain(struct lode_merged_sums *sums, const struct lode_latency_partial *partial, uint32_t chain,
		     const uint32_t *nodes)
{
	const struct lode_call_chains *chains = &partial->chains;
	uint32_t length = count_taken(sums, partial, chain, nodes),
		 first = sums->class_of[nodes[chains->ends[chain]]];

	/* Mostly the chain is one class. */
	if (first && sums->classes[first].taken == length && sums->classes[first].size == length)
		return settle(sums, partial, chain, first);
	for (uint32_t node = chains->ends[chain]; chains->of[node] == chain;
	     node = partial->dictionary.tree.nodes[node].parent) {
		uint32_t *cls = &sums->class_of[nodes[node]], target;

		if (!sums->classes[*cls].target && settle(sums, partial, chain, *cls) < 0)
			return LODE_SYSTEM;
		target = sums->classes[*cls].target;
		if (target == *cls)
			continue;
		sums->classes[*cls].size -= *cls != 0;
		sums->classes[target].size++;
		*cls = target;
	}
	return 0;
}

/* ---- the whole ---- */

static int add_unsure(struct lode_merged_sums *sums, const struct lode_latency_partial *partial,
		      const uint32_t *nodes)
{
	if (!partial->unsure)
		return 0;
	if (lode_grow(&sums->unsure, &sums->unsure_capacity, sums->node_count, sizeof(*sums->unsure)) < 0)
		return LODE_SYSTEM;
	memset(sums->unsure + sums->unsure_count, 0,
	       (sums->node_count - sums->unsure_count) * sizeof(*sums->unsure));
	sums->unsure_count = sums->node_count;
	for (size_t i = 1; i < partial->dictionary.tree.count; i++)
		if (partial->nodes[partial->chains.of[i]].count)
			sums->unsure[nodes[i]] = lode_add_saturating(sums->unsure[nodes[i]], partial->unsure[i]);
	return 0;
}

int lode_merged_sums_add(struct lode_merged_sums *sums, const struct lode_latency_partial *partial,
			 const uint32_t *nodes, size_t count)
{
	int code = cover_nodes(sums, count);

	if (!code && !sums->class_count)
		code = new_class(sums, 0) ? 0 : LODE_SYSTEM;
	for (uint32_t chain = 1; !code && chain < partial->chains.count; chain++)
		if (partial->nodes[chain].count)
			code = add_chain(sums, partial, chain, nodes);
	return code ? code : add_unsure(sums, partial, nodes);
}

int lode_merged_sums_finish(struct lode_merged_sums *sums, size_t count, struct lode_latency_node **nodes,
			    struct lode_sketch *sketch)
{
	struct lode_sketch_row *rows = lode_calloc(count, sizeof(*rows));

	*nodes = lode_calloc(count, sizeof(**nodes));
	if (!*nodes || !rows || cover_nodes(sums, count) < 0) {
		lode_free(rows);
		return LODE_SYSTEM;
	}
	for (size_t i = 0; i < count; i++) {
		uint32_t cls = sums->class_of[i];

		if (!cls)
			continue;
		(*nodes)[i] = sums->classes[cls].sums;
		(*nodes)[i].unsure = i < sums->unsure_count ? sums->unsure[i] : 0;
		rows[i] = sums->sketch.rows[cls];
	}
	*sketch = sums->sketch;
	sums->sketch = (struct lode_sketch){ 0 };
	lode_free(sketch->rows);
	sketch->rows = rows;
	sketch->count = sketch->capacity = count;
	return 0;
}
