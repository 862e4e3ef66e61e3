/*
 * What the texts of lode latency and lode diff share: names, layers, the heat map, and
 * which functions of a path are worth a line.
 */
#ifndef LODE_TEXT_LATENCY_LINES_H
#define LODE_TEXT_LATENCY_LINES_H

#include "text/look.h"
#include "result/heat.h"

/* A text being written. */
struct lode_lines {
	const struct lode_dictionary *dictionary;
	const struct lode_look *look;
	struct lode_buffer *buffer;
};

/* Appends the name of a node's function. */
void lode_lines_frame(struct lode_lines *lines, uint32_t node);
/* The same with its layer in brackets. */
void lode_lines_who(struct lode_lines *lines, uint32_t node);
/* The line `layers`: what each layer takes, or takes more than in `base` (NULL: one side), most first. */
void lode_lines_layers(struct lode_lines *lines, const uint64_t *own, const uint64_t *base, size_t node_count);
/* The heat map with its legend; nothing where there are no rows. */
void lode_lines_heat(struct lode_lines *lines, const struct lode_heat *heat);

/*
 * Marks in `shown` which functions of a path (nodes, root first) people want to see,
 * besides those that are marked already: the first and the last, and the last few before
 * the kernel and the C library, which is the machinery of all waiting.
 */
void lode_lines_choose(const struct lode_dictionary *dictionary, const uint32_t *nodes, size_t count,
		       uint8_t *shown);
/* A line for functions that are not shown, nodes[from] to nodes[to - 1], behind `indent` columns. */
void lode_lines_gap(struct lode_lines *lines, const uint32_t *nodes, size_t from, size_t to, int indent);

#endif
