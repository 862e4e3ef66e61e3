/* Tables of numbered rows: see list_table.h. */
#include "query/list_table.h"

#include <string.h>

/* Attributes that become columns; SQLite allows 2000 in all. */
#define MAX_ATTRIBUTE_COLUMNS 1000

struct list_module {
	struct lode_query_data *data;
	const struct lode_query_list *list;
};

struct list_table {
	sqlite3_vtab base;
	struct list_module module;
};

struct list_cursor {
	sqlite3_vtab_cursor base;
	struct list_module module;
	int64_t row;
	int64_t end;
};

/* ---- the table ---- */

static int is_fixed(const char *name)
{
	for (const struct lode_query_column *column = lode_query_columns("streams"); column->name; column++)
		if (!sqlite3_stricmp(column->name, name))
			return 1;
	return 0;
}

/* Declares the keys of attributes as hidden columns of `streams`; NULL when memory has run out. */
static char *declare_attributes(struct lode_query_data *data)
{
	sqlite3_str *text = sqlite3_str_new(NULL);

	for (size_t i = 0; i < data->attribute_keys.count; i++)
		sqlite3_str_appendf(text, ", \"%w\" HIDDEN", data->attribute_keys.items[i]);
	return sqlite3_str_finish(text);
}

/* Collects the keys that can be columns: not those that name a process, nor those of fixed columns. */
static int collect_keys(struct lode_query_data *data)
{
	int code = lode_query_load_attributes(data);

	if (code || data->attribute_keys.count)
		return code;
	for (size_t i = 0; i < data->attributes.count; i++) {
		const char *key = data->attributes.items[i].key;
		size_t k = 0;

		if (!*key || !strncmp(key, LODE_COMMAND, strlen(LODE_COMMAND)) || is_fixed(key))
			continue;
		/* SQLite does not distinguish capitals in names; the first of two such keys wins. */
		while (k < data->attribute_keys.count && sqlite3_stricmp(data->attribute_keys.items[k], key) != 0)
			k++;
		if (k == data->attribute_keys.count && k < MAX_ATTRIBUTE_COLUMNS &&
		    LODE_PUSH(&data->attribute_keys, key) < 0)
			return lode_query_no_memory(data);
	}
	return 0;
}

static int declare(sqlite3 *db, const struct list_module *module, char **message)
{
	const struct lode_query_column *columns = lode_query_columns(module->list->name);
	char *more = NULL;
	int status;

	if (module->list != &lode_query_streams_list)
		return lode_query_declare(db, module->data, columns, NULL);
	if (collect_keys(module->data)) {
		*message = sqlite3_mprintf("%s", module->data->error.text);
		return SQLITE_ERROR;
	}
	more = declare_attributes(module->data);
	status = more || !module->data->attribute_keys.count ? lode_query_declare(db, module->data, columns, more)
							     : SQLITE_NOMEM;
	sqlite3_free(more);
	return status;
}

static int connect_table(sqlite3 *db, void *context, int count, const char *const *words, sqlite3_vtab **table,
			 char **message)
{
	struct list_table *made;
	int status = declare(db, context, message);

	(void)count, (void)words;
	if (status != SQLITE_OK)
		return status;
	made = lode_calloc(1, sizeof(*made));
	if (!made)
		return SQLITE_NOMEM;
	made->module = *(const struct list_module *)context;
	*table = &made->base;
	return SQLITE_OK;
}

static int disconnect_table(sqlite3_vtab *table)
{
	lode_free(table);
	return SQLITE_OK;
}

/* A row by its number, or all. */
static int plan_table(sqlite3_vtab *table, sqlite3_index_info *info)
{
	const struct lode_query_list *list = ((struct list_table *)table)->module.list;

	info->estimatedCost = list->rows;
	info->estimatedRows = (sqlite3_int64)list->rows;
	for (int i = 0; i < info->nConstraint; i++) {
		const struct sqlite3_index_constraint *constraint = &info->aConstraint[i];

		if (!constraint->usable || constraint->op != SQLITE_INDEX_CONSTRAINT_EQ || list->key < 0 ||
		    constraint->iColumn != list->key)
			continue;
		info->aConstraintUsage[i].argvIndex = 1;
		info->idxNum = 1;
		info->estimatedCost = 1;
		info->estimatedRows = 1;
		info->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
		return SQLITE_OK;
	}
	/* Rows come in the order of their numbers. */
	if (info->nOrderBy == 1 && !info->aOrderBy[0].desc && list->key >= 0 &&
	    info->aOrderBy[0].iColumn == list->key)
		info->orderByConsumed = 1;
	return SQLITE_OK;
}

/* ---- the cursor ---- */

static int open_cursor(sqlite3_vtab *table, sqlite3_vtab_cursor **cursor)
{
	struct list_cursor *made = lode_calloc(1, sizeof(*made));

	if (!made)
		return SQLITE_NOMEM;
	made->module = ((struct list_table *)table)->module;
	*cursor = &made->base;
	return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *cursor)
{
	lode_free(cursor);
	return SQLITE_OK;
}

/* Passes numbers that no row has. */
static int settle(struct list_cursor *cursor)
{
	struct lode_query_data *data = cursor->module.data;
	int is_there = 0;

	while (cursor->row < cursor->end && !is_there) {
		is_there = cursor->module.list->ready ? cursor->module.list->ready(data, cursor->row) : 1;
		if (is_there < 0)
			return lode_query_table_failed(cursor->base.pVtab, data);
		cursor->row += !is_there;
	}
	return SQLITE_OK;
}

static int start_cursor(sqlite3_vtab_cursor *base, int number, const char *text, int count, sqlite3_value **values)
{
	struct list_cursor *cursor = (struct list_cursor *)base;
	const struct lode_query_list *list = cursor->module.list;
	struct lode_query_data *data = cursor->module.data;
	int is_key = number && sqlite3_value_numeric_type(values[0]) == SQLITE_INTEGER, code;
	int64_t key = is_key ? sqlite3_value_int64(values[0]) : 0;

	(void)text, (void)count;
	cursor->row = cursor->end = 0;
	/* What is no whole number is no row's number; SQLite compares again where it is one. */
	if (number && !is_key && sqlite3_value_numeric_type(values[0]) != SQLITE_FLOAT)
		return SQLITE_OK;
	code = is_key && list->count_for ? list->count_for(data, key, &cursor->end)
					 : list->count(data, &cursor->end);
	if (code)
		return lode_query_table_failed(base->pVtab, data);
	if (is_key && (key < 0 || key >= cursor->end))
		cursor->end = 0;
	else if (is_key) {
		cursor->row = key;
		cursor->end = key + 1;
	}
	return settle(cursor);
}

static int next_row(sqlite3_vtab_cursor *base)
{
	struct list_cursor *cursor = (struct list_cursor *)base;

	cursor->row++;
	return settle(cursor);
}

static int is_at_end(sqlite3_vtab_cursor *base)
{
	const struct list_cursor *cursor = (const struct list_cursor *)base;

	return cursor->row >= cursor->end;
}

static int give_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
	const struct list_cursor *cursor = (const struct list_cursor *)base;

	cursor->module.list->give(cursor->module.data, context, cursor->row, column);
	return SQLITE_OK;
}

static int give_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid)
{
	*rowid = ((const struct list_cursor *)base)->row;
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
};

int lode_query_add_lists(sqlite3 *db, struct lode_query_data *data)
{
	static const struct lode_query_list *const lists[] = {
		&lode_query_streams_list,    &lode_query_attributes_list,    &lode_query_threads_list,
		&lode_query_frames_list,     &lode_query_stacks_list,        &lode_query_symptoms_list,
		&lode_query_tables_list,     &lode_query_patterns_list,      &lode_query_clusters_list,
		&lode_query_signatures_list, &lode_query_critical_path_list,
	};
	int status = SQLITE_OK;

	for (size_t i = 0; status == SQLITE_OK && i < sizeof(lists) / sizeof(lists[0]); i++) {
		struct list_module *module = lode_calloc(1, sizeof(*module));

		if (!module)
			return SQLITE_NOMEM;
		*module = (struct list_module){ data, lists[i] };
		status = sqlite3_create_module_v2(db, lists[i]->name, &methods, module, lode_free);
	}
	return status;
}
