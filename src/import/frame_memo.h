/*
 * Frame memo: what a piece of text means as a frame, remembered by the text.
 * Parsing a text into module and function costs several look-ups; formats
 * repeat the same few thousand texts millions of times.
 */
#ifndef LODE_IMPORT_FRAME_MEMO_H
#define LODE_IMPORT_FRAME_MEMO_H

#include "base/arena.h"
#include "base/array.h"
#include "base/hash_index.h"

#include <string.h>

struct lode_frame_memo_item {
	const char *text;
	uint32_t length;
	uint32_t frame;
};

struct lode_frame_memo {
	LODE_ARRAY(struct lode_frame_memo_item);
	struct lode_index index;
	struct lode_arena arena;
};

/* A zeroed struct is an empty memo. */
void lode_frame_memo_release(struct lode_frame_memo *memo);
/* Remembers `frame` for a new text, whose lode_hash_bytes is `hash`. Returns 0 or LODE_SYSTEM. */
int lode_frame_memo_add(struct lode_frame_memo *memo, const char *text, size_t length, uint64_t hash,
			uint32_t frame);

/* The frame remembered for a text, or LODE_NONE. */
static inline uint32_t lode_frame_memo_find(const struct lode_frame_memo *memo, const char *text, size_t length,
					    uint64_t hash)
{
	uint32_t id =
		LODE_INDEX_FIND(i, &memo->index, hash,
				memo->items[i].length == length && memcmp(memo->items[i].text, text, length) == 0);

	return id == LODE_NONE ? LODE_NONE : memo->items[id].frame;
}

#endif
