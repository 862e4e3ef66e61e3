/* Deferred user stacks: see deferred_stacks.h. */
#include "import/kernel/perf_data/deferred_stacks.h"

#include "base/error.h"
#include "base/memory.h"

#include <string.h>

void lode_perf_deferred_release(struct lode_perf_deferred *deferred)
{
	lode_free(deferred->items);
	lode_free(deferred->heads.items);
	memset(deferred, 0, sizeof(*deferred));
}

int lode_perf_deferred_add(struct lode_perf_deferred *deferred, uint32_t thread,
			   const struct lode_perf_waiting_stack *waiting)
{
	uint32_t *head = LODE_PLACE(&deferred->heads, thread, 0), place;

	if (!head || (!deferred->free && (deferred->count >= UINT32_MAX - 1 || LODE_RESERVE(deferred, 1) < 0)))
		return LODE_SYSTEM;
	place = deferred->free ? deferred->free : (uint32_t)++deferred->count;
	if (deferred->free)
		deferred->free = deferred->items[place - 1].next;
	deferred->items[place - 1] = *waiting;
	deferred->items[place - 1].next = *head;
	*head = place;
	return 0;
}

int lode_perf_deferred_take(struct lode_perf_deferred *deferred, uint32_t thread, uint64_t cookie,
			    struct lode_perf_waiting_stack *waiting)
{
	while (thread < deferred->heads.count && deferred->heads.items[thread]) {
		uint32_t place = deferred->heads.items[thread];

		*waiting = deferred->items[place - 1];
		deferred->heads.items[thread] = waiting->next;
		deferred->items[place - 1].next = deferred->free;
		deferred->free = place;
		if (waiting->cookie == cookie)
			return 1;
		deferred->missed++;
	}
	return 0;
}

uint64_t lode_perf_deferred_missed(const struct lode_perf_deferred *deferred)
{
	uint64_t missed = deferred->missed;

	for (size_t i = 0; i < deferred->heads.count; i++)
		for (uint32_t at = deferred->heads.items[i]; at; at = deferred->items[at - 1].next)
			missed++;
	return missed;
}
