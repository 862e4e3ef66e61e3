/*
 * Table value: see table_value.h.
 *
 * Numbers of up to 15 digits with a small exponent are made from an integer and
 * one power of ten, both exact in a double, so that one division or product is
 * rounded right; all others go to strtod. The program keeps the numeric locale
 * of C.
 */
#include "explain/table/table_value.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Longer texts are no numbers that a person or a program writes. */
#define LONGEST_NUMBER 400

struct digits {
	unsigned long long mantissa; /* the first 18 digits */
	int count;                   /* digits of it, without leading zeros */
	int scale;                   /* power of ten to be applied */
	int any;
};

static int is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static const char *parse_digits(const char *at, const char *end, struct digits *digits, int fraction)
{
	for (; at < end && is_digit(*at); at++) {
		digits->any = 1;
		if (digits->count < 18) {
			digits->mantissa = digits->mantissa * 10 + (unsigned)(*at - '0');
			digits->count += digits->mantissa != 0;
			digits->scale -= fraction;
		} else {
			digits->count++;
			digits->scale += !fraction;
		}
	}
	return at;
}

/* Steps over `e±N`; NULL when it is malformed. */
static const char *parse_exponent(const char *at, const char *end, struct digits *digits)
{
	int negative, exponent = 0;

	if (at == end || (*at != 'e' && *at != 'E'))
		return at;
	at++;
	negative = at < end && *at == '-';
	if (at < end && (*at == '-' || *at == '+'))
		at++;
	if (at == end || !is_digit(*at))
		return NULL;
	for (; at < end && is_digit(*at); at++)
		if (exponent < 100000)
			exponent = exponent * 10 + (*at - '0');
	digits->scale += negative ? -exponent : exponent;
	return at;
}

static double by_strtod(const char *text, size_t length)
{
	char copy[LONGEST_NUMBER + 1];

	memcpy(copy, text, length);
	copy[length] = '\0';
	return strtod(copy, NULL);
}

static double finish(const struct digits *digits, int negative, const char *text, size_t length)
{
	static const double powers[] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
					 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };
	double value = (double)digits->mantissa;

	if (digits->count > 15 || digits->scale < -22 || digits->scale > 22)
		return by_strtod(text, length);
	value = digits->scale < 0 ? value / powers[-digits->scale] : value * powers[digits->scale];
	return negative ? -value : value;
}

static int is_word(const char *text, size_t length, const char *word)
{
	return length == strlen(word) && !strncasecmp(text, word, length);
}

static enum lode_table_value read_word(const char *text, size_t length)
{
	static const char *const infinite[] = { "nan", "inf", "infinity" };
	size_t sign = *text == '-' || *text == '+';

	if (is_word(text, length, "?") || (length == 2 && !memcmp(text, "NA", 2)))
		return LODE_VALUE_MISSING;
	for (size_t i = 0; i < sizeof(infinite) / sizeof(infinite[0]); i++)
		if (is_word(text + sign, length - sign, infinite[i]))
			return LODE_VALUE_INFINITE;
	return LODE_VALUE_TEXT;
}

void lode_table_value_trim(const char **text, size_t *length)
{
	while (*length && ((*text)[0] == ' ' || (*text)[0] == '\t')) {
		(*text)++;
		(*length)--;
	}
	while (*length && ((*text)[*length - 1] == ' ' || (*text)[*length - 1] == '\t'))
		(*length)--;
}

enum lode_table_value lode_table_value_read(const char *text, size_t length, double *number)
{
	struct digits digits = { 0, 0, 0, 0 };
	const char *at, *end;
	int negative;

	lode_table_value_trim(&text, &length);
	if (!length)
		return LODE_VALUE_MISSING;
	end = text + length;
	negative = *text == '-';
	at = parse_digits(text + (negative || *text == '+'), end, &digits, 0);
	if (at < end && *at == '.')
		at = parse_digits(at + 1, end, &digits, 1);
	if (!digits.any)
		return read_word(text, length);
	at = parse_exponent(at, end, &digits);
	if (at != end || length > LONGEST_NUMBER)
		return LODE_VALUE_TEXT;
	*number = finish(&digits, negative, text, length);
	if (!isfinite(*number))
		return LODE_VALUE_INFINITE;
	return *number == 0 || *number == 1 ? LODE_VALUE_BINARY : LODE_VALUE_NUMBER;
}
