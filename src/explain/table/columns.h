/*
 * Columns while a table is read, for all readers of tables. A reader goes over its
 * rows twice: first it passes every cell to lode_columns_look, which finds the type of
 * each column; then lode_columns_make makes the table, and lode_columns_put fills it.
 */
#ifndef LODE_EXPLAIN_TABLE_COLUMNS_H
#define LODE_EXPLAIN_TABLE_COLUMNS_H

#include "base/array.h"
#include "explain/table/table_value.h"
#include "explain/table/table.h"

struct lode_data_column_look {
	char *name;
	enum lode_data_column_kind kind;
	uint64_t text_line;     /* the first cell that is no number */
	uint64_t infinite_line; /* the first cell that is nan, inf or too large */
	char text[32];          /* how these begin */
	char infinite[32];
};

struct lode_columns {
	LODE_ARRAY(struct lode_data_column_look);
	struct lode_index index; /* by name */
	size_t rows;
};

/* A zeroed struct is empty. */
void lode_columns_release(struct lode_columns *columns);
/* Adds a column; two of one name, and a name that is empty or too long, are errors. */
int lode_columns_name(struct lode_columns *columns, const char *name, size_t length, const char *file,
		      uint64_t line, struct lode_error *error);

void lode_columns_refine_type(struct lode_data_column_look *look, const char *text, size_t length, int quoted,
			      uint64_t line);

/* Shows one cell of the column. Quoted text is never a number and never missing. */
static inline void lode_columns_look(struct lode_data_column_look *look, const char *text, size_t length,
				     int quoted, uint64_t line)
{
	if (length == 1 && (*text == '0' || *text == '1') && !quoted)
		return;
	lode_columns_refine_type(look, text, length, quoted, line);
}

/* The table with its columns, empty; `columns->rows` is set. */
int lode_columns_make(const struct lode_columns *columns, struct lode_data_table *table, const char *file,
		      struct lode_error *error);
int lode_columns_parse_general(struct lode_data_column *column, size_t row, const char *text, size_t length,
			       int quoted);

/* Fills one cell. Returns 0 or LODE_SYSTEM. */
static inline int lode_columns_put(struct lode_data_column *column, size_t row, const char *text, size_t length,
				   int quoted)
{
	if (column->kind != LODE_DATA_BINARY)
		return lode_columns_parse_general(column, row, text, length, quoted);
	/* Binary: 0 and 1 in any spelling; a digit 1 is in the one and not in the other, except
	 * exponents. */
	if (length == 1)
		column->bits[row / 64] |= (uint64_t)(*text & 1) << (row % 64);
	else
		return lode_columns_parse_general(column, row, text, length, quoted);
	return 0;
}

#endif
