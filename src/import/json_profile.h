/*
 * What importers of JSON profiles share: the whole file as a checked document,
 * numbers as nanoseconds, frames by name and file, and tables in columns.
 */
#ifndef LODE_IMPORT_JSON_PROFILE_H
#define LODE_IMPORT_JSON_PROFILE_H

#include "base/json_read.h"
#include "import/import.h"

/* Whether `text` occurs in the bytes. */
int lode_sniff_has(const unsigned char *bytes, size_t size, const char *text);

/* A document on its way to a stream. */
struct lode_json_import {
	struct lode_input *input;
	const struct lode_import_options *options;
	struct lode_error *error;
	struct lode_dictionary dictionary;
	struct lode_stream stream;
	struct lode_buffer text, file; /* room for strings */
	int may_end_early;             /* a document that is cut off is read up to its last whole item */
	struct lode_buffer repaired;   /* such a document, with its brackets closed */
};

/*
 * Reads and checks the whole input, lets `fill` make a stream of it (returning 0 or
 * a negative code with a sentence in the error) and gives that to the sink.
 * `import` needs input, options and error, and is released at the end.
 */
int lode_json_import_run(struct lode_json_import *import, int (*fill)(void *context, struct lode_json_value root),
			 void *context, const struct lode_import_sink *sink);
/* The same for an input that is not one document: `fill` gets all of its bytes. */
int lode_json_import_bytes(struct lode_json_import *import,
			   int (*fill)(void *context, const unsigned char *bytes, size_t size), void *context,
			   const struct lode_import_sink *sink);

/* `NAME: what`. Returns LODE_BAD_INPUT. */
int lode_json_reject(const struct lode_json_import *import, const char *what);

/*
 * `value` times `unit` as nanoseconds, rounded; exact where both are whole.
 * Returns 0, or -1 for what is no number, below 0 or too large.
 */
int lode_json_ns(struct lode_json_value value, double unit, uint64_t *ns);

/* A whole number or the text of one, for the formats that write 64 bits as text; or `otherwise`. */
uint64_t lode_json_number_or(struct lode_json_value value, uint64_t otherwise);

/*
 * A string with its escapes resolved and a NUL behind it, in `buffer`, which is
 * emptied first; "" for other values. NULL when memory has run out.
 */
const char *lode_json_string(struct lode_json_value value, struct lode_buffer *buffer);

/* Cuts `end` off a text that ends so, and is not all there is; returns whether it did. */
int lode_text_drop_end(char *text, const char *end);

/*
 * The frame for a function and the file or URL it comes from, whose base name
 * becomes the module; either may be "". LODE_NONE when memory has run out.
 */
uint32_t lode_json_frame(struct lode_frames *frames, const char *function, const char *file);

/* One column of a table: a value a row. */
struct lode_json_column {
	struct lode_json_value *values;
	size_t count;
};

/* Columns that can be loaded together. */
#define LODE_JSON_COLUMNS 8

/*
 * The columns `names` of a table, which is either `{"name":[…],…}` or
 * `{"schema":{"name":INDEX,…},"data":[[…],…]}`. A column that is not there is
 * empty. The caller releases them, also after a failure. Returns 0 or LODE_SYSTEM.
 */
int lode_json_columns(struct lode_json_value value, const char *const names[], struct lode_json_column columns[],
		      size_t count);
/*
 * The same in two steps, for large tables whose rows are read once, from the first to the last: where the columns are, which
 * takes one pass over the table (whose walk is returned, for lode_json_pass_member), and their cells one after another.
 */
struct lode_json_table {
	struct lode_json_value schema, rows, columns[LODE_JSON_COLUMNS];
};

struct lode_json_walk lode_json_table_find(struct lode_json_value value, const char *const names[], size_t count,
					   struct lode_json_table *table);

struct lode_json_cells {
	struct lode_json_walk walk;     /* of an array */
	struct lode_json_column column; /* of rows */
	size_t next;                    /* of the column */
};

/* `names` and `count` as before. The caller releases them, also after a failure. Returns 0 or LODE_SYSTEM. */
int lode_json_table_cells(const struct lode_json_table *table, const char *const names[],
			  struct lode_json_cells cells[], size_t count);
void lode_json_cells_release(struct lode_json_cells cells[], size_t count);

static inline int lode_json_has_cells(const struct lode_json_cells *cells)
{
	return cells->walk.at != NULL || cells->next < cells->column.count;
}

/* An array as a column. */
int lode_json_array_column(struct lode_json_value array, struct lode_json_column *column);
void lode_json_columns_release(struct lode_json_column columns[], size_t count);
/* The value of a row; an absent one behind the end. */
static inline struct lode_json_value lode_json_cell(const struct lode_json_column *column, size_t row)
{
	return row < column->count ? column->values[row] : (struct lode_json_value){ NULL };
}

/* The next one as a number, or `otherwise`; the value itself where `value` asks for it. */
static inline double lode_json_next_double(struct lode_json_cells *cells, double otherwise,
					   struct lode_json_value *value)
{
	double number = otherwise;

	*value = (struct lode_json_value){ NULL };
	if (lode_json_item_double(&cells->walk, value, otherwise, &number) || cells->next >= cells->column.count)
		return number;
	*value = cells->column.values[cells->next++];
	return lode_json_double_or(*value, otherwise);
}

static inline uint64_t lode_json_next_u64(struct lode_json_cells *cells, uint64_t otherwise,
					  struct lode_json_value *value)
{
	uint64_t number = otherwise;

	*value = (struct lode_json_value){ NULL };
	if (lode_json_item_u64(&cells->walk, value, otherwise, &number) || cells->next >= cells->column.count)
		return number;
	*value = cells->column.values[cells->next++];
	return lode_json_u64_or(*value, otherwise);
}

/* The next one; an absent one behind the end. */
static inline struct lode_json_value lode_json_next_cell(struct lode_json_cells *cells)
{
	struct lode_json_value value = { NULL };

	if (!lode_json_item(&cells->walk, &value) && cells->next < cells->column.count)
		value = cells->column.values[cells->next++];
	return value;
}

#endif
