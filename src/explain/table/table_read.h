/*
 * Table readers: from a file (packed or not) to a table in memory.
 *
 * CSV: a first line of names, then one row per line. Cells are separated by
 * commas (or by tabs or semicolons, where the first line has no comma), may be
 * quoted with `"`, doubled inside, and may then hold separators and line ends.
 * Lines end in \n or \r\n. Empty lines do not count.
 *
 * ARFF: @attribute lines, then rows behind @data, dense or sparse.
 *
 * What a column is: binary when every cell is 0 or 1, numeric when every cell is
 * a number, categorical otherwise. A cell that is empty, `?` or `NA` is missing.
 * `nan`, `inf` and numbers too large to hold are errors where the other cells
 * are numbers.
 *
 * Errors name FILE:LINE and the column. Memory and time are bounded by the size
 * of the unpacked file.
 */
#ifndef LODE_EXPLAIN_TABLE_TABLE_READ_H
#define LODE_EXPLAIN_TABLE_TABLE_READ_H

#include "base/input.h"
#include "explain/table/table.h"

/* Longer rows are refused. */
#define LODE_TABLE_LONGEST_ROW ((size_t)64 << 20)
/* Longer names and cells are refused. */
#define LODE_TABLE_LONGEST_CELL ((size_t)1 << 20)

/* Picks the reader by the first bytes. On success the table is the caller's. */
int lode_data_table_read(struct lode_data_table *table, struct lode_input *input, struct lode_error *error);
/* The same of a file, `-` for standard input. */
int lode_data_table_load(struct lode_data_table *table, const char *path, struct lode_error *error);
int lode_csv_read(struct lode_data_table *table, struct lode_input *input, struct lode_error *error);
int lode_arff_read(struct lode_data_table *table, struct lode_input *input, struct lode_error *error);

#endif
