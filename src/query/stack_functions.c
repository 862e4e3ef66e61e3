/*
 * Functions of stacks: leaf, root, depth, text, has_frame, and the table frames_of(stack). Private to src/query/.
 *
 * A stack is a number (query_data.h). What is no number of a stack gives NULL.
 */
#include "query/query_tables.h"

#include <string.h>

static struct lode_query_data *data_of(sqlite3_context *context)
{
	return sqlite3_user_data(context);
}

/* A text that stays as long as the connection. */
static void give_frame(sqlite3_context *context, uint32_t frame)
{
	const char *text = lode_query_frame_text(data_of(context), frame);

	if (text)
		sqlite3_result_text(context, text, -1, SQLITE_STATIC);
	else
		sqlite3_result_error_nomem(context);
}

static void leaf(sqlite3_context *context, int count, sqlite3_value **values)
{
	uint32_t stack = lode_query_stack_of(data_of(context), values[0]);

	(void)count;
	if (stack != LODE_NONE && stack)
		give_frame(context, data_of(context)->dictionary.tree.nodes[stack].frame);
}

static void root(sqlite3_context *context, int count, sqlite3_value **values)
{
	const struct lode_stack_tree *tree = &data_of(context)->dictionary.tree;
	uint32_t stack = lode_query_stack_of(data_of(context), values[0]);

	(void)count;
	if (stack == LODE_NONE || !stack)
		return;
	while (tree->nodes[stack].parent)
		stack = tree->nodes[stack].parent;
	give_frame(context, tree->nodes[stack].frame);
}

static void depth(sqlite3_context *context, int count, sqlite3_value **values)
{
	uint32_t stack = lode_query_stack_of(data_of(context), values[0]);

	(void)count;
	if (stack != LODE_NONE)
		sqlite3_result_int64(context, lode_stack_tree_depth(&data_of(context)->dictionary.tree, stack));
}

static void text(sqlite3_context *context, int count, sqlite3_value **values)
{
	uint32_t stack = lode_query_stack_of(data_of(context), values[0]);
	struct lode_buffer buffer = { 0 };

	(void)count;
	if (stack == LODE_NONE)
		return;
	lode_query_text_of(data_of(context), stack, &buffer);
	if (buffer.failed)
		sqlite3_result_error_nomem(context);
	else
		sqlite3_result_text64(context, buffer.size ? buffer.bytes : "", buffer.size, SQLITE_TRANSIENT,
				      SQLITE_UTF8);
	lode_buffer_release(&buffer);
}

void lode_query_has_frame(sqlite3_context *context, int count, sqlite3_value **values)
{
	struct lode_query_data *data = data_of(context);
	uint32_t stack = lode_query_stack_of(data, values[0]);
	const char *pattern = (const char *)sqlite3_value_text(values[1]);
	struct lode_stack_glob *glob;

	(void)count;
	if (stack == LODE_NONE || !pattern)
		return;
	glob = lode_stack_globs_get(&data->globs, pattern);
	if (!glob || lode_stack_glob_extend(glob, &data->dictionary) < 0)
		sqlite3_result_error_nomem(context);
	else
		sqlite3_result_int(context, glob->nodes[stack]);
}

/* ---- frames_of(stack) ---- */

struct frames_table {
	sqlite3_vtab base;
	struct lode_query_data *data;
};

struct frames_cursor {
	sqlite3_vtab_cursor base;
	struct lode_query_data *data;
	uint32_t *frames; /* root first */
	uint32_t depth;
	uint32_t at;
	int64_t stack;
};

#define ARGUMENT_COLUMN 3

static int connect_table(sqlite3 *db, void *context, int count, const char *const *words, sqlite3_vtab **table,
			 char **message)
{
	struct frames_table *made;
	int status = lode_query_declare(db, context, lode_query_columns("frames_of"), NULL);

	(void)count, (void)words, (void)message;
	if (status != SQLITE_OK)
		return status;
	made = lode_calloc(1, sizeof(*made));
	if (!made)
		return SQLITE_NOMEM;
	made->data = context;
	*table = &made->base;
	return SQLITE_OK;
}

static int disconnect_table(sqlite3_vtab *table)
{
	lode_free(table);
	return SQLITE_OK;
}

/* Without a stack there are no rows. */
static int plan_table(sqlite3_vtab *table, sqlite3_index_info *info)
{
	(void)table;
	info->estimatedCost = 1e12;
	info->estimatedRows = 20;
	for (int i = 0; i < info->nConstraint; i++) {
		const struct sqlite3_index_constraint *constraint = &info->aConstraint[i];

		if (constraint->iColumn != ARGUMENT_COLUMN || constraint->op != SQLITE_INDEX_CONSTRAINT_EQ)
			continue;
		/* The stack comes from a table that is read before this one. */
		if (!constraint->usable)
			return SQLITE_CONSTRAINT;
		info->aConstraintUsage[i].argvIndex = 1;
		info->aConstraintUsage[i].omit = 1;
		info->idxNum = 1;
		info->estimatedCost = 20;
		return SQLITE_OK;
	}
	return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *table, sqlite3_vtab_cursor **cursor)
{
	struct frames_cursor *made = lode_calloc(1, sizeof(*made));

	if (!made)
		return SQLITE_NOMEM;
	made->data = ((struct frames_table *)table)->data;
	*cursor = &made->base;
	return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *cursor)
{
	lode_free(((struct frames_cursor *)cursor)->frames);
	lode_free(cursor);
	return SQLITE_OK;
}

static int start_cursor(sqlite3_vtab_cursor *base, int number, const char *plan, int count, sqlite3_value **values)
{
	struct frames_cursor *cursor = (struct frames_cursor *)base;
	const struct lode_stack_tree *tree = &cursor->data->dictionary.tree;
	uint32_t stack = number ? lode_query_stack_of(cursor->data, values[0]) : LODE_NONE;

	(void)plan, (void)count;
	lode_free(cursor->frames);
	cursor->frames = NULL;
	cursor->at = cursor->depth = 0;
	if (stack == LODE_NONE || !stack)
		return SQLITE_OK;
	cursor->stack = stack;
	cursor->depth = lode_stack_tree_depth(tree, stack);
	cursor->frames = lode_calloc(cursor->depth, sizeof(*cursor->frames));
	if (!cursor->frames)
		return SQLITE_NOMEM;
	lode_stack_tree_frames(tree, stack, cursor->frames, cursor->depth);
	return SQLITE_OK;
}

static int next_row(sqlite3_vtab_cursor *base)
{
	((struct frames_cursor *)base)->at++;
	return SQLITE_OK;
}

static int is_at_end(sqlite3_vtab_cursor *base)
{
	const struct frames_cursor *cursor = (const struct frames_cursor *)base;

	return cursor->at >= cursor->depth;
}

static int give_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
	struct frames_cursor *cursor = (struct frames_cursor *)base;
	const int64_t numbers[] = { cursor->frames[cursor->at], 0, (int64_t)cursor->at + 1, cursor->stack };
	const char *name;

	if (column != 1) {
		sqlite3_result_int64(context, numbers[column]);
		return SQLITE_OK;
	}
	name = lode_query_frame_text(cursor->data, cursor->frames[cursor->at]);
	if (!name)
		return SQLITE_NOMEM;
	sqlite3_result_text(context, name, -1, SQLITE_STATIC);
	return SQLITE_OK;
}

static int give_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid)
{
	*rowid = ((const struct frames_cursor *)base)->at;
	return SQLITE_OK;
}

static const sqlite3_module frames_methods = {
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

int lode_query_add_functions(sqlite3 *db, struct lode_query_data *data)
{
	static const struct {
		const char *name;
		int count;
		void (*function)(sqlite3_context *, int, sqlite3_value **);
	} functions[] = {
		{ "leaf", 1, leaf },
		{ "root", 1, root },
		{ "depth", 1, depth },
		{ "text", 1, text },
		{ "has_frame", 2, lode_query_has_frame },
	};
	int status = SQLITE_OK;

	for (size_t i = 0; status == SQLITE_OK && i < sizeof(functions) / sizeof(functions[0]); i++)
		status = sqlite3_create_function_v2(db, functions[i].name, functions[i].count,
						    SQLITE_UTF8 | SQLITE_INNOCUOUS | SQLITE_DETERMINISTIC, data,
						    functions[i].function, NULL, NULL, NULL);
	return status == SQLITE_OK ? sqlite3_create_module_v2(db, "frames_of", &frames_methods, data, NULL)
				   : status;
}
