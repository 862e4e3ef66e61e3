/* Heat map: see heat.h. */
#include "result/heat.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

static int add_row(struct lode_heat *heat, size_t rank, uint32_t leaf, int64_t cost)
{
	const struct lode_stack_tree *tree = &heat->dictionary->tree;
	uint32_t depth = lode_stack_tree_depth(tree, leaf);
	struct lode_heat_row row = { .rank = rank,
				     .first = heat->cell_count,
				     .count = depth,
				     .leaf = leaf,
				     .cost = cost };

	if (LODE_GROW(heat->rows, heat->capacity, heat->count + 1) < 0 ||
	    LODE_GROW(heat->nodes, heat->cell_capacity, heat->cell_count + depth) < 0)
		return LODE_SYSTEM;
	for (uint32_t i = depth, node = leaf; i-- > 0; node = tree->nodes[node].parent)
		heat->nodes[row.first + i] = node;
	/* Of equal ones the one nearer the leaf. */
	for (uint32_t i = 1; i < depth; i++)
		if (lode_heat_value(heat, heat->nodes[row.first + i]) >=
		    lode_heat_value(heat, heat->nodes[row.first + row.hottest]))
			row.hottest = i;
	if (depth) {
		uint32_t hottest = heat->nodes[row.first + row.hottest];

		/* A context is its leaf; a path is what takes more on it. */
		row.who = lode_stack_who(heat->dictionary, heat->less ? hottest : leaf);
		if (lode_heat_value(heat, hottest) > heat->most)
			heat->most = lode_heat_value(heat, hottest);
	}
	heat->widest = depth > heat->widest ? depth : heat->widest;
	heat->cell_count += depth;
	heat->rows[heat->count++] = row;
	return 0;
}

int lode_heat_of_latency(struct lode_heat *heat, const struct lode_latency_report *report, size_t most)
{
	const struct lode_latency *latency = report->latency;
	int code = 0;

	*heat = (struct lode_heat){ .dictionary = &latency->dictionary, .value = latency->own };
	for (size_t i = 0; !code && i < report->contexts->count; i++) {
		uint32_t node = report->contexts->nodes[i];

		heat->total += latency->own[node] != 0;
		if (i < most && latency->own[node])
			code = add_row(heat, i + 1, node, (int64_t)latency->own[node]);
	}
	return code;
}

int lode_heat_of_diff(struct lode_heat *heat, const struct lode_diff_report *report,
		      const struct lode_diff_chosen *chosen, size_t most)
{
	const struct lode_diff *diff = report->diff;
	int code = 0;

	*heat = (struct lode_heat){ .dictionary = diff->dictionary,
				    .value = diff->slow,
				    .less = diff->base,
				    .total = chosen->count };
	for (size_t i = 0; !code && i < chosen->count && i < most; i++)
		code = add_row(heat, chosen->items[i].rank, chosen->items[i].path->leaf,
			       chosen->items[i].path->cost);
	return code;
}

static int make_cell(const struct lode_list *list, size_t i, void *item)
{
	const struct lode_heat *heat = list->from;

	*(int64_t *)item = lode_heat_value(heat, heat->nodes[list->first + i]);
	return 1;
}

static int make_row(const struct lode_list *list, size_t i, void *item)
{
	const struct lode_heat *heat = list->from;
	const struct lode_heat_row *row = &heat->rows[i];

	*(struct lode_heat_row_values *)item = (struct lode_heat_row_values){
		.rank = row->rank,
		.hottest = row->hottest,
		.cells = { row->count, heat, row->first, make_cell },
	};
	return 1;
}

struct lode_heat_values lode_heat_values_of(const struct lode_heat *heat)
{
	return (struct lode_heat_values){ (uint64_t)heat->most, heat->total, { heat->count, heat, 0, make_row } };
}

void lode_heat_release(struct lode_heat *heat)
{
	lode_free(heat->rows);
	lode_free(heat->nodes);
	memset(heat, 0, sizeof(*heat));
}

double lode_heat_level(const struct lode_heat *heat, uint32_t node)
{
	double value = (double)lode_heat_value(heat, node);
	double level = value > 0 ? LODE_HEAT_DECADES + log10(value / (double)heat->most) : 0;

	return level > 0 ? level : 0;
}
