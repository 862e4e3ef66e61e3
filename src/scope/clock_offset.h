/*
 * The offset between two clocks, from what each of many exchanges permits: the range of offsets that most of them have in common
 * (Marzullo's algorithm, which also selects the servers of NTP).
 */
#ifndef LODE_SCOPE_CLOCK_OFFSET_H
#define LODE_SCOPE_CLOCK_OFFSET_H

#include <stddef.h>
#include <stdint.h>

/* What one exchange permits, both ends included. */
struct lode_offset_range {
	int64_t low;
	int64_t high;
};

/*
 * The range that the most ranges cover, the lowest of several; `*votes` says how many do. Ranges whose low end is above the high
 * one do not count. O(n log n). Returns 0 or LODE_SYSTEM.
 */
int lode_offset_vote(const struct lode_offset_range *ranges, size_t count, struct lode_offset_range *common,
		     size_t *votes);
/*
 * The votes that an offset has at most which is farther from `common` than `margin`. Where these are nearly as many, nobody knows
 * which is right. O(n log n). Returns 0 or LODE_SYSTEM.
 */
int lode_offset_rival(const struct lode_offset_range *ranges, size_t count, struct lode_offset_range common,
		      uint64_t margin, size_t *votes);

#endif
