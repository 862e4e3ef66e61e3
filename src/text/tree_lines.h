/*
 * Trees for people: a line per node, a caller or a question above what it leads to, two columns further right
 * a level. All trees are written like this.
 */
#ifndef LODE_TEXT_TREE_LINES_H
#define LODE_TEXT_TREE_LINES_H

#include "base/buffer.h"

/* Levels that are drawn; further down their number is written instead. */
#define LODE_TREE_LEVELS 20

/* Begins the line of a node; a root has depth 0. */
void lode_tree_line(struct lode_buffer *buffer, unsigned depth);

#endif
