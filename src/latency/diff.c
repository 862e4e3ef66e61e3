/*
 * Differential ranking of contexts: see diff.h, and Algorithm 3 of the paper.
 *
 * What a path costs is what its parent's path costs and what its own node takes more, so
 * one pass down the tree gives all of them.
 */
#include "latency/diff.h"

#include "latency/cause.h"
#include "latency/chance.h"
#include "latency/stack_order.h"
#include "latency/paper_ranking.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Functions that take less than this part of all time are not worth a test. */
#define TRIFLE 1000

struct work {
	const struct lode_latency *sides[2]; /* base, slow */
	const uint32_t *nodes[2];            /* their numbers in the common tree; NULL: the same */
	struct lode_diff *diff;
	size_t *starts[2];                /* by common node: its first row; one more than nodes */
	struct lode_latency_row *rows[2]; /* with common numbers, by node */
};

static int64_t add_signed(int64_t a, int64_t b)
{
	int64_t sum;

	if (!__builtin_add_overflow(a, b, &sum))
		return sum;
	return a < 0 ? INT64_MIN : INT64_MAX;
}

static uint32_t common_node(const struct work *work, int side, uint32_t node)
{
	return work->nodes[side] ? work->nodes[side][node] : node;
}

/* ---- both sides on one tree ---- */

/* Half of the largest number is enough for any latency, and keeps differences within 64 bits. */
static uint64_t per_stream(uint64_t own, size_t streams)
{
	uint64_t mean = streams ? own / streams + (own % streams * 2 >= streams) : 0;

	return mean < INT64_MAX ? mean : INT64_MAX;
}

/*
 * Whether sleeps count there, which are idle otherwise: a thread that sleeps where none slept before
 * was made to. A thread that is new from its root on may well have nothing to do.
 */
static int has_new_sleeps(const struct lode_diff *diff, uint32_t node)
{
	const struct lode_stack_node *nodes = diff->dictionary->tree.nodes;

	if (diff->known[node])
		return 0;
	while (node && !diff->known[node])
		node = nodes[node].parent;
	return node != 0;
}

/*
 * What of a row is compared. Waiting for a processor is not: how busy the machine was beside
 * the program is no part of it, and who keeps processors busy is seen to run.
 */
static uint64_t own_of(const struct work *work, int side, const struct lode_latency_row *row)
{
	uint64_t own = row->own - row->queued;

	if (side && row->slept && has_new_sleeps(work->diff, common_node(work, side, row->node)))
		own = lode_add_saturating(own, row->slept);
	return own;
}

/* Rows are sorted by node. */
static void lay_over(const struct work *work, int side, uint64_t *values)
{
	const struct lode_latency *latency = work->sides[side];
	size_t at = 0;

	for (uint32_t i = 1; i < latency->node_count; i++) {
		uint64_t own = 0;

		for (; at < latency->row_count && latency->rows[at].node == i; at++)
			own = lode_add_saturating(own, own_of(work, side, &latency->rows[at]));
		values[common_node(work, side, i)] = per_stream(own, latency->stream_count);
	}
}

static void add_up(struct lode_diff *diff)
{
	const struct lode_stack_tree *tree = &diff->dictionary->tree;

	for (uint32_t i = 1; i < tree->count; i++) {
		diff->more[i] = lode_diff_delta(diff, i);
		diff->base_whole = lode_add_saturating(diff->base_whole, diff->base[i]);
	}
	for (size_t i = tree->count; i-- > 1;)
		diff->more[tree->nodes[i].parent] = add_signed(diff->more[tree->nodes[i].parent], diff->more[i]);
	diff->difference = diff->more[0];
}

/* ---- paths ---- */

/* By node of the common tree: 1 for a leaf of the slow side's tree. NULL when memory has run out. */
static uint8_t *find_leaves(const struct work *work)
{
	const struct lode_latency *slow = work->sides[1];
	const struct lode_stack_tree *tree = &slow->dictionary.tree;
	uint8_t *leaves = lode_calloc(work->diff->dictionary->tree.count, 1);

	for (uint32_t i = 1; leaves && i < slow->node_count; i++) {
		if (!slow->nodes[i].count)
			continue;
		leaves[common_node(work, 1, i)] = 1;
		leaves[common_node(work, 1, tree->nodes[i].parent)] = 0;
	}
	if (leaves)
		leaves[0] = 0;
	return leaves;
}

/* What of a path is known when its node is: the deepest of the hottest nodes wins. */
struct way {
	int64_t cost;
	uint32_t hottest;
};

static int list_paths(struct work *work)
{
	struct lode_diff *diff = work->diff;
	const struct lode_stack_tree *tree = &diff->dictionary->tree;
	uint8_t *leaves = find_leaves(work);
	struct way *ways = lode_calloc(tree->count, sizeof(*ways));
	int code = leaves && ways ? 0 : LODE_SYSTEM;

	for (uint32_t i = 1; !code && i < tree->count; i++) {
		const struct way *parent = &ways[tree->nodes[i].parent];

		ways[i].cost = add_signed(parent->cost, lode_diff_delta(diff, i));
		ways[i].hottest = !parent->hottest || lode_diff_delta(diff, i) >=
							      lode_diff_delta(diff, parent->hottest)
					  ? i
					  : parent->hottest;
		if (!leaves[i])
			continue;
		code = LODE_GROW(diff->paths, diff->path_capacity, diff->path_count + 1);
		if (!code)
			diff->paths[diff->path_count++] = (struct lode_diff_path){ .leaf = i,
										   .hottest = ways[i].hottest,
										   .is_new = !diff->known[i],
										   .cost = ways[i].cost,
										   .p = 1,
										   .q = 1 };
	}
	lode_free(leaves);
	lode_free(ways);
	return code;
}

/* ---- is it chance? ---- */

/* The rows of a side by node of the common tree. */
static int order_rows(struct work *work, int side)
{
	const struct lode_latency *latency = work->sides[side];
	size_t nodes = work->diff->dictionary->tree.count, *starts;

	work->starts[side] = starts = lode_calloc(nodes + 2, sizeof(*starts));
	work->rows[side] = lode_calloc(latency->row_count + 1, sizeof(*work->rows[side]));
	if (!starts || !work->rows[side])
		return LODE_SYSTEM;
	for (size_t i = 0; i < latency->row_count; i++)
		starts[common_node(work, side, latency->rows[i].node) + 2]++;
	for (size_t i = 2; i < nodes + 2; i++)
		starts[i] += starts[i - 1];
	/* Filling moves each start to the next node's: one place off at first, right in the end. */
	for (size_t i = 0; i < latency->row_count; i++) {
		uint32_t node = common_node(work, side, latency->rows[i].node);
		struct lode_latency_row *row = &work->rows[side][starts[node + 1]++];

		*row = latency->rows[i];
		row->own = own_of(work, side, &latency->rows[i]);
	}
	return 0;
}

static size_t streams_of(const struct work *work)
{
	return work->sides[0]->stream_count + work->sides[1]->stream_count;
}

/* ns of both sides' streams in this very node. */
static double own_of_node(const struct work *work, uint32_t node)
{
	double sum = 0;

	for (int side = 0; side < 2; side++)
		for (size_t i = work->starts[side][node]; i < work->starts[side][node + 1]; i++)
			sum += (double)work->rows[side][i].own;
	return sum;
}

/*
 * Which nodes get a column: those with a thousandth of all time or more themselves, whichever
 * side it is on, since a choice that depends on the sides would spoil the test. All below such
 * a node, down to the next one, is judged by it. `columns`: by node, one more than the number of
 * its column; column 0 is the whole run. Returns the number of columns.
 */
static size_t choose_columns(const struct work *work, uint32_t *columns)
{
	const struct lode_stack_tree *tree = &work->diff->dictionary->tree;
	double all = 0;
	size_t count = 1;

	for (uint32_t i = 1; i < tree->count; i++)
		all += own_of_node(work, i);
	for (uint32_t i = 1; i < tree->count; i++) {
		double own = own_of_node(work, i);

		columns[i] = own > 0 && own >= all / TRIFLE ? (uint32_t)++count : columns[tree->nodes[i].parent];
	}
	return count;
}

/* What a path's functions, down to `node`, take in each stream. */
static void fill_column(const struct work *work, uint32_t node, double *values)
{
	const struct lode_stack_node *nodes = work->diff->dictionary->tree.nodes;

	for (; node; node = nodes[node].parent)
		for (int side = 0; side < 2; side++)
			for (size_t i = work->starts[side][node]; i < work->starts[side][node + 1]; i++) {
				size_t stream = work->rows[side][i].stream;

				stream += side ? work->sides[0]->stream_count : 0;
				values[stream] += (double)work->rows[side][i].own;
			}
}

static void fill_whole(const struct work *work, double *values)
{
	for (int side = 0; side < 2; side++) {
		const struct lode_latency *latency = work->sides[side];

		for (size_t i = 0; i < latency->row_count; i++)
			values[work->rows[side][i].stream + (side ? work->sides[0]->stream_count : 0)] +=
				(double)work->rows[side][i].own;
	}
}

static int64_t whole_ns(double time)
{
	return isfinite(time) && time < 9e18 ? (int64_t)time : -1;
}

/* A difference of any one path shows there or in the whole run, in whichever varies less. */
static double find_detectable_path(const struct lode_chance_column *results, size_t count)
{
	double whole = results[0].detectable, most = count > 1 ? 0 : whole;

	for (size_t i = 1; i < count; i++)
		most = fmax(most, fmin(results[i].detectable, whole));
	return most;
}

static void copy_results(const struct work *work, const struct lode_chance_column *results, size_t count,
			 const uint32_t *columns, double z)
{
	struct lode_diff *diff = work->diff;
	double five = (double)diff->base_whole / 20;

	diff->chance.p = results[0].p;
	diff->chance.q = results[0].q;
	diff->chance.detectable = whole_ns(results[0].detectable);
	diff->chance.detectable_path = whole_ns(find_detectable_path(results, count));
	/* One stream a side does not show how much streams vary. */
	if (streams_of(work) > 2 && five > 0)
		diff->chance.streams_for_5 = lode_chance_streams(results[0].within, five, z, LODE_DIFF_LEVEL);
	for (size_t i = 0; i < diff->path_count; i++) {
		struct lode_diff_path *path = &diff->paths[i];
		uint32_t column = columns[path->leaf];

		if (!column)
			continue;
		path->p = results[column - 1].p;
		path->q = results[column - 1].q;
		diff->chance.sure_paths += (size_t)lode_diff_path_is_sure(path);
	}
}

static int test_columns(struct work *work, const uint32_t *columns, size_t count, unsigned jobs)
{
	const struct lode_stack_tree *tree = &work->diff->dictionary->tree;
	size_t streams = streams_of(work);
	double *values = lode_calloc(count, streams * sizeof(*values)), all = 0, z;
	struct lode_chance_column *results = lode_calloc(count, sizeof(*results));
	struct lode_chance_input input = { .values = values,
					   .columns = count,
					   .base = work->sides[0]->stream_count,
					   .slow = work->sides[1]->stream_count,
					   .level = LODE_DIFF_LEVEL,
					   .jobs = jobs };
	int code = values && results ? 0 : LODE_SYSTEM;

	if (!code) {
		fill_whole(work, values);
		for (uint32_t i = 1; i < tree->count; i++)
			if (columns[i] && columns[i] != columns[tree->nodes[i].parent])
				fill_column(work, i, values + (columns[i] - 1) * streams);
		for (size_t i = 0; i < streams; i++)
			all += values[i];
		input.trifle = all / (double)streams / TRIFLE;
		code = lode_chance_test(&input, results, &z);
	}
	if (!code)
		copy_results(work, results, count, columns, z);
	lode_free(values);
	lode_free(results);
	return code;
}

static int test_paths(struct work *work, unsigned jobs)
{
	struct lode_diff_chance *chance = &work->diff->chance;
	uint32_t *columns;
	int code = LODE_SYSTEM;

	*chance = (struct lode_diff_chance){ .p = 1, .q = 1, .detectable = -1, .detectable_path = -1 };
	chance->tested = lode_chance_can_detect(work->sides[0]->stream_count, work->sides[1]->stream_count,
						LODE_DIFF_LEVEL);
	if (order_rows(work, 0) < 0 || order_rows(work, 1) < 0)
		return LODE_SYSTEM;
	columns = lode_calloc(work->diff->dictionary->tree.count, sizeof(*columns));
	if (columns)
		code = test_columns(work, columns, choose_columns(work, columns), jobs);
	lode_free(columns);
	return code;
}

int lode_diff_is_sure(const struct lode_diff *diff)
{
	return diff->chance.sure_paths || (diff->difference > 0 && diff->chance.q < LODE_DIFF_LEVEL);
}

/* 2: surely takes more. 1: so it seems, but among so many paths some would by chance. 0: may well be chance. */
static int trust(const struct lode_diff_path *path)
{
	if (path->cost <= 0)
		return 0;
	return lode_diff_path_is_sure(path) ? 2 : path->p < LODE_DIFF_LEVEL;
}

static int compare_paths(const void *a, const void *b, void *context)
{
	const struct lode_diff_path *left = a, *right = b;

	if (trust(left) != trust(right))
		return trust(right) - trust(left);
	if (left->cost != right->cost)
		return left->cost > right->cost ? -1 : 1;
	return lode_stacks_compare(context, left->leaf, right->leaf);
}

/* ---- the whole ---- */

static int compare_sides(struct work *work, const struct lode_diff_options *options)
{
	struct lode_diff *diff = work->diff;
	size_t nodes = diff->dictionary->tree.count;

	diff->base = lode_calloc(nodes, sizeof(*diff->base));
	diff->slow = lode_calloc(nodes, sizeof(*diff->slow));
	diff->known = lode_calloc(nodes, 1);
	diff->more = lode_calloc(nodes, sizeof(*diff->more));
	if (!diff->base || !diff->slow || !diff->known || !diff->more)
		return LODE_SYSTEM;
	for (size_t i = 1; i < work->sides[0]->node_count; i++)
		diff->known[i] = work->sides[0]->nodes[i].count > 0;
	lay_over(work, 0, diff->base);
	lay_over(work, 1, diff->slow);
	add_up(diff);
	if (list_paths(work) < 0 || test_paths(work, options->jobs) < 0)
		return LODE_SYSTEM;
	if (diff->path_count)
		qsort_r(diff->paths, diff->path_count, sizeof(*diff->paths), compare_paths,
			(void *)(uintptr_t)diff->dictionary);
	if (lode_cause_find(diff, work->sides[0], work->sides[1], work->nodes[1], options) < 0)
		return LODE_SYSTEM;
	return options->mean || options->whole_new_paths
		       ? lode_paper_rank(diff, work->sides[0], work->sides[1], work->nodes[1], options)
		       : 0;
}

int lode_diff(struct lode_latency *base, const struct lode_latency *slow, const struct lode_diff_options *options,
	      struct lode_diff *diff)
{
	struct work work = { .sides = { base, slow }, .diff = diff };
	struct lode_dictionary_map map = { 0 };
	int code;

	memset(diff, 0, sizeof(*diff));
	diff->dictionary = &base->dictionary;
	code = lode_dictionary_merge(&base->dictionary, &slow->dictionary, &map);
	work.nodes[1] = map.nodes;
	if (!code)
		code = compare_sides(&work, options);
	lode_dictionary_map_release(&map);
	for (int side = 0; side < 2; side++) {
		lode_free(work.starts[side]);
		lode_free(work.rows[side]);
	}
	return code;
}

void lode_diff_release(struct lode_diff *diff)
{
	lode_free(diff->base);
	lode_free(diff->slow);
	lode_free(diff->known);
	lode_free(diff->more);
	lode_free(diff->paths);
	lode_free(diff->base_means);
	lode_free(diff->slow_means);
	memset(diff, 0, sizeof(*diff));
}
