/* Stack memo: see stack_memo.h. */
#include "import/stack_memo.h"

void lode_stack_memo_release(struct lode_stack_memo *memo)
{
	lode_free(memo->items);
	lode_index_release(&memo->index);
	*memo = (struct lode_stack_memo){ 0 };
}

int lode_stack_memo_add(struct lode_stack_memo *memo, const struct lode_stack_memo_item *item, uint64_t hash)
{
	return LODE_INDEX_PUSH(&memo->index, hash, memo, *item);
}
