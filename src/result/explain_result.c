/* Fills the result of lode explain, and writes it as JSON: see explain_result.h. */
#include "result/explain_result.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

/* ---- clusters ---- */

static int write_coefficients(const struct lode_written *self, struct lode_json *json)
{
	const struct lode_explain_report *report = self->from;
	const struct lode_function *function = self->with;

	lode_json_object(json);
	for (unsigned k = 1; k < function->count; k++) {
		struct lode_buffer term = { 0 };

		lode_explain_term(report, function, k, &term);
		lode_buffer_byte(&term, '\0');
		json->buffer->failed |= term.failed;
		if (!term.failed)
			lode_json_key_double(json, term.bytes,
					     lode_function_coefficient(&report->explanation->points, function, k));
		lode_buffer_release(&term);
	}
	lode_json_object_end(json);
	return 0;
}

static int make_cluster(const struct lode_list *list, size_t i, void *item)
{
	const struct lode_explain_report *report = list->from;
	const struct lode_explained_cluster *cluster = &report->explanation->cluster[i];

	*(struct lode_explain_cluster *)item = (struct lode_explain_cluster){
		.id = i,
		.size = cluster->size,
		.function = { lode_function_coefficient(&report->explanation->points, &cluster->function, 0),
			      { .write = write_coefficients, .from = report, .with = &cluster->function } },
		.r2 = cluster->r2,
		.share = cluster->share,
		.spread = cluster->function.spread,
		.median_y = cluster->typical_y,
	};
	return 1;
}

/* ---- the tree ---- */

static int write_counts(const struct lode_written *self, struct lode_json *json)
{
	const struct lode_tree *tree = self->from;

	lode_json_array(json);
	for (unsigned k = 0; k < tree->clusters; k++)
		lode_json_u64(json, tree->sizes[self->first * tree->clusters + k]);
	lode_json_array_end(json);
	return 0;
}

/* Of a leaf: the shares of its rows that are nearest to each function, as in section 3 of the paper. */
static int write_distribution(const struct lode_written *self, struct lode_json *json)
{
	const struct lode_tree *tree = self->from;
	size_t rows = lode_tree_rows(tree, (uint32_t)self->first);

	lode_json_array(json);
	for (unsigned k = 0; k < tree->clusters; k++)
		lode_json_double(json, (double)tree->sizes[self->first * tree->clusters + k] /
					       (double)(rows ? rows : 1));
	lode_json_array_end(json);
	return 0;
}

/* The value of a category that goes right; NULL: one that the table does not have. */
static const char *value_of(const struct lode_data_column *column, const struct lode_tree_node *node)
{
	return node->code < column->values.count ? lode_strings_get(&column->values, node->code) : NULL;
}

/* A category is the feature `color=red`, which is 0 or 1. */
static int write_feature(const struct lode_written *self, struct lode_json *json)
{
	const struct lode_data_column *column = self->from;
	const struct lode_tree_node *node = self->with;
	struct lode_buffer name = { 0 };

	if (!self->count) {
		lode_json_text(json, column->name);
		return 0;
	}
	lode_buffer_print(&name, "%s=%s", column->name, value_of(column, node) ? value_of(column, node) : "");
	lode_json_take(json, &name);
	lode_buffer_release(&name);
	return 0;
}

static int write_node(const struct lode_written *self, struct lode_json *json);

static struct lode_written node_of(const struct lode_explain_report *report, uint32_t id)
{
	return (struct lode_written){ .write = write_node, .from = report, .first = id };
}

static void write_test(const struct lode_explain_report *report, uint32_t id, struct lode_json *json)
{
	const struct lode_tree *tree = &report->explanation->tree;
	const struct lode_tree_node *node = &tree->nodes[id];
	const struct lode_feature *feature = &report->explanation->features.items[node->feature];
	const struct lode_data_column *column = &report->input->table->columns[feature->columns[0]];
	int is_category = feature->kind == LODE_FEATURE_CATEGORY;
	const char *unit = is_category ? "" : lode_explain_unit(report, feature->columns[0]);
	struct lode_explain_test_fields test = {
		.feature = { .write = write_feature, .from = column, .with = node, .count = is_category },
		.threshold = is_category ? 0.5 : node->threshold,
		.unit = *unit ? unit : NULL,
		.is_category = is_category,
		.column = column->name,
		.value = is_category ? value_of(column, node) : NULL,
		.left = node_of(report, node->left),
		.right = node_of(report, node->right),
		.counts = { .write = write_counts, .from = tree, .first = id },
	};

	lode_fields_write(&lode_explain_test_fields, &test, json);
}

static int write_node(const struct lode_written *self, struct lode_json *json)
{
	const struct lode_explain_report *report = self->from;
	const struct lode_tree *tree = &report->explanation->tree;
	const struct lode_tree_node *node = &tree->nodes[self->first];
	struct lode_explain_leaf leaf = {
		.cluster = node->cluster,
		.distribution = { .write = write_distribution, .from = tree, .first = self->first },
		.counts = { .write = write_counts, .from = tree, .first = self->first },
	};

	if (node->feature == LODE_NONE)
		lode_fields_write(&lode_explain_leaf_fields, &leaf, json);
	else
		write_test(report, (uint32_t)self->first, json);
	return 0;
}

/* ---- rows and columns ---- */

static int write_confusion(const struct lode_written *self, struct lode_json *json)
{
	const struct lode_explanation *explanation = self->from;

	lode_json_array(json);
	for (unsigned i = 0; i < explanation->clusters; i++) {
		lode_json_array(json);
		for (unsigned k = 0; k < explanation->clusters; k++)
			lode_json_u64(json, explanation->confusion[i * explanation->clusters + k]);
		lode_json_array_end(json);
	}
	lode_json_array_end(json);
	return 0;
}

static int write_same(const struct lode_written *self, struct lode_json *json)
{
	const struct lode_explain_report *report = self->from;
	const struct lode_features *features = &report->explanation->features;
	const struct lode_data_column *columns = report->input->table->columns;

	lode_json_array(json);
	for (size_t i = 0; i < features->count; i++) {
		if (features->items[i].column_count < 2)
			continue;
		lode_json_array(json);
		for (size_t k = 0; k < features->items[i].column_count; k++)
			lode_json_text(json, columns[features->items[i].columns[k]].name);
		lode_json_array_end(json);
	}
	lode_json_array_end(json);
	return 0;
}

static int make_constant(const struct lode_list *list, size_t i, void *item)
{
	const struct lode_explain_report *report = list->from;
	uint32_t column = report->explanation->features.constant[i];

	*(const char **)item = report->input->table->columns[column].name;
	return 1;
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

static int write_assignments(const struct lode_written *self, struct lode_json *json)
{
	const struct lode_explain_report *report = self->from;
	uint32_t *clusters = all_assignments(report);

	if (!clusters)
		return LODE_SYSTEM;
	lode_json_array(json);
	for (size_t row = 0; row < report->input->table->rows; row++) {
		if (clusters[row] != LODE_NONE)
			lode_json_u64(json, clusters[row]);
		else
			lode_json_null(json);
	}
	lode_json_array_end(json);
	lode_free(clusters);
	return 0;
}

/* Of a corpus: what each row is, in the order of the assignments. */
static int make_stream(const struct lode_list *list, size_t i, void *item)
{
	const struct lode_area *area = list->from;
	const struct lode_strings *strings = &area->dictionary.frames.strings;
	const struct lode_area_stream *stream = &area->streams[i];

	*(struct lode_explain_stream *)item = (struct lode_explain_stream){
		.id = stream->id,
		.name = lode_strings_get(strings, stream->name),
		.is_symptom = area->by_symptom,
		.symptom = area->by_symptom ? lode_strings_get(strings, stream->symptom.name) : NULL,
		.tid = stream->symptom.tid,
		.t0 = stream->symptom.t0,
		.t1 = stream->symptom.t1,
	};
	return 1;
}

/* ---- the whole ---- */

/* None where no tree separates the clusters. */
static double accuracy_of(const struct lode_explanation *explanation)
{
	double accuracy = isnan(explanation->accuracy) ? explanation->agreement : explanation->accuracy;

	return explanation->explained ? accuracy : NAN;
}

static void add_corpus(struct lode_explain_result *result, const struct lode_area *area)
{
	result->is_corpus = 1;
	result->streams = (struct lode_list){ area->stream_count, area, 0, make_stream };
	result->unread = lode_unread_part(&area->unread);
}

void lode_explain_json(const struct lode_explain_report *report, struct lode_buffer *buffer)
{
	static const char *const reasons[] = { NULL, "chance", "curve", "cut" };
	const struct lode_explanation *explanation = report->explanation;
	struct lode_explain_result result = {
		.clusters = { explanation->clusters, report, 0, make_cluster },
		.tree = node_of(report, 0),
		.accuracy = accuracy_of(explanation),
		.r2 = explanation->r2,
		.height = lode_tree_height(&explanation->tree),
		.leaves = lode_tree_leaves(&explanation->tree),
		.cross_validated = !isnan(explanation->accuracy),
		.validated_r2 = explanation->validated_r2,
		.agreement = explanation->agreement,
		.mean_square_error = explanation->mean_square,
		.clustering_error = explanation->clustering_error,
		.distribution_error = explanation->distribution_error,
		.relative_error = explanation->relative_error,
		.explained = explanation->explained,
		.within = explanation->within,
		.noise = explanation->points.noise == LODE_NOISE_RELATIVE ? "relative" : "additive",
		.rows = explanation->rows,
		.left_out = explanation->left_out,
		.copies = explanation->copies,
		/* What the same search found in tables without a reason, where it was asked. */
		.has_chance = explanation->chance.tables != 0,
		.chance = { explanation->chance.tables, explanation->chance.as_good },
		.withdrawn = reasons[explanation->withdrawn],
		.confusion = { .write = write_confusion, .from = explanation },
		.same = { .write = write_same, .from = report },
		.constant = { explanation->features.constant_count, report, 0, make_constant },
		.assignments = { .write = write_assignments, .from = report },
		.points = lode_explain_points_of(report),
		.curves = lode_explain_curves_of(report),
		.page = report->page,
	};

	if (report->area)
		add_corpus(&result, report->area);
	lode_fields_line(&lode_explain_fields, &result, buffer);
}
