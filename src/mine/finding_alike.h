/*
 * Which links of chains read the same but for numbers in their names (finding_names.h): those of the workers of one server are
 * one here. Private to mine.
 */
#ifndef LODE_MINE_FINDING_ALIKE_H
#define LODE_MINE_FINDING_ALIKE_H

#include "scope/area.h"

/* A zeroed struct holds none. */
struct lode_finding_alike {
	struct lode_chains chains; /* each link once; its names are numbers that only tell them apart, 0 for none */
	uint32_t *numbers;         /* by link of the area: its number in `chains` */
};

/* Release it in either case. Returns 0 or LODE_SYSTEM. */
int lode_finding_alike_make(struct lode_finding_alike *alike, const struct lode_area *area);
void lode_finding_alike_release(struct lode_finding_alike *alike);

/* The link of `alike` that stands for a link of the area. */
static inline const struct lode_chain_link *lode_finding_alike_link(const struct lode_finding_alike *alike,
								    uint32_t number)
{
	return &alike->chains.links[alike->numbers[number]];
}

#endif
