/* The fields of `lode explain --json`: see explain_result.h. */
#include "result/explain_result.h"
#include "result/field_rows.h"

#define TABLE_OF struct lode_explain_function_fields
static const struct lode_field function_rows[] = {
	FIELD_DOUBLE(intercept, "Its constant.", FIELD_NULLABLE),
	FIELD_WRITTEN(coefficients, LODE_SHAPE_MAP, LODE_FIELD_DOUBLE, "Factors of its terms.", FIELD_MAYBE_NULL),
};
static const struct lode_fields function = FIELD_TABLE("ExplainFunction", function_rows);
#undef TABLE_OF

#define TABLE_OF struct lode_explain_cluster
static const struct lode_field cluster_rows[] = {
	FIELD_U64(id, "Its number."),
	FIELD_U64(size, "Rows that follow it."),
	FIELD_OBJECT(function, function, "y as a function of x."),
	FIELD_DOUBLE(r2, "How much of the spread of y it explains in its rows; null: unknown.", FIELD_NULLABLE),
	FIELD_DOUBLE(share, "Its part of all rows."),
	FIELD_DOUBLE(spread, "How far rows are from it.", FIELD_NULLABLE),
	FIELD_DOUBLE(median_y, "Median of y in its rows.", FIELD_NULLABLE),
};
static const struct lode_fields cluster = FIELD_TABLE("ExplainCluster", cluster_rows);
#undef TABLE_OF

/* ---- the tree ---- */

#define TABLE_OF struct lode_explain_leaf
static const struct lode_field leaf_rows[] = {
	FIELD_U64(cluster, "The function that its rows follow."),
	FIELD_WRITTEN(distribution, LODE_SHAPE_LIST, LODE_FIELD_DOUBLE,
		      "Shares of its rows that are nearest to each function."),
	FIELD_WRITTEN_NUMBERS(counts, "Its rows by function."),
};
const struct lode_fields lode_explain_leaf_fields = FIELD_TABLE("ExplainLeaf", leaf_rows);
#undef TABLE_OF

static const struct lode_fields node =
	FIELD_EITHER("ExplainNode", lode_explain_leaf_fields, lode_explain_test_fields);

#define TABLE_OF struct lode_explain_test_fields
static const struct lode_field test_rows[] = {
	FIELD_WRITTEN_TEXT(feature, "The column, or `column=value` of a category."),
	FIELD_DOUBLE(threshold, "Rows up to it go left, others right."),
	FIELD_TEXT(unit, "Unit of the threshold.", FIELD_OPTIONAL),
	FIELD_TEXT(column, "Of a category: its column.", FIELD_OPTIONAL_IF(is_category)),
	FIELD_TEXT(value, "Of a category: the value that goes right.", FIELD_OPTIONAL_IF(is_category),
		   FIELD_MAYBE_NULL),
	FIELD_WRITTEN(left, LODE_SHAPE_ONE, LODE_FIELD_OBJECT, "The branch of rows up to the threshold.",
		      .fields = &node),
	FIELD_WRITTEN(right, LODE_SHAPE_ONE, LODE_FIELD_OBJECT, "The branch of rows above the threshold.",
		      .fields = &node),
	FIELD_WRITTEN_NUMBERS(counts, "Its rows by function."),
};
const struct lode_fields lode_explain_test_fields = FIELD_TABLE("ExplainTest", test_rows);
#undef TABLE_OF

/* ---- rows and curves ---- */

#define TABLE_OF struct lode_explain_evidence
static const struct lode_field evidence_rows[] = {
	FIELD_U64(tables, "Tables of chance."),
	FIELD_U64(as_good, "Those that were explained as well."),
};
static const struct lode_fields evidence = FIELD_TABLE("ExplainChance", evidence_rows);
#undef TABLE_OF

#define TABLE_OF struct lode_explain_stream
static const struct lode_field stream_rows[] = {
	FIELD_TEXT(id, "Id of the stream."),
	FIELD_TEXT(name, "Name of the stream."),
	FIELD_TEXT(symptom, "Name of the symptom.", FIELD_OPTIONAL_IF(is_symptom)),
	FIELD_U32(tid, "Its thread.", FIELD_OPTIONAL_IF(is_symptom)),
	FIELD_U64(t0, "Its start.", FIELD_OPTIONAL_IF(is_symptom)),
	FIELD_U64(t1, "Its end.", FIELD_OPTIONAL_IF(is_symptom)),
};
static const struct lode_fields stream = FIELD_TABLE("ExplainStream", stream_rows);
#undef TABLE_OF

#define TABLE_OF struct lode_explain_points
static const struct lode_field points_rows[] = {
	FIELD_U64(left_out, "Rows that are not among them."),
	FIELD_LIST_AS("x", x, LODE_FIELD_DOUBLE, "x of each."),
	FIELD_LIST_AS("y", y, LODE_FIELD_DOUBLE, "y of each."),
	FIELD_NUMBERS(row, "Its row in the table."),
	FIELD_NUMBERS(cluster, "Its cluster."),
};
static const struct lode_fields points = FIELD_TABLE("ExplainPoints", points_rows);
#undef TABLE_OF

#define TABLE_OF struct lode_explain_curves
static const struct lode_field curves_rows[] = {
	FIELD_LIST_AS("x", x, LODE_FIELD_DOUBLE,
		      "The places, from the least x to the most; empty with several inputs."),
	FIELD_WRITTEN(y, LODE_SHAPE_LISTS, LODE_FIELD_DOUBLE,
		      "A list for each cluster: its function at each place.", FIELD_MAYBE_NULL),
};
static const struct lode_fields curves = FIELD_TABLE("ExplainCurves", curves_rows);
#undef TABLE_OF

#define TABLE_OF struct lode_explain_page
static const struct lode_field page_rows[] = {
	FIELD_TEXT(name, "The table."),
	FIELD_TEXT(x, "Column of x."),
	FIELD_TEXT(y, "Column of y."),
	FIELD_U64(inputs, "Columns of x."),
	FIELD_BOOL(logarithmic, "Axes are logarithmic."),
	FIELD_WRITTEN_TEXTS(functions, "The functions in words."),
	FIELD_WRITTEN_TEXTS(tests, "The tests of the tree in words, in its order; null: a leaf.", FIELD_MAYBE_NULL),
	FIELD_WRITTEN_TEXTS(sentences,
			    "Where the tree has tests: a cluster each, which rows it has and how slow they are."),
	FIELD_WRITTEN_TEXT(text, "The whole explanation as text."),
};
const struct lode_fields lode_explain_page_fields = FIELD_TABLE("ExplainPage", page_rows);
#undef TABLE_OF

/* ---- the whole ---- */

static const char *noise_choice(unsigned number)
{
	return number == 0 ? "relative" : number == 1 ? "additive" : NULL;
}

static const char *withdrawn_choice(unsigned number)
{
	static const char *const names[] = { "chance", "curve", "cut" };

	return number < sizeof(names) / sizeof(names[0]) ? names[number] : NULL;
}

#define TABLE_OF struct lode_explain_result
static const struct lode_field explain_rows[] = {
	FIELD_OBJECTS(clusters, cluster, "The functions."),
	FIELD_WRITTEN(tree, LODE_SHAPE_ONE, LODE_FIELD_OBJECT, "A node: a test with two branches, or a leaf.",
		      .fields = &node),
	FIELD_DOUBLE(accuracy,
		     "How often the tree is right about rows it has not seen; null: it distinguishes nothing.",
		     FIELD_NULLABLE),
	FIELD_DOUBLE(r2, "How much of the spread of y everything explains.", FIELD_NULLABLE),
	FIELD_U64(height, "Height of the tree."),
	FIELD_U64(leaves, "Leaves of the tree."),
	FIELD_BOOL(cross_validated, "Accuracy was found by cross-validation."),
	FIELD_DOUBLE(validated_r2, "r2 of rows that were not seen.", FIELD_NULLABLE),
	FIELD_DOUBLE(agreement, "How often the tree agrees with the clusters.", FIELD_NULLABLE),
	FIELD_DOUBLE(mean_square_error, "Mean square error.", FIELD_NULLABLE),
	FIELD_DOUBLE(clustering_error, "Error of the clustering, as the paper has it.", FIELD_NULLABLE),
	FIELD_DOUBLE(distribution_error, "Error of the distribution in the leaves, as the paper has it.",
		     FIELD_NULLABLE),
	FIELD_DOUBLE(relative_error, "Mean error as a part of y.", FIELD_NULLABLE),
	FIELD_BOOL(explained, "The tree separates the clusters."),
	FIELD_BOOL(within, "The columns explain differences within clusters."),
	FIELD_TEXT(noise, "How rows scatter.", FIELD_CHOICE(noise_choice)),
	FIELD_U64(rows, "Rows that were used."),
	FIELD_U64(left_out, "Rows without x or y."),
	FIELD_U64(copies, "Rows that equal an earlier one and count once."),
	FIELD_OBJECT(chance, evidence, "What the same search found in tables of chance; null: it was not asked.",
		     FIELD_NULLABLE_UNLESS(has_chance)),
	FIELD_TEXT(withdrawn, "Why several functions were withdrawn; null: they were not.", FIELD_NULLABLE,
		   FIELD_CHOICE(withdrawn_choice)),
	FIELD_WRITTEN(confusion, LODE_SHAPE_LISTS, LODE_FIELD_U64, "Rows by cluster and by what the tree says."),
	FIELD_WRITTEN(same, LODE_SHAPE_LISTS, LODE_FIELD_TEXT, "Columns that are equal in every row."),
	FIELD_TEXTS(constant, "Columns that are the same in all rows."),
	FIELD_WRITTEN_NUMBERS(assignments, "The cluster of each row; null: left out.", FIELD_MAYBE_NULL),
	FIELD_OBJECT(points, points, "The rows as points, at most 1,000 (20,000 with page-data), evenly chosen."),
	FIELD_OBJECT(curves, curves, "With one x: what the functions are at evenly spaced x."),
	FIELD_OBJECTS(streams, stream, "Of a corpus: what each row is.", FIELD_OPTIONAL_IF(is_corpus)),
	FIELD_PART(unread, lode_unread_part_fields),
	FIELD_WRITTEN(page, LODE_SHAPE_ONE, LODE_FIELD_OBJECT, "With page-data: what the page needs besides.",
		      .fields = &lode_explain_page_fields, FIELD_OPTIONAL),
};
const struct lode_fields lode_explain_fields = FIELD_TABLE("ExplainResult", explain_rows);
#undef TABLE_OF
