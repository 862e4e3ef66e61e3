/* lode mine --gain: what fixing the clusters of a mining would gain. */
#ifndef LODE_TASKS_MINE_GAIN_H
#define LODE_TASKS_MINE_GAIN_H

#include "tasks/mining.h"

/* Whether the settings ask for it. */
int lode_mine_wants_gain(const struct lode_mine_settings *settings);
/* Refuses settings that do not go with it: LODE_USAGE and a sentence. */
int lode_mine_gain_check(const struct lode_mine_settings *settings, uint32_t *cpus, struct lode_error *error);
/* Replays the costliest clusters of what was mined, and ranks all of them anew where that is asked for. */
int lode_mine_gain(struct lode_mining *mining, const struct lode_mine_settings *settings, struct lode_error *error);

#endif
