/* Results in memory: see query_columns.h. */
#include "query/query_columns.h"

#include <string.h>

void lode_query_columns_release(struct lode_query_columns *columns)
{
	for (size_t i = 0; i < columns->count; i++) {
		lode_free(columns->items[i].name);
		lode_free(columns->items[i].types.items);
		lode_free(columns->items[i].values.items);
		lode_buffer_release(&columns->items[i].texts);
	}
	lode_free(columns->items);
	memset(columns, 0, sizeof(*columns));
}

int lode_query_columns_begin(struct lode_query_columns *columns, const char *const *names, size_t count,
			     struct lode_error *error)
{
	lode_query_columns_release(columns);
	columns->items = lode_calloc(count + 1, sizeof(*columns->items));
	if (!columns->items)
		return lode_fail_memory(error);
	columns->count = count;
	for (size_t i = 0; i < count; i++)
		if (!(columns->items[i].name = lode_strdup(names[i])))
			return lode_fail_memory(error);
	return 0;
}

static int64_t store(struct lode_query_array *array, const struct lode_query_value *value)
{
	int64_t bits = 0;

	switch (value->type) {
	case LODE_QUERY_INTEGER:
		return value->integer;
	case LODE_QUERY_REAL:
		memcpy(&bits, &value->real, sizeof(bits));
		return bits;
	case LODE_QUERY_TEXT:
		bits = (int64_t)array->texts.size;
		/* A NUL inside, which only bytes have, ends the text. */
		lode_buffer_add(&array->texts, value->text, strnlen(value->text, value->length));
		lode_buffer_byte(&array->texts, '\0');
		return bits;
	default:
		return 0;
	}
}

int lode_query_columns_add(struct lode_query_columns *columns, const struct lode_query_value *values, size_t count,
			   struct lode_error *error)
{
	for (size_t i = 0; i < count; i++) {
		struct lode_query_array *array = &columns->items[i];

		array->seen |= 1u << values[i].type;
		if (LODE_PUSH(&array->types, (uint8_t)values[i].type) < 0 ||
		    LODE_PUSH(&array->values, store(array, &values[i])) < 0 || array->texts.failed)
			return lode_fail_memory(error);
	}
	columns->rows++;
	return 0;
}

struct lode_query_value lode_query_columns_get(const struct lode_query_columns *columns, size_t column, size_t row)
{
	const struct lode_query_array *array = &columns->items[column];
	struct lode_query_value value = { .type = array->types.items[row], .text = "" };
	int64_t stored = array->values.items[row];

	if (value.type == LODE_QUERY_INTEGER)
		value.integer = stored;
	else if (value.type == LODE_QUERY_REAL)
		memcpy(&value.real, &stored, sizeof(value.real));
	else if (value.type == LODE_QUERY_TEXT) {
		value.text = array->texts.bytes + stored;
		value.length = strlen(value.text);
	}
	return value;
}
