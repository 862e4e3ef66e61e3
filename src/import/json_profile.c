/* What importers of JSON profiles share; see json_profile.h. */
#include "import/json_profile.h"

#include "base/memory.h"
#include "base/starts_with.h"
#include "import/module_name.h"
#include "import/import_common.h"

#include <string.h>

int lode_sniff_has(const unsigned char *bytes, size_t size, const char *text)
{
	return memmem(bytes, size, text, strlen(text)) != NULL;
}

/*
 * Length of the text up to its last whole item: of the array that it is, or of the first one
 * inside the object that it is. 0: there is none.
 */
static size_t whole_items(const char *text, size_t size)
{
	size_t depth = 0, items = 0, whole = 0;
	int in_text = 0;

	for (size_t i = 0; i < size; i++) {
		if (in_text) {
			in_text = text[i] != '"';
			i += text[i] == '\\';
			continue;
		}
		in_text = text[i] == '"';
		if (text[i] == '{' || text[i] == '[')
			depth++;
		if (text[i] == '[' && !items)
			items = depth;
		if (text[i] != '}' && text[i] != ']')
			continue;
		if (!depth || depth-- == items)
			return 0; /* it ends there: something else is wrong */
		if (depth == items)
			whole = i + 1;
	}
	return items <= 2 ? whole : 0;
}

/* Closes the brackets of a document that is cut off. Returns whether that makes it a document. */
static int repair(struct lode_json_import *import, const char *text, size_t size, struct lode_json_value *root)
{
	struct lode_error ignored;
	size_t whole = whole_items(text, size), start = 0;

	while (start < size && text[start] != '{' && text[start] != '[')
		start++;
	if (!whole)
		return 0;
	lode_buffer_add(&import->repaired, text, whole);
	lode_buffer_text(&import->repaired, text[start] == '{' ? "]}" : "]");
	return !import->repaired.failed && lode_json_check(lode_input_name(import->input), import->repaired.bytes,
							   import->repaired.size, root, &ignored) == 0;
}

int lode_json_import_bytes(struct lode_json_import *import,
			   int (*fill)(void *context, const unsigned char *bytes, size_t size), void *context,
			   const struct lode_import_sink *sink)
{
	const unsigned char *bytes;
	size_t size;
	int code = lode_import_begin(import->input, &bytes, &size, &import->stream, &import->dictionary,
				     import->error);

	if (code < 0)
		return code;
	code = fill(context, bytes, size);
	if (code == 0)
		code = lode_import_deliver(import->input, import->options, sink, &import->stream, 0, import->error);
	lode_import_end(&import->stream);
	lode_buffer_release(&import->text);
	lode_buffer_release(&import->file);
	lode_buffer_release(&import->repaired);
	return code;
}

/* An input that is one document, and who makes a stream of it. */
struct document {
	struct lode_json_import *import;
	int (*fill)(void *context, struct lode_json_value root);
	void *context;
};

static int fill_from_document(void *context, const unsigned char *bytes, size_t size)
{
	const struct document *document = context;
	struct lode_json_import *import = document->import;
	const char *name = lode_input_name(import->input);
	struct lode_json_value root;
	int code = lode_json_check(name, (const char *)bytes, size, &root, import->error);

	if (code == LODE_BAD_INPUT && import->may_end_early && repair(import, (const char *)bytes, size, &root)) {
		lode_notes_add(import->options->notes, 1, "files without an end, read up to the last whole event",
			       name);
		code = 0;
	}
	return code < 0 ? code : document->fill(document->context, root);
}

int lode_json_import_run(struct lode_json_import *import, int (*fill)(void *context, struct lode_json_value root),
			 void *context, const struct lode_import_sink *sink)
{
	struct document document = { import, fill, context };

	return lode_json_import_bytes(import, fill_from_document, &document, sink);
}

int lode_json_reject(const struct lode_json_import *import, const char *what)
{
	return lode_fail(import->error, LODE_BAD_INPUT, "%s: %s", lode_input_name(import->input), what);
}

/* How many zeros a unit of 1, 10, 100, … has; -1 for others, and those above a second. */
static int zeros_of(double unit)
{
	double power = 1;

	for (int zeros = 0; zeros <= 9; zeros++, power *= 10)
		if (unit == power)
			return zeros;
	return -1;
}

/*
 * A number without an exponent, times 10 to the power of `zeros`, rounded, without passing through a
 * double. Returns 0, or -1 where that cannot be.
 */
static int scale_exactly(const char *at, int zeros, uint64_t *product)
{
	uint64_t number = 0;
	int places = -1, up = 0; /* digits behind the point; none yet */

	if (*at == '-')
		return -1;
	for (; (*at >= '0' && *at <= '9') || *at == '.'; at++) {
		if (*at == '.') {
			places = 0;
			continue;
		}
		if (places >= zeros) { /* digits that are dropped, of which the first decides */
			up |= places == zeros && *at >= '5';
			places = zeros + 1;
			continue;
		}
		places += places >= 0;
		if (__builtin_mul_overflow(number, 10, &number) ||
		    __builtin_add_overflow(number, (uint64_t)(*at - '0'), &number))
			return -1;
	}
	if (*at == 'e' || *at == 'E')
		return -1;
	for (int i = places < 0 ? 0 : places; i < zeros; i++)
		if (__builtin_mul_overflow(number, 10, &number))
			return -1;
	return __builtin_add_overflow(number, (uint64_t)up, product) ? -1 : 0;
}

int lode_json_ns(struct lode_json_value value, double unit, uint64_t *ns)
{
	int zeros = zeros_of(unit);
	double product;

	if (lode_json_kind(value) == LODE_JSON_NUMBER && zeros >= 0 && scale_exactly(value.at, zeros, ns) == 0)
		return 0;
	product = lode_json_double_or(value, -1) * unit;
	if (!(product >= 0 && product < 0x1p63))
		return -1;
	*ns = (uint64_t)(product + 0.5);
	return 0;
}

uint64_t lode_json_number_or(struct lode_json_value value, uint64_t otherwise)
{
	size_t length;
	const char *text = lode_json_plain_text(value, &length);
	uint64_t number;

	if (!text)
		return lode_json_u64_or(value, otherwise);
	if (!length || strspn(text, "0123456789") != length || scale_exactly(text, 0, &number) < 0)
		return otherwise;
	return number;
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
	/* Modules of Node.js itself are no files: node:internal/timers. */
	uint32_t module = lode_starts_with(file, "node:") ? lode_frames_module(frames, file, strlen(file))
							  : lode_module_from_file(frames, file, file_length(file));

	if (!function[0])
		function = "(anonymous)";
	return lode_frames_add(frames, module, function, strlen(function));
}

/* ---- tables ---- */

/* Rows of cells, of which the one at `indices[i]` is of column i. */
static int read_rows(struct lode_json_value rows, const uint64_t *indices, struct lode_json_column *columns,
		     size_t count)
{
	struct lode_json_walk walk = lode_json_walk(rows);
	size_t capacities[LODE_JSON_COLUMNS] = { 0 };
	struct lode_json_value row, cell;
	int code = 0;

	while (code == 0 && lode_json_peek(&walk, &row)) {
		struct lode_json_value values[LODE_JSON_COLUMNS] = { { NULL } };
		struct lode_json_walk cells = lode_json_walk(row);

		for (uint64_t place = 0; lode_json_item(&cells, &cell); place++)
			for (size_t i = 0; i < count; i++)
				if (indices[i] == place)
					values[i] = cell;
		lode_json_pass(&walk, &cells);
		for (size_t i = 0; code == 0 && i < count; i++)
			if (indices[i] != UINT64_MAX)
				code = LODE_APPEND(columns[i].values, columns[i].count, capacities[i], values[i]);
	}
	return code;
}

int lode_json_array_column(struct lode_json_value array, struct lode_json_column *column)
{
	struct lode_json_walk walk = lode_json_walk(array);
	struct lode_json_value value;
	size_t capacity = 0;

	*column = (struct lode_json_column){ 0 };
	if (lode_json_kind(array) != LODE_JSON_ARRAY)
		return 0;
	while (lode_json_item(&walk, &value))
		if (LODE_APPEND(column->values, column->count, capacity, value) < 0)
			return LODE_SYSTEM;
	return 0;
}

struct lode_json_walk lode_json_table_find(struct lode_json_value value, const char *const names[], size_t count,
					   struct lode_json_table *table)
{
	const char *keys[2 + LODE_JSON_COLUMNS] = { "schema", "data" };
	struct lode_json_value parts[2 + LODE_JSON_COLUMNS];
	struct lode_json_walk walk;

	memcpy(keys + 2, names, count * sizeof(*names));
	walk = lode_json_get_all(value, keys, parts, 2 + count);
	table->schema = parts[0];
	table->rows = parts[1];
	memcpy(table->columns, parts + 2, count * sizeof(*parts));
	return walk;
}

static int has_rows(const struct lode_json_table *table)
{
	return lode_json_kind(table->schema) == LODE_JSON_OBJECT;
}

/* The columns of a table of rows. */
static int read_table(const struct lode_json_table *table, const char *const names[],
		      struct lode_json_column columns[], size_t count)
{
	struct lode_json_value places[LODE_JSON_COLUMNS];
	uint64_t indices[LODE_JSON_COLUMNS];

	lode_json_get_all(table->schema, names, places, count);
	for (size_t i = 0; i < count; i++)
		indices[i] = lode_json_u64_or(places[i], UINT64_MAX);
	return read_rows(table->rows, indices, columns, count);
}

int lode_json_columns(struct lode_json_value value, const char *const names[], struct lode_json_column columns[],
		      size_t count)
{
	struct lode_json_table table;
	int code = 0;

	memset(columns, 0, count * sizeof(*columns));
	lode_json_table_find(value, names, count, &table);
	if (has_rows(&table))
		return read_table(&table, names, columns, count);
	for (size_t i = 0; code == 0 && i < count; i++)
		code = lode_json_array_column(table.columns[i], &columns[i]);
	return code;
}

int lode_json_table_cells(const struct lode_json_table *table, const char *const names[],
			  struct lode_json_cells cells[], size_t count)
{
	struct lode_json_column columns[LODE_JSON_COLUMNS] = { { 0 } };
	int code = has_rows(table) ? read_table(table, names, columns, count) : 0;

	for (size_t i = 0; i < count; i++) {
		cells[i] = (struct lode_json_cells){ .column = columns[i] };
		if (!has_rows(table) && lode_json_kind(table->columns[i]) == LODE_JSON_ARRAY)
			cells[i].walk = lode_json_walk(table->columns[i]);
	}
	return code;
}

void lode_json_cells_release(struct lode_json_cells cells[], size_t count)
{
	for (size_t i = 0; i < count; i++)
		lode_json_columns_release(&cells[i].column, 1);
	memset(cells, 0, count * sizeof(*cells));
}

void lode_json_columns_release(struct lode_json_column columns[], size_t count)
{
	for (size_t i = 0; i < count; i++)
		lode_free(columns[i].values);
	memset(columns, 0, count * sizeof(*columns));
}
