/*
 * A call tree as a graph for Graphviz: see graphs.h. An edge a side, as thick as what it
 * takes; an item is a box with its functions and what they take.
 */
#include "export/graphs.h"

#include "base/memory.h"
#include "base/units.h"
#include "export/dot_text.h"
#include "latency/code_layer.h"

#include <string.h>

#define THICKEST   16.0
#define REST_SHARE 10 /* what is left out is shown where it is this part of the least that is shown */

static const char *const colours[LODE_SIDES] = { "#4477aa", "#ee6677" };

struct graph {
	const struct lode_call_tree *tree;
	struct lode_buffer *buffer;
	struct lode_buffer text; /* room for a name */
	uint32_t *path;          /* by depth: the item above */
};

static void put_function(struct graph *graph, uint32_t node)
{
	const struct lode_dictionary *dictionary = graph->tree->input.dictionary;

	lode_buffer_clear(&graph->text);
	lode_frames_text(&dictionary->frames, dictionary->tree.nodes[node].frame, &graph->text);
	if (graph->text.size)
		lode_dot_quoted(graph->buffer, graph->text.bytes, graph->text.size);
	graph->buffer->failed |= graph->text.failed;
	lode_buffer_text(graph->buffer, "\\n");
}

static int has_base(const struct graph *graph)
{
	return graph->tree->input.own[LODE_SIDE_BASE] != NULL;
}

static void put_numbers(struct graph *graph, const uint64_t whole[LODE_SIDES], const uint64_t own[LODE_SIDES])
{
	char a[LODE_UNITS_TEXT], b[LODE_UNITS_TEXT];

	if (has_base(graph))
		lode_buffer_print(graph->buffer, "base %s, slow %s", lode_duration_text(whole[LODE_SIDE_BASE], a),
				  lode_duration_text(whole[LODE_SIDE_SLOW], b));
	else
		lode_buffer_print(graph->buffer, "%s, by itself %s", lode_duration_text(whole[LODE_SIDE_SLOW], a),
				  lode_duration_text(own[LODE_SIDE_SLOW], b));
}

static void put_node(struct graph *graph, size_t i)
{
	const struct lode_call_tree_input *input = &graph->tree->input;
	const struct lode_call_tree_item *item = &graph->tree->items[i];
	int external = !lode_layer_is_internal(lode_layer_of_node(input->dictionary, item->last));

	lode_buffer_print(graph->buffer, "\tn%zu [label=\"", i);
	if (item->length > 1)
		put_function(graph, item->first);
	if (item->length > 2)
		lode_buffer_print(graph->buffer, "… %u more …\\n", item->length - 2);
	put_function(graph, item->last);
	put_numbers(graph, item->whole, item->own);
	lode_buffer_print(graph->buffer, "\"%s", external ? ", style=\"rounded,dashed\"" : "");
	if (input->known && !input->known[item->first])
		lode_buffer_print(graph->buffer, ", color=\"%s\"", colours[LODE_SIDE_SLOW]);
	if (input->cause && item->first == input->cause)
		lode_buffer_text(graph->buffer, ", penwidth=3");
	lode_buffer_text(graph->buffer, "];\n");
}

static void put_edge(struct graph *graph, size_t from, size_t to, enum lode_side side)
{
	char text[LODE_UNITS_TEXT];
	uint64_t whole = graph->tree->items[to].whole[side];
	double share = (double)whole / (double)(lode_call_tree_most(graph->tree) + 1) * THICKEST;

	if (whole)
		lode_buffer_print(graph->buffer, "\tn%zu -> n%zu [color=\"%s\", penwidth=%.2f, tooltip=\"%s\"];\n",
				  from, to, colours[side], share < 0.5 ? 0.5 : share,
				  lode_duration_text(whole, text));
}

/* What is left out below an item. */
static void put_rest(struct graph *graph, size_t i)
{
	const struct lode_call_tree_item *item = &graph->tree->items[i];
	char text[LODE_UNITS_TEXT];

	uint64_t least = graph->tree->input.least / REST_SHARE;

	if (!item->hidden || (item->rest[LODE_SIDE_BASE] <= least && item->rest[LODE_SIDE_SLOW] <= least))
		return;
	lode_buffer_print(graph->buffer, "\tr%zu [shape=plaintext, label=\"… %s more, ", i,
			  lode_count_text(item->hidden, text));
	if (has_base(graph))
		put_numbers(graph, item->rest, item->rest);
	else
		lode_buffer_text(graph->buffer, lode_duration_text(item->rest[LODE_SIDE_SLOW], text));
	lode_buffer_print(graph->buffer, "\"];\n\tn%zu -> r%zu [style=dotted, arrowhead=none];\n", i, i);
}

static void put_tree(const struct lode_call_tree *tree, const char *title, struct lode_buffer *buffer)
{
	struct graph graph = { .tree = tree, .buffer = buffer };
	char shown[LODE_UNITS_TEXT], all[LODE_UNITS_TEXT];

	graph.path = lode_calloc(tree->count + 1, sizeof(*graph.path));
	buffer->failed |= !graph.path;
	lode_buffer_text(buffer, "digraph calls {\n\tlabel=\"");
	lode_dot_quoted(buffer, title, strlen(title));
	lode_buffer_print(buffer, "\\n%s of %s contexts%s\";\n", lode_count_text(tree->shown, shown),
			  lode_count_text(tree->contexts, all),
			  has_base(&graph) ? "; blue: base, red: slow; times per stream" : "");
	lode_buffer_text(buffer, "\tnode [shape=box, style=rounded, fontname=\"sans-serif\", fontsize=10];\n"
				 "\tedge [arrowsize=0.5];\n\tfontname=\"sans-serif\";\n");
	for (size_t i = 0; graph.path && i < tree->count; i++) {
		uint32_t depth = tree->items[i].depth;

		graph.path[depth] = (uint32_t)i;
		put_node(&graph, i);
		for (int side = 0; depth && side < LODE_SIDES; side++)
			put_edge(&graph, graph.path[depth - 1], i, (enum lode_side)side);
		put_rest(&graph, i);
	}
	lode_buffer_text(buffer, "}\n");
	lode_buffer_release(&graph.text);
	lode_free(graph.path);
}

void lode_latency_dot(const struct lode_latency_report *report, uint64_t least, int unfolded,
		      struct lode_buffer *buffer)
{
	struct lode_call_tree tree;

	if (lode_latency_tree(report, least, unfolded, &tree) < 0)
		buffer->failed = 1;
	else
		put_tree(&tree, report->corpus, buffer);
	lode_call_tree_release(&tree);
}

void lode_diff_dot(const struct lode_diff_report *report, uint64_t least, int unfolded, struct lode_buffer *buffer)
{
	struct lode_call_tree tree;

	if (lode_diff_tree(report, least, unfolded, &tree) < 0)
		buffer->failed = 1;
	else
		put_tree(&tree, report->slow.corpus, buffer);
	lode_call_tree_release(&tree);
}
