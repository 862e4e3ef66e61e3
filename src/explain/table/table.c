/* Table: see table.h. */
#include "explain/table/table.h"

#include <math.h>
#include <string.h>

void lode_data_table_init(struct lode_data_table *table, size_t rows)
{
	memset(table, 0, sizeof(*table));
	table->rows = rows;
}

static void release_column(struct lode_data_column *column)
{
	lode_free(column->name);
	lode_free(column->bits);
	lode_free(column->numbers);
	lode_free(column->codes);
	if (column->kind == LODE_DATA_CATEGORY)
		lode_strings_release(&column->values);
}

void lode_data_table_release(struct lode_data_table *table)
{
	for (size_t i = 0; i < table->count; i++)
		release_column(&table->columns[i]);
	lode_free(table->columns);
	memset(table, 0, sizeof(*table));
}

static int make_cells(struct lode_data_column *column, size_t rows)
{
	switch (column->kind) {
	case LODE_DATA_BINARY:
		column->bits = lode_calloc(lode_bit_words(rows) + 1, sizeof(*column->bits));
		return column->bits ? 0 : LODE_SYSTEM;
	case LODE_DATA_NUMBER:
		column->numbers = lode_calloc(rows + 1, sizeof(*column->numbers));
		for (size_t i = 0; column->numbers && i < rows; i++)
			column->numbers[i] = NAN;
		return column->numbers ? 0 : LODE_SYSTEM;
	default:
		column->codes = lode_calloc(rows + 1, sizeof(*column->codes));
		if (column->codes)
			memset(column->codes, 0xff, rows * sizeof(*column->codes));
		return column->codes ? lode_strings_init(&column->values) : LODE_SYSTEM;
	}
}

struct lode_data_column *lode_data_table_add(struct lode_data_table *table, const char *name, size_t length,
					     enum lode_data_column_kind kind)
{
	struct lode_data_column *column;

	if (LODE_GROW(table->columns, table->capacity, table->count + 1) < 0)
		return NULL;
	column = &table->columns[table->count];
	memset(column, 0, sizeof(*column));
	column->kind = kind;
	column->name = lode_strndup(name, length);
	if (!column->name || make_cells(column, table->rows) < 0) {
		release_column(column);
		return NULL;
	}
	table->count++;
	return column;
}

uint32_t lode_data_table_find(const struct lode_data_table *table, const char *name)
{
	for (size_t i = 0; i < table->count; i++)
		if (!strcmp(table->columns[i].name, name))
			return (uint32_t)i;
	return LODE_NONE;
}

double lode_data_column_number(const struct lode_data_column *column, size_t row)
{
	return column->kind == LODE_DATA_BINARY ? lode_bit_get(column->bits, row) : column->numbers[row];
}
