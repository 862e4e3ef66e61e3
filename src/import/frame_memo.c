/* Frame memo: see frame_memo.h. */
#include "import/frame_memo.h"

#include "base/error.h"

void lode_frame_memo_release(struct lode_frame_memo *memo)
{
	lode_free(memo->items);
	lode_index_release(&memo->index);
	lode_arena_release(&memo->arena);
	memset(memo, 0, sizeof(*memo));
}

int lode_frame_memo_add(struct lode_frame_memo *memo, const char *text, size_t length, uint64_t hash,
			uint32_t frame)
{
	char *copy;

	if (length >= UINT32_MAX || memo->count >= LODE_NONE - 1 || LODE_RESERVE(memo, 1) < 0)
		return LODE_SYSTEM;
	copy = lode_arena_text(&memo->arena, text, length);
	if (!copy || lode_index_insert(&memo->index, hash, (uint32_t)memo->count) < 0)
		return LODE_SYSTEM;
	memo->items[memo->count++] = (struct lode_frame_memo_item){ copy, (uint32_t)length, frame };
	return 0;
}
