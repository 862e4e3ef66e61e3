/*
 * Columns as bytes: see store_codec.h.
 *
 * Both ways go through arrays of 64-bit numbers held in the codec, in cache for a
 * block of 65,536 rows. The loops over planes are written so that compilers turn
 * them into vector code: one function per number of planes, no branches inside.
 * Packing costs time while a program is being recorded, so a transform is
 * abandoned as soon as some rows show that it saves nothing, and its output is
 * split into planes a few rows at a time, in the L1 cache.
 */
#include "store/store_codec.h"

#include "base/error.h"
#include "base/memory.h"

#include <string.h>
#include <zstd.h>

#define ZSTD_LEVEL 1
/* Finds only what repeats at once, in a tenth of the time. */
#define ZSTD_LEVEL_FAST -100

enum plane_codec {
	PLANE_STORED,
	PLANE_ZSTD,
	PLANE_ONE_BYTE,
};

#define PLANE_HEADER_SIZE 5

struct lode_codec {
	uint64_t *numbers; /* the column as 64-bit numbers */
	size_t number_capacity;
	unsigned char *planes; /* up to 8 planes, one after the other */
	size_t plane_capacity;
	ZSTD_CCtx *compress;
	ZSTD_DCtx *decompress;
};

struct lode_codec *lode_codec_create(void)
{
	return lode_calloc(1, sizeof(struct lode_codec));
}

void lode_codec_destroy(struct lode_codec *codec)
{
	if (!codec)
		return;
	ZSTD_freeCCtx(codec->compress);
	ZSTD_freeDCtx(codec->decompress);
	lode_free(codec->numbers);
	lode_free(codec->planes);
	lode_free(codec);
}

/* Makes room for `count` numbers, unless they are elsewhere, and for `planes` planes of them. */
static int make_room(struct lode_codec *codec, size_t count, int elsewhere, unsigned planes)
{
	if ((!elsewhere && LODE_GROW(codec->numbers, codec->number_capacity, count) < 0) ||
	    lode_grow(&codec->planes, &codec->plane_capacity, count * (planes ? planes : 1), 1) < 0)
		return LODE_SYSTEM;
	return 0;
}

/* Text comes in columns of megabytes; eight bytes for each of them would be too much. */
static int is_text(size_t count, unsigned width, unsigned plus_one)
{
	return width == 1 && !plus_one && count > LODE_CODEC_TEXT;
}

/* ---- packing ---- */

#define WIDEN(type)                                                                                               \
	do {                                                                                                      \
		const type *values = view->values;                                                                \
		type bias = view->plus_one ? 1 : 0;                                                               \
		size_t count = view->count;                                                                       \
		for (size_t i = 0; i < count; i++)                                                                \
			numbers[i] = (type)(values[i] + bias);                                                    \
	} while (0)

static int is_wide(const struct lode_column_view *view)
{
	return view->width == 8 && !view->plus_one;
}

static void widen(const struct lode_column_view *view, uint64_t *restrict numbers)
{
	switch (view->width) {
	case 1:
		WIDEN(uint8_t);
		break;
	case 2:
		WIDEN(uint16_t);
		break;
	case 4:
		WIDEN(uint32_t);
		break;
	default:
		WIDEN(uint64_t);
	}
}

/* Bytes that a number needs. */
static unsigned bytes_of(uint64_t number)
{
	return number ? (71 - (unsigned)__builtin_clzll(number)) / 8 : 0;
}

/* A range of signed values: what a transform leaves. */
struct range {
	int64_t low;
	int64_t high;
};

static void widen_range(struct range *range, uint64_t value)
{
	int64_t number = (int64_t)value;

	range->low = number < range->low ? number : range->low;
	range->high = number > range->high ? number : range->high;
}

static uint64_t range_size(const struct range *range)
{
	return (uint64_t)range->high - (uint64_t)range->low;
}

/* Rows that are looked at, or cut, at a time. */
#define SOME_ROWS 512

/*
 * The number of row `i` as this transform sees it; differences wrap, as do the sums
 * that undo them. The first row of steps is the start itself, and not requested.
 */
static inline __attribute__((always_inline)) uint64_t see(enum lode_transform transform, const uint64_t *numbers,
							  size_t i, uint64_t first_row)
{
	switch (transform) {
	case LODE_STEPS:
		return numbers[i] - numbers[i - 1];
	case LODE_DISTANCE:
		return first_row + i - numbers[i];
	default:
		return numbers[i];
	}
}

/* Whether what this transform leaves needs fewer bytes than `*size` does; fills `*base` and `*size` then. */
static inline __attribute__((always_inline)) int is_smaller(enum lode_transform transform, const uint64_t *numbers,
							    size_t count, uint64_t first_row, uint64_t *base,
							    uint64_t *size)
{
	struct range range = { INT64_MAX, INT64_MIN };
	unsigned bytes = bytes_of(*size);
	size_t i = transform == LODE_STEPS;

	if (!bytes || i >= count)
		return 0;
	while (i < count) {
		size_t end = count - i < SOME_ROWS ? count : i + SOME_ROWS;

		for (; i < end; i++)
			widen_range(&range, see(transform, numbers, i, first_row));
		if (bytes_of(range_size(&range)) >= bytes)
			return 0;
	}
	*base = (uint64_t)range.low;
	*size = range_size(&range);
	return 1;
}

/* Several lanes, so that none waits for the one before. */
#define LANES 8

static void find_range(const uint64_t *numbers, size_t count, uint64_t *base, uint64_t *size)
{
	uint64_t low[LANES], high[LANES];
	size_t i = 0;

	for (size_t lane = 0; lane < LANES; lane++)
		low[lane] = high[lane] = numbers[0];
	for (; i + LANES <= count; i += LANES)
		for (size_t lane = 0; lane < LANES; lane++) {
			low[lane] = numbers[i + lane] < low[lane] ? numbers[i + lane] : low[lane];
			high[lane] = numbers[i + lane] > high[lane] ? numbers[i + lane] : high[lane];
		}
	for (; i < count; i++) {
		low[0] = numbers[i] < low[0] ? numbers[i] : low[0];
		high[0] = numbers[i] > high[0] ? numbers[i] : high[0];
	}
	for (size_t lane = 1; lane < LANES; lane++) {
		low[0] = low[lane] < low[0] ? low[lane] : low[0];
		high[0] = high[lane] > high[0] ? high[lane] : high[0];
	}
	*base = low[0];
	*size = high[0] - low[0];
}

static enum lode_transform choose(const uint64_t *numbers, size_t count, uint64_t first_row, uint64_t *base,
				  uint64_t *size)
{
	enum lode_transform best = LODE_CODEC_PLAIN;

	find_range(numbers, count, base, size);
	if (is_smaller(LODE_STEPS, numbers, count, first_row, base, size))
		best = LODE_STEPS;
	if (is_smaller(LODE_DISTANCE, numbers, count, first_row, base, size))
		best = LODE_DISTANCE;
	return best;
}

/* How small zstd must make a plane of this column, for unpacking takes more time than copying. */
static size_t worth_of(const struct lode_column_view *view)
{
	return view->hot ? view->count / 3 : view->count - view->count / 5;
}

static void pack_plane(struct lode_codec *codec, struct lode_buffer *buffer, const unsigned char *plane,
		       const struct lode_column_view *view)
{
	size_t count = view->count;
	size_t bound = ZSTD_compressBound(count);
	char *room = lode_buffer_room(buffer, PLANE_HEADER_SIZE + (bound > count ? bound : count));
	size_t size = count;
	enum plane_codec kind = PLANE_STORED;

	if (!room)
		return;
	if (memcmp(plane, plane + 1, count - 1) == 0) {
		kind = PLANE_ONE_BYTE;
		size = 1;
	} else {
		size_t packed = ZSTD_compressCCtx(codec->compress, room + PLANE_HEADER_SIZE, bound, plane, count,
						  view->fast ? ZSTD_LEVEL_FAST : ZSTD_LEVEL);

		if (!ZSTD_isError(packed) && packed < worth_of(view)) {
			kind = PLANE_ZSTD;
			size = packed;
		}
	}
	lode_buffer_byte(buffer, (char)kind);
	lode_buffer_u32(buffer, (uint32_t)size);
	if (kind == PLANE_ZSTD)
		buffer->size += size;
	else
		lode_buffer_add(buffer, plane, size);
}

/* What a transform leaves of `count` rows from `first` on. */
static void leave(enum lode_transform transform, const uint64_t *numbers, size_t first, size_t count,
		  uint64_t first_row, uint64_t base, uint64_t *left)
{
	size_t i = 0;

	switch (transform) {
	case LODE_STEPS:
		if (!first)
			left[i++] = 0;
		for (; i < count; i++)
			left[i] = see(LODE_STEPS, numbers, first + i, first_row) - base;
		break;
	case LODE_DISTANCE:
		for (; i < count; i++)
			left[i] = see(LODE_DISTANCE, numbers, first + i, first_row) - base;
		break;
	default:
		for (; i < count; i++)
			left[i] = see(LODE_CODEC_PLAIN, numbers, first + i, first_row) - base;
	}
}

static void cut_into_planes(struct lode_codec *codec, enum lode_transform transform, const uint64_t *numbers,
			    size_t count, uint64_t first_row, uint64_t base, unsigned planes)
{
	uint64_t left[SOME_ROWS];

	for (size_t first = 0; planes && first < count; first += SOME_ROWS) {
		size_t rows = count - first < SOME_ROWS ? count - first : SOME_ROWS;

		leave(transform, numbers, first, rows, first_row, base, left);
		for (unsigned plane = 0; plane < planes; plane++) {
			unsigned char *bytes = codec->planes + plane * count + first;

			for (size_t i = 0; i < rows; i++)
				bytes[i] = (unsigned char)(left[i] >> (8 * plane));
		}
	}
}

static void write_header(struct lode_buffer *buffer, uint8_t number, enum lode_transform transform,
			 unsigned planes, uint64_t base, uint64_t start)
{
	unsigned char first[4] = { number, (unsigned char)transform, (unsigned char)planes, 0 };

	lode_buffer_add(buffer, first, sizeof(first));
	lode_buffer_u32(buffer, 0); /* patched when the planes are written */
	lode_buffer_u64(buffer, base);
	lode_buffer_u64(buffer, start);
}

/* Writes into the header at `header` how many bytes of planes came behind it. */
static void patch_size(struct lode_buffer *buffer, size_t header)
{
	uint32_t stored = (uint32_t)(buffer->size - header - LODE_COLUMN_HEADER_SIZE);

	for (unsigned i = 0; i < 4 && !buffer->failed; i++)
		buffer->bytes[header + 4 + i] = (char)(stored >> (8 * i));
}

static void pack_text(struct lode_codec *codec, struct lode_buffer *buffer, uint8_t number,
		      const struct lode_column_view *view)
{
	size_t header = buffer->size;

	write_header(buffer, number, LODE_CODEC_PLAIN, 1, 0, 0);
	pack_plane(codec, buffer, view->values, view);
	patch_size(buffer, header);
}

void lode_codec_pack(struct lode_codec *codec, struct lode_buffer *buffer, uint8_t number,
		     const struct lode_column_view *view)
{
	size_t header = buffer->size;
	size_t count = view->count;
	const uint64_t *numbers;
	uint64_t base = 0, size = 0, start = 0;
	enum lode_transform transform = LODE_CODEC_PLAIN;
	unsigned planes;

	if (!codec->compress)
		codec->compress = ZSTD_createCCtx();
	if (!codec->compress) {
		buffer->failed = 1;
		return;
	}
	if (is_text(count, view->width, view->plus_one)) {
		pack_text(codec, buffer, number, view);
		return;
	}
	if (make_room(codec, count, is_wide(view), 8) < 0) {
		buffer->failed = 1;
		return;
	}
	numbers = is_wide(view) ? view->values : codec->numbers;
	if (!is_wide(view))
		widen(view, codec->numbers);
	if (count)
		transform = choose(numbers, count, view->first_row, &base, &size);
	planes = bytes_of(size);
	if (transform == LODE_STEPS)
		start = numbers[0];
	else if (transform == LODE_DISTANCE)
		start = view->first_row;
	cut_into_planes(codec, transform, numbers, count, view->first_row, base, planes);
	write_header(buffer, number, transform, planes, base, start);
	for (unsigned plane = 0; plane < planes; plane++)
		pack_plane(codec, buffer, codec->planes + plane * count, view);
	patch_size(buffer, header);
}

/* ---- unpacking ---- */

int lode_codec_next(struct lode_cursor *payload, struct lode_packed *packed)
{
	packed->number = lode_cursor_u8(payload);
	packed->transform = lode_cursor_u8(payload);
	packed->planes = lode_cursor_u8(payload);
	if (lode_cursor_u8(payload) != 0)
		payload->failed = 1;
	packed->size = lode_cursor_u32(payload);
	packed->base = lode_cursor_u64(payload);
	packed->start = lode_cursor_u64(payload);
	packed->bytes = lode_cursor_bytes(payload, packed->size);
	if (payload->failed || packed->transform >= LODE_TRANSFORMS || packed->planes > 8)
		return -1;
	return 0;
}

/* Where the bytes of a plane can be read: in place when stored, else in `scratch`; NULL when they are damaged. */
static const unsigned char *plane_bytes(struct lode_codec *codec, struct lode_cursor *cursor,
					unsigned char *scratch, size_t count)
{
	uint8_t kind = lode_cursor_u8(cursor);
	uint32_t size = lode_cursor_u32(cursor);
	const unsigned char *bytes = lode_cursor_bytes(cursor, size);

	if (!bytes)
		return NULL;
	switch (kind) {
	case PLANE_STORED:
		return size == count ? bytes : NULL;
	case PLANE_ONE_BYTE:
		if (size != 1)
			return NULL;
		memset(scratch, bytes[0], count);
		return scratch;
	case PLANE_ZSTD:
		if (ZSTD_decompressDCtx(codec->decompress, scratch, count, bytes, size) != count)
			return NULL;
		return scratch;
	default:
		return NULL;
	}
}

/* Joins `planes` planes; called with constants, so that each becomes straight vector code. */
static inline __attribute__((always_inline)) void join64(uint64_t *restrict values,
							 const unsigned char *const *planes, size_t count,
							 uint64_t base, const unsigned number)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t value = 0;

		for (unsigned plane = 0; plane < number; plane++)
			value |= (uint64_t)planes[plane][i] << (8 * plane);
		values[i] = base + value;
	}
}

static inline __attribute__((always_inline)) void join32(uint32_t *restrict values,
							 const unsigned char *const *planes, size_t count,
							 uint32_t base, const unsigned number)
{
	for (size_t i = 0; i < count; i++) {
		uint32_t value = 0;

		for (unsigned plane = 0; plane < number; plane++)
			value |= (uint32_t)planes[plane][i] << (8 * plane);
		values[i] = base + value;
	}
}

#define JOIN_CASES(join, values, base)                                                                            \
	case 0:                                                                                                   \
		join(values, planes, count, base, 0);                                                             \
		break;                                                                                            \
	case 1:                                                                                                   \
		join(values, planes, count, base, 1);                                                             \
		break;                                                                                            \
	case 2:                                                                                                   \
		join(values, planes, count, base, 2);                                                             \
		break;                                                                                            \
	case 3:                                                                                                   \
		join(values, planes, count, base, 3);                                                             \
		break;                                                                                            \
	case 4:                                                                                                   \
		join(values, planes, count, base, 4);                                                             \
		break

static void join_any64(uint64_t *values, const unsigned char *const *planes, size_t count, uint64_t base,
		       unsigned number)
{
	switch (number) {
		JOIN_CASES(join64, values, base);
	case 5:
		join64(values, planes, count, base, 5);
		break;
	case 6:
		join64(values, planes, count, base, 6);
		break;
	case 7:
		join64(values, planes, count, base, 7);
		break;
	default:
		join64(values, planes, count, base, 8);
	}
}

static void join_any32(uint32_t *values, const unsigned char *const *planes, size_t count, uint32_t base,
		       unsigned number)
{
	switch (number) {
		JOIN_CASES(join32, values, base);
	}
}

static void add_to_bytes(uint8_t *values, const unsigned char *plane, size_t count, uint8_t base)
{
	for (size_t i = 0; i < count; i++)
		values[i] = (uint8_t)(base + (plane ? plane[i] : 0));
}

static void undo(const struct lode_packed *packed, uint64_t *numbers, size_t count)
{
	if (packed->transform == LODE_STEPS) {
		uint64_t value = packed->start;

		for (size_t i = 0; i < count; i++) {
			value = i ? value + numbers[i] : value;
			numbers[i] = value;
		}
	} else if (packed->transform == LODE_DISTANCE) {
		for (size_t i = 0; i < count; i++)
			numbers[i] = packed->start + i - numbers[i];
	}
}

#define NARROW(type)                                                                                              \
	do {                                                                                                      \
		type *narrow = values;                                                                            \
		type bias = plus_one ? 1 : 0;                                                                     \
		for (size_t i = 0; i < count; i++)                                                                \
			narrow[i] = (type)(numbers[i] - bias);                                                    \
	} while (0)

static void narrow_to(void *values, const uint64_t *numbers, size_t count, unsigned width, unsigned plus_one)
{
	switch (width) {
	case 1:
		NARROW(uint8_t);
		break;
	case 2:
		NARROW(uint16_t);
		break;
	case 4:
		NARROW(uint32_t);
		break;
	default:
		NARROW(uint64_t);
	}
}

static int find_planes(struct lode_codec *codec, const struct lode_packed *packed, size_t count,
		       const unsigned char *planes[8])
{
	struct lode_cursor cursor = lode_cursor(packed->bytes, packed->size);

	for (unsigned plane = 0; plane < packed->planes; plane++) {
		planes[plane] = plane_bytes(codec, &cursor, codec->planes + plane * count, count);
		if (!planes[plane])
			return LODE_BAD_INPUT;
	}
	return lode_cursor_left(&cursor) ? LODE_BAD_INPUT : 0;
}

/* Whether a value wider than the column could come out; such bytes are not what the packer writes. */
static int too_wide(const struct lode_packed *packed, const uint64_t *numbers, size_t count, unsigned width)
{
	uint64_t all = 0;

	if (width == 8 || packed->transform == LODE_CODEC_PLAIN)
		return 0;
	for (size_t i = 0; i < count; i++)
		all |= numbers[i];
	return bytes_of(all) > width;
}

int lode_codec_unpack(struct lode_codec *codec, const struct lode_packed *packed, void *values, size_t count,
		      unsigned width, unsigned plus_one)
{
	const unsigned char *planes[8];
	uint64_t *numbers;
	int in_place; /* needs no wider numbers on the way */

	if (count == 0)
		return packed->planes == 0 && packed->size == 0 ? 0 : LODE_BAD_INPUT;
	if (packed->transform == LODE_CODEC_PLAIN && (packed->planes > width || bytes_of(packed->base) > width))
		return LODE_BAD_INPUT;
	if (!codec->decompress)
		codec->decompress = ZSTD_createDCtx();
	in_place = (packed->transform == LODE_CODEC_PLAIN && (width == 4 || width == 1)) ||
		   (width == 8 && !plus_one);
	if (!in_place && is_text(count, width, plus_one))
		return LODE_BAD_INPUT;
	if (!codec->decompress || make_room(codec, count, in_place, packed->planes) < 0)
		return LODE_SYSTEM;
	if (find_planes(codec, packed, count, planes) < 0)
		return LODE_BAD_INPUT;
	if (packed->transform == LODE_CODEC_PLAIN && width == 4) {
		join_any32(values, planes, count, (uint32_t)packed->base - (plus_one ? 1 : 0), packed->planes);
		return 0;
	}
	if (packed->transform == LODE_CODEC_PLAIN && width == 1) {
		add_to_bytes(values, packed->planes ? planes[0] : NULL, count,
			     (uint8_t)(packed->base - (plus_one ? 1 : 0)));
		return 0;
	}
	numbers = width == 8 && !plus_one ? values : codec->numbers;
	join_any64(numbers, planes, count, packed->base, packed->planes);
	undo(packed, numbers, count);
	if (too_wide(packed, numbers, count, width))
		return LODE_BAD_INPUT;
	if (numbers != values)
		narrow_to(values, numbers, count, width, plus_one);
	return 0;
}
