/* Chains: see distinct_chains.h. */
#include "import/kernel/perf_data/distinct_chains.h"

#include "import/kernel/perf_data/format.h"

void lode_perf_chains_release(struct lode_perf_chains *chains)
{
	lode_free(chains->items);
	lode_arena_release(&chains->bytes);
	lode_index_release(&chains->index);
	memset(chains, 0, sizeof(*chains));
}

static int same_chain(const struct lode_perf_chain *chain, const struct lode_perf_chain *other, const void *bytes)
{
	return chain->count == other->count && chain->has_link == other->has_link && chain->link == other->link &&
	       memcmp(chain->ips, bytes, 8ull * chain->count) == 0;
}

static int in_kernel_only(const uint64_t *ips, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++)
		if (ips[i] >= PERF_FIRST_MARKER)
			return 0;
	return count && ips[0] == (uint64_t)PERF_CONTEXT_KERNEL;
}

static uint32_t add_chain(struct lode_perf_chains *chains, struct lode_perf_chain chain, const void *bytes,
			  uint64_t hash)
{
	uint64_t *copy = lode_arena_alloc(&chains->bytes, 8ull * chain.count);

	if (!copy || chains->count >= LODE_PERF_CHAIN_MARK - 1 || LODE_RESERVE(chains, 1) < 0 ||
	    lode_index_insert(&chains->index, hash, (uint32_t)chains->count) < 0)
		return LODE_NONE;
	memcpy(copy, bytes, 8ull * chain.count);
	chain.ips = copy;
	chain.kernel_only = in_kernel_only(copy, chain.count);
	chains->items[chains->count] = chain;
	return (uint32_t)chains->count++;
}

uint32_t lode_perf_chains_add(struct lode_perf_chains *chains, const struct lode_perf_chain *chain,
			      const void *bytes)
{
	uint64_t hash = lode_hash_bytes(bytes, 8ull * chain->count) ^ lode_hash_u64(chain->link);
	uint32_t id = LODE_INDEX_FIND(i, &chains->index, hash, same_chain(&chains->items[i], chain, bytes));

	return id == LODE_NONE ? add_chain(chains, *chain, bytes, hash) : id;
}
