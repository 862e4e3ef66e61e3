/*
 * A result in memory, column by column: for tables whose widths must be known before the first line, and for
 * programs that take columns as arrays.
 */
#ifndef LODE_QUERY_QUERY_COLUMNS_H
#define LODE_QUERY_QUERY_COLUMNS_H

#include "base/array.h"
#include "query/query.h"

struct lode_query_array {
	char *name;
	LODE_ARRAY(uint8_t) types;  /* enum lode_query_type of each row */
	LODE_ARRAY(int64_t) values; /* the integer, the bits of the double, or where in `texts` the text begins */
	struct lode_buffer texts;   /* NUL-terminated, one behind the other */
	unsigned seen;              /* 1 << each type that occurs */
};

struct lode_query_columns {
	struct lode_query_array *items;
	size_t count;
	size_t rows;
};

/* As the functions of a sink (query.h); begin releases what was there before. */
int lode_query_columns_begin(struct lode_query_columns *columns, const char *const *names, size_t count,
			     struct lode_error *error);
int lode_query_columns_add(struct lode_query_columns *columns, const struct lode_query_value *values, size_t count,
			   struct lode_error *error);
void lode_query_columns_release(struct lode_query_columns *columns);
/* The value of a row; texts stay as long as nothing is added. */
struct lode_query_value lode_query_columns_get(const struct lode_query_columns *columns, size_t column, size_t row);

#endif
