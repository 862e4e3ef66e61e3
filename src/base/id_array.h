/* Arrays of ids: from numbers, with which they grow, and in an order. */
#ifndef LODE_BASE_ID_ARRAY_H
#define LODE_BASE_ID_ARRAY_H

#include "base/memory.h"

#include <stdlib.h>

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

/* 0, 1 and so on, `count` of them, in fresh memory; NULL when there is none. */
static inline uint32_t *lode_ids_below(size_t count)
{
	uint32_t *ids = lode_calloc(count + 1, sizeof(*ids));

	for (size_t i = 0; ids && i < count; i++)
		ids[i] = (uint32_t)i;
	return ids;
}

/* The same, sorted as by qsort_r. */
static inline uint32_t *lode_ids_sorted(size_t count, int (*compare)(const void *a, const void *b, void *context),
					void *context)
{
	uint32_t *ids = lode_ids_below(count);

	if (ids)
		qsort_r(ids, count, sizeof(*ids), compare, context);
	return ids;
}

#endif
