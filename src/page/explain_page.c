/*
 * What the page of an explanation has besides its JSON: names, and the words of the text;
 * see explain_page.h.
 */
#include "page/explain_page.h"

#include "base/json.h"
#include "text/explain_text.h"

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

	lode_json_key_array(json, "functions");
	for (unsigned k = 0; k < report->explanation->clusters; k++) {
		lode_explain_function(report, &report->explanation->cluster[k].function, &text);
		lode_json_take(json, &text);
	}
	lode_json_array_end(json);
	lode_json_key_array(json, "tests");
	put_tests(report, 0, &text, json);
	lode_json_array_end(json);
	lode_json_key_array(json, "sentences");
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
	lode_json_key_bool(json, "logarithmic", frame.logarithmic);
	put_words(&wide, json);
	lode_json_object_end(json);
}
