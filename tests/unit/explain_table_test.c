/* Tables from CSV and ARFF: what columns are, what is missing, and what is refused with which sentence. */
#include "cmocka_all.h"
#include "random_stream.h"

#include "explain/table/table_value.h"
#include "explain/tree/features.h"
#include "explain/table/table_read.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int read_text(struct lode_data_table *table, const char *text, size_t size, struct lode_error *error)
{
	struct lode_input *input;
	int code;

	error->text[0] = '\0';
	code = lode_input_memory(&input, "t.csv", text, size, error);
	if (code < 0)
		return code;
	code = lode_data_table_read(table, input, error);
	lode_input_close(input);
	return code;
}

static void read_well(struct lode_data_table *table, const char *text)
{
	struct lode_error error;

	if (read_text(table, text, strlen(text), &error) < 0)
		fail_msg("%s", error.text);
}

static void refused(const char *text, const char *sentence)
{
	struct lode_data_table table;
	struct lode_error error;

	assert_int_equal(read_text(&table, text, strlen(text), &error), LODE_BAD_INPUT);
	if (strncmp(error.text, sentence, strlen(sentence)) != 0)
		fail_msg("'%s' does not begin with '%s'", error.text, sentence);
}

static const char *category(const struct lode_data_column *column, size_t row)
{
	return column->codes[row] == LODE_NONE ? NULL : lode_strings_get(&column->values, column->codes[row]);
}

/* ---- cells ---- */

static void numbers_are_read_as_strtod_reads_them(void **state)
{
	uint64_t seed = 7;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		double number = 0, expected;
		char text[64];
		enum lode_table_value cell;

		switch (random_below(&seed, 3)) {
		case 0:
			snprintf(text, sizeof(text), "%.*g", (int)random_below(&seed, 20) + 1,
				 (double)random_next(&seed) / (double)(random_number(&seed) + 1));
			break;
		case 1:
			snprintf(text, sizeof(text), "%s%llu.%llu", random_below(&seed, 2) ? "-" : "",
				 (unsigned long long)random_number(&seed),
				 (unsigned long long)random_number(&seed));
			break;
		default:
			snprintf(text, sizeof(text), "+%llue%d", (unsigned long long)random_number(&seed),
				 (int)random_below(&seed, 40) - 20);
		}
		expected = strtod(text, NULL);
		cell = lode_table_value_read(text, strlen(text), &number);
		assert_true(cell == LODE_VALUE_NUMBER || cell == LODE_VALUE_BINARY);
		assert_true(number == expected);
	}
}

static void what_is_no_number_is_distinguished(void **state)
{
	static const struct {
		const char *text;
		enum lode_table_value cell;
	} cases[] = {
		{ "", LODE_VALUE_MISSING },       { "  ", LODE_VALUE_MISSING },
		{ "?", LODE_VALUE_MISSING },      { "NA", LODE_VALUE_MISSING },
		{ "na", LODE_VALUE_TEXT },        { "0", LODE_VALUE_BINARY },
		{ "1.0", LODE_VALUE_BINARY },     { " 1 ", LODE_VALUE_BINARY },
		{ "-0", LODE_VALUE_BINARY },      { "2", LODE_VALUE_NUMBER },
		{ ".5", LODE_VALUE_NUMBER },      { "5.", LODE_VALUE_NUMBER },
		{ "1e-3", LODE_VALUE_NUMBER },    { "nan", LODE_VALUE_INFINITE },
		{ "-Inf", LODE_VALUE_INFINITE },  { "infinity", LODE_VALUE_INFINITE },
		{ "1e999", LODE_VALUE_INFINITE }, { "1e-999", LODE_VALUE_BINARY },
		{ "0x10", LODE_VALUE_TEXT },      { "1,5", LODE_VALUE_TEXT },
		{ "1e", LODE_VALUE_TEXT },        { "-", LODE_VALUE_TEXT },
		{ ".", LODE_VALUE_TEXT },         { "1 2", LODE_VALUE_TEXT },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		double number;

		if (lode_table_value_read(cases[i].text, strlen(cases[i].text), &number) != cases[i].cell)
			fail_msg("'%s'", cases[i].text);
	}
}

/* ---- CSV ---- */

static void columns_are_binary_numeric_or_categorical(void **state)
{
	struct lode_data_table table;

	(void)state;
	read_well(&table, "size,time,f0,color,hole\n1,10.5,0,red,0\n2,20,1,blue,\n3,-1e3,1.0,red,1\n");
	assert_int_equal(table.rows, 3);
	assert_int_equal(table.count, 5);
	assert_int_equal(table.columns[0].kind, LODE_DATA_NUMBER);
	assert_true(table.columns[1].numbers[2] == -1000);
	assert_int_equal(table.columns[2].kind, LODE_DATA_BINARY);
	assert_int_equal(table.columns[2].bits[0], 6);
	assert_int_equal(table.columns[3].kind, LODE_DATA_CATEGORY);
	assert_string_equal(category(&table.columns[3], 1), "blue");
	assert_int_equal(table.columns[3].codes[0], table.columns[3].codes[2]);
	assert_int_equal(table.columns[4].kind, LODE_DATA_NUMBER);
	assert_int_equal(table.columns[4].missing, 1);
	assert_true(isnan(table.columns[4].numbers[1]));
	assert_int_equal(lode_data_table_find(&table, "f0"), 2);
	assert_int_equal(lode_data_table_find(&table, "f"), LODE_NONE);
	lode_data_table_release(&table);
}

static void quotes_line_ends_and_separators_are_understood(void **state)
{
	struct lode_data_table table;

	(void)state;
	read_well(&table, "\xef\xbb\xbf\"a \"\"b\"\"\",c\r\n\"x,\ny\",\"1\"\r\n\r\n\"\",?\n");
	assert_int_equal(table.rows, 2);
	assert_string_equal(table.columns[0].name, "a \"b\"");
	assert_string_equal(category(&table.columns[0], 0), "x,\ny");
	assert_string_equal(category(&table.columns[0], 1), "");
	/* Quoted, a number is text. */
	assert_int_equal(table.columns[1].kind, LODE_DATA_CATEGORY);
	assert_null(category(&table.columns[1], 1));
	lode_data_table_release(&table);
	read_well(&table, "a\tb\n1\t2");
	assert_int_equal(table.count, 2);
	lode_data_table_release(&table);
	read_well(&table, "a;b\n1;2");
	assert_true(table.columns[1].numbers[0] == 2);
	lode_data_table_release(&table);
}

static void bad_csv_is_refused_with_line_and_column(void **state)
{
	(void)state;
	refused("", "t.csv:1: the file is empty");
	refused("\n\n", "t.csv:1: the file is empty");
	refused("a,b\n", "t.csv:2: there are names of columns and no rows");
	refused("a,b\n1,2\n3\n", "t.csv:3: 1 cells where the first line names 2 columns; there is none for 'b'");
	refused("a,b\n1,2,3\n",
		"t.csv:2: more than 2 cells where the first line names 2 columns; the last is 'b'");
	refused("a,b,a\n1,2,3\n", "t.csv:1: column 3 is called 'a' like one before it");
	refused("a,,c\n1,2,3\n", "t.csv:1: column 2 has no name");
	refused("a,b\n1,2\n3,inf\n", "t.csv:3: column 'b' holds 'inf', which is not a finite number");
	refused("a,b\n1e400,2\n", "t.csv:2: column 'a' holds '1e400'");
	refused("a,b\n1,\"x\n", "t.csv:2: a quote is opened and never closed");
	refused("a,b\n1,\"x\"y\n", "t.csv:2: text after a closing quote");
}

static void a_column_of_words_may_hold_inf(void **state)
{
	struct lode_data_table table;

	(void)state;
	read_well(&table, "a\ninf\nword\n");
	assert_string_equal(category(&table.columns[0], 0), "inf");
	lode_data_table_release(&table);
}

static void huge_rows_and_cells_are_refused(void **state)
{
	struct lode_data_table table;
	size_t size = (65u << 20) + 100;
	char *text = malloc(size);
	struct lode_error error;

	(void)state;
	memset(text, 'x', size);
	memcpy(text, "a,b\n", 4);
	assert_int_equal(read_text(&table, text, size, &error), LODE_BAD_INPUT);
	assert_non_null(strstr(error.text, "t.csv:2: a row of more than 64 MiB, or a cell of more than 1 MiB"));
	text[4] = '"';
	text[size - 1] = '"';
	assert_int_equal(read_text(&table, text, size, &error), LODE_BAD_INPUT);
	assert_non_null(strstr(error.text, "t.csv:2: a quoted cell of more than 64 MiB"));
	free(text);
}

/* A table of random cells is written and read back. */
static void random_tables_come_back(void **state)
{
	uint64_t seed = 3;

	(void)state;
	for (int round = 0; round < 300; round++) {
		size_t columns = 1 + random_below(&seed, 6), rows = 1 + random_below(&seed, 150);
		double cells[150][6];
		struct lode_data_table table;
		char *text = malloc(200000), *end = text;

		for (size_t i = 0; i < columns; i++)
			end += sprintf(end, "%sc%zu", i ? "," : "", i);
		for (size_t r = 0; r < rows; r++)
			for (size_t i = 0; i < columns; i++) {
				cells[r][i] = random_below(&seed, 9) || i == 0
						      ? (double)random_below(&seed, 2 + i * 50)
						      : NAN;
				end += sprintf(end, "%s", i ? "," : "\n");
				if (!isnan(cells[r][i]))
					end += sprintf(end, "%g", cells[r][i]);
			}
		*end = '\0';
		read_well(&table, text);
		assert_int_equal(table.rows, rows);
		for (size_t r = 0; r < rows; r++)
			for (size_t i = 0; i < columns; i++) {
				double number = lode_data_column_number(&table.columns[i], r);

				assert_true(number == cells[r][i] || (isnan(number) && isnan(cells[r][i])));
			}
		lode_data_table_release(&table);
		free(text);
	}
}

/* ---- ARFF ---- */

static void arff_is_read_dense_and_sparse(void **state)
{
	struct lode_data_table table;

	(void)state;
	read_well(&table, "% runs\n@RELATION r\n\n@attribute size numeric\n@attribute 'the time' real\n"
			  "@attribute kind {a, 'b c'}\n@attribute note string\n@data\n"
			  "1, 2.5, a, \"x,y\"\n2,?,'b c', 'it\\'s'\n% no row\n{0 3, 2 'b c'}\n{}\n");
	assert_int_equal(table.rows, 4);
	assert_string_equal(table.columns[1].name, "the time");
	assert_true(table.columns[1].numbers[0] == 2.5 && isnan(table.columns[1].numbers[1]));
	assert_true(table.columns[0].numbers[2] == 3 && table.columns[1].numbers[2] == 0);
	assert_string_equal(category(&table.columns[2], 1), "b c");
	assert_string_equal(category(&table.columns[2], 2), "b c");
	assert_string_equal(category(&table.columns[2], 3), "a");
	assert_string_equal(category(&table.columns[3], 1), "it's");
	lode_data_table_release(&table);
}

static void bad_arff_is_refused_with_its_line(void **state)
{
	(void)state;
	refused("@relation r\n@attribute a numeric\n", "t.csv:2: the file ends before @data");
	refused("@relation r\n@data\n1\n", "t.csv:2: @data without an @attribute");
	refused("@relation r\n@attribute a numeric\n@data\n", "t.csv:3: there are no rows after @data");
	refused("@relation r\n@attribute a numeric\n@data\nb\n",
		"t.csv:4: attribute 'a' is numeric and holds 'b'");
	refused("@relation r\n@attribute a numeric\n@data\n1,2\n", "t.csv:4: 2 or more cells");
	refused("@relation r\n@attribute a numeric\n@attribute b numeric\n@data\n1\n", "t.csv:5: 1 or more cells");
	refused("@relation r\n@attribute a numeric\n@data\n{1 2}\n", "t.csv:4: a sparse cell must begin");
	refused("@relation r\n@attribute a numeric\n@data\n{0 2, 0 3}\n", "t.csv:4: a sparse row names the same");
	refused("@relation r\n@attribute a numeric\n@data\n{0 2\n", "t.csv:4: a sparse row is not closed");
	refused("@relation r\n@attribute a wood\n", "t.csv:2: an attribute's type must be");
	refused("@relation r\nhello\n", "t.csv:2: neither @relation");
	refused("@relation r\n@attribute a numeric\n@attribute a real\n", "t.csv:3: column 2 is called 'a'");
}

/* ---- features ---- */

static void make_features(struct lode_features *features, const struct lode_data_table *table)
{
	unsigned char use[16];
	uint32_t rows[64];

	memset(use, 1, sizeof(use));
	for (uint32_t i = 0; i < table->rows; i++)
		rows[i] = i;
	assert_int_equal(lode_features_make(features, table, use, rows, table->rows, NULL), 0);
}

static void constant_and_duplicate_columns_are_folded(void **state)
{
	struct lode_data_table table;
	struct lode_features features;

	(void)state;
	read_well(&table, "a,b,c,d,e,f\n0,7,0,x,5,\n1,7,1,y,9,\n1,7,1,x,5,\n");
	make_features(&features, &table);
	assert_int_equal(features.constant_count, 2); /* b, f */
	assert_int_equal(features.constant[0], 1);
	assert_int_equal(features.constant[1], 5);
	assert_int_equal(features.count, 3);
	assert_int_equal(features.items[0].column_count, 2); /* a and c */
	assert_int_equal(features.items[0].columns[1], 2);
	assert_int_equal(features.items[1].kind, LODE_FEATURE_CATEGORY);
	assert_int_equal(features.items[2].kind, LODE_FEATURE_BITS);
	assert_true(features.items[2].threshold == 7);
	lode_features_release(&features);
	lode_data_table_release(&table);
}

static void a_missing_number_is_less_than_every_number(void **state)
{
	struct lode_data_table table;
	struct lode_features features;
	struct lode_test missing = { 0, 0 }, above_three = { 0, 1 };

	(void)state;
	read_well(&table, "a\n5\n?\n3\n");
	make_features(&features, &table);
	assert_int_equal(features.items[0].kind, LODE_FEATURE_RANKS);
	assert_int_equal(features.items[0].value_count, 3);
	assert_int_equal(lode_test_row(&features, missing, 1), 0);
	assert_int_equal(lode_test_row(&features, missing, 2), 1);
	assert_int_equal(lode_test_row(&features, above_three, 0), 1);
	assert_int_equal(lode_test_row(&features, above_three, 2), 0);
	lode_features_release(&features);
	lode_data_table_release(&table);
}

static void rows_of_bits_are_columns_of_bits_turned_over(void **state)
{
	uint64_t seed = 11;

	(void)state;
	for (int round = 0; round < 30; round++) {
		size_t rows = 1 + random_below(&seed, 300), columns = 1 + random_below(&seed, 200);
		struct lode_data_table table;
		struct lode_features features;
		unsigned char *use = malloc(columns);
		uint32_t *numbers = malloc(rows * sizeof(*numbers));

		lode_data_table_init(&table, rows);
		for (size_t i = 0; i < columns; i++) {
			struct lode_data_column *column = lode_data_table_add(&table, "c", 1, LODE_DATA_BINARY);

			for (size_t r = 0; r < rows; r++)
				if (random_below(&seed, 2))
					lode_bit_set(column->bits, r);
		}
		memset(use, 1, columns);
		for (size_t r = 0; r < rows; r++)
			numbers[r] = (uint32_t)r;
		assert_int_equal(lode_features_make(&features, &table, use, numbers, rows, NULL), 0);
		for (size_t r = 0; r < rows; r++)
			for (size_t f = 0; f < features.count; f++)
				assert_int_equal(lode_bit_get(features.by_row + r * features.row_words, f),
						 lode_bit_get(features.items[f].bits, r));
		lode_features_release(&features);
		lode_data_table_release(&table);
		free(use);
		free(numbers);
	}
}

/* ---- memory ---- */

static void memory_that_runs_out_is_a_clean_error(void **state)
{
	static const char *const texts[] = {
		"size,time,f0,color\n1,10.5,0,red\n2,20,1,\"bl\"\"ue\"\n3,30,1,x\n",
		"@relation r\n@attribute a numeric\n@attribute b {x,'y z'}\n@data\n1,x\n{1 'y z'}\n",
	};

	(void)state;
	for (size_t i = 0; i < 2; i++)
		for (uint64_t nth = 1;; nth++) {
			struct lode_data_table table;
			struct lode_error error;
			uint64_t asked;
			int code;

			lode_memory_fail_at(nth, 0);
			code = read_text(&table, texts[i], strlen(texts[i]), &error);
			asked = lode_memory_asked();
			lode_memory_fail_at(0, 0);
			if (code == 0) {
				lode_data_table_release(&table);
				assert_true(asked < nth);
				break;
			}
			assert_int_equal(code, LODE_SYSTEM);
			assert_string_not_equal(error.text, "");
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_read_as_strtod_reads_them),
		cmocka_unit_test(what_is_no_number_is_distinguished),
		cmocka_unit_test(columns_are_binary_numeric_or_categorical),
		cmocka_unit_test(quotes_line_ends_and_separators_are_understood),
		cmocka_unit_test(bad_csv_is_refused_with_line_and_column),
		cmocka_unit_test(a_column_of_words_may_hold_inf),
		cmocka_unit_test(huge_rows_and_cells_are_refused),
		cmocka_unit_test(random_tables_come_back),
		cmocka_unit_test(arff_is_read_dense_and_sparse),
		cmocka_unit_test(bad_arff_is_refused_with_its_line),
		cmocka_unit_test(constant_and_duplicate_columns_are_folded),
		cmocka_unit_test(a_missing_number_is_less_than_every_number),
		cmocka_unit_test(rows_of_bits_are_columns_of_bits_turned_over),
		cmocka_unit_test(memory_that_runs_out_is_a_clean_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
