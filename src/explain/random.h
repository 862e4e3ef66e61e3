/*
 * Random numbers for the searches: small, seeded, the same on every machine.
 * Each piece of work seeds its own, so that threads cannot change an answer.
 */
#ifndef LODE_EXPLAIN_RANDOM_H
#define LODE_EXPLAIN_RANDOM_H

#include <stddef.h>
#include <stdint.h>

struct lode_random {
	uint64_t state;
};

static inline uint64_t lode_random_next(struct lode_random *random)
{
	uint64_t z = random->state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

/* Evenly among 0 … count - 1; `count` is above 0 and below 2^32. */
static inline size_t lode_random_below(struct lode_random *random, size_t count)
{
	return (size_t)((lode_random_next(random) >> 32) * count >> 32);
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
