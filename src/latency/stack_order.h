/*
 * All stacks of a dictionary in the order of lode_stacks_compare (contexts.h), found
 * at once: sorting many stacks by name then compares numbers.
 */
#ifndef LODE_LATENCY_STACK_ORDER_H
#define LODE_LATENCY_STACK_ORDER_H

#include "trace/dictionary.h"

/* By node: its place in that order. For the caller to free; NULL when memory has run out. */
uint32_t *lode_stack_order(const struct lode_dictionary *dictionary);

#endif
