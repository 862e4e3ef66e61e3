/*
 * Rings of records: see rings.h.
 *
 * Each ring is in the order of writing already, so the rings are merged, the one
 * whose next record was written first being the root of a heap. A record whose end
 * seems to be before that of its predecessor (an interrupt wrote the other one
 * after this one had looked at the clock) counts as written together with it.
 *
 * Slots are given back some at a time: the kernel looks at the tail for each record
 * it writes, and a tail that changes as often costs both sides cache misses.
 */
#include "record/rings.h"

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
	return rings->rings ? 0 : LODE_SYSTEM;
}

void lode_rings_release(struct lode_rings *rings)
{
	lode_free(rings->rings);
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

static const struct lode_record *record_of(const struct lode_rings *rings, const struct lode_ring *ring)
{
	return &rings->slots[(size_t)ring->cpu * rings->slot_count + (ring->at & (rings->slot_count - 1))];
}

/* Looks at the next record of a ring. Returns whether there is one. */
static int look(const struct lode_rings *rings, struct lode_ring *ring)
{
	const struct lode_record *record = record_of(rings, ring);
	uint64_t end;

	if (ring->at == ring->until || __atomic_load_n(&record->sequence, __ATOMIC_ACQUIRE) != ring->at + 1)
		return 0;
	end = lode_record_end(record);
	ring->written = end > ring->written ? end : ring->written;
	return 1;
}

static int is_before(const struct lode_ring *a, const struct lode_ring *b)
{
	return a->written != b->written ? a->written < b->written : a->cpu < b->cpu;
}

/* Puts the ring at `i` of the heap below those that come before it. */
static void sink(struct lode_rings *rings, uint32_t i)
{
	struct lode_ring moved = rings->rings[i];

	for (;;) {
		uint32_t child = 2 * i + 1;

		if (child + 1 < rings->ring_count && is_before(&rings->rings[child + 1], &rings->rings[child]))
			child++;
		if (child >= rings->ring_count || !is_before(&rings->rings[child], &moved))
			break;
		rings->rings[i] = rings->rings[child];
		i = child;
	}
	rings->rings[i] = moved;
}

void lode_rings_begin(struct lode_rings *rings)
{
	rings->ring_count = 0;
	for (uint32_t cpu = 0; cpu < rings->cpu_count; cpu++) {
		struct lode_ring ring = { .cpu = cpu,
					  .at = rings->ends[cpu].tail,
					  .until = __atomic_load_n(&rings->ends[cpu].head, __ATOMIC_ACQUIRE) };

		if (look(rings, &ring))
			rings->rings[rings->ring_count++] = ring;
	}
	for (uint32_t i = rings->ring_count / 2; i > 0; i--)
		sink(rings, i - 1);
}

const struct lode_record *lode_rings_next(const struct lode_rings *rings, uint64_t *written)
{
	if (!rings->ring_count)
		return NULL;
	*written = rings->rings[0].written;
	return record_of(rings, &rings->rings[0]);
}

void lode_rings_pass(struct lode_rings *rings)
{
	struct lode_ring *ring = &rings->rings[0];
	int more;

	ring->at++;
	more = look(rings, ring);
	if (!more || ring->at % SLOTS_AT_A_TIME == 0)
		__atomic_store_n(&rings->ends[ring->cpu].tail, ring->at, __ATOMIC_RELEASE);
	if (!more)
		*ring = rings->rings[--rings->ring_count];
	if (rings->ring_count > 1)
		sink(rings, 0);
}
