/* Hashes of numbers and bytes. */
#ifndef LODE_BASE_HASH_H
#define LODE_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

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

/* The hash of what `hash` is the hash of, and of a number (or another hash) behind it. */
static inline uint64_t lode_hash_more(uint64_t hash, uint64_t number)
{
	return lode_hash_u64(hash ^ number);
}

/* A good hash of bytes (XXH3), for an index. */
uint64_t lode_hash_bytes(const void *bytes, size_t size);
/* The same in every process: for what is kept, such as ids and checksums. */
uint64_t lode_digest_bytes(const void *bytes, size_t size);

#endif
