/* The tables of a query, described: see query_tables.h. */
#include "query/query_tables.h"

#include "query/list_table.h"

#include <string.h>

/* The order of columns is that of row_table.c and list_rows.c. */
static const struct lode_query_column streams[] = {
	{ "stream", "INTEGER", 0, "number of the stream" },
	{ "name", "TEXT", 0, "what it is called" },
	{ "host", "TEXT", 0, "where it was recorded" },
	{ "id", "TEXT", 0, "32 hexadecimal digits" },
	{ "source", "TEXT", 0, "the file it came from" },
	{ "runs", "INTEGER", 0, "events of type run: CPU samples" },
	{ "waits", "INTEGER", 0, "events of type wait" },
	{ "calls", "INTEGER", 0, "events of type call" },
	{ "run_ns", "INTEGER", 0, "CPU time, ns" },
	{ "wait_ns", "INTEGER", 0, "waiting of all threads, ns" },
	{ "first_t", "INTEGER", 0, "start of its first event, ns" },
	{ "last_t", "INTEGER", 0, "end of its last event, ns" },
	{ "threads", "INTEGER", 0, "how many" },
	{ "stacks", "INTEGER", 0, "distinct stacks" },
	{ "symptoms", "INTEGER", 0, "how many" },
	{ "bytes", "INTEGER", 0, "size of its file" },
	{ "added", "INTEGER", 0, "when it came into the corpus, s since 1970" },
	{ NULL, NULL, 0, NULL },
};
static const struct lode_query_column attributes[] = {
	{ "stream", "INTEGER", 0, "number of the stream" },
	{ "key", "TEXT", 0, "name of the attribute; also a hidden column of streams" },
	{ "value", "", 0, "a text or a number" },
	{ NULL, NULL, 0, NULL },
};
static const struct lode_query_column events[] = {
	{ "stream", "INTEGER", 0, "number of the stream" },
	{ "type", "TEXT", 0, "run (a CPU sample), wait or call" },
	{ "t", "INTEGER", 0, "start, ns" },
	{ "cost", "INTEGER", 0, "CPU time it represents or length of the wait, ns; 0 of calls" },
	{ "thread", "INTEGER", 0, "number of the thread, in threads" },
	{ "stack", "INTEGER", 0, "number of the stack; 0: none" },
	{ "delay", "INTEGER", 0, "time on the run queue afterwards, ns" },
	{ "waker", "INTEGER", 0, "thread that ended the wait" },
	{ "waker_stack", "INTEGER", 0, "its stack" },
	{ "name", "TEXT", 0, "of a call: which" },
	{ "cpu", "INTEGER", 0, "processor" },
	{ "weight", "INTEGER", 0, "events that it represents: sum(cost * weight)" },
	{ "object", "TEXT", 0, "what a wait was for, kind:name" },
	{ "holder", "INTEGER", 0, "thread that had it" },
	{ "context", "TEXT", 0, "the request or query it belonged to" },
	{ "until", "INTEGER", 1, "t + cost" },
	{ "tid", "INTEGER", 1, "of its thread" },
	{ "pid", "INTEGER", 1, "of its thread" },
	{ "kind", "TEXT", 1, "the same as type" },
	{ NULL, NULL, 0, NULL },
};
static const struct lode_query_column sums[] = {
	{ "stream", "INTEGER", 0, "number of the stream" },
	{ "thread", "INTEGER", 0, "number of the thread" },
	{ "kind", "TEXT", 0, "run, wait or call" },
	{ "stack", "INTEGER", 0, "number of the stack" },
	{ "n", "INTEGER", 0, "events, by their weights" },
	{ "cost", "INTEGER", 0, "their time, by their weights, ns" },
	{ "tid", "INTEGER", 1, "of the thread" },
	{ "pid", "INTEGER", 1, "of the thread" },
	{ "type", "TEXT", 1, "the same as kind" },
	{ NULL, NULL, 0, NULL },
};
static const struct lode_query_column threads[] = {
	{ "thread", "INTEGER", 0, "number of the thread" },
	{ "stream", "INTEGER", 0, "its stream" },
	{ "pid", "INTEGER", 0, "process" },
	{ "tid", "INTEGER", 0, "thread, as the kernel numbers it" },
	{ "name", "TEXT", 0, "what it is called" },
	{ "process", "TEXT", 0, "what its process is called" },
	{ "waits", "INTEGER", 0, "how often it blocked, as the kernel counted; NULL: not known" },
	{ "preemptions", "INTEGER", 0, "the same" },
	{ "waited_ns", "INTEGER", 0, "the same" },
	{ "run_ns", "INTEGER", 0, "the same" },
	{ "queued_ns", "INTEGER", 0, "the same" },
	{ NULL, NULL, 0, NULL },
};
static const struct lode_query_column frames[] = {
	{ "frame", "INTEGER", 0, "number of the frame" },
	{ "name", "TEXT", 0, "module!function" },
	{ "module", "TEXT", 0, "file it is in" },
	{ "function", "TEXT", 0, "function" },
	{ "kind", "TEXT", 0, "user, library, kernel or jit" },
	{ "path", "TEXT", 0, "of the module" },
	{ "build_id", "TEXT", 0, "of the module" },
	{ NULL, NULL, 0, NULL },
};
static const struct lode_query_column stacks[] = {
	{ "stack", "INTEGER", 0, "number of the stack" },
	{ "parent", "INTEGER", 0, "the stack without its leaf; 0: it has no other frame" },
	{ "frame", "INTEGER", 0, "its leaf, in frames" },
	{ "depth", "INTEGER", 0, "number of its frames" },
	{ NULL, NULL, 0, NULL },
};
static const struct lode_query_column symptoms[] = {
	{ "stream", "INTEGER", 0, "number of the stream" },
	{ "name", "TEXT", 0, "what was slow" },
	{ "thread", "INTEGER", 0, "thread that was slow" },
	{ "tid", "INTEGER", 0, "the same, as the kernel numbers it" },
	{ "t0", "INTEGER", 0, "from, ns" },
	{ "t1", "INTEGER", 0, "to, ns" },
	{ "took", "INTEGER", 0, "t1 - t0" },
	{ NULL, NULL, 0, NULL },
};
/* As lode scope finds them. */
static const struct lode_query_column critical_path[] = {
	{ "stream", "INTEGER", 0, "number of the symptom's stream" },
	{ "symptom", "TEXT", 0, "name of the symptom" },
	{ "t0", "INTEGER", 0, "of the symptom" },
	{ "t1", "INTEGER", 0, "of the symptom" },
	{ "step", "INTEGER", 0, "place on the path, from 0" },
	{ "type", "TEXT", 0, "run, wait or ready" },
	{ "tid", "INTEGER", 0, "thread of this step" },
	{ "t", "INTEGER", 0, "start, ns" },
	{ "cost", "INTEGER", 0, "the part of it that is on the path, ns" },
	{ "stack", "INTEGER", 0, "its stack" },
	{ "waker", "INTEGER", 0, "tid of the thread that ended a wait" },
	{ "object", "TEXT", 0, "what a wait was for" },
	{ "context", "TEXT", 0, "the request or query it belonged to" },
	{ NULL, NULL, 0, NULL },
};
/* As lode mine finds them. */
static const struct lode_query_column patterns[] = {
	{ "pattern", "TEXT", 0, "id of the pattern" },
	{ "cluster", "TEXT", 0, "the cluster that has it" },
	{ "cost", "INTEGER", 0, "of the events that match, ns" },
	{ "events", "INTEGER", 0, "how many" },
	{ "streams", "INTEGER", 0, "how many have such events" },
	{ "average", "REAL", 0, "cost per event" },
	{ "frames", "TEXT", 0, "module!function, joined by ;" },
	{ NULL, NULL, 0, NULL },
};
static const struct lode_query_column clusters[] = {
	{ "cluster", "TEXT", 0, "id of the cluster" },
	{ "cost", "INTEGER", 0, "of the events that match one of its patterns, ns" },
	{ "events", "INTEGER", 0, "how many" },
	{ "streams", "INTEGER", 0, "how many have such events" },
	{ "average", "REAL", 0, "cost per event" },
	{ "share", "REAL", 0, "of all that was mined, 0 to 1" },
	{ "common", "TEXT", 0, "frames that all its patterns have, joined by ;" },
	{ NULL, NULL, 0, NULL },
};
static const struct lode_query_column signatures[] = {
	{ "name", "TEXT", 0, "name" },
	{ "state", "TEXT", 0, "open, fixed or ignored" },
	{ "bug", "TEXT", 0, "link" },
	{ "kind", "TEXT", 0, "run, wait or any" },
	{ "since", "TEXT", 0, "when it came into its state" },
	{ "made", "TEXT", 0, "when it was made" },
	{ "streams", "INTEGER", 0, "streams that it matches" },
	{ "events", "INTEGER", 0, "events that it matches" },
	{ "cost", "INTEGER", 0, "their time, ns" },
	{ "regression", "INTEGER", 0, "1: fixed, and there again" },
	{ "notes", "TEXT", 0, "what people wrote about it, joined by ;" },
	{ NULL, NULL, 0, NULL },
};
static const struct lode_query_column frames_of[] = {
	{ "frame", "INTEGER", 0, "number of the frame" },
	{ "name", "TEXT", 0, "module!function" },
	{ "place", "INTEGER", 0, "in the stack, the root is 1" },
	{ "stack", "INTEGER", 1, "the argument" },
	{ NULL, NULL, 0, NULL },
};
static const struct lode_query_column tables[] = {
	{ "name", "TEXT", 0, "a table" },           { "column_name", "TEXT", 0, "one of its columns" },
	{ "type", "TEXT", 0, "what it holds" },     { "hidden", "INTEGER", 0, "1: not in SELECT *" },
	{ "meaning", "TEXT", 0, "in a few words" }, { NULL, NULL, 0, NULL },
};

const struct lode_query_table lode_query_tables[] = {
	{ "streams", streams },     { "attributes", attributes }, { "events", events },
	{ "sums", sums },           { "threads", threads },       { "frames", frames },
	{ "stacks", stacks },       { "symptoms", symptoms },     { "critical_path", critical_path },
	{ "patterns", patterns },   { "clusters", clusters },     { "signatures", signatures },
	{ "frames_of", frames_of }, { "tables", tables },         { NULL, NULL },
};

const struct lode_query_column *lode_query_columns(const char *table)
{
	const struct lode_query_table *row = lode_query_tables;

	while (strcmp(row->name, table) != 0)
		row++;
	return row->columns;
}

int lode_query_declare(sqlite3 *db, struct lode_query_data *data, const struct lode_query_column *columns,
		       const char *more)
{
	sqlite3_str *text = sqlite3_str_new(db);
	char *sql;
	int status;

	sqlite3_str_appendall(text, "CREATE TABLE x(");
	for (size_t i = 0; columns[i].name; i++)
		sqlite3_str_appendf(text, "%s\"%w\" %s%s", i ? ", " : "", columns[i].name, columns[i].type,
				    columns[i].hidden ? " HIDDEN" : "");
	sqlite3_str_appendall(text, more ? more : "");
	sqlite3_str_appendall(text, ")");
	sql = sqlite3_str_finish(text);
	data->is_declaring = 1;
	status = sql ? sqlite3_declare_vtab(db, sql) : SQLITE_NOMEM;
	data->is_declaring = 0;
	sqlite3_free(sql);
	return status;
}

int lode_query_table_failed(sqlite3_vtab *table, const struct lode_query_data *data)
{
	if (data->stop)
		return SQLITE_INTERRUPT;
	sqlite3_free(table->zErrMsg);
	table->zErrMsg = sqlite3_mprintf("%s", data->error.text);
	return SQLITE_ERROR;
}

/* ---- the table of tables ---- */

/* The column of number `row` over all tables, and its table; NULL behind the last. */
static const struct lode_query_column *find_column(int64_t row, const struct lode_query_table **table)
{
	for (*table = lode_query_tables; (*table)->name; (*table)++)
		for (const struct lode_query_column *column = (*table)->columns; column->name; column++)
			if (!row--)
				return column;
	return NULL;
}

static int count_columns(struct lode_query_data *data, int64_t *count)
{
	const struct lode_query_table *table;

	(void)data;
	for (*count = 0; find_column(*count, &table);)
		++*count;
	return 0;
}

static void give_table(struct lode_query_data *data, sqlite3_context *context, int64_t row, int column)
{
	const struct lode_query_table *table;
	const struct lode_query_column *found = find_column(row, &table);
	const char *const texts[] = { table->name, found->name, found->type, NULL, found->meaning };

	(void)data;
	if (texts[column])
		sqlite3_result_text(context, texts[column], -1, SQLITE_STATIC);
	else
		sqlite3_result_int(context, found->hidden);
}

const struct lode_query_list lode_query_tables_list = {
	.name = "tables", .key = -1, .count = count_columns, .give = give_table, .rows = 100
};
