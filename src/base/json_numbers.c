/*
 * Checks arrays of numbers 64 bytes at a time; see json_numbers.h.
 *
 * Checking byte by byte is slow, and finding the end of a number before looking at the next one makes each wait
 * for the one before. Instead, whether a byte is allowed follows from the byte before it, and masks with one
 * bit per byte (json_block.h) check this for 64 bytes at a time:
 *
 *	a comma or a point		comes after a digit
 *	a minus				comes after a comma
 *	what follows a minus or point	is a digit, and what follows a comma is one or a minus
 *	a digit after a leading 0	is wrong
 *	a second point			is wrong: adding the first digits of fractions to all digits carries to behind them
 */
#include "base/json_numbers.h"

#include "base/json_block.h"

/* What a block has to know of the one before it, as its bit 63 in bit 0 here. */
struct before {
	uint64_t digit, comma, point, minus;
	uint64_t leading_zero;
	uint64_t fraction; /* it ends inside of a fraction */
};

/* A mask moved by one byte, with the last byte of the block before. */
static uint64_t behind(uint64_t mask, uint64_t before)
{
	return mask << 1 | before;
}

/* Whether a block consists of numbers, or what it has of them; `*commas` are the ends of items. */
static int check_block(const char *start, struct before *before, uint64_t *commas)
{
	struct lode_json_block block = lode_json_block(start);
	uint64_t digits = lode_json_block_digits(&block), points = lode_json_block_equal(&block, '.');
	uint64_t minuses = lode_json_block_equal(&block, '-'), zeros = lode_json_block_equal(&block, '0');
	uint64_t after_digit, after_comma, after_point, after_minus, leading, fractions, sum, wrong;
	uint64_t overflow;

	*commas = lode_json_block_equal(&block, ',');
	after_digit = behind(digits, before->digit);
	after_comma = behind(*commas, before->comma);
	after_point = behind(points, before->point);
	after_minus = behind(minuses, before->minus);
	leading = zeros & (after_comma | after_minus);
	fractions = after_point | before->fraction;
	overflow = (uint64_t)__builtin_add_overflow(digits, fractions, &sum);
	wrong = ~(digits | points | minuses | *commas) | ((*commas | points) & ~after_digit) |
		(minuses & ~after_comma) | ((after_point | after_minus) & ~digits) |
		(after_comma & ~(digits | minuses)) | (behind(leading, before->leading_zero) & digits) |
		(sum & ~digits & points);
	*before = (struct before){ digits >> 63,  *commas >> 63, points >> 63,
				   minuses >> 63, leading >> 63, overflow };
	return !wrong;
}

const char *lode_json_pass_numbers(const char *item, const char *end)
{
	struct before before = { .comma = 1 };
	uint64_t commas;

	for (const char *at = item; end - at >= LODE_JSON_BLOCK; at += LODE_JSON_BLOCK) {
		if (!check_block(at, &before, &commas))
			break;
		if (commas)
			item = at + (LODE_JSON_BLOCK - __builtin_clzll(commas));
	}
	return item;
}
