/*
 * The column codec: bytes taken for numbers are unpacked as they were packed, and
 * bytes taken for a packed column are refused or unpacked, never overrun.
 */
#include "fuzz.h"

#include "store/store_codec.h"

#include <stdlib.h>
#include <string.h>

static struct lode_codec *codec;

static void there_and_back(const uint8_t *bytes, size_t size, uint8_t shape)
{
	unsigned width = 1u << (shape & 3), plus_one = shape >> 2 & 1;
	struct lode_column_view view = { NULL, size / width, width, plus_one, shape >> 3, 0, 0 };
	struct lode_buffer buffer = { 0 };
	uint8_t *values = malloc(size + 1), *back = malloc(size + 1);
	struct lode_packed packed;
	struct lode_cursor cursor;

	fuzz_require(values && back, "memory");
	memcpy(values, bytes, size);
	view.values = values;
	lode_codec_pack(codec, &buffer, shape, &view);
	fuzz_require(!buffer.failed, "a column can be packed");
	cursor = lode_cursor(buffer.bytes, buffer.size);
	fuzz_require(lode_codec_next(&cursor, &packed) == 0 && !lode_cursor_left(&cursor),
		     "a column is found again");
	fuzz_require(packed.number == shape, "a column keeps its number");
	fuzz_require(lode_codec_unpack(codec, &packed, back, view.count, width, plus_one) == 0, "it is unpacked");
	fuzz_require(memcmp(values, back, view.count * width) == 0, "it is as it was");
	lode_buffer_release(&buffer);
	free(values);
	free(back);
}

static void unpack_anything(const uint8_t *bytes, size_t size, unsigned width, size_t count, unsigned plus_one)
{
	struct lode_cursor cursor = lode_cursor(bytes, size);
	struct lode_packed packed;

	while (lode_cursor_left(&cursor) && lode_codec_next(&cursor, &packed) == 0) {
		uint8_t *values = malloc(count * width + 1);
		int code;

		fuzz_require(values != NULL, "memory");
		code = lode_codec_unpack(codec, &packed, values, count, width, plus_one);
		fuzz_require(code == 0 || code == LODE_BAD_INPUT, "bytes are a column or they are not");
		free(values);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	uint16_t count;

	if (size < 4)
		return 0;
	if (!codec)
		codec = lode_codec_create();
	fuzz_require(codec != NULL, "memory");
	there_and_back(bytes + 4, size - 4, bytes[0]);
	memcpy(&count, bytes + 1, sizeof(count));
	unpack_anything(bytes + 4, size - 4, 1u << (bytes[3] & 3), count % 4096, bytes[3] >> 2 & 1);
	return 0;
}
