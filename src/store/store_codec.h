/*
 * Columns as bytes: how one column of a block is packed. Private to the store.
 *
 * A column is an array of unsigned numbers. Of three transforms (none; the steps from row to
 * row; the distance back from the row's own number, for parents in the stack tree) the one
 * with the smallest range is used. The smallest value is subtracted, and the rest is split
 * into byte planes: all lowest bytes, then all second bytes, and so on. Planes of equal bytes
 * become one byte, planes that zstd compresses well are compressed, and noise is stored as it
 * is. So reading is mostly copying, which makes 100 million events a second possible.
 *
 * Column header
 *	 0  1  column number
 *	 1  1  transform (enum lode_transform)
 *	 2  1  number of planes, 0 to 8
 *	 3  1  0
 *	 4  4  bytes of planes behind this header
 *	 8  8  base, added to every value
 *	16  8  start: the first value, for steps; the first row's number, for distances; else 0
 * Plane
 *	 0  1  0 stored, 1 zstd, 2 one byte for all
 *	 1  4  size of what follows
 */
#ifndef LODE_STORE_STORE_CODEC_H
#define LODE_STORE_STORE_CODEC_H

#include "base/buffer.h"
#include "base/cursor.h"

enum lode_transform {
	LODE_CODEC_PLAIN, /* value = base + planes */
	LODE_STEPS,       /* value = previous value + base + planes, the first = start */
	LODE_DISTANCE,    /* value = start + row - (base + planes) */
	LODE_TRANSFORMS,
};

#define LODE_COLUMN_HEADER_SIZE 24
/* A column of more bytes than this, which is text, is always plain: it is packed and unpacked as it is. */
#define LODE_CODEC_TEXT 65536

/* Scratch memory of one packer or unpacker; one per thread. */
struct lode_codec;

struct lode_codec *lode_codec_create(void);
void lode_codec_destroy(struct lode_codec *codec);

/* One column in memory: `count` numbers of `width` bytes (1, 2, 4 or 8). */
struct lode_column_view {
	const void *values;
	size_t count;
	unsigned width;
	unsigned plus_one; /* stored as value + 1 (wrapping in its width), so that "none", all ones, is 0 */
	uint64_t first_row;
	unsigned hot; /* read over and over: a plane is packed only where zstd makes it a third, else where it saves a fifth */
	unsigned fast; /* compress quickly, and less well */
};

/* Appends the packed column. Failure shows in buffer->failed. */
void lode_codec_pack(struct lode_codec *codec, struct lode_buffer *buffer, uint8_t number,
		     const struct lode_column_view *view);

/* A packed column, found but not unpacked. */
struct lode_packed {
	uint8_t number;
	uint8_t transform;
	uint8_t planes;
	uint64_t base;
	uint64_t start;
	const unsigned char *bytes;
	uint32_t size;
};

/* Steps over the next column of a payload. Returns 0, or -1 when the bytes are not one. */
int lode_codec_next(struct lode_cursor *payload, struct lode_packed *packed);
/*
 * Unpacks exactly `count` numbers of `width` bytes into `values`. Returns 0,
 * LODE_BAD_INPUT when the bytes do not yield them, or LODE_SYSTEM.
 */
int lode_codec_unpack(struct lode_codec *codec, const struct lode_packed *packed, void *values, size_t count,
		      unsigned width, unsigned plus_one);

#endif
