/*
 * Random numbers of the generator: the same on every machine, so that a seed names
 * a corpus. Whole numbers only, no mathematical library: its last digits differ.
 */
#ifndef LODE_SYNTH_SYNTH_RANDOM_H
#define LODE_SYNTH_SYNTH_RANDOM_H

#include "base/random.h"

/* A generator of its own for the `number`-th thing of a `kind`, independent of what others drew before. */
static inline struct lode_random lode_synth_random_for(uint64_t seed, uint64_t kind, uint64_t number)
{
	struct lode_random random = { seed };

	random.state = lode_random_next(&random) ^ kind;
	random.state = lode_random_next(&random) ^ number;
	random.state = lode_random_next(&random);
	return random;
}

/* From 0 to limit - 1; 0 when the limit is 0. */
static inline uint64_t lode_synth_random_below(struct lode_random *random, uint64_t limit)
{
	uint64_t bits = lode_random_next(random);

	if (limit >> 32)
		return bits % limit;
	return (bits >> 32) * limit >> 32;
}

/* From `least` to `most`, both included. */
static inline uint64_t lode_synth_random_between(struct lode_random *random, uint64_t least, uint64_t most)
{
	return least + lode_synth_random_below(random, most - least + 1);
}

static inline int lode_synth_random_percent(struct lode_random *random, unsigned percent)
{
	return lode_synth_random_below(random, 100) < percent;
}

/* The same with small numbers far more likely than large ones, as code paths are taken. */
static inline uint64_t lode_synth_random_skewed(struct lode_random *random, uint64_t limit)
{
	uint64_t a = lode_synth_random_below(random, limit), b = lode_synth_random_below(random, limit);

	return limit ? a * b / limit : 0;
}

/*
 * Durations as they are met: many short, few long; `mean` is their mean, below
 * 2^48. Close to exponential: the position of the highest bit of a random number,
 * and the bits behind it for values in between, have the mean 1.5.
 */
static inline uint64_t lode_synth_random_duration(struct lode_random *random, uint64_t mean)
{
	uint64_t bits = lode_random_next(random) | 1u << 11;
	uint64_t zeros = (uint64_t)__builtin_clzll(bits);
	uint64_t behind = (lode_random_next(random) & 1023) + 1;

	return mean * ((zeros << 10) + behind) / 1536;
}

#endif
