/*
 * Is it chance? See diff_evidence.h, and chance.h for the test.
 *
 * What is tested first is what moves least when a program is only built in another way: the whole run,
 * and each function in all its contexts together. A function that is called from another place, or by a
 * tail call, keeps its time, while one of its contexts is gone and another one is new. Time in the kernel
 * and in the C library counts for the function that called them, as in the cause (cause.c).
 *
 * A path is tested only after that: it surely takes more where its hottest function does, and where it
 * would pass a test of its own. So all promises rest on the first test, and thousands of contexts do not
 * make it weaker.
 */
#include "latency/diff_evidence.h"

#include "latency/chance.h"

#include <math.h>

/* Functions that take less than this part of all time are not worth a test. */
#define NEGLIGIBLE 1000

/* Columns of values, one for each stream; column 0 is the whole run. */
struct table {
	double *values;
	struct lode_chance_column *results;
	size_t columns;
	double z;
};

static void table_release(struct table *table)
{
	lode_free(table->values);
	lode_free(table->results);
}

/* With the values of the whole run; the others are 0. */
static int table_make(struct table *table, size_t columns, const struct lode_diff_rows *rows)
{
	size_t streams = lode_diff_rows_streams(rows);

	table->columns = columns;
	table->values = lode_calloc(columns, (streams + 1) * sizeof(*table->values));
	table->results = lode_calloc(columns, sizeof(*table->results));
	if (!table->values || !table->results)
		return LODE_SYSTEM;
	for (uint32_t i = 1; i < rows->tree->count; i++)
		lode_diff_rows_add(rows, i, table->values);
	return 0;
}

static double sum_of(const double *values, size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += values[i];
	return sum;
}

/* Tests the columns from `first` on; `run`: ns of a run, compared with which some columns are negligible. */
static int table_test(struct table *table, const struct lode_diff_rows *rows, size_t first, double run,
		      unsigned jobs)
{
	size_t streams = lode_diff_rows_streams(rows);
	struct lode_chance_input input = { .values = table->values + first * streams,
					   .columns = table->columns - first,
					   .base = rows->sides[0]->stream_count,
					   .slow = rows->sides[1]->stream_count,
					   .deviation_floor = run / NEGLIGIBLE,
					   .level = LODE_DIFF_LEVEL,
					   .jobs = jobs };

	return lode_chance_test(&input, table->results + first, &table->z);
}

/* ns that a run takes, of both sides. */
static double mean_run(const struct table *table, const struct lode_diff_rows *rows)
{
	size_t streams = lode_diff_rows_streams(rows);

	return streams ? sum_of(table->values, streams) / (double)streams : 0;
}

/* ---- functions ---- */

/* By node: the frame that its own time counts for. The same as lode_stack_who, in one pass for all nodes. */
static int find_functions(struct lode_diff *diff)
{
	const struct lode_stack_node *nodes = diff->dictionary->tree.nodes;
	uint8_t *of_none = lode_calloc(diff->dictionary->tree.count, 1); /* machinery that nobody called */

	for (uint32_t i = 1; of_none && i < diff->dictionary->tree.count; i++) {
		uint32_t parent = nodes[i].parent;
		int machinery = lode_layer_is_machinery(diff->dictionary, i);

		of_none[i] = machinery && (!parent || of_none[parent]);
		diff->function_of[i] = machinery && !of_none[i] ? diff->function_of[parent] : nodes[i].frame;
	}
	lode_free(of_none);
	return of_none ? 0 : LODE_SYSTEM;
}

static int64_t add_signed(int64_t a, int64_t b)
{
	int64_t sum;

	if (!__builtin_add_overflow(a, b, &sum))
		return sum;
	return a < 0 ? INT64_MIN : INT64_MAX;
}

/* By frame one more than the number of its column, for functions that are not negligible. Returns the number of columns. */
static size_t choose_functions(const struct lode_diff *diff, const struct lode_diff_rows *rows, double *sums,
			       uint32_t *columns)
{
	size_t count = 1;
	double all = 0;

	for (uint32_t i = 1; i < rows->tree->count; i++) {
		double own = (double)lode_diff_rows_own(rows, 0, i) + (double)lode_diff_rows_own(rows, 1, i);

		sums[diff->function_of[i]] += own;
		all += own;
	}
	for (size_t i = 0; i < diff->dictionary->frames.count; i++)
		if (sums[i] > 0 && sums[i] >= all / NEGLIGIBLE)
			columns[i] = (uint32_t)++count;
	return count;
}

static int64_t whole_ns(double time)
{
	return isfinite(time) && time < 9e18 ? (int64_t)time : -1;
}

/* A difference of any one function shows there or in the whole run, in whichever varies less. */
static double find_detectable_path(const struct lode_chance_column *results, size_t count)
{
	double whole = results[0].detectable, most = count > 1 ? 0 : whole;

	for (size_t i = 1; i < count; i++)
		most = fmax(most, fmin(results[i].detectable, whole));
	return most;
}

static void copy_functions(struct lode_diff *diff, const struct lode_diff_rows *rows, const struct table *table,
			   const uint32_t *columns)
{
	struct lode_diff_chance *chance = &diff->chance;
	double five = (double)diff->base_whole / 20;

	chance->p = table->results[0].p;
	chance->q = table->results[0].q;
	chance->detectable = whole_ns(table->results[0].detectable);
	chance->detectable_path = whole_ns(find_detectable_path(table->results, table->columns));
	/* One stream a side does not show how much streams vary. */
	if (lode_diff_rows_streams(rows) > 2 && five > 0)
		chance->streams_for_5 =
			lode_chance_streams(table->results[0].within, five, table->z, LODE_DIFF_LEVEL);
	for (size_t i = 0; i < diff->dictionary->frames.count; i++) {
		struct lode_diff_function_growth *function = &diff->functions[i];

		function->p = columns[i] ? table->results[columns[i] - 1].p : 1;
		function->q = columns[i] ? table->results[columns[i] - 1].q : 1;
		chance->sure_functions += (size_t)lode_diff_function_is_sure(function);
	}
}

static int test_functions(struct lode_diff *diff, const struct lode_diff_rows *rows, unsigned jobs)
{
	size_t frames = diff->dictionary->frames.count, streams = lode_diff_rows_streams(rows);
	double *sums = lode_calloc(frames + 1, sizeof(*sums));
	uint32_t *columns = lode_calloc(frames + 1, sizeof(*columns));
	struct table table = { 0 };
	int code = sums && columns ? 0 : LODE_SYSTEM;

	if (!code)
		code = table_make(&table, choose_functions(diff, rows, sums, columns), rows);
	for (uint32_t i = 1; !code && i < rows->tree->count; i++) {
		uint32_t frame = diff->function_of[i];

		diff->functions[frame].more = add_signed(diff->functions[frame].more, lode_diff_delta(diff, i));
		if (columns[frame])
			lode_diff_rows_add(rows, i, table.values + (columns[frame] - 1) * streams);
	}
	if (!code)
		code = table_test(&table, rows, 0, mean_run(&table, rows), jobs);
	if (!code)
		copy_functions(diff, rows, &table, columns);
	table_release(&table);
	lode_free(sums);
	lode_free(columns);
	return code;
}

/* ---- paths ---- */

/*
 * Which nodes get a column: those with a thousandth of all time or more themselves, whichever
 * side it is on, since a choice that depends on the sides would spoil the test. All below such
 * a node, down to the next one, is judged by it. `columns`: by node, one more than the number of
 * its column. Returns the number of columns.
 */
static size_t choose_nodes(const struct lode_diff_rows *rows, uint32_t *columns)
{
	double all = 0;
	size_t count = 1;

	for (uint32_t i = 1; i < rows->tree->count; i++)
		all += (double)lode_diff_rows_own(rows, 0, i) + (double)lode_diff_rows_own(rows, 1, i);
	for (uint32_t i = 1; i < rows->tree->count; i++) {
		double own = (double)lode_diff_rows_own(rows, 0, i) + (double)lode_diff_rows_own(rows, 1, i);

		columns[i] = own > 0 && own >= all / NEGLIGIBLE ? (uint32_t)++count
								: columns[rows->tree->nodes[i].parent];
	}
	return count;
}

static void copy_paths(struct lode_diff *diff, const struct table *table, const uint32_t *columns)
{
	for (size_t i = 0; i < diff->path_count; i++) {
		struct lode_diff_path *path = &diff->paths[i];
		uint32_t column = columns[path->leaf];

		if (!column)
			continue;
		path->p = table->results[column - 1].p;
		path->q = fmax(path->p, lode_diff_function_of(diff, path->hottest)->q);
		diff->chance.sure_paths += (size_t)lode_diff_path_is_sure(path);
	}
}

/* What a path's functions take, down to the node of the column, is the column's value. */
static int test_paths(struct lode_diff *diff, const struct lode_diff_rows *rows, unsigned jobs)
{
	const struct lode_stack_node *nodes = rows->tree->nodes;
	uint32_t *columns = lode_calloc(rows->tree->count, sizeof(*columns));
	struct table table = { 0 };
	int code = columns ? table_make(&table, choose_nodes(rows, columns), rows) : LODE_SYSTEM;

	for (uint32_t i = 1; !code && i < rows->tree->count; i++) {
		double *values = table.values + (columns[i] - 1) * lode_diff_rows_streams(rows);

		if (columns[i] && columns[i] != columns[nodes[i].parent])
			for (uint32_t node = i; node; node = nodes[node].parent)
				lode_diff_rows_add(rows, node, values);
	}
	if (!code && table.columns > 1)
		code = table_test(&table, rows, 1, mean_run(&table, rows), jobs);
	if (!code)
		copy_paths(diff, &table, columns);
	table_release(&table);
	lode_free(columns);
	return code;
}

int lode_diff_test(struct lode_diff *diff, const struct lode_diff_rows *rows, unsigned jobs)
{
	size_t nodes = diff->dictionary->tree.count, frames = diff->dictionary->frames.count;

	diff->chance = (struct lode_diff_chance){ .p = 1, .q = 1, .detectable = -1, .detectable_path = -1 };
	diff->chance.tested = lode_chance_can_detect(rows->sides[0]->stream_count, rows->sides[1]->stream_count,
						     LODE_DIFF_LEVEL);
	diff->function_of = lode_calloc(nodes + 1, sizeof(*diff->function_of));
	diff->functions = lode_calloc(frames + 1, sizeof(*diff->functions));
	if (!diff->function_of || !diff->functions || find_functions(diff) < 0)
		return LODE_SYSTEM;
	return test_functions(diff, rows, jobs) < 0 || test_paths(diff, rows, jobs) < 0 ? LODE_SYSTEM : 0;
}

/* ---- functions with what they call ---- */

int lode_diff_test_inclusive(const struct lode_diff *diff, const struct lode_diff_rows *rows,
			     const uint8_t *frames, unsigned jobs, struct lode_diff_function_growth *growth)
{
	const struct lode_stack_node *nodes = rows->tree->nodes;
	uint8_t *inside = lode_calloc(rows->tree->count, 1);
	struct table table = { 0 };
	int code = inside ? table_make(&table, 2, rows) : LODE_SYSTEM;

	*growth = (struct lode_diff_function_growth){ .p = 1, .q = 1 };
	for (uint32_t i = 1; !code && i < rows->tree->count; i++) {
		inside[i] = frames[nodes[i].frame] || inside[nodes[i].parent];
		if (!inside[i])
			continue;
		growth->more = add_signed(growth->more, lode_diff_delta(diff, i));
		lode_diff_rows_add(rows, i, table.values + lode_diff_rows_streams(rows));
	}
	if (!code)
		code = table_test(&table, rows, 1, mean_run(&table, rows), jobs);
	if (!code)
		growth->p = growth->q = table.results[1].p;
	table_release(&table);
	lode_free(inside);
	return code;
}
