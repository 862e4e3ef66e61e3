/*
 * Time slots in which the scheduler programs are attached, for budgets that are too small to have them attached all the
 * time: on a machine with very many context switches, an empty program at each of them takes more than 1 %.
 *
 * Time is divided into slots, and slots are grouped into cycles. In each cycle `chosen` of `all` slots are drawn at random,
 * each set of that size with equal probability. Both numbers are fixed before the cycle begins, from what was measured
 * before. A cycle has as few slots as possible for the wanted fraction, and at least two chosen ones, so that the fraction is
 * as constant over time as possible. A wait is recorded when it ends in a chosen slot, however long it was: with n slots and m
 * chosen ones the probability of that is m / n, and its inverse, the factor, multiplies the wait's weight, so that sums stay
 * unbiased: given all that happened before a cycle, which slots are drawn does not depend on what happens in them. Factors are
 * no whole numbers but weights are, so each product is rounded up or down at random, such that it is right on average.
 *
 * Of a wait that began before its slot, when nothing was attached, the scheduler knows when that was (slot_begin.bpf.h). To record
 * only waits whose begin was seen, too, would also be right on average, but not in any one recording: with 2 of 64 slots
 * one in 2,000 of the waits that span two slots would count for 2,000. Half of all waits of 8 ms do.
 *
 * A wait whose begin was seen may span any number of slots: the kernel's own count of a thread's switches tells whether it ran
 * in between, unobserved (recorder.bpf.c).
 *
 * Slots end when the recorder gets to it, on or off alike. That they are not equally long does no harm, since whether a slot
 * is chosen has no influence on where it ends.
 *
 * Between two chosen slots that are not adjacent the programs are detached, and before they can be attached again the kernel
 * waits for an RCU grace period: on a machine whose CPUs are all busy, for tenths of a second. Where that takes much of a
 * cycle, the slots of the next one are longer, up to LODE_SLOT_MAX_NS. No cycle is longer than LODE_CYCLE_MAX_NS, or what
 * recording costs would be left to chance for too long.
 *
 * This header is compiled into the BPF programs, too, which use struct lode_slot. A struct lode_slots belongs to one thread.
 */
#ifndef LODE_RECORD_BUDGET_TIME_SLOTS_H
#define LODE_RECORD_BUDGET_TIME_SLOTS_H

#include <stdint.h>

/* As the number of chosen slots: all of them, so that programs stay attached. A cycle is then one slot without end. */
#define LODE_SLOTS_ALL        64u
#define LODE_SLOTS_MAX        128u /* of a cycle */
#define LODE_SLOTS_MIN_CHOSEN 2u
#define LODE_SLOT_NS          16000000u
#define LODE_SLOT_MAX_NS      128000000u
#define LODE_CYCLE_MAX_NS     2048000000u
/* Factors are in 1/256. */
#define LODE_SLOT_UNIT 256u

/* The current slot, as the programs see it. */
struct lode_slot {
	uint64_t began;  /* what a thread did before is not known for sure */
	uint64_t from;   /* what ends from then on is recorded; all threads were visited by then */
	uint32_t on;     /* 0: nothing is recorded */
	uint16_t factor; /* of what ends in this slot */
	uint16_t all;    /* slots of the cycle */
	uint16_t is_odd; /* every other cycle */
	uint16_t unused[3];
};

/* A weight times a factor, rounded up or down by 32 random bits. */
static inline __attribute__((always_inline)) uint32_t lode_slot_weight(uint32_t weight, uint64_t factor,
								       uint32_t random)
{
	return (uint32_t)((weight * factor + (random >> 24)) / LODE_SLOT_UNIT);
}

/* How many slots of a cycle are chosen. */
struct lode_slot_plan {
	unsigned chosen; /* LODE_SLOTS_MIN_CHOSEN to `all`, or LODE_SLOTS_ALL */
	unsigned all;    /* LODE_SLOTS_MAX at most */
};

struct lode_slots {
	struct lode_slot now;
	uint64_t seed;
	uint64_t slot_ns;        /* length of a slot of this cycle */
	uint64_t attach_wait_ns; /* in this cycle, until programs were attached */
	uint64_t span_ns;        /* length of the current slot, with those behind it that are off like it; */
	uint64_t ends_at;        /* when they are over; 0: never, all slots are chosen */
	unsigned chosen;         /* slots of this cycle; LODE_SLOTS_ALL: programs stay attached */
	unsigned next;           /* index of the slot of this cycle that comes behind them */
	uint64_t chosen_set[LODE_SLOTS_MAX / 64]; /* a bit for each slot of this cycle */
};

static inline int lode_slots_are_all(unsigned chosen)
{
	return chosen >= LODE_SLOTS_ALL;
}

/* A cycle in which `fraction` of the slots are chosen, between 2 / LODE_SLOTS_MAX and 1. */
struct lode_slot_plan lode_slots_plan(double fraction);

/* All slots are chosen until lode_slots_advance gets another plan. */
void lode_slots_init(struct lode_slots *slots, uint64_t seed);
/* Goes to the next slot if the current one is over. `plan`: of a cycle that begins. Returns whether there is another slot now. */
int lode_slots_advance(struct lode_slots *slots, struct lode_slot_plan plan, uint64_t now);
/* Ends the cycle with the current slot. When this is called must not depend on which slots were drawn. */
void lode_slots_end_cycle(struct lode_slots *slots, uint64_t now);
/* The fraction of this cycle's slots that is chosen. */
double lode_slots_fraction(const struct lode_slots *slots);
/* The current slot begins only now, because programs could not be attached before. */
void lode_slots_begin_late(struct lode_slots *slots, uint64_t now);

#endif
