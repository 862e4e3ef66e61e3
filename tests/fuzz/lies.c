/* Lies about lengths and counts: see lies.h. */
#include "lies.h"

#include <stdlib.h>
#include <string.h>

#define NESTING 100000
/* How many places are nested deep: each makes a large input. */
#define NESTED_PLACES 8

typedef void try_input(const uint8_t *bytes, size_t size);

/* Tries the bytes with `length` of them at `at` replaced; a copy of exactly the right size shows reads past the end. */
static void try_with(const uint8_t *bytes, size_t size, size_t at, size_t length, const void *lie, size_t lie_size,
		     try_input *try)
{
	size_t rest = size - at - length;
	uint8_t *copy = malloc(at + lie_size + rest + !(at + lie_size + rest));

	if (!copy)
		return;
	memcpy(copy, bytes, at);
	memcpy(copy + at, lie, lie_size);
	memcpy(copy + at + lie_size, bytes + at + length, rest);
	try(copy, at + lie_size + rest);
	free(copy);
}

static void lie_in_bytes(const uint8_t *bytes, size_t size, size_t step, try_input *try)
{
	static const struct {
		const char *bytes;
		size_t size;
	} lies[] = {
		{ "\x00\xca\x9a\x3b", 4 },                 /* a billion */
		{ "\x3b\x9a\xca\x00", 4 },                 /* in the other order */
		{ "\x80\x94\xeb\xdc\x03", 5 },             /* as a varint */
		{ "\xff\xff\xff\xff\xff\xff\xff\xff", 8 }, /* the largest */
		{ "\xff\xff\xff\xff\xff\xff\xff\x7f", 8 }, /* the largest with a sign */
	};

	for (size_t at = 0; at < size; at += step)
		for (size_t i = 0; i < sizeof(lies) / sizeof(*lies); i++) {
			size_t length = size - at < lies[i].size ? size - at : lies[i].size;

			try_with(bytes, size, at, length, lies[i].bytes, length, try);
		}
}

static int is_digit(uint8_t byte)
{
	return byte >= '0' && byte <= '9';
}

static void lie_in_digits(const uint8_t *bytes, size_t size, size_t places, try_input *try)
{
	static const char *const lies[] = { "0", "1", "1000000000", "18446744073709551615", "-1", "1e308" };

	for (size_t at = 0; at < size && places; at++) {
		size_t length = 0;

		while (at + length < size && is_digit(bytes[at + length]))
			length++;
		if (!length)
			continue;
		for (size_t i = 0; i < sizeof(lies) / sizeof(*lies); i++)
			try_with(bytes, size, at, length, lies[i], strlen(lies[i]), try);
		at += length;
		places--;
	}
}

/* What opens at this byte, over and over; NULL: nothing. */
static const char *opening_at(uint8_t byte)
{
	return byte == '[' ? "[" : byte == '{' ? "{\"a\":" : byte == '<' ? "<a>" : NULL;
}

static void nest_deep(const uint8_t *bytes, size_t size, try_input *try)
{
	unsigned places = NESTED_PLACES;

	for (size_t at = 0; at < size && places; at++) {
		const char *opening = opening_at(bytes[at]);
		size_t length = opening ? strlen(opening) : 0;
		char *deep = opening ? malloc(length * NESTING) : NULL;

		for (size_t i = 0; deep && i < NESTING; i++)
			memcpy(deep + i * length, opening, length);
		if (deep) {
			try_with(bytes, size, at, 0, deep, length * NESTING, try);
			places--;
		}
		free(deep);
	}
}

void fuzz_lies(const uint8_t *bytes, size_t size, size_t places, void (*try)(const uint8_t *bytes, size_t size))
{
	lie_in_bytes(bytes, size, size / places + 1, try);
	lie_in_digits(bytes, size, places, try);
	nest_deep(bytes, size, try);
}
