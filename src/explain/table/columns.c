/* Columns on the way in: see columns.h. */
#include "explain/table/columns.h"

#include "explain/table/table_read.h"

#include <string.h>

void lode_columns_release(struct lode_columns *columns)
{
	for (size_t i = 0; i < columns->count; i++)
		lode_free(columns->items[i].name);
	lode_free(columns->items);
	lode_index_release(&columns->index);
	memset(columns, 0, sizeof(*columns));
}

static int has_name(const struct lode_columns *columns, const char *name, size_t length, uint64_t hash)
{
	return LODE_INDEX_FIND(i, &columns->index, hash,
			       strlen(columns->items[i].name) == length &&
				       !memcmp(columns->items[i].name, name, length)) != LODE_NONE;
}

int lode_columns_name(struct lode_columns *columns, const char *name, size_t length, const char *file,
		      uint64_t line, struct lode_error *error)
{
	struct lode_data_column_look *look;
	uint64_t hash;

	lode_table_value_trim(&name, &length);
	if (!length || memchr(name, '\0', length))
		return lode_fail(error, LODE_BAD_INPUT,
				 "%s:%llu: column %zu has no name; the first line must name every column", file,
				 (unsigned long long)line, columns->count + 1);
	hash = lode_hash_bytes(name, length);
	if (has_name(columns, name, length, hash))
		return lode_fail(error, LODE_BAD_INPUT,
				 "%s:%llu: column %zu is called '%.*s' like one before it; rename one of them",
				 file, (unsigned long long)line, columns->count + 1,
				 (int)(length < 200 ? length : 200), name);
	if (columns->count >= LODE_NONE - 1 || LODE_RESERVE(columns, 1) < 0 ||
	    lode_index_insert(&columns->index, hash, (uint32_t)columns->count) < 0)
		return lode_fail_memory(error);
	look = &columns->items[columns->count];
	memset(look, 0, sizeof(*look));
	look->name = lode_strndup(name, length);
	if (!look->name)
		return lode_fail_memory(error); /* the index is released with the rest */
	columns->count++;
	return 0;
}

static void keep_start(char *start, size_t size, const char *text, size_t length)
{
	size_t kept = length < size - 1 ? length : size - 1;

	memcpy(start, text, kept);
	start[kept] = '\0';
}

void lode_columns_refine_type(struct lode_data_column_look *look, const char *text, size_t length, int quoted,
			      uint64_t line)
{
	enum lode_table_value cell;
	double number;

	if (look->kind == LODE_DATA_CATEGORY)
		return;
	cell = quoted ? LODE_VALUE_TEXT : lode_table_value_read(text, length, &number);
	if (cell == LODE_VALUE_NUMBER || cell == LODE_VALUE_MISSING)
		look->kind = LODE_DATA_NUMBER;
	if (cell == LODE_VALUE_INFINITE && !look->infinite_line) {
		look->infinite_line = line;
		keep_start(look->infinite, sizeof(look->infinite), text, length);
	}
	if (cell == LODE_VALUE_TEXT) {
		look->kind = LODE_DATA_CATEGORY;
		look->text_line = line;
		keep_start(look->text, sizeof(look->text), text, length);
	}
}

int lode_columns_make(const struct lode_columns *columns, struct lode_data_table *table, const char *file,
		      struct lode_error *error)
{
	for (size_t i = 0; i < columns->count; i++) {
		const struct lode_data_column_look *look = &columns->items[i];
		struct lode_data_column *column;

		if (look->infinite_line && look->kind != LODE_DATA_CATEGORY)
			return lode_fail(error, LODE_BAD_INPUT,
					 "%s:%llu: column '%.200s' holds '%s', which is not a finite number; "
					 "correct it, or leave the cell empty",
					 file, (unsigned long long)look->infinite_line, look->name, look->infinite);
		column = lode_data_table_add(table, look->name, strlen(look->name), look->kind);
		if (!column)
			return lode_fail_memory(error);
		column->text_line = look->text_line;
		memcpy(column->text, look->text, sizeof(column->text));
	}
	return 0;
}

int lode_columns_parse_general(struct lode_data_column *column, size_t row, const char *text, size_t length,
			       int quoted)
{
	double number = 0;
	enum lode_table_value cell;

	if (column->kind == LODE_DATA_CATEGORY) {
		if (!quoted) {
			lode_table_value_trim(&text, &length);
			cell = lode_table_value_read(text, length, &number);
			if (cell == LODE_VALUE_MISSING) {
				column->missing++;
				return 0;
			}
		}
		column->codes[row] = lode_strings_add(&column->values, text, length);
		return column->codes[row] == LODE_NONE ? LODE_SYSTEM : 0;
	}
	cell = lode_table_value_read(text, length, &number);
	if (column->kind == LODE_DATA_BINARY) {
		if (number == 1)
			lode_bit_set(column->bits, row);
		return 0;
	}
	if (cell == LODE_VALUE_MISSING)
		column->missing++;
	else
		column->numbers[row] = number;
	return 0;
}
