/* What importers of JSON profiles share; see json_profile.h. */
#include "import/json_profile.h"

#include "base/memory.h"
#include "import/module_name.h"
#include "import/reading.h"

#include <math.h>
#include <string.h>

int lode_sniff_has(const unsigned char *bytes, size_t size, const char *text)
{
	return memmem(bytes, size, text, strlen(text)) != NULL;
}

static int read_whole(struct lode_json_import *import, struct lode_json_value *root)
{
	const unsigned char *bytes;
	size_t size;
	int code = lode_input_whole(import->input, &bytes, &size, import->error);

	if (code < 0)
		return code;
	return lode_json_check(lode_input_name(import->input), (const char *)bytes, size, root, import->error);
}

int lode_json_import_run(struct lode_json_import *import, int (*fill)(void *context, struct lode_json_value root),
			 void *context, const struct lode_import_sink *sink)
{
	struct lode_json_value root;
	int code = read_whole(import, &root);

	if (code < 0)
		return code;
	if (lode_dictionary_init(&import->dictionary) < 0)
		return lode_fail_memory(import->error);
	lode_stream_init(&import->stream, &import->dictionary);
	code = fill(context, root);
	if (code == 0)
		code = lode_reading_deliver(import->input, import->options, sink, &import->stream, 0, import->error);
	lode_stream_release(&import->stream);
	lode_dictionary_release(&import->dictionary);
	lode_buffer_release(&import->text);
	lode_buffer_release(&import->file);
	return code;
}

int lode_json_ns(struct lode_json_value value, double unit, uint64_t *ns)
{
	uint64_t whole = lode_json_u64_or(value, UINT64_MAX);
	double product;

	if (whole != UINT64_MAX && unit >= 1 && unit == floor(unit) && unit < 0x1p63)
		return __builtin_mul_overflow(whole, (uint64_t)unit, ns) ? -1 : 0;
	product = lode_json_double_or(value, -1) * unit;
	if (!(product >= 0 && product < 0x1p63))
		return -1;
	*ns = (uint64_t)(product + 0.5);
	return 0;
}

const char *lode_json_string(struct lode_json_value value, struct lode_buffer *buffer)
{
	lode_buffer_clear(buffer);
	lode_json_text_to(value, buffer);
	lode_buffer_byte(buffer, '\0');
	return buffer->failed ? NULL : buffer->bytes;
}

int lode_text_drop_end(char *text, const char *end)
{
	size_t length = strlen(text), size = strlen(end);

	if (length <= size || strcmp(text + length - size, end) != 0)
		return 0;
	text[length - size] = '\0';
	return 1;
}

/* Length of a URL or path up to its query, and without its last slash. */
static size_t file_length(const char *file)
{
	size_t length = strcspn(file, "?#");

	while (length > 1 && file[length - 1] == '/')
		length--;
	return length;
}

uint32_t lode_json_frame(struct lode_frames *frames, const char *function, const char *file)
{
	uint32_t module = lode_module_from_file(frames, file, file_length(file));

	if (module == LODE_NONE)
		return LODE_NONE;
	if (!function[0])
		function = "(anonymous)";
	return lode_frames_add(frames, module, function, strlen(function));
}

/* ---- tables ---- */

static int reserve(struct lode_json_column *column, size_t count)
{
	if (!count)
		return 0;
	column->values = lode_realloc(NULL, count, sizeof(*column->values));
	return column->values ? 0 : LODE_SYSTEM;
}

static int read_rows(struct lode_json_value rows, uint64_t index, struct lode_json_column *column)
{
	struct lode_json_walk walk = lode_json_walk(rows);
	struct lode_json_value row, cell;

	if (reserve(column, lode_json_count(rows)) < 0)
		return LODE_SYSTEM;
	while (column->values && lode_json_item(&walk, &row)) {
		struct lode_json_walk cells = lode_json_walk(row);
		struct lode_json_value *value = &column->values[column->count++];

		value->at = NULL;
		for (uint64_t i = 0; lode_json_item(&cells, &cell) && i <= index; i++)
			if (i == index)
				*value = cell;
	}
	return 0;
}

static int read_array(struct lode_json_value array, struct lode_json_column *column)
{
	struct lode_json_walk walk = lode_json_walk(array);

	if (reserve(column, lode_json_count(array)) < 0)
		return LODE_SYSTEM;
	while (column->values && lode_json_item(&walk, &column->values[column->count]))
		column->count++;
	return 0;
}

int lode_json_column(struct lode_json_value table, const char *name, struct lode_json_column *column)
{
	struct lode_json_value schema = lode_json_get(table, "schema");
	uint64_t index;

	*column = (struct lode_json_column){ 0 };
	if (lode_json_kind(schema) != LODE_JSON_OBJECT)
		return read_array(lode_json_get(table, name), column);
	index = lode_json_u64_or(lode_json_get(schema, name), UINT64_MAX);
	return index == UINT64_MAX ? 0 : read_rows(lode_json_get(table, "data"), index, column);
}

void lode_json_column_release(struct lode_json_column *column)
{
	lode_free(column->values);
	*column = (struct lode_json_column){ 0 };
}
