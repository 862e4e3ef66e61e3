/* Prefixes that were visited: see miner_seen.h. Slots are in groups by the hash of the weight. */
#include "mine/miner_seen.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"

#define GROUPS     16384u
#define GROUP_SIZE 8u

int miner_seen_init(struct miner_seen_table *table)
{
	table->slots = lode_calloc((size_t)GROUPS * GROUP_SIZE, sizeof(*table->slots));
	return table->slots ? 0 : LODE_SYSTEM;
}

void miner_seen_release(struct miner_seen_table *table)
{
	lode_free(table->slots);
	table->slots = NULL;
}

static size_t group_of(uint64_t weight)
{
	uint64_t hash = lode_hash_u64(weight);

	return (size_t)(hash >> 32) % GROUPS * GROUP_SIZE;
}

static uint64_t bit_of(uint32_t name)
{
	return 1ull << (name * 0x9e3779b1u >> 26);
}

static uint64_t signature_of(const uint32_t *prefix, uint32_t length)
{
	uint64_t signature = 0;

	for (uint32_t i = 0; i < length; i++)
		signature |= bit_of(prefix[i]);
	return signature;
}

/* From the end, since that is where a chain of prefixes is held. */
static int contains(const struct miner_seen *seen, const uint32_t *prefix, uint32_t length)
{
	for (; length && seen && seen->length >= length; seen = seen->before)
		length -= seen->name == prefix[length - 1];
	return !length;
}

int miner_seen_covers(const struct miner_seen_table *table, const uint32_t *prefix, uint32_t length,
		      uint64_t weight, uint32_t longest)
{
	uint64_t signature = signature_of(prefix, length);
	_Atomic(const struct miner_seen *) *slots = &table->slots[group_of(weight)];

	for (size_t i = 0; i < GROUP_SIZE; i++) {
		const struct miner_seen *seen = atomic_load_explicit(&slots[i], memory_order_acquire);

		if (!seen)
			return 0;
		if (seen->weight == weight && seen->length > length && seen->length <= longest &&
		    !(signature & ~seen->signature) && contains(seen, prefix, length))
			return 1;
	}
	return 0;
}

struct miner_seen *miner_seen_add(struct lode_arena *arena, const struct miner_seen *before, uint32_t name)
{
	struct miner_seen *seen = lode_arena_alloc(arena, sizeof(*seen));

	if (seen)
		*seen = (struct miner_seen){ before, 0, bit_of(name) | (before ? before->signature : 0), name,
					     before ? before->length + 1 : 1 };
	return seen;
}

/* Newest first in a group. Two threads at once may lose an entry or double one, which does no harm. */
void miner_seen_publish(struct miner_seen_table *table, struct miner_seen *seen, uint64_t weight)
{
	_Atomic(const struct miner_seen *) *slots = &table->slots[group_of(weight)];

	seen->weight = weight;
	for (size_t i = GROUP_SIZE - 1; i > 0; i--)
		atomic_store_explicit(&slots[i], atomic_load_explicit(&slots[i - 1], memory_order_acquire),
				      memory_order_release);
	atomic_store_explicit(&slots[0], seen, memory_order_release);
}
