/*
 * Tables of Nsight Systems: see nsight_tables.h.
 *
 * The file is read in place, as a database in memory that may not be written to. It may come from a stranger: views and virtual
 * tables are refused, and so are queries that take more steps than its size explains.
 */
#include "import/runtime/nsight_tables.h"

#include "base/buffer.h"
#include "base/starts_with.h"

#include <string.h>

/* Steps between two looks at how many there were. */
#define STEPS 10000
/* A row takes some dozens of bytes and a hundred steps or less. */
#define STEPS_PER_BYTE 40
#define MIN_STEPS      50000000
/* Longest text or row. */
#define MAX_LENGTH (16 << 20)

static int fail(const struct lode_nsight_file *file, int code)
{
	if (code == SQLITE_NOMEM)
		return lode_fail_memory(file->error);
	if (code == SQLITE_INTERRUPT)
		return lode_fail(
			file->error, LODE_BAD_INPUT,
			"%s: a table takes more work than the file's size explains; export it again with nsys",
			file->name);
	return lode_fail(file->error, LODE_BAD_INPUT, "%s: %s; export it again with nsys export --type sqlite",
			 file->name, file->db ? sqlite3_errmsg(file->db) : sqlite3_errstr(code));
}

static int count_steps(void *context)
{
	struct lode_nsight_file *file = context;

	file->steps += STEPS;
	return file->steps > file->most_steps;
}

int lode_nsight_open(struct lode_nsight_file *file, const unsigned char *bytes, size_t size)
{
	int code;

	if (size > 19 && (bytes[18] == 2 || bytes[19] == 2))
		return lode_fail(file->error, LODE_BAD_INPUT,
				 "%s: its last changes may be in a journal beside it; run sqlite3 %s 'PRAGMA "
				 "journal_mode=DELETE' and import it again",
				 file->name, file->name);
	code = sqlite3_open_v2(":memory:", &file->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);

	if (code == SQLITE_OK)
		code = sqlite3_deserialize(file->db, "main", (unsigned char *)(uintptr_t)bytes,
					   (sqlite3_int64)size, (sqlite3_int64)size, SQLITE_DESERIALIZE_READONLY);
	/* Without the check SQLite may read a cell beyond its page, and what comes of it differs from run to run. */
	if (code == SQLITE_OK)
		code = sqlite3_exec(file->db, "PRAGMA cell_size_check = ON", NULL, NULL, NULL);
	if (code != SQLITE_OK)
		return fail(file, code);
	file->most_steps = (uint64_t)size * STEPS_PER_BYTE + MIN_STEPS;
	sqlite3_limit(file->db, SQLITE_LIMIT_LENGTH, MAX_LENGTH);
	sqlite3_limit(file->db, SQLITE_LIMIT_ATTACHED, 0);
	sqlite3_db_config(file->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(file->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(file->db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	sqlite3_progress_handler(file->db, STEPS, count_steps, file);
	return 0;
}

void lode_nsight_close(struct lode_nsight_file *file)
{
	sqlite3_close(file->db);
	file->db = NULL;
}

static int has_column(const struct lode_nsight_file *file, const char *table, const char *column)
{
	return sqlite3_table_column_metadata(file->db, "main", table, column, NULL, NULL, NULL, NULL, NULL) ==
	       SQLITE_OK;
}

int lode_nsight_has(const struct lode_nsight_file *file, const char *table)
{
	static const char sql[] = "SELECT sql FROM main.sqlite_master WHERE type = 'table' AND name = ?1";
	sqlite3_stmt *row = NULL;
	int has = 0;

	if (sqlite3_prepare_v2(file->db, sql, -1, &row, NULL) == SQLITE_OK &&
	    sqlite3_bind_text(row, 1, table, -1, SQLITE_STATIC) == SQLITE_OK && sqlite3_step(row) == SQLITE_ROW)
		has = lode_starts_with(lode_nsight_text(row, 0), "CREATE TABLE");
	sqlite3_finalize(row);
	return has;
}

/* Names are our own, so nothing in them needs quoting but what SQL reserves (`end`). */
static void write_query(const struct lode_nsight_file *file, const struct lode_nsight_query *query,
			struct lode_buffer *sql)
{
	int has_strings = lode_nsight_has(file, "StringIds");

	lode_buffer_text(sql, "SELECT ");
	for (size_t i = 0; query->columns[i]; i++) {
		lode_buffer_text(sql, i ? ", " : "");
		if (has_column(file, query->table, query->columns[i]))
			lode_buffer_print(sql, "t.\"%s\"", query->columns[i]);
		else
			lode_buffer_text(sql, "NULL");
	}
	for (size_t i = 0; query->strings[i]; i++)
		if (has_strings && has_column(file, query->table, query->strings[i]))
			lode_buffer_print(sql, ", (SELECT value FROM main.StringIds WHERE id = t.\"%s\")",
					  query->strings[i]);
		else
			lode_buffer_text(sql, ", NULL");
	lode_buffer_print(sql, " FROM main.\"%s\" t", query->table);
	if (query->order)
		lode_buffer_print(sql, " ORDER BY t.\"%s\"", query->order);
	lode_buffer_byte(sql, '\0');
}

int lode_nsight_rows(struct lode_nsight_file *file, const struct lode_nsight_query *query,
		     int (*take)(void *context, sqlite3_stmt *row), void *context)
{
	struct lode_buffer sql = { 0 };
	sqlite3_stmt *row = NULL;
	int code, result = 0;

	if (!lode_nsight_has(file, query->table) || (query->order && !has_column(file, query->table, query->order)))
		return 0;
	write_query(file, query, &sql);
	code = sql.failed ? SQLITE_NOMEM : sqlite3_prepare_v2(file->db, sql.bytes, -1, &row, NULL);
	while (code == SQLITE_OK || code == SQLITE_ROW) {
		code = sqlite3_step(row);
		if (code == SQLITE_ROW && (result = take(context, row)) < 0)
			break;
	}
	if (result == 0 && code != SQLITE_DONE)
		result = fail(file, code);
	sqlite3_finalize(row);
	lode_buffer_release(&sql);
	return result;
}
