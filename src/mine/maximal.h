/*
 * Maximal patterns of a list. Private to the miner.
 */
#ifndef LODE_MINE_MAXIMAL_H
#define LODE_MINE_MAXIMAL_H

#include "mine/miner.h"

/*
 * Drops every pattern that is contained in a longer one of the list, and those
 * shorter than `min_length`; puts what stays into the order that lode_patterns
 * promises. No pattern may be in the list twice. When the progress callback
 * asks to stop, the patterns not yet looked at stay and the list says that it was
 * interrupted. Returns 0 or LODE_SYSTEM.
 */
int lode_patterns_keep_maximal(struct lode_patterns *patterns, uint32_t min_length,
			       const struct lode_progress *progress);

#endif
