/*
 * Filters of rows: see row_filter.h. SQLite does not check again what is filtered here, so a filter must
 * mean just what SQL does: a column of numbers compared with 1.5, '12', 'abc' or NULL.
 */
#include "query/row_filter.h"

#include "base/bisect.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void lode_row_filter_init(struct lode_row_filter *filter)
{
	struct lode_row_range all = { 0, INT64_MAX };

	memset(filter, 0, sizeof(*filter));
	filter->types = (1u << LODE_EVENT_TYPES) - 1;
	filter->t = filter->cost = all;
}

void lode_row_filter_release(struct lode_row_filter *filter)
{
	lode_free(filter->stream_set.numbers.items);
	lode_free(filter->thread_set.numbers.items);
	lode_free(filter->stack_set.numbers.items);
	for (size_t i = 0; i < filter->glob_count; i++)
		lode_free(filter->globs[i]);
	memset(filter, 0, sizeof(*filter));
}

static const struct lode_row_range nothing = { 1, 0 };

static void narrow(struct lode_row_range *range, struct lode_row_range more)
{
	range->low = more.low > range->low ? more.low : range->low;
	range->high = more.high < range->high ? more.high : range->high;
}

/* Numbers that `op` lets through where the other side is a fraction. */
static struct lode_row_range range_of_real(int op, double real)
{
	struct lode_row_range range = { INT64_MIN, INT64_MAX };
	double down = floor(real), up = ceil(real);

	if (op == SQLITE_INDEX_CONSTRAINT_EQ && down != real)
		return nothing;
	if (op == SQLITE_INDEX_CONSTRAINT_EQ || op == SQLITE_INDEX_CONSTRAINT_GT ||
	    op == SQLITE_INDEX_CONSTRAINT_GE) {
		double low = op == SQLITE_INDEX_CONSTRAINT_GT ? down + 1 : up;

		/* Above 2^53 there are no fractions: down + 1 may be down. */
		if (low >= 0x1p63)
			return nothing;
		range.low = low < -0x1p63 ? INT64_MIN : (int64_t)low;
		if (op == SQLITE_INDEX_CONSTRAINT_GT && down == real && low >= -0x1p63 && range.low == (int64_t)real)
			range.low++;
	}
	if (op == SQLITE_INDEX_CONSTRAINT_EQ || op == SQLITE_INDEX_CONSTRAINT_LT ||
	    op == SQLITE_INDEX_CONSTRAINT_LE) {
		double high = op == SQLITE_INDEX_CONSTRAINT_LT ? up - 1 : down;

		if (high < -0x1p63)
			return nothing;
		range.high = high >= 0x1p63 ? INT64_MAX : (int64_t)high;
		if (op == SQLITE_INDEX_CONSTRAINT_LT && up == real && high < 0x1p63 && range.high == (int64_t)real)
			range.high--;
	}
	return range;
}

static struct lode_row_range range_of_integer(int op, int64_t number)
{
	switch (op) {
	case SQLITE_INDEX_CONSTRAINT_EQ:
		return (struct lode_row_range){ number, number };
	case SQLITE_INDEX_CONSTRAINT_GT:
		return number == INT64_MAX ? nothing : (struct lode_row_range){ number + 1, INT64_MAX };
	case SQLITE_INDEX_CONSTRAINT_GE:
		return (struct lode_row_range){ number, INT64_MAX };
	case SQLITE_INDEX_CONSTRAINT_LT:
		return number == INT64_MIN ? nothing : (struct lode_row_range){ INT64_MIN, number - 1 };
	default:
		return (struct lode_row_range){ INT64_MIN, number };
	}
}

/* The numbers for which `number op value` is true. */
static struct lode_row_range range_of(int op, sqlite3_value *value)
{
	struct lode_row_range all = { INT64_MIN, INT64_MAX };

	switch (sqlite3_value_numeric_type(value)) {
	case SQLITE_INTEGER:
		return range_of_integer(op, sqlite3_value_int64(value));
	case SQLITE_FLOAT:
		return range_of_real(op, sqlite3_value_double(value));
	case SQLITE_NULL:
		return nothing;
	default: /* numbers come before texts and bytes */
		return op == SQLITE_INDEX_CONSTRAINT_LT || op == SQLITE_INDEX_CONSTRAINT_LE ? all : nothing;
	}
}

/* ---- sets ---- */

int lode_row_set_has(const struct lode_row_set *set, int64_t number)
{
	size_t at;

	if (!set->is_given)
		return 1;
	at = LODE_BISECT(i, 0, set->numbers.count, set->numbers.items[i] < number);
	return at < set->numbers.count && set->numbers.items[at] == number;
}

static int compare_numbers(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* Leaves in `set` what is in both; takes over the items of `more`. */
static void intersect(struct lode_row_set *set, struct lode_row_set *more)
{
	size_t kept = 0;

	if (more->numbers.count)
		qsort(more->numbers.items, more->numbers.count, sizeof(*more->numbers.items), compare_numbers);
	for (size_t i = 0; i < more->numbers.count; i++)
		if (lode_row_set_has(set, more->numbers.items[i]))
			more->numbers.items[kept++] = more->numbers.items[i];
	more->numbers.count = kept;
	lode_free(set->numbers.items);
	*set = *more;
}

static int push_equal(struct lode_row_set *set, sqlite3_value *value)
{
	struct lode_row_range range = range_of(SQLITE_INDEX_CONSTRAINT_EQ, value);

	return range.low == range.high ? LODE_PUSH(&set->numbers, range.low) : 0;
}

/* The values of the right side of an IN, one by one. */
static int each_of_list(sqlite3_value *list, int (*take)(void *context, sqlite3_value *value), void *context)
{
	int code = 0;
#if SQLITE_VERSION_NUMBER >= 3038000
	sqlite3_value *value;
	int status = sqlite3_vtab_in_first(list, &value);

	for (; !code && status == SQLITE_OK && value; status = sqlite3_vtab_in_next(list, &value))
		code = take(context, value);
	if (status == SQLITE_NOMEM)
		code = LODE_SYSTEM;
#else
	(void)list, (void)take, (void)context; /* never asked for */
#endif
	return code;
}

static int take_number(void *context, sqlite3_value *value)
{
	return push_equal(context, value);
}

static int restrict_set(struct lode_row_set *set, int list, sqlite3_value *value)
{
	struct lode_row_set more = { .is_given = 1 };
	int code = list ? each_of_list(value, take_number, &more) : push_equal(&more, value);

	if (code) {
		lode_free(more.numbers.items);
		return code;
	}
	intersect(set, &more);
	return 0;
}

/* ---- types ---- */

static int take_type(void *context, sqlite3_value *value)
{
	unsigned *types = context;
	const char *text;

	if (sqlite3_value_type(value) != SQLITE_TEXT)
		return 0;
	text = (const char *)sqlite3_value_text(value);
	if (!text)
		return LODE_SYSTEM;
	for (int type = 0; type < LODE_EVENT_TYPES; type++)
		if (!strcmp(text, lode_event_type_name(type)))
			*types |= 1u << type;
	return 0;
}

static int restrict_types(struct lode_row_filter *filter, int list, sqlite3_value *value)
{
	unsigned types = 0;
	int code = list ? each_of_list(value, take_type, &types) : take_type(&types, value);

	filter->types &= types;
	return code;
}

static int add_glob(struct lode_row_filter *filter, sqlite3_value *value)
{
	const char *text;

	if (sqlite3_value_type(value) == SQLITE_NULL) {
		filter->types = 0;
		return 0;
	}
	text = (const char *)sqlite3_value_text(value);
	if (!text || !(filter->globs[filter->glob_count] = lode_strdup(text)))
		return LODE_SYSTEM;
	filter->glob_count++;
	return 0;
}

int lode_row_filter_add(struct lode_row_filter *filter, enum lode_row_field field, int op, int list,
			sqlite3_value *value)
{
	switch (field) {
	case LODE_ROW_TYPE:
		return restrict_types(filter, list, value);
	case LODE_ROW_T:
		narrow(&filter->t, range_of(op, value));
		return 0;
	case LODE_ROW_COST:
		narrow(&filter->cost, range_of(op, value));
		return 0;
	case LODE_ROW_STREAM:
		return restrict_set(&filter->stream_set, list, value);
	case LODE_ROW_THREAD:
		return restrict_set(&filter->thread_set, list, value);
	default:
		return op >= SQLITE_INDEX_CONSTRAINT_FUNCTION ? add_glob(filter, value)
							      : restrict_set(&filter->stack_set, list, value);
	}
}

int lode_row_filter_has_stream(const struct lode_row_filter *filter, const struct lode_query_data *data,
			       size_t stream)
{
	const struct lode_row_set *threads = &filter->thread_set;
	int64_t first = data->streams[stream].first_thread;
	size_t at;

	if (data->streams[stream].unread || !lode_row_set_has(&filter->stream_set, (int64_t)stream))
		return 0;
	if (!threads->is_given)
		return 1;
	at = LODE_BISECT(i, 0, threads->numbers.count, threads->numbers.items[i] < first);
	return at < threads->numbers.count &&
	       threads->numbers.items[at] < first + (int64_t)data->streams[stream].entry->threads;
}
