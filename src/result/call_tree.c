/*
 * Call tree: see call_tree.h.
 *
 * A parent's number is smaller than its children's: one pass up the tree gives whole
 * latencies, and sorting what is costly by parent and cost puts siblings together.
 */
#include "result/call_tree.h"

#include "base/error.h"
#include "base/memory.h"
#include "latency/code_layer.h"
#include "trace/events.h"

#include <stdlib.h>
#include <string.h>

/* Children of `node` are children[starts[node]] to children[starts[node + 1] - 1]. */
struct work {
	struct lode_call_tree *tree;
	const struct lode_call_tree_input *input;
	uint64_t *whole[LODE_SIDES]; /* by node */
	uint32_t *children;          /* costly nodes */
	size_t child_count;
	size_t *starts;
	struct lode_call_tree_item *open; /* items that are to come, the next one last */
	size_t open_count;
	size_t open_capacity;
};

static uint64_t own_of(const struct lode_call_tree_input *input, int side, uint32_t node)
{
	if (!input->own[side] || (input->fits && !input->fits[node]))
		return 0;
	return input->own[side][node];
}

static uint64_t cost_of(const struct work *work, uint32_t node)
{
	uint64_t base = work->whole[LODE_SIDE_BASE][node], slow = work->whole[LODE_SIDE_SLOW][node];

	return base > slow ? base : slow;
}

static int is_costly(const struct work *work, uint32_t node)
{
	uint64_t cost = cost_of(work, node);

	return cost && cost >= work->input->least;
}

/* ---- what is costly ---- */

static int add_up(struct work *work)
{
	const struct lode_stack_tree *tree = &work->input->dictionary->tree;
	size_t count = work->input->node_count;

	for (int side = 0; side < LODE_SIDES; side++) {
		work->whole[side] = lode_calloc(count, sizeof(**work->whole));
		if (!work->whole[side])
			return LODE_SYSTEM;
		for (size_t i = count; i-- > 1;) {
			uint64_t *whole = &work->whole[side][i],
				 *parent = &work->whole[side][tree->nodes[i].parent];

			*whole = lode_add_saturating(*whole, own_of(work->input, side, (uint32_t)i));
			*parent = lode_add_saturating(*parent, *whole);
		}
		work->tree->whole[side] = work->whole[side][0];
	}
	return 0;
}

static int compare(const void *left, const void *right, void *context)
{
	const struct work *work = context;
	const struct lode_stack_node *nodes = work->input->dictionary->tree.nodes;
	uint32_t a, b;

	memcpy(&a, left, sizeof(a));
	memcpy(&b, right, sizeof(b));
	if (nodes[a].parent != nodes[b].parent)
		return nodes[a].parent < nodes[b].parent ? -1 : 1;
	if (cost_of(work, a) != cost_of(work, b))
		return cost_of(work, a) > cost_of(work, b) ? -1 : 1;
	return a < b ? -1 : a > b;
}

static int find_children(struct work *work)
{
	const struct lode_stack_node *nodes = work->input->dictionary->tree.nodes;
	size_t count = work->input->node_count;

	work->children = lode_calloc(count, sizeof(*work->children));
	work->starts = lode_calloc(count + 1, sizeof(*work->starts));
	if (!work->children || !work->starts)
		return LODE_SYSTEM;
	for (uint32_t i = 1; i < count; i++) {
		work->tree->contexts += cost_of(work, i) > 0;
		if (!is_costly(work, i))
			continue;
		work->children[work->child_count++] = i;
		work->starts[nodes[i].parent + 1]++;
	}
	for (size_t i = 0; i < count; i++)
		work->starts[i + 1] += work->starts[i];
	if (work->child_count)
		qsort_r(work->children, work->child_count, sizeof(*work->children), compare, work);
	return 0;
}

/* ---- folding ---- */

/* What callees of `node` that are left out take, a side. */
static void rest_of(const struct work *work, uint32_t node, uint64_t rest[LODE_SIDES])
{
	for (int side = 0; side < LODE_SIDES; side++) {
		uint64_t known = node ? own_of(work->input, side, node) : 0;

		for (size_t i = work->starts[node]; i < work->starts[node + 1]; i++)
			known = lode_add_saturating(known, work->whole[side][work->children[i]]);
		rest[side] = work->whole[side][node] > known ? work->whole[side][node] - known : 0;
	}
}

/* Whether nothing but its one costly callee is worth showing of `node`. */
static int is_way(const struct work *work, uint32_t node)
{
	const struct lode_call_tree_input *input = work->input;
	uint64_t rest[LODE_SIDES];
	uint32_t callee;

	if (input->unfolded || work->starts[node + 1] - work->starts[node] != 1)
		return 0;
	callee = work->children[work->starts[node]];
	if (node == input->cause || callee == input->cause ||
	    (input->known && input->known[node] != input->known[callee]))
		return 0;
	/* Where the program's own functions end is the place to look at. */
	if (!lode_layer_is_machinery(input->dictionary, node) && lode_layer_is_machinery(input->dictionary, callee))
		return 0;
	rest_of(work, node, rest);
	for (int side = 0; side < LODE_SIDES; side++)
		if (own_of(input, side, node) >= input->least || rest[side] >= input->least)
			return 0;
	return 1;
}

static struct lode_call_tree_item make_item(const struct work *work, uint32_t node, uint32_t depth)
{
	struct lode_call_tree_item item = { .first = node, .last = node, .length = 1, .depth = depth };

	for (int side = 0; side < LODE_SIDES; side++) {
		item.whole[side] = work->whole[side][node];
		item.own[side] = own_of(work->input, side, node);
	}
	while (is_way(work, item.last)) {
		item.last = work->children[work->starts[item.last]];
		item.length++;
		for (int side = 0; side < LODE_SIDES; side++)
			item.own[side] = lode_add_saturating(item.own[side], own_of(work->input, side, item.last));
	}
	rest_of(work, item.last, item.rest);
	return item;
}

/* How many callees of each item's last function take any time but too little. */
static void count_hidden(const struct work *work)
{
	const struct lode_stack_node *nodes = work->input->dictionary->tree.nodes;
	uint32_t *hidden = work->children; /* no longer needed; as long as there are nodes */

	memset(hidden, 0, work->input->node_count * sizeof(*hidden));
	for (uint32_t i = 1; i < work->input->node_count; i++)
		if (cost_of(work, i) && !is_costly(work, i))
			hidden[nodes[i].parent]++;
	for (size_t i = 0; i < work->tree->count; i++)
		work->tree->items[i].hidden = hidden[work->tree->items[i].last];
}

/* ---- callers before callees ---- */

/* The callees of `node`, the costliest to be taken next. */
static int open_children(struct work *work, uint32_t node, uint32_t depth)
{
	size_t first = work->starts[node], end = work->starts[node + 1];

	if (LODE_GROW(work->open, work->open_capacity, work->open_count + (end - first)) < 0)
		return LODE_SYSTEM;
	for (size_t i = end; i-- > first;)
		work->open[work->open_count++] = make_item(work, work->children[i], depth);
	return 0;
}

static int list_items(struct work *work)
{
	struct lode_call_tree *tree = work->tree;
	int code = open_children(work, 0, 0);

	rest_of(work, 0, tree->rest);
	while (!code && work->open_count) {
		struct lode_call_tree_item item = work->open[--work->open_count];

		tree->shown += item.length;
		code = LODE_APPEND(tree->items, tree->count, tree->capacity, item);
		if (!code)
			code = open_children(work, item.last, item.depth + 1);
	}
	if (!code)
		count_hidden(work);
	return code;
}

int lode_call_tree_make(struct lode_call_tree *tree, const struct lode_call_tree_input *input)
{
	struct work work = { .tree = tree, .input = input };
	int code;

	memset(tree, 0, sizeof(*tree));
	tree->input = *input;
	code = add_up(&work);
	if (!code)
		code = find_children(&work);
	if (!code)
		code = list_items(&work);
	for (int side = 0; side < LODE_SIDES; side++)
		lode_free(work.whole[side]);
	lode_free(work.children);
	lode_free(work.starts);
	lode_free(work.open);
	return code;
}

void lode_call_tree_release(struct lode_call_tree *tree)
{
	lode_free(tree->items);
	lode_free(tree->fits);
	memset(tree, 0, sizeof(*tree));
}
