/*
 * Classes of stacks: see coverage_classes.h.
 *
 * Signature by signature the stacks it matches are marked, and each marked stack
 * moves on from its class to that class's child for this signature. Then rows of
 * the area are sorted by class once, and what a signature costs in each stream is
 * summed over the rows of its classes only.
 */
#include "mine/coverage_classes.h"

#include "mine/matching_stacks.h"

#include <stdlib.h>
#include <string.h>

/* ---- classes of stacks ---- */

/* Moves the marked stacks on to the classes that this item matches, too. */
static int refine(struct lode_coverage_classes *classes, unsigned kinds, uint32_t item, const uint8_t *marks,
		  size_t nodes)
{
	for (int kind = 0; kind < LODE_AREA_KINDS; kind++) {
		uint32_t *of_node = classes->of_node[kind];

		for (size_t node = 0; kinds & 1u << kind && node < nodes; node++) {
			if (!marks[node])
				continue;
			of_node[node] = lode_stack_tree_child(&classes->tree, of_node[node], item);
			if (of_node[node] == LODE_NONE)
				return LODE_SYSTEM;
		}
	}
	return 0;
}

static int classify(struct lode_coverage_classes *classes, const struct lode_area *area,
		    const struct lode_signatures *signatures, const struct lode_covering *items,
		    const struct lode_matcher *matcher)
{
	size_t nodes = area->dictionary.tree.count;
	struct lode_patterns patterns = { 0 };
	uint8_t *marks = lode_alloc(nodes);
	size_t *starts;
	int code = lode_signatures_translate(signatures, &area->dictionary.frames, &patterns, &starts);

	if (!marks)
		code = LODE_SYSTEM;
	for (uint32_t i = 0; !code && i < classes->count; i++) {
		size_t s = items[i].signature;

		memset(marks, 0, nodes);
		code = lode_matching_stacks_add(matcher, &patterns, starts[s], starts[s + 1] - starts[s], marks);
		if (!code)
			code = refine(classes, signatures->items[s].kinds, i, marks, nodes);
	}
	lode_patterns_release(&patterns);
	lode_free(starts);
	lode_free(marks);
	return code;
}

static int make_classes(struct lode_coverage_classes *classes, const struct lode_area *area,
			const struct lode_signatures *signatures, const struct lode_covering *items)
{
	size_t nodes = area->dictionary.tree.count;
	struct lode_matcher matcher = { 0 };
	int code = lode_stack_tree_init(&classes->tree);

	for (int kind = 0; kind < LODE_AREA_KINDS; kind++)
		classes->of_node[kind] = lode_calloc(nodes, sizeof(uint32_t));
	if (!classes->of_node[LODE_RUN] || !classes->of_node[LODE_WAIT])
		code = LODE_SYSTEM;
	if (!code)
		code = lode_matcher_init(&matcher, &area->dictionary.tree, area->dictionary.frames.count);
	if (!code)
		code = classify(classes, area, signatures, items, &matcher);
	lode_matcher_release(&matcher);
	return code;
}

/* ---- what classes cost, and the classes of each item ---- */

static int sum_classes(struct lode_coverage_classes *classes, const struct lode_area *area)
{
	classes->cost = lode_calloc(classes->tree.count, sizeof(*classes->cost));
	classes->events = lode_calloc(classes->tree.count, sizeof(*classes->events));
	if (!classes->cost || !classes->events)
		return LODE_SYSTEM;
	for (int kind = 0; kind < LODE_AREA_KINDS; kind++)
		for (size_t i = 0; i < area->rows[kind].count; i++) {
			const struct lode_area_row *row = &area->rows[kind].items[i];
			uint32_t cls = classes->of_node[kind][row->stack];

			classes->cost[cls] = lode_add_saturating(classes->cost[cls], row->cost);
			classes->events[cls] = lode_add_saturating(classes->events[cls], row->events);
		}
	return 0;
}

/* Lists for each item the classes that it is in: once to count, once to write. */
static int list_members(struct lode_coverage_classes *classes)
{
	const struct lode_stack_tree *tree = &classes->tree;
	size_t *next = lode_calloc(classes->count + 1, sizeof(*next));

	classes->starts = lode_calloc(classes->count + 2, sizeof(*classes->starts));
	if (!next || !classes->starts)
		goto fail;
	for (size_t cls = 1; cls < tree->count; cls++)
		for (uint32_t at = (uint32_t)cls; at; at = tree->nodes[at].parent)
			classes->starts[tree->nodes[at].frame + 1]++;
	for (size_t i = 0; i < classes->count; i++) {
		classes->starts[i + 1] += classes->starts[i];
		next[i] = classes->starts[i];
	}
	classes->members = lode_calloc(classes->starts[classes->count] + 1, sizeof(*classes->members));
	if (!classes->members)
		goto fail;
	for (size_t cls = 1; cls < tree->count; cls++)
		for (uint32_t at = (uint32_t)cls; at; at = tree->nodes[at].parent)
			classes->members[next[tree->nodes[at].frame]++] = (uint32_t)cls;
	lode_free(next);
	return 0;
fail:
	lode_free(next);
	return LODE_SYSTEM;
}

/* ---- items in streams ---- */

/* Rows of the area by class. */
struct sorted_rows {
	size_t *starts; /* by class, one more */
	const struct lode_area_row **rows;
	uint8_t *kinds; /* parallel to them */
};

static void sorted_rows_release(struct sorted_rows *sorted)
{
	lode_free(sorted->starts);
	lode_free(sorted->rows);
	lode_free(sorted->kinds);
}

static void place_rows(struct sorted_rows *sorted, size_t *next, const struct lode_coverage_classes *classes,
		       const struct lode_area *area)
{
	for (int kind = 0; kind < LODE_AREA_KINDS; kind++)
		for (size_t i = 0; i < area->rows[kind].count; i++) {
			const struct lode_area_row *row = &area->rows[kind].items[i];
			uint32_t cls = classes->of_node[kind][row->stack];
			size_t at;

			if (!cls)
				continue;
			at = next[cls]++;
			sorted->rows[at] = row;
			sorted->kinds[at] = (uint8_t)kind;
		}
}

static int sort_rows(struct sorted_rows *sorted, const struct lode_coverage_classes *classes,
		     const struct lode_area *area)
{
	size_t count = classes->tree.count, *next = lode_calloc(count + 1, sizeof(*next));

	sorted->starts = lode_calloc(count + 1, sizeof(*sorted->starts));
	if (!next || !sorted->starts)
		goto fail;
	for (int kind = 0; kind < LODE_AREA_KINDS; kind++)
		for (size_t i = 0; i < area->rows[kind].count; i++)
			sorted->starts[classes->of_node[kind][area->rows[kind].items[i].stack] + 1]++;
	sorted->starts[1] = 0; /* those of class 0 are not kept */
	for (size_t cls = 1; cls < count; cls++) {
		sorted->starts[cls + 1] += sorted->starts[cls];
		next[cls] = sorted->starts[cls];
	}
	sorted->rows = lode_calloc(sorted->starts[count] + 1, sizeof(*sorted->rows));
	sorted->kinds = lode_alloc(sorted->starts[count] + 1);
	if (!sorted->rows || !sorted->kinds)
		goto fail;
	place_rows(sorted, next, classes, area);
	lode_free(next);
	return 0;
fail:
	lode_free(next);
	return LODE_SYSTEM;
}

/* Adds up the rows of an item's classes by stream. `by_stream` is zero before and after. */
static int add_revealings(struct lode_coverage_classes *classes, uint32_t item, const struct sorted_rows *sorted,
			  struct lode_revealing *by_stream, size_t streams)
{
	for (size_t m = classes->starts[item]; m < classes->starts[item + 1]; m++) {
		uint32_t cls = classes->members[m];

		for (size_t i = sorted->starts[cls]; i < sorted->starts[cls + 1]; i++) {
			struct lode_revealing *sum = &by_stream[sorted->rows[i]->stream];
			uint64_t *cost = &sum->cost[sorted->kinds[i]];

			*cost = lode_add_saturating(*cost, sorted->rows[i]->cost);
			sum->events = lode_add_saturating(sum->events, sorted->rows[i]->events);
		}
	}
	for (uint32_t stream = 0; stream < streams; stream++) {
		if (!by_stream[stream].events)
			continue;
		if (LODE_GROW(classes->revealings, classes->revealing_capacity, classes->revealing_count + 1) < 0)
			return LODE_SYSTEM;
		by_stream[stream].stream = stream;
		by_stream[stream].item = item;
		classes->revealings[classes->revealing_count++] = by_stream[stream];
		memset(&by_stream[stream], 0, sizeof(by_stream[stream]));
	}
	return 0;
}

static int list_revealings(struct lode_coverage_classes *classes, const struct lode_area *area)
{
	struct lode_revealing *by_stream = lode_calloc(area->stream_count + 1, sizeof(*by_stream));
	struct sorted_rows sorted = { 0 };
	int code;

	classes->item_starts = lode_calloc(classes->count + 1, sizeof(*classes->item_starts));
	code = by_stream && classes->item_starts ? sort_rows(&sorted, classes, area) : LODE_SYSTEM;
	for (uint32_t item = 0; !code && item < classes->count; item++) {
		code = add_revealings(classes, item, &sorted, by_stream, area->stream_count);
		classes->item_starts[item + 1] = classes->revealing_count;
	}
	sorted_rows_release(&sorted);
	lode_free(by_stream);
	return code;
}

/* The same by stream; items rise in each, because they come in order. */
static int sort_by_stream(struct lode_coverage_classes *classes, size_t streams)
{
	size_t *next = lode_calloc(streams + 1, sizeof(*next));

	classes->stream_starts = lode_calloc(streams + 2, sizeof(*classes->stream_starts));
	classes->by_stream = lode_calloc(classes->revealing_count + 1, sizeof(*classes->by_stream));
	if (!next || !classes->stream_starts || !classes->by_stream) {
		lode_free(next);
		return LODE_SYSTEM;
	}
	for (size_t i = 0; i < classes->revealing_count; i++)
		classes->stream_starts[classes->revealings[i].stream + 1]++;
	for (size_t i = 0; i < streams; i++) {
		classes->stream_starts[i + 1] += classes->stream_starts[i];
		next[i] = classes->stream_starts[i];
	}
	for (size_t i = 0; i < classes->revealing_count; i++)
		classes->by_stream[next[classes->revealings[i].stream]++] = (uint32_t)i;
	lode_free(next);
	return 0;
}

/* ---- items ---- */

static void sum_items(const struct lode_coverage_classes *classes, struct lode_covering *items)
{
	for (size_t i = 0; i < classes->revealing_count; i++) {
		const struct lode_revealing *revealing = &classes->revealings[i];
		struct lode_covering *item = &items[revealing->item];

		for (int kind = 0; kind < LODE_AREA_KINDS; kind++)
			item->cost[kind] = lode_add_saturating(item->cost[kind], revealing->cost[kind]);
		item->events = lode_add_saturating(item->events, revealing->events);
		item->streams++;
	}
}

/* What an item is ordered by. */
struct place {
	uint64_t cost;
	const char *name;
	uint32_t item;
};

static int compare_places(const void *left, const void *right)
{
	const struct place *a = left, *b = right;

	if (a->cost != b->cost)
		return a->cost > b->cost ? -1 : 1;
	return strcmp(a->name, b->name);
}

static int put_in_order(struct lode_coverage_classes *classes, const struct lode_signatures *signatures,
			const struct lode_covering *items)
{
	struct place *places = lode_calloc(classes->count + 1, sizeof(*places));

	classes->by_cost = lode_calloc(classes->count + 1, sizeof(*classes->by_cost));
	classes->rank = lode_calloc(classes->count + 1, sizeof(*classes->rank));
	if (!places || !classes->by_cost || !classes->rank) {
		lode_free(places);
		return LODE_SYSTEM;
	}
	for (uint32_t i = 0; i < classes->count; i++)
		places[i] = (struct place){
			.cost = lode_add_saturating(items[i].cost[LODE_RUN], items[i].cost[LODE_WAIT]),
			.name = signatures->items[items[i].signature].name,
			.item = i,
		};
	qsort(places, classes->count, sizeof(*places), compare_places);
	for (uint32_t i = 0; i < classes->count; i++) {
		classes->by_cost[i] = places[i].item;
		classes->rank[places[i].item] = i;
	}
	lode_free(places);
	return 0;
}

int lode_coverage_classes_make(struct lode_coverage_classes *classes, const struct lode_area *area,
			       const struct lode_signatures *signatures, struct lode_covering *items, size_t count)
{
	int code;

	classes->count = count;
	code = make_classes(classes, area, signatures, items);
	if (!code)
		code = sum_classes(classes, area);
	if (!code)
		code = list_members(classes);
	if (!code)
		code = list_revealings(classes, area);
	if (!code)
		code = sort_by_stream(classes, area->stream_count);
	if (!code)
		sum_items(classes, items);
	return code ? code : put_in_order(classes, signatures, items);
}

void lode_coverage_classes_release(struct lode_coverage_classes *classes)
{
	lode_stack_tree_release(&classes->tree);
	lode_free(classes->of_node[LODE_RUN]);
	lode_free(classes->of_node[LODE_WAIT]);
	lode_free(classes->cost);
	lode_free(classes->events);
	lode_free(classes->starts);
	lode_free(classes->members);
	lode_free(classes->revealings);
	lode_free(classes->item_starts);
	lode_free(classes->by_stream);
	lode_free(classes->stream_starts);
	lode_free(classes->by_cost);
	lode_free(classes->rank);
	memset(classes, 0, sizeof(*classes));
}

/* ---- what is covered ---- */

int lode_covered_init(struct lode_covered *covered, const struct lode_coverage_classes *classes)
{
	memset(covered, 0, sizeof(*covered));
	covered->items = lode_calloc(classes->count + 1, 1);
	covered->classes = lode_calloc(classes->tree.count, 1);
	covered->left = classes->count;
	return covered->items && covered->classes ? 0 : LODE_SYSTEM;
}

void lode_covered_clear(struct lode_covered *covered, const struct lode_coverage_classes *classes)
{
	memset(covered->items, 0, classes->count + 1);
	memset(covered->classes, 0, classes->tree.count);
	covered->left = classes->count;
	covered->cost = covered->events = 0;
}

void lode_covered_release(struct lode_covered *covered)
{
	lode_free(covered->items);
	lode_free(covered->classes);
	memset(covered, 0, sizeof(*covered));
}

int lode_covered_reveal(struct lode_covered *covered, const struct lode_coverage_classes *classes, uint32_t item)
{
	if (covered->items[item])
		return 0;
	covered->items[item] = 1;
	covered->left--;
	for (size_t i = classes->starts[item]; i < classes->starts[item + 1]; i++) {
		uint32_t cls = classes->members[i];

		if (covered->classes[cls])
			continue;
		covered->classes[cls] = 1;
		covered->cost = lode_add_saturating(covered->cost, classes->cost[cls]);
		covered->events = lode_add_saturating(covered->events, classes->events[cls]);
	}
	return 1;
}
