/* Binary search, in rows of any kind. */
#ifndef LODE_BASE_BISECT_H
#define LODE_BASE_BISECT_H

#include <stddef.h>

/*
 * The first index from `from` to `to` (one behind the last) at which `is_before` does not hold, or `to`. It is an
 * expression of the index, called `i`, that holds for the first ones and for no other: `times[i] < t` finds the first
 * time at `t` or later, `times[i] <= t` the first one after it.
 */
#define LODE_BISECT(i, from, to, is_before)                                                                       \
	__extension__({                                                                                           \
		size_t low_ = (from), high_ = (to);                                                               \
		while (low_ < high_) {                                                                            \
			size_t i = low_ + (high_ - low_) / 2;                                                     \
			if (is_before)                                                                            \
				low_ = i + 1;                                                                     \
			else                                                                                      \
				high_ = i;                                                                        \
		}                                                                                                 \
		low_;                                                                                             \
	})

#endif
