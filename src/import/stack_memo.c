/* Stack memo: see stack_memo.h. */
#include "import/stack_memo.h"

#include "base/error.h"

void lode_stack_memo_release(struct lode_stack_memo *memo)
{
	lode_free(memo->items);
	lode_index_release(&memo->index);
	*memo = (struct lode_stack_memo){ 0 };
}

int lode_stack_memo_add(struct lode_stack_memo *memo, const struct lode_stack_memo_item *item, uint64_t hash)
{
	if (memo->count >= LODE_NONE - 1 ||
	    lode_grow(&memo->items, &memo->capacity, memo->count + 1, sizeof(*memo->items)) < 0 ||
	    lode_index_insert(&memo->index, hash, (uint32_t)memo->count) < 0)
		return LODE_SYSTEM;
	memo->items[memo->count++] = *item;
	return 0;
}
