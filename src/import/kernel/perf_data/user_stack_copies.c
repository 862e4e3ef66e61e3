/* Copies of user stacks: see user_stack_copies.h. */
#include "import/kernel/perf_data/user_stack_copies.h"

#include "base/memory.h"
#include "import/kernel/perf_data/distinct_chains.h"

#include <string.h>

void lode_perf_copies_release(struct lode_perf_copies *copies)
{
	for (size_t i = 0; i < copies->count; i++)
		lode_free(copies->items[i].owned);
	lode_free(copies->items);
	memset(copies, 0, sizeof(*copies));
}

/* A free place, or a new one; LODE_NONE when memory has run out. */
static uint32_t claim_place(struct lode_perf_copies *copies)
{
	uint32_t place = copies->free;

	if (place) {
		copies->free = copies->items[place - 1].chain;
		return place - 1;
	}
	if (copies->count >= LODE_PERF_CHAIN_MARK - 1 || LODE_RESERVE(copies, 1) < 0)
		return LODE_NONE;
	return (uint32_t)copies->count++;
}

static void drop_bytes(struct lode_perf_copy *copy)
{
	lode_free(copy->owned);
	copy->bytes = copy->owned = NULL;
	copy->size = 0;
	copy->is_dropped = 1;
}

uint32_t lode_perf_copies_add(struct lode_perf_copies *copies, struct lode_perf_copy *copy)
{
	size_t limit = copies->limit ? copies->limit : LODE_PERF_COPIES_LIMIT;
	uint32_t place = claim_place(copies);

	if (place == LODE_NONE)
		return LODE_NONE;
	if (copy->owned && copy->size > limit - copies->bytes)
		drop_bytes(copy);
	if (copy->owned)
		copies->bytes += copy->size;
	copies->items[place] = *copy;
	copy->owned = NULL;
	return place;
}

void lode_perf_copies_remove(struct lode_perf_copies *copies, uint32_t number)
{
	struct lode_perf_copy *copy = &copies->items[number];

	if (copy->owned)
		copies->bytes -= copy->size;
	lode_free(copy->owned);
	*copy = (struct lode_perf_copy){ .chain = copies->free };
	copies->free = number + 1;
}
