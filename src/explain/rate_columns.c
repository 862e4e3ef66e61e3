/* Amounts as rates: see rate_columns.h. */
#include "explain/rate_columns.h"

#include "base/buffer.h"
#include "base/memory.h"

#include <math.h>
#include <string.h>

/* More cells are not made. */
#define MAX_CELLS ((size_t)1 << 24)
/* Rates that follow x more closely say what x says. */
#define MAX_CORRELATION 0.5

static int is_amount(const struct lode_explain_input *input, size_t column)
{
	return input->auxiliary[column] && input->table->columns[column].kind == LODE_DATA_NUMBER;
}

int lode_explain_has_rates(const struct lode_explain_input *input)
{
	const struct lode_data_table *table = input->table;
	size_t amounts = 0;

	if (input->inputs != 1)
		return 0;
	for (size_t row = 0; row < table->rows; row++)
		if (lode_data_column_number(&table->columns[input->x[0]], row) <= 0)
			return 0;
	for (size_t i = 0; i < table->count; i++)
		amounts += (size_t)is_amount(input, i);
	return amounts && amounts <= MAX_CELLS / (table->rows + 1);
}

/* ---- rates that x does not decide ---- */

/*
 * Whether a rate says something that x does not: what is the same for any x, such as a number of cores, has a rate that falls
 * with x, and a tree that tests it would only test x. Judged by the correlation of logarithms, of rows that have some.
 */
static int is_independent(const struct lode_data_table *table, uint32_t x, const double *rates)
{
	double sums[2] = { 0, 0 }, squares[2] = { 0, 0 }, product = 0, count = 0;

	for (size_t row = 0; row < table->rows; row++) {
		double of_x = log(lode_data_column_number(&table->columns[x], row)), of_rate = log(rates[row]);

		if (!isfinite(of_x) || !isfinite(of_rate))
			continue;
		count++;
		sums[0] += of_x;
		sums[1] += of_rate;
		squares[0] += of_x * of_x;
		squares[1] += of_rate * of_rate;
		product += of_x * of_rate;
	}
	product = count * product - sums[0] * sums[1];
	for (int i = 0; i < 2; i++)
		squares[i] = count * squares[i] - sums[i] * sums[i];
	return product * product < MAX_CORRELATION * MAX_CORRELATION * squares[0] * squares[1];
}

/* ---- columns ---- */

/* Returns 1, 0 where x decides the rate, or LODE_SYSTEM. */
static int add_rate(const struct lode_explain_input *input, struct lode_data_table *table, size_t amount)
{
	struct lode_data_column *rate = NULL;
	struct lode_buffer name = { 0 };

	lode_buffer_print(&name, "%s per %s", table->columns[amount].name, table->columns[input->x[0]].name);
	if (!name.failed)
		rate = lode_data_table_add(table, name.bytes, name.size, LODE_DATA_NUMBER);
	lode_buffer_release(&name);
	if (!rate)
		return LODE_SYSTEM;
	for (size_t row = 0; row < table->rows; row++) {
		double x = lode_data_column_number(&table->columns[input->x[0]], row);
		double value = table->columns[amount].numbers[row] / x;

		rate->numbers[row] = isfinite(value) ? value : NAN;
		rate->missing += (size_t)!isfinite(value);
	}
	return is_independent(table, input->x[0], rate->numbers);
}

int lode_explain_add_rates(const struct lode_explain_input *input, struct lode_data_table *table,
			   struct lode_explain_input *rates, struct lode_error *error)
{
	size_t count = table->count;
	int added;

	*rates = *input;
	rates->counts = 0;
	rates->auxiliary = lode_alloc(2 * count + 1);
	if (!rates->auxiliary)
		return lode_fail_memory(error);
	memcpy(rates->auxiliary, input->auxiliary, count);
	for (size_t i = 0; i < count; i++) {
		if (!is_amount(input, i))
			continue;
		added = add_rate(input, table, i);
		if (added < 0) {
			lode_free(rates->auxiliary);
			return lode_fail_memory(error);
		}
		rates->auxiliary[i] = !added;
		rates->auxiliary[table->count - 1] = (unsigned char)added;
	}
	return 0;
}
