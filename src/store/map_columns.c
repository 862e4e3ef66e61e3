/*
 * Map results as bytes: see map_columns.h. Rows are cut into pieces of some thousand, so
 * that the room for one column stays small.
 */
#include "store/map_columns.h"

#include "base/error.h"
#include "base/memory.h"
#include "store/store_codec.h"

#include <string.h>

#define PIECE 65536u

/* Rows that a payload may hold: a few, and more in proportion to its size, as in stream files. */
#define ROWS_ALWAYS (1u << 20)
#define ROWS_A_BYTE 16

static void copy_number(void *to, const void *from, unsigned width)
{
	switch (width) {
	case 1:
		memcpy(to, from, 1);
		break;
	case 2:
		memcpy(to, from, 2);
		break;
	case 4:
		memcpy(to, from, 4);
		break;
	default:
		memcpy(to, from, 8);
	}
}

/* ---- writing ---- */

void lode_map_writer_release(struct lode_map_writer *writer)
{
	lode_codec_destroy(writer->codec);
	lode_free(writer->values);
	lode_buffer_release(&writer->buffer);
	memset(writer, 0, sizeof(*writer));
}

void lode_map_write_number(struct lode_map_writer *writer, uint64_t number)
{
	lode_buffer_varint(&writer->buffer, number);
}

static int prepare_codec(struct lode_codec **codec, uint64_t **values)
{
	if (!*codec)
		*codec = lode_codec_create();
	if (!*values)
		*values = lode_calloc(PIECE, sizeof(**values));
	return *codec && *values ? 0 : LODE_SYSTEM;
}

static void write_column(struct lode_map_writer *writer, const char *items, size_t count, size_t stride,
			 const struct lode_map_field *field)
{
	const char *next = items + field->offset;
	char *values = (char *)writer->values;

	for (size_t i = 0; i < count; i++, next += stride)
		copy_number(values + i * field->width, next, field->width);
	lode_codec_pack(writer->codec, &writer->buffer, 0,
			&(struct lode_column_view){ .values = values, .count = count, .width = field->width });
}

void lode_map_write_rows(struct lode_map_writer *writer, const void *items, size_t count,
			 const struct lode_map_layout *layout)
{
	const char *next = items;

	if (prepare_codec(&writer->codec, &writer->values) < 0) {
		writer->buffer.failed = 1;
		return;
	}
	for (size_t done = 0; done < count && !writer->buffer.failed; done += PIECE) {
		size_t piece = count - done < PIECE ? count - done : PIECE;

		for (size_t i = 0; i < layout->field_count; i++)
			write_column(writer, next, piece, layout->size, &layout->fields[i]);
		next += piece * layout->size;
	}
}

/* ---- reading ---- */

struct lode_map_reader lode_map_reader(struct lode_cursor payload)
{
	return (struct lode_map_reader){
		.cursor = payload,
		.rows_left = ROWS_ALWAYS + (uint64_t)lode_cursor_left(&payload) * ROWS_A_BYTE,
	};
}

void lode_map_reader_release(struct lode_map_reader *reader)
{
	lode_codec_destroy(reader->codec);
	lode_free(reader->values);
	reader->codec = NULL;
	reader->values = NULL;
}

static void fail(struct lode_map_reader *reader, int code)
{
	if (!reader->code)
		reader->code = code;
}

void lode_map_reader_expect(struct lode_map_reader *reader, int is_right)
{
	if (!is_right)
		fail(reader, LODE_BAD_INPUT);
}

uint64_t lode_map_read_number(struct lode_map_reader *reader)
{
	uint64_t number = reader->code ? 0 : lode_cursor_varint(&reader->cursor);

	lode_map_reader_expect(reader, !reader->cursor.failed);
	return number;
}

size_t lode_map_read_count(struct lode_map_reader *reader, uint64_t most)
{
	uint64_t count = lode_map_read_number(reader);

	lode_map_reader_expect(reader, count <= most && count <= reader->rows_left);
	return reader->code ? 0 : (size_t)count;
}

static void read_column(struct lode_map_reader *reader, char *items, size_t count, size_t stride,
			const struct lode_map_field *field)
{
	char *values = (char *)reader->values, *next = items + field->offset;
	struct lode_packed packed;
	int code = lode_codec_next(&reader->cursor, &packed) < 0 ? LODE_BAD_INPUT : 0;

	if (!code)
		code = lode_codec_unpack(reader->codec, &packed, values, count, field->width, 0);
	if (code) {
		fail(reader, code);
		return;
	}
	for (size_t i = 0; i < count; i++, next += stride)
		copy_number(next, values + i * field->width, field->width);
}

void lode_map_read_rows(struct lode_map_reader *reader, void *items, size_t count,
			const struct lode_map_layout *layout)
{
	char *next = items;

	if (!reader->code && prepare_codec(&reader->codec, &reader->values) < 0)
		fail(reader, LODE_SYSTEM);
	for (size_t done = 0; done < count && !reader->code; done += PIECE) {
		size_t piece = count - done < PIECE ? count - done : PIECE;

		for (size_t i = 0; i < layout->field_count && !reader->code; i++)
			read_column(reader, next, piece, layout->size, &layout->fields[i]);
		next += piece * layout->size;
	}
}

void *lode_map_read_new_rows(struct lode_map_reader *reader, size_t count, const struct lode_map_layout *layout)
{
	void *items;

	lode_map_reader_expect(reader, count <= reader->rows_left);
	if (reader->code)
		return NULL;
	reader->rows_left -= count;
	items = lode_calloc(count + 1, layout->size);
	if (!items)
		fail(reader, LODE_SYSTEM);
	else
		lode_map_read_rows(reader, items, count, layout);
	if (!reader->code)
		return items;
	lode_free(items);
	return NULL;
}

int lode_map_reader_finish(struct lode_map_reader *reader)
{
	lode_map_reader_expect(reader, !lode_cursor_left(&reader->cursor));
	return reader->code;
}
