/*
 * Cursor: reads bytes from untrusted input. A read past the end yields zeros
 * and marks the cursor, so that a parser can read a whole structure and check
 * once whether it was complete. Numbers are little-endian unless `swap` is set.
 */
#ifndef LODE_BASE_CURSOR_H
#define LODE_BASE_CURSOR_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct lode_cursor {
	const unsigned char *next;
	const unsigned char *end;
	int failed; /* something was requested that was not there */
	int swap;   /* the bytes are big-endian */
};

static inline struct lode_cursor lode_cursor(const void *bytes, size_t size)
{
	const unsigned char *start = bytes;

	return (struct lode_cursor){ start, start + size, 0, 0 };
}

static inline size_t lode_cursor_left(const struct lode_cursor *cursor)
{
	return (size_t)(cursor->end - cursor->next);
}

/* `size` bytes in place, or NULL (and the mark) when there are fewer. */
static inline const void *lode_cursor_bytes(struct lode_cursor *cursor, uint64_t size)
{
	const void *bytes = cursor->next;

	if (size > lode_cursor_left(cursor)) {
		cursor->failed = 1;
		cursor->next = cursor->end;
		return NULL;
	}
	cursor->next += size;
	return bytes;
}

static inline uint8_t lode_cursor_u8(struct lode_cursor *cursor)
{
	const unsigned char *at = lode_cursor_bytes(cursor, 1);

	return at ? *at : 0;
}

static inline uint16_t lode_cursor_u16(struct lode_cursor *cursor)
{
	const void *at = lode_cursor_bytes(cursor, 2);
	uint16_t number = 0;

	if (at)
		memcpy(&number, at, sizeof(number));
	return cursor->swap ? __builtin_bswap16(number) : number;
}

static inline uint32_t lode_cursor_u32(struct lode_cursor *cursor)
{
	const void *at = lode_cursor_bytes(cursor, 4);
	uint32_t number = 0;

	if (at)
		memcpy(&number, at, sizeof(number));
	return cursor->swap ? __builtin_bswap32(number) : number;
}

static inline uint64_t lode_cursor_u64(struct lode_cursor *cursor)
{
	const void *at = lode_cursor_bytes(cursor, 8);
	uint64_t number = 0;

	if (at)
		memcpy(&number, at, sizeof(number));
	return cursor->swap ? __builtin_bswap64(number) : number;
}

/* LEB128; more than 64 bits is a failure. */
static inline uint64_t lode_cursor_varint(struct lode_cursor *cursor)
{
	uint64_t number = 0;

	if (cursor->next < cursor->end && *cursor->next < 0x80) /* most are small */
		return *cursor->next++;
	for (unsigned shift = 0; shift < 64; shift += 7) {
		uint8_t byte = lode_cursor_u8(cursor);

		if (shift == 63 && byte > 1)
			break;
		number |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return cursor->failed ? 0 : number;
	}
	cursor->failed = 1;
	return 0;
}

#endif
