/*
 * Sums of many streams: see merged_sums.h.
 *
 * This is partition refinement: nodes with the same sums, a chain of a stream or a class of other merged
 * sums, are a group, and meet some classes. A class that is in the group with all its nodes takes the group's sums; of any
 * other the nodes in the group become a separate class first, which begins with the sums so far. All sums are of whole
 * numbers, so that their order does not matter.
 */
#include "latency/merged_sums.h"

#include <string.h>

/* Nodes that get the same sums. */
struct group {
	const uint32_t *members;
	size_t count;
	const struct lode_latency_node *sums; /* but `variance` */
	lode_variance variance;
	const struct lode_sketch_row *row;
};

void lode_merged_sums_release(struct lode_merged_sums *sums)
{
	lode_free(sums->class_of);
	lode_free(sums->classes);
	lode_free(sums->unsure);
	lode_free(sums->members);
	lode_sketch_release(&sums->sketch);
	memset(sums, 0, sizeof(*sums));
}

static lode_variance add_variances(lode_variance a, lode_variance b)
{
	return a + b < a ? ~(lode_variance)0 : a + b;
}

static lode_variance round_variance(double variance)
{
	if (!(variance > 0))
		return 0;
	return variance < 0x1p128 ? (lode_variance)(variance + 0.5) : ~(lode_variance)0;
}

/* All but the variance. */
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
	if (from->gap > to->gap)
		to->gap = from->gap;
}

/* ---- room ---- */

static int cover_nodes(struct lode_merged_sums *sums, size_t count)
{
	if (LODE_GROW(sums->class_of, sums->node_capacity, count) < 0)
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

	if (LODE_GROW(sums->classes, sums->class_capacity, (size_t)cls + 1) < 0 ||
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

/* ---- one group ---- */

/* Begins a turn: counts how many nodes of each class the group has. */
static void count_taken(struct lode_merged_sums *sums, const struct group *group)
{
	sums->turn++;
	for (size_t i = 0; i < group->count; i++) {
		struct lode_sums_class *cls = &sums->classes[sums->class_of[group->members[i]]];

		if (cls->turn != sums->turn) {
			cls->turn = sums->turn;
			cls->taken = 0;
			cls->target = 0;
		}
		cls->taken++;
	}
}

/* The class that takes the group's sums for nodes of `cls` is settled, and has taken them. */
static int settle(struct lode_merged_sums *sums, const struct group *group, uint32_t cls)
{
	uint32_t target = cls;

	if (!cls || sums->classes[cls].taken < sums->classes[cls].size)
		target = new_class(sums, cls);
	if (!target)
		return LODE_SYSTEM;
	sums->classes[cls].target = target;
	add_sums(&sums->classes[target].sums, group->sums);
	sums->classes[target].variance = add_variances(sums->classes[target].variance, group->variance);
	return lode_sketch_merge_row(&sums->sketch, target, group->row);
}

static int add_group(struct lode_merged_sums *sums, const struct group *group)
{
	uint32_t first = sums->class_of[group->members[0]];

	count_taken(sums, group);
	/* Mostly the group is one class. */
	if (first && sums->classes[first].taken == group->count && sums->classes[first].size == group->count)
		return settle(sums, group, first);
	for (size_t i = 0; i < group->count; i++) {
		uint32_t *cls = &sums->class_of[group->members[i]], target;

		if (!sums->classes[*cls].target && settle(sums, group, *cls) < 0)
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

/* The nodes of a chain, from its end. */
static int add_chain(struct lode_merged_sums *sums, const struct lode_latency_partial *partial, uint32_t chain,
		     const uint32_t *nodes)
{
	const struct lode_call_chains *chains = &partial->chains;
	struct group group = {
		.members = sums->members,
		.sums = &partial->nodes[chain],
		.variance = round_variance(partial->nodes[chain].variance),
		.row = &partial->sketch.rows[chain],
	};

	for (uint32_t node = chains->ends[chain]; chains->of[node] == chain;
	     node = partial->dictionary.tree.nodes[node].parent)
		sums->members[group.count++] = nodes[node];
	return add_group(sums, &group);
}

/* ---- the whole ---- */

static int cover_unsure(struct lode_merged_sums *sums)
{
	if (LODE_GROW(sums->unsure, sums->unsure_capacity, sums->node_count) < 0)
		return LODE_SYSTEM;
	memset(sums->unsure + sums->unsure_count, 0,
	       (sums->node_count - sums->unsure_count) * sizeof(*sums->unsure));
	sums->unsure_count = sums->node_count;
	return 0;
}

static int add_unsure(struct lode_merged_sums *sums, const struct lode_latency_partial *partial,
		      const uint32_t *nodes)
{
	if (!partial->unsure)
		return 0;
	if (cover_unsure(sums) < 0)
		return LODE_SYSTEM;
	for (size_t i = 1; i < partial->dictionary.tree.count; i++)
		if (partial->nodes[partial->chains.of[i]].count)
			sums->unsure[nodes[i]] = lode_add_saturating(sums->unsure[nodes[i]], partial->unsure[i]);
	return 0;
}

/* Room for a tree of `count` nodes, and for a group of `most`; the class of nodes without instances. */
static int begin(struct lode_merged_sums *sums, size_t count, size_t most)
{
	if (cover_nodes(sums, count) < 0 || LODE_GROW(sums->members, sums->member_capacity, most) < 0)
		return LODE_SYSTEM;
	return sums->class_count || new_class(sums, 0) ? 0 : LODE_SYSTEM;
}

int lode_merged_sums_add(struct lode_merged_sums *sums, const struct lode_latency_partial *partial,
			 const uint32_t *nodes, size_t count)
{
	int code = begin(sums, count, partial->dictionary.tree.count);

	for (uint32_t chain = 1; !code && chain < partial->chains.count; chain++)
		if (partial->nodes[chain].count)
			code = add_chain(sums, partial, chain, nodes);
	return code ? code : add_unsure(sums, partial, nodes);
}

/* ---- joining ---- */

/*
 * The nodes by class, in `members`, as they are called here: those of class c end before ends[c]. `ends` is for one number more than
 * there are classes, zeroed.
 */
static void sort_nodes(struct lode_merged_sums *sums, const struct lode_merged_sums *from, const uint32_t *nodes,
		       size_t *ends)
{
	for (size_t i = 0; i < from->node_count; i++)
		ends[from->class_of[i] + 1]++;
	for (size_t i = 1; i <= from->class_count; i++)
		ends[i] += ends[i - 1];
	for (size_t i = 0; i < from->node_count; i++)
		sums->members[ends[from->class_of[i]]++] = nodes[i];
}

static int join_unsure(struct lode_merged_sums *sums, const struct lode_merged_sums *from, const uint32_t *nodes)
{
	if (!from->unsure_count)
		return 0;
	if (cover_unsure(sums) < 0)
		return LODE_SYSTEM;
	for (size_t i = 0; i < from->unsure_count; i++)
		sums->unsure[nodes[i]] = lode_add_saturating(sums->unsure[nodes[i]], from->unsure[i]);
	return 0;
}

int lode_merged_sums_join(struct lode_merged_sums *sums, const struct lode_merged_sums *from,
			  const uint32_t *nodes, size_t count)
{
	size_t *ends = lode_calloc(from->class_count + 2, sizeof(*ends));
	int code = ends ? begin(sums, count, from->node_count) : LODE_SYSTEM;

	if (!code && from->class_count)
		sort_nodes(sums, from, nodes, ends);
	for (size_t cls = 1; !code && cls < from->class_count; cls++) {
		struct group group = {
			.members = sums->members + ends[cls - 1],
			.count = ends[cls] - ends[cls - 1],
			.sums = &from->classes[cls].sums,
			.variance = from->classes[cls].variance,
			.row = &from->sketch.rows[cls],
		};

		if (group.count)
			code = add_group(sums, &group);
	}
	lode_free(ends);
	return code ? code : join_unsure(sums, from, nodes);
}

/* ---- the end ---- */

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
		(*nodes)[i].variance = (double)sums->classes[cls].variance;
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
