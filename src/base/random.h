/* Random numbers for resampling and searches: seeded, the same on every machine, so that results can be
 * compared. */
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

/*
 * A generator with its own state. Each piece of work seeds one, so that the number of
 * threads cannot change a result.
 */
struct lode_random {
	uint64_t state;
};

static inline uint64_t lode_random_next(struct lode_random *random)
{
	return lode_splitmix64(&random->state);
}

/* Evenly among 0 … count - 1; `count` is above 0 and below 2^32. */
static inline size_t lode_random_below(struct lode_random *random, size_t count)
{
	return lode_random_scale((uint32_t)(lode_random_next(random) >> 32), count);
}

/* Evenly in [0, 1). */
static inline double lode_random_unit(struct lode_random *random)
{
	return (double)(lode_random_next(random) >> 11) * 0x1p-53;
}

/* A generator for piece `i` of the work that `seed` began. */
static inline struct lode_random lode_random_piece(uint64_t seed, uint64_t i)
{
	struct lode_random random = { seed ^ (i + 1) * 0xd1342543de82ef95u };

	random.state = lode_random_next(&random);
	return random;
}

#endif
