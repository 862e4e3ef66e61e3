/* The offset between two clocks: see clock_offset.h. */
#include "scope/clock_offset.h"

#include "base/memory.h"
#include "base/sort_numbers.h"

/* Signed numbers as unsigned ones in the same order. */
static uint64_t ordered(int64_t number)
{
	return (uint64_t)number ^ (uint64_t)1 << 63;
}

static int64_t original(uint64_t number)
{
	return (int64_t)(number ^ (uint64_t)1 << 63);
}

int lode_offset_vote(const struct lode_offset_range *ranges, size_t count, struct lode_offset_range *common,
		     size_t *votes)
{
	uint64_t *lows = lode_calloc(2 * count + 1, sizeof(*lows)), *highs = lows + count;
	size_t all = 0, closed = 0;

	*votes = 0;
	*common = (struct lode_offset_range){ 0, 0 };
	if (!lows)
		return LODE_SYSTEM;
	for (size_t i = 0; i < count; i++) {
		if (ranges[i].low > ranges[i].high)
			continue;
		lows[all] = ordered(ranges[i].low);
		highs[all++] = ordered(ranges[i].high);
	}
	lode_sort_u64(lows, all);
	lode_sort_u64(highs, all);
	/* Where range `i` opens, those that closed below are the `closed` first of `highs`. */
	for (size_t i = 0; i < all; i++) {
		while (highs[closed] < lows[i])
			closed++;
		if (i + 1 - closed > *votes) {
			*votes = i + 1 - closed;
			*common = (struct lode_offset_range){ original(lows[i]), original(highs[closed]) };
		}
	}
	lode_free(lows);
	return 0;
}
