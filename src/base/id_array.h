/* Arrays from numbers to ids, which grow with the numbers. */
#ifndef LODE_BASE_ID_ARRAY_H
#define LODE_BASE_ID_ARRAY_H

#include "base/memory.h"

/* The place of `number` in `*ids`, with LODE_NONE in places that are new; NULL when memory has run out. */
static inline uint32_t *lode_id_place(uint32_t **ids, size_t *capacity, uint32_t number)
{
	size_t before = *capacity;

	if (lode_grow(ids, capacity, (size_t)number + 1, sizeof(**ids)) < 0)
		return NULL;
	for (size_t i = before; i < *capacity; i++)
		(*ids)[i] = LODE_NONE;
	return &(*ids)[number];
}

#endif
