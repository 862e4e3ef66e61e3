/*
 * ARFF: the table format of Weka, read into a table (see table_read.h).
 *
 * A head of `@relation` and `@attribute NAME TYPE` lines, then `@data` and one row
 * per line: cells separated by commas, or, sparse, `{INDEX VALUE, …}`, where what
 * is not named is 0 or the first value of the attribute's list. Cells may be
 * quoted with ' or ", with \ before a quote inside. `%` begins a comment line, `?`
 * is a missing value. Like CSV it is walked twice: to see what is there, and to
 * fill the columns.
 *
 * An attribute called numeric, real or integer must hold numbers. One with a
 * list {a,b} or of type string is numeric anyway when all its values are
 * numbers, as it would be in CSV.
 */
#include "base/buffer.h"
#include "explain/table/columns.h"
#include "explain/table/table_read.h"

#include <string.h>
#include <strings.h>

struct attribute {
	int numeric; /* it says so */
	char *first; /* first value of its list, or NULL */
	size_t first_length;
	int first_quoted;
};

struct reader {
	const char *at; /* the next line */
	const char *end;
	const char *line_at; /* the rest of this line */
	const char *line_end;
	uint64_t line;
	const char *file;
	struct lode_columns columns;
	struct attribute *attributes;
	size_t attribute_capacity;
	uint64_t *seen; /* sparse rows: bit of each column that this row names */
	struct lode_buffer unquoted;
	struct lode_error *error;
};

struct cell {
	const char *text;
	size_t length;
	int quoted;
};

static int fail_here(const struct reader *reader, const char *sentence)
{
	return lode_fail(reader->error, LODE_BAD_INPUT, "%s:%llu: %s", reader->file,
			 (unsigned long long)reader->line, sentence);
}

static void skip_spaces(struct reader *reader)
{
	while (reader->line_at < reader->line_end && (*reader->line_at == ' ' || *reader->line_at == '\t'))
		reader->line_at++;
}

/* The next line that is neither empty nor a comment: 1, 0 at the end, or a negative code. */
static int next_line(struct reader *reader)
{
	while (reader->at < reader->end) {
		size_t left = (size_t)(reader->end - reader->at);
		const char *end = memchr(reader->at, '\n', left);

		reader->line_at = reader->at;
		reader->line_end = end ? end : reader->end;
		reader->at = end ? end + 1 : reader->end;
		reader->line++;
		if ((size_t)(reader->line_end - reader->line_at) > LODE_TABLE_LONGEST_ROW)
			return fail_here(reader, "a line of more than 64 MiB; is this an ARFF file?");
		if (reader->line_end > reader->line_at && reader->line_end[-1] == '\r')
			reader->line_end--;
		skip_spaces(reader);
		if (reader->line_at < reader->line_end && *reader->line_at != '%')
			return 1;
	}
	return 0;
}

static int parse_quoted(struct reader *reader, struct cell *cell)
{
	char quote = *reader->line_at++;

	lode_buffer_clear(&reader->unquoted);
	for (; reader->line_at < reader->line_end && *reader->line_at != quote; reader->line_at++) {
		if (*reader->line_at == '\\' && reader->line_at + 1 < reader->line_end)
			reader->line_at++;
		lode_buffer_byte(&reader->unquoted, *reader->line_at);
	}
	if (reader->line_at == reader->line_end)
		return fail_here(reader, "a quote is opened and never closed");
	reader->line_at++;
	if (reader->unquoted.failed)
		return lode_fail_memory(reader->error);
	cell->text = reader->unquoted.size ? reader->unquoted.bytes : "";
	cell->length = reader->unquoted.size;
	cell->quoted = 1;
	return 0;
}

/* One word, quoted or up to one of `stops`. */
static int parse_cell(struct reader *reader, const char *stops, struct cell *cell)
{
	skip_spaces(reader);
	if (reader->line_at < reader->line_end && (*reader->line_at == '"' || *reader->line_at == '\''))
		return parse_quoted(reader, cell);
	cell->text = reader->line_at;
	cell->quoted = 0;
	while (reader->line_at < reader->line_end && !memchr(stops, *reader->line_at, strlen(stops)))
		reader->line_at++;
	cell->length = (size_t)(reader->line_at - cell->text);
	lode_table_value_trim(&cell->text, &cell->length);
	if (cell->length > LODE_TABLE_LONGEST_CELL)
		return fail_here(reader, "a cell of more than 1 MiB; is a quote or a comma missing?");
	return 0;
}

static int is_word(const struct cell *cell, const char *word)
{
	return cell->length == strlen(word) && !strncasecmp(cell->text, word, cell->length);
}

/* ---- the head ---- */

/* The first value of `{a,b}`: what sparse rows mean when they say nothing. */
static int parse_list(struct reader *reader, struct attribute *attribute)
{
	struct cell cell;
	int code;

	reader->line_at++;
	code = parse_cell(reader, ",}", &cell);
	if (code < 0)
		return code;
	attribute->first = lode_strndup(cell.text, cell.length);
	attribute->first_length = cell.length;
	attribute->first_quoted = cell.quoted;
	return attribute->first ? 0 : lode_fail_memory(reader->error);
}

static int parse_type(struct reader *reader, struct attribute *attribute)
{
	struct cell type;
	int code;

	skip_spaces(reader);
	if (reader->line_at < reader->line_end && *reader->line_at == '{')
		return parse_list(reader, attribute);
	code = parse_cell(reader, " \t", &type);
	if (code < 0)
		return code;
	attribute->numeric = is_word(&type, "numeric") || is_word(&type, "real") || is_word(&type, "integer");
	if (!attribute->numeric && !is_word(&type, "string") && !is_word(&type, "date"))
		return fail_here(
			reader,
			"an attribute's type must be numeric, real, integer, string, date or a list {a,b}");
	return 0;
}

static int parse_attribute(struct reader *reader)
{
	struct attribute *attribute;
	struct cell name;
	int code = parse_cell(reader, " \t", &name);

	if (code == 0)
		code = lode_columns_name(&reader->columns, name.text, name.length, reader->file, reader->line,
					 reader->error);
	if (code < 0)
		return code;
	if (LODE_GROW(reader->attributes, reader->attribute_capacity, reader->columns.count) < 0) {
		lode_free(reader->columns.items[--reader->columns.count].name);
		return lode_fail_memory(reader->error);
	}
	attribute = &reader->attributes[reader->columns.count - 1];
	memset(attribute, 0, sizeof(*attribute));
	return parse_type(reader, attribute);
}

static int read_head(struct reader *reader)
{
	struct cell word;
	int code;

	while ((code = next_line(reader)) > 0) {
		code = parse_cell(reader, " \t", &word);
		if (code < 0)
			return code;
		if (is_word(&word, "@data"))
			return reader->columns.count ? 0
						     : fail_here(reader, "@data without an @attribute before it");
		if (is_word(&word, "@attribute"))
			code = parse_attribute(reader);
		else if (!is_word(&word, "@relation"))
			code = fail_here(reader, "neither @relation nor @attribute nor @data nor a comment");
		if (code < 0)
			return code;
	}
	return code < 0 ? code : fail_here(reader, "the file ends before @data");
}

/* ---- rows ---- */

/* What is done with a cell: `look` in the first pass, `put` in the second. */
static int handle(struct reader *reader, struct lode_data_table *table, size_t row, size_t i,
		  const struct cell *cell)
{
	int quoted = cell->quoted && !reader->attributes[i].numeric;

	if (table)
		return lode_columns_put(&table->columns[i], row, cell->text, cell->length, quoted) < 0
			       ? lode_fail_memory(reader->error)
			       : 0;
	lode_columns_look(&reader->columns.items[i], cell->text, cell->length, quoted, reader->line);
	if (reader->attributes[i].numeric && reader->columns.items[i].kind == LODE_DATA_CATEGORY)
		return lode_fail(reader->error, LODE_BAD_INPUT,
				 "%s:%llu: attribute '%.200s' is numeric and holds '%.30s'; correct it, or "
				 "call its type string",
				 reader->file, (unsigned long long)reader->line, reader->columns.items[i].name,
				 reader->columns.items[i].text);
	return 0;
}

static int fail_cells(const struct reader *reader, size_t cells)
{
	return lode_fail(
		reader->error, LODE_BAD_INPUT,
		"%s:%llu: %zu or more cells where there are %zu attributes; is a comma missing or too many?",
		reader->file, (unsigned long long)reader->line, cells, reader->columns.count);
}

static int parse_dense(struct reader *reader, struct lode_data_table *table, size_t row)
{
	struct cell cell;
	size_t i = 0;
	int code;

	for (;;) {
		code = parse_cell(reader, ",", &cell);
		if (code < 0)
			return code;
		if (i == reader->columns.count)
			return fail_cells(reader, i + 1);
		code = handle(reader, table, row, i++, &cell);
		if (code < 0)
			return code;
		skip_spaces(reader);
		if (reader->line_at == reader->line_end)
			break;
		if (*reader->line_at++ != ',')
			return fail_here(reader, "text after a closing quote; a comma must follow");
	}
	return i == reader->columns.count ? 0 : fail_cells(reader, i);
}

static int parse_index(struct reader *reader, size_t *index)
{
	size_t i = 0, digits = 0;

	skip_spaces(reader);
	for (; reader->line_at < reader->line_end && *reader->line_at >= '0' && *reader->line_at <= '9'; digits++)
		if (i < reader->columns.count)
			i = i * 10 + (size_t)(*reader->line_at++ - '0');
		else
			break;
	if (!digits || i >= reader->columns.count)
		return fail_here(reader, "a sparse cell must begin with the number of its attribute, from 0");
	if (lode_bit_get(reader->seen, i))
		return fail_here(reader, "a sparse row names the same attribute twice");
	lode_bit_set(reader->seen, i);
	*index = i;
	return 0;
}

static int fill_in(struct reader *reader, struct lode_data_table *table, size_t row)
{
	struct cell zero = { "0", 1, 0 };

	for (size_t i = 0; i < reader->columns.count; i++) {
		const struct attribute *attribute = &reader->attributes[i];
		struct cell first = { attribute->first, attribute->first_length, attribute->first_quoted };
		int code;

		if (lode_bit_get(reader->seen, i))
			continue;
		code = handle(reader, table, row, i, attribute->first ? &first : &zero);
		if (code < 0)
			return code;
	}
	return 0;
}

static int parse_sparse(struct reader *reader, struct lode_data_table *table, size_t row)
{
	struct cell cell;
	size_t i = 0;
	int code = 0;

	memset(reader->seen, 0, lode_bit_words(reader->columns.count) * sizeof(*reader->seen));
	reader->line_at++;
	skip_spaces(reader);
	while (code == 0 && reader->line_at < reader->line_end && *reader->line_at != '}') {
		code = parse_index(reader, &i);
		if (code == 0)
			code = parse_cell(reader, ",}", &cell);
		if (code == 0)
			code = handle(reader, table, row, i, &cell);
		skip_spaces(reader);
		if (code == 0 && reader->line_at < reader->line_end && *reader->line_at == ',')
			reader->line_at++;
	}
	if (code == 0 && reader->line_at == reader->line_end)
		return fail_here(reader, "a sparse row is not closed with }");
	return code < 0 ? code : fill_in(reader, table, row);
}

static int read_rows(struct reader *reader, struct lode_data_table *table)
{
	size_t row = 0;
	int code;

	while ((code = next_line(reader)) > 0) {
		code = *reader->line_at == '{' ? parse_sparse(reader, table, row) : parse_dense(reader, table, row);
		if (code < 0)
			return code;
		row++;
	}
	reader->columns.rows = row;
	return code;
}

static int read_table(struct reader *reader, struct lode_data_table *table)
{
	struct reader first;
	int code = read_head(reader);

	if (code < 0)
		return code;
	reader->seen = lode_calloc(lode_bit_words(reader->columns.count), sizeof(*reader->seen));
	if (!reader->seen)
		return lode_fail_memory(reader->error);
	first = *reader;
	code = read_rows(reader, NULL);
	if (code < 0)
		return code;
	if (!reader->columns.rows)
		return fail_here(reader, "there are no rows after @data");
	lode_data_table_init(table, reader->columns.rows);
	code = lode_columns_make(&reader->columns, table, reader->file, reader->error);
	reader->at = first.at;
	reader->line = first.line;
	return code < 0 ? code : read_rows(reader, table);
}

int lode_arff_read(struct lode_data_table *table, struct lode_input *input, struct lode_error *error)
{
	struct reader reader = { .file = lode_input_name(input), .error = error };
	const unsigned char *bytes;
	size_t size;
	int code = lode_input_whole(input, &bytes, &size, error);

	lode_data_table_init(table, 0);
	if (code < 0)
		return code;
	reader.at = size ? (const char *)bytes : "";
	reader.end = reader.at + size;
	code = read_table(&reader, table);
	if (code < 0)
		lode_data_table_release(table);
	for (size_t i = 0; i < reader.columns.count; i++)
		lode_free(reader.attributes[i].first);
	lode_free(reader.attributes);
	lode_free(reader.seen);
	lode_columns_release(&reader.columns);
	lode_buffer_release(&reader.unquoted);
	return code;
}

/* Whether the first line that is no comment begins with `@`. */
static int looks_like_arff(const char *at, const char *end)
{
	while (at < end && strchr("% \t\r\n", *at)) {
		if (*at != '%') {
			at++;
			continue;
		}
		while (at < end && *at != '\n')
			at++;
	}
	return end - at > 9 && (!strncasecmp(at, "@relation", 9) || !strncasecmp(at, "@attribut", 9));
}

int lode_data_table_read(struct lode_data_table *table, struct lode_input *input, struct lode_error *error)
{
	const unsigned char *bytes;
	size_t size;
	int code = lode_input_peek(input, 64 << 10, &bytes, &size, error);

	lode_data_table_init(table, 0);
	if (code < 0)
		return code;
	if (looks_like_arff((const char *)bytes, (const char *)bytes + size))
		return lode_arff_read(table, input, error);
	return lode_csv_read(table, input, error);
}

int lode_data_table_load(struct lode_data_table *table, const char *path, struct lode_error *error)
{
	struct lode_input *input;
	int code = lode_input_open(&input, path, error);

	if (code < 0)
		return code;
	code = lode_data_table_read(table, input, error);
	lode_input_close(input);
	return code;
}
