/*
 * Chains: distinct call chains, each kept once and known by a number. The reader
 * has one table for those of the recording, the replay one for those that it
 * unwinds itself.
 */
#ifndef LODE_IMPORT_PERF_DATA_DISTINCT_CHAINS_H
#define LODE_IMPORT_PERF_DATA_DISTINCT_CHAINS_H

#include "base/arena.h"
#include "base/array.h"
#include "base/hash_index.h"

/* Addresses and markers that a chain may have: what fits into a record, and two more. */
#define LODE_PERF_CHAIN_LIMIT 8192

/* Numbers of chains stay below it, so that it can mark another kind of number. */
#define LODE_PERF_CHAIN_MARK 0x80000000u

struct lode_perf_chain {
	const uint64_t *ips; /* leaf first, with markers; the table's memory */
	uint32_t count;
	uint16_t has_link;    /* `link` is the user's link register */
	uint16_t kernel_only; /* it does not depend on the address space */
	uint64_t link;
};

struct lode_perf_chains {
	LODE_ARRAY(struct lode_perf_chain);
	struct lode_arena bytes;
	struct lode_index index;
};

/* A zeroed struct is an empty table. */
void lode_perf_chains_release(struct lode_perf_chains *chains);
/*
 * The number of the chain whose addresses are `bytes` (8 each, anywhere in
 * memory), added if it is new; LODE_NONE when memory has run out. Of `chain` only
 * the count and the link register count.
 */
uint32_t lode_perf_chains_add(struct lode_perf_chains *chains, const struct lode_perf_chain *chain,
			      const void *bytes);

#endif
