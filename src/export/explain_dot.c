/* An explanation as a graph for Graphviz: the tree, functions at its leaves; see graphs.h. */
#include "export/dot_text.h"
#include "export/graphs.h"

#include <string.h>

static void put_node(const struct lode_explain_report *report, size_t id, struct lode_buffer *buffer)
{
	const struct lode_tree *tree = &report->explanation->tree;
	const struct lode_tree_node *node = &tree->nodes[id];
	struct lode_buffer label = { 0 };
	size_t rows = lode_tree_rows(tree, (uint32_t)id);

	if (node->feature == LODE_NONE)
		lode_explain_function(report, &report->explanation->cluster[node->cluster].function, &label);
	else
		lode_explain_test(report, node, 1, &label);
	lode_buffer_print(buffer, "\tn%zu [label=\"", id);
	lode_dot_quoted(buffer, label.bytes, label.size);
	buffer->failed |= label.failed;
	if (node->feature == LODE_NONE) {
		lode_buffer_print(buffer, "\\ncluster %u, %zu rows", node->cluster, rows);
		if (tree->sizes[id * tree->clusters + node->cluster] < rows) {
			lode_buffer_text(buffer, "\\n");
			lode_explain_distribution(tree, (uint32_t)id, buffer);
		}
		lode_buffer_text(buffer, "\", shape=box];\n");
	} else {
		lode_buffer_print(buffer, "?\"];\n\tn%zu -> n%u [label=\"no\"];\n\tn%zu -> n%u [label=\"yes\"];\n",
				  id, node->left, id, node->right);
	}
	lode_buffer_release(&label);
}

void lode_explain_dot(const struct lode_explain_report *report, struct lode_buffer *buffer)
{
	lode_buffer_text(buffer, "digraph explanation {\n\tnode [fontname=\"sans-serif\"];\n");
	for (size_t i = 0; i < report->explanation->tree.count; i++)
		put_node(report, i, buffer);
	lode_buffer_text(buffer, "}\n");
}
