/*
 * Table value: one value of a text table, before the type of its column is known.
 */
#ifndef LODE_EXPLAIN_TABLE_TABLE_VALUE_H
#define LODE_EXPLAIN_TABLE_TABLE_VALUE_H

#include <stddef.h>

enum lode_table_value {
	LODE_VALUE_MISSING,  /* nothing, `?` or `NA` */
	LODE_VALUE_BINARY,   /* 0 or 1 */
	LODE_VALUE_NUMBER,   /* a finite number */
	LODE_VALUE_INFINITE, /* nan, inf, or a number beyond what a double holds */
	LODE_VALUE_TEXT,
};

/*
 * The type of `text`. Spaces around it do not count. Numbers are decimal, with a
 * point regardless of the locale; `*number` is set for LODE_VALUE_BINARY and
 * LODE_VALUE_NUMBER.
 */
enum lode_table_value lode_table_value_read(const char *text, size_t length, double *number);
/* Steps over the spaces around a text. */
void lode_table_value_trim(const char **text, size_t *length);

#endif
