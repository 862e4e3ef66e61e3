/* Slots of time: see time_slots.h. */
#include "record/time_slots.h"

#include "base/random.h"

#include <string.h>

void lode_slots_init(struct lode_slots *slots, uint64_t seed)
{
	memset(slots, 0, sizeof(*slots));
	slots->seed = seed;
	slots->length = LODE_SLOT_NS;
	slots->chosen = slots->next = LODE_SLOTS;
	slots->now.on = 1;
	slots->now.single = slots->now.pair = LODE_SLOT_UNIT;
}

/* Draws slots one after the other, each with the chance that those still wanted are among the ones that are left. */
static uint64_t draw(struct lode_slots *slots, unsigned wanted)
{
	uint64_t set = 0;

	for (unsigned i = 0; i < LODE_SLOTS; i++) {
		uint32_t random = (uint32_t)(lode_splitmix64(&slots->seed) >> 32);

		if (lode_random_scale(random, LODE_SLOTS - i) >= wanted)
			continue;
		set |= (uint64_t)1 << i;
		wanted--;
	}
	return set;
}

static uint32_t factor(unsigned all, unsigned chosen)
{
	return (all * LODE_SLOT_UNIT + chosen / 2) / chosen;
}

/* Of the cycle, the part that waiting may take before slots get longer, and under which they get shorter again. */
#define MUCH   8
#define LITTLE 64

static void choose_length(struct lode_slots *slots)
{
	uint64_t cycle = LODE_SLOTS * slots->length;

	if (slots->waited < cycle / LITTLE && slots->length > LODE_SLOT_NS)
		slots->length /= 2;
	for (uint64_t part = cycle / MUCH; slots->waited > part && slots->length < LODE_SLOT_MOST_NS; part *= 2)
		slots->length *= 2;
	slots->waited = 0;
}

static void begin_slot(struct lode_slots *slots, uint64_t now)
{
	slots->ends = slots->chosen < LODE_SLOTS ? now + slots->lasts : 0;
	slots->now.began = now;
}

/* The slot of now is the first of a cycle. */
static void begin_cycle(struct lode_slots *slots, unsigned chosen)
{
	slots->chosen = chosen;
	choose_length(slots);
	slots->now.cycle = slots->now.number;
	slots->now.on = 1;
	slots->now.single = slots->now.pair = LODE_SLOT_UNIT;
	slots->next = LODE_SLOTS;
	if (chosen >= LODE_SLOTS)
		return;
	slots->next = 0;
	slots->set = draw(slots, chosen);
	slots->now.single = (uint16_t)factor(LODE_SLOTS, chosen);
	slots->now.pair = factor(LODE_SLOTS * (LODE_SLOTS - 1), chosen * (chosen - 1));
}

static int is_chosen(const struct lode_slots *slots, unsigned i)
{
	return (int)(slots->set >> i & 1);
}

int lode_slots_advance(struct lode_slots *slots, unsigned chosen, uint64_t now)
{
	if (slots->chosen >= LODE_SLOTS ? chosen >= LODE_SLOTS : now < slots->ends)
		return 0;
	slots->now.number++;
	if (slots->next >= LODE_SLOTS)
		begin_cycle(slots, chosen);
	if (slots->next < LODE_SLOTS) {
		slots->now.on = (uint32_t)is_chosen(slots, slots->next++);
		slots->lasts = slots->length;
	}
	/* Nobody needs to wake up between slots that are off. */
	while (!slots->now.on && slots->next < LODE_SLOTS && !is_chosen(slots, slots->next)) {
		slots->next++;
		slots->now.number++;
		slots->lasts += slots->length;
	}
	begin_slot(slots, now);
	return 1;
}

void lode_slots_delay(struct lode_slots *slots, uint64_t now)
{
	slots->waited += now - slots->now.began;
	begin_slot(slots, now);
}
