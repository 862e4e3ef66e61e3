/*
 * Columns: arrays of numbers with a JSON head, for the page (web/src/columns.ts reads
 * them). The size of the head (32 bits, little endian), the head, and from the next
 * multiple of 8 bytes the columns, each at a multiple of 8 bytes of its own.
 *
 * For a page on disk columns are coded, so that they pack well: the numbers themselves or
 * their zigzag differences from a prediction, as varints (LEB128) or as planes (the lowest
 * bytes of all numbers, then the next ones, and so on), whichever packs best. The prediction is the number before, plus the numbers that other columns have
 * there: a wait begins where the one before it ended. Columns with numbers that are
 * not whole, or from 2^50 on, stay as they are.
 */
#ifndef LODE_PAGE_PAGE_COLUMNS_H
#define LODE_PAGE_PAGE_COLUMNS_H

#include "base/json.h"

#define LODE_PAGE_COLUMN_STEPS 2

struct lode_page_column {
	const char *name;
	const char *type;
	size_t width; /* bytes a number */
	size_t count;
	size_t offset;
	size_t size;
	const char *steps[LODE_PAGE_COLUMN_STEPS]; /* columns of the prediction */
	int coded;
	int predicted;
	unsigned planes; /* 0: varints */
};

struct lode_page_columns {
	struct lode_buffer data;
	struct lode_page_column *items;
	size_t count;
	size_t capacity;
	int failed; /* memory ran out */
};

/* A zeroed struct has no columns. */
void lode_page_columns_release(struct lode_page_columns *columns);

/* Columns get their room at once and are filled by the caller; NULL when memory ran out. Names are not copied. */
double *lode_page_columns_f64(struct lode_page_columns *columns, const char *name, size_t count);
uint32_t *lode_page_columns_u32(struct lode_page_columns *columns, const char *name, size_t count);
uint8_t *lode_page_columns_u8(struct lode_page_columns *columns, const char *name, size_t count);

/* The next number of `name` is near this one plus those that `first` and `second` (or NULL) have here. */
void lode_page_columns_predict(struct lode_page_columns *columns, const char *name, const char *first,
			       const char *second);
/* Codes all columns, once they are filled. */
void lode_page_columns_code(struct lode_page_columns *columns);

/* Writes the key `columns` into an unfinished head, after the last column. */
void lode_page_columns_json(const struct lode_page_columns *columns, struct lode_json *head);
/* Appends the whole. */
void lode_page_columns_pack(const struct lode_page_columns *columns, const struct lode_buffer *head,
			    struct lode_buffer *out);

#endif
