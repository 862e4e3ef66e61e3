/*
 * Tables of the SQLite files that `nsys export --type sqlite` writes. Nsight Systems creates a table only if something was
 * recorded for it, and versions differ in columns: a table that is not there has no rows, and a column that is not there has
 * no values.
 */
#ifndef LODE_IMPORT_NSIGHT_TABLES_H
#define LODE_IMPORT_NSIGHT_TABLES_H

#include "import/import.h"

#include <sqlite3.h>

struct lode_nsight_file {
	const char *name; /* in messages */
	sqlite3 *db;
	uint64_t steps,
		most_steps; /* of the database's machine: files of strangers may ask for more than they hold */
	struct lode_error *error;
};

/* Opens the bytes, which must outlive it. Close it in either case. Returns 0 or a negative code with a sentence. */
int lode_nsight_open(struct lode_nsight_file *file, const unsigned char *bytes, size_t size);
void lode_nsight_close(struct lode_nsight_file *file);
int lode_nsight_has(const struct lode_nsight_file *file, const char *table);

/* Which rows of a table. */
struct lode_nsight_query {
	const char *table;
	const char *columns[12]; /* up to a NULL */
	const char *strings[3]; /* columns with numbers of StringIds, whose texts follow the columns; up to a NULL */
	const char *order;      /* a column, or NULL */
};

/*
 * Calls `take` for each row, which returns 0 or a negative code; with values as the query lists them. Returns 0, that code,
 * or one with a sentence.
 */
int lode_nsight_rows(struct lode_nsight_file *file, const struct lode_nsight_query *query,
		     int (*take)(void *context, sqlite3_stmt *row), void *context);

/* A value that is not below 0; `otherwise` for others. */
static inline uint64_t lode_nsight_number(sqlite3_stmt *row, int column, uint64_t otherwise)
{
	sqlite3_int64 value = sqlite3_column_int64(row, column);

	return sqlite3_column_type(row, column) == SQLITE_INTEGER && value >= 0 ? (uint64_t)value : otherwise;
}

/* The same for ids, of which the largest is none. */
static inline uint32_t lode_nsight_id(sqlite3_stmt *row, int column)
{
	uint64_t value = lode_nsight_number(row, column, LODE_NONE);

	return value < LODE_NONE ? (uint32_t)value : LODE_NONE;
}

/* A text; "" for others. */
static inline const char *lode_nsight_text(sqlite3_stmt *row, int column)
{
	const unsigned char *text =
		sqlite3_column_type(row, column) == SQLITE_TEXT ? sqlite3_column_text(row, column) : NULL;

	return text ? (const char *)text : "";
}

#endif
