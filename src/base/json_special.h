/*
 * Kinds of bytes of a JSON text, and where its strings end, 16 bytes at a time. In a header, because most strings are short.
 *
 * Loads may reach beyond the text, never into a page that it is not on. Those bytes have no effect.
 */
#ifndef LODE_BASE_JSON_SPECIAL_H
#define LODE_BASE_JSON_SPECIAL_H

#include "base/json_block.h"

static inline int lode_json_is_space(char byte)
{
	return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t';
}

static inline int lode_json_is_digit(char byte)
{
	return byte >= '0' && byte <= '9';
}

/* Blocks of strings are not aligned, except where one would reach into another page. */
#define LODE_JSON_TEXT_BLOCK 16
#define LODE_JSON_PAGE       4096

#if defined(__aarch64__)

#define LODE_JSON_BITS_A_BYTE 4

/* Quotes, backslashes and, if requested, control characters: all bits of theirs. */
static inline LODE_JSON_READS_AROUND uint64_t lode_json_special_bits(const char *block, int controls)
{
	uint8x16_t bytes = vld1q_u8((const uint8_t *)block);
	uint8x16_t found = vorrq_u8(vceqq_u8(bytes, vdupq_n_u8('"')), vceqq_u8(bytes, vdupq_n_u8('\\')));

	if (controls)
		found = vorrq_u8(found, vcltq_u8(bytes, vdupq_n_u8(' ')));
	return vget_lane_u64(vreinterpret_u64_u8(vshrn_n_u16(vreinterpretq_u16_u8(found), 4)), 0);
}

#elif defined(__SSE2__)

#define LODE_JSON_BITS_A_BYTE 1

static inline LODE_JSON_READS_AROUND uint64_t lode_json_special_bits(const char *block, int controls)
{
	__m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)block);
	__m128i found = _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')),
				     _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\')));

	if (controls) /* what is at most the last of them */
		found = _mm_or_si128(found, _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(' ' - 1)), bytes));
	return (uint64_t)(unsigned)_mm_movemask_epi8(found);
}

#else

#define LODE_JSON_BITS_A_BYTE 1

static inline LODE_JSON_READS_AROUND uint64_t lode_json_special_bits(const char *block, int controls)
{
	uint64_t found = 0;

	for (int i = 0; i < LODE_JSON_TEXT_BLOCK; i++)
		found |=
			(uint64_t)(block[i] == '"' || block[i] == '\\' || (controls && (unsigned char)block[i] < ' '))
			<< i;
	return found;
}

#endif

/* The special ones of the `*covered` bytes from `at` on. */
static inline uint64_t lode_json_special_from(const char *at, int controls, size_t *covered)
{
	size_t before = (uintptr_t)at % LODE_JSON_PAGE > LODE_JSON_PAGE - LODE_JSON_TEXT_BLOCK
				? (uintptr_t)at % LODE_JSON_TEXT_BLOCK
				: 0;

	*covered = LODE_JSON_TEXT_BLOCK - before;
	return lode_json_special_bits(at - before, controls) >> before * LODE_JSON_BITS_A_BYTE;
}

/*
 * For a text that is not checked yet: the first quote, backslash or control character from `at` on,
 * or `end` where there is none before it. Nothing from `end` on has an effect.
 */
static inline const char *lode_json_pass_plain(const char *at, const char *end)
{
	uint64_t found = 0;
	size_t covered;

	for (; at < end; at += covered) {
		found = lode_json_special_from(at, 1, &covered);
		if (found) {
			at += __builtin_ctzll(found) / LODE_JSON_BITS_A_BYTE;
			break;
		}
	}
	return at < end ? at : end;
}

/* `at` is inside a string of a checked text. Returns the first quote or backslash from there on. */
static inline const char *lode_json_find_special(const char *at)
{
	uint64_t found;
	size_t covered;

	while (!(found = lode_json_special_from(at, 0, &covered)))
		at += covered;
	return at + __builtin_ctzll(found) / LODE_JSON_BITS_A_BYTE;
}

#endif
