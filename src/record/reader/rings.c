/*
 * Rings of records: see rings.h.
 *
 * Each ring is in the order of writing already, so the rings are merged. A record whose end
 * seems to be before that of its predecessor (an interrupt wrote the other one
 * after this one had looked at the clock) counts as written together with it.
 *
 * Slots are released in batches: the kernel reads the tail for each record it writes, and a
 * tail that changes that often costs both sides cache misses.
 */
#include "record/reader/rings.h"

#include "base/error.h"
#include "base/memory.h"

#include <string.h>

#define SLOTS_AT_A_TIME 64

int lode_rings_init(struct lode_rings *rings, struct lode_record_ends *ends, const struct lode_record *slots,
		    uint32_t cpu_count, uint32_t slot_count)
{
	*rings = (struct lode_rings){ .ends = ends,
				      .slots = slots,
				      .cpu_count = cpu_count,
				      .slot_count = slot_count };
	rings->rings = lode_calloc(cpu_count, sizeof(*rings->rings));
	return rings->rings && lode_ordered_merge_reserve(&rings->order, cpu_count) == 0 ? 0 : LODE_SYSTEM;
}

void lode_rings_release(struct lode_rings *rings)
{
	lode_free(rings->rings);
	lode_ordered_merge_release(&rings->order);
	memset(rings, 0, sizeof(*rings));
}

int lode_rings_half_full(const struct lode_rings *rings)
{
	for (uint32_t cpu = 0; cpu < rings->cpu_count; cpu++) {
		const struct lode_record_ends *ends = &rings->ends[cpu];

		if (__atomic_load_n(&ends->head, __ATOMIC_RELAXED) - ends->tail >= rings->slot_count / 2)
			return 1;
	}
	return 0;
}

static const struct lode_record *record_of(const struct lode_rings *rings, uint32_t cpu)
{
	return &rings->slots[(size_t)cpu * rings->slot_count + (rings->rings[cpu].at & (rings->slot_count - 1))];
}

/* Looks at the next record of a ring. Returns whether there is one. */
static int look(const struct lode_rings *rings, uint32_t cpu)
{
	const struct lode_record *record = record_of(rings, cpu);
	struct lode_ring *ring = &rings->rings[cpu];
	uint64_t end;

	if (ring->at == ring->until || __atomic_load_n(&record->sequence, __ATOMIC_ACQUIRE) != ring->at + 1)
		return 0;
	end = lode_record_end(record);
	ring->written = end > ring->written ? end : ring->written;
	return 1;
}

void lode_rings_begin(struct lode_rings *rings)
{
	rings->order.count = 0;
	for (uint32_t cpu = 0; cpu < rings->cpu_count; cpu++) {
		struct lode_ring *ring = &rings->rings[cpu];

		*ring = (struct lode_ring){ .at = rings->ends[cpu].tail,
					    .until = __atomic_load_n(&rings->ends[cpu].head, __ATOMIC_ACQUIRE) };
		if (look(rings, cpu))
			lode_ordered_merge_add(&rings->order, cpu, ring->written); /* there is room for all */
	}
}

const struct lode_record *lode_rings_next(const struct lode_rings *rings, uint64_t *written)
{
	if (!rings->order.count)
		return NULL;
	*written = rings->order.sources[0].key;
	return record_of(rings, rings->order.sources[0].number);
}

void lode_rings_pass(struct lode_rings *rings)
{
	uint32_t cpu = rings->order.sources[0].number;
	struct lode_ring *ring = &rings->rings[cpu];
	int more;

	ring->at++;
	more = look(rings, cpu);
	if (!more || ring->at % SLOTS_AT_A_TIME == 0)
		__atomic_store_n(&rings->ends[cpu].tail, ring->at, __ATOMIC_RELEASE);
	if (more)
		lode_ordered_merge_advance(&rings->order, ring->written);
	else
		lode_ordered_merge_remove(&rings->order);
}
