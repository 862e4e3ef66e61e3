/*
 * Aggregates: quantile(x, q) and flame(stack, cost). Private to src/query/.
 *
 * Their memory is SQLite's, so that it counts against the limit of the statement.
 */
#include "query/query_tables.h"

#include <math.h>
#include <string.h>

/* ---- quantile(x, q) ---- */

struct quantile {
	double *numbers;
	size_t count;
	size_t capacity;
	double q;
};

static void add_to_quantile(sqlite3_context *context, int count, sqlite3_value **values)
{
	struct quantile *quantile = sqlite3_aggregate_context(context, sizeof(*quantile));
	int type = sqlite3_value_numeric_type(values[0]);

	(void)count;
	if (!quantile || (type != SQLITE_INTEGER && type != SQLITE_FLOAT))
		return;
	quantile->q = sqlite3_value_double(values[1]);
	if (sqlite3_value_numeric_type(values[1]) == SQLITE_NULL || !(quantile->q >= 0 && quantile->q <= 1)) {
		sqlite3_result_error(context, "quantile(x, q): q must be from 0 to 1", -1);
		return;
	}
	if (quantile->count == quantile->capacity) {
		size_t capacity = quantile->capacity ? 2 * quantile->capacity : 64;
		double *grown = sqlite3_realloc64(quantile->numbers, capacity * sizeof(*grown));

		if (!grown) {
			sqlite3_result_error_nomem(context);
			return;
		}
		quantile->numbers = grown;
		quantile->capacity = capacity;
	}
	quantile->numbers[quantile->count++] = sqlite3_value_double(values[0]);
}

static void swap(double *a, double *b)
{
	double c = *a;

	*a = *b;
	*b = c;
}

/*
 * Puts the number of rank `rank` in its place, smaller ones before and larger ones behind it: quickselect, with the
 * median of three as pivot.
 */
static void select_rank(double *numbers, size_t count, size_t rank)
{
	size_t low = 0, high = count - 1;

	while (low < high) {
		size_t middle = low + (high - low) / 2, i = low, j = high;
		double pivot;

		if (numbers[middle] < numbers[low])
			swap(&numbers[middle], &numbers[low]);
		if (numbers[high] < numbers[low])
			swap(&numbers[high], &numbers[low]);
		if (numbers[high] < numbers[middle])
			swap(&numbers[high], &numbers[middle]);
		pivot = numbers[middle];
		while (i <= j) {
			while (numbers[i] < pivot)
				i++;
			while (numbers[j] > pivot)
				j--;
			if (i > j)
				break;
			swap(&numbers[i++], &numbers[j]);
			if (!j)
				break;
			j--;
		}
		if (rank <= j)
			high = j;
		else if (rank >= i)
			low = i;
		else
			return;
	}
}

/* Between two ranks a straight line, as NumPy and most others have it. */
static void end_quantile(sqlite3_context *context)
{
	struct quantile *quantile = sqlite3_aggregate_context(context, 0);
	double place, low, high;
	size_t rank;

	if (!quantile)
		return;
	if (quantile->count) {
		place = quantile->q * (double)(quantile->count - 1);
		rank = (size_t)place;
		select_rank(quantile->numbers, quantile->count, rank);
		low = high = quantile->numbers[rank];
		if (rank + 1 < quantile->count) {
			high = quantile->numbers[rank + 1];
			for (size_t i = rank + 2; i < quantile->count; i++)
				high = fmin(high, quantile->numbers[i]);
		}
		sqlite3_result_double(context, low + (high - low) * (place - (double)rank));
	}
	sqlite3_free(quantile->numbers);
	quantile->numbers = NULL;
}

/* ---- flame(stack, cost) ---- */

struct flame_row {
	uint32_t stack;
	uint64_t cost;
};

struct flame {
	struct flame_row *rows;
	size_t count;
	size_t capacity;
};

static void add_to_flame(sqlite3_context *context, int count, sqlite3_value **values)
{
	struct flame *flame = sqlite3_aggregate_context(context, sizeof(*flame));
	uint32_t stack = lode_query_stack_of(sqlite3_user_data(context), values[0]);
	int64_t cost = sqlite3_value_int64(values[1]);

	(void)count;
	if (!flame || stack == LODE_NONE || cost <= 0)
		return;
	/* Rows that come in groups are added up at once. */
	if (flame->count && flame->rows[flame->count - 1].stack == stack) {
		struct flame_row *last = &flame->rows[flame->count - 1];

		last->cost = lode_add_saturating(last->cost, (uint64_t)cost);
		return;
	}
	if (flame->count == flame->capacity) {
		size_t capacity = flame->capacity ? 2 * flame->capacity : 64;
		struct flame_row *grown = sqlite3_realloc64(flame->rows, capacity * sizeof(*grown));

		if (!grown) {
			sqlite3_result_error_nomem(context);
			return;
		}
		flame->rows = grown;
		flame->capacity = capacity;
	}
	flame->rows[flame->count++] = (struct flame_row){ stack, (uint64_t)cost };
}

/* Lines `root;...;leaf cost`, one a stack, in the order of their numbers. */
static void write_flame(struct lode_query_data *data, const struct flame *flame, struct lode_buffer *buffer)
{
	uint64_t *sums = lode_calloc(data->dictionary.tree.count + 1, sizeof(*sums));

	buffer->failed |= !sums;
	for (size_t i = 0; sums && i < flame->count; i++) {
		uint64_t *sum = &sums[flame->rows[i].stack];

		*sum = lode_add_saturating(*sum, flame->rows[i].cost);
	}
	for (uint32_t stack = 1; sums && stack < data->dictionary.tree.count; stack++) {
		if (!sums[stack])
			continue;
		lode_query_folded_of(data, stack, buffer);
		lode_buffer_byte(buffer, ' ');
		lode_buffer_number(buffer, sums[stack]);
		lode_buffer_byte(buffer, '\n');
	}
	lode_free(sums);
}

static void end_flame(sqlite3_context *context)
{
	struct flame *flame = sqlite3_aggregate_context(context, 0);
	struct lode_buffer buffer = { 0 };

	if (!flame)
		return;
	write_flame(sqlite3_user_data(context), flame, &buffer);
	if (buffer.failed)
		sqlite3_result_error_nomem(context);
	else
		sqlite3_result_text64(context, buffer.size ? buffer.bytes : "", buffer.size, SQLITE_TRANSIENT,
				      SQLITE_UTF8);
	lode_buffer_release(&buffer);
	sqlite3_free(flame->rows);
	flame->rows = NULL;
}

int lode_query_add_aggregates(sqlite3 *db, struct lode_query_data *data)
{
	int flags = SQLITE_UTF8 | SQLITE_INNOCUOUS | SQLITE_DETERMINISTIC;
	int status = sqlite3_create_function_v2(db, "quantile", 2, flags, data, NULL, add_to_quantile,
						end_quantile, NULL);

	return status == SQLITE_OK ? sqlite3_create_function_v2(db, "flame", 2, flags, data, NULL, add_to_flame,
								end_flame, NULL)
				   : status;
}
