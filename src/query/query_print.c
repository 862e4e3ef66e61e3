/*
 * Printing of results: see query_print.h. CSV, JSON and folded stacks leave as their rows come; a table and columns are
 * held in memory until the last row.
 */
#include "query/query_print.h"

#include "base/folded_frame.h"
#include "base/json.h"
#include "base/safe_text.h"

#include <string.h>

struct printer {
	struct lode_query_printing *printing;
	struct lode_output *output;
	struct lode_json json;
	struct lode_query_columns columns; /* of a table, and of columns */
};

/* ---- values ---- */

static void put_real(struct lode_buffer *buffer, double real)
{
	struct lode_json json = { .buffer = buffer };

	lode_json_double(&json, real);
}

static void put_integer(struct lode_buffer *buffer, int64_t integer)
{
	if (integer < 0)
		lode_buffer_byte(buffer, '-');
	lode_buffer_number(buffer, integer < 0 ? -(uint64_t)integer : (uint64_t)integer);
}

static void put_csv(struct lode_buffer *buffer, const char *text)
{
	if (!strpbrk(text, ",\"\n\r")) {
		lode_buffer_text(buffer, text);
		return;
	}
	lode_buffer_byte(buffer, '"');
	for (; *text; text++) {
		if (*text == '"')
			lode_buffer_byte(buffer, '"');
		lode_buffer_byte(buffer, *text);
	}
	lode_buffer_byte(buffer, '"');
}

/* As text; nothing for NULL. */
static void put_plain(struct lode_buffer *buffer, const struct lode_query_value *value)
{
	if (value->type == LODE_QUERY_INTEGER)
		put_integer(buffer, value->integer);
	else if (value->type == LODE_QUERY_REAL)
		put_real(buffer, value->real);
	else if (value->type == LODE_QUERY_TEXT)
		lode_buffer_text(buffer, value->text);
}

static void put_json(struct lode_json *json, const struct lode_query_value *value)
{
	switch (value->type) {
	case LODE_QUERY_INTEGER:
		lode_json_i64(json, value->integer);
		break;
	case LODE_QUERY_REAL:
		lode_json_double(json, value->real);
		break;
	case LODE_QUERY_TEXT:
		lode_json_text_n(json, value->text, strnlen(value->text, value->length));
		break;
	default:
		lode_json_null(json);
	}
}

/* ---- rows as they come ---- */

static void csv_row(struct printer *printer, const struct lode_query_value *values, size_t count)
{
	struct lode_buffer *buffer = &printer->output->buffer;

	for (size_t i = 0; i < count; i++) {
		if (i)
			lode_buffer_byte(buffer, ',');
		if (values[i].type == LODE_QUERY_TEXT)
			put_csv(buffer, values[i].text);
		else
			put_plain(buffer, &values[i]);
	}
	lode_buffer_byte(buffer, '\n');
}

static void json_row(struct printer *printer, const struct lode_query_value *values, size_t count)
{
	lode_json_array(&printer->json);
	for (size_t i = 0; i < count; i++)
		put_json(&printer->json, &values[i]);
	lode_json_array_end(&printer->json);
}

/* Text that a statement made: its `;` may be meant as one. */
static void put_on_one_line(struct lode_buffer *buffer, const char *text)
{
	for (; *text; text++)
		lode_buffer_byte(buffer, lode_folded_is_line_end(*text) ? ' ' : *text);
}

static int folded_row(struct printer *printer, const struct lode_query_value *values, struct lode_error *error)
{
	struct lode_buffer *buffer = &printer->output->buffer;

	if (values[1].type != LODE_QUERY_INTEGER && values[1].type != LODE_QUERY_REAL)
		return lode_fail(error, LODE_USAGE, "query: --folded needs a number in the second column");
	if (values[0].type == LODE_QUERY_TEXT)
		put_on_one_line(buffer, values[0].text);
	else if (values[0].type != LODE_QUERY_INTEGER ||
		 lode_query_folded_stack(printer->printing->query, values[0].integer, buffer) < 0)
		return lode_fail(error, LODE_USAGE, "query: --folded needs a stack in the first column");
	lode_buffer_byte(buffer, ' ');
	put_plain(buffer, &values[1]);
	lode_buffer_byte(buffer, '\n');
	return 0;
}

static int begin(void *context, const char *const *names, size_t count, struct lode_error *error)
{
	struct printer *printer = context;
	struct lode_buffer *buffer = &printer->output->buffer;

	switch (printer->printing->form) {
	case LODE_QUERY_CSV:
		for (size_t i = 0; i < count; i++) {
			if (i)
				lode_buffer_byte(buffer, ',');
			put_csv(buffer, names[i]);
		}
		lode_buffer_byte(buffer, '\n');
		return 0;
	case LODE_QUERY_JSON:
		lode_json_object(&printer->json);
		lode_json_key_array(&printer->json, "columns");
		for (size_t i = 0; i < count; i++)
			lode_json_text(&printer->json, names[i]);
		lode_json_array_end(&printer->json);
		lode_json_key_array(&printer->json, "rows");
		return 0;
	case LODE_QUERY_FOLDED:
		return count == 2 ? 0
				  : lode_fail(error, LODE_USAGE,
					      "query: --folded needs two columns, a stack and a number, as in "
					      "'SELECT stack, sum(cost) FROM sums GROUP BY stack'");
	default:
		return lode_query_columns_begin(&printer->columns, names, count, error);
	}
}

static int row(void *context, const struct lode_query_value *values, size_t count, struct lode_error *error)
{
	struct printer *printer = context;
	struct lode_query_printing *printing = printer->printing;
	int code = 0;

	if (printing->max_rows && printing->rows == printing->max_rows) {
		printing->cut = 1;
		return LODE_QUERY_ENOUGH;
	}
	printing->rows++;
	if (printing->form == LODE_QUERY_CSV)
		csv_row(printer, values, count);
	else if (printing->form == LODE_QUERY_JSON)
		json_row(printer, values, count);
	else if (printing->form == LODE_QUERY_FOLDED)
		code = folded_row(printer, values, error);
	else
		code = lode_query_columns_add(&printer->columns, values, count, error);
	return code ? code : lode_output_flow(printer->output, error);
}

/* ---- tables ---- */

static void put_spaces(struct lode_buffer *buffer, size_t count)
{
	while (count--)
		lode_buffer_byte(buffer, ' ');
}

static int is_text_column(const struct lode_query_array *array)
{
	return (array->seen & 1u << LODE_QUERY_TEXT) != 0;
}

/* One cell as people see it, on one line. */
static const char *cell_text(const struct lode_query_columns *columns, size_t column, size_t row_number,
			     struct lode_buffer *scratch)
{
	struct lode_query_value value = lode_query_columns_get(columns, column, row_number);

	lode_buffer_clear(scratch);
	put_plain(scratch, &value);
	lode_buffer_byte(scratch, '\0');
	return scratch->failed ? "" : scratch->bytes;
}

static void put_cell(struct lode_buffer *buffer, const char *text, size_t width, int to_left, int is_last)
{
	size_t length = lode_text_width(text);

	if (!to_left)
		put_spaces(buffer, width > length ? width - length : 0);
	lode_text_safe(buffer, text);
	if (to_left && !is_last)
		put_spaces(buffer, width > length ? width - length : 0);
	if (!is_last)
		put_spaces(buffer, 2);
}

static int measure(const struct lode_query_columns *columns, size_t *widths, struct lode_buffer *scratch)
{
	for (size_t i = 0; i < columns->count; i++) {
		widths[i] = lode_text_width(columns->items[i].name);
		for (size_t k = 0; k < columns->rows; k++) {
			size_t width = lode_text_width(cell_text(columns, i, k, scratch));

			widths[i] = width > widths[i] ? width : widths[i];
		}
	}
	return scratch->failed ? LODE_SYSTEM : 0;
}

/* A line has no spaces at its end, even where its last cells are empty. */
static void end_line(struct lode_buffer *buffer)
{
	while (buffer->size && buffer->bytes[buffer->size - 1] == ' ')
		buffer->size--;
	lode_buffer_byte(buffer, '\n');
}

static void put_rows(struct printer *printer, const size_t *widths, struct lode_buffer *scratch)
{
	const struct lode_query_columns *columns = &printer->columns;
	struct lode_buffer *buffer = &printer->output->buffer;

	lode_buffer_text(buffer, printer->printing->bold);
	for (size_t i = 0; i < columns->count; i++)
		put_cell(buffer, columns->items[i].name, widths[i], is_text_column(&columns->items[i]),
			 i + 1 == columns->count);
	lode_buffer_text(buffer, printer->printing->plain);
	lode_buffer_byte(buffer, '\n');
	for (size_t k = 0; k < columns->rows; k++) {
		for (size_t i = 0; i < columns->count; i++)
			put_cell(buffer, cell_text(columns, i, k, scratch), widths[i],
				 is_text_column(&columns->items[i]), i + 1 == columns->count);
		end_line(buffer);
	}
}

/* A single text, such as that of flame(), is a document: it is written as it is. */
static int is_document(const struct lode_query_columns *columns)
{
	return columns->count == 1 && columns->rows == 1 && columns->items[0].types.items[0] == LODE_QUERY_TEXT &&
	       strchr(columns->items[0].texts.bytes, '\n');
}

static int end_table(struct printer *printer, struct lode_error *error)
{
	const struct lode_query_columns *columns = &printer->columns;
	struct lode_buffer scratch = { 0 };
	size_t *widths;
	int code = 0;

	if (is_document(columns)) {
		lode_buffer_text(&printer->output->buffer, columns->items[0].texts.bytes);
		return 0;
	}
	widths = lode_calloc(columns->count + 1, sizeof(*widths));
	if (!widths || measure(columns, widths, &scratch) < 0)
		code = lode_fail_memory(error);
	else
		put_rows(printer, widths, &scratch);
	if (printer->printing->cut)
		lode_buffer_print(&printer->output->buffer, "[cut: there are more than %llu rows]\n",
				  (unsigned long long)printer->printing->rows);
	lode_free(widths);
	lode_buffer_release(&scratch);
	return code;
}

/* ---- columns ---- */

static const char *type_of(const struct lode_query_array *array)
{
	if (is_text_column(array))
		return "text";
	return array->seen & 1u << LODE_QUERY_REAL ? "real" : "integer";
}

/* Makes all values those of the column's type: numbers among texts are written out. */
static int settle(struct lode_query_columns *columns, size_t column)
{
	struct lode_query_array *array = &columns->items[column];
	const char *type = type_of(array);
	struct lode_buffer scratch = { 0 };

	for (size_t k = 0; k < columns->rows; k++) {
		struct lode_query_value value = lode_query_columns_get(columns, column, k);
		double real = (double)value.integer;

		if (*type == 'r' && value.type == LODE_QUERY_INTEGER) {
			memcpy(&array->values.items[k], &real, sizeof(real));
		} else if (*type == 't' && value.type != LODE_QUERY_TEXT) {
			lode_buffer_clear(&scratch);
			put_plain(&scratch, &value);
			lode_buffer_byte(&scratch, '\0');
			array->values.items[k] = (int64_t)array->texts.size;
			lode_buffer_add(&array->texts, scratch.bytes, scratch.failed ? 0 : scratch.size);
			array->texts.failed |= scratch.failed;
		}
	}
	lode_buffer_release(&scratch);
	return array->texts.failed ? LODE_SYSTEM : 0;
}

static void pad(struct lode_buffer *buffer)
{
	while (buffer->size % 8 && !buffer->failed)
		lode_buffer_byte(buffer, '\0');
}

static void put_head(struct printer *printer)
{
	const struct lode_query_columns *columns = &printer->columns;
	struct lode_json *json = &printer->json;

	lode_json_object(json);
	lode_json_key_u64(json, "rows", columns->rows);
	lode_json_key_bool(json, "complete", !printer->printing->cut);
	lode_json_key_array(json, "columns");
	for (size_t i = 0; i < columns->count; i++) {
		const struct lode_query_array *array = &columns->items[i];

		lode_json_object(json);
		lode_json_key_text(json, "name", array->name);
		lode_json_key_text(json, "type", type_of(array));
		lode_json_key_bool(json, "nulls", (array->seen & 1u << LODE_QUERY_NULL) != 0);
		lode_json_key_u64(json, "text_bytes", array->texts.size);
		lode_json_object_end(json);
	}
	lode_json_array_end(json);
	lode_json_object_end(json);
	lode_json_line(json);
}

/* A line of JSON, then for each column its values, where there are NULLs a byte for each row, and its texts; each aligned to 8 bytes. */
static int end_columns(struct printer *printer, struct lode_error *error)
{
	struct lode_query_columns *columns = &printer->columns;
	struct lode_buffer *buffer = &printer->output->buffer;
	int code = 0;

	for (size_t i = 0; !code && i < columns->count; i++)
		if (settle(columns, i) < 0)
			code = lode_fail_memory(error);
	if (code)
		return code;
	put_head(printer);
	for (size_t i = 0; i < columns->count; i++) {
		const struct lode_query_array *array = &columns->items[i];

		pad(buffer);
		lode_buffer_add(buffer, array->values.items, columns->rows * sizeof(*array->values.items));
		for (size_t k = 0; array->seen & 1u << LODE_QUERY_NULL && k < columns->rows; k++)
			lode_buffer_byte(buffer, array->types.items[k] == LODE_QUERY_NULL);
		pad(buffer);
		lode_buffer_add(buffer, array->texts.bytes, array->texts.size);
	}
	return 0;
}

/* ---- the whole ---- */

static int end(struct printer *printer, struct lode_error *error)
{
	switch (printer->printing->form) {
	case LODE_QUERY_TABLE:
		return end_table(printer, error);
	case LODE_QUERY_COLUMNS:
		return end_columns(printer, error);
	case LODE_QUERY_JSON:
		lode_json_array_end(&printer->json);
		lode_json_key_bool(&printer->json, "complete", !printer->printing->cut);
		lode_json_object_end(&printer->json);
		lode_json_line(&printer->json);
		return 0;
	default:
		return 0;
	}
}

int lode_query_print(struct lode_query_printing *printing, const char *sql, struct lode_output *output,
		     struct lode_error *error)
{
	struct printer printer = { .printing = printing, .output = output, .json = { .buffer = &output->buffer } };
	const struct lode_query_sink sink = { begin, row, &printer };
	int code;

	printing->rows = 0;
	printing->cut = 0;
	code = lode_query_run(printing->query, sql, &sink, error);
	if (code >= 0)
		code = end(&printer, error);
	lode_query_columns_release(&printer.columns);
	return code;
}
