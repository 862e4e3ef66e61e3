/*
 * Renumber: small numbers, from 0 in order of first appearance, for those few of
 * many ids that a part of a file uses: a thread's stacks out of all stacks.
 * Starting again costs nothing, for any number of ids.
 */
#ifndef LODE_EXPORT_RENUMBER_H
#define LODE_EXPORT_RENUMBER_H

#include "base/error.h"
#include "base/memory.h"

struct lode_renumber {
	uint32_t *epochs;  /* in which id i was last numbered; 0: never */
	uint32_t *numbers; /* its number then */
	uint32_t *ids;     /* the id of each number */
	size_t ids_known;  /* ids below this may be requested */
	size_t epochs_capacity;
	size_t numbers_capacity;
	size_t ids_capacity;
	uint32_t count; /* numbers given in this epoch */
	uint32_t epoch;
};

/* A zeroed struct knows no ids. */
void lode_renumber_release(struct lode_renumber *renumber);
/* Makes ids below `count` known (there may only ever be more of them), and starts again. */
int lode_renumber_start(struct lode_renumber *renumber, size_t count, struct lode_error *error);

static inline int lode_renumber_has(const struct lode_renumber *renumber, uint32_t id)
{
	return renumber->epochs[id] == renumber->epoch;
}

/* The number of `id`, the next free one if it has none. */
static inline uint32_t lode_renumber_get(struct lode_renumber *renumber, uint32_t id)
{
	if (!lode_renumber_has(renumber, id)) {
		renumber->epochs[id] = renumber->epoch;
		renumber->numbers[id] = renumber->count;
		renumber->ids[renumber->count++] = id;
	}
	return renumber->numbers[id];
}

#endif
