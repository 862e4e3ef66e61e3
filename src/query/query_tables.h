/*
 * The tables and functions of a query. Private to src/query/.
 *
 * Tables are virtual ones that exist under their names without being created (SQLite calls them
 * eponymous). Each has a description of its columns, which makes its schema, its row in the table `tables`, and the
 * words that a prompt completes.
 */
#ifndef LODE_QUERY_QUERY_TABLES_H
#define LODE_QUERY_QUERY_TABLES_H

#include "query/query_data.h"

struct lode_query_column {
	const char *name; /* NULL ends a list */
	const char *type; /* "INTEGER", "TEXT", "REAL" */
	int hidden;       /* not in `SELECT *` */
	const char *meaning;
};

struct lode_query_table {
	const char *name;
	const struct lode_query_column *columns;
};

/* All tables; the last one has no name. */
extern const struct lode_query_table lode_query_tables[];
/* The description of a table that is there. */
const struct lode_query_column *lode_query_columns(const char *table);
/* Tells SQLite the columns of a table, and `more` columns behind them (NULL: none). Returns an SQLite code. */
int lode_query_declare(sqlite3 *db, struct lode_query_data *data, const struct lode_query_column *columns,
		       const char *more);

/* Each adds tables or functions to a connection and returns an SQLite code. The data must outlive the connection. */
int lode_query_add_rows(sqlite3 *db, struct lode_query_data *data);       /* row_table.c */
int lode_query_add_lists(sqlite3 *db, struct lode_query_data *data);      /* list_table.c */
int lode_query_add_functions(sqlite3 *db, struct lode_query_data *data);  /* stack_functions.c */
int lode_query_add_aggregates(sqlite3 *db, struct lode_query_data *data); /* aggregates.c */

/* has_frame(stack, glob), which tables take for a constraint on their column of stacks, too. */
void lode_query_has_frame(sqlite3_context *context, int count, sqlite3_value **values);

/* A virtual table whose method failed: hands the sentence of the data to SQLite. Returns an SQLite code. */
int lode_query_table_failed(sqlite3_vtab *table, const struct lode_query_data *data);

#endif
