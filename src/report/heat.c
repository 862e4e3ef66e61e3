/* Heat map: see heat.h. */
#include "report/heat.h"

#include "base/memory.h"
#include "base/units.h"
#include "report/html.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- rows and cells ---- */

static int add_row(struct lode_heat *heat, size_t rank, uint32_t leaf, int64_t cost)
{
	const struct lode_stack_tree *tree = &heat->dictionary->tree;
	uint32_t depth = lode_stack_tree_depth(tree, leaf);
	struct lode_heat_row row = {
		.rank = rank, .first = heat->cell_count, .count = depth, .leaf = leaf, .cost = cost};

	if (lode_grow(&heat->rows, &heat->capacity, heat->count + 1, sizeof(*heat->rows)) < 0 ||
	    lode_grow(&heat->nodes, &heat->cell_capacity, heat->cell_count + depth, sizeof(*heat->nodes)) < 0)
		return LODE_SYSTEM;
	for (uint32_t i = depth, node = leaf; i-- > 0; node = tree->nodes[node].parent)
		heat->nodes[row.first + i] = node;
	/* Of equal ones the one nearer the leaf. */
	for (uint32_t i = 1; i < depth; i++)
		if (lode_heat_value(heat, heat->nodes[row.first + i]) >=
		    lode_heat_value(heat, heat->nodes[row.first + row.hottest]))
			row.hottest = i;
	if (depth) {
		uint32_t hottest = heat->nodes[row.first + row.hottest];

		/* A context is its leaf; a path is what takes more on it. */
		row.who = lode_stack_who(heat->dictionary, heat->less ? hottest : leaf);
		if (lode_heat_value(heat, hottest) > heat->most)
			heat->most = lode_heat_value(heat, hottest);
	}
	heat->widest = depth > heat->widest ? depth : heat->widest;
	heat->cell_count += depth;
	heat->rows[heat->count++] = row;
	return 0;
}

int lode_heat_of_latency(struct lode_heat *heat, const struct lode_latency_report *report)
{
	const struct lode_latency *latency = report->latency;
	int code = 0;

	*heat = (struct lode_heat){.dictionary = &latency->dictionary, .value = latency->own};
	for (size_t i = 0; !code && i < lode_latency_shown(report); i++) {
		uint32_t node = report->contexts->nodes[i];

		if (latency->own[node])
			code = add_row(heat, i + 1, node, (int64_t)latency->own[node]);
	}
	return code;
}

int lode_heat_of_diff(struct lode_heat *heat, const struct lode_diff_report *report,
		      const struct lode_diff_chosen *chosen)
{
	const struct lode_diff *diff = report->diff;
	int code = 0;

	*heat = (struct lode_heat){.dictionary = diff->dictionary, .value = diff->slow, .less = diff->base};
	for (size_t i = 0; !code && i < chosen->count; i++)
		code = add_row(heat, chosen->items[i].rank, chosen->items[i].path->leaf,
			       chosen->items[i].path->cost);
	return code;
}

void lode_heat_release(struct lode_heat *heat)
{
	lode_free(heat->rows);
	lode_free(heat->nodes);
	memset(heat, 0, sizeof(*heat));
}

double lode_heat_level(const struct lode_heat *heat, uint32_t node)
{
	double value = (double)lode_heat_value(heat, node);
	double level = value > 0 ? LODE_HEAT_DECADES + log10(value / (double)heat->most) : 0;

	return level > 0 ? level : 0;
}

/* ---- the picture ---- */

#define CELL  20.0 /* width and height */
#define LEFT  110.0
#define TOP   44.0
#define NAMES 460.0
#define STEPS (sizeof(colours) / sizeof(colours[0]))

/* From nearly nothing to the hottest: light to dark, so that it reads without colours, too. */
static const char *const colours[] = {"#ffffcc", "#ffeda0", "#fed976", "#feb24c", "#fd8d3c",
				      "#fc4e2a", "#e31a1c", "#bd0026", "#800026"};
#define NOTHING "#8882"

static size_t step_of(double level)
{
	double step = level / LODE_HEAT_DECADES * (double)(STEPS - 1) + 0.5;

	return step >= (double)(STEPS - 1) ? STEPS - 1 : (size_t)step;
}

static void put_frame(const struct lode_heat *heat, uint32_t node, struct lode_buffer *buffer)
{
	struct lode_buffer text = {0};

	lode_frames_text(&heat->dictionary->frames, heat->dictionary->tree.nodes[node].frame, &text);
	if (text.size)
		lode_html_text(buffer, text.bytes, text.size);
	buffer->failed |= text.failed;
	lode_buffer_release(&text);
}

static const char *signed_text(const struct lode_heat *heat, int64_t number, char text[LODE_UNITS_TEXT])
{
	char plain[LODE_UNITS_TEXT];

	lode_duration_text(number < 0 ? -(uint64_t)number : (uint64_t)number, plain);
	snprintf(text, LODE_UNITS_TEXT, "%s%.30s", number < 0 ? "-" : heat->less ? "+" : "", plain);
	return text;
}

/* What a pointer over a cell tells. */
static void put_title(const struct lode_heat *heat, const struct lode_heat_row *row, size_t at,
		      struct lode_buffer *buffer)
{
	uint32_t node = heat->nodes[row->first + at];
	char text[LODE_UNITS_TEXT], base[LODE_UNITS_TEXT], slow[LODE_UNITS_TEXT];

	lode_buffer_text(buffer, "<title>");
	put_frame(heat, node, buffer);
	lode_buffer_print(buffer, "\n%s by itself", signed_text(heat, lode_heat_value(heat, node), text));
	if (heat->less)
		lode_buffer_print(buffer, ": %s in the base, %s in slow streams",
				  lode_duration_text(heat->less[node], base),
				  lode_duration_text(heat->value[node], slow));
	if (at != row->hottest)
		lode_buffer_print(buffer, "\n%+lld from the hottest function",
				  (long long)at - (long long)row->hottest);
	lode_buffer_text(buffer, "</title>");
}

static void put_cell(const struct lode_heat *heat, const struct lode_heat_row *row, size_t at, double y,
		     struct lode_buffer *buffer)
{
	double level = lode_heat_level(heat, heat->nodes[row->first + at]), x = LEFT + (double)at * CELL;
	long long distance = (long long)at - (long long)row->hottest;
	size_t step = step_of(level);

	lode_buffer_print(buffer,
			  "<g><rect x=\"%.0f\" y=\"%.0f\" width=\"%.0f\" height=\"%.0f\" fill=\"%s\"/>",
			  x + 0.5, y + 0.5, CELL - 1, CELL - 1, level > 0 ? colours[step] : NOTHING);
	if (distance >= -LODE_HEAT_MARKS && distance <= LODE_HEAT_MARKS)
		lode_buffer_print(
			buffer,
			"<text x=\"%.0f\" y=\"%.0f\" text-anchor=\"middle\" fill=\"%s\"%s>%s%lld</text>",
			x + CELL / 2, y + CELL - 6,
			level <= 0	   ? "currentColor"
			: step > STEPS / 2 ? "#fff"
					   : "#222",
			distance ? "" : " font-weight=\"bold\"", distance > 0 ? "+" : "", distance);
	put_title(heat, row, at, buffer);
	lode_buffer_text(buffer, "</g>\n");
}

static void put_row(const struct lode_heat *heat, const struct lode_heat_row *row, double y,
		    struct lode_buffer *buffer)
{
	char cost[LODE_UNITS_TEXT];
	double right = LEFT + (double)heat->widest * CELL + 10;

	lode_buffer_print(buffer,
			  "<text x=\"0\" y=\"%.0f\" fill=\"currentColor\">#%zu</text>"
			  "<text x=\"%.0f\" y=\"%.0f\" text-anchor=\"end\" fill=\"currentColor\">%s</text>\n",
			  y + CELL - 6, row->rank, LEFT - 8, y + CELL - 6,
			  signed_text(heat, row->cost, cost));
	for (size_t i = 0; i < row->count; i++)
		put_cell(heat, row, i, y, buffer);
	lode_buffer_print(buffer, "<text x=\"%.0f\" y=\"%.0f\" fill=\"currentColor\">", right, y + CELL - 6);
	put_frame(heat, row->who, buffer);
	lode_buffer_text(buffer, "</text>\n");
}

static void put_legend(const struct lode_heat *heat, struct lode_buffer *buffer)
{
	char text[LODE_UNITS_TEXT];
	double width = 26, x = LEFT;

	lode_buffer_print(buffer, "<text x=\"0\" y=\"14\" fill=\"currentColor\">%s</text>\n",
			  heat->less ? "takes more" : "takes");
	for (size_t i = 0; i < STEPS; i++, x += width)
		lode_buffer_print(buffer,
				  "<rect x=\"%.0f\" y=\"4\" width=\"%.0f\" height=\"12\" fill=\"%s\"/>\n", x,
				  width, colours[i]);
	for (int decade = 0; decade <= LODE_HEAT_DECADES; decade++) {
		double share = (double)decade / LODE_HEAT_DECADES;
		double value = (double)heat->most * pow(10, decade - LODE_HEAT_DECADES);

		lode_buffer_print(
			buffer,
			"<text x=\"%.0f\" y=\"30\" text-anchor=\"middle\" fill=\"currentColor\">%s</text>\n",
			LEFT + width / 2 + share * width * (double)(STEPS - 1),
			lode_duration_text((uint64_t)value, text));
	}
	lode_buffer_print(buffer,
			  "<rect x=\"%.0f\" y=\"4\" width=\"12\" height=\"12\" fill=\"" NOTHING "\"/>"
			  "<text x=\"%.0f\" y=\"14\" fill=\"currentColor\">nothing%s</text>\n",
			  x + 20, x + 38, heat->less ? ", or less" : "");
}

void lode_heat_svg(const struct lode_heat *heat, struct lode_buffer *buffer)
{
	double width = LEFT + (double)heat->widest * CELL + NAMES;
	double height = TOP + (double)heat->count * CELL + 8;

	lode_buffer_print(buffer,
			  "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
			  "font-family=\"system-ui,sans-serif\" font-size=\"12\">\n",
			  width, height);
	put_legend(heat, buffer);
	for (size_t i = 0; i < heat->count; i++)
		put_row(heat, &heat->rows[i], TOP + (double)i * CELL, buffer);
	lode_buffer_text(buffer, "</svg>\n");
}
