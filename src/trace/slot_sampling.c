/* Slots of time and the variance of sums: see slot_sampling.h. */
#include "trace/slot_sampling.h"

#include "base/bisect.h"
#include "base/error.h"
#include "base/random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Slots of a cycle at most; what claims to have more counts as several. */
#define CYCLE_SLOTS 64
/* 95 % points of Student's distribution with LODE_SPREADS degrees of freedom, and of the normal one. */
#define STUDENT_POINT 2.1199
#define NORMAL_POINT  1.9600

void lode_slot_sampling_release(struct lode_slot_sampling *sampling)
{
	lode_free(sampling->slots);
	memset(sampling, 0, sizeof(*sampling));
}

/* Whether this is the name of a slot. */
static int read_name(const char *name, uint32_t *chosen, uint32_t *all)
{
	size_t length = strlen(LODE_SLOT_NAME);

	if (strncmp(name, LODE_SLOT_NAME, length) || sscanf(name + length, "%5u/%5u", chosen, all) != 2)
		return 0;
	return *chosen > 0 && *chosen <= *all;
}

int lode_slot_sampling_is_possible(const struct lode_strings *strings)
{
	uint32_t chosen, all;

	for (size_t i = 0; i < strings->count; i++)
		if (strings->items[i].text[0] == LODE_SLOT_NAME[0] &&
		    read_name(strings->items[i].text, &chosen, &all))
			return 1;
	return 0;
}

int lode_slot_sampling_see(struct lode_slot_sampling *sampling, const struct lode_events *calls,
			   const struct lode_strings *strings)
{
	for (size_t i = 0; i < calls->count; i++) {
		struct lode_sampled_slot slot = { .begin = calls->t[i], .name = calls->name[i] };

		if (!read_name(lode_strings_get(strings, slot.name), &slot.chosen, &slot.all))
			continue;
		slot.end = lode_add_saturating(slot.begin, calls->delay[i]);
		if (LODE_APPEND(sampling->slots, sampling->count, sampling->capacity, slot) < 0)
			return LODE_SYSTEM;
	}
	return 0;
}

static int compare_slots(const void *a, const void *b)
{
	const struct lode_sampled_slot *left = a, *right = b;

	return left->begin < right->begin ? -1 : left->begin > right->begin;
}

/* Signs of one random sum for `count` slots, in a random order: pairs of opposite ones; of three one is left out. */
static void draw_signs(struct lode_sampled_slot *slots, size_t count, size_t sum, struct lode_random *random)
{
	double scale = sqrt(1 - (double)slots->chosen / slots->all);
	size_t order[CYCLE_SLOTS], i;

	for (i = 0; i < count; i++) {
		size_t other = lode_random_below(random, i + 1);

		order[i] = order[other];
		order[other] = i;
	}
	for (i = 0; i + 1 < count; i += 2) {
		double size = i + 3 == count ? scale * sqrt(1.5) : scale;

		size = lode_random_next(random) >> 63 ? size : -size;
		slots[order[i]].signs[sum] = (float)size;
		slots[order[i + 1]].signs[sum] = (float)-size;
	}
	if (i < count) /* of one slot nothing is known but itself */
		slots[order[i]].signs[sum] = (float)(count > 1                        ? 0
						     : lode_random_next(random) >> 63 ? scale
										      : -scale);
}

void lode_slot_sampling_settle(struct lode_slot_sampling *sampling, uint64_t seed)
{
	struct lode_random random = { seed };
	size_t first = 0;

	if (sampling->count)
		qsort(sampling->slots, sampling->count, sizeof(*sampling->slots), compare_slots);
	for (size_t i = 1; i <= sampling->count; i++) {
		if (i < sampling->count && sampling->slots[i].name == sampling->slots[first].name &&
		    i - first < CYCLE_SLOTS)
			continue;
		for (size_t sum = 0; sum < LODE_SPREADS; sum++)
			draw_signs(&sampling->slots[first], i - first, sum, &random);
		first = i;
	}
}

/* The slot of this moment, or NULL. Events are nearly in order, so it is looked for near the last one. */
static const struct lode_sampled_slot *find(struct lode_slot_sampling *sampling, uint64_t t)
{
	const struct lode_sampled_slot *slots = sampling->slots;
	size_t at;

	if (!sampling->count)
		return NULL;
	if (slots[sampling->found].begin <= t && t <= slots[sampling->found].end)
		return &slots[sampling->found];
	at = LODE_BISECT(i, 0, sampling->count, slots[i].end < t);
	if (at == sampling->count || slots[at].begin > t)
		return NULL;
	sampling->found = at;
	return &slots[at];
}

double lode_slot_sampling_add(struct lode_slot_sampling *sampling, uint64_t end, uint64_t cost, uint64_t weight,
			      float spread[LODE_SPREADS])
{
	const struct lode_sampled_slot *slot = weight > 1 ? find(sampling, end) : NULL;
	double own, length = (double)cost;

	if (!slot)
		return lode_sampling_variance(cost, weight);
	own = (double)weight * slot->chosen / slot->all;
	for (size_t i = 0; i < LODE_SPREADS; i++)
		spread[i] += (float)(slot->signs[i] * (double)weight * length);
	return own > 1 ? (double)weight * (own - 1) * length * length : 0;
}

double lode_slot_sampling_between(const float spread[LODE_SPREADS])
{
	double squares = 0, wider = STUDENT_POINT / NORMAL_POINT;

	for (size_t i = 0; i < LODE_SPREADS; i++)
		squares += (double)spread[i] * (double)spread[i];
	return squares / LODE_SPREADS * wider * wider;
}
