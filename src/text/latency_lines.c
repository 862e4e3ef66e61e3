/* What the texts of lode latency and lode diff share: see latency_lines.h. */
#include "text/latency_lines.h"

#include "base/units.h"
#include "latency/code_layer.h"
#include "text/frame_text.h"
#include "trace/events.h"

#include <math.h>
#include <stdlib.h>

#define NEAR 4 /* functions before the machinery that are always shown */

static const char *style(const struct lode_lines *lines, enum lode_style which)
{
	return lode_style(lines->look, which);
}

/* ---- names ---- */

void lode_lines_frame(struct lode_lines *lines, uint32_t node)
{
	lode_text_frame(lines->buffer, &lines->dictionary->frames, lines->dictionary->tree.nodes[node].frame);
}

void lode_lines_who(struct lode_lines *lines, uint32_t node)
{
	lode_lines_frame(lines, node);
	lode_buffer_print(lines->buffer, " (%s)", lode_layer_name(lode_layer_of_node(lines->dictionary, node)));
}

/* ---- layers ---- */

static void put_layer(struct lode_lines *lines, int layer, int64_t value, uint64_t all)
{
	uint64_t size = value < 0 ? -(uint64_t)value : (uint64_t)value;
	char text[LODE_UNITS_TEXT];

	if (all)
		lode_buffer_print(lines->buffer, "%s %s", lode_layer_name((enum lode_layer)layer),
				  lode_share_text(size, all, text));
	else
		lode_buffer_print(lines->buffer, "%s %c%s", lode_layer_name((enum lode_layer)layer),
				  value < 0 ? '-' : '+', lode_duration_text(size, text));
}

void lode_lines_layers(struct lode_lines *lines, const uint64_t *own, const uint64_t *base, size_t node_count)
{
	uint64_t sums[LODE_LAYERS], less[LODE_LAYERS] = { 0 }, all = 0;
	int64_t values[LODE_LAYERS];
	const char *between = "layers    ";

	if (lode_layer_sums(lines->dictionary, own, node_count, sums) < 0 ||
	    (base && lode_layer_sums(lines->dictionary, base, node_count, less) < 0)) {
		lines->buffer->failed = 1;
		return;
	}
	for (int i = 0; i < LODE_LAYERS; i++) {
		values[i] = (int64_t)(sums[i] - less[i]);
		all = lode_add_saturating(all, sums[i]);
	}
	for (int round = 0; round < LODE_LAYERS; round++) {
		int most = 0;

		for (int i = 1; i < LODE_LAYERS; i++)
			if (llabs(values[i]) > llabs(values[most]))
				most = i;
		if (!values[most])
			break;
		lode_buffer_text(lines->buffer, between);
		put_layer(lines, most, values[most], base ? 0 : all);
		values[most] = 0;
		between = ", ";
	}
	if (*between == ',')
		lode_buffer_byte(lines->buffer, '\n');
}

/* ---- the heat map ---- */

#define MARKED    3 /* columns of a cell that has its distance, and of any other */
#define UNMARKED  1
#define NAME_ROOM 24

/* Signs and colours of powers of ten, nothing first. */
static const char signs[] = ".:oO#";
static const enum lode_style styles[] = { LODE_DIM, LODE_BLUE, LODE_GREEN, LODE_YELLOW, LODE_RED };

static int sign_of(const struct lode_heat *heat, uint32_t node)
{
	double level = lode_heat_level(heat, node);

	if (lode_heat_value(heat, node) <= 0)
		return 0;
	return level <= 1 ? 1 : (int)ceil(level - 1e-9);
}

static int is_marked(const struct lode_heat_row *row, size_t at)
{
	return at + LODE_HEAT_MARKS >= row->hottest && at <= row->hottest + LODE_HEAT_MARKS;
}

static size_t cell_width(const struct lode_heat_row *row, size_t at)
{
	return is_marked(row, at) ? MARKED : UNMARKED;
}

static size_t row_width(const struct lode_heat_row *row)
{
	size_t width = 0;

	for (size_t i = 0; i < row->count; i++)
		width += cell_width(row, i);
	return width;
}

static void put_cell(struct lode_lines *lines, const struct lode_heat *heat, const struct lode_heat_row *row,
		     size_t at, int *last)
{
	int sign = sign_of(heat, heat->nodes[row->first + at]);
	long distance = (long)at - (long)row->hottest;

	if (sign != *last) {
		lode_buffer_text(lines->buffer, *last < 0 ? "" : style(lines, LODE_PLAIN));
		lode_buffer_text(lines->buffer, style(lines, styles[sign]));
	}
	lode_buffer_byte(lines->buffer, signs[sign]);
	if (is_marked(row, at))
		lode_buffer_print(lines->buffer, distance ? "%+ld" : "%ld ", distance);
	*last = sign;
}

static void put_name(struct lode_lines *lines, uint32_t node, size_t used)
{
	size_t left = lines->look->width > used + 2 ? lines->look->width - used : 2;

	if (lines->look->is_terminal)
		lode_text_frame_within(lines->buffer, &lines->dictionary->frames,
				       lines->dictionary->tree.nodes[node].frame, left);
	else
		lode_lines_frame(lines, node);
}

/* Of a row that is too wide, the side of the root is left out. */
static void put_row(struct lode_lines *lines, const struct lode_heat *heat, const struct lode_heat_row *row,
		    size_t room)
{
	size_t first = 0, width = row_width(row);
	int last = -1;

	while (first < row->hottest && width > room)
		width -= cell_width(row, first++);
	lode_buffer_print(lines->buffer, "  #%-4zu%c", row->rank, first ? '<' : ' ');
	for (size_t i = first; i < row->count; i++)
		put_cell(lines, heat, row, i, &last);
	lode_buffer_print(lines->buffer, "%s%*s  ", style(lines, LODE_PLAIN),
			  width < room ? (int)(room - width) : 0, "");
	put_name(lines, row->who, room + 10);
	lode_buffer_byte(lines->buffer, '\n');
}

void lode_lines_heat(struct lode_lines *lines, const struct lode_heat *heat)
{
	size_t most = lines->look->width > 40 + NAME_ROOM ? lines->look->width - 10 - NAME_ROOM : 30;
	size_t room = 0;
	char text[LODE_UNITS_TEXT];

	if (!heat->count)
		return;
	for (size_t i = 0; i < heat->count; i++) {
		size_t width = row_width(&heat->rows[i]);

		room = width > room ? width : room;
	}
	lode_buffer_print(
		lines->buffer,
		"\nheat      each character is a function, from root to leaf, by how much%s time it takes:\n"
		"          # up to %s, O a tenth of it, o a hundredth, : less, . nothing%s\n"
		"          a number marks the character before it: 0 the hottest of a row, -1 its caller, +1 its "
		"callee\n",
		heat->less ? " more" : "", lode_duration_text((uint64_t)heat->most, text),
		heat->less ? " more" : "");
	for (size_t i = 0; i < heat->count; i++)
		put_row(lines, heat, &heat->rows[i], room < most ? room : most);
}

/* ---- the functions of a path ---- */

void lode_lines_choose(const struct lode_dictionary *dictionary, const uint32_t *nodes, size_t count,
		       uint8_t *shown)
{
	size_t near = 0;

	if (count)
		shown[0] = shown[count - 1] = 1;
	for (size_t i = count; i-- > 0 && near < NEAR;)
		if (!lode_layer_is_machinery(dictionary, nodes[i])) {
			shown[i] = 1;
			near++;
		}
	/* All is machinery. */
	for (size_t i = count; !near && i-- > 0 && i + NEAR >= count;)
		shown[i] = 1;
	/* A line for what is not shown is no shorter than the one function that it would replace. */
	for (size_t i = 1; i + 1 < count; i++)
		shown[i] |= shown[i - 1] && shown[i + 1];
}

void lode_lines_gap(struct lode_lines *lines, const uint32_t *nodes, size_t from, size_t to, int indent)
{
	int machinery = 1;

	for (size_t i = from; i < to; i++)
		machinery &= lode_layer_is_machinery(lines->dictionary, nodes[i]);
	if (from < to)
		lode_buffer_print(lines->buffer, "%*s%s%s %zu %s%s%s\n", indent, "", style(lines, LODE_DIM),
				  lines->look->utf8 ? "…" : "...", to - from,
				  machinery ? "of the kernel or the C library" : "caller",
				  machinery ? "" : lode_plural(to - from), style(lines, LODE_PLAIN));
}
