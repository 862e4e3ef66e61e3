/*
 * The tables `events` and `sums`, as virtual tables of SQLite: see query_tables.h.
 *
 * A cursor walks the rows of one block of a scan (row_scan.h), or rows that were grouped beforehand
 * (row_groups.h). SQLite calls next, eof and column for each row, so these do as little as possible.
 */
#include "query/query_tables.h"
#include "query/row_groups.h"

#include <string.h>

/* Fields of the columns, in the order of their descriptions (query_tables.c). */
static const enum lode_row_field event_fields[] = {
	LODE_ROW_STREAM, LODE_ROW_TYPE,   LODE_ROW_T,      LODE_ROW_COST,        LODE_ROW_THREAD,
	LODE_ROW_STACK,  LODE_ROW_DELAY,  LODE_ROW_WAKER,  LODE_ROW_WAKER_STACK, LODE_ROW_NAME,
	LODE_ROW_CPU,    LODE_ROW_WEIGHT, LODE_ROW_OBJECT, LODE_ROW_HOLDER,      LODE_ROW_CONTEXT,
	LODE_ROW_UNTIL,  LODE_ROW_TID,    LODE_ROW_PID,    LODE_ROW_TYPE,
};
static const enum lode_row_field sum_fields[] = {
	LODE_ROW_STREAM, LODE_ROW_THREAD, LODE_ROW_TYPE, LODE_ROW_STACK, LODE_ROW_N,
	LODE_ROW_COST,   LODE_ROW_TID,    LODE_ROW_PID,  LODE_ROW_TYPE,
};

struct row_module {
	struct lode_query_data *data;
	int of_sums;
};

struct row_table {
	sqlite3_vtab base;
	struct lode_query_data *data;
	const enum lode_row_field *fields;
	int of_sums;
};

struct row_cursor {
	sqlite3_vtab_cursor base;
	struct lode_query_data *data;
	const enum lode_row_field *fields;
	const struct lode_rows *rows; /* the block, or all rows in groups */
	const uint32_t *picks;        /* NULL: rows follow one another */
	size_t row;                   /* the current one of `rows` */
	size_t at, count;             /* among those of the block */
	int is_grouped;
	int at_end;
	size_t filters; /* times that it was started */
	struct lode_row_plan plan;
	struct lode_row_filter filter;
	struct lode_row_scan scan;
	struct lode_rows grouped;
};

/* ---- the table ---- */

static int connect_table(sqlite3 *db, void *context, int count, const char *const *words, sqlite3_vtab **table,
			 char **message)
{
	const struct row_module *module = context;
	struct row_table *made;
	int status = lode_query_declare(db, module->data, lode_query_columns(module->of_sums ? "sums" : "events"),
					NULL);

	(void)count, (void)words, (void)message;
	if (status != SQLITE_OK)
		return status;
	made = lode_calloc(1, sizeof(*made));
	if (!made)
		return SQLITE_NOMEM;
	made->data = module->data;
	made->of_sums = module->of_sums;
	made->fields = module->of_sums ? sum_fields : event_fields;
	*table = &made->base;
	return SQLITE_OK;
}

static int disconnect_table(sqlite3_vtab *table)
{
	lode_free(table);
	return SQLITE_OK;
}

static int plan_table(sqlite3_vtab *table, sqlite3_index_info *info)
{
	struct row_table *rows = (struct row_table *)table;

	return lode_row_plan_make(rows->data, rows->of_sums, rows->fields, info);
}

static int find_function(sqlite3_vtab *table, int count, const char *name,
			 void (**function)(sqlite3_context *, int, sqlite3_value **), void **argument)
{
	if (count != 2 || sqlite3_stricmp(name, "has_frame") != 0)
		return 0;
	*function = lode_query_has_frame;
	*argument = ((struct row_table *)table)->data;
	return SQLITE_INDEX_CONSTRAINT_FUNCTION;
}

/* ---- the cursor ---- */

static int open_cursor(sqlite3_vtab *table, sqlite3_vtab_cursor **cursor)
{
	struct row_cursor *made = lode_calloc(1, sizeof(*made));

	if (!made)
		return SQLITE_NOMEM;
	made->data = ((struct row_table *)table)->data;
	made->fields = ((struct row_table *)table)->fields;
	*cursor = &made->base;
	return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
	struct row_cursor *cursor = (struct row_cursor *)base;

	lode_row_filter_release(&cursor->filter);
	lode_row_scan_release(&cursor->scan);
	lode_rows_release(&cursor->grouped);
	lode_free(cursor);
	return SQLITE_OK;
}

static int next_block(struct row_cursor *cursor)
{
	int found = cursor->is_grouped ? 0 : lode_row_scan_next(&cursor->scan);

	cursor->at = 0;
	cursor->at_end = found <= 0;
	if (found < 0)
		return lode_query_table_failed(cursor->base.pVtab, cursor->data);
	if (!found)
		return SQLITE_OK;
	cursor->rows = &cursor->scan.rows;
	cursor->picks = cursor->scan.picks;
	cursor->count = lode_row_scan_count(&cursor->scan);
	cursor->row = lode_row_scan_at(&cursor->scan, 0);
	return SQLITE_OK;
}

static int next_row(sqlite3_vtab_cursor *base)
{
	struct row_cursor *cursor = (struct row_cursor *)base;

	if (++cursor->at >= cursor->count)
		return next_block(cursor);
	if (cursor->picks)
		cursor->row = cursor->picks[cursor->at];
	else
		cursor->row++;
	return SQLITE_OK;
}

static int start_cursor(sqlite3_vtab_cursor *base, int number, const char *text, int count, sqlite3_value **values)
{
	struct row_cursor *cursor = (struct row_cursor *)base;
	const struct row_table *table = (const struct row_table *)base->pVtab;
	int code;

	(void)count;
	lode_row_filter_release(&cursor->filter);
	lode_rows_release(&cursor->grouped);
	lode_row_filter_init(&cursor->filter);
	if (lode_row_plan_read(&cursor->plan, number, text, values, &cursor->filter) < 0)
		return SQLITE_NOMEM;
	cursor->is_grouped = cursor->plan.group_count > 0;
	cursor->scan.keep_blocks = cursor->filters++ > 0;
	if (!cursor->is_grouped) {
		code = lode_row_scan_start(&cursor->scan, cursor->data, &cursor->filter, table->of_sums,
					   cursor->plan.fields, 0);
		return code ? lode_query_table_failed(base->pVtab, cursor->data) : next_block(cursor);
	}
	code = lode_row_groups_make(cursor->data, &cursor->plan, &cursor->scan, &cursor->filter, table->of_sums,
				    &cursor->grouped);
	if (code)
		return lode_query_table_failed(base->pVtab, cursor->data);
	cursor->rows = &cursor->grouped;
	cursor->picks = NULL;
	cursor->row = cursor->at = 0;
	cursor->count = cursor->grouped.count;
	cursor->at_end = !cursor->count;
	return SQLITE_OK;
}

static int is_at_end(sqlite3_vtab_cursor *base)
{
	return ((struct row_cursor *)base)->at_end;
}

/* ---- values ---- */

static void give_thread(sqlite3_context *context, const struct row_cursor *cursor, uint32_t thread)
{
	if (thread != LODE_NONE)
		sqlite3_result_int64(context,
				     cursor->data->streams[lode_rows_stream(cursor->rows, cursor->row)].first_thread +
					     thread);
}

static void give_string(sqlite3_context *context, const struct row_cursor *cursor, uint32_t string)
{
	const struct lode_string *text = &cursor->data->dictionary.frames.strings.items[string];

	if (string)
		sqlite3_result_text(context, text->text, (int)text->length, SQLITE_STATIC);
}

static void give_id(sqlite3_context *context, const struct row_cursor *cursor, int is_pid)
{
	const struct lode_rows *rows = cursor->rows;
	const struct lode_stream *head = &cursor->data->streams[lode_rows_stream(rows, cursor->row)].head;
	const struct lode_thread *thread = &head->threads[rows->events.thread[cursor->row]];

	if (!is_pid || thread->pid != LODE_NO_PID)
		sqlite3_result_int64(context, is_pid ? thread->pid : thread->tid);
}

static void give_number(sqlite3_context *context, uint64_t number)
{
	sqlite3_result_int64(context, lode_query_number(number));
}

/* The fields that few statements read. */
static void give_rare(sqlite3_context *context, const struct row_cursor *cursor, enum lode_row_field field)
{
	const struct lode_events *events = &cursor->rows->events;
	size_t i = cursor->row;

	switch (field) {
	case LODE_ROW_DELAY:
		give_number(context, events->delay[i]);
		break;
	case LODE_ROW_WAKER:
		give_thread(context, cursor, events->waker[i]);
		break;
	case LODE_ROW_WAKER_STACK:
		if (events->waker_stack[i])
			sqlite3_result_int64(context, events->waker_stack[i]);
		break;
	case LODE_ROW_NAME:
		give_string(context, cursor, events->name[i]);
		break;
	case LODE_ROW_CPU:
		if (events->cpu[i] != LODE_NO_CPU)
			sqlite3_result_int64(context, events->cpu[i]);
		break;
	case LODE_ROW_WEIGHT:
		give_number(context, lode_events_weight(events, i));
		break;
	case LODE_ROW_OBJECT:
		give_string(context, cursor, lode_events_object(events, i));
		break;
	case LODE_ROW_HOLDER:
		give_thread(context, cursor, lode_events_holder(events, i));
		break;
	case LODE_ROW_CONTEXT:
		give_string(context, cursor, lode_events_context(events, i));
		break;
	case LODE_ROW_UNTIL:
		give_number(context, lode_add_saturating(events->t[i], events->cost[i]));
		break;
	default:
		give_id(context, cursor, field == LODE_ROW_PID);
	}
}

static int give_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
	const struct row_cursor *cursor = (const struct row_cursor *)base;
	const struct lode_rows *rows = cursor->rows;
	size_t i = cursor->row;

	switch (cursor->fields[column]) {
	case LODE_ROW_COST:
		give_number(context, rows->events.cost[i]);
		break;
	case LODE_ROW_T:
		give_number(context, rows->events.t[i]);
		break;
	case LODE_ROW_THREAD:
		give_thread(context, cursor, rows->events.thread[i]);
		break;
	case LODE_ROW_STACK:
		sqlite3_result_int64(context, rows->events.stack[i]);
		break;
	case LODE_ROW_STREAM:
		sqlite3_result_int64(context, lode_rows_stream(rows, i));
		break;
	case LODE_ROW_TYPE:
		sqlite3_result_text(context, lode_event_type_name(lode_rows_type(rows, i)),
				    lode_rows_type(rows, i) == LODE_RUN ? 3 : 4, SQLITE_STATIC);
		break;
	case LODE_ROW_N:
		give_number(context, rows->n[i]);
		break;
	default:
		give_rare(context, cursor, cursor->fields[column]);
	}
	return SQLITE_OK;
}

/* By these numbers SQLite knows rows again that fit several parts of an OR, each of which it reads in a scan of its own. */
static int give_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid)
{
	const struct row_cursor *cursor = (const struct row_cursor *)base;

	*rowid = cursor->is_grouped ? (int64_t)cursor->row : lode_row_scan_id(&cursor->scan, cursor->row);
	return SQLITE_OK;
}

static const sqlite3_module methods = {
	.xConnect = connect_table,
	.xBestIndex = plan_table,
	.xDisconnect = disconnect_table,
	.xOpen = open_cursor,
	.xClose = close_cursor,
	.xFilter = start_cursor,
	.xNext = next_row,
	.xEof = is_at_end,
	.xColumn = give_column,
	.xRowid = give_rowid,
	.xFindFunction = find_function,
};

static int add_table(sqlite3 *db, struct lode_query_data *data, const char *name, int of_sums)
{
	struct row_module *module = lode_calloc(1, sizeof(*module));

	if (!module)
		return SQLITE_NOMEM;
	*module = (struct row_module){ data, of_sums };
	return sqlite3_create_module_v2(db, name, &methods, module, lode_free);
}

int lode_query_add_rows(sqlite3 *db, struct lode_query_data *data)
{
	int status = add_table(db, data, "events", 0);

	return status == SQLITE_OK ? add_table(db, data, "sums", 1) : status;
}
