/* Explaining a table: options, columns by their names, and the rows that take part; see explain.h. */
#include "explain/table/table_value.h"
#include "base/random.h"
#include "base/starts_with.h"
#include "explain/explain.h"
#include "explain/explain_internal.h"

#include <math.h>
#include <string.h>

void lode_explain_defaults(struct lode_explain_options *options)
{
	memset(options, 0, sizeof(*options));
	options->folds = 10;
	options->depth = 4;
}

int lode_explain_check(const struct lode_explain_options *options, struct lode_error *error)
{
	if (options->clusters > LODE_MAX_CLUSTERS)
		return lode_fail(error, LODE_USAGE,
				 "%u clusters are too many to explain anything; ask for at most %d",
				 options->clusters, LODE_MAX_CLUSTERS);
	if (options->folds == 1)
		return lode_fail(
			error, LODE_USAGE,
			"one fold leaves nothing to learn from; use 2 or more, or 0 for no cross-validation");
	if (options->depth > 4 || !options->depth)
		return lode_fail(error, LODE_USAGE, "an optimal tree has a depth of 1 to 4");
	if (!(options->max_error >= 0) || !isfinite(options->max_error))
		return lode_fail(error, LODE_USAGE, "the bound on the error must be a number, 0 or more");
	if (options->smallest && !(options->max_error > 0))
		return lode_fail(error, LODE_USAGE,
				 "the smallest number of clusters needs a bound on the error; give one with "
				 "'--max-error'");
	return 0;
}

int lode_explain_clusters(const char *text, struct lode_explain_options *options, struct lode_error *error)
{
	const char *count = text;
	double number;

	if (!text || !strcmp(text, "auto"))
		return 0;
	if (lode_starts_with(text, "smallest") && (!text[8] || text[8] == ':')) {
		options->smallest = 1;
		if (!text[8])
			return 0;
		count = text + 9;
	}
	if (lode_table_value_read(count, strlen(count), &number) > LODE_VALUE_NUMBER || !*count ||
	    !(number >= 1) || number > 1e6 || number != (double)(unsigned)number)
		return lode_fail(
			error, LODE_USAGE,
			"explain: '--clusters %s' is not a number of clusters; use 1, 2, ..., auto, smallest or "
			"smallest:B. See 'lode help explain'.",
			text);
	options->clusters = (unsigned)number;
	return 0;
}

int lode_explain_max_error(const char *text, struct lode_explain_options *options, struct lode_error *error)
{
	size_t length = text ? strlen(text) : 0;
	enum lode_table_value cell;

	if (!text)
		return 0;
	options->max_error_relative = length && text[length - 1] == '%';
	cell = lode_table_value_read(text, length - (size_t)options->max_error_relative, &options->max_error);
	if ((cell != LODE_VALUE_NUMBER && cell != LODE_VALUE_BINARY) || !(options->max_error > 0))
		return lode_fail(error, LODE_USAGE,
				 "explain: '--max-error %s' is not an error bound; use a mean square error (1e6) "
				 "or a relative "
				 "error (5%%), above 0. See 'lode help explain'.",
				 text);
	if (options->max_error_relative)
		options->max_error /= 100;
	return 0;
}

/* ---- columns ---- */

static int find_column(const struct lode_data_table *table, const char *name, const char *column, uint32_t *found,
		       struct lode_error *error)
{
	*found = lode_data_table_find(table, column);
	if (*found == LODE_NONE)
		return lode_fail(error, LODE_BAD_INPUT,
				 "%s: there is no column '%.200s'; the first of %zu columns is '%.200s'", name,
				 column, table->count, table->count ? table->columns[0].name : "");
	if (table->columns[*found].kind == LODE_DATA_CATEGORY)
		return lode_fail(error, LODE_BAD_INPUT,
				 "%s:%llu: column '%.200s' must be numeric, and holds '%s'; name another one, or "
				 "correct it",
				 name, (unsigned long long)table->columns[*found].text_line, column,
				 table->columns[*found].text);
	return 0;
}

static int find_inputs(struct lode_explain_input *input, const char *x, struct lode_error *error)
{
	while (*x) {
		size_t length = strcspn(x, ",");
		char *column = lode_strndup(x, length);
		int code;

		if (!column)
			return lode_fail_memory(error);
		code = input->inputs == LODE_MAX_INPUTS
			       ? lode_fail(error, LODE_USAGE, "more than %d columns for x; name fewer",
					   LODE_MAX_INPUTS)
			       : find_column(input->table, input->name, column, &input->x[input->inputs], error);
		lode_free(column);
		if (code < 0)
			return code;
		if (!input->auxiliary[input->x[input->inputs]])
			return lode_fail(error, LODE_USAGE, "column '%.*s' is named twice among x and y",
					 (int)(length < 200 ? length : 200), x);
		input->auxiliary[input->x[input->inputs++]] = 0;
		x += length + (x[length] == ',');
	}
	return input->inputs ? 0 : lode_fail(error, LODE_USAGE, "no column for x; name one");
}

int lode_explain_columns(struct lode_explain_input *input, const struct lode_data_table *table, const char *name,
			 const char *x, const char *y, struct lode_error *error)
{
	int code;

	memset(input, 0, sizeof(*input));
	input->table = table;
	input->name = name;
	input->auxiliary = lode_alloc(table->count);
	if (!input->auxiliary)
		return lode_fail_memory(error);
	memset(input->auxiliary, 1, table->count);
	code = find_column(table, name, y, &input->y, error);
	if (code == 0) {
		input->auxiliary[input->y] = 0;
		code = find_inputs(input, x, error);
	}
	if (code < 0) {
		lode_free(input->auxiliary);
		input->auxiliary = NULL;
	}
	return code;
}

/* ---- rows ---- */

static int is_whole(const struct lode_explain_input *input, size_t row)
{
	if (isnan(lode_data_column_number(&input->table->columns[input->y], row)))
		return 0;
	for (unsigned i = 0; i < input->inputs; i++)
		if (isnan(lode_data_column_number(&input->table->columns[input->x[i]], row)))
			return 0;
	return 1;
}

int lode_explain_rows(const struct lode_explain_input *input, const struct lode_explain_options *options,
		      struct lode_explanation *explanation, struct lode_error *error)
{
	size_t rows = input->table->rows;

	if (rows >= LODE_NONE)
		return lode_fail(error, LODE_BAD_INPUT, "%s: more than 2^32 rows; use a sample of them",
				 input->name);
	explanation->row_of = lode_calloc(rows, sizeof(*explanation->row_of));
	if (!explanation->row_of)
		return lode_fail_memory(error);
	for (size_t row = 0; row < rows; row++)
		if (is_whole(input, row))
			explanation->row_of[explanation->rows++] = (uint32_t)row;
	explanation->left_out = rows - explanation->rows;
	lode_notes_add(options->notes, explanation->left_out, "rows without x or y were left out", NULL);
	if (explanation->rows < 2)
		return lode_fail(error, LODE_BAD_INPUT,
				 "%s: %zu row%s with both x and y; there must be two at least", input->name,
				 explanation->rows, explanation->rows == 1 ? "" : "s");
	if (!options->smallest && lode_explain_copies(input, explanation, error) < 0)
		return LODE_SYSTEM;
	lode_notes_add(options->notes, explanation->copies, "rows that equal others in every column count once",
		       NULL);
	if (options->clusters > explanation->rows && !options->smallest)
		return lode_fail(error, LODE_BAD_INPUT, "%s: %u clusters of %zu %srows; ask for fewer", input->name,
				 options->clusters, explanation->rows, explanation->copies ? "different " : "");
	return 0;
}

int lode_explain_points(const struct lode_explain_input *input, const struct lode_explanation *explanation,
			enum lode_family family, enum lode_noise noise, struct lode_points *points,
			struct lode_error *error)
{
	double *x = lode_calloc(explanation->rows, input->inputs * sizeof(*x));
	double *y = lode_calloc(explanation->rows, sizeof(*y));
	int code;

	if (!x || !y) {
		lode_free(x);
		lode_free(y);
		return lode_fail_memory(error);
	}
	for (size_t i = 0; i < explanation->rows; i++) {
		size_t row = explanation->row_of[i];

		y[i] = lode_data_column_number(&input->table->columns[input->y], row);
		for (unsigned k = 0; k < input->inputs; k++)
			x[i * input->inputs + k] =
				lode_data_column_number(&input->table->columns[input->x[k]], row);
	}
	code = lode_points_make(points, x, y, explanation->rows, input->inputs, family, noise, error);
	lode_free(x);
	lode_free(y);
	return code;
}

int lode_explain_above_zero(const struct lode_explain_input *input, const struct lode_explanation *explanation)
{
	for (size_t i = 0; i < explanation->rows; i++)
		if (!(lode_data_column_number(&input->table->columns[input->y], explanation->row_of[i]) > 0))
			return 0;
	return 1;
}

void lode_explain_deal(unsigned char *fold_of, size_t rows, unsigned folds, uint64_t seed)
{
	struct lode_random random = lode_random_piece(seed, rows);

	for (size_t i = 0; i < rows; i++)
		fold_of[i] = (unsigned char)(i % folds);
	for (size_t i = rows; i > 1; i--) {
		size_t other = lode_random_below(&random, i);
		unsigned char swap = fold_of[i - 1];

		fold_of[i - 1] = fold_of[other];
		fold_of[other] = swap;
	}
}
