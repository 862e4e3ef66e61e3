/*
 * Bytes and numbers written through a pointer, for lines that are made by
 * the million. The caller has made room for all of a line at once; each function
 * returns where the next byte goes.
 */
#ifndef LODE_BASE_LINE_WRITER_H
#define LODE_BASE_LINE_WRITER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Digits of the largest number. */
#define LODE_PUT_NUMBER 20

static inline char *lode_put_bytes(char *at, const char *bytes, size_t size)
{
	memcpy(at, bytes, size);
	return at + size;
}

/* For literals only: the size is known when this is compiled. */
#define LODE_PUT(at, literal) lode_put_bytes(at, literal, sizeof(literal) - 1)

static inline char *lode_put_number(char *at, uint64_t number)
{
	char digits[LODE_PUT_NUMBER];
	size_t start = sizeof(digits);

	do {
		digits[--start] = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	return lode_put_bytes(at, digits + start, sizeof(digits) - start);
}

/* `number` / 10^`decimals`, exactly, with all decimals. */
static inline char *lode_put_decimal(char *at, uint64_t number, unsigned decimals)
{
	uint64_t scale = 1;

	for (unsigned i = 0; i < decimals; i++)
		scale *= 10;
	at = lode_put_number(at, number / scale);
	*at++ = '.';
	for (scale /= 10; scale; scale /= 10)
		*at++ = (char)('0' + number / scale % 10);
	return at;
}

#endif
