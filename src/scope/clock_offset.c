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

/* The ends of ranges, in ascending order. */
struct ends {
	uint64_t *lows;
	uint64_t *highs;
	size_t count;
};

static int sort_ends(struct ends *ends, const struct lode_offset_range *ranges, size_t count)
{
	ends->count = 0;
	ends->lows = lode_calloc(2 * count + 1, sizeof(*ends->lows));
	if (!ends->lows)
		return LODE_SYSTEM;
	ends->highs = ends->lows + count;
	for (size_t i = 0; i < count; i++) {
		if (ranges[i].low > ranges[i].high)
			continue;
		ends->lows[ends->count] = ordered(ranges[i].low);
		ends->highs[ends->count++] = ordered(ranges[i].high);
	}
	lode_sort_u64(ends->lows, ends->count);
	lode_sort_u64(ends->highs, ends->count);
	return 0;
}

int lode_offset_vote(const struct lode_offset_range *ranges, size_t count, struct lode_offset_range *common,
		     size_t *votes)
{
	struct ends ends;
	size_t closed = 0;

	*votes = 0;
	*common = (struct lode_offset_range){ 0, 0 };
	if (sort_ends(&ends, ranges, count) < 0)
		return LODE_SYSTEM;
	/* Where range `i` opens, those that closed below are the `closed` first of `highs`. */
	for (size_t i = 0; i < ends.count; i++) {
		while (ends.highs[closed] < ends.lows[i])
			closed++;
		if (i + 1 - closed > *votes) {
			*votes = i + 1 - closed;
			*common =
				(struct lode_offset_range){ original(ends.lows[i]), original(ends.highs[closed]) };
		}
	}
	lode_free(ends.lows);
	return 0;
}

int lode_offset_rival(const struct lode_offset_range *ranges, size_t count, struct lode_offset_range common,
		      uint64_t margin, size_t *votes)
{
	uint64_t low = ordered(common.low), high = ordered(common.high);
	struct ends ends;
	size_t closed = 0, open = 0;

	low = low > margin ? low - margin : 0;
	high = high < UINT64_MAX - margin ? high + margin : UINT64_MAX;
	*votes = 0;
	if (sort_ends(&ends, ranges, count) < 0)
		return LODE_SYSTEM;
	/* Most are open where one opens, or just behind what is left out. */
	for (size_t i = 0; i < ends.count; i++) {
		while (ends.highs[closed] < ends.lows[i])
			closed++;
		if ((ends.lows[i] < low || ends.lows[i] > high) && i + 1 - closed > *votes)
			*votes = i + 1 - closed;
	}
	for (size_t i = 0; i < ends.count; i++) {
		open += ends.lows[i] <= high;
		open -= ends.highs[i] <= high;
	}
	*votes = open > *votes ? open : *votes;
	lode_free(ends.lows);
	return 0;
}
