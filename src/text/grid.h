/*
 * Grid: tables for people, columns of fixed width, numbers set to the right, names to the left.
 * Titles and rows use one description, so that they cannot get out of step.
 *
 *	static const struct lode_grid_column columns[] = {
 *		{ "TIME", 2, 8 }, { "SHARE", 1, 6 }, { "WHERE", 2, 0 }, { NULL, 0, 0 },
 *	};
 *	struct lode_grid grid = { .buffer = buffer, .columns = columns };
 *
 *	lode_grid_titles(&grid);
 *	lode_grid_duration(&grid, cost);
 *	lode_grid_share(&grid, cost, whole);
 *	lode_grid_text(&grid, name);
 *	lode_grid_end(&grid);
 */
#ifndef LODE_TEXT_GRID_H
#define LODE_TEXT_GRID_H

#include "base/buffer.h"
#include "text/look.h"

struct lode_grid_column {
	const char *title; /* NULL ends the list */
	int gap;           /* spaces before it */
	/*
	 * Columns that it fills: above 0 set to the right; below 0 names, set to the left and cut
	 * where they are longer; 0: as long as it is, for the last one.
	 */
	int width;
};

struct lode_grid {
	struct lode_buffer *buffer;
	const struct lode_grid_column *columns;
	size_t at;         /* the column that is written next */
	const char *plain; /* what ends the style of the line; NULL: it has none */
};

/* Writes the line that comes next in a style: before its first cell. */
void lode_grid_style(struct lode_grid *grid, const struct lode_look *look, enum lode_style style);

/* Writes the line of titles. */
void lode_grid_titles(struct lode_grid *grid);
/* Write the next cell. Text may come from outside. */
void lode_grid_text(struct lode_grid *grid, const char *text);
void lode_grid_count(struct lode_grid *grid, uint64_t count);
void lode_grid_duration(struct lode_grid *grid, uint64_t nanoseconds);
void lode_grid_bytes(struct lode_grid *grid, uint64_t bytes);
void lode_grid_number(struct lode_grid *grid, double number, int decimals);
/* A cell in its own style. */
void lode_grid_styled(struct lode_grid *grid, const struct lode_look *look, enum lode_style style,
		      const char *text);
void lode_grid_share(struct lode_grid *grid, uint64_t part, uint64_t whole);
/* Begins the last cell; the caller appends its content to the buffer. */
void lode_grid_open(struct lode_grid *grid);
/* Ends the line. */
void lode_grid_end(struct lode_grid *grid);

#endif
