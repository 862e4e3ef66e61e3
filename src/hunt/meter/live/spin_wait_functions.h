/*
 * Spin-wait functions: functions that wait for others while using the CPU; and the
 * function that the C++ runtime calls when an exception has unwound frames.
 */
#ifndef LODE_HUNT_METER_LIVE_SPIN_WAIT_FUNCTIONS_H
#define LODE_HUNT_METER_LIVE_SPIN_WAIT_FUNCTIONS_H

#include "symbols/code.h"

/*
 * Calls `each` for the functions of a binary that wait for others, and use the CPU
 * while they do; `message` says which arguments name what they wait for (wait_objects.h).
 */
int lode_spin_wait_functions(const struct lode_code *code,
			     int (*each)(void *context, uint32_t function, uint32_t message), void *context);
/* Whether other binaries get any of these functions from the file at `path`; quick. */
int lode_spin_wait_is_in(const char *path);

#endif
