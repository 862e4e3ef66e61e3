/*
 * Exact numbers: a number as JSON writes it into 64 bits, or not at all. `1e9`
 * and `1.0` are whole numbers too; nothing passes through a double.
 */
#ifndef LODE_IMPORT_EXACT_NUMBER_H
#define LODE_IMPORT_EXACT_NUMBER_H

#include <stddef.h>
#include <stdint.h>

enum lode_number_fault {
	LODE_NUMBER_FINE,
	LODE_NUMBER_NEGATIVE,
	LODE_NUMBER_TOO_LARGE,
	LODE_NUMBER_NOT_WHOLE,
};

/* `text` must be a number by the rules of JSON. */
enum lode_number_fault lode_exact_number(const char *text, size_t length, uint64_t *number);

#endif
