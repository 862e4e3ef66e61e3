/*
 * An explanation as a page: its JSON, and what a picture of it needs besides, the points,
 * the functions' curves and the words of the text; see explain_page.h. Of very many
 * rows only some are drawn, evenly chosen; the page says how many.
 */
#include "page/explain_page.h"

#include "base/json.h"
#include "text/explain_text.h"

#define MOST_POINTS 20000
/* Pieces that a curve is drawn with. */
#define PIECES 100

/* The i-th of the rows that are drawn. */
static size_t drawn_row(const struct lode_explanation *explanation, size_t i, size_t drawn)
{
	return (size_t)((double)i * (double)explanation->rows / (double)drawn);
}

static void put_points(const struct lode_explanation *explanation, struct lode_json *json)
{
	size_t drawn = explanation->rows < MOST_POINTS ? explanation->rows : MOST_POINTS;

	lode_json_key(json, "points");
	lode_json_object(json);
	lode_json_key(json, "x");
	lode_json_array(json);
	for (size_t i = 0; i < drawn; i++)
		lode_json_double(json, lode_explain_x(explanation, drawn_row(explanation, i, drawn)));
	lode_json_array_end(json);
	lode_json_key(json, "y");
	lode_json_array(json);
	for (size_t i = 0; i < drawn; i++)
		lode_json_double(json, explanation->points.y[drawn_row(explanation, i, drawn)]);
	lode_json_array_end(json);
	lode_json_key(json, "row");
	lode_json_array(json);
	for (size_t i = 0; i < drawn; i++)
		lode_json_u64(json, explanation->row_of[drawn_row(explanation, i, drawn)]);
	lode_json_array_end(json);
	lode_json_key(json, "cluster");
	lode_json_array(json);
	for (size_t i = 0; i < drawn; i++)
		lode_json_u64(json, explanation->assigned[drawn_row(explanation, i, drawn)]);
	lode_json_array_end(json);
	lode_json_object_end(json);
}

/* For each cluster what its function is at PIECES + 1 places from the least to the most x. */
static void put_curves(const struct lode_explain_report *report, const struct lode_explain_frame *frame,
		       struct lode_json *json)
{
	const struct lode_explanation *explanation = report->explanation;

	lode_json_key(json, "curves");
	lode_json_array(json);
	for (unsigned k = 0; report->input->inputs == 1 && k < explanation->clusters; k++) {
		lode_json_array(json);
		for (unsigned i = 0; i <= PIECES; i++)
			lode_json_double(json, lode_explain_value(explanation, &explanation->cluster[k].function,
							frame->least_x +
								(frame->most_x - frame->least_x) * i / PIECES));
		lode_json_array_end(json);
	}
	lode_json_array_end(json);
}

/* What the right side of each node asks for, in the order of the tree, left before right; null for leaves. */
static void put_tests(const struct lode_explain_report *report, uint32_t id, struct lode_buffer *text,
		      struct lode_json *json)
{
	const struct lode_tree_node *node = &report->explanation->tree.nodes[id];

	if (node->feature == LODE_NONE) {
		lode_json_null(json);
		return;
	}
	lode_explain_test(report, node, 1, text);
	lode_json_take(json, text);
	put_tests(report, node->left, text, json);
	put_tests(report, node->right, text, json);
}

static void put_words(const struct lode_explain_report *report, struct lode_json *json)
{
	struct lode_buffer text = { 0 };

	lode_json_key(json, "functions");
	lode_json_array(json);
	for (unsigned k = 0; k < report->explanation->clusters; k++) {
		lode_explain_function(report, &report->explanation->cluster[k].function, &text);
		lode_json_take(json, &text);
	}
	lode_json_array_end(json);
	lode_json_key(json, "tests");
	lode_json_array(json);
	put_tests(report, 0, &text, json);
	lode_json_array_end(json);
	lode_json_key(json, "sentences");
	lode_json_array(json);
	for (unsigned k = 0; report->explanation->tree.count > 1 && k < report->explanation->clusters; k++) {
		lode_explain_sentence(report, k, &text);
		lode_json_take(json, &text);
	}
	lode_json_array_end(json);
	lode_json_key(json, "text");
	lode_explain_summary(report, &text);
	lode_json_take(json, &text);
	lode_buffer_release(&text);
}

void lode_explain_page_json(const struct lode_explain_report *report, struct lode_json *json)
{
	const struct lode_data_column *columns = report->input->table->columns;
	struct lode_explain_report wide = *report;
	struct lode_explain_frame frame;

	wide.ascii = 0;
	lode_explain_frame(report->explanation, &frame);
	lode_json_object(json);
	lode_json_key_text(json, "name", report->input->name);
	lode_json_key_text(json, "x", columns[report->input->x[0]].name);
	lode_json_key_text(json, "y", columns[report->input->y].name);
	lode_json_key_u64(json, "inputs", report->input->inputs);
	lode_json_key(json, "logarithmic");
	lode_json_bool(json, frame.logarithmic);
	put_points(report->explanation, json);
	put_curves(report, &frame, json);
	put_words(&wide, json);
	lode_json_object_end(json);
}
