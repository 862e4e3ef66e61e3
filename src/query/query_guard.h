/*
 * What a statement may do: read, for a limited time and with limited memory. Statements come from
 * strangers (lode serve, lode mcp), so everything else is refused: files, other databases, extensions, settings,
 * changes. Private to src/query/.
 */
#ifndef LODE_QUERY_QUERY_GUARD_H
#define LODE_QUERY_QUERY_GUARD_H

#include "query/query_data.h"

/* Sets limits that hold for all statements of a connection. Returns an SQLite code. */
int lode_query_guard(sqlite3 *db, struct lode_query_data *data);
/* Time and memory begin to count for a statement. */
void lode_query_guard_begin(struct lode_query_data *data);
/* The statement ended; says which limit it met, if it did. Returns a negative code then, else 0. */
int lode_query_guard_end(struct lode_query_data *data, struct lode_error *error);

#endif
