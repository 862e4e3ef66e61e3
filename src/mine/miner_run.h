/*
 * Runs the miner's search (miner_search.h) over a tree of all stacks on as many threads as requested, and makes one list of what
 * they found. Private to the miner.
 */
#ifndef LODE_MINE_MINER_RUN_H
#define LODE_MINE_MINER_RUN_H

#include "mine/miner_search.h"

/* Takes over `root`, of which `input` need not have the stacks. Returns 0 or LODE_SYSTEM. */
int miner_run(const struct lode_miner_input *input, struct miner_tree *root, struct lode_patterns *patterns);

#endif
