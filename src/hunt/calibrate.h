/* Calibrate: what a hit of a probe costs on this machine. */
#ifndef LODE_HUNT_CALIBRATE_H
#define LODE_HUNT_CALIBRATE_H

#include "base/error.h"
#include "hunt/clockwork.h"

/*
 * Puts probes on a small function of this very program, calls it some thousand
 * times with and without, and tells the nanoseconds that one hit takes. Takes
 * some milliseconds.
 */
int lode_calibrate(struct lode_clockwork *clockwork, uint64_t *hit_cost, struct lode_error *error);

#endif
