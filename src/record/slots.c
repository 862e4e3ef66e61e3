/* Slots of time: see slots.h. A cycle's slots are drawn one after the other: each with the chance that those still wanted fit. */
#include "record/slots.h"

#include "base/random.h"

#include <string.h>

void lode_slots_init(struct lode_slots *slots, uint64_t seed)
{
	memset(slots, 0, sizeof(*slots));
	slots->seed = seed;
	slots->chosen = LODE_SLOTS;
	slots->now.on = 1;
	slots->now.single = slots->now.pair = LODE_SLOT_UNIT;
}

static uint16_t factor(unsigned all, unsigned chosen)
{
	return (uint16_t)((all * LODE_SLOT_UNIT + chosen / 2) / chosen);
}

static void begin_cycle(struct lode_slots *slots, unsigned chosen)
{
	slots->chosen = chosen;
	slots->now.cycle = slots->now.number;
	slots->left = slots->left_on = 0;
	slots->now.on = 1;
	slots->now.single = slots->now.pair = LODE_SLOT_UNIT;
	if (chosen >= LODE_SLOTS)
		return;
	slots->left = LODE_SLOTS;
	slots->left_on = chosen;
	slots->now.single = factor(LODE_SLOTS, chosen);
	slots->now.pair = factor(LODE_SLOTS * (LODE_SLOTS - 1), chosen * (chosen - 1));
}

int lode_slots_advance(struct lode_slots *slots, unsigned chosen, uint64_t now)
{
	if (slots->chosen >= LODE_SLOTS ? chosen >= LODE_SLOTS : now < slots->ends)
		return 0;
	slots->now.number++;
	if (!slots->left)
		begin_cycle(slots, chosen);
	if (slots->left) {
		slots->now.on = lode_random_scale((uint32_t)(lode_splitmix64(&slots->seed) >> 32), slots->left) < slots->left_on;
		slots->left_on -= slots->now.on;
		slots->left--;
	}
	lode_slots_delay(slots, now);
	return 1;
}

void lode_slots_delay(struct lode_slots *slots, uint64_t now)
{
	slots->ends = slots->chosen < LODE_SLOTS ? now + LODE_SLOT_NS : 0;
	slots->now.began = now;
}
