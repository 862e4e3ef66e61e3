/* Time slots: see time_slots.h. */
#include "record/budget/time_slots.h"

#include "base/random.h"

#include <string.h>

void lode_slots_init(struct lode_slots *slots, uint64_t seed)
{
	memset(slots, 0, sizeof(*slots));
	slots->seed = seed;
	slots->slot_ns = LODE_SLOT_NS;
	slots->chosen = slots->next = slots->now.all = LODE_SLOTS_ALL;
	slots->now.on = 1;
	slots->now.factor = LODE_SLOT_UNIT;
}

/* About how many slots a cycle has where that is enough; with fewer, the fraction could not be near its target. */
#define USUAL_SLOTS 16
/* From this fraction on all slots are chosen. */
#define ALL_FRACTION (63.0 / 64)

struct lode_slot_plan lode_slots_plan(double fraction)
{
	unsigned chosen = (unsigned)(fraction * USUAL_SLOTS + 0.5), all;

	if (fraction > ALL_FRACTION)
		return (struct lode_slot_plan){ LODE_SLOTS_ALL, LODE_SLOTS_ALL };
	if (chosen < LODE_SLOTS_MIN_CHOSEN)
		chosen = LODE_SLOTS_MIN_CHOSEN;
	if (fraction * LODE_SLOTS_MAX < chosen)
		return (struct lode_slot_plan){ chosen, LODE_SLOTS_MAX };
	all = (unsigned)(chosen / fraction + 0.5);
	return (struct lode_slot_plan){ chosen, all > chosen ? all : chosen + 1 };
}

double lode_slots_fraction(const struct lode_slots *slots)
{
	return lode_slots_are_all(slots->chosen) ? 1 : (double)slots->chosen / slots->now.all;
}

/* Draws slots one after the other, each with the probability of those still wanted among those that are left. */
static void draw(struct lode_slots *slots, unsigned wanted)
{
	memset(slots->chosen_set, 0, sizeof(slots->chosen_set));
	for (unsigned i = 0; i < slots->now.all; i++) {
		uint32_t random = (uint32_t)(lode_splitmix64(&slots->seed) >> 32);

		if (lode_random_scale(random, slots->now.all - i) >= wanted)
			continue;
		slots->chosen_set[i / 64] |= (uint64_t)1 << i % 64;
		wanted--;
	}
}

/* Slots get longer when waiting for programs took more than this part of the last cycle, and shorter below the other. */
#define LONGER_PART  8
#define SHORTER_PART 64

/* For a cycle of `all` slots that begins. */
static void choose_length(struct lode_slots *slots, unsigned all)
{
	uint64_t cycle = slots->now.all * slots->slot_ns;

	if (slots->attach_wait_ns < cycle / SHORTER_PART && slots->slot_ns > LODE_SLOT_NS)
		slots->slot_ns /= 2;
	for (uint64_t part = cycle / LONGER_PART;
	     slots->attach_wait_ns > part && slots->slot_ns < LODE_SLOT_MAX_NS; part *= 2)
		slots->slot_ns *= 2;
	while (slots->slot_ns > LODE_SLOT_NS && all * slots->slot_ns > LODE_CYCLE_MAX_NS)
		slots->slot_ns /= 2;
	slots->attach_wait_ns = 0;
}

static void begin_slot(struct lode_slots *slots, uint64_t now)
{
	slots->ends_at = lode_slots_are_all(slots->chosen) ? 0 : now + slots->span_ns;
	slots->now.began = now;
}

/* The current slot is the first of a cycle. */
static void begin_cycle(struct lode_slots *slots, struct lode_slot_plan plan)
{
	unsigned chosen = plan.chosen, all = plan.all;

	choose_length(slots, all);
	slots->chosen = chosen;
	slots->now.all = (uint16_t)all;
	slots->now.is_odd ^= 1;
	slots->now.on = 1;
	slots->now.factor = LODE_SLOT_UNIT;
	slots->next = all;
	if (lode_slots_are_all(chosen))
		return;
	slots->next = 0;
	draw(slots, chosen);
	slots->now.factor = (uint16_t)((all * LODE_SLOT_UNIT + chosen / 2) / chosen);
}

static int is_chosen(const struct lode_slots *slots, unsigned i)
{
	return (int)(slots->chosen_set[i / 64] >> i % 64 & 1);
}

int lode_slots_advance(struct lode_slots *slots, struct lode_slot_plan plan, uint64_t now)
{
	if (lode_slots_are_all(slots->chosen) ? lode_slots_are_all(plan.chosen) : now < slots->ends_at)
		return 0;
	if (slots->next >= slots->now.all)
		begin_cycle(slots, plan);
	if (slots->next < slots->now.all) {
		slots->now.on = (uint32_t)is_chosen(slots, slots->next++);
		slots->span_ns = slots->slot_ns;
	}
	/* No need to wake up between slots that are off. */
	while (!slots->now.on && slots->next < slots->now.all && !is_chosen(slots, slots->next)) {
		slots->next++;
		slots->span_ns += slots->slot_ns;
	}
	begin_slot(slots, now);
	return 1;
}

void lode_slots_end_cycle(struct lode_slots *slots, uint64_t now)
{
	uint64_t slot;

	if (lode_slots_are_all(slots->chosen))
		return;
	slots->next = slots->now.all;
	if (slots->now.on || now >= slots->ends_at)
		return;
	slot = (now - slots->now.began) / slots->slot_ns;
	slots->span_ns = (slot + 1) * slots->slot_ns;
	slots->ends_at = slots->now.began + slots->span_ns;
}

void lode_slots_begin_late(struct lode_slots *slots, uint64_t now)
{
	slots->attach_wait_ns += now - slots->now.began;
	begin_slot(slots, now);
}
