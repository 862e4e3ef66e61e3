/* Lists of patterns: see miner.h. All frames are in one array, so a list is two allocations however long it is. */
#include "base/memory.h"
#include "mine/miner.h"

#include <string.h>

void lode_patterns_release(struct lode_patterns *patterns)
{
	lode_free(patterns->items);
	lode_free(patterns->frames);
	memset(patterns, 0, sizeof(*patterns));
}

int lode_patterns_add(struct lode_patterns *patterns, const uint32_t *frames, uint32_t length, uint64_t cost)
{
	if (LODE_GROW(patterns->items, patterns->capacity, patterns->count + 1) < 0 ||
	    LODE_GROW(patterns->frames, patterns->frame_capacity, patterns->frame_count + length) < 0)
		return LODE_SYSTEM;
	patterns->items[patterns->count++] = (struct lode_pattern){
		.first = patterns->frame_count,
		.length = length,
		.cost = cost,
	};
	if (length)
		memcpy(patterns->frames + patterns->frame_count, frames, length * sizeof(*frames));
	patterns->frame_count += length;
	return 0;
}
