/*
 * Random numbers for resampling: the same everywhere and every time, so that results
 * can be compared.
 */
#ifndef LODE_BASE_RANDOM_H
#define LODE_BASE_RANDOM_H

#include <stddef.h>
#include <stdint.h>

/* A counter, scrambled (splitmix64). */
static inline uint64_t lode_splitmix64(uint64_t *state)
{
	uint64_t x = *state += 0x9e3779b97f4a7c15u;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

/* A number below `limit`, which fits 32 bits; the bias of at most limit / 2^32 does not matter here. */
static inline size_t lode_random_scale(uint32_t random, size_t limit)
{
	return (size_t)((uint64_t)random * limit >> 32);
}

#endif
