/*
 * Units: see units.h.
 *
 * All arithmetic is on integers, so that every duration that can be written
 * exactly is read exactly and overflow is noticed, not rounded away.
 */
#include "base/units.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* Products of two 64-bit numbers. */
__extension__ typedef unsigned __int128 wide;

struct unit {
	const char *name;
	uint64_t size;
};

static const struct unit durations[] = {
	{ "h", 3600000000000 }, { "m", 60000000000 }, { "s", 1000000000 },
	{ "ms", 1000000 },      { "us", 1000 },       { "ns", 1 },
};

static const struct unit sizes[] = {
	{ " EB", 1000000000000000000 },
	{ " PB", 1000000000000000 },
	{ " TB", 1000000000000 },
	{ " GB", 1000000000 },
	{ " MB", 1000000 },
	{ " kB", 1000 },
	{ " B", 1 },
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static uint64_t find_duration_unit(const char *text)
{
	if (strcmp(text, "\xc2\xb5s") == 0 || strcmp(text, "\xce\xbcs") == 0) /* the two micro signs */
		return 1000;
	for (size_t i = 0; i < COUNT(durations); i++)
		if (strcmp(text, durations[i].name) == 0)
			return durations[i].size;
	return 0;
}

/* `digits` after the point, as a part of `unit`, rounded to the nearest. */
static uint64_t read_fraction(const char *digits, size_t count, uint64_t unit)
{
	uint64_t numerator = 0, denominator = 1;

	for (size_t i = 0; i < count && denominator < 1000000000000000; i++) {
		numerator = numerator * 10 + (uint64_t)(digits[i] - '0');
		denominator *= 10;
	}
	return (uint64_t)(((wide)numerator * unit + denominator / 2) / denominator);
}

static int bad_size(const char *text, struct lode_error *error)
{
	return lode_fail(error, LODE_USAGE, "%s: not a size; write a number and kB, MB, GB or TB, such as 64MB",
			 text);
}

/* Where the unit begins; NULL when there is no number. */
static const char *behind_number(const char *text)
{
	size_t whole = strspn(text, "0123456789");
	size_t part = text[whole] == '.' ? strspn(text + whole + 1, "0123456789") : 0;

	return whole + part ? text + whole + (text[whole] == '.') + part : NULL;
}

/* The number that `text` begins with, in units of `unit`; false when it is too much. */
static int read_number(const char *text, uint64_t unit, uint64_t *result)
{
	size_t whole = strspn(text, "0123456789");
	size_t part = text[whole] == '.' ? strspn(text + whole + 1, "0123456789") : 0;
	uint64_t number = 0;
	int overflow = 0;

	for (size_t i = 0; i < whole; i++)
		overflow |= __builtin_mul_overflow(number, 10, &number) ||
			    __builtin_add_overflow(number, (uint64_t)(text[i] - '0'), &number);
	overflow |= __builtin_mul_overflow(number, unit, &number);
	overflow |= part && __builtin_add_overflow(number, read_fraction(text + whole + 1, part, unit), &number);
	*result = number;
	return !overflow;
}

/* Nothing is as long in every unit. */
static int is_zero(const char *text)
{
	return !text[strspn(text, "0.")];
}

int lode_duration_lacks_unit(const char *text)
{
	const char *behind = behind_number(text);

	return behind && !*behind && !is_zero(text);
}

int lode_duration_parse_in(const char *whole, const char *text, uint64_t *nanoseconds, struct lode_error *error)
{
	const char *before = whole ? "'" : "", *after = whole ? "': " : "";
	const char *behind = behind_number(text);
	uint64_t unit = behind ? find_duration_unit(behind) : 0, number;

	whole = whole ? whole : "";
	if (lode_duration_lacks_unit(text))
		return lode_fail(error, LODE_USAGE,
				 "%s%s%s%s has no unit; write %ss for seconds or %sns for nanoseconds", before,
				 whole, after, text, text, text);
	if (behind && !*behind)
		unit = 1;
	if (!unit)
		return lode_fail(error, LODE_USAGE,
				 "%s%s%s%s: not a duration; write a number and ns, us, ms, s, m or h, such as "
				 "250us or 1.5s",
				 before, whole, after, text);
	if (!read_number(text, unit, &number))
		return lode_fail(error, LODE_USAGE, "%s%s%s%s: is too long; the longest is %" PRIu64 "ns", before,
				 whole, after, text, UINT64_MAX);
	*nanoseconds = number;
	return 0;
}

int lode_duration_parse(const char *text, uint64_t *nanoseconds, struct lode_error *error)
{
	return lode_duration_parse_in(NULL, text, nanoseconds, error);
}

static uint64_t find_size_unit(const char *text)
{
	for (size_t i = 0; i < COUNT(sizes); i++) {
		const char *name = sizes[i].name + 1;

		if (!strcmp(text, name) || (strlen(name) == 2 && strlen(text) == 1 && *text == *name))
			return sizes[i].size;
	}
	return !*text;
}

int lode_bytes_parse(const char *text, uint64_t *bytes, struct lode_error *error)
{
	const char *behind = behind_number(text);
	uint64_t unit = behind ? find_size_unit(behind) : 0, number;

	if (!unit)
		return bad_size(text, error);
	if (!read_number(text, unit, &number))
		return lode_fail(error, LODE_USAGE, "%s: is more than any memory holds", text);
	*bytes = number;
	return 0;
}

/* `number` in `unit`s with three digits in total, zeros at the end left out. */
static void write_scaled(uint64_t number, const struct unit *unit, char text[LODE_UNITS_TEXT])
{
	uint64_t whole = number / unit->size;
	unsigned decimals = unit->size == 1 || whole >= 100 ? 0 : whole >= 10 ? 1 : 2;
	unsigned scale = decimals == 2 ? 100 : decimals == 1 ? 10 : 1;
	uint64_t value = (uint64_t)(((wide)number * scale + unit->size / 2) / unit->size);

	while (decimals && value % 10 == 0) {
		value /= 10;
		scale /= 10;
		decimals--;
	}
	if (decimals)
		snprintf(text, LODE_UNITS_TEXT, "%" PRIu64 ".%0*" PRIu64 "%s", value / scale, (int)decimals,
			 value % scale, unit->name);
	else
		snprintf(text, LODE_UNITS_TEXT, "%" PRIu64 "%s", value, unit->name);
}

/* The first unit in which `number`, once rounded to three digits, is at least one. */
static const struct unit *choose_unit(uint64_t number, const struct unit *units, size_t count)
{
	size_t i = 0;

	while (i + 1 < count && number < units[i].size - units[i].size / 2000)
		i++;
	return &units[i];
}

const char *lode_duration_text(uint64_t nanoseconds, char text[LODE_UNITS_TEXT])
{
	const struct unit *unit = choose_unit(nanoseconds, durations, COUNT(durations));

	/* People read 90s sooner than 1.5m. */
	if (unit == &durations[1] && nanoseconds < 2 * durations[1].size)
		unit = &durations[2];
	write_scaled(nanoseconds, unit, text);
	return text;
}

const char *lode_count_text(uint64_t count, char text[LODE_UNITS_TEXT])
{
	char digits[24];
	size_t length = (size_t)snprintf(digits, sizeof(digits), "%" PRIu64, count);
	size_t used = 0;

	for (size_t i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			text[used++] = ',';
		text[used++] = digits[i];
	}
	text[used] = '\0';
	return text;
}

const char *lode_bytes_text(uint64_t bytes, char text[LODE_UNITS_TEXT])
{
	write_scaled(bytes, choose_unit(bytes, sizes, COUNT(sizes)), text);
	return text;
}

const char *lode_share_text(uint64_t part, uint64_t whole, char text[LODE_UNITS_TEXT])
{
	uint64_t tenths;

	if (!whole) {
		snprintf(text, LODE_UNITS_TEXT, "-");
		return text;
	}
	tenths = (uint64_t)(((wide)part * 1000 + whole / 2) / whole);
	if (part && !tenths)
		snprintf(text, LODE_UNITS_TEXT, "<0.1%%");
	else if (tenths % 10 == 0 || tenths >= 1000)
		snprintf(text, LODE_UNITS_TEXT, "%" PRIu64 "%%", tenths / 10);
	else
		snprintf(text, LODE_UNITS_TEXT, "%" PRIu64 ".%" PRIu64 "%%", tenths / 10, tenths % 10);
	return text;
}

const char *lode_percent_text(double share, char text[LODE_UNITS_TEXT])
{
	double percent = 100 * share;

	if (percent > 0 && percent < 0.01)
		snprintf(text, LODE_UNITS_TEXT, "<0.01%%");
	else
		/* Where %g would have an exponent, 99.5 is 1e+02. */
		snprintf(text, LODE_UNITS_TEXT, percent < 99.5 ? "%.2g%%" : "%.0f%%", percent);
	return text;
}
