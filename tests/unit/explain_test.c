/*
 * Whole explanations: tables that are made here, whose truth is known, like the
 * micro-benchmarks of the paper; and everything that can be wrong with a table.
 */
#include "cmocka_all.h"
#include "random_stream.h"

#include "explain/explain.h"
#include "explain/table/table_read.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double unit(uint64_t *seed)
{
	return (double)random_below(seed, 1u << 30) / (1u << 30);
}

static double normal(uint64_t *seed)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += unit(seed);
	return sum;
}

/* A table with columns size, time and binary ones, and the cluster of each row. */
struct made {
	struct lode_data_table table;
	uint32_t *truth;
	struct lode_explain_input input;
};

static void made_release(struct made *made)
{
	lode_free(made->input.auxiliary);
	lode_data_table_release(&made->table);
	free(made->truth);
}

static void add_columns(struct made *made, size_t rows, unsigned columns, uint64_t *seed)
{
	memset(made, 0, sizeof(*made));
	lode_data_table_init(&made->table, rows);
	made->truth = calloc(rows, sizeof(*made->truth));
	assert_non_null(lode_data_table_add(&made->table, "size", 4, LODE_DATA_NUMBER));
	assert_non_null(lode_data_table_add(&made->table, "time", 4, LODE_DATA_NUMBER));
	for (unsigned f = 0; f < columns; f++) {
		char name[16];
		struct lode_data_column *column;

		snprintf(name, sizeof(name), "f%u", f);
		column = lode_data_table_add(&made->table, name, strlen(name), LODE_DATA_BINARY);
		for (size_t i = 0; i < rows; i++)
			if (random_below(seed, 2))
				lode_bit_set(column->bits, i);
	}
	assert_int_equal(lode_explain_columns(&made->input, &made->table, "made", "size", "time", NULL), 0);
}

static uint32_t pattern_of(const struct made *made, size_t row, unsigned functions)
{
	uint32_t pattern = 0;

	for (unsigned f = 0; f < functions; f++)
		pattern |= (uint32_t)lode_bit_get(made->table.columns[2 + f].bits, row) << f;
	return pattern;
}

/* y = unit · level · x with relative noise; level 0 is a constant with outliers. */
static void make_runs(struct made *made, size_t rows, unsigned functions, unsigned dummies, unsigned levels,
		      double noise, uint64_t *seed)
{
	uint32_t level[128];

	add_columns(made, rows, functions + dummies, seed);
	for (uint32_t p = 0; p < 1u << functions; p++)
		level[p] = p < levels ? p : (uint32_t)random_below(seed, levels);
	for (size_t i = 0; i < rows; i++) {
		double x = 1 + (double)(i % 100), error = noise * normal(seed);
		uint32_t own = level[pattern_of(made, i, functions)];

		if (random_below(seed, 50) == 0)
			error += (unit(seed) - 0.5) * 0.3;
		made->truth[i] = own;
		made->table.columns[0].numbers[i] = x;
		made->table.columns[1].numbers[i] = own ? 1200 * own * x * (1 + error) : 130 * (1 + error);
		if (!own && random_below(seed, 20) == 0)
			made->table.columns[1].numbers[i] *= 1 + 2 * unit(seed);
	}
}

/* Clusters are numbered by speed, as levels are. */
static double share_right(const struct made *made, const struct lode_explanation *explanation)
{
	size_t right = 0;

	for (size_t i = 0; i < explanation->rows; i++)
		right += made->truth[explanation->row_of[i]] == explanation->assigned[i];
	return (double)right / (double)explanation->rows;
}

static void explain(const struct made *made, const struct lode_explain_options *options,
		    struct lode_explanation *explanation)
{
	struct lode_error error = { "" };

	if (lode_explain(&made->input, options, explanation, &error) < 0)
		fail_msg("%s", error.text);
}

/* ---- truth ---- */

static void levels_are_found_whatever_their_number(void **state)
{
	struct lode_explain_options options;
	uint64_t seed = 1;

	(void)state;
	lode_explain_defaults(&options);
	for (int round = 0; round < (TEST_SANITIZED ? 6 : 24); round++) {
		unsigned functions = 2 + (unsigned)round % 4, levels = 2 + (unsigned)round % 3;
		struct lode_explanation explanation;
		struct made made;

		options.method = round % 2 ? LODE_METHOD_SPECTRAL : LODE_METHOD_KLINEAR;
		options.folds = round % 5 ? 0 : 10;
		make_runs(&made, 100u << functions, functions, round % 3 ? 0 : 20, levels,
			  0.005 + 0.01 * (round % 4), &seed);
		explain(&made, &options, &explanation);
		assert_int_equal(explanation.clusters, levels);
		assert_true(share_right(&made, &explanation) == 1);
		assert_true(explanation.r2 > 0.98);
		if (options.folds)
			assert_true(explanation.accuracy > 0.95 && explanation.validated_r2 > 0.98);
		assert_true(explanation.explained && explanation.within);
		lode_explanation_release(&explanation);
		made_release(&made);
	}
}

static void parity_among_dummies_is_explained(void **state)
{
	struct lode_explain_options options;
	struct lode_explanation explanation;
	struct made made;
	uint64_t seed = 2;

	(void)state;
	lode_explain_defaults(&options);
	add_columns(&made, 800, 60, &seed);
	for (size_t i = 0; i < 800; i++) {
		made.truth[i] = (uint32_t)__builtin_parity(pattern_of(&made, i, 3));
		made.table.columns[0].numbers[i] = 1 + (double)(i % 100);
		made.table.columns[1].numbers[i] =
			600 * (1 + made.truth[i]) * (1 + (double)(i % 100)) * (1 + 0.01 * normal(&seed));
	}
	explain(&made, &options, &explanation);
	assert_int_equal(explanation.clusters, 2);
	assert_true(share_right(&made, &explanation) == 1);
	assert_int_equal(lode_tree_leaves(&explanation.tree), 8);
	assert_true(explanation.accuracy > 0.99);
	lode_explanation_release(&explanation);
	made_release(&made);
}

/* Where two lines cross, only the tree can tell; with additive noise, and y below 0. */
static void lines_that_cross_are_distinguished_by_the_tree(void **state)
{
	struct lode_explain_options options;
	struct lode_explanation explanation;
	struct made made;
	uint64_t seed = 3;

	(void)state;
	lode_explain_defaults(&options);
	add_columns(&made, 600, 5, &seed);
	for (size_t i = 0; i < 600; i++) {
		double x = 100 * unit(&seed);

		made.truth[i] = pattern_of(&made, i, 1);
		made.table.columns[0].numbers[i] = x;
		made.table.columns[1].numbers[i] = (made.truth[i] ? 5 * x - 200 : 100 - 2 * x) + 8 * normal(&seed);
	}
	explain(&made, &options, &explanation);
	assert_int_equal(explanation.points.noise, LODE_NOISE_ADDITIVE);
	assert_int_equal(explanation.clusters, 2);
	assert_int_equal(lode_tree_leaves(&explanation.tree), 2);
	assert_true(fmax(share_right(&made, &explanation), 1 - share_right(&made, &explanation)) == 1);
	/* Near the crossing x and y alone cannot say. */
	assert_true(explanation.agreement < 1);
	lode_explanation_release(&explanation);
	made_release(&made);
}

static void asymptotic_classes_are_named(void **state)
{
	struct lode_explain_options options;
	struct lode_explanation explanation;
	struct made made;
	uint64_t seed = 4;

	(void)state;
	lode_explain_defaults(&options);
	options.family = LODE_FAMILY_AUTO;
	add_columns(&made, 900, 6, &seed);
	for (size_t i = 0; i < 900; i++) {
		double x = 10 + 990 * unit(&seed);

		made.truth[i] = pattern_of(&made, i, 1);
		made.table.columns[0].numbers[i] = x;
		made.table.columns[1].numbers[i] =
			(made.truth[i] ? 50 + 0.5 * x * x : 200 + 20 * x) * (1 + 0.03 * normal(&seed));
	}
	explain(&made, &options, &explanation);
	assert_int_equal(explanation.clusters, 2);
	assert_int_equal(explanation.cluster[0].function.shape, LODE_SHAPE_LINEAR);
	assert_int_equal(explanation.cluster[1].function.shape, LODE_SHAPE_SQUARE);
	assert_float_equal(lode_function_coefficient(&explanation.points, &explanation.cluster[1].function, 1),
			   0.5, 0.02);
	lode_explanation_release(&explanation);
	made_release(&made);
}

static void clusters_without_a_reason_are_reported_too(void **state)
{
	struct lode_explain_options options;
	struct lode_explanation explanation;
	struct made made;
	uint64_t seed = 5;

	(void)state;
	lode_explain_defaults(&options);
	options.max_error = 1e12;
	add_columns(&made, 500, 4, &seed);
	for (size_t i = 0; i < 500; i++) {
		made.truth[i] = (uint32_t)random_below(&seed, 2);
		made.table.columns[0].numbers[i] = 1 + (double)(i % 50);
		made.table.columns[1].numbers[i] =
			(1 + 3 * made.truth[i]) * made.table.columns[0].numbers[i] * (1 + 0.02 * normal(&seed));
	}
	explain(&made, &options, &explanation);
	assert_int_equal(explanation.clusters, 2);
	assert_false(explanation.explained);
	assert_false(explanation.within);
	assert_true(share_right(&made, &explanation) > 0.99);
	lode_explanation_release(&explanation);
	made_release(&made);
}

static void one_function_stays_one(void **state)
{
	struct lode_explain_options options;
	uint64_t seed = 6;

	(void)state;
	lode_explain_defaults(&options);
	options.folds = 2;
	for (int round = 0; round < (TEST_SANITIZED ? 4 : 12); round++) {
		struct lode_explanation explanation;
		struct made made;

		add_columns(&made, 400, 8, &seed);
		for (size_t i = 0; i < 400; i++) {
			made.table.columns[0].numbers[i] = 1 + 50 * unit(&seed);
			made.table.columns[1].numbers[i] =
				(10 + 3 * made.table.columns[0].numbers[i]) *
				(round % 2 ? 1 + 0.1 * normal(&seed) : 0.7 + 0.6 * unit(&seed));
		}
		explain(&made, &options, &explanation);
		assert_int_equal(explanation.clusters, 1);
		assert_int_equal(explanation.tree.count, 1);
		lode_explanation_release(&explanation);
		made_release(&made);
	}
}

static void as_many_clusters_come_as_were_asked_for(void **state)
{
	struct lode_explain_options options;
	struct made made;
	uint64_t seed = 7;

	(void)state;
	lode_explain_defaults(&options);
	options.folds = 2;
	make_runs(&made, 800, 3, 0, 3, 0.02, &seed);
	for (unsigned clusters = 1; clusters <= 8; clusters++) {
		struct lode_explanation explanation;

		options.clusters = clusters;
		explain(&made, &options, &explanation);
		assert_int_equal(explanation.clusters, clusters);
		if (clusters == 3)
			assert_true(share_right(&made, &explanation) == 1);
		lode_explanation_release(&explanation);
	}
	made_release(&made);
}

static void a_bound_on_the_error_is_kept_or_said_to_be_broken(void **state)
{
	struct lode_explain_options options;
	struct lode_explanation explanation;
	struct made made;
	uint64_t seed = 8;

	(void)state;
	lode_explain_defaults(&options);
	make_runs(&made, 400, 2, 0, 3, 0.02, &seed);
	options.max_error_relative = 1;
	options.max_error = 0.5;
	explain(&made, &options, &explanation);
	assert_true(explanation.within);
	assert_true(explanation.relative_error <= 0.5);
	lode_explanation_release(&explanation);
	options.max_error_relative = 0;
	options.max_error = 1e-3;
	explain(&made, &options, &explanation);
	assert_false(explanation.within);
	lode_explanation_release(&explanation);
	made_release(&made);
}

/* Two lines that lie so near each other that they count as one, unless somebody asks for a smaller error. */
static void a_bound_is_met_by_more_functions_where_these_help(void **state)
{
	struct lode_explain_options options;
	struct lode_explanation explanation;
	struct made made;
	uint64_t seed = 21;

	(void)state;
	lode_explain_defaults(&options);
	options.folds = 0;
	add_columns(&made, 1200, 2, &seed);
	for (size_t i = 0; i < 1200; i++) {
		uint32_t pattern = pattern_of(&made, i, 2);
		double slope = pattern & 1 ? 3 : pattern ? 1.05 : 1, x = 10 + (double)(i % 90);

		made.table.columns[0].numbers[i] = x;
		made.table.columns[1].numbers[i] = slope * x * (1 + 0.03 * normal(&seed));
	}
	explain(&made, &options, &explanation);
	assert_int_equal(explanation.clusters, 2);
	assert_true(explanation.relative_error > 0.0325);
	lode_explanation_release(&explanation);
	options.max_error_relative = 1;
	options.max_error = 0.0325;
	explain(&made, &options, &explanation);
	assert_true(explanation.within);
	assert_int_equal(explanation.clusters, 3);
	assert_true(explanation.relative_error <= 0.0325);
	lode_explanation_release(&explanation);
	/* A number that is asked for is the most there may be. */
	options.clusters = 2;
	explain(&made, &options, &explanation);
	assert_false(explanation.within);
	assert_int_equal(explanation.clusters, 2);
	lode_explanation_release(&explanation);
	made_release(&made);
}

static void pieces_of_a_curve_are_no_clusters(void **state)
{
	struct lode_explain_options options;
	uint64_t seed = 61;

	(void)state;
	lode_explain_defaults(&options);
	options.folds = 0;
	for (int round = 0; round < 3; round++) {
		struct lode_explanation explanation;
		struct made made;

		add_columns(&made, 900, 3, &seed);
		for (size_t i = 0; i < 900; i++) {
			double x = 1 + (double)random_below(&seed, 200), noise = 1 + 0.02 * normal(&seed);

			made.table.columns[0].numbers[i] = x;
			made.table.columns[1].numbers[i] = (round == 0   ? 5 + 0.3 * x * x
							    : round == 1 ? 100 + x * log2(x)
									 : 1 + 0.01 * x * x * x) *
							   noise;
		}
		explain(&made, &options, &explanation);
		assert_int_equal(explanation.clusters, 1);
		lode_explanation_release(&explanation);
		made_release(&made);
	}
}

/* ---- leaves ---- */

/* The fewest leaves that tell the levels of all patterns apart, by trying every test at every node. */
static unsigned fewest_leaves(const uint32_t *level, unsigned functions, uint32_t asked, uint32_t answers)
{
	unsigned best = UINT_MAX;
	uint32_t first = UINT32_MAX;
	int pure = 1;

	for (uint32_t p = 0; p < 1u << functions; p++)
		if ((p & asked) == answers) {
			if (first == UINT32_MAX)
				first = level[p];
			pure &= level[p] == first;
		}
	if (pure)
		return 1;
	for (uint32_t bit = 1; bit < 1u << functions; bit <<= 1)
		if (!(asked & bit)) {
			unsigned leaves = fewest_leaves(level, functions, asked | bit, answers) +
					  fewest_leaves(level, functions, asked | bit, answers | bit);

			best = leaves < best ? leaves : best;
		}
	return best;
}

static void outliers_make_no_tree_larger_than_it_must_be(void **state)
{
	struct lode_explain_options options;
	uint64_t seed = 31;

	(void)state;
	lode_explain_defaults(&options);
	options.folds = 0;
	for (int round = 0; round < 8; round++) {
		struct lode_explanation explanation;
		struct made made;
		uint32_t level[16];

		add_columns(&made, 1400, 4, &seed);
		for (uint32_t p = 0; p < 16; p++)
			level[p] = p < 3 ? p : (uint32_t)random_below(&seed, 3);
		for (size_t i = 0; i < 1400; i++) {
			double x = 1 + (double)(i % 100), wild = random_below(&seed, 10) ? 1 : 1 + 4 * unit(&seed);

			made.truth[i] = level[pattern_of(&made, i, 4)];
			made.table.columns[0].numbers[i] = x;
			made.table.columns[1].numbers[i] =
				600 * (made.truth[i] + 1) * x * (1 + 0.01 * normal(&seed)) * wild;
		}
		explain(&made, &options, &explanation);
		assert_int_equal(explanation.clusters, 3);
		assert_true(share_right(&made, &explanation) == 1);
		assert_int_equal(lode_tree_leaves(&explanation.tree), fewest_leaves(level, 4, 0, 0));
		lode_explanation_release(&explanation);
		made_release(&made);
	}
}

/* Of 128 patterns one has a function of its own: a dozen rows of the sample, among outliers. */
static void a_cluster_of_one_pattern_is_found(void **state)
{
	struct lode_explain_options options;
	struct lode_explanation explanation;
	struct made made;
	uint64_t seed = 41;

	(void)state;
	lode_explain_defaults(&options);
	options.folds = 0;
	add_columns(&made, 9000, 7, &seed);
	for (size_t i = 0; i < 9000; i++) {
		int bits = __builtin_popcount(pattern_of(&made, i, 7));
		double x = 1 + (double)(i % 100), wild = random_below(&seed, 10) ? 1 : 1 + 4 * unit(&seed);

		made.truth[i] = bits < 2 ? (uint32_t)bits : 2;
		made.table.columns[0].numbers[i] = x;
		made.table.columns[1].numbers[i] =
			600 * (made.truth[i] + 1) * x * (1 + 0.05 * normal(&seed)) * wild;
	}
	explain(&made, &options, &explanation);
	assert_int_equal(explanation.clusters, 3);
	assert_true(share_right(&made, &explanation) == 1);
	lode_explanation_release(&explanation);
	made_release(&made);
}

/* Nothing may hang on how the last digit of a vanishing residual is rounded. */
static void perfect_data_leave_no_error_at_all(void **state)
{
	struct lode_explain_options options;
	struct lode_explanation explanation;
	struct made made;
	uint64_t seed = 51;

	(void)state;
	lode_explain_defaults(&options);
	add_columns(&made, 24, 1, &seed);
	for (size_t i = 0; i < 24; i++) {
		made.truth[i] = pattern_of(&made, i, 1);
		made.table.columns[0].numbers[i] = (double)i + 1;
		made.table.columns[1].numbers[i] = (made.truth[i] ? 0.3 : 0.1) * ((double)i + 1) + 0.7;
	}
	explain(&made, &options, &explanation);
	assert_int_equal(explanation.clusters, 2);
	assert_true(share_right(&made, &explanation) == 1);
	assert_true(explanation.mean_square == 0 && explanation.relative_error == 0 && explanation.r2 == 1);
	lode_explanation_release(&explanation);
	made_release(&made);
}

static void optimal_trees_explain_as_well(void **state)
{
	struct lode_explain_options options;
	struct lode_explanation explanation;
	struct made made;
	uint64_t seed = 9;

	(void)state;
	lode_explain_defaults(&options);
	options.folds = 3;
	options.tree = LODE_TREE_OPTIMAL;
	make_runs(&made, 1200, 4, 0, 3, 0.02, &seed);
	explain(&made, &options, &explanation);
	assert_int_equal(explanation.clusters, 3);
	assert_true(share_right(&made, &explanation) == 1);
	lode_explanation_release(&explanation);
	made_release(&made);
}

/* ---- the same answer ---- */

static void seeds_repeat_and_threads_change_nothing(void **state)
{
	struct lode_explain_options options;
	struct lode_explanation first, second;
	struct made made;
	uint64_t seed = 10;

	(void)state;
	lode_explain_defaults(&options);
	options.folds = 3;
	make_runs(&made, 2000, 4, 30, 4, 0.03, &seed);
	for (int method = 0; method < 2; method++) {
		options.method = (enum lode_method)method;
		options.jobs = 1;
		explain(&made, &options, &first);
		options.jobs = 4;
		explain(&made, &options, &second);
		assert_int_equal(first.clusters, second.clusters);
		assert_true(first.length == second.length && first.accuracy == second.accuracy &&
			    first.validated_r2 == second.validated_r2);
		assert_memory_equal(first.assigned, second.assigned, first.rows * sizeof(*first.assigned));
		assert_int_equal(first.tree.count, second.tree.count);
		for (size_t i = 0; i < first.tree.count; i++)
			assert_int_equal(first.tree.nodes[i].feature, second.tree.nodes[i].feature);
		for (unsigned k = 0; k < first.clusters; k++)
			assert_memory_equal(first.cluster[k].function.coefficient,
					    second.cluster[k].function.coefficient, 2 * sizeof(double));
		lode_explanation_release(&first);
		lode_explanation_release(&second);
	}
	made_release(&made);
}

/* ---- what can be wrong ---- */

/* Explains a text; the code, and the sentence in `error`. */
static int explain_text(const char *text, const char *x, const char *y, unsigned clusters, struct lode_error *error)
{
	struct lode_explain_input input;
	struct lode_explain_options options;
	struct lode_explanation explanation;
	struct lode_data_table table;
	struct lode_input *file;
	int code;

	lode_explain_defaults(&options);
	options.clusters = clusters;
	assert_int_equal(lode_input_memory(&file, "t.csv", text, strlen(text), error), 0);
	code = lode_data_table_read(&table, file, error);
	lode_input_close(file);
	if (code < 0)
		return code;
	code = lode_explain_columns(&input, &table, "t.csv", x, y, error);
	if (code == 0) {
		code = lode_explain(&input, &options, &explanation, error);
		if (code == 0)
			lode_explanation_release(&explanation);
		lode_free(input.auxiliary);
	}
	lode_data_table_release(&table);
	return code;
}

static void bad_requests_get_a_sentence(void **state)
{
	static const struct {
		const char *text, *x, *y;
		unsigned clusters;
		int code;
		const char *sentence;
	} cases[] = {
		{ "x,y\n1,2\n3,4\n", "x", "z", 0, LODE_BAD_INPUT, "t.csv: there is no column 'z'" },
		{ "x,y\n1,2\n3,a\n", "x", "y", 0, LODE_BAD_INPUT,
		  "t.csv:3: column 'y' must be numeric, and holds 'a'" },
		{ "x,y\n1,2\n", "x", "y", 0, LODE_BAD_INPUT, "t.csv: 1 row with both x and y" },
		{ "x,y\n1,\n,4\n", "x", "y", 0, LODE_BAD_INPUT, "t.csv: 0 rows with both x and y" },
		{ "x,y\n1,2\n3,4\n", "x", "y", 3, LODE_BAD_INPUT, "t.csv: 3 clusters of 2 rows" },
		{ "x,y\n1,2\n3,4\n", "x", "y", 99, LODE_USAGE, "99 clusters are too many" },
		{ "x,y\n1,2\n3,4\n", "x,y", "y", 0, LODE_USAGE, "column 'y' is named twice" },
		{ "x,y\n1,2\n3,4\n", "", "y", 0, LODE_USAGE, "no column for x" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lode_error error = { "" };

		assert_int_equal(explain_text(cases[i].text, cases[i].x, cases[i].y, cases[i].clusters, &error),
				 cases[i].code);
		if (strncmp(error.text, cases[i].sentence, strlen(cases[i].sentence)) != 0)
			fail_msg("'%s' does not begin with '%s'", error.text, cases[i].sentence);
	}
}

static void odd_tables_are_explained_somehow(void **state)
{
	static const char *const texts[] = {
		"x,y\n1,2\n3,4\n",                                /* two rows */
		"x,y\n5,1\n5,2\n5,3\n5,9\n",                      /* all x equal */
		"x,y\n1,7\n2,7\n3,7\n",                           /* all y equal */
		"x,y\n0,0\n0,0\n0,0\n",                           /* nothing */
		"x,y,f\n1,-1,0\n2,-2,1\n3,-3,0\n4,0,1\n",         /* below 0 */
		"x,y,f\n1e300,1e-300,a\n-1e300,1e300,b\n1,1,a\n", /* far apart */
		"x,y,f\n1,1,\n2,2,?\n3,3,NA\n4,4,5\n",            /* missing */
		"x,y,f\n1,5,0\n,6,1\n3,,0\n4,8,1\n5,9,0\n",       /* rows left out */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		for (unsigned clusters = 0; clusters < 3; clusters++) {
			struct lode_error error = { "" };

			if (explain_text(texts[i], "x", "y", clusters, &error) < 0)
				fail_msg("%zu: %s", i, error.text);
		}
}

static void a_category_with_very_many_values_is_no_reason(void **state)
{
	struct lode_explain_options options;
	struct lode_explanation explanation;
	struct lode_data_column *column;
	struct made made;
	uint64_t seed = 11;

	(void)state;
	lode_explain_defaults(&options);
	options.folds = 2;
	add_columns(&made, 20000, 2, &seed);
	column = lode_data_table_add(&made.table, "id", 2, LODE_DATA_CATEGORY);
	for (size_t i = 0; i < 20000; i++) {
		char text[16];

		snprintf(text, sizeof(text), "id%zu", i);
		column->codes[i] = lode_strings_add(&column->values, text, strlen(text));
		made.truth[i] = pattern_of(&made, i, 1);
		made.table.columns[0].numbers[i] = 1 + (double)(i % 100);
		made.table.columns[1].numbers[i] =
			(1 + 2 * made.truth[i]) * (double)(1 + i % 100) * (1 + 0.05 * normal(&seed));
	}
	lode_free(made.input.auxiliary);
	assert_int_equal(lode_explain_columns(&made.input, &made.table, "made", "size", "time", NULL), 0);
	explain(&made, &options, &explanation);
	assert_int_equal(explanation.clusters, 2);
	assert_int_equal(lode_tree_leaves(&explanation.tree), 2);
	assert_true(share_right(&made, &explanation) == 1);
	lode_explanation_release(&explanation);
	made_release(&made);
}

/* ---- Algorithm 1 of the paper ---- */

/* Residual sum of squares of the best line through the rows that have this label. */
static double line_rest(const double *x, const double *y, const unsigned *label, unsigned rows, unsigned which)
{
	double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0, syy = 0, rest;

	for (unsigned i = 0; i < rows; i++)
		if (label[i] == which) {
			n++;
			sx += x[i];
			sy += y[i];
			sxx += x[i] * x[i];
			sxy += x[i] * y[i];
			syy += y[i] * y[i];
		}
	if (n < 2)
		return 0;
	rest = syy - sy * sy / n;
	if (n * sxx - sx * sx > 1e-9)
		rest -= (n * sxy - sx * sy) * (n * sxy - sx * sy) / n / (n * sxx - sx * sx);
	return rest > 0 ? rest : 0;
}

/* The least mean-squared error of so many lines, by trying every way to divide the rows. */
static double least_error(const double *x, const double *y, unsigned rows, unsigned clusters)
{
	unsigned label[16] = { 0 }, at;
	double least = INFINITY;

	do {
		double rest = 0;

		for (unsigned k = 0; k < clusters; k++)
			rest += line_rest(x, y, label, rows, k);
		least = fmin(least, rest / rows);
		for (at = 0; at < rows && ++label[at] == clusters; at++)
			label[at] = 0;
	} while (at < rows);
	return least;
}

static void the_smallest_number_within_a_bound_is_that_of_all_partitions(void **state)
{
	struct lode_explain_options options;
	uint64_t seed = 91;

	(void)state;
	lode_explain_defaults(&options);
	options.smallest = 1;
	for (int round = 0; round < 30; round++) {
		unsigned rows = 9, lines = 1 + (unsigned)round % 3;
		double x[16], y[16], least[4];
		struct made made;

		add_columns(&made, rows, 2, &seed);
		for (unsigned i = 0; i < rows; i++) {
			x[i] = made.table.columns[0].numbers[i] = 1 + 20 * unit(&seed);
			y[i] = made.table.columns[1].numbers[i] =
				5 + x[i] * (1 + 3 * (i % lines)) + 0.3 * normal(&seed);
		}
		for (unsigned k = 1; k <= 3; k++)
			least[k] = least_error(x, y, rows, k);
		/* Half-way between what one function fewer reaches and what this number does. */
		for (unsigned k = 2; k <= 3; k++) {
			struct lode_explanation explanation;

			options.max_error = sqrt(least[k] * least[k - 1]);
			explain(&made, &options, &explanation);
			assert_int_equal(explanation.clusters, k);
			assert_true(explanation.within);
			assert_true(explanation.clustering_error <= options.max_error &&
				    explanation.clustering_error > least[k] * (1 - 1e-9));
			lode_explanation_release(&explanation);
			/* A bound on the size that is too small: the paper's NULL. */
			options.clusters = k - 1;
			explain(&made, &options, &explanation);
			assert_false(explanation.within);
			assert_int_equal(explanation.clusters, k - 1);
			options.clusters = 0;
			lode_explanation_release(&explanation);
		}
		made_release(&made);
	}
}

/* The labels are those of x and y alone, the tree is theirs, and so are leaves' distributions. */
static void the_smallest_number_has_a_tree_of_its_labels(void **state)
{
	struct lode_explain_options options;
	struct lode_explanation explanation;
	struct made made;
	uint64_t seed = 92;

	(void)state;
	lode_explain_defaults(&options);
	options.smallest = 1;
	options.max_error_relative = 1;
	options.max_error = 0.05;
	make_runs(&made, 400, 2, 3, 3, 0.01, &seed);
	/* One in ten rows of the first pattern follows another function. */
	for (size_t i = 0; i < 400; i++)
		if (pattern_of(&made, i, 2) == 1 && random_below(&seed, 10) == 0)
			made.table.columns[1].numbers[i] *= 2;
	for (size_t i = 0; i < 400; i++)
		if (made.truth[i] == 0)
			made.table.columns[1].numbers[i] = 130;
	explain(&made, &options, &explanation);
	assert_true(explanation.within);
	assert_true(explanation.explained);
	assert_true(explanation.accuracy > 0.9 && explanation.accuracy < 1);
	for (uint32_t id = 0; id < explanation.tree.count; id++) {
		size_t counts[LODE_MOST_CLUSTERS] = { 0 };

		if (explanation.tree.nodes[id].feature != LODE_NONE)
			continue;
		for (size_t row = 0; row < explanation.rows; row++)
			if (lode_tree_leaf(&explanation.tree, &explanation.features, row) == id)
				counts[explanation.nearest[row]]++;
		assert_memory_equal(counts, &explanation.tree.sizes[id * explanation.tree.clusters],
				    explanation.tree.clusters * sizeof(*counts));
	}
	lode_explanation_release(&explanation);
	made_release(&made);
}

/* ---- copies ---- */

/* The same rows `times` times over, one table after the other. */
static void repeat(struct made *made, const struct made *from, size_t times)
{
	size_t rows = from->table.rows;
	uint64_t seed = 1;

	add_columns(made, rows * times, (unsigned)from->table.count - 2, &seed);
	for (size_t i = 0; i < rows * times; i++) {
		made->truth[i] = from->truth[i % rows];
		for (size_t c = 0; c < 2; c++)
			made->table.columns[c].numbers[i] = from->table.columns[c].numbers[i % rows];
		for (size_t c = 2; c < from->table.count; c++) {
			made->table.columns[c].bits[i / 64] &= ~((uint64_t)1 << (i % 64));
			if (lode_bit_get(from->table.columns[c].bits, i % rows))
				lode_bit_set(made->table.columns[c].bits, i);
		}
	}
}

static void repeated_rows_change_nothing(void **state)
{
	struct lode_explain_options options;
	struct lode_explanation once, often;
	struct made made, repeated;
	uint64_t seed = 71;

	(void)state;
	lode_explain_defaults(&options);
	options.folds = 4;
	/* Noise that a function of its own for every row would describe. */
	make_runs(&made, 160, 3, 2, 3, 0.06, &seed);
	explain(&made, &options, &once);
	assert_int_equal(once.clusters, 3);
	assert_int_equal(once.copies, 0);
	for (size_t times = 10; times <= 50; times += 40) {
		repeat(&repeated, &made, times);
		explain(&repeated, &options, &often);
		assert_int_equal(often.rows, once.rows);
		assert_int_equal(often.copies, (times - 1) * once.rows);
		assert_int_equal(often.clusters, once.clusters);
		assert_true(often.length == once.length && often.accuracy == once.accuracy);
		for (size_t i = 0; i < often.rows; i++) {
			assert_int_equal(often.row_of[i], i);
			assert_int_equal(often.copy_of[i + often.rows], i);
		}
		lode_explanation_release(&often);
		made_release(&repeated);
	}
	lode_explanation_release(&once);
	made_release(&made);
}

/* Whole seconds: equal rows are runs that took as long, and are worth what they are, unless all were repeated. */
static void equal_rows_of_a_coarse_y_are_no_copies(void **state)
{
	struct lode_explain_options options;
	struct lode_explanation explanation;
	struct made made, repeated;
	uint64_t seed = 72;

	(void)state;
	lode_explain_defaults(&options);
	options.folds = 0;
	add_columns(&made, 300, 2, &seed);
	for (size_t i = 0; i < 300; i++) {
		made.truth[i] = pattern_of(&made, i, 1);
		made.table.columns[0].numbers[i] = 1 + (double)(i % 2);
		made.table.columns[1].numbers[i] =
			round((made.truth[i] ? 30 : 10) + 2 * (double)(i % 2) + 0.8 * normal(&seed));
	}
	explain(&made, &options, &explanation);
	assert_int_equal(explanation.copies, 0);
	assert_int_equal(explanation.clusters, 2);
	lode_explanation_release(&explanation);
	repeat(&repeated, &made, 4);
	explain(&repeated, &options, &explanation);
	assert_int_equal(explanation.copies, 900);
	assert_int_equal(explanation.clusters, 2);
	lode_explanation_release(&explanation);
	made_release(&repeated);
	made_release(&made);
}

static void memory_that_runs_out_is_a_clean_error(void **state)
{
	struct lode_explain_options options;
	struct made made;
	uint64_t seed = 12, asked = 1;

	(void)state;
	lode_explain_defaults(&options);
	options.folds = 2;
	make_runs(&made, 60, 2, 18, 2, 0.01, &seed);
	for (uint64_t nth = 1; nth <= asked; nth += nth < 40 ? 1 : 7 + nth / 12) {
		struct lode_error error = { "" };
		struct lode_explanation explanation;
		int code;

		options.jobs = nth % 2 ? 1 : 2;
		lode_memory_fail_at(nth, nth % 3 == 0);
		code = lode_explain(&made.input, &options, &explanation, &error);
		asked = lode_memory_asked();
		lode_memory_fail_at(0, 0);
		if (code == 0) {
			lode_explanation_release(&explanation);
			continue;
		}
		assert_int_equal(code, LODE_SYSTEM);
		assert_string_not_equal(error.text, "");
	}
	made_release(&made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(levels_are_found_whatever_their_number),
		cmocka_unit_test(parity_among_dummies_is_explained),
		cmocka_unit_test(lines_that_cross_are_distinguished_by_the_tree),
		cmocka_unit_test(asymptotic_classes_are_named),
		cmocka_unit_test(clusters_without_a_reason_are_reported_too),
		cmocka_unit_test(one_function_stays_one),
		cmocka_unit_test(as_many_clusters_come_as_were_asked_for),
		cmocka_unit_test(a_bound_on_the_error_is_kept_or_said_to_be_broken),
		cmocka_unit_test(a_bound_is_met_by_more_functions_where_these_help),
		cmocka_unit_test(pieces_of_a_curve_are_no_clusters),
		cmocka_unit_test(outliers_make_no_tree_larger_than_it_must_be),
		cmocka_unit_test(a_cluster_of_one_pattern_is_found),
		cmocka_unit_test(perfect_data_leave_no_error_at_all),
		cmocka_unit_test(optimal_trees_explain_as_well),
		cmocka_unit_test(seeds_repeat_and_threads_change_nothing),
		cmocka_unit_test(bad_requests_get_a_sentence),
		cmocka_unit_test(odd_tables_are_explained_somehow),
		cmocka_unit_test(a_category_with_very_many_values_is_no_reason),
		cmocka_unit_test(the_smallest_number_within_a_bound_is_that_of_all_partitions),
		cmocka_unit_test(the_smallest_number_has_a_tree_of_its_labels),
		cmocka_unit_test(repeated_rows_change_nothing),
		cmocka_unit_test(equal_rows_of_a_coarse_y_are_no_copies),
		cmocka_unit_test(memory_that_runs_out_is_a_clean_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
