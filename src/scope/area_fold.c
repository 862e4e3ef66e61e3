/*
 * Rows that become one: waits and runs taken together, folding recursion, and leaving out plumbing.
 *
 * Folding: of a function that occurs several times in a stack only the
 * first occurrence, nearest the root, stays. Done to the area as a whole, so that
 * patterns, metrics and everything behind them see the same stacks.
 *
 * Folded stacks are nodes of the same tree. A parent's folded stack is known before
 * its children's; a child's is the same when its frame is in the parent's folded
 * stack already, else the parent's with that frame. Which frames a stack has is
 * found by walking its path, which is short once it is folded.
 */
#include "scope/area.h"

#include "scope/plumbing.h"

#include <stdlib.h>
#include <string.h>

static int has_frame(const struct lode_stack_tree *tree, uint32_t node, uint32_t frame)
{
	for (; node; node = tree->nodes[node].parent)
		if (tree->nodes[node].frame == frame)
			return 1;
	return 0;
}

uint32_t *lode_stacks_fold(struct lode_stack_tree *tree)
{
	size_t count = tree->count;
	uint32_t *folded = lode_calloc(count, sizeof(*folded));

	for (size_t node = 1; folded && node < count; node++) {
		uint32_t above = folded[tree->nodes[node].parent], frame = tree->nodes[node].frame;

		folded[node] = has_frame(tree, above, frame) ? above : lode_stack_tree_child(tree, above, frame);
		if (folded[node] != LODE_NONE)
			continue;
		lode_free(folded);
		folded = NULL;
	}
	return folded;
}

static int compare_rows(const void *a, const void *b)
{
	const struct lode_area_row *left = a, *right = b;

	if (left->stack != right->stack)
		return left->stack < right->stack ? -1 : 1;
	return left->stream < right->stream ? -1 : left->stream > right->stream;
}

/* Of equal events the earlier one stays the one to jump to. */
static void join(const struct lode_area_rows *rows, struct lode_area_row *row, const struct lode_area_row *more)
{
	if (more->longest > row->longest || (more->longest == row->longest && more->longest_t < row->longest_t)) {
		row->longest = more->longest;
		row->longest_t = more->longest_t;
		row->longest_thread = more->longest_thread;
	}
	row->cost = lode_add_saturating(row->cost, more->cost);
	row->events += more->events;
	row->variance += more->variance;
	if (!row->spread)
		row->spread = more->spread;
	else if (more->spread)
		for (size_t i = 0; i < LODE_SPREADS; i++)
			rows->spreads[row->spread - 1].sums[i] += rows->spreads[more->spread - 1].sums[i];
}

/* Sorts, and makes one row of those with equal stacks in equal streams. */
static void join_rows(struct lode_area_rows *rows)
{
	size_t left = 0;

	if (rows->count)
		qsort(rows->items, rows->count, sizeof(*rows->items), compare_rows);
	for (size_t i = 0; i < rows->count; i++) {
		if (left && !compare_rows(&rows->items[left - 1], &rows->items[i]))
			join(rows, &rows->items[left - 1], &rows->items[i]);
		else
			rows->items[left++] = rows->items[i];
	}
	rows->count = left;
}

static void fold_rows(struct lode_area_rows *rows, const uint32_t *folded)
{
	for (size_t i = 0; i < rows->count; i++)
		rows->items[i].stack = folded[rows->items[i].stack];
	join_rows(rows);
}

/* Adds the rows of `more`; equal ones are joined. */
static int add_rows(struct lode_area_rows *rows, const struct lode_area_rows *more)
{
	if (LODE_GROW(rows->items, rows->capacity, rows->count + more->count) < 0 ||
	    LODE_GROW(rows->spreads, rows->spread_capacity, rows->spread_count + more->spread_count) < 0)
		return LODE_SYSTEM;
	if (more->count)
		memcpy(rows->items + rows->count, more->items, more->count * sizeof(*more->items));
	if (more->spread_count)
		memcpy(rows->spreads + rows->spread_count, more->spreads,
		       more->spread_count * sizeof(*more->spreads));
	for (size_t i = rows->count; i < rows->count + more->count; i++)
		rows->items[i].spread += rows->items[i].spread ? (uint32_t)rows->spread_count : 0;
	rows->spread_count += more->spread_count;
	rows->count += more->count;
	rows->cost = lode_add_saturating(rows->cost, more->cost);
	rows->events += more->events;
	join_rows(rows);
	return 0;
}

int lode_area_join_kinds(struct lode_area *area)
{
	area->input_events[LODE_WAIT] += area->input_events[LODE_RUN];
	area->recorded_events[LODE_WAIT] += area->recorded_events[LODE_RUN];
	area->input_cost[LODE_WAIT] = lode_add_saturating(area->input_cost[LODE_WAIT], area->input_cost[LODE_RUN]);
	if (add_rows(&area->rows[LODE_WAIT], &area->rows[LODE_RUN]) < 0)
		return LODE_SYSTEM;
	return add_rows(&area->idle[LODE_WAIT], &area->idle[LODE_RUN]);
}

/* Gives all rows other stacks: `folded`, which it frees, by node; NULL: memory has run out. `known`: nodes before it was made. */
static int change_stacks(struct lode_area *area, uint32_t *folded, size_t known)
{
	const struct lode_stack_tree *tree = &area->dictionary.tree;
	uint64_t *occurrences = folded ? lode_realloc(area->occurrences, tree->count, sizeof(*occurrences)) : NULL;

	if (!occurrences) {
		lode_free(folded);
		return LODE_SYSTEM;
	}
	memset(occurrences + known, 0, (tree->count - known) * sizeof(*occurrences));
	area->occurrences = occurrences;
	for (int kind = 0; kind < LODE_AREA_KINDS; kind++) {
		fold_rows(&area->rows[kind], folded);
		fold_rows(&area->idle[kind], folded);
	}
	fold_rows(&area->work, folded);
	for (size_t i = 0; i < area->chains.row_count; i++)
		area->chains.rows[i].stack = folded[area->chains.rows[i].stack];
	for (size_t i = 0; i < area->chains.link_count; i++)
		area->chains.links[i].place = folded[area->chains.links[i].place];
	lode_free(folded);
	return 0;
}

int lode_area_fold(struct lode_area *area)
{
	size_t known = area->dictionary.tree.count;

	return change_stacks(area, lode_stacks_fold(&area->dictionary.tree), known);
}

/* How often the function that does most comes back in a stack, after others; `counts`, by frame, is 0 before and after. */
static uint32_t count_returns(const struct lode_stack_tree *tree, uint32_t stack, uint32_t *counts)
{
	uint32_t most = 0;

	for (uint32_t node = stack; node; node = tree->nodes[node].parent) {
		uint32_t frame = tree->nodes[node].frame, parent = tree->nodes[node].parent;

		if (parent && tree->nodes[parent].frame == frame)
			continue;
		counts[frame]++;
		most = counts[frame] > most ? counts[frame] : most;
	}
	for (uint32_t node = stack; node; node = tree->nodes[node].parent)
		counts[tree->nodes[node].frame] = 0;
	return most ? most - 1 : 0;
}

int lode_area_recursive_cost(const struct lode_area *area, enum lode_event_type kind, uint32_t returns,
			     uint64_t *cost)
{
	const struct lode_area_rows *rows = &area->rows[kind];
	uint32_t *counts = lode_calloc(area->dictionary.frames.count + 1, sizeof(*counts));

	*cost = 0;
	if (!counts)
		return LODE_SYSTEM;
	for (size_t i = 0; i < rows->count; i++)
		if (count_returns(&area->dictionary.tree, rows->items[i].stack, counts) >= returns)
			*cost = lode_add_saturating(*cost, rows->items[i].cost);
	lode_free(counts);
	return 0;
}

int lode_area_hide_plumbing(struct lode_area *area)
{
	size_t known = area->dictionary.tree.count;

	if (!lode_frames_have_plumbing(&area->dictionary.frames))
		return 0;
	return change_stacks(area, lode_stacks_without_plumbing(&area->dictionary), known);
}
