/*
 * Index: an open-addressing hash table from a 64-bit hash to a 32-bit id.
 *
 * The things themselves live in the caller's arrays; the index knows only
 * hashes and ids. A look-up walks the ids whose hash bits agree and the caller
 * compares:
 *
 *	size_t probe = 0;
 *	uint32_t id;
 *
 *	while ((id = lode_index_next(&index, hash, &probe)) != LODE_NONE)
 *		if (equal(id))
 *			return id;
 *
 * A slot is eight bytes: the upper half of the hash beside the id plus one, so
 * most wrong candidates are refused without touching the caller's memory.
 */
#ifndef LODE_BASE_INDEX_H
#define LODE_BASE_INDEX_H

#include "base/memory.h"

struct lode_index {
	uint64_t *slots; /* hash >> 32 in the upper half, id + 1 in the lower; 0 is empty */
	size_t mask;     /* number of slots - 1, a power of two; 0 while there are none */
	size_t count;
};

/* A zeroed struct is an empty index. */
void lode_index_release(struct lode_index *index);
/* Makes room for `count` ids in all. Returns 0 or LODE_SYSTEM. */
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

/*
 * Random numbers of this process, set before main and never again: who writes a
 * file cannot choose values that all come to one place. So hashes differ from run
 * to run, and nothing but the order of slots may depend on them.
 */
#define LODE_HASH_SECRET 192

struct lode_hash_key {
	uint64_t add;
	uint64_t multiply[2]; /* odd */
	unsigned char secret[LODE_HASH_SECRET];
};

extern struct lode_hash_key lode_hash_key;

/* A good hash of two 32-bit numbers, for pairs of ids. */
static inline uint64_t lode_hash_pair(uint32_t a, uint32_t b)
{
	uint64_t x = (((uint64_t)a << 32 | b) + lode_hash_key.add) * lode_hash_key.multiply[0];

	x ^= x >> 32;
	return x * lode_hash_key.multiply[1];
}

static inline uint64_t lode_hash_u64(uint64_t number)
{
	return lode_hash_pair((uint32_t)(number >> 32), (uint32_t)number);
}

/* A good hash of bytes (XXH3), for an index. */
uint64_t lode_hash_bytes(const void *bytes, size_t size);
/* The same in every process: for what is kept, such as ids and checksums. */
uint64_t lode_digest_bytes(const void *bytes, size_t size);

#endif
