/*
 * Limits of statements: see query_guard.h.
 *
 * An authorizer sees every action of a statement while it is compiled; only selecting, reading columns and calling
 * functions pass. While a statement runs, SQLite calls back after every few hundred of its instructions; that is where
 * time and memory are looked at. What a single instruction may allocate is limited by the length of
 * values. Loops of our own tables check in between (lode_query_must_stop).
 */
#include "query/query_guard.h"

#include "base/clock.h"
#include "base/units.h"

#include <string.h>

#define LOOK_EVERY   200         /* instructions of SQLite between looks at memory */
#define TIME_EVERY   64          /* of these looks between looks at the clock */
#define MAX_VALUE    (256 << 20) /* bytes of a text or a row */
#define MAX_SQL      (1 << 20)
#define MAX_COMPOUND 100
#define MAX_DEPTH    500

/* Functions that reach outside of the statement. SQLite's own library has few, but it may be built with more. */
static int is_refused(const char *name)
{
	static const char *const names[] = { "load_extension", "writefile", "readfile",  "edit",
					     "fts3_tokenizer", "lsmode",    "sqlite_log" };

	for (size_t i = 0; name && i < sizeof(names) / sizeof(names[0]); i++)
		if (!sqlite3_stricmp(name, names[i]))
			return 1;
	return !name;
}

static int authorize(void *context, int action, const char *first, const char *second, const char *database,
		     const char *trigger)
{
	(void)first, (void)database, (void)trigger;
	if (((const struct lode_query_data *)context)->is_declaring)
		return SQLITE_OK;
	switch (action) {
	case SQLITE_SELECT:
	case SQLITE_READ:
	case SQLITE_RECURSIVE:
		return SQLITE_OK;
	case SQLITE_FUNCTION:
		return is_refused(second) ? SQLITE_DENY : SQLITE_OK;
	default:
		return SQLITE_DENY;
	}
}

static int look(void *context)
{
	struct lode_query_data *data = context;
	int64_t used = sqlite3_memory_used() - (int64_t)data->memory_before;

	if (used > 0 && (uint64_t)used > data->options.memory && !data->stop)
		data->stop = LODE_QUERY_OUT_OF_MEMORY;
	if (data->stop)
		return 1;
	if (++data->looks % TIME_EVERY)
		return 0;
	return lode_query_must_stop(data);
}

int lode_query_guard(sqlite3 *db, struct lode_query_data *data)
{
	static const struct {
		int limit;
		int value;
	} limits[] = {
		{ SQLITE_LIMIT_LENGTH, MAX_VALUE },
		{ SQLITE_LIMIT_SQL_LENGTH, MAX_SQL },
		{ SQLITE_LIMIT_COMPOUND_SELECT, MAX_COMPOUND },
		{ SQLITE_LIMIT_EXPR_DEPTH, MAX_DEPTH },
		{ SQLITE_LIMIT_ATTACHED, 0 },
		{ SQLITE_LIMIT_WORKER_THREADS, 0 },
		{ SQLITE_LIMIT_TRIGGER_DEPTH, 0 },
	};
	static const struct {
		int option;
		int value;
	} settings[] = {
		{ SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0 },
		{ SQLITE_DBCONFIG_DEFENSIVE, 1 },
		{ SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0 },
		{ SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0 },
		/* A misspelt column in double quotes is an error, not a text. */
		{ SQLITE_DBCONFIG_DQS_DML, 0 },
	};
	/* What does not fit into memory is an error, and fills no disk. */
	int status = sqlite3_exec(db, "PRAGMA temp_store = MEMORY", NULL, NULL, NULL);

	for (size_t i = 0; status == SQLITE_OK && i < sizeof(settings) / sizeof(settings[0]); i++)
		status = sqlite3_db_config(db, settings[i].option, settings[i].value, NULL);
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		sqlite3_limit(db, limits[i].limit, limits[i].value);
	sqlite3_progress_handler(db, LOOK_EVERY, look, data);
	return status == SQLITE_OK ? sqlite3_set_authorizer(db, authorize, data) : status;
}

void lode_query_guard_begin(struct lode_query_data *data)
{
	data->stop = LODE_QUERY_GOES_ON;
	data->code = 0;
	data->error.text[0] = '\0';
	data->looks = 0;
	data->deadline = data->options.time ? lode_now() + data->options.time : 0;
	data->memory_before = (uint64_t)sqlite3_memory_used();
	if (data->options.own_process)
		sqlite3_hard_heap_limit64((int64_t)(data->memory_before + data->options.memory));
}

int lode_query_guard_end(struct lode_query_data *data, struct lode_error *error)
{
	char text[LODE_UNITS_TEXT];

	if (data->options.own_process)
		sqlite3_hard_heap_limit64(0);
	switch (data->stop) {
	case LODE_QUERY_OUT_OF_TIME:
		return lode_fail(error, LODE_USAGE,
				 "query: took longer than %s; ask for less, or allow more with '--max-time'",
				 lode_duration_text(data->options.time, text));
	case LODE_QUERY_OUT_OF_MEMORY:
		return lode_fail(
			error, LODE_USAGE,
			"query: needs more memory than %s; ask for less, or allow more with '--max-memory'",
			lode_bytes_text(data->options.memory, text));
	case LODE_QUERY_STOPPED:
		return lode_fail(error, LODE_SYSTEM, "query: stopped");
	default:
		return 0;
	}
}
