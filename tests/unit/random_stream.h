/* Random streams for property tests: small numbers, so that things collide, and odd texts. */
#ifndef LODE_TESTS_RANDOM_STREAM_H
#define LODE_TESTS_RANDOM_STREAM_H

#include "trace/stream.h"

/* xorshift64*: the same seed gives the same tests everywhere. */
static inline uint64_t random_next(uint64_t *seed)
{
	*seed ^= *seed >> 12;
	*seed ^= *seed << 25;
	*seed ^= *seed >> 27;
	return *seed * 0x2545f4914f6cdd1du;
}

static inline uint64_t random_below(uint64_t *seed, uint64_t limit)
{
	return limit ? random_next(seed) % limit : 0;
}

/* A number that is small, medium or huge with equal chance. */
static inline uint64_t random_number(uint64_t *seed)
{
	switch (random_below(seed, 4)) {
	case 0:
		return random_below(seed, 3);
	case 1:
		return random_below(seed, 1000);
	case 2:
		return random_below(seed, 1ull << 40);
	default:
		return random_next(seed);
	}
}

/*
 * Fills `stream` (over an initialised dictionary) with up to `size` events of
 * each type and everything else a stream can have, then sorts it. Returns 0 or
 * a negative code.
 */
int random_stream(struct lode_stream *stream, uint64_t *seed, size_t size);

/* Whether two streams say the same, whatever the numbers of their dictionaries; prints the first difference. */
int streams_equal(const struct lode_stream *a, const struct lode_stream *b);

#endif
