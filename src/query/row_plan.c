/*
 * Plans: see row_plan.h.
 *
 * The text has three letters for each constraint, in the order of the values: field, operator, and
 * whether the value is a list; then `|`, a letter for each column to group by, and `!` where one row of each group
 * is enough. The number is the mask of fields.
 *
 * Costs are what reading takes, in rows: SQLite compares them with those of its own sorter and of look-ups
 * in other tables, which cost 1.
 */
#include "query/row_plan.h"

#include <math.h>
#include <string.h>

#define FIELD_LETTER 'A'
#define IS_LIST      '*'
#define IS_VALUE     '.'

static const struct {
	unsigned char op;
	char letter;
} ops[] = {
	{ SQLITE_INDEX_CONSTRAINT_EQ, '=' }, { SQLITE_INDEX_CONSTRAINT_GT, '>' },
	{ SQLITE_INDEX_CONSTRAINT_GE, 'g' }, { SQLITE_INDEX_CONSTRAINT_LT, '<' },
	{ SQLITE_INDEX_CONSTRAINT_LE, 'l' }, { SQLITE_INDEX_CONSTRAINT_FUNCTION, 'f' },
};

#define OPS (sizeof(ops) / sizeof(ops[0]))

static char letter_of(unsigned char op)
{
	for (size_t i = 0; i < OPS; i++)
		if (ops[i].op == op)
			return ops[i].letter;
	return 0;
}

static int op_of(char letter)
{
	for (size_t i = 0; i < OPS; i++)
		if (ops[i].letter == letter)
			return ops[i].op;
	return 0;
}

/* ---- constraints ---- */

struct planning {
	struct lode_query_data *data;
	const enum lode_row_field *fields;
	int of_sums;
	sqlite3_index_info *info;
	char text[1024];
	size_t length;
	int values;
	size_t globs;
	double read;  /* rows that must be looked at */
	double found; /* rows that SQLite gets */
};

static int is_binary(sqlite3_index_info *info, int i)
{
	return strcmp(sqlite3_vtab_collation(info, i), "BINARY") == 0;
}

static int can_filter(struct planning *planning, int i, enum lode_row_field field)
{
	unsigned char op = planning->info->aConstraint[i].op;
	int equal = op == SQLITE_INDEX_CONSTRAINT_EQ;

	switch (field) {
	case LODE_ROW_TYPE:
		return equal && is_binary(planning->info, i);
	case LODE_ROW_STREAM:
	case LODE_ROW_THREAD:
		return equal;
	case LODE_ROW_STACK:
		return equal || (op == SQLITE_INDEX_CONSTRAINT_FUNCTION && planning->globs < LODE_ROW_GLOBS);
	case LODE_ROW_T:
	case LODE_ROW_COST:
		return op != SQLITE_INDEX_CONSTRAINT_FUNCTION && letter_of(op) != 0;
	default:
		return 0;
	}
}

/* What a constraint leaves to read and to hand over: guesses, but for streams and threads. */
static void estimate(struct planning *planning, enum lode_row_field field, unsigned char op)
{
	double streams = (double)planning->data->stream_count + 1,
	       threads = (double)planning->data->thread_count + 1;

	switch (field) {
	case LODE_ROW_STREAM:
		planning->read /= streams;
		planning->found /= streams;
		break;
	case LODE_ROW_THREAD: /* which tells the stream */
		planning->read /= streams;
		planning->found /= threads;
		break;
	case LODE_ROW_TYPE:
		planning->read /= planning->of_sums ? 1 : 3;
		planning->found /= 3;
		break;
	case LODE_ROW_T:
		planning->read /= planning->of_sums ? 1 : op == SQLITE_INDEX_CONSTRAINT_EQ ? 100 : 3;
		planning->found /= op == SQLITE_INDEX_CONSTRAINT_EQ ? 1000 : 3;
		break;
	case LODE_ROW_STACK:
		planning->found /= op == SQLITE_INDEX_CONSTRAINT_EQ ? 1000 : 10;
		break;
	default:
		planning->found /= op == SQLITE_INDEX_CONSTRAINT_EQ ? 1000 : 3;
	}
}

static int ask_for_list(sqlite3_index_info *info, int i)
{
#if SQLITE_VERSION_NUMBER >= 3038000
	return sqlite3_vtab_in(info, i, -1) && sqlite3_vtab_in(info, i, 1);
#else
	(void)info, (void)i;
	return 0;
#endif
}

static void take_constraint(struct planning *planning, int i)
{
	const struct sqlite3_index_constraint *constraint = &planning->info->aConstraint[i];
	enum lode_row_field field;
	int list;

	if (!constraint->usable || constraint->iColumn < 0 || planning->length + 16 > sizeof(planning->text))
		return;
	field = planning->fields[constraint->iColumn];
	if (!can_filter(planning, i, field))
		return;
	list = constraint->op == SQLITE_INDEX_CONSTRAINT_EQ && field != LODE_ROW_T && field != LODE_ROW_COST &&
	       ask_for_list(planning->info, i);
	planning->text[planning->length++] = (char)(FIELD_LETTER + (int)field);
	planning->text[planning->length++] = letter_of(constraint->op);
	planning->text[planning->length++] = list ? IS_LIST : IS_VALUE;
	planning->globs += constraint->op == SQLITE_INDEX_CONSTRAINT_FUNCTION;
	planning->info->aConstraintUsage[i].argvIndex = ++planning->values;
	planning->info->aConstraintUsage[i].omit = 1;
	estimate(planning, field, constraint->op);
}

/* ---- grouping ---- */

static int bits_for(uint64_t most)
{
	return most ? 64 - __builtin_clzll(most) : 1;
}

int lode_row_group_bits(const struct lode_query_data *data, enum lode_row_field field)
{
	switch (field) {
	case LODE_ROW_STREAM:
		return bits_for(data->stream_count);
	case LODE_ROW_TYPE:
		return 2;
	case LODE_ROW_THREAD:
	case LODE_ROW_WAKER:
	case LODE_ROW_HOLDER:
		return bits_for((uint64_t)data->thread_count + 1);
	case LODE_ROW_CPU:
		return 17;
	case LODE_ROW_STACK:
	case LODE_ROW_WAKER_STACK:
	case LODE_ROW_NAME:
	case LODE_ROW_OBJECT:
	case LODE_ROW_CONTEXT:
		return 32;
	default:
		return 65;
	}
}

/* Whether rows fit into memory that are put in order here. */
static int has_room(const struct planning *planning)
{
	size_t width = 4;
	double rows = 0;

	for (unsigned field = 0; field <= LODE_ROW_PID; field++)
		if ((unsigned)planning->info->idxNum & 1u << field)
			width += 8;
	for (size_t i = 0; i < planning->data->stream_count; i++)
		for (int type = 0; type < LODE_EVENT_TYPES; type++)
			rows += (double)planning->data->streams[i].entry->events[type];
	return planning->of_sums ||
	       (rows < (double)LODE_NONE && rows * (double)width < (double)planning->data->options.memory);
}

static int what_order_means(sqlite3_index_info *info)
{
#if SQLITE_VERSION_NUMBER >= 3038000
	return sqlite3_vtab_distinct(info);
#else
	(void)info;
	return 0;
#endif
}

/*
 * Of GROUP BY, which is 1, SQLite says that groups may come in any order; but where ORDER BY has the same columns it takes
 * them to be in that one (3.40 does). Only DISTINCT alone, which is 2, leaves the order open.
 */
static void take_order(struct planning *planning)
{
	sqlite3_index_info *info = planning->info;
	int distinct = what_order_means(info), bits = 0, any_order = distinct == 2;
	unsigned others = (unsigned)info->idxNum;

	if (info->nOrderBy < 1 || info->nOrderBy > LODE_ROW_GROUPS || !has_room(planning))
		return;
	for (int i = 0; i < info->nOrderBy; i++) {
		enum lode_row_field field;

		if (info->aOrderBy[i].iColumn < 0)
			return;
		field = planning->fields[info->aOrderBy[i].iColumn];
		bits += lode_row_group_bits(planning->data, field);
		if (!any_order && info->aOrderBy[i].desc)
			return;
	}
	if (bits > 64)
		return;
	planning->text[planning->length++] = '|';
	for (int i = 0; i < info->nOrderBy; i++) {
		planning->text[planning->length++] =
			(char)(FIELD_LETTER + (int)planning->fields[info->aOrderBy[i].iColumn]);
		others &= ~(1u << planning->fields[info->aOrderBy[i].iColumn]);
	}
	/* Rows that agree in these columns may differ in others that SQLite has yet to look at. */
	if (distinct >= 2 && !others)
		planning->text[planning->length++] = '!';
	info->orderByConsumed = 1;
}

int lode_row_plan_make(struct lode_query_data *data, int of_sums, const enum lode_row_field *fields,
		       sqlite3_index_info *info)
{
	struct planning planning = { .data = data, .fields = fields, .of_sums = of_sums, .info = info, .read = 1 };
	unsigned used = 0;

	for (int i = 0; i < 63; i++)
		if (info->colUsed >> i & 1)
			used |= 1u << fields[i];
	for (size_t i = 0; i < data->stream_count; i++)
		for (int type = 0; type < LODE_EVENT_TYPES; type++)
			planning.read += (double)data->streams[i].entry->events[type] / (of_sums ? 10 : 1);
	planning.found = planning.read;
	info->idxNum = (int)used;
	for (int i = 0; i < info->nConstraint; i++)
		take_constraint(&planning, i);
	take_order(&planning);
	info->idxStr = sqlite3_mprintf("%s", planning.text);
	if (!info->idxStr)
		return SQLITE_NOMEM;
	info->needToFreeIdxStr = 1;
	/* Opening a stream takes as long as some hundred rows. */
	info->estimatedCost = 1000 + planning.read + planning.found;
	info->estimatedRows = (sqlite3_int64)fmin(planning.found + 1, 1e15);
	return SQLITE_OK;
}

int lode_row_plan_read(struct lode_row_plan *plan, int number, const char *text, sqlite3_value **values,
		       struct lode_row_filter *filter)
{
	int code = 0;

	*plan = (struct lode_row_plan){ .fields = (unsigned)number };
	for (; !code && *text && *text != '|'; text += 3)
		code = lode_row_filter_add(filter, (enum lode_row_field)(text[0] - FIELD_LETTER), op_of(text[1]),
					   text[2] == IS_LIST, *values++);
	if (*text == '|')
		text++;
	for (; !code && *text && *text != '!' && plan->group_count < LODE_ROW_GROUPS; text++)
		plan->groups[plan->group_count++] = (enum lode_row_field)(*text - FIELD_LETTER);
	plan->distinct = *text == '!';
	return code;
}
