/*
 * Remote meter: the meter of another host, whose agent (agent.h) is at the other end
 * of two descriptors. Readings and samples come with each look, so that asking for
 * them costs no message. A host that goes away ends the program there: its experiments
 * read as gone, and waiting says that it is over.
 */
#ifndef LODE_HUNT_METER_REMOTE_REMOTE_METER_H
#define LODE_HUNT_METER_REMOTE_REMOTE_METER_H

#include "base/notes.h"
#include "hunt/meter/meter.h"

/*
 * Greets the agent. The descriptors are the meter's from now on, also on failure;
 * `host` names it in messages. What goes wrong later is counted in `notes`, which may
 * be NULL. The program of the meter knows functions by name only.
 */
int lode_remote_meter_create(struct lode_meter **meter, int in, int out, const char *host,
			     struct lode_notes *notes, struct lode_error *error);

#endif
