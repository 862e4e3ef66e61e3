/*
 * Exact numbers: see exact_number.h.
 *
 * A number is parsed into its digits, without zeros at either end, and
 * their power of ten. It is whole when that power is not negative, and
 * nothing on the way is rounded.
 */
#include "import/text/exact_number.h"

/* The parts of a number in JSON: digits without the point, and their power of ten. */
struct decimal {
	uint64_t digits;
	int too_long; /* more digits than 64 bits hold */
	int64_t power;
	int negative;
};

static void read_exponent(const char *text, size_t length, int64_t *power)
{
	size_t i = 0;
	int negative = 0;
	int64_t exponent = 0;

	if (i < length && (text[i] == '+' || text[i] == '-'))
		negative = text[i++] == '-';
	for (; i < length; i++)
		if (exponent < 1000000)
			exponent = exponent * 10 + (text[i] - '0');
	*power += negative ? -exponent : exponent;
}

static struct decimal split_decimal(const char *text, size_t length)
{
	struct decimal decimal = { 0 };
	int behind_point = 0;
	int64_t zeros = 0; /* read and not yet part of the digits: trailing ones stay out */

	for (size_t i = 0; i < length; i++) {
		if (text[i] == '-') {
			decimal.negative = 1;
		} else if (text[i] == '.') {
			behind_point = 1;
		} else if (text[i] == 'e' || text[i] == 'E') {
			read_exponent(text + i + 1, length - i - 1, &decimal.power);
			break;
		} else {
			decimal.power -= behind_point;
			if (text[i] == '0') {
				zeros++;
				continue;
			}
			for (; zeros && decimal.digits; zeros--)
				decimal.too_long |= __builtin_mul_overflow(decimal.digits, 10, &decimal.digits);
			zeros = 0;
			decimal.too_long |=
				__builtin_mul_overflow(decimal.digits, 10, &decimal.digits) ||
				__builtin_add_overflow(decimal.digits, (uint64_t)(text[i] - '0'), &decimal.digits);
			if (decimal.too_long)
				decimal.digits = 1;
		}
	}
	decimal.power += zeros;
	return decimal;
}

enum lode_number_fault lode_exact_number(const char *text, size_t length, uint64_t *number)
{
	struct decimal decimal;
	size_t i = 0;

	*number = 0;
	while (i < length && i < 19 && text[i] >= '0' && text[i] <= '9')
		*number = *number * 10 + (uint64_t)(text[i++] - '0');
	if (i == length)
		return LODE_NUMBER_FINE;
	decimal = split_decimal(text, length);
	*number = decimal.digits;
	if (!decimal.digits && !decimal.too_long)
		return LODE_NUMBER_FINE;
	if (decimal.negative)
		return LODE_NUMBER_NEGATIVE;
	if (decimal.power < 0)
		return LODE_NUMBER_NOT_WHOLE;
	for (; decimal.power && !decimal.too_long; decimal.power--)
		decimal.too_long = __builtin_mul_overflow(*number, 10, number);
	return decimal.too_long ? LODE_NUMBER_TOO_LARGE : LODE_NUMBER_FINE;
}
