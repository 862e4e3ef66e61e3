/*
 * Cell: one value of a text table, before it is known what its column is.
 */
#ifndef LODE_EXPLAIN_CELL_H
#define LODE_EXPLAIN_CELL_H

#include <stddef.h>

enum lode_cell {
	LODE_CELL_MISSING,  /* nothing, `?` or `NA` */
	LODE_CELL_BINARY,   /* 0 or 1 */
	LODE_CELL_NUMBER,   /* a finite number */
	LODE_CELL_INFINITE, /* nan, inf, or a number beyond what a double holds */
	LODE_CELL_TEXT,
};

/*
 * What `text` is. Spaces around it do not count. Numbers are decimal, with a
 * point whatever the locale; `*number` is set for LODE_CELL_BINARY and
 * LODE_CELL_NUMBER.
 */
enum lode_cell lode_cell_read(const char *text, size_t length, double *number);
/* Steps over the spaces around a text. */
void lode_cell_trim(const char **text, size_t *length);

#endif
