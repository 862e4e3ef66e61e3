/*
 * Queries: see query.h. A connection to an empty database in memory gets the tables and functions, and then the
 * guard. Statements are compiled and stepped; their values are handed to the sink as they come.
 */
#include "query/query.h"

#include "query/analysis_tables.h"
#include "query/query_guard.h"
#include "query/query_tables.h"
#include "query/sums.h"

#include <ctype.h>
#include <string.h>

struct lode_query {
	sqlite3 *db;
	struct lode_query_data data;
	size_t noted; /* streams that were left out and told */
};

static int set_up(struct lode_query *query)
{
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_PRIVATECACHE |
		    SQLITE_OPEN_NOMUTEX;
	int status = sqlite3_open_v2(":memory:", &query->db, flags, NULL);

	if (status == SQLITE_OK)
		status = lode_query_add_rows(query->db, &query->data);
	if (status == SQLITE_OK)
		status = lode_query_add_lists(query->db, &query->data);
	if (status == SQLITE_OK)
		status = lode_query_add_functions(query->db, &query->data);
	if (status == SQLITE_OK)
		status = lode_query_add_aggregates(query->db, &query->data);
	return status == SQLITE_OK ? lode_query_guard(query->db, &query->data) : status;
}

int lode_query_open(struct lode_query **result, struct lode_corpus *corpus, const struct lode_corpus_list *list,
		    const struct lode_query_options *options, struct lode_error *error)
{
	struct lode_query *query = lode_calloc(1, sizeof(*query));
	int code, status;

	*result = NULL;
	if (!query)
		return lode_fail_memory(error);
	code = lode_query_data_open(&query->data, corpus, list, options, error);
	status = code ? SQLITE_OK : set_up(query);
	if (status == SQLITE_NOMEM)
		code = lode_fail_memory(error);
	else if (status != SQLITE_OK)
		code = lode_fail(error, LODE_SYSTEM, "query: SQLite cannot be used: %s",
				 query->db ? sqlite3_errmsg(query->db) : sqlite3_errstr(status));
	if (code) {
		lode_query_close(query);
		return code;
	}
	*result = query;
	return 0;
}

void lode_query_close(struct lode_query *query)
{
	if (!query)
		return;
	sqlite3_close(query->db);
	for (size_t i = 0; i < query->data.stream_count; i++)
		lode_query_sums_free(query->data.streams[i].sums);
	lode_query_results_free(query->data.results);
	lode_query_data_close(&query->data);
	lode_free(query);
}

/* ---- running ---- */

static struct lode_query_value value_of(sqlite3_stmt *statement, int column)
{
	struct lode_query_value value = { .type = LODE_QUERY_NULL, .text = "" };

	switch (sqlite3_column_type(statement, column)) {
	case SQLITE_INTEGER:
		value.type = LODE_QUERY_INTEGER;
		value.integer = sqlite3_column_int64(statement, column);
		break;
	case SQLITE_FLOAT:
		value.type = LODE_QUERY_REAL;
		value.real = sqlite3_column_double(statement, column);
		break;
	case SQLITE_TEXT:
	case SQLITE_BLOB:
		value.type = LODE_QUERY_TEXT;
		value.text = (const char *)sqlite3_column_text(statement, column);
		value.length = (size_t)sqlite3_column_bytes(statement, column);
		if (!value.text) /* an empty blob, or no memory */
			value.text = "", value.length = 0;
		break;
	default:
		break;
	}
	return value;
}

static int begin(sqlite3_stmt *statement, const struct lode_query_sink *sink, struct lode_error *error)
{
	size_t count = (size_t)sqlite3_column_count(statement);
	const char **names = lode_calloc(count + 1, sizeof(*names));
	int code = names ? 0 : lode_fail_memory(error);

	for (size_t i = 0; !code && i < count; i++)
		if (!(names[i] = sqlite3_column_name(statement, (int)i)))
			code = lode_fail_memory(error);
	if (!code)
		code = sink->begin(sink->context, names, count, error);
	lode_free(names);
	return code;
}

/* Hands over all rows. Returns what the sink returned, if that is not 0; `*status` is SQLite's last answer. */
static int step_all(sqlite3_stmt *statement, const struct lode_query_sink *sink, int *status,
		    struct lode_error *error)
{
	size_t count = (size_t)sqlite3_column_count(statement);
	struct lode_query_value *values = lode_calloc(count + 1, sizeof(*values));
	int code = values ? 0 : lode_fail_memory(error);

	while (!code && (*status = sqlite3_step(statement)) == SQLITE_ROW) {
		for (size_t i = 0; i < count; i++)
			values[i] = value_of(statement, (int)i);
		code = sink->row(sink->context, values, count, error);
	}
	lode_free(values);
	return code;
}

/* What SQLite could not do, as a sentence. */
static int explain(struct lode_query *query, int status, struct lode_error *error)
{
	if (query->data.code) {
		*error = query->data.error;
		return query->data.code;
	}
	switch (status & 0xff) {
	case SQLITE_AUTH:
		return lode_fail(error, LODE_USAGE, "query: a query can only select; %s",
				 sqlite3_errmsg(query->db));
	case SQLITE_NOMEM:
		query->data.stop = LODE_QUERY_OUT_OF_MEMORY;
		return LODE_USAGE;
	default:
		return lode_fail(error, LODE_USAGE,
				 "query: %s; 'SELECT * FROM tables' lists tables and columns. "
				 "See 'lode help query'.",
				 sqlite3_errmsg(query->db));
	}
}

static int is_blank(const char *sql)
{
	while (isspace((unsigned char)*sql) || *sql == ';')
		sql++;
	return !*sql;
}

static int prepare(struct lode_query *query, const char *sql, sqlite3_stmt **statement, struct lode_error *error)
{
	const char *rest = "";
	int status = sqlite3_prepare_v2(query->db, sql, -1, statement, &rest);

	if (status != SQLITE_OK)
		return explain(query, status, error);
	if (!*statement)
		return lode_fail(error, LODE_USAGE,
				 "query: there is no statement; give one such as "
				 "'SELECT * FROM streams'");
	if (!sqlite3_stmt_readonly(*statement) || !sqlite3_column_count(*statement))
		return lode_fail(error, LODE_USAGE, "query: a query can only select");
	if (!is_blank(rest))
		return lode_fail(error, LODE_USAGE,
				 "query: one statement at a time; this follows the first: %.40s", rest);
	return 0;
}

/* Streams that were left out, each told once. */
static void note_unread(struct lode_query *query)
{
	struct lode_unread_streams *unread = &query->data.unread;
	struct lode_unread_streams fresh = { .items = unread->items + query->noted,
					     .count = unread->count - query->noted };

	if (fresh.count && query->data.options.notes)
		lode_unread_streams_note(&fresh, query->data.options.notes);
	query->noted = unread->count;
}

int lode_query_run(struct lode_query *query, const char *sql, const struct lode_query_sink *sink,
		   struct lode_error *error)
{
	sqlite3_stmt *statement = NULL;
	int status = SQLITE_DONE, code, limit;

	lode_query_guard_begin(&query->data);
	code = prepare(query, sql, &statement, error);
	if (!code)
		code = begin(statement, sink, error);
	if (!code)
		code = step_all(statement, sink, &status, error);
	if (!code && status != SQLITE_DONE)
		code = explain(query, status, error);
	sqlite3_finalize(statement);
	limit = lode_query_guard_end(&query->data, error);
	note_unread(query);
	return limit ? limit : code;
}

int lode_query_is_complete(const char *sql)
{
	return sqlite3_complete(sql);
}

int lode_query_folded_stack(struct lode_query *query, int64_t stack, struct lode_buffer *buffer)
{
	if (stack < 0 || (uint64_t)stack >= query->data.dictionary.tree.count)
		return LODE_USAGE;
	lode_query_folded_of(&query->data, (uint32_t)stack, buffer);
	return 0;
}

const char *lode_query_word(size_t i)
{
	static const char *const words[] = {
		"SELECT", "DISTINCT", "FROM",      "WHERE",      "GROUP BY",  "ORDER BY", "HAVING",     "LIMIT",
		"JOIN",   "USING",    "LEFT JOIN", "WITH",       "CASE",      "WHEN",     "THEN",       "ELSE",
		"END",    "BETWEEN",  "count(",    "sum(",       "avg(",      "min(",     "max(",       "leaf(",
		"root(",  "depth(",   "text(",     "has_frame(", "quantile(", "flame(",   "frames_of(",
	};
	size_t count = sizeof(words) / sizeof(words[0]);

	if (i < count)
		return words[i];
	i -= count;
	for (const struct lode_query_table *table = lode_query_tables; table->name; table++) {
		if (!i--)
			return table->name;
		for (const struct lode_query_column *column = table->columns; column->name; column++)
			if (!i--)
				return column->name;
	}
	return NULL;
}
