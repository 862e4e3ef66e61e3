/*
 * Index: an open-addressing hash table from a 64-bit hash to a 32-bit id.
 *
 * The things themselves live in the caller's arrays; the index knows only
 * hashes and ids. A look-up walks the ids whose hash bits agree and the caller
 * compares: LODE_INDEX_FIND(i, &index, hash, items[i].key == key).
 *
 * A slot is eight bytes: the upper half of the hash beside the id plus one, so
 * most wrong candidates are refused without touching the caller's memory.
 */
#ifndef LODE_BASE_HASH_INDEX_H
#define LODE_BASE_HASH_INDEX_H

#include "base/hash.h"
#include "base/memory.h"

struct lode_index {
	uint64_t *slots; /* hash >> 32 in the upper half, id + 1 in the lower; 0 is empty */
	size_t mask;     /* number of slots - 1, a power of two; 0 while there are none */
	size_t count;
};

/* A zeroed struct is an empty index. */
void lode_index_release(struct lode_index *index);
/*
 * Empties it and keeps its memory, unless that is much more than what was in it needed: so emptying costs no more than
 * filling did.
 */
void lode_index_clear(struct lode_index *index);
/* Makes room for `count` ids in total. Returns 0 or LODE_SYSTEM. */
int lode_index_reserve(struct lode_index *index, size_t count);
/* Adds `id` (below LODE_NONE) under `hash`; does not look for an equal one. Returns 0 or LODE_SYSTEM. */
int lode_index_insert(struct lode_index *index, uint64_t hash, uint32_t id);

/* The next id whose upper hash half agrees, or LODE_NONE. `*probe` starts at 0. */
static inline uint32_t lode_index_next(const struct lode_index *index, uint64_t hash, size_t *probe)
{
	uint32_t half = (uint32_t)(hash >> 32);

	if (!index->slots)
		return LODE_NONE;
	for (;;) {
		uint64_t slot = index->slots[(half + (*probe)++) & index->mask];

		if (!slot)
			return LODE_NONE;
		if ((uint32_t)(slot >> 32) == half)
			return (uint32_t)slot - 1;
	}
}

/* The id under `hash` for which `is_same` holds, or LODE_NONE. It is an expression of the id, called `i`. */
#define LODE_INDEX_FIND(i, index, hash, is_same)                                                                  \
	__extension__({                                                                                           \
		uint64_t hash_ = (hash);                                                                          \
		size_t probe_ = 0;                                                                                \
		uint32_t i;                                                                                       \
		while ((i = lode_index_next((index), hash_, &probe_)) != LODE_NONE && !(is_same))                 \
			;                                                                                         \
		i;                                                                                                \
	})

/*
 * Appends a value to the caller's array and adds its place there under `hash`. Returns 0, or LODE_SYSTEM when there
 * is no memory or the array has all the items that ids can number; then the array has what it had.
 */
#define LODE_INDEX_APPEND(index, hash, items, count, capacity, ...)                                               \
	((count) >= LODE_NONE - 1 || LODE_GROW((items), (capacity), (size_t)(count) + 1) < 0 ||                   \
			 lode_index_insert((index), (hash), (uint32_t)(count)) < 0                                \
		 ? LODE_SYSTEM                                                                                    \
		 : ((items)[(count)++] = (__VA_ARGS__), 0))

/* Asks for the memory where looking for `hash` begins. */
static inline void lode_index_prefetch(const struct lode_index *index, uint64_t hash)
{
	if (index->slots)
		__builtin_prefetch(&index->slots[(hash >> 32) & index->mask]);
}

/* Bytes that it takes. */
static inline size_t lode_index_bytes(const struct lode_index *index)
{
	return index->slots ? (index->mask + 1) * sizeof(*index->slots) : 0;
}

#endif
