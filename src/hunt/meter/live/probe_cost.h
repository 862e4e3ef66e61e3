/* Probe cost: the time that one probe hit takes on this machine. */
#ifndef LODE_HUNT_METER_LIVE_PROBE_COST_H
#define LODE_HUNT_METER_LIVE_PROBE_COST_H

#include "base/error.h"
#include "hunt/meter/live/thread_clocks.h"
#include "symbols/code.h"

/*
 * Puts probes on small functions of this very program, calls them some thousand
 * times with and without, and stores the nanoseconds of one hit, for each enum
 * lode_probed_kind, in `hit_costs`. Takes some milliseconds.
 */
int lode_calibrate(struct lode_thread_clocks *clocks, uint64_t *hit_costs, struct lode_error *error);

_Static_assert((int)LODE_PROBED_KINDS <= LODE_HUNT_KINDS, "a kind must fit into a cookie");

#endif
