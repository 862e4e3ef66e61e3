/* Slots of time: see time_slots.h. */
#include "record/budget/time_slots.h"

#include "base/random.h"

#include <string.h>

void lode_slots_init(struct lode_slots *slots, uint64_t seed)
{
	memset(slots, 0, sizeof(*slots));
	slots->seed = seed;
	slots->length = LODE_SLOT_NS;
	slots->chosen = slots->next = slots->now.all = LODE_SLOTS;
	slots->now.on = 1;
	slots->now.single = slots->now.pair = LODE_SLOT_UNIT;
}

/* With fewer slots the part could not be near what is wanted; from the second number on it is all of them. */
#define FEW    16
#define NEARLY (63.0 / 64)

struct lode_slot_plan lode_slots_plan(double part)
{
	unsigned chosen = (unsigned)(part * FEW + 0.5), all;

	if (part > NEARLY)
		return (struct lode_slot_plan){ LODE_SLOTS, LODE_SLOTS };
	if (chosen < LODE_SLOTS_LEAST)
		chosen = LODE_SLOTS_LEAST;
	if (part * LODE_SLOTS_MOST < chosen)
		return (struct lode_slot_plan){ chosen, LODE_SLOTS_MOST };
	all = (unsigned)(chosen / part + 0.5);
	return (struct lode_slot_plan){ chosen, all > chosen ? all : chosen + 1 };
}

double lode_slots_part(const struct lode_slots *slots)
{
	return slots->chosen < LODE_SLOTS ? (double)slots->chosen / slots->now.all : 1;
}

/* Draws slots one after the other, each with the chance that those still wanted are among the ones that are left. */
static void draw(struct lode_slots *slots, unsigned wanted)
{
	memset(slots->set, 0, sizeof(slots->set));
	for (unsigned i = 0; i < slots->now.all; i++) {
		uint32_t random = (uint32_t)(lode_splitmix64(&slots->seed) >> 32);

		if (lode_random_scale(random, slots->now.all - i) >= wanted)
			continue;
		slots->set[i / 64] |= (uint64_t)1 << i % 64;
		wanted--;
	}
}

static uint32_t factor(unsigned all, unsigned chosen)
{
	return (all * LODE_SLOT_UNIT + chosen / 2) / chosen;
}

/* Of the cycle, the part that waiting may take before slots get longer, and under which they get shorter again. */
#define MUCH   8
#define LITTLE 64

/* Of the cycle that begins, which has so many slots. */
static void choose_length(struct lode_slots *slots, unsigned all)
{
	uint64_t cycle = slots->now.all * slots->length;

	if (slots->waited < cycle / LITTLE && slots->length > LODE_SLOT_NS)
		slots->length /= 2;
	for (uint64_t part = cycle / MUCH; slots->waited > part && slots->length < LODE_SLOT_MOST_NS; part *= 2)
		slots->length *= 2;
	while (slots->length > LODE_SLOT_NS && all * slots->length > LODE_CYCLE_MOST_NS)
		slots->length /= 2;
	slots->waited = 0;
}

static void begin_slot(struct lode_slots *slots, uint64_t now)
{
	slots->ends = slots->chosen < LODE_SLOTS ? now + slots->lasts : 0;
	slots->now.began = now;
}

/* The slot of now is the first of a cycle. */
static void begin_cycle(struct lode_slots *slots, struct lode_slot_plan plan)
{
	unsigned chosen = plan.chosen, all = plan.all;

	choose_length(slots, all);
	slots->chosen = chosen;
	slots->now.all = (uint16_t)all;
	slots->now.is_odd ^= 1;
	slots->now.cycle = slots->now.number;
	slots->now.on = 1;
	slots->now.single = slots->now.pair = LODE_SLOT_UNIT;
	slots->next = all;
	if (chosen >= LODE_SLOTS)
		return;
	slots->next = 0;
	draw(slots, chosen);
	slots->now.single = (uint16_t)factor(all, chosen);
	slots->now.pair = factor(all * (all - 1), chosen * (chosen - 1));
}

static int is_chosen(const struct lode_slots *slots, unsigned i)
{
	return (int)(slots->set[i / 64] >> i % 64 & 1);
}

int lode_slots_advance(struct lode_slots *slots, struct lode_slot_plan plan, uint64_t now)
{
	if (slots->chosen >= LODE_SLOTS ? plan.chosen >= LODE_SLOTS : now < slots->ends)
		return 0;
	slots->now.number++;
	if (slots->next >= slots->now.all)
		begin_cycle(slots, plan);
	if (slots->next < slots->now.all) {
		slots->now.on = (uint32_t)is_chosen(slots, slots->next++);
		slots->lasts = slots->length;
	}
	/* No need to wake up between slots that are off. */
	while (!slots->now.on && slots->next < slots->now.all && !is_chosen(slots, slots->next)) {
		slots->next++;
		slots->now.number++;
		slots->lasts += slots->length;
	}
	begin_slot(slots, now);
	return 1;
}

void lode_slots_end_cycle(struct lode_slots *slots, uint64_t now)
{
	uint64_t slot, last;

	if (slots->chosen >= LODE_SLOTS)
		return;
	slots->next = slots->now.all;
	if (slots->now.on || now >= slots->ends)
		return;
	slot = (now - slots->now.began) / slots->length;
	last = slots->lasts / slots->length - 1;
	slots->now.number = (uint16_t)(slots->now.number - (last - slot));
	slots->lasts = (slot + 1) * slots->length;
	slots->ends = slots->now.began + slots->lasts;
}

void lode_slots_delay(struct lode_slots *slots, uint64_t now)
{
	slots->waited += now - slots->now.began;
	begin_slot(slots, now);
}
