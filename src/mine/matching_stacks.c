/*
 * Marks: see matching_stacks.h. Matches are intervals of preorder numbers; they are marked
 * there first, and each node then looks up its own number once.
 */
#include "mine/matching_stacks.h"

#include "base/error.h"

#include <string.h>

int lode_matching_stacks_add(const struct lode_matcher *matcher, const struct lode_patterns *patterns,
			     size_t first, size_t count, uint8_t *marks)
{
	uint8_t *by_order = lode_calloc(matcher->nodes + 1, 1);
	struct lode_matches matches = { 0 };
	int code = by_order ? 0 : LODE_SYSTEM;

	for (size_t i = first; !code && i < first + count; i++) {
		code = lode_matcher_find(matcher, lode_pattern_frames(patterns, i), patterns->items[i].length,
					 &matches);
		for (size_t k = 0; !code && k < matches.count; k++)
			memset(by_order + matches.items[k].first, 1,
			       matches.items[k].last - matches.items[k].first);
	}
	for (size_t node = 0; !code && node < matcher->nodes; node++)
		marks[node] |= by_order[matcher->preorder[node]];
	lode_matches_release(&matches);
	lode_free(by_order);
	return code;
}
