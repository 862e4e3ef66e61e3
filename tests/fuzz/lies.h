/*
 * Lies about lengths and counts: what a file claims and does not have.
 *
 * Every place of a seed may be a length. Each is overwritten with a billion (as 4 bytes in both orders, as a varint of
 * protobuf), with the largest number of 8 bytes, and, where there are digits, with a billion in digits; and brackets
 * and elements that open 100,000 times are put where one opens.
 */
#ifndef LODE_TESTS_FUZZ_LIES_H
#define LODE_TESTS_FUZZ_LIES_H

#include <stddef.h>
#include <stdint.h>

/* Calls `try` with each lie, at `places` places at most of each kind, spread evenly. The bytes are on the heap. */
void fuzz_lies(const uint8_t *bytes, size_t size, size_t places, void (*try)(const uint8_t *bytes, size_t size));

#endif
