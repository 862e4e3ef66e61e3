/*
 * Rows that are copies of others (see explain_internal.h).
 *
 * A table that was concatenated with itself says no more than before, but the length of its
 * description assumes that each row was measured separately: with 50 copies every deviation
 * counts as 50 observations, and cross-validation tests a row with what it learned from its
 * copy. Rows that are equal in every column therefore count once.
 *
 * Where y has few values, such as whole seconds, equal rows are to be expected and count. This
 * shows in rows that differ in other columns: most of them share their y with others then. Only
 * a table that was repeated as a whole is recognised there, by the number that divides how often
 * each row occurs.
 */
#include "explain/explain_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct copied_row {
	uint64_t hash; /* of x and y, then of the whole row where others share them */
	double y;
	uint32_t row;
	uint32_t times; /* of the first of equal rows: how many there are; 0 of the others */
};

static int by_hash(const void *a, const void *b)
{
	const struct copied_row *x = a, *y = b;

	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

static int by_y(const void *a, const void *b)
{
	const struct copied_row *x = a, *y = b;

	return (x->y > y->y) - (x->y < y->y);
}

/* A cell as a number that is equal where cells are. */
static uint64_t cell_of(const struct lode_data_column *column, size_t row)
{
	double number;
	uint64_t bits;

	if (column->kind == LODE_DATA_BINARY)
		return (uint64_t)lode_bit_get(column->bits, row);
	if (column->kind == LODE_DATA_CATEGORY)
		return column->codes[row];
	number = column->numbers[row];
	if (isnan(number))
		return UINT64_MAX;
	number = number == 0 ? 0 : number;
	memcpy(&bits, &number, sizeof(bits));
	return bits;
}

static uint64_t hash_xy(const struct lode_explain_input *input, size_t row)
{
	uint64_t hash = lode_hash_u64(cell_of(&input->table->columns[input->y], row));

	for (unsigned i = 0; i < input->inputs; i++)
		hash = lode_hash_more(hash, cell_of(&input->table->columns[input->x[i]], row));
	return hash;
}

static uint64_t hash_row(const struct lode_explain_input *input, size_t row, uint64_t hash)
{
	for (size_t i = 0; i < input->table->count; i++)
		if (input->auxiliary[i])
			hash = lode_hash_more(hash, cell_of(&input->table->columns[i], row));
	return hash;
}

static int are_equal(const struct lode_explain_input *input, size_t a, size_t b)
{
	for (size_t i = 0; i < input->table->count; i++) {
		const struct lode_data_column *column = &input->table->columns[i];

		if (cell_of(column, a) != cell_of(column, b))
			return 0;
	}
	return 1;
}

/* Sorts equal rows together. Most rows differ in x and y already. */
static void sort_rows(const struct lode_explain_input *input, struct copied_row *rows, size_t count)
{
	size_t end;

	qsort(rows, count, sizeof(*rows), by_hash);
	for (size_t begin = 0; begin < count; begin = end) {
		uint64_t hash = rows[begin].hash;

		for (end = begin + 1; end < count && rows[end].hash == hash; end++)
			rows[end].hash = hash_row(input, rows[end].row, hash);
		if (end > begin + 1)
			rows[begin].hash = hash_row(input, rows[begin].row, hash);
	}
	qsort(rows, count, sizeof(*rows), by_hash);
}

static uint32_t common_divisor(uint32_t a, uint32_t b)
{
	while (b) {
		uint32_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* Counts equal rows at the first of them. Returns how many rows differ, and what divides all the counts. */
static size_t count_equal(const struct lode_explain_input *input, struct copied_row *rows, size_t count,
			  uint32_t *divisor)
{
	size_t differing = 0, first = 0;

	for (size_t i = 0; i < count; i++) {
		if (!i || rows[i].hash != rows[first].hash || !are_equal(input, rows[i].row, rows[first].row)) {
			first = i;
			differing++;
		}
		rows[i].times = 0;
		rows[first].times++;
	}
	*divisor = 0;
	for (size_t i = 0; i < count; i++)
		*divisor = common_divisor(*divisor, rows[i].times);
	return differing;
}

/* Whether most rows that differ share their y with others. */
static int is_coarse(const struct copied_row *rows, size_t count, size_t differing, int *coarse)
{
	struct copied_row *sorted = lode_calloc(differing, sizeof(*sorted));
	size_t kept = 0, shared = 0;

	if (!sorted)
		return LODE_SYSTEM;
	for (size_t i = 0; i < count; i++)
		if (rows[i].times)
			sorted[kept++] = rows[i];
	qsort(sorted, kept, sizeof(*sorted), by_y);
	for (size_t i = 0; i < kept; i++)
		shared += (i && sorted[i - 1].y == sorted[i].y) || (i + 1 < kept && sorted[i + 1].y == sorted[i].y);
	*coarse = 2 * shared > kept;
	lode_free(sorted);
	return 0;
}

/* Marks in `copy_of` what is more than its rows are worth. Returns how many. */
static size_t mark_copies(const struct copied_row *rows, size_t count, uint32_t divisor, int coarse,
			  uint32_t *copy_of)
{
	size_t copies = 0, first = 0;

	for (size_t i = 0; i < count; i++) {
		if (rows[i].times)
			first = i;
		if (i - first < (coarse ? rows[first].times / divisor : 1))
			continue;
		copy_of[rows[i].row] = rows[first].row;
		copies++;
	}
	return copies;
}

/* Leaves out of `row_of` what is marked. */
static void drop_copies(struct lode_explanation *explanation)
{
	size_t kept = 0;

	for (size_t i = 0; i < explanation->rows; i++)
		if (explanation->copy_of[explanation->row_of[i]] == LODE_NONE)
			explanation->row_of[kept++] = explanation->row_of[i];
	explanation->rows = kept;
}

static int find_copies(const struct lode_explain_input *input, struct copied_row *rows,
		       struct lode_explanation *explanation)
{
	size_t count = explanation->rows, differing;
	uint32_t divisor;
	int coarse;

	for (size_t i = 0; i < count; i++) {
		uint32_t row = explanation->row_of[i];

		rows[i] = (struct copied_row){ hash_xy(input, row),
					       lode_data_column_number(&input->table->columns[input->y], row), row,
					       0 };
	}
	sort_rows(input, rows, count);
	differing = count_equal(input, rows, count, &divisor);
	/* One row that was only ever repeated explains nothing, regardless of its values. */
	if (differing == count || differing < 2)
		return 0;
	if (is_coarse(rows, count, differing, &coarse) < 0)
		return LODE_SYSTEM;
	explanation->copy_of = lode_calloc(input->table->rows, sizeof(*explanation->copy_of));
	if (!explanation->copy_of)
		return LODE_SYSTEM;
	memset(explanation->copy_of, 0xff, input->table->rows * sizeof(*explanation->copy_of));
	explanation->copies = mark_copies(rows, count, divisor, coarse, explanation->copy_of);
	drop_copies(explanation);
	return 0;
}

int lode_explain_copies(const struct lode_explain_input *input, struct lode_explanation *explanation,
			struct lode_error *error)
{
	struct copied_row *rows = lode_calloc(explanation->rows, sizeof(*rows));
	int code = rows ? find_copies(input, rows, explanation) : LODE_SYSTEM;

	lode_free(rows);
	return code < 0 ? lode_fail_memory(error) : 0;
}
