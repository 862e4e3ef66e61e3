/*
 * Finds the closing bracket of a JSON value, 64 bytes at a time; see json_skip.h.
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
	if (!closing) {
		*depth += (size_t)__builtin_popcountll(opening);
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
