/*
 * An explanation as a picture: x against y with the functions, coloured by
 * cluster, and beside it the tree; see graphs.h. Of very many rows only some
 * are drawn, evenly chosen, and the caption says how many.
 */
#include "base/markup.h"
#include "base/safe_text.h"
#include "base/units.h"
#include "export/graphs.h"

#include <math.h>
#include <string.h>

#define PLOT_WIDTH  480.0
#define PLOT_HEIGHT 360.0
#define MARGIN      60.0
#define LEAF_WIDTH  130.0
#define ROW_HEIGHT  64.0
#define MAX_DOTS    4000
/* Pieces that a curve is drawn with. */
#define PIECES 64

/* Colours that people with a colour deficiency can distinguish. */
static const char *const colours[] = { "#0072b2", "#d55e00", "#009e73", "#cc79a7",
				       "#e69f00", "#56b4e9", "#000000", "#999999" };

static const char *colour_of(unsigned cluster)
{
	return colours[cluster % (sizeof(colours) / sizeof(colours[0]))];
}

/* ---- text ---- */

/* Writes `text` and releases it. */
static void put_text(double x, double y, const char *anchor, const char *colour, struct lode_buffer *text,
		     struct lode_buffer *buffer)
{
	buffer->failed |= text->failed;
	lode_buffer_print(buffer, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" fill=\"%s\">", x, y, anchor,
			  colour);
	if (!text->failed)
		lode_markup_text(buffer, text->bytes, text->size);
	lode_buffer_text(buffer, "</text>\n");
	lode_buffer_release(text);
}

/* ---- the plot ---- */

static double across(const struct lode_explain_frame *plot, double x)
{
	double share = plot->most_x > plot->least_x ? (x - plot->least_x) / (plot->most_x - plot->least_x) : 0.5;

	return MARGIN + share * PLOT_WIDTH;
}

/* The position of y; NAN when it is outside. */
static double up(const struct lode_explain_frame *plot, double y)
{
	double low = plot->logarithmic ? log(plot->least_y) : plot->least_y;
	double high = plot->logarithmic ? log(plot->most_y) : plot->most_y, share = 0.5;

	if (plot->logarithmic)
		y = y > 0 ? log(y) : NAN;
	if (high > low)
		share = (y - low) / (high - low);
	return share >= -1e-9 && share <= 1 + 1e-9 ? MARGIN + (1 - share) * PLOT_HEIGHT : NAN;
}

static void put_dots(const struct lode_explanation *explanation, const struct lode_explain_frame *plot,
		     struct lode_buffer *buffer)
{
	size_t drawn = explanation->rows < MAX_DOTS ? explanation->rows : MAX_DOTS;

	for (size_t i = 0; i < drawn; i++) {
		size_t row = i * explanation->rows / drawn;

		lode_buffer_print(buffer,
				  "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"1.8\" fill=\"%s\" fill-opacity=\"0.6\"/>\n",
				  across(plot, lode_explain_x(explanation, row)),
				  up(plot, explanation->points.y[row]), colour_of(explanation->assigned[row]));
	}
}

static void put_curve(const struct lode_explanation *explanation, const struct lode_explain_frame *plot,
		      unsigned cluster, struct lode_buffer *buffer)
{
	int inside = 0;

	lode_buffer_print(buffer, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"1.5\" d=\"",
			  colour_of(cluster));
	for (unsigned i = 0; i <= PIECES; i++) {
		double x = plot->least_x + (plot->most_x - plot->least_x) * i / PIECES;
		double y = up(plot, lode_explain_value(explanation, &explanation->cluster[cluster].function, x));

		if (isfinite(y))
			lode_buffer_print(buffer, "%c%.1f %.1f", inside ? 'L' : 'M', across(plot, x), y);
		inside = isfinite(y);
	}
	lode_buffer_text(buffer, "\"/>\n");
}

static void put_number(double x, double y, const char *anchor, double number, struct lode_buffer *buffer)
{
	struct lode_buffer text = { 0 };

	lode_explain_number(number, &text);
	put_text(x, y, anchor, "#333", &text, buffer);
}

static void put_y(const struct lode_explain_report *report, double at, double y, struct lode_buffer *buffer)
{
	struct lode_buffer text = { 0 };

	lode_explain_y(report, y, &text);
	put_text(MARGIN - 4, at, "end", "#333", &text, buffer);
}

static void put_axes(const struct lode_explain_report *report, const struct lode_explain_frame *plot,
		     struct lode_buffer *buffer)
{
	const struct lode_data_column *columns = report->input->table->columns;
	struct lode_buffer x = { 0 }, y = { 0 };

	lode_buffer_print(buffer, "<path fill=\"none\" stroke=\"#333\" d=\"M%.1f %.1fV%.1fH%.1f\"/>\n", MARGIN,
			  MARGIN, MARGIN + PLOT_HEIGHT, MARGIN + PLOT_WIDTH);
	put_number(MARGIN, MARGIN + PLOT_HEIGHT + 16, "start", plot->least_x, buffer);
	put_number(MARGIN + PLOT_WIDTH, MARGIN + PLOT_HEIGHT + 16, "end", plot->most_x, buffer);
	put_y(report, MARGIN + PLOT_HEIGHT, plot->least_y, buffer);
	put_y(report, MARGIN + 4, plot->most_y, buffer);
	lode_text_safe(&x, columns[report->input->x[0]].name);
	put_text(MARGIN + PLOT_WIDTH / 2, MARGIN + PLOT_HEIGHT + 16, "middle", "#333", &x, buffer);
	lode_text_safe(&y, columns[report->input->y].name);
	if (plot->logarithmic)
		lode_buffer_text(&y, " (logarithmic)");
	put_text(MARGIN, MARGIN - 12, "start", "#333", &y, buffer);
}

static void put_legend(const struct lode_explain_report *report, struct lode_buffer *buffer)
{
	const struct lode_explanation *explanation = report->explanation;
	char first[LODE_UNITS_TEXT], second[LODE_UNITS_TEXT];

	for (unsigned k = 0; k < explanation->clusters; k++) {
		struct lode_buffer text = { 0 };

		lode_buffer_print(&text, "%u: ", k);
		lode_explain_function(report, &explanation->cluster[k].function, &text);
		lode_buffer_print(&text, " (%.1f%% of rows)", 100 * explanation->cluster[k].share);
		put_text(MARGIN, MARGIN + PLOT_HEIGHT + 40 + 16 * k, "start", colour_of(k), &text, buffer);
	}
	if (explanation->rows > MAX_DOTS) {
		struct lode_buffer text = { 0 };

		lode_buffer_print(&text, "%s of %s rows are drawn", lode_count_text(MAX_DOTS, first),
				  lode_count_text(explanation->rows, second));
		put_text(MARGIN + PLOT_WIDTH, MARGIN - 12, "end", "#333", &text, buffer);
	}
}

/* ---- the tree ---- */

struct drawing {
	const struct lode_explain_report *report;
	struct lode_buffer *buffer;
	double next_leaf; /* the position of the next leaf */
};

/* The distribution over functions of a leaf's rows, as wide as their shares. */
static void put_shares(const struct lode_tree *tree, uint32_t leaf, double x, double y, struct lode_buffer *buffer)
{
	double rows = (double)lode_tree_rows(tree, leaf), at = x - LEAF_WIDTH / 2 + 6;

	for (unsigned k = 0; k < tree->clusters; k++) {
		size_t own = tree->sizes[leaf * tree->clusters + k];
		double width = (LEAF_WIDTH - 12) * (double)own / rows;

		if (own)
			lode_buffer_print(
				buffer, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"22\" fill=\"%s\"/>\n",
				at, y - 15, width, colour_of(k));
		at += width;
	}
}

/* Draws what is below a node and returns the position of the node itself. */
static double put_node(struct drawing *drawing, uint32_t id, unsigned depth)
{
	const struct lode_explanation *explanation = drawing->report->explanation;
	const struct lode_tree_node *node = &explanation->tree.nodes[id];
	double y = MARGIN + depth * ROW_HEIGHT, x;
	struct lode_buffer text = { 0 };

	if (node->feature == LODE_NONE) {
		x = drawing->next_leaf;
		drawing->next_leaf += LEAF_WIDTH;
		put_shares(&explanation->tree, id, x, y, drawing->buffer);
		lode_buffer_print(&text, "cluster %u", node->cluster);
		put_text(x, y, "middle", "#fff", &text, drawing->buffer);
		return x;
	}
	{
		double left = put_node(drawing, node->left, depth + 1),
		       right = put_node(drawing, node->right, depth + 1);

		x = (left + right) / 2;
		lode_buffer_print(drawing->buffer,
				  "<path fill=\"none\" stroke=\"#999\" d=\"M%.1f %.1fL%.1f %.1fL%.1f %.1f\"/>\n",
				  left, y + ROW_HEIGHT - 17, x, y + 6, right, y + ROW_HEIGHT - 17);
		lode_explain_test(drawing->report, node, 1, &text);
		lode_buffer_byte(&text, '?');
		put_text(x, y, "middle", "#333", &text, drawing->buffer);
	}
	return x;
}

void lode_explain_svg(const struct lode_explain_report *report, struct lode_buffer *buffer)
{
	const struct lode_explanation *explanation = report->explanation;
	double left = 2 * MARGIN + PLOT_WIDTH;
	struct drawing drawing = { report, buffer, left + LEAF_WIDTH / 2 };
	double width = left + (double)lode_tree_leaves(&explanation->tree) * LEAF_WIDTH + MARGIN;
	double height = fmax(2 * MARGIN + PLOT_HEIGHT + 16 * explanation->clusters,
			     2 * MARGIN + lode_tree_height(&explanation->tree) * ROW_HEIGHT);
	struct lode_explain_frame plot;

	lode_explain_frame(explanation, &plot);
	lode_buffer_print(buffer,
			  "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
			  "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%%\" height=\"100%%\" "
			  "fill=\"#fff\"/>\n",
			  width, height);
	put_axes(report, &plot, buffer);
	put_dots(explanation, &plot, buffer);
	for (unsigned k = 0; report->input->inputs == 1 && k < explanation->clusters; k++)
		put_curve(explanation, &plot, k, buffer);
	put_legend(report, buffer);
	put_node(&drawing, 0, 0);
	if (explanation->tree.count > 1) {
		struct lode_buffer text = { 0 };

		lode_buffer_text(&text, "left: no, right: yes");
		put_text(left, MARGIN - 32, "start", "#999", &text, buffer);
	}
	lode_buffer_text(buffer, "</svg>\n");
}
