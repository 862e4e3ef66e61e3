/*
 * Columns: arrays of numbers with a JSON head, for the page (web/src/columns.ts reads
 * them). The size of the head (32 bits, little endian), the head, and from the next
 * multiple of 8 bytes the columns, each at a multiple of 8 bytes of its own.
 */
#ifndef LODE_PAGE_PAGE_COLUMNS_H
#define LODE_PAGE_PAGE_COLUMNS_H

#include "base/json.h"

struct lode_page_columns {
	struct lode_buffer data;
	struct lode_buffer list; /* the JSON that describes them */
	struct lode_json json;
};

void lode_page_columns_init(struct lode_page_columns *columns);
void lode_page_columns_release(struct lode_page_columns *columns);

/* Columns get their room at once and are filled by the caller; NULL when memory ran out. */
double *lode_page_columns_f64(struct lode_page_columns *columns, const char *name, size_t count);
uint32_t *lode_page_columns_u32(struct lode_page_columns *columns, const char *name, size_t count);
uint8_t *lode_page_columns_u8(struct lode_page_columns *columns, const char *name, size_t count);

/* Writes the key `columns` into a head that is under way, after the last column. */
void lode_page_columns_json(struct lode_page_columns *columns, struct lode_json *head);
/* Appends the whole. */
void lode_page_columns_pack(const struct lode_page_columns *columns, const struct lode_buffer *head, struct lode_buffer *out);

#endif
