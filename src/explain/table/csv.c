/*
 * CSV: see table_read.h for what is understood.
 *
 * The unpacked file is in memory as one piece (mapped, or spooled to an
 * unlinked file), and a scanner walks it cell by cell. It is walked twice: to see
 * what each column is and how many rows there are, and to fill the columns. So
 * nothing but the table itself is kept, and a column of zeros and ones never
 * takes more than a bit per row.
 */
#include "base/buffer.h"
#include "explain/table/columns.h"
#include "explain/table/table_read.h"

#include <string.h>

struct scanner {
	const char *at;
	const char *end;
	const char *file;
	char separator;
	uint64_t line;               /* of `at` */
	uint64_t row_line;           /* where this row began */
	const char *row;             /* its first byte */
	struct lode_buffer unquoted; /* a quoted cell with its quotes taken off */
	struct lode_error *error;
};

/* A cell, good until the next. */
struct cell {
	const char *text;
	size_t length;
	int quoted;
	int last; /* of its row */
};

static int fail_at(const struct scanner *scanner, uint64_t line, const char *sentence)
{
	return lode_fail(scanner->error, LODE_BAD_INPUT, "%s:%llu: %s", scanner->file, (unsigned long long)line,
			 sentence);
}

static int is_line_end(const struct scanner *scanner, const char *at)
{
	return at == scanner->end || *at == '\n' || (*at == '\r' && at + 1 < scanner->end && at[1] == '\n');
}

static void step_over_line_end(struct scanner *scanner)
{
	if (scanner->at < scanner->end && *scanner->at == '\r')
		scanner->at++;
	if (scanner->at < scanner->end)
		scanner->at++;
	scanner->line++;
}

/* Behind the text of a cell: a separator, the end of the row, or something wrong. */
static int end_cell(struct scanner *scanner, struct cell *cell)
{
	if (cell->length > LODE_TABLE_LONGEST_CELL || (size_t)(scanner->at - scanner->row) > LODE_TABLE_LONGEST_ROW)
		return fail_at(scanner, scanner->row_line,
			       "a row of more than 64 MiB, or a cell of more than 1 MiB; is a quote or a line end "
			       "missing?");
	cell->last = is_line_end(scanner, scanner->at);
	if (cell->last)
		step_over_line_end(scanner);
	else if (*scanner->at == scanner->separator)
		scanner->at++;
	else
		return fail_at(scanner, scanner->line,
			       "text after a closing quote; double the quotes inside a quoted cell");
	return 0;
}

static int next_quoted(struct scanner *scanner, struct cell *cell)
{
	uint64_t line = scanner->line;
	const char *quote;

	lode_buffer_clear(&scanner->unquoted);
	scanner->at++;
	for (;;) {
		quote = memchr(scanner->at, '"', (size_t)(scanner->end - scanner->at));
		if (!quote)
			return fail_at(scanner, line, "a quote is opened and never closed");
		if ((size_t)(quote - scanner->row) > LODE_TABLE_LONGEST_ROW)
			return fail_at(scanner, line, "a quoted cell of more than 64 MiB; is a quote missing?");
		for (const char *c = scanner->at; c < quote; c++)
			scanner->line += *c == '\n';
		lode_buffer_add(&scanner->unquoted, scanner->at, (size_t)(quote - scanner->at));
		scanner->at = quote + 1;
		if (scanner->at == scanner->end || *scanner->at != '"')
			break;
		lode_buffer_byte(&scanner->unquoted, '"');
		scanner->at++;
	}
	if (scanner->unquoted.failed)
		return lode_fail_memory(scanner->error);
	cell->text = scanner->unquoted.size ? scanner->unquoted.bytes : "";
	cell->length = scanner->unquoted.size;
	cell->quoted = 1;
	return end_cell(scanner, cell);
}

static int next_cell(struct scanner *scanner, struct cell *cell)
{
	const char *at = scanner->at, *limit = scanner->end;

	if (at < limit && *at == '"')
		return next_quoted(scanner, cell);
	if ((size_t)(limit - at) > LODE_TABLE_LONGEST_CELL + 2)
		limit = at + LODE_TABLE_LONGEST_CELL + 2;
	while (at < limit && *at != scanner->separator && *at != '\n')
		at++;
	cell->text = scanner->at;
	cell->length = (size_t)(at - scanner->at);
	cell->quoted = 0;
	if (cell->length && at < scanner->end && *at == '\n' && at[-1] == '\r') {
		cell->length--;
		at--;
	}
	scanner->at = at;
	return end_cell(scanner, cell);
}

/* Goes to the first cell of the next row that is not empty; 0 at the end of the file. */
static int next_row(struct scanner *scanner)
{
	while (scanner->at < scanner->end && is_line_end(scanner, scanner->at))
		step_over_line_end(scanner);
	scanner->row = scanner->at;
	scanner->row_line = scanner->line;
	return scanner->at < scanner->end;
}

static char choose_separator(const char *at, const char *end)
{
	int tab = 0, semicolon = 0;

	for (; at < end && *at != '\n'; at++) {
		if (*at == ',')
			return ',';
		tab |= *at == '\t';
		semicolon |= *at == ';';
	}
	return tab ? '\t' : semicolon ? ';' : ',';
}

static int read_names(struct scanner *scanner, struct lode_columns *columns)
{
	struct cell cell = { NULL, 0, 0, 0 };
	int code = 0;

	if (!next_row(scanner))
		return fail_at(scanner, 1, "the file is empty; the first line must name the columns");
	while (code == 0 && !cell.last) {
		code = next_cell(scanner, &cell);
		if (code == 0)
			code = lode_columns_name(columns, cell.text, cell.length, scanner->file, scanner->row_line,
						 scanner->error);
	}
	return code;
}

static int fail_ragged(const struct scanner *scanner, const struct lode_columns *columns, size_t cells, int more)
{
	return lode_fail(scanner->error, LODE_BAD_INPUT,
			 "%s:%llu: %s%zu cells where the first line names %zu columns; %s '%.200s'", scanner->file,
			 (unsigned long long)scanner->row_line, more ? "more than " : "", cells, columns->count,
			 more ? "the last is" : "there is none for",
			 columns->items[more ? columns->count - 1 : cells].name);
}

/* Whether a cell that is just 0 or 1 comes next, and another one behind it: most of a wide table is that. */
static inline int is_bit(const struct scanner *scanner)
{
	return scanner->end - scanner->at > 1 && (scanner->at[0] | 1) == '1' &&
	       scanner->at[1] == scanner->separator;
}

static int look_at_row(struct scanner *scanner, struct lode_columns *columns)
{
	struct cell cell = { NULL, 0, 0, 0 };
	size_t i = 0;
	int code;

	for (; !cell.last; i++) {
		for (; i < columns->count && is_bit(scanner); i++)
			scanner->at += 2;
		if (i == columns->count)
			return fail_ragged(scanner, columns, i, 1);
		code = next_cell(scanner, &cell);
		if (code < 0)
			return code;
		lode_columns_look(&columns->items[i], cell.text, cell.length, cell.quoted, scanner->row_line);
	}
	if (i < columns->count)
		return fail_ragged(scanner, columns, i, 0);
	columns->rows++;
	return 0;
}

static int fill_row(struct scanner *scanner, struct lode_data_table *table, size_t row)
{
	struct cell cell = { NULL, 0, 0, 0 };

	for (size_t i = 0; i < table->count; i++) {
		int code;

		for (; table->columns[i].kind == LODE_DATA_BINARY && is_bit(scanner); i++) {
			if (*scanner->at == '1')
				lode_bit_set(table->columns[i].bits, row);
			scanner->at += 2;
		}
		code = next_cell(scanner, &cell);
		if (code < 0)
			return code;
		if (lode_columns_put(&table->columns[i], row, cell.text, cell.length, cell.quoted) < 0)
			return lode_fail_memory(scanner->error);
	}
	return 0;
}

static int read_table(struct scanner *scanner, struct lode_columns *columns, struct lode_data_table *table)
{
	struct scanner first;
	int code = read_names(scanner, columns);

	first = *scanner;
	while (code == 0 && next_row(scanner))
		code = look_at_row(scanner, columns);
	if (code < 0)
		return code;
	if (!columns->rows)
		return fail_at(scanner, scanner->line, "there are names of columns and no rows");
	lode_data_table_init(table, columns->rows);
	code = lode_columns_make(columns, table, scanner->file, scanner->error);
	first.unquoted = scanner->unquoted;
	*scanner = first;
	for (size_t row = 0; code == 0 && row < columns->rows; row++) {
		next_row(scanner);
		code = fill_row(scanner, table, row);
	}
	return code;
}

int lode_csv_read(struct lode_data_table *table, struct lode_input *input, struct lode_error *error)
{
	struct scanner scanner = { .line = 1, .file = lode_input_name(input), .error = error };
	struct lode_columns columns = { .count = 0 };
	const unsigned char *bytes;
	size_t size;
	int code = lode_input_whole(input, &bytes, &size, error);

	lode_data_table_init(table, 0);
	if (code < 0)
		return code;
	scanner.at = size ? (const char *)bytes : "";
	scanner.end = scanner.at + size;
	if (size >= 3 && !memcmp(bytes, "\xef\xbb\xbf", 3))
		scanner.at += 3; /* the mark that some programs put before UTF-8 */
	scanner.separator = choose_separator(scanner.at, scanner.end);
	code = read_table(&scanner, &columns, table);
	if (code < 0)
		lode_data_table_release(table);
	lode_columns_release(&columns);
	lode_buffer_release(&scanner.unquoted);
	return code;
}
