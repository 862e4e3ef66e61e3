/*
 * The catalogue's SQLite handle and how statements are run on it. Private to the
 * files that make up the catalogue.
 */
#ifndef LODE_STORE_CATALOGUE_SQL_H
#define LODE_STORE_CATALOGUE_SQL_H

#include "store/catalogue.h"

#include <sqlite3.h>

struct lode_catalogue {
	sqlite3 *db;
	char *path;
};

/* What SQLite said, as a sentence and a code. */
int lode_sql_fail(struct lode_catalogue *catalogue, struct lode_error *error);
/* Runs statements that yield no rows. */
int lode_sql_run(struct lode_catalogue *catalogue, const char *sql, struct lode_error *error);

/* NULL when it fails, with a sentence; lode_sql_fail then has the code. */
sqlite3_stmt *lode_sql_prepare(struct lode_catalogue *catalogue, const char *sql, struct lode_error *error);
/* Runs a statement that yields no rows, and makes it ready for the next. */
int lode_sql_step(struct lode_catalogue *catalogue, sqlite3_stmt *statement, struct lode_error *error);

/* Non-zero when it fails. */
static inline int lode_sql_bind_text(sqlite3_stmt *statement, int at, const char *text)
{
	return sqlite3_bind_text(statement, at, text, -1, SQLITE_TRANSIENT) != SQLITE_OK;
}

static inline int lode_sql_bind_number(sqlite3_stmt *statement, int at, uint64_t number)
{
	return sqlite3_bind_int64(statement, at, (int64_t)number) != SQLITE_OK;
}

/* Whether a table, index or view that is defined like this is one of a catalogue. */
int lode_sql_is_definition(const char *definition);

/* How the catalogue calls a type of attributes (enum lode_attribute_type). */
const char *lode_sql_attribute_type(unsigned type);

/* A copy of a column's text; NULL when it is NULL or memory has run out. */
const char *lode_sql_text(struct lode_arena *arena, sqlite3_stmt *statement, int column);

#endif
