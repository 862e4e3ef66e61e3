/* Explanations of odd requests and tables: bounds on the error, repeated rows, bad requests, failing memory. */
#include "explain_fixture.h"

/* ---- truth ---- */

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

/* Two lines that are so near each other that they count as one, unless a smaller error is requested. */
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
	/* A number that is requested is the most there may be. */
	options.clusters = 2;
	explain(&made, &options, &explanation);
	assert_false(explanation.within);
	assert_int_equal(explanation.clusters, 2);
	lode_explanation_release(&explanation);
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
		size_t counts[LODE_MAX_CLUSTERS] = { 0 };

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
		cmocka_unit_test(a_bound_on_the_error_is_kept_or_said_to_be_broken),
		cmocka_unit_test(a_bound_is_met_by_more_functions_where_these_help),
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
