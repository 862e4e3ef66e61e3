/*
 * Whole explanations: tables that are made here, whose truth is known, like the
 * micro-benchmarks of the paper; and everything that can be wrong with a table.
 */
#include "explain_fixture.h"

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

/* Where two lines cross, only the tree can separate them; with additive noise, and y below 0. */
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

/* The fewest leaves that separate the levels of all patterns, by trying every test at every node. */
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
	for (int round = 0; round < (TEST_SANITIZED ? 2 : 8); round++) {
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

/* Of 128 patterns one has its own function: a dozen rows of the sample, among outliers. */
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
		cmocka_unit_test(pieces_of_a_curve_are_no_clusters),
		cmocka_unit_test(outliers_make_no_tree_larger_than_it_must_be),
		cmocka_unit_test(a_cluster_of_one_pattern_is_found),
		cmocka_unit_test(perfect_data_leave_no_error_at_all),
		cmocka_unit_test(optimal_trees_explain_as_well),
		cmocka_unit_test(seeds_repeat_and_threads_change_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
