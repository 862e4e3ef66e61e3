/* An explanation as JSON: the contract of `lode explain --json`; see explain_report.h. */
#include "base/json.h"
#include "base/memory.h"
#include "result/explain_report.h"
#include "result/unread_fields.h"

#include <math.h>
#include <string.h>

static void put_function(const struct lode_explain_report *report, const struct lode_function *function,
			 struct lode_json *json)
{
	const struct lode_points *points = &report->explanation->points;

	lode_json_key_object(json, "function");
	lode_json_key_double(json, "intercept", lode_function_coefficient(points, function, 0));
	lode_json_key_object(json, "coefficients");
	for (unsigned k = 1; k < function->count; k++) {
		struct lode_buffer term = { 0 };

		lode_explain_term(report, function, k, &term);
		lode_buffer_byte(&term, '\0');
		json->buffer->failed |= term.failed;
		if (!term.failed)
			lode_json_key_double(json, term.bytes, lode_function_coefficient(points, function, k));
		lode_buffer_release(&term);
	}
	lode_json_object_end(json);
	lode_json_object_end(json);
}

static void put_clusters(const struct lode_explain_report *report, struct lode_json *json)
{
	const struct lode_explanation *explanation = report->explanation;

	lode_json_key_array(json, "clusters");
	for (unsigned k = 0; k < explanation->clusters; k++) {
		const struct lode_explained_cluster *cluster = &explanation->cluster[k];

		lode_json_object(json);
		lode_json_key_u64(json, "id", k);
		lode_json_key_u64(json, "size", cluster->size);
		put_function(report, &cluster->function, json);
		lode_json_key_double(json, "r2", cluster->r2);
		lode_json_key_double(json, "share", cluster->share);
		lode_json_key_double(json, "spread", cluster->function.spread);
		lode_json_key_double(json, "median_y", cluster->typical_y);
		lode_json_object_end(json);
	}
	lode_json_array_end(json);
}

static void put_counts(const struct lode_tree *tree, uint32_t id, struct lode_json *json)
{
	lode_json_key_array(json, "counts");
	for (unsigned k = 0; k < tree->clusters; k++)
		lode_json_u64(json, tree->sizes[id * tree->clusters + k]);
	lode_json_array_end(json);
}

/* Of a leaf: the shares of its rows that are nearest to each function, as in section 3 of the paper. */
static void put_distribution(const struct lode_tree *tree, uint32_t id, struct lode_json *json)
{
	size_t rows = lode_tree_rows(tree, id);

	lode_json_key_array(json, "distribution");
	for (unsigned k = 0; k < tree->clusters; k++)
		lode_json_double(json, (double)tree->sizes[id * tree->clusters + k] / (double)(rows ? rows : 1));
	lode_json_array_end(json);
}

/* A category is written as the feature `color=red`, which is 0 or 1, and its value apart. */
static void put_test(const struct lode_explain_report *report, const struct lode_tree_node *node,
		     struct lode_json *json)
{
	const struct lode_feature *feature = &report->explanation->features.items[node->feature];
	const struct lode_data_column *column = &report->input->table->columns[feature->columns[0]];
	struct lode_buffer name = { 0 };

	if (feature->kind != LODE_FEATURE_CATEGORY) {
		lode_json_key_text(json, "feature", column->name);
		lode_json_key_double(json, "threshold", node->threshold);
		if (lode_explain_unit(report, feature->columns[0])[0])
			lode_json_key_text(json, "unit", lode_explain_unit(report, feature->columns[0]));
		return;
	}
	lode_buffer_print(&name, "%s=%s", column->name,
			  node->code < column->values.count ? lode_strings_get(&column->values, node->code) : "");
	lode_json_key(json, "feature");
	lode_json_text_n(json, name.failed ? "" : name.bytes, name.size);
	json->buffer->failed |= name.failed;
	lode_json_key_double(json, "threshold", 0.5);
	lode_json_key_text(json, "column", column->name);
	lode_json_key_text_or_null(json, "value",
				   node->code < column->values.count ? lode_strings_get(&column->values, node->code)
								     : NULL);
	lode_buffer_release(&name);
}

static void put_node(const struct lode_explain_report *report, uint32_t id, struct lode_json *json)
{
	const struct lode_tree *tree = &report->explanation->tree;
	const struct lode_tree_node *node = &tree->nodes[id];

	lode_json_object(json);
	if (node->feature == LODE_NONE) {
		lode_json_key_u64(json, "cluster", node->cluster);
		put_distribution(tree, id, json);
	} else {
		put_test(report, node, json);
		lode_json_key(json, "left");
		put_node(report, node->left, json);
		lode_json_key(json, "right");
		put_node(report, node->right, json);
	}
	put_counts(tree, id, json);
	lode_json_object_end(json);
}

static void put_confusion(const struct lode_explanation *explanation, struct lode_json *json)
{
	lode_json_key_array(json, "confusion");
	for (unsigned i = 0; i < explanation->clusters; i++) {
		lode_json_array(json);
		for (unsigned k = 0; k < explanation->clusters; k++)
			lode_json_u64(json, explanation->confusion[i * explanation->clusters + k]);
		lode_json_array_end(json);
	}
	lode_json_array_end(json);
}

static void put_columns(const struct lode_explain_report *report, struct lode_json *json)
{
	const struct lode_features *features = &report->explanation->features;
	const struct lode_data_column *columns = report->input->table->columns;

	lode_json_key_array(json, "same");
	for (size_t i = 0; i < features->count; i++) {
		if (features->items[i].column_count < 2)
			continue;
		lode_json_array(json);
		for (size_t k = 0; k < features->items[i].column_count; k++)
			lode_json_text(json, columns[features->items[i].columns[k]].name);
		lode_json_array_end(json);
	}
	lode_json_array_end(json);
	lode_json_key_array(json, "constant");
	for (size_t i = 0; i < features->constant_count; i++)
		lode_json_text(json, columns[features->constant[i]].name);
	lode_json_array_end(json);
}

/* The cluster of each row of the table; LODE_NONE where the row has no x or no y. */
static uint32_t *all_assignments(const struct lode_explain_report *report)
{
	const struct lode_explanation *explanation = report->explanation;
	size_t rows = report->input->table->rows;
	uint32_t *clusters = lode_alloc(rows * sizeof(*clusters));

	if (!clusters)
		return NULL;
	memset(clusters, 0xff, rows * sizeof(*clusters));
	for (size_t i = 0; i < explanation->rows; i++)
		clusters[explanation->row_of[i]] = explanation->assigned[i];
	for (size_t row = 0; explanation->copy_of && row < rows; row++)
		if (explanation->copy_of[row] != LODE_NONE)
			clusters[row] = clusters[explanation->copy_of[row]];
	return clusters;
}

static void put_assignments(const struct lode_explain_report *report, struct lode_json *json)
{
	uint32_t *clusters = all_assignments(report);

	lode_json_key_array(json, "assignments");
	for (size_t row = 0; clusters && row < report->input->table->rows; row++) {
		if (clusters[row] != LODE_NONE)
			lode_json_u64(json, clusters[row]);
		else
			lode_json_null(json);
	}
	lode_json_array_end(json);
	json->buffer->failed |= !clusters;
	lode_free(clusters);
}

/* Of a corpus: what each row is, in the order of the assignments. */
static void put_streams(const struct lode_area *area, struct lode_json *json)
{
	const struct lode_strings *strings = &area->dictionary.frames.strings;

	lode_json_key_array(json, "streams");
	for (size_t i = 0; i < area->stream_count; i++) {
		const struct lode_area_stream *stream = &area->streams[i];

		lode_json_object(json);
		lode_json_key_text(json, "id", stream->id);
		lode_json_key_text(json, "name", lode_strings_get(strings, stream->name));
		if (area->by_symptom) {
			lode_json_key_text(json, "symptom", lode_strings_get(strings, stream->symptom.name));
			lode_json_key_u64(json, "tid", stream->symptom.tid);
			lode_json_key_u64(json, "t0", stream->symptom.t0);
			lode_json_key_u64(json, "t1", stream->symptom.t1);
		}
		lode_json_object_end(json);
	}
	lode_json_array_end(json);
}

/* None where no tree separates the clusters. */
static void put_accuracy(const struct lode_explanation *explanation, struct lode_json *json)
{
	double accuracy = isnan(explanation->accuracy) ? explanation->agreement : explanation->accuracy;

	lode_json_key_double(json, "accuracy", explanation->explained ? accuracy : NAN);
}

/* What the same search found in tables without a reason, where it was asked; and what was withdrawn, and why. */
static void put_evidence(const struct lode_explanation *explanation, struct lode_json *json)
{
	static const char *const reasons[] = { NULL, "chance", "curve", "cut" };

	lode_json_key(json, "chance");
	if (explanation->chance.tables) {
		lode_json_object(json);
		lode_json_key_u64(json, "tables", explanation->chance.tables);
		lode_json_key_u64(json, "as_good", explanation->chance.as_good);
		lode_json_object_end(json);
	} else {
		lode_json_null(json);
	}
	lode_json_key_text_or_null(json, "withdrawn", reasons[explanation->withdrawn]);
}

void lode_explain_json(const struct lode_explain_report *report, struct lode_buffer *buffer)
{
	const struct lode_explanation *explanation = report->explanation;
	struct lode_json json = { .buffer = buffer };

	lode_json_object(&json);
	put_clusters(report, &json);
	lode_json_key(&json, "tree");
	put_node(report, 0, &json);
	put_accuracy(explanation, &json);
	lode_json_key_double(&json, "r2", explanation->r2);
	lode_json_key_u64(&json, "height", lode_tree_height(&explanation->tree));
	lode_json_key_u64(&json, "leaves", lode_tree_leaves(&explanation->tree));
	lode_json_key_bool(&json, "cross_validated", !isnan(explanation->accuracy));
	lode_json_key_double(&json, "validated_r2", explanation->validated_r2);
	lode_json_key_double(&json, "agreement", explanation->agreement);
	lode_json_key_double(&json, "mean_square_error", explanation->mean_square);
	lode_json_key_double(&json, "clustering_error", explanation->clustering_error);
	lode_json_key_double(&json, "distribution_error", explanation->distribution_error);
	lode_json_key_double(&json, "relative_error", explanation->relative_error);
	lode_json_key_bool(&json, "explained", explanation->explained);
	lode_json_key_bool(&json, "within", explanation->within);
	lode_json_key_text(&json, "noise",
			   explanation->points.noise == LODE_NOISE_RELATIVE ? "relative" : "additive");
	lode_json_key_u64(&json, "rows", explanation->rows);
	lode_json_key_u64(&json, "left_out", explanation->left_out);
	lode_json_key_u64(&json, "copies", explanation->copies);
	put_evidence(explanation, &json);
	put_confusion(explanation, &json);
	put_columns(report, &json);
	put_assignments(report, &json);
	lode_explain_points_json(report, &json);
	lode_explain_curves_json(report, &json);
	if (report->area) {
		put_streams(report->area, &json);
		lode_unread_streams_json(&report->area->unread, &json);
	}
	if (report->page) {
		lode_json_key(&json, "page");
		report->page(report, &json);
	}
	lode_json_object_end(&json);
	lode_json_line(&json);
}
