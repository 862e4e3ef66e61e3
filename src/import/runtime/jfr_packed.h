/*
 * The packed numbers of a Java Flight Recorder file: seven bits a byte, the lowest first; a ninth byte has eight.
 * They are most of a file, so they are read, and stepped over, several at a time.
 */
#ifndef LODE_IMPORT_JFR_PACKED_H
#define LODE_IMPORT_JFR_PACKED_H

#include "base/cursor.h"

#include <string.h>

/* Bit 7 of each of eight bytes: clear in the last byte of a packed number. */
#define LODE_JFR_HIGH_BITS 0x8080808080808080u

static inline uint64_t lode_jfr_long_packed(struct lode_cursor *cursor)
{
	uint64_t number = 0;

	for (unsigned shift = 0; shift < 56; shift += 7) {
		uint8_t byte = lode_cursor_u8(cursor);

		number |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return number;
	}
	return number | (uint64_t)lode_cursor_u8(cursor) << 56;
}

/* Reads one. Most are of one byte or two. */
static inline uint64_t lode_jfr_packed(struct lode_cursor *cursor)
{
	const unsigned char *at = cursor->next;

	if (cursor->end - at < 2)
		return lode_jfr_long_packed(cursor);
	if (at[0] < 0x80) {
		cursor->next = at + 1;
		return at[0];
	}
	if (at[1] < 0x80) {
		cursor->next = at + 2;
		return (at[0] & 0x7f) | (uint64_t)at[1] << 7;
	}
	return lode_jfr_long_packed(cursor);
}

/* Reads eight bytes and marks the last byte of each packed number. */
static inline uint64_t lode_jfr_ends(const unsigned char *at)
{
	uint64_t word;

	memcpy(&word, at, sizeof(word));
	return ~word & LODE_JFR_HIGH_BITS;
}

/*
 * Steps over packed numbers eight bytes at a time, as long as there are as many of both, and every four bytes have the
 * end of a number: so that none has a ninth byte, whose bit 7 means nothing. Returns how many are left.
 */
static inline uint64_t lode_jfr_skip_packed(struct lode_cursor *cursor, uint64_t count)
{
	const unsigned char *at = cursor->next;
	uint64_t last = 0;

	while (count >= 8 && cursor->end - at >= 8) {
		uint64_t ends = lode_jfr_ends(at);

		if (!(uint32_t)ends || !(ends >> 32))
			break;
		count -= (ends >> 7) * 0x0101010101010101u >> 56;
		last = ends;
		at += 8;
	}
	if (last) /* the number that begins behind the last end is still to come */
		cursor->next = at - __builtin_clzll(last) / 8;
	return count;
}

/*
 * Of `count` packed numbers that begin with the eight bytes `word`, mostly all of them: the bytes of the first, as they are
 * written. Returns how many bytes all take, 0 where that is more than eight.
 */
static inline unsigned lode_jfr_first_bytes(uint64_t word, unsigned count, uint64_t *first)
{
	uint64_t ends = ~word & LODE_JFR_HIGH_BITS, rest = ends;

	while (--count)
		rest &= rest - 1;
	if (!rest)
		return 0;
	*first = word & (ends ^ (ends - 1));
	return (unsigned)__builtin_ctzll(rest) / 8 + 1;
}

#endif
