/* The order of 64-bit keys, such as times and addresses. */
#ifndef LODE_BASE_SORT_ORDER_H
#define LODE_BASE_SORT_ORDER_H

#include <stddef.h>
#include <stdint.h>

/*
 * Writes the numbers 0 … count - 1 into `order` so that `keys[order[i]]` ascends,
 * equal keys in their old order. Returns 0 or LODE_SYSTEM.
 */
int lode_sort_order(const uint64_t *keys, size_t count, uint32_t *order);

#endif
