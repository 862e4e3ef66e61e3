/*
 * Joined meter: the meters of several hosts as one. Each keeps its own program and
 * numbers; here functions are known by name, and hosts, processes and threads get
 * numbers of their own. A share is taken over the processes of all hosts that a focus
 * holds, also where a function does not exist there.
 */
#ifndef LODE_HUNT_METER_JOINED_JOINED_METER_H
#define LODE_HUNT_METER_JOINED_JOINED_METER_H

#include "hunt/meter/meter.h"

/* Joins `count` meters, at least one, which are its own from now on; on failure they stay the caller's. */
int lode_joined_meter_create(struct lode_meter **meter, struct lode_meter *const *members, size_t count,
			     struct lode_error *error);

#endif
