/* The meters of lode hunt: the live one of this host, or those of other hosts, joined. */
#ifndef LODE_TASKS_HUNT_METERS_H
#define LODE_TASKS_HUNT_METERS_H

#include "tasks/hunt/hunt.h"

struct lode_hunt_meters {
	const struct lode_host *host;
	struct lode_meter *meter;
	int is_live;     /* it is the one of this host */
	pid_t *children; /* what reaches the hosts */
	size_t child_count;
};

/* Opens what the call's settings ask for, except a command. */
int lode_hunt_meters_open(struct lode_hunt_meters *meters, const struct lode_call *call, double cost,
			  struct lode_notes *notes, struct lode_error *error);
/* Hunts the process of a command, too. */
int lode_hunt_meters_add(struct lode_hunt_meters *meters, pid_t child, struct lode_error *error);
/* Takes all probes out; what was lost is counted in `notes`. */
int lode_hunt_meters_finish(struct lode_hunt_meters *meters, struct lode_notes *notes, struct lode_error *error);
void lode_hunt_meters_close(struct lode_hunt_meters *meters);
/* `lode hunt --agent`: measures here for a hunt that speaks through standard input and output. */
int lode_hunt_serve(struct lode_call *call, struct lode_error *error);

#endif
