/*
 * 64 bytes of a JSON text at a time, and which of them are of a kind, as a mask with one bit per byte.
 */
#ifndef LODE_BASE_JSON_BLOCK_H
#define LODE_BASE_JSON_BLOCK_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__aarch64__)
#include <arm_neon.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#endif

#define LODE_JSON_BLOCK 64

/* Sanitizers must not see the bytes around the text, which a block may have where it is aligned. */
#define LODE_JSON_READS_AROUND __attribute__((no_sanitize("address", "thread")))

#if defined(__aarch64__)
#define LODE_JSON_VECTOR uint8x16_t
#elif defined(__SSE2__)
#define LODE_JSON_VECTOR __m128i
#else
#define LODE_JSON_VECTOR unsigned char __attribute__((vector_size(16)))
#endif

struct lode_json_block {
	LODE_JSON_VECTOR bytes[4];
};

#if defined(__aarch64__)

static inline LODE_JSON_READS_AROUND struct lode_json_block lode_json_block(const char *start)
{
	struct lode_json_block block;

	for (int i = 0; i < 4; i++)
		block.bytes[i] = vld1q_u8((const uint8_t *)start + 16 * i);
	return block;
}

/* All bytes with these bits set. */
static inline struct lode_json_block lode_json_block_or(const struct lode_json_block *block, uint8_t bits)
{
	struct lode_json_block result;

	for (int i = 0; i < 4; i++)
		result.bytes[i] = vorrq_u8(block->bytes[i], vdupq_n_u8(bits));
	return result;
}

/* The lowest bit of each byte; bytes are 0 or 255. */
static inline uint64_t lode_json_block_mask(const uint8x16_t found[4])
{
	static const uint8_t bits[16] = { 1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128 };
	uint8x16_t bit = vld1q_u8(bits);
	uint8x16_t low = vpaddq_u8(vandq_u8(found[0], bit), vandq_u8(found[1], bit));
	uint8x16_t high = vpaddq_u8(vandq_u8(found[2], bit), vandq_u8(found[3], bit));

	low = vpaddq_u8(low, high);
	return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(low, low)), 0);
}

static inline uint64_t lode_json_block_equal(const struct lode_json_block *block, char byte)
{
	uint8x16_t found[4];

	for (int i = 0; i < 4; i++)
		found[i] = vceqq_u8(block->bytes[i], vdupq_n_u8((uint8_t)byte));
	return lode_json_block_mask(found);
}

static inline uint64_t lode_json_block_digits(const struct lode_json_block *block)
{
	uint8x16_t found[4];

	for (int i = 0; i < 4; i++)
		found[i] = vcltq_u8(vsubq_u8(block->bytes[i], vdupq_n_u8('0')), vdupq_n_u8(10));
	return lode_json_block_mask(found);
}

#elif defined(__SSE2__)

static inline LODE_JSON_READS_AROUND struct lode_json_block lode_json_block(const char *start)
{
	struct lode_json_block block;

	for (int i = 0; i < 4; i++)
		block.bytes[i] = _mm_loadu_si128((const __m128i *)(const void *)(start + 16 * i));
	return block;
}

/* All bytes with these bits set. */
static inline struct lode_json_block lode_json_block_or(const struct lode_json_block *block, uint8_t bits)
{
	struct lode_json_block result;

	for (int i = 0; i < 4; i++)
		result.bytes[i] = _mm_or_si128(block->bytes[i], _mm_set1_epi8((char)bits));
	return result;
}

static inline uint64_t lode_json_block_equal(const struct lode_json_block *block, char byte)
{
	uint64_t mask = 0;

	for (int i = 0; i < 4; i++)
		mask |= (uint64_t)(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(block->bytes[i], _mm_set1_epi8(byte)))
			<< 16 * i;
	return mask;
}

static inline uint64_t lode_json_block_digits(const struct lode_json_block *block)
{
	uint64_t mask = 0;

	for (int i = 0; i < 4; i++) {
		__m128i digits = _mm_sub_epi8(block->bytes[i], _mm_set1_epi8('0'));

		mask |= (uint64_t)(unsigned)_mm_movemask_epi8(
				_mm_cmpeq_epi8(_mm_min_epu8(digits, _mm_set1_epi8(9)), digits))
			<< 16 * i;
	}
	return mask;
}

#else

static inline LODE_JSON_READS_AROUND struct lode_json_block lode_json_block(const char *start)
{
	struct lode_json_block block;

	for (int i = 0; i < LODE_JSON_BLOCK; i++)
		block.bytes[i / 16][i % 16] = (unsigned char)start[i];
	return block;
}

/* All bytes with these bits set. */
static inline struct lode_json_block lode_json_block_or(const struct lode_json_block *block, uint8_t bits)
{
	struct lode_json_block result;

	for (int i = 0; i < LODE_JSON_BLOCK; i++)
		result.bytes[i / 16][i % 16] = block->bytes[i / 16][i % 16] | bits;
	return result;
}

static inline uint64_t lode_json_block_equal(const struct lode_json_block *block, char byte)
{
	uint64_t mask = 0;

	for (int i = 0; i < LODE_JSON_BLOCK; i++)
		mask |= (uint64_t)(block->bytes[i / 16][i % 16] == (unsigned char)byte) << i;
	return mask;
}

static inline uint64_t lode_json_block_digits(const struct lode_json_block *block)
{
	uint64_t mask = 0;

	for (int i = 0; i < LODE_JSON_BLOCK; i++)
		mask |= (uint64_t)(block->bytes[i / 16][i % 16] >= '0' && block->bytes[i / 16][i % 16] <= '9') << i;
	return mask;
}

#endif

#endif
