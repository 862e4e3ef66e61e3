/*
 * How far sums of a stream may be off that was recorded in slots of time.
 *
 * Where context switches alone take too much, a recorder with a budget sees them only in some slots, which it draws at
 * random: of `all` slots of a cycle `chosen` ones. Each is in the stream as a call named LODE_SLOT_NAME, with its length as
 * delay. What happens in one slot is seen or missed together, so the variance of a sum is that
 * between the slots of a cycle: with z for what one slot adds to the sum, weights included,
 *
 *	(1 - chosen / all) * chosen / (chosen - 1) * sum over the slots of (z - mean)^2
 *
 * and besides, within slots, each event was recorded with its own chance, 1 / u for a weight of u * all / chosen,
 * which adds weight * (u - 1) * cost^2.
 *
 * The first part is not a sum over events, and no sum over stacks either: those of one slot come together. So it is
 * estimated by LODE_SPREADS random sums. In each of them every slot has a random sign, such that the signs of a cycle
 * add up to nothing; an event adds its weighted cost with the sign of its slot. The square of such a sum is the variance
 * on average, and the sums of two stacks together are those of their union. The mean of LODE_SPREADS squares has
 * as many degrees of freedom.
 */
#ifndef LODE_TRACE_SLOT_SAMPLING_H
#define LODE_TRACE_SLOT_SAMPLING_H

#include "base/strings.h"
#include "trace/events.h"

/* "slot 7/64 a": of a cycle of 64 slots 7 were chosen; the letter is another one in the next cycle. */
#define LODE_SLOT_NAME "slot "

#define LODE_SPREADS 16

struct lode_sampled_slot {
	uint64_t begin;
	uint64_t end;
	uint32_t chosen;
	uint32_t all;
	uint32_t name; /* string */
	uint32_t unused;
	float signs[LODE_SPREADS];
};

struct lode_slot_sampling {
	struct lode_sampled_slot *slots; /* by time */
	size_t count;                    /* 0: the stream was not recorded in slots */
	size_t capacity;
	size_t found; /* the last one that was looked for */
};

void lode_slot_sampling_release(struct lode_slot_sampling *sampling);
/* Whether a stream with these strings may have slots. */
int lode_slot_sampling_is_possible(const struct lode_strings *strings);
/* Takes the slots among calls, of which t, delay and name are needed. Returns 0 or LODE_SYSTEM. */
int lode_slot_sampling_see(struct lode_slot_sampling *sampling, const struct lode_events *calls,
			   const struct lode_strings *strings);
/* When all slots were seen. Streams have different seeds, so that their sums are independent. */
void lode_slot_sampling_settle(struct lode_slot_sampling *sampling, uint64_t seed);
/*
 * What an event that ended at `end` adds to the variance within slots, which is all of it outside of them; and to `spread`, which may be NULL where
 * there are no slots.
 */
double lode_slot_sampling_add(struct lode_slot_sampling *sampling, uint64_t end, uint64_t cost, uint64_t weight,
			      float spread[LODE_SPREADS]);
/*
 * The variance between slots from the sums; larger than their mean square by as much as an interval of such few is wider than
 * one of the normal distribution.
 */
double lode_slot_sampling_between(const float spread[LODE_SPREADS]);

#endif
