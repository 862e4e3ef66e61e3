/*
 * Stack memo: which node a row of bytes means, for formats that write the same stacks over and
 * over. One look-up for a whole stack instead of one for each of its frames, most of which miss
 * the processor's caches. The bytes are not copied: they must stay.
 */
#ifndef LODE_IMPORT_STACK_MEMO_H
#define LODE_IMPORT_STACK_MEMO_H

#include "base/array.h"
#include "base/hash_index.h"

#include <string.h>

struct lode_stack_memo_item {
	const unsigned char *bytes;
	uint32_t size;
	uint32_t node;
	int is_cut; /* it was deeper than Lode keeps */
};

struct lode_stack_memo {
	LODE_ARRAY(struct lode_stack_memo_item);
	struct lode_index index;
};

/* A zeroed struct is an empty memo. */
void lode_stack_memo_release(struct lode_stack_memo *memo);
/* Remembers a new stack, whose lode_hash_bytes is `hash`. Returns 0 or LODE_SYSTEM. */
int lode_stack_memo_add(struct lode_stack_memo *memo, const struct lode_stack_memo_item *item, uint64_t hash);

/*
 * Ask for the memory that finding `hash` will need, in three steps: each reads what the one before requested, so
 * who looks up many stacks does each step for several of them at a time.
 */
static inline void lode_stack_memo_prefetch(const struct lode_stack_memo *memo, uint64_t hash)
{
	lode_index_prefetch(&memo->index, hash);
}

static inline void lode_stack_memo_prefetch_item(const struct lode_stack_memo *memo, uint64_t hash)
{
	size_t probe = 0;
	uint32_t id = lode_index_next(&memo->index, hash, &probe);

	if (id != LODE_NONE)
		__builtin_prefetch(&memo->items[id]);
}

static inline void lode_stack_memo_prefetch_bytes(const struct lode_stack_memo *memo, uint64_t hash)
{
	size_t probe = 0;
	uint32_t id = lode_index_next(&memo->index, hash, &probe);

	if (id != LODE_NONE)
		__builtin_prefetch(memo->items[id].bytes);
}

/* What is remembered for the bytes, or NULL. */
static inline const struct lode_stack_memo_item *
lode_stack_memo_find(const struct lode_stack_memo *memo, const unsigned char *bytes, size_t size, uint64_t hash)
{
	uint32_t id =
		LODE_INDEX_FIND(i, &memo->index, hash,
				memo->items[i].size == size && memcmp(memo->items[i].bytes, bytes, size) == 0);

	return id == LODE_NONE ? NULL : &memo->items[id];
}

#endif
