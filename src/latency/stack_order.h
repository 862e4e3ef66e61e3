/*
 * Stacks by name: comparing two, and all stacks of a dictionary in that order, found at
 * once: sorting many stacks by name then compares numbers.
 */
#ifndef LODE_LATENCY_STACK_ORDER_H
#define LODE_LATENCY_STACK_ORDER_H

#include "trace/dictionary.h"

/* The order of two stacks by the names of their frames, root first; a caller comes before its callees. */
int lode_stacks_compare(const struct lode_dictionary *dictionary, uint32_t a, uint32_t b);
/* By node: its place in that order. For the caller to free; NULL when memory has run out. */
uint32_t *lode_stack_order(const struct lode_dictionary *dictionary);

#endif
