/*
 * Map results as bytes: numbers, and arrays of structs column by column, packed as the
 * columns of a stream file are (store_codec.h). For the payloads of map_cache.h.
 *
 * Readers accept any bytes: a count is checked against the number of bytes before
 * memory is allocated, and a failure is reported by the reader once, at the end.
 */
#ifndef LODE_STORE_MAP_COLUMNS_H
#define LODE_STORE_MAP_COLUMNS_H

#include "base/buffer.h"
#include "base/cursor.h"

#include <stddef.h>

struct lode_codec;

/* A number in a struct. */
struct lode_map_field {
	size_t offset;
	unsigned width; /* 1, 2, 4 or 8 bytes */
};

#define LODE_MAP_FIELD(type, member)                                                                              \
	{                                                                                                         \
		offsetof(type, member), sizeof(((type *)0)->member)                                               \
	}

/* Structs of `size` bytes and the fields of them that are written. */
struct lode_map_layout {
	size_t size;
	const struct lode_map_field *fields;
	size_t field_count;
};

struct lode_map_writer {
	struct lode_buffer buffer; /* the payload; `failed` when memory has run out */
	struct lode_codec *codec;
	uint64_t *values;
};

/* A zeroed struct is an empty writer. */
void lode_map_writer_release(struct lode_map_writer *writer);
void lode_map_write_number(struct lode_map_writer *writer, uint64_t number);
void lode_map_write_rows(struct lode_map_writer *writer, const void *items, size_t count,
			 const struct lode_map_layout *layout);

struct lode_map_reader {
	struct lode_cursor cursor;
	uint64_t rows_left; /* that the payload may still claim */
	struct lode_codec *codec;
	uint64_t *values;
	int code; /* 0, LODE_BAD_INPUT or LODE_SYSTEM: of the first failure */
};

/* A reader of a payload; release it. */
struct lode_map_reader lode_map_reader(struct lode_cursor payload);
void lode_map_reader_release(struct lode_map_reader *reader);
/* 0 after a failure, here and below. */
uint64_t lode_map_read_number(struct lode_map_reader *reader);
/* A number of rows that follow, at most `most`. */
size_t lode_map_read_count(struct lode_map_reader *reader, uint64_t most);
/* Fills the fields of `count` structs that are there. */
void lode_map_read_rows(struct lode_map_reader *reader, void *items, size_t count,
			const struct lode_map_layout *layout);
/* The same into fresh zeroed memory for `count` and one more, which the caller frees; NULL after a failure. */
void *lode_map_read_new_rows(struct lode_map_reader *reader, size_t count, const struct lode_map_layout *layout);
/* Marks the payload as damaged unless `is_right`. */
void lode_map_reader_expect(struct lode_map_reader *reader, int is_right);
/* Ends reading: remaining bytes are damage. Returns 0 or the code. */
int lode_map_reader_finish(struct lode_map_reader *reader);

#endif
