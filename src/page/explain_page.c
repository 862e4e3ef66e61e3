/*
 * What the page of an explanation has besides its JSON: names, and the words of the text;
 * see explain_page.h.
 */
#include "page/explain_page.h"

#include "result/explain_result.h"
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

static int write_functions(const struct lode_written *self, struct lode_json *json)
{
	const struct lode_explain_report *report = self->from;
	struct lode_buffer text = { 0 };

	lode_json_array(json);
	for (unsigned k = 0; k < report->explanation->clusters; k++) {
		lode_explain_function(report, &report->explanation->cluster[k].function, &text);
		lode_json_take(json, &text);
	}
	lode_json_array_end(json);
	lode_buffer_release(&text);
	return 0;
}

static int write_tests(const struct lode_written *self, struct lode_json *json)
{
	struct lode_buffer text = { 0 };

	lode_json_array(json);
	put_tests(self->from, 0, &text, json);
	lode_json_array_end(json);
	lode_buffer_release(&text);
	return 0;
}

static int write_sentences(const struct lode_written *self, struct lode_json *json)
{
	const struct lode_explain_report *report = self->from;
	struct lode_buffer text = { 0 };

	lode_json_array(json);
	for (unsigned k = 0; report->explanation->tree.count > 1 && k < report->explanation->clusters; k++) {
		lode_explain_sentence(report, k, &text);
		lode_json_take(json, &text);
	}
	lode_json_array_end(json);
	lode_buffer_release(&text);
	return 0;
}

static int write_summary(const struct lode_written *self, struct lode_json *json)
{
	struct lode_buffer text = { 0 };

	lode_explain_summary(self->from, &text);
	lode_json_take(json, &text);
	lode_buffer_release(&text);
	return 0;
}

static int write_page(const struct lode_written *self, struct lode_json *json)
{
	struct lode_explain_report wide = *(const struct lode_explain_report *)self->from;
	const struct lode_data_column *columns = wide.input->table->columns;
	struct lode_explain_frame frame;
	struct lode_explain_page page = {
		.name = wide.input->name,
		.x = columns[wide.input->x[0]].name,
		.y = columns[wide.input->y].name,
		.inputs = wide.input->inputs,
		.functions = { .write = write_functions, .from = &wide },
		.tests = { .write = write_tests, .from = &wide },
		.sentences = { .write = write_sentences, .from = &wide },
		.text = { .write = write_summary, .from = &wide },
	};

	wide.ascii = 0;
	lode_explain_frame(wide.explanation, &frame);
	page.logarithmic = frame.logarithmic;
	lode_fields_write(&lode_explain_page_fields, &page, json);
	return 0;
}

struct lode_written lode_explain_page(const struct lode_explain_report *report)
{
	return (struct lode_written){ .write = write_page, .from = report };
}
