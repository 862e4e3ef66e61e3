/* Index: see hash_index.h. Kept at most 5/8 full. */
#include "base/hash_index.h"

#include "base/error.h"

#include <string.h>

void lode_index_release(struct lode_index *index)
{
	lode_free(index->slots);
	index->slots = NULL;
	index->mask = index->count = 0;
}

void lode_index_clear(struct lode_index *index)
{
	if (index->count < index->mask / 8) {
		lode_index_release(index);
		return;
	}
	if (index->slots)
		memset(index->slots, 0, (index->mask + 1) * sizeof(*index->slots));
	index->count = 0;
}

static void place(uint64_t *slots, size_t mask, uint64_t slot)
{
	size_t at = (size_t)(slot >> 32) & mask;

	while (slots[at])
		at = (at + 1) & mask;
	slots[at] = slot;
}

int lode_index_reserve(struct lode_index *index, size_t count)
{
	size_t size = index->slots ? index->mask + 1 : 64;
	uint64_t *slots;

	while (size / 8 * 5 < count)
		size *= 2;
	if (index->slots && size == index->mask + 1)
		return 0;
	slots = lode_calloc(size, sizeof(*slots));
	if (!slots)
		return LODE_SYSTEM;
	for (size_t i = 0; index->slots && i <= index->mask; i++)
		if (index->slots[i])
			place(slots, size - 1, index->slots[i]);
	lode_free(index->slots);
	index->slots = slots;
	index->mask = size - 1;
	return 0;
}

int lode_index_insert(struct lode_index *index, uint64_t hash, uint32_t id)
{
	if (!index->slots || index->count >= (index->mask + 1) / 8 * 5) {
		if (lode_index_reserve(index, index->count + 1) < 0)
			return LODE_SYSTEM;
	}
	place(index->slots, index->mask, hash >> 32 << 32 | (uint64_t)(id + 1));
	index->count++;
	return 0;
}
