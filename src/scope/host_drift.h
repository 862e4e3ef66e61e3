/*
 * Clocks of hosts that run at different rates: over minutes two oscillators part by milliseconds, more than an offset between them is known
 * to. The offset is found at several times, in windows of a few waits, in which it hardly changes.
 */
#ifndef LODE_SCOPE_HOST_DRIFT_H
#define LODE_SCOPE_HOST_DRIFT_H

#include "scope/host_turns.h"

/* Finds how the clock of `other` drifts; arguments as of lode_host_clock_find. Returns 1, 0 where it does not show, or LODE_SYSTEM. */
int lode_host_drift_find(const struct lode_host_turns *own, const struct lode_host_turns *other,
			 const uint8_t *is_client, struct lode_host_drift *drift);
/* A time of the other host as if its clock did not drift. */
uint64_t lode_without_drift(const struct lode_host_drift *drift, uint64_t t);
/* All times of turns. */
void lode_host_turns_without_drift(struct lode_host_turns *turns, const struct lode_host_drift *drift);

/*
 * As lode_host_clock_find; where the turns then fit better, the clock has a drift, and the times of `other` are those without
 * it.
 */
int lode_host_clock_find_drifting(const struct lode_host_turns *own, struct lode_host_turns *other,
				  const uint8_t *is_client, struct lode_host_clock *clock);

#endif
