/*
 * Thinning: decides which waits are recorded when not all can be. This code is compiled twice: into the recorder's BPF
 * programs, and into the program, whose tests thin whole recordings by it and compare.
 *
 * The probability is chosen when a thread stops running, before its stack is walked, from what is known then: the *site* where
 * it stops (the thread, its system call, its user program counter and stack pointer) and how long it stopped there before. A
 * sum of costs over all waits is estimated by the costs of the recorded ones over their probabilities (Horvitz and Thompson).
 * Of all probabilities that record equally many waits, those in proportion to the root mean square of a site's lengths have
 * the smallest variance. So one record represents about `scale` nanoseconds of waiting, wherever it is, and the controller
 * (budget.h) sets the cost of recording by the scale.
 *
 * Probabilities are 1/w with whole numbers w, the weights, so that sums of weights stay whole. Between 1 and 2 there would be
 * nothing, so the scale of each wait is dithered around the requested one: the number of records then follows the scale
 * smoothly.
 *
 * A wait that was not chosen and turns out to be long may be recorded as well: one of LODE_THIN_LONG, or of so many times the
 * usual length of its site that its weight would make it count for far more than the others (a few of these would decide a
 * sum). The length at which a wait begins to be long, its *limit*, is known before its length is, like its probability. From
 * there on its weight follows from its length: v = scale / y, for long waits with a shorter scale as long as there is room
 * (lode_thin_long_scale), so that a wait as long as that is always recorded. The same random number u, drawn when the thread
 * stops, decides both. Sums stay right on average. Proof: let a wait have length y, known after the choice, and weight w and
 * limit l, known before it, and let u be uniform in [0, 1). It is recorded with the weight
 *
 *	w, where y <  l and u < 1/w: E = 1/w * w * y = y
 *	v, where y >= l and u < 1/v: E = 1/v * v * y = y
 *	0 (not at all) otherwise
 *
 * so what it adds is y on average, given all that was before it, for any probability and limit. These may depend in any way
 * on what was before, and they do; the differences to the truth are a martingale, and the variance of their sum is the sum of
 * (w - 1) y^2 over all waits, with v for w from the limit on, which the sum of w (w - 1) y^2 over the recorded ones estimates
 * without bias. The same goes for numbers of waits, and for anything else that makes sure that a wait is recorded (a
 * trigger's limit): its weight is 1 then. A wait beyond its limit has the larger probability, so one that was chosen stays
 * chosen while the scale does not change.
 *
 * The limit is the root of w times the usual length, and 4 times at least: by Chebyshev's inequality at most one in w waits is
 * longer, so that long ones cost no more than chosen ones.
 */
#ifndef LODE_RECORD_BUDGET_THINNING_H
#define LODE_RECORD_BUDGET_THINNING_H

#include <stdint.h>

/* Nanoseconds: the largest limit. Waits as long as that are always recorded, unless the scale is several times as long. */
#define LODE_THIN_LONG 10000000ull
/* The largest weight, 1 / the smallest probability; a power of two. */
#define LODE_THIN_MAX_WEIGHT 4096u
/*
 * Rows for sites where threads wait (lode_thin_key), by hash; a power of two. Sites that share a row share what is known of
 * lengths; sums stay unbiased.
 */
#define LODE_WAIT_SITES 16384u
/*
 * As many stacks of a site in a row are the same before others are forgotten. Those that a program begins with are not those that it
 * goes on with: interpreters and compilers at run time move the places in their own code from which they call.
 */
#define LODE_THIN_SAME_STACKS 128
/* A length counts for one in 2^shift against those before it. */
#define LODE_THIN_MEAN_SHIFT 3

/* One cache line. */
struct lode_wait_site {
	uint64_t square; /* fading mean of the squares of lengths, in units of 16 ns squared; 0: no wait yet */
	uint64_t key;    /* of the site whose stacks these are; 0: none */
	uint64_t user;   /* the user stack that was walked here last; 0: none */
	uint64_t kernel; /* and the kernel stack */
	uint64_t epoch;  /* when they were sent */
	uint64_t scale;  /* for which `weight` and `limit` were computed: those of the next waits here, */
	uint32_t weight; /* fixed before their lengths are known */
	uint32_t limit;
	/* Several user stacks were walked here: which one a wait has that was not chosen is unknown, until so many more are the same. */
	uint64_t mixed;
};

#define LODE_THIN_INLINE static inline __attribute__((always_inline))

/* The site where a thread stops running, as a number; never 0. */
LODE_THIN_INLINE uint32_t lode_thin_key(uint32_t tid, uint32_t call, uint64_t pc, uint64_t sp)
{
	uint64_t key = ((uint64_t)tid << 32 | call) * 0x9e3779b97f4a7c15ull;

	key = (key ^ key >> 29 ^ pc) * 0xbf58476d1ce4e5b9ull;
	key = (key ^ key >> 32 ^ sp) * 0x94d049bb133111ebull;
	return (uint32_t)(key >> 32) | 1;
}

LODE_THIN_INLINE uint32_t lode_thin_index(uint32_t key)
{
	return key >> 8 & (LODE_WAIT_SITES - 1);
}

/* Between three and five quarters of the scale, by the lower 7 bits of a random number. */
LODE_THIN_INLINE uint64_t lode_thin_dither(uint64_t scale, uint32_t random)
{
	return scale - (scale >> 2) + (scale >> 8) * (random & 127);
}

/* The weight of the next wait at a site: scale / root mean square of lengths; 1 where nothing is known. */
LODE_THIN_INLINE uint32_t lode_thin_weight(uint64_t square, uint64_t scale)
{
	uint64_t ratio;
	uint32_t root = 0;

	if (scale > LODE_THIN_LONG * LODE_THIN_MAX_WEIGHT)
		scale = LODE_THIN_LONG * LODE_THIN_MAX_WEIGHT; /* its square still fits, */
	/* in units of 16 ns */
	scale >>= 4;
	if (!square || scale * scale <= square)
		return 1;
	ratio = scale * scale / square;
	if (ratio >= (uint64_t)LODE_THIN_MAX_WEIGHT * LODE_THIN_MAX_WEIGHT)
		return LODE_THIN_MAX_WEIGHT;
	/* The square root, bit by bit and without branches: the verifier would follow both ways of each. */
	for (uint32_t bit = LODE_THIN_MAX_WEIGHT / 2; bit; bit >>= 1) {
		uint64_t larger = root | bit, exceeds = (ratio - larger * larger) >> 63;

		__asm__("" : "+r"(exceeds)); /* else compilers would make branches of it */
		root |= bit & ((uint32_t)exceeds - 1);
	}
	return root;
}

/*
 * Whether weight and limit of a site must be computed again: the scale changed, or it is time for another dither and for what
 * was learnt since. That is once in 16 times, by bits that neither the dither nor the choice uses.
 */
LODE_THIN_INLINE int lode_thin_is_stale(uint64_t computed_for, uint64_t scale, uint32_t random)
{
	return computed_for != scale || !(random >> 7 & 15);
}

/* Whether a wait is chosen: once in `weight` times, by 32 random bits, of which the upper ones decide. */
LODE_THIN_INLINE int lode_thin_choose(uint32_t weight, uint32_t random)
{
	return (uint64_t)random * weight >> 32 == 0;
}

/* Learns the length of a wait that is over. Long ones count as LODE_THIN_LONG, since they are recorded in any case. */
LODE_THIN_INLINE void lode_thin_learn(uint64_t *square, uint64_t length)
{
	uint64_t steps = (length < LODE_THIN_LONG ? length : LODE_THIN_LONG) >> 4, now = steps * steps | 1;
	uint64_t mean = *square;

	if (!mean)
		*square = now;
	else if (now > mean)
		*square = mean + ((now - mean) >> LODE_THIN_MEAN_SHIFT);
	else
		*square = mean - ((mean - now) >> LODE_THIN_MEAN_SHIFT);
}

/* The length from which on a wait with this weight is recorded though it was not chosen; `scale` as in lode_thin_weight. */
LODE_THIN_INLINE uint32_t lode_thin_limit(uint32_t weight, uint64_t scale)
{
	uint64_t times = 4, limit;

	/* 14 rounds are enough for all weights; the verifier of Linux 6.1 needs a bound. */
	for (int i = 0; i < 14 && times * times < weight; i++)
		times *= 2;
	limit = scale / weight * times; /* the usual length is about scale / weight */
	return (uint32_t)(limit < LODE_THIN_LONG ? limit : LODE_THIN_LONG);
}

/*
 * Waits of LODE_THIN_LONG and longer have a scale of their own, LODE_THIN_LONG_RATIO times shorter. They are what people look
 * for, and few: so all are recorded up to a scale of LODE_THIN_ALL_LONG nanoseconds, however it is dithered. From there on
 * there are too many of them.
 */
#define LODE_THIN_LONG_RATIO 6u
#define LODE_THIN_ALL_LONG   80000000ull

LODE_THIN_INLINE uint64_t lode_thin_long_scale(uint64_t scale)
{
	uint64_t least = LODE_THIN_LONG + LODE_THIN_LONG / 2, own = scale / LODE_THIN_LONG_RATIO;

	return scale < least ? scale : own < least ? least : own;
}

/* The weight of a wait that reached its limit: 1 where it is as long as its scale. */
LODE_THIN_INLINE uint32_t lode_thin_long_weight(uint64_t length, uint64_t requested)
{
	uint64_t scale = length < LODE_THIN_LONG ? requested : lode_thin_long_scale(requested);
	uint64_t weight = length < scale ? scale / length : 1;

	return weight < LODE_THIN_MAX_WEIGHT ? (uint32_t)weight : LODE_THIN_MAX_WEIGHT;
}

/*
 * A wait is over: the weight with which it is recorded; 0: it is not. `weight`: that with which it was chosen, by the same
 * random bits, or 0.
 */
LODE_THIN_INLINE uint32_t lode_thin_settle(uint32_t weight, uint32_t limit, uint64_t length, uint64_t scale,
					   uint32_t random)
{
	if (length < limit || !length)
		return weight;
	weight = lode_thin_long_weight(length, lode_thin_dither(scale, random));
	return lode_thin_choose(weight, random) ? weight : 0;
}

#endif
