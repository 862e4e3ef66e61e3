/* Calibrate: what a hit of a probe costs on this machine. */
#ifndef LODE_HUNT_CALIBRATE_H
#define LODE_HUNT_CALIBRATE_H

#include "base/error.h"
#include "hunt/clockwork.h"
#include "symbols/code.h"

/*
 * Puts probes on small functions of this very program, calls them some thousand
 * times with and without, and tells the nanoseconds that one hit takes, for each
 * enum lode_probed_kind, into `hit_costs`. Takes some milliseconds.
 */
int lode_calibrate(struct lode_clockwork *clockwork, uint64_t *hit_costs, struct lode_error *error);

_Static_assert((int)LODE_PROBED_KINDS <= LODE_HUNT_KINDS, "a kind must fit into a cookie");

#endif
