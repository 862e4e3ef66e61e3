/*
 * Time slots in which the scheduler programs are attached, for budgets that are too small to have them attached
 * all the time: on a machine with very many context switches an empty program at each of them takes more than 1
 * %.
 *
 * Time is divided into slots, and slots are grouped into cycles. A cycle has as few slots as possible for the
 * wanted share, at least two, so that the share is as constant over time as possible. In each cycle `chosen`
 * slots are drawn at random, each set of that size with equal probability; both numbers are fixed before the
 * cycle begins, by what was seen before. A wait is recorded when its begin and its end are both in chosen
 * slots. With n slots and m chosen ones the chance for that is
 *
 *	m / n                       begin and end in one slot
 *	m (m - 1) / (n (n - 1))     in two slots of one cycle
 *	m / n * m' / n              in two cycles, of which the later one has m' chosen slots
 *
 * and its inverse multiplies the wait's weight, so that sums stay unbiased: given all that happened before a cycle,
 * the chance of its slots does not depend on what happens in them. These factors are no whole numbers but weights are,
 * so each product is rounded up or down at random, to itself on average.
 *
 * The kernel's own counts of its switches say whether a thread ran between two slots, unobserved
 * (recorder.bpf.c): a wait that is still the same has not changed them. So a wait may span any number of slots.
 *
 * Slots end when the recorder gets to it, on or off alike: that they are not equally long does no harm, since whether one is
 * chosen has no influence on where it ends.
 *
 * Between two chosen slots that are not next to each other the programs are detached, and before they can be attached again the kernel
 * waits for readers (an RCU grace period), on a machine whose processors are all taken for tenths of a second. Where
 * that takes much of a cycle, the slots of the next one are longer, LODE_SLOT_MOST_NS at most, and no cycle is longer than LODE_CYCLE_MOST_NS: what
 * it takes would be left to chance for too long.
 *
 * This header is compiled into the BPF programs, too.
 */
#ifndef LODE_RECORD_BUDGET_TIME_SLOTS_H
#define LODE_RECORD_BUDGET_TIME_SLOTS_H

#include <stdint.h>

#define LODE_SLOTS         64u  /* so many chosen ones stand for all there are */
#define LODE_SLOTS_MOST    128u /* of a cycle */
#define LODE_SLOT_NS       16000000u
#define LODE_SLOT_MOST_NS  128000000u
#define LODE_CYCLE_MOST_NS 2048000000u
#define LODE_SLOTS_LEAST   2u
/* Factors are in 1/256. */
#define LODE_SLOT_UNIT 256u

/* The slot of now, as the programs see it. */
struct lode_slot {
	uint64_t began;  /* what a thread did before that is not known for sure */
	uint32_t on;     /* 0: nothing is recorded */
	uint16_t number; /* modulo 65536: waits of 27 minutes and more may get the factor of shorter ones */
	uint16_t cycle;  /* the number of the first slot of its cycle */
	uint32_t pair;   /* factor of what begins in another slot of this cycle and ends in it */
	uint16_t single; /* of what begins and ends in it */
	uint16_t all;    /* slots of the cycle; */
	uint16_t is_odd; /* every other cycle */
	uint16_t unused[3];
};

/* The factor of what began in slot `number`, whose own one is `single`, and ends in `slot`. */
static inline __attribute__((always_inline)) uint64_t lode_slot_factor(const volatile struct lode_slot *slot,
								       uint16_t number, uint16_t single)
{
	if (number == slot->number)
		return slot->single;
	if ((uint16_t)(number - slot->cycle) < LODE_SLOTS_MOST)
		return slot->pair;
	return (uint64_t)single * slot->single / LODE_SLOT_UNIT;
}

/* A weight times a factor, up or down to a whole number by 32 random bits. */
static inline __attribute__((always_inline)) uint32_t lode_slot_weight(uint32_t weight, uint64_t factor,
								       uint32_t random)
{
	return (uint32_t)((weight * factor + (random >> 24)) / LODE_SLOT_UNIT);
}

struct lode_slots {
	struct lode_slot now;
	uint64_t seed;
	uint64_t length;                    /* of a slot of this cycle */
	uint64_t waited;                    /* in this cycle, for programs to be attached */
	uint64_t lasts;                     /* how long it and those behind it that are off like it are; */
	uint64_t ends;                      /* when they are over; 0: it lasts as long as all slots are chosen */
	unsigned chosen;                    /* slots of this cycle; LODE_SLOTS: all, which is one slot then */
	unsigned next;                      /* slot of this cycle that comes behind them */
	uint64_t set[LODE_SLOTS_MOST / 64]; /* the chosen ones, a bit each */
};

/* What a cycle is to be. */
struct lode_slot_plan {
	unsigned chosen; /* LODE_SLOTS_LEAST to `all`; LODE_SLOTS: all */
	unsigned all;    /* LODE_SLOTS_MOST at most */
};

static inline int lode_slots_are_all(unsigned chosen)
{
	return chosen >= LODE_SLOTS;
}

/* A cycle in which this part of the slots is chosen, between 2 / LODE_SLOTS_MOST and 1. */
struct lode_slot_plan lode_slots_plan(double part);

/* Everything is recorded until a cycle with fewer chosen slots begins. */
void lode_slots_init(struct lode_slots *slots, uint64_t seed);
/* Goes to the next slot if it is time for that; `plan`: of the cycle that begins then. Returns whether there is another slot now. */
int lode_slots_advance(struct lode_slots *slots, struct lode_slot_plan plan, uint64_t now);
/* Another cycle begins behind the slot of now; when that is asked for must not depend on what was drawn. */
void lode_slots_end_cycle(struct lode_slots *slots, uint64_t now);
/* Of the slots of this cycle, the part that is chosen. */
double lode_slots_part(const struct lode_slots *slots);
/* The slot of now begins only now: programs could not be attached before. */
void lode_slots_delay(struct lode_slots *slots, uint64_t now);

#endif
