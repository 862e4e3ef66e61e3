/*
 * Finds the closing bracket of a JSON value, 64 bytes at a time, and the end of a string, 16 at a time; see json_skip.h.
 *
 * Importers look up a few members of large objects, so most bytes of a document are
 * skipped more often than read. Each block becomes four masks with one bit a byte:
 * quotes, backslashes, opening and closing brackets. A quote that is not escaped
 * toggles "inside a string", which a prefix XOR of the quotes gives for all 64 bytes at
 * once; brackets inside strings do not count (Langdale and Lemire, "Parsing Gigabytes of
 * JSON per Second", VLDB Journal 2019, section 3.1).
 *
 * Blocks are aligned, so a load never touches a page that the text is not on, although it
 * may read bytes before and behind the text. Those have no effect: bits before the start
 * are cleared, and the closing bracket comes before the end.
 */
#include "base/json_skip.h"

#include <stddef.h>
#include <stdint.h>

#if defined(__aarch64__)
#include <arm_neon.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#endif

#define BLOCK_SIZE 64

/* '[' and '{', ']' and '}' differ in this bit only. */
#define BRACE_BIT 0x20

struct masks {
	uint64_t quotes, backslashes, opening, closing;
};

/* Sanitizers must not see the bytes around the text. */
#define MAY_READ_AROUND __attribute__((no_sanitize("address", "thread")))

#if defined(__aarch64__)

static uint64_t mask_of(uint8x16_t a, uint8x16_t b, uint8x16_t c, uint8x16_t d)
{
	static const uint8_t bits[16] = { 1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128 };
	uint8x16_t bit = vld1q_u8(bits);
	uint8x16_t low = vpaddq_u8(vandq_u8(a, bit), vandq_u8(b, bit));
	uint8x16_t high = vpaddq_u8(vandq_u8(c, bit), vandq_u8(d, bit));

	low = vpaddq_u8(low, high);
	return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(low, low)), 0);
}

static uint64_t mask_equal(const uint8x16_t bytes[4], uint8_t byte)
{
	uint8x16_t all = vdupq_n_u8(byte);

	return mask_of(vceqq_u8(bytes[0], all), vceqq_u8(bytes[1], all), vceqq_u8(bytes[2], all),
		       vceqq_u8(bytes[3], all));
}

static MAY_READ_AROUND struct masks read_block(const char *block)
{
	uint8x16_t bytes[4], braces[4];

	for (int i = 0; i < 4; i++) {
		bytes[i] = *(const uint8x16_t *)(const void *)(block + 16 * i);
		braces[i] = vorrq_u8(bytes[i], vdupq_n_u8(BRACE_BIT));
	}
	return (struct masks){ mask_equal(bytes, '"'), mask_equal(bytes, '\\'), mask_equal(braces, '{'),
			       mask_equal(braces, '}') };
}

#elif defined(__SSE2__)

static uint64_t mask_equal(const __m128i bytes[4], char byte)
{
	__m128i all = _mm_set1_epi8(byte);
	uint64_t mask = 0;

	for (int i = 0; i < 4; i++)
		mask |= (uint64_t)(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes[i], all)) << 16 * i;
	return mask;
}

static MAY_READ_AROUND struct masks read_block(const char *block)
{
	__m128i bytes[4], braces[4];

	for (int i = 0; i < 4; i++) {
		bytes[i] = *(const __m128i *)(const void *)(block + 16 * i);
		braces[i] = _mm_or_si128(bytes[i], _mm_set1_epi8(BRACE_BIT));
	}
	return (struct masks){ mask_equal(bytes, '"'), mask_equal(bytes, '\\'), mask_equal(braces, '{'),
			       mask_equal(braces, '}') };
}

#else

static MAY_READ_AROUND struct masks read_block(const char *block)
{
	struct masks masks = { 0, 0, 0, 0 };

	for (int i = 0; i < BLOCK_SIZE; i++) {
		masks.quotes |= (uint64_t)(block[i] == '"') << i;
		masks.backslashes |= (uint64_t)(block[i] == '\\') << i;
		masks.opening |= (uint64_t)((block[i] | BRACE_BIT) == '{') << i;
		masks.closing |= (uint64_t)((block[i] | BRACE_BIT) == '}') << i;
	}
	return masks;
}

#endif

/* The bytes that follow an escaping backslash; `*carry` says whether the first byte of a block is one. */
static uint64_t find_escaped(uint64_t backslashes, unsigned *carry)
{
	uint64_t escaped = *carry;

	backslashes &= ~escaped;
	*carry = 0;
	while (backslashes) {
		uint64_t next = (backslashes & -backslashes) << 1;

		*carry = !next;
		escaped |= next;
		backslashes &= backslashes - 1;
		backslashes &= ~next;
	}
	return escaped;
}

/* Bit i is the XOR of the bits 0 to i. */
static uint64_t prefix_xor(uint64_t bits)
{
	for (int shift = 1; shift < 64; shift *= 2)
		bits ^= bits << shift;
	return bits;
}

/* The bracket that takes `*depth` to 0, as a bit; 0 where none of these does. */
static uint64_t find_end(uint64_t opening, uint64_t closing, size_t *depth)
{
	size_t ends = closing ? (size_t)__builtin_popcountll(closing) : 0;

	if (*depth > ends) { /* too deep to get out here */
		*depth += (size_t)__builtin_popcountll(opening) - ends;
		return 0;
	}
	for (uint64_t brackets = opening | closing; brackets; brackets &= brackets - 1) {
		uint64_t bracket = brackets & -brackets;

		*depth += opening & bracket ? 1 : (size_t)-1;
		if (!*depth)
			return bracket;
	}
	return 0;
}

const char *lode_json_skip_brackets(const char *at)
{
	size_t before = (uintptr_t)at % BLOCK_SIZE, depth = 0;
	uint64_t wanted = UINT64_MAX << before, in_text = 0, end;
	unsigned carry = 0;

	for (const char *block = at - before;; block += BLOCK_SIZE, wanted = UINT64_MAX) {
		struct masks masks = read_block(block);
		uint64_t quotes = masks.quotes & wanted & ~find_escaped(masks.backslashes & wanted, &carry);
		uint64_t text = prefix_xor(quotes) ^ in_text, brackets = wanted & ~text;

		in_text = text >> 63 ? UINT64_MAX : 0;
		end = find_end(masks.opening & brackets, masks.closing & brackets, &depth);
		if (end)
			return block + __builtin_ctzll(end) + 1;
	}
}

/* ---- strings ---- */

/* Blocks of strings are not aligned, except where one would reach into another page. */
#define TEXT_BLOCK 16
#define PAGE       4096

#if defined(__aarch64__)

#define BITS_A_BYTE 4

/* Quotes, backslashes and, if requested, control characters: all bits of theirs. */
static MAY_READ_AROUND uint64_t find_special(const char *block, int controls)
{
	uint8x16_t bytes = vld1q_u8((const uint8_t *)block);
	uint8x16_t found = vorrq_u8(vceqq_u8(bytes, vdupq_n_u8('"')), vceqq_u8(bytes, vdupq_n_u8('\\')));

	if (controls)
		found = vorrq_u8(found, vcltq_u8(bytes, vdupq_n_u8(' ')));
	return vget_lane_u64(vreinterpret_u64_u8(vshrn_n_u16(vreinterpretq_u16_u8(found), 4)), 0);
}

#elif defined(__SSE2__)

#define BITS_A_BYTE 1

static MAY_READ_AROUND uint64_t find_special(const char *block, int controls)
{
	__m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)block);
	__m128i found = _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')),
				     _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\')));

	if (controls) /* what is at most the last of them */
		found = _mm_or_si128(found, _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(' ' - 1)), bytes));
	return (uint64_t)(unsigned)_mm_movemask_epi8(found);
}

#else

#define BITS_A_BYTE 1

static MAY_READ_AROUND uint64_t find_special(const char *block, int controls)
{
	uint64_t found = 0;

	for (int i = 0; i < TEXT_BLOCK; i++)
		found |=
			(uint64_t)(block[i] == '"' || block[i] == '\\' || (controls && (unsigned char)block[i] < ' '))
			<< i;
	return found;
}

#endif

/* The special ones of the `*covered` bytes from `at` on. */
static uint64_t special_from(const char *at, int controls, size_t *covered)
{
	size_t before = (uintptr_t)at % PAGE > PAGE - TEXT_BLOCK ? (uintptr_t)at % TEXT_BLOCK : 0;

	*covered = TEXT_BLOCK - before;
	return find_special(at - before, controls) >> before * BITS_A_BYTE;
}

const char *lode_json_pass_plain(const char *at, const char *end)
{
	uint64_t found = 0;
	size_t covered;

	for (; at < end; at += covered) {
		found = special_from(at, 1, &covered);
		if (found) {
			at += __builtin_ctzll(found) / BITS_A_BYTE;
			break;
		}
	}
	return at < end ? at : end;
}

const char *lode_json_find_special(const char *at)
{
	uint64_t found;
	size_t covered;

	while (!(found = special_from(at, 0, &covered)))
		at += covered;
	return at + __builtin_ctzll(found) / BITS_A_BYTE;
}
