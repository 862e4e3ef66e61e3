/*
 * Agent: the end of a wire that measures. `lode hunt --agent` serves its live meter
 * to a hunt on another host.
 */
#ifndef LODE_HUNT_METER_REMOTE_AGENT_H
#define LODE_HUNT_METER_REMOTE_AGENT_H

#include "hunt/meter/meter.h"

/* Serves `meter` until the other side says so, or goes away. Returns 0 or a negative code. */
int lode_agent_serve(struct lode_meter *meter, const char *host, int in, int out, struct lode_error *error);
/* Sends the other side the reason why there is nothing to serve. */
void lode_agent_refuse(int out, const char *sentence);

#endif
